/*
 * on_profile: a user's profile, read and changed.
 */
#ifndef MEMORY_WORKER_ON_PROFILE_H
#define MEMORY_WORKER_ON_PROFILE_H

struct svc_call;

/* Handler of the route; app is the struct keeper. */
void on_profile(void *app, struct svc_call *c);

#endif /* !MEMORY_WORKER_ON_PROFILE_H */
