/*
 * on_turns: what became of a turn, and stopping one.
 */
#ifndef CHAT_GATEWAY_ON_TURNS_H
#define CHAT_GATEWAY_ON_TURNS_H

struct svc_call;

/* Handlers; app is a struct gateway. */
void on_turns_get(void *app, struct svc_call *c);
void on_turns_cancel(void *app, struct svc_call *c);

#endif /* !CHAT_GATEWAY_ON_TURNS_H */
