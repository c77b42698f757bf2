/*
 * on_memory: what is asked about memories: search, readiness, forgetting.
 */
#ifndef MEMORY_WORKER_ON_MEMORY_H
#define MEMORY_WORKER_ON_MEMORY_H

struct ready;
struct svc_call;

/* ready_new(), ready_free(r): What the last probe said; NULL is allowed. */
struct ready *ready_new(void);
void ready_free(struct ready *r);

/* Handlers of the routes; app is the struct keeper. */
void on_recall(void *app, struct svc_call *c);
void on_ready(void *app, struct svc_call *c);
void on_forget(void *app, struct svc_call *c);

#endif /* !MEMORY_WORKER_ON_MEMORY_H */
