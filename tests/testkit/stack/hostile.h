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
	size_t n;    /* payloads, MQTT and HTTP in turn */
	size_t huge; /* so many of them are as large as it gets */
};

struct hostile_outcome {
	size_t mqtt, http;     /* sent */
	size_t chats;          /* of the load generator meanwhile, all 200 */
	int64_t slowest_ms;    /* of those */
	size_t by_status[600]; /* of HTTP answers */
};

/*
 * hostile_run(st, plan, out):
 * Send them all, from terminals called CAPTURE_HOSTILE…, while a load generator
 * chats. Fails the test if an HTTP payload gets anything but a 4xx with an
 * error that keeps its schema, or a chat fails.
 */
void hostile_run(struct stack *st, const struct hostile_plan *plan,
    struct hostile_outcome *out);

#endif /* !TESTKIT_STACK_HOSTILE_H */
