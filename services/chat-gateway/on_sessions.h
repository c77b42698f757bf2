/*
 * on_sessions: reading and forgetting conversations.
 */
#ifndef CHAT_GATEWAY_ON_SESSIONS_H
#define CHAT_GATEWAY_ON_SESSIONS_H

struct svc_call;

/* Handlers; app is a struct gateway. */
void on_sessions_messages(void *app, struct svc_call *c);
void on_sessions_delete(void *app, struct svc_call *c);

#endif /* !CHAT_GATEWAY_ON_SESSIONS_H */
