/*
 * on_chat: one turn: checked, bound to a soul, handed to an orchestrator.
 */
#ifndef CHAT_GATEWAY_ON_CHAT_H
#define CHAT_GATEWAY_ON_CHAT_H

struct svc_call;

/* on_chat(app, c): POST /v1/chat; app is a struct gateway. */
void on_chat(void *app, struct svc_call *c);

#endif /* !CHAT_GATEWAY_ON_CHAT_H */
