/*
 * turn_event: events of a turn on SOUL_EVENTS.  An event that cannot be
 * published is logged.
 */
#ifndef LLM_ORCHESTRATOR_TURN_EVENT_H
#define LLM_ORCHESTRATOR_TURN_EVENT_H

#include "wire/msgs.h"

struct turn_run;

/*
 * turn_publish_user_input(r):       The user's text.
 * turn_publish_intent_action(r, m): A direct action was sent.
 * turn_publish_invoke(r, m):        A skill was invoked.
 * turn_publish_result(r, res):      An invoke was not delivered or confirmed.
 * turn_publish_response(r):         The soul's reply.
 * turn_publish_completed(r, state, code): The turn ended; code: of its error.
 */
void turn_publish_user_input(struct turn_run *r);
void turn_publish_intent_action(
    struct turn_run *r, const struct wire_intent_action *m);
void turn_publish_invoke(struct turn_run *r, const struct wire_invoke *m);
void turn_publish_result(
    struct turn_run *r, const struct wire_invoke_result *res);
void turn_publish_response(struct turn_run *r);
void turn_publish_completed(
    struct turn_run *r, enum wire_turn_completed_state state, const char *code);

#endif /* !LLM_ORCHESTRATOR_TURN_EVENT_H */
