/*
 * hostile: invalid payloads, generated from a seed, sent to the whole stack.
 */
#ifndef TESTKIT_STACK_HOSTILE_H
#define TESTKIT_STACK_HOSTILE_H

#include <stddef.h>
#include <stdint.h>

#include "testkit/stack/stack.h"

/* Largest payload. */
#define HOSTILE_MAX ((size_t)1024 * 1024)

struct hostile_plan {
	uint64_t seed;
	size_t n;    /* payloads, MQTT and HTTP alternating */
	size_t huge; /* of these, at the size limit */
};

struct hostile_outcome {
	size_t mqtt, http;     /* sent */
	size_t chats;          /* by the load generator meanwhile, all 200 */
	int64_t slowest_ms;    /* slowest of these chats */
	size_t by_status[600]; /* HTTP responses */
};

/*
 * hostile_run(st, plan, out): Send them all, from terminals named
 * CAPTURE_HOSTILE…, while a load generator chats. Fails the test if an HTTP
 * payload gets anything but a 4xx whose error conforms to its schema, or a chat
 * fails.
 */
void hostile_run(struct stack *st, const struct hostile_plan *plan,
    struct hostile_outcome *out);

#endif /* !TESTKIT_STACK_HOSTILE_H */
