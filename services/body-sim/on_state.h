/*
 * on_state: GET /state.
 */
#ifndef BODY_SIM_ON_STATE_H
#define BODY_SIM_ON_STATE_H

struct svc_call;

/* on_state(app, c): The state of one body, ?terminal_id=, else of the first. */
void on_state(void *app, struct svc_call *c);

#endif /* !BODY_SIM_ON_STATE_H */
