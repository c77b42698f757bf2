/*
 * stack: all of Soul for a test: real servers, every service, the capture.
 *
 * Started once for a test program by STACK_SHARED, or in a test of its own when
 * processes are to be killed in it.
 */
#ifndef TESTKIT_STACK_STACK_H
#define TESTKIT_STACK_STACK_H

#include <stdbool.h>

#include "testkit/testkit.h"

/* Timeout of anything that takes well under a second. */
#define STACK_MS 20000
/* The body that body-sim plays, and a user. */
#define STACK_BODY "terminal-001"
#define STACK_USER "demo-user"

enum stack_service {
	STACK_LLM_SIM,
	STACK_INTENT_FILTER,
	STACK_EMOTION_ENGINE,
	STACK_MEMORY_WORKER,
	STACK_LLM_ORCHESTRATOR,
	STACK_MQTT_BRIDGE,
	STACK_CHAT_GATEWAY,
	STACK_BODY_SIM,
	STACK_SERVICES
};

enum stack_server { STACK_NATS, STACK_REDIS, STACK_MQTT, STACK_SERVERS };

/* Most variables of one service. */
#define STACK_ENV_MAX 16

struct stack_opts {
	/* More variables ("K=V"), by service. */
	const char *env[STACK_SERVICES][STACK_ENV_MAX];
	/* The capture must not count as a subscriber of commands. */
	bool no_mqtt_capture;
	bool no_capture;              /* for timings */
	bool locked;                  /* as it is deployed: lock.h */
	bool without[STACK_SERVICES]; /* not started */
};

struct stack_proc {
	struct tk_proc proc;
	int http, admin;
	bool wanted; /* it should run */
};

struct stack {
	struct tk_server server[STACK_SERVERS];
	struct stack_proc service[STACK_SERVICES];
	struct tk_proc capture;
	/* Of one that is locked: ports of the broker, for services, and where
	 * everything is allowed; the server's own is that for bodies. */
	struct {
		int services, witness;
		struct tk_proc passwords;
	} lock;
	const struct stack_opts *opts; /* constant */
};

/* stack_start(st, o): Start it all; returns when all is ready. */
void stack_start(struct stack *st, const struct stack_opts *o);

/* stack_name(i): "chat-gateway". */
const char *stack_name(enum stack_service i);

/*
 * stack_spawn(st, i, p, name):
 * One more replica of service i, with ports of its own; ready or not.
 */
void stack_spawn(struct stack *st, enum stack_service i, struct stack_proc *p,
    const char *name);

/* stack_wait_ready(p): Wait until its /readyz is 200. */
void stack_wait_ready(struct stack_proc *p);

/*
 * stack_kill(st, i), stack_restart(st, i):
 * SIGKILL a service; start it again, with the same ports.
 */
void stack_kill(struct stack *st, enum stack_service i);
void stack_restart(struct stack *st, enum stack_service i);

/* stack_lines(st, i, text): How many lines of its log so far have text. */
size_t stack_lines(
    const struct stack *st, enum stack_service i, const char *text);

/*
 * stack_check(st):
 * Fails the test unless every process runs and the capture saw nothing wrong.
 */
void stack_check(struct stack *st);

/*
 * stack_end(st):
 * Tell all to stop.  What went wrong (a process that does not drain and end
 * with 0, a message that breaks its schema, something that a service was
 * denied), or NULL.
 */
const char *stack_end(struct stack *st);

/* For stack_opts.without: servers and the capture only. */
#define STACK_BARE                                             \
	{                                                      \
		true, true, true, true, true, true, true, true \
	}

/* Every test of the program uses one stack, with these options. */
#define STACK_SHARED(...)                                       \
	static struct stack stack;                              \
	static void stack_shared_begin(void)                    \
	{                                                       \
		static const struct stack_opts o = __VA_ARGS__; \
		stack_start(&stack, &o);                        \
	}                                                       \
	static void stack_shared_check(void)                    \
	{                                                       \
		stack_check(&stack);                            \
	}                                                       \
	static const char *stack_shared_end(void)               \
	{                                                       \
		return stack_end(&stack);                       \
	}                                                       \
	TK_SHARE(stack_shared_begin, stack_shared_check, stack_shared_end)

#endif /* !TESTKIT_STACK_STACK_H */
