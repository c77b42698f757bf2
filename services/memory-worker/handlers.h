/*
 * handlers: handlers of the NATS routes.
 */
#ifndef MEMORY_WORKER_HANDLERS_H
#define MEMORY_WORKER_HANDLERS_H

#include "core/rc.h"

struct svc_call;

/* Handlers of the routes; app is the struct memory_worker. */
void on_recall(void *app, struct svc_call *c);
void on_ready(void *app, struct svc_call *c);
void on_list(void *app, struct svc_call *c);
void on_forget(void *app, struct svc_call *c);
void on_profile(void *app, struct svc_call *c);

/* handler_fail_store(c, rc): Reply that the store has failed. */
void handler_fail_store(struct svc_call *c, enum rc rc);

#endif /* !MEMORY_WORKER_HANDLERS_H */
