/*
 * on_load: the records a turn reads and writes.
 */
#ifndef LLM_ORCHESTRATOR_ON_LOAD_H
#define LLM_ORCHESTRATOR_ON_LOAD_H

#include <stdbool.h>

#include "core/rc.h"

struct run;
struct turn_action;

/*
 * on_load(r, a):  Read the body's and the session's record, store the input.
 * on_store(r, a): Store what was done and said.
 * RC_DOWN and its like: Redis is away, and it is to be tried again; it is never
 * stored twice.  RC_CONFLICT: the place is lost.
 */
enum rc on_load(struct run *r, const struct turn_action *a) RC_CHECK;
enum rc on_store(struct run *r, const struct turn_action *a) RC_CHECK;

/*
 * load_catalog(r):
 * Read the body's record again, and write a request to intent-filter that has
 * the catalog itself; false if there is none by now, or it cannot be read.
 */
bool load_catalog(struct run *r);

/*
 * load_keep(r):
 * Store what was done in a turn that comes to no reply, as well as that is
 * possible now.
 */
void load_keep(struct run *r);

#endif /* !LLM_ORCHESTRATOR_ON_LOAD_H */
