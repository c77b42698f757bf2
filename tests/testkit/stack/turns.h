/*
 * turns: turns sent to the orchestrators over NATS, as chat-gateway sends them,
 * or to chat-gateway over HTTP, a given number in flight, and their latency.
 */
#ifndef TESTKIT_STACK_TURNS_H
#define TESTKIT_STACK_TURNS_H

#include <stdbool.h>

#include "testkit/stack/stack.h"

/* A turn by an intent, and one by the model. */
#define TURNS_DIRECT "把灯变成绿色"
#define TURNS_MODEL  "今天上海天气如何？"

/* Variables of mqtt-bridge: bodies are asked more often than users ask. */
#define TURNS_BRIDGE_ENV \
	"RATE_TERMINAL_BURST=100000", "RATE_TERMINAL_PER_S=100000"

/*
 * turns_bind(st, users): Make that many users, each with a soul in a terminal
 * of its own of body-sim, which has them all.
 */
void turns_bind(struct stack *st, int users);

/* What to send; zero members that are not needed. */
struct turns_plan {
	const char *text;
	int n, in_flight;
	int users; /* of turns_bind(), in turn; 0: one */
	/* Sessions of all users, in turn; 0: two for each turn in flight. */
	int sessions;
	/* Their first id: plans with the same one continue the sessions. */
	const char *session;
	bool http; /* through chat-gateway */
};

struct turns_times {
	double per_s, p10_ms, p50_ms, p99_ms, least_ms;
};

/*
 * turns_run(st, plan, t): Send them all; the test fails unless every turn
 * completes.  t may be NULL.
 */
void turns_run(
    struct stack *st, const struct turns_plan *plan, struct turns_times *t);

/* turns_times(ms, n, took_ms, t): Of n ≥ 1 latencies, which are sorted. */
void turns_times(double *ms, int n, double took_ms, struct turns_times *t);

#endif /* !TESTKIT_STACK_TURNS_H */
