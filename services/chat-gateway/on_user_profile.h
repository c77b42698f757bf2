/*
 * on_user_profile: what is known of a user beside memories.
 */
#ifndef CHAT_GATEWAY_ON_USER_PROFILE_H
#define CHAT_GATEWAY_ON_USER_PROFILE_H

struct svc_call;

/* Handlers of the routes; app is the struct gateway. */
void on_user_profile_get(void *app, struct svc_call *c);
void on_user_profile_patch(void *app, struct svc_call *c);

#endif /* !CHAT_GATEWAY_ON_USER_PROFILE_H */
