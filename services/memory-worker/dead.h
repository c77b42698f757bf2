/*
 * dead: "memory-worker dead": what an operator does with jobs that were put
 * aside.
 */
#ifndef MEMORY_WORKER_DEAD_H
#define MEMORY_WORKER_DEAD_H

#include "svc/svc.h"

/* The command; it needs NATS only. */
extern const struct svc_command dead_command;

#endif /* !MEMORY_WORKER_DEAD_H */
