/*
 * on_forget: forgetting one memory, what fits a query best, or everything.
 */
#ifndef MEMORY_WORKER_ON_FORGET_H
#define MEMORY_WORKER_ON_FORGET_H

struct svc_call;

/* Handler of the route; app is the struct keeper. */
void on_forget(void *app, struct svc_call *c);

#endif /* !MEMORY_WORKER_ON_FORGET_H */
