/*
 * chaos_body: a body whose commands are recorded in a history.
 *
 * It executes everything, keeps connecting, and announces itself each time, as
 * the protocol demands.  A thread of its own.
 */
#ifndef TESTKIT_STACK_CHAOS_BODY_H
#define TESTKIT_STACK_CHAOS_BODY_H

#include <stdint.h>

#include "testkit/chaos.h"

struct chaos_body;

/* chaos_now(): ms of the clock of all entries. */
int64_t chaos_now(void);

/*
 * chaos_body_new(h, terminal, port): Connect to the broker at that port.
 * chaos_body_free(b): Disconnect.
 */
struct chaos_body *chaos_body_new(
    struct chaos *h, const char *terminal, int port);
void chaos_body_free(struct chaos_body *b);

/* chaos_body_heartbeat(b): Send a heartbeat, if it is connected.  Any thread.
 */
void chaos_body_heartbeat(struct chaos_body *b);

/*
 * chaos_body_break(b, port): Close its connection without DISCONNECT; it
 * connects again, to the broker at port.  Any thread.
 */
void chaos_body_break(struct chaos_body *b, int port);

#endif /* !TESTKIT_STACK_CHAOS_BODY_H */
