/*
 * on_late: results that come after the turn that asked for them.
 */
#ifndef LLM_ORCHESTRATOR_ON_LATE_H
#define LLM_ORCHESTRATOR_ON_LATE_H

#include "core/rc.h"
#include "core/str.h"

struct run;

/*
 * late_load(r, kept):
 * Look for the results of what the session keeps as left open.  RC_DOWN and its
 * like: Redis is away.
 */
enum rc late_load(struct run *r, struct str kept) RC_CHECK;

/*
 * late_keep(r, told):
 * What the session is to keep as left open when the turn ends, as of struct
 * session_new; told: the reply tells what came of earlier ones.
 */
struct str late_keep(const struct run *r, bool told);

#endif /* !LLM_ORCHESTRATOR_ON_LATE_H */
