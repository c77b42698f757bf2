/*
 * on_memories: what a user's souls remember: list, search, forget.
 */
#ifndef CHAT_GATEWAY_ON_MEMORIES_H
#define CHAT_GATEWAY_ON_MEMORIES_H

struct svc_call;

/* Handlers of the routes; app is the struct gateway. */
void on_memories_list(void *app, struct svc_call *c);
void on_memories_forget(void *app, struct svc_call *c);
void on_memories_delete(void *app, struct svc_call *c);

#endif /* !CHAT_GATEWAY_ON_MEMORIES_H */
