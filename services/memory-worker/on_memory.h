/*
 * on_memory: what is asked about memories: search, readiness.
 */
#ifndef MEMORY_WORKER_ON_MEMORY_H
#define MEMORY_WORKER_ON_MEMORY_H

#include "core/rc.h"

struct keeper;
struct ready;
struct svc_call;

/*
 * ready_new(k), ready_free(r):
 * What the last probe said.  It is freed before the store; NULL is allowed.
 */
struct ready *ready_new(struct keeper *k);
void ready_free(struct ready *r);

/* memory_fail(c, rc): Answer that the store has failed. */
void memory_fail(struct svc_call *c, enum rc rc);

/* Handlers of the routes; app is the struct keeper. */
void on_recall(void *app, struct svc_call *c);
void on_ready(void *app, struct svc_call *c);

#endif /* !MEMORY_WORKER_ON_MEMORY_H */
