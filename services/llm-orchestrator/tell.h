/*
 * tell: the events of a turn.
 */
#ifndef LLM_ORCHESTRATOR_TELL_H
#define LLM_ORCHESTRATOR_TELL_H

#include "core/str.h"
#include "wire/msgs.h"

struct run;

/*
 * tell_user_input(r):  The user said something.
 * tell_intent_action(r, m): A direct action was sent.
 * tell_invoke(r, m):   A body was asked to carry out a skill.
 * tell_result(r, res): Nobody confirmed it, or it was not delivered.
 * tell_response(r):    The soul replied.
 * tell_completed(r, state, code): The turn ended; code is of a failed one.
 * What cannot be told is logged.
 */
void tell_user_input(struct run *r);
void tell_intent_action(struct run *r, const struct wire_intent_action *m);
void tell_invoke(struct run *r, const struct wire_invoke *m);
void tell_result(struct run *r, const struct wire_invoke_result *res);
void tell_response(struct run *r);
void tell_completed(
    struct run *r, enum wire_turn_completed_state state, const char *code);

#endif /* !LLM_ORCHESTRATOR_TELL_H */
