/*
 * round: the calls of the model's last answer, among all deeds of a turn.
 */
#ifndef LLM_ORCHESTRATOR_ROUND_H
#define LLM_ORCHESTRATOR_ROUND_H

#include <stdbool.h>
#include <stddef.h>

#include "turn.h"

/*
 * round_take(t, e, gate):
 * Begin a round with the calls of the answer e.  gate is TURN_OPEN, or what
 * becomes of a skill's call because the gate is not open; those for safety
 * pass. Returns whether memories are to be searched.
 */
bool round_take(
    struct turn *t, const struct turn_event *e, enum turn_outcome gate);

/* round_has_deed(t, i): Whether deed i is of this round. */
bool round_has_deed(const struct turn *t, size_t i);

/* round_is_open(t): Whether a result is missing. */
bool round_is_open(const struct turn *t);

/* round_has(t, outcome): Whether one of them came to that. */
bool round_has(const struct turn *t, enum turn_outcome outcome);

/* round_ok(t): Whether all are confirmed. */
bool round_ok(const struct turn *t);

/*
 * round_forgets(t):
 * Whether one of them forgets: what is gone only its result says, so what the
 * model said beside it is not the last word.
 */
bool round_forgets(const struct turn *t);

/*
 * round_due(t, i):
 * What an open deed becomes now: TURN_SENT if it is its turn, TURN_OPEN while
 * one of the same skill before it is under way, TURN_SKIPPED if that one was
 * not confirmed.
 */
enum turn_outcome round_due(const struct turn *t, size_t i);

/*
 * round_result(t, e):
 * Note the result e; false if the turn does not wait for it.
 */
bool round_result(struct turn *t, const struct turn_event *e);

/*
 * round_may_go_on(t):
 * Whether the model, seeing the results, may call tools again: not if the gate
 * held something back or the body does not answer, not after wrong arguments a
 * second time, not for ever.  The search for memories counts for nothing.
 */
bool round_may_go_on(struct turn *t);

#endif /* !LLM_ORCHESTRATOR_ROUND_H */
