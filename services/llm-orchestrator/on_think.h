/*
 * on_think: asking the language model.
 */
#ifndef LLM_ORCHESTRATOR_ON_THINK_H
#define LLM_ORCHESTRATOR_ON_THINK_H

#include "core/rc.h"

struct run;
struct turn_action;
struct turn_fault;

/*
 * on_think(r, a):
 * Ask with the tools that a offers.  RC_DOWN and its like: the history cannot
 * be read now.
 */
enum rc on_think(struct run *r, const struct turn_action *a) RC_CHECK;

/*
 * think_reason(r, f):
 * Of f that on_think() fed: why there was no answer (error.schema.json); NULL:
 * there is no word for it, or f is another's.
 */
const char *think_reason(const struct run *r, const struct turn_fault *f);

/* think_cancel(r): Want no answer any more. */
void think_cancel(struct run *r);

#endif /* !LLM_ORCHESTRATOR_ON_THINK_H */
