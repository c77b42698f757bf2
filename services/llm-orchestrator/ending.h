/*
 * ending: what is kept and told of a turn at its end.
 *
 * Made once, so that trying again writes the same.
 */
#ifndef LLM_ORCHESTRATOR_ENDING_H
#define LLM_ORCHESTRATOR_ENDING_H

#include "state/turn.h"
#include "wire/msgs.h"

struct run;
struct turn_fault;

/* ending_reply(r): The answer to who started a turn that ended well. */
struct wire_turn_reply ending_reply(const struct run *r);

/*
 * ending_well(r):        The ending of a turn that says r->reply.
 * ending_badly(r, rep, f): That of one that failed (f) or was canceled (NULL);
 *                        rep is its last answer.
 * Both are taken from the turn's arena and are r->ending.
 */
void ending_well(struct run *r);
void ending_badly(struct run *r, const struct wire_turn_reply *rep,
    const struct turn_fault *f);

#endif /* !LLM_ORCHESTRATOR_ENDING_H */
