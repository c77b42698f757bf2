/*
 * on_turn: turns come in, and are canceled.
 */
#ifndef LLM_ORCHESTRATOR_ON_TURN_H
#define LLM_ORCHESTRATOR_ON_TURN_H

struct svc_call;

/*
 * on_turn_start(o, c):
 * Run a turn: accepted once it has its place, running every two seconds, then
 * completed, failed or canceled.
 */
void on_turn_start(void *o, struct svc_call *c);

#endif /* !LLM_ORCHESTRATOR_ON_TURN_H */
