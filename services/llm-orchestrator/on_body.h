/*
 * on_body: what a turn has a body do, and what the body answers.
 */
#ifndef LLM_ORCHESTRATOR_ON_BODY_H
#define LLM_ORCHESTRATOR_ON_BODY_H

#include "core/rc.h"

struct run;
struct turn_action;

/*
 * on_act(r, a):    Send the direct deeds, in one intent_action.
 * on_invoke(r, a): Have the skill of one deed carried out.
 */
enum rc on_act(struct run *r, const struct turn_action *a) RC_CHECK;
enum rc on_invoke(struct run *r, const struct turn_action *a) RC_CHECK;

/* body_cancel_all(r): Wait for no result any more. */
void body_cancel_all(struct run *r);

#endif /* !LLM_ORCHESTRATOR_ON_BODY_H */
