/*
 * monitor: the commands that each client sends to Redis, by MONITOR, without
 * those that scripts run.  Redis' own counters count these, too.
 */
#ifndef TESTKIT_STACK_MONITOR_H
#define TESTKIT_STACK_MONITOR_H

#include <stddef.h>

#include "testkit/stack/stack.h"

struct monitor;

/*
 * monitor_new(st, timers): Connected once it returns.  A command whose first
 * key begins with one of the texts, a NULL-terminated list of constants, is
 * sent by a timer and not counted.
 * monitor_free(m): m may be NULL.
 */
struct monitor *monitor_new(struct stack *st, const char *const timers[]);
void monitor_free(struct monitor *m);

/* monitor_read(m): Count what has been executed so far. */
void monitor_read(struct monitor *m);

/* monitor_count(m, user): Commands of a service so far. */
size_t monitor_count(const struct monitor *m, const char *user);

#endif /* !TESTKIT_STACK_MONITOR_H */
