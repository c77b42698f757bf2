/*
 * on_end: the last thing of a turn: its one final answer.
 */
#ifndef LLM_ORCHESTRATOR_ON_END_H
#define LLM_ORCHESTRATOR_ON_END_H

#include "core/rc.h"
#include "core/str.h"

struct run;
struct turn_action;
struct turn_fault;

/*
 * on_reply(r, a):    The reply.
 * on_fail(r, a):     What went wrong.
 * on_canceled(r, a): It was canceled.
 * All of them stop what is under way, give up the place and end the call.
 */
enum rc on_reply(struct run *r, const struct turn_action *a) RC_CHECK;
enum rc on_fail(struct run *r, const struct turn_action *a) RC_CHECK;
enum rc on_canceled(struct run *r, const struct turn_action *a) RC_CHECK;

/*
 * end_repeated(r, first):
 * The final answer to what repeats the turn first: r never had a place, and is
 * freed.
 */
void end_repeated(struct run *r, struct str first);

#endif /* !LLM_ORCHESTRATOR_ON_END_H */
