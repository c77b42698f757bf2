/*
 * monitor: the commands that each client sends to Redis, by MONITOR, without
 * those that scripts run.  Redis' own counters count these, too.
 */
#ifndef TESTKIT_STACK_MONITOR_H
#define TESTKIT_STACK_MONITOR_H

#include <stdbool.h>
#include <stddef.h>

#include "testkit/stack/stack.h"

struct monitor;

/* monitor_new(st), monitor_free(m): Connected once it returns. */
struct monitor *monitor_new(struct stack *st);
void monitor_free(struct monitor *m);

/*
 * monitor_learn(m, ms):
 * What is sent in that time without a turn is sent by timers: the same command
 * or script of the same user is not counted from now on.
 */
void monitor_learn(struct monitor *m, int ms);

/*
 * monitor_read(m):
 * Count what has been sent; returns false when nothing was.
 */
bool monitor_read(struct monitor *m);

/* monitor_count(m, user): Commands of a user so far; NULL: of all users. */
size_t monitor_count(const struct monitor *m, const char *user);

#endif /* !TESTKIT_STACK_MONITOR_H */
