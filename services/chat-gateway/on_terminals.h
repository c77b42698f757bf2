/*
 * on_terminals: what is known of bodies, and their binding.
 */
#ifndef CHAT_GATEWAY_ON_TERMINALS_H
#define CHAT_GATEWAY_ON_TERMINALS_H

struct svc_call;

/* Handlers; app is a struct gateway. */
void on_terminals_list(void *app, struct svc_call *c);
void on_terminals_get(void *app, struct svc_call *c);
void on_terminals_unbind(void *app, struct svc_call *c);

#endif /* !CHAT_GATEWAY_ON_TERMINALS_H */
