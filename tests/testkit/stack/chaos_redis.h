/*
 * chaos_redis: the servers of Redis of a stack whose processes are broken: who
 * is a master now, and whether all of them work together.  None of these fails
 * a test, unless it says so.
 */
#ifndef TESTKIT_STACK_CHAOS_REDIS_H
#define TESTKIT_STACK_CHAOS_REDIS_H

#include <stdbool.h>
#include <stddef.h>

#include "testkit/stack/stack.h"

/* chaos_redis_server(st, i): A server; NULL from the last one on. */
struct tk_server *chaos_redis_server(struct stack *st, size_t i);

/*
 * chaos_redis_is_set(st): Whether there are several: replicas take over.
 *
 * chaos_redis_pick(st, role, random): One of those that are masters
 * ("master"), or replicas ("slave"), now; NULL: none is.
 *
 * chaos_redis_settles(st, away, ms): Whether, within ms, all servers but away
 * (NULL: all) are one set whose masters, none of which is away, serve
 * everything and whose replicas follow them.
 */
bool chaos_redis_is_set(const struct stack *st);
struct tk_server *chaos_redis_pick(
    struct stack *st, const char *role, unsigned random);
bool chaos_redis_settles(
    struct stack *st, const struct tk_server *away, int ms);

/* chaos_redis_disconnect(st): Close the connections of all clients. */
void chaos_redis_disconnect(struct stack *st);

/*
 * chaos_redis_move(st, random): Move a slot that has keys from one master of a
 * cluster to another; false: there is none.  Fails the test if it gets stuck.
 */
bool chaos_redis_move(struct stack *st, unsigned random);

#endif /* !TESTKIT_STACK_CHAOS_REDIS_H */
