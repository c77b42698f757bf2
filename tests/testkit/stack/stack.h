/*
 * stack: the whole suite for a test: real servers, every service, the capture.
 *
 * Started once per test program by STACK_SHARED, or in a test of its own when
 * the test kills processes.
 */
#ifndef TESTKIT_STACK_STACK_H
#define TESTKIT_STACK_STACK_H

#include <stdbool.h>

#include "testkit/json.h"
#include "testkit/nats_cluster.h"
#include "testkit/redis_meter.h"
#include "testkit/redis_set.h"
#include "testkit/testkit.h"

/* Timeout of operations that take well under a second. */
#define STACK_MS 20000
/* The terminal of body-sim, and a user. */
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

/* Maximum number of variables of one service. */
#define STACK_ENV_MAX 16

struct stack_opts {
	/* Further variables ("K=V"), by service. */
	const char *env[STACK_SERVICES][STACK_ENV_MAX];
	/* The capture must not count as a subscriber of commands. */
	bool no_mqtt_capture;
	bool no_capture; /* for benchmarks */
	bool metered;    /* Redis has a meter, NATS a port for monitoring */
	bool locked;     /* as deployed: lock.h */
	bool sentinels;  /* Redis has two replicas, and sentinels */
	/* Redis is a cluster of six servers; so it is for any other stack that
	 * is not metered or locked, if SOUL_TEST_CLUSTER is set. */
	bool cluster;
	bool nats_cluster;
	bool without[STACK_SERVICES]; /* not started */
};

struct stack_proc {
	struct tk_proc proc;
	int http, admin;
	bool wanted; /* expected to run */
};

struct stack {
	struct tk_server server[STACK_SERVERS];
	/* With sentinels; server[STACK_REDIS] is not used then. */
	struct tk_sentinels redis;
	struct tk_cluster cluster; /* likewise */
	bool has_cluster;
	/* With a cluster; server[STACK_NATS] is not used then. */
	struct tk_nats_cluster nats;
	struct stack_proc service[STACK_SERVICES];
	struct tk_proc capture;
	/*
	 * In a locked stack: ports of the broker for services, and without
	 * restrictions; server[] has the port for devices.
	 */
	struct {
		int services, witness;
		struct tk_proc passwords;
	} lock;
	/* If metered. */
	struct tk_meter *meter;
	int nats_monitor;
	const struct stack_opts *opts; /* constant */
};

/* stack_start(st, o): Start everything; returns when all is ready. */
void stack_start(struct stack *st, const struct stack_opts *o);

/* stack_name(i): "chat-gateway". */
const char *stack_name(enum stack_service i);

/* stack_nats_url(st): The nats-server, or the nodes of the cluster. */
const char *stack_nats_url(const struct stack *st);

/*
 * stack_spawn(st, i, p, name): Start another replica of service i, with ports
 * of its own; does not wait until it is ready.
 */
void stack_spawn(struct stack *st, enum stack_service i, struct stack_proc *p,
    const char *name);

/*
 * stack_spawn_hub(st, p): Start a star-hub, which is no part of the stack, with
 * its servers; does not wait until it is ready.
 */
void stack_spawn_hub(const struct stack *st, struct stack_proc *p);

/*
 * stack_spawn_mcp_host(st, servers, p): Likewise an mcp-host with MCP servers:
 * members of mcpServers; NULL: one that fails.
 */
void stack_spawn_mcp_host(
    const struct stack *st, const char *servers, struct stack_proc *p);

/*
 * stack_spawn_catalogue(st, entries, p): Likewise one without servers, whose
 * catalogue has these entries: members of mcpServers.
 */
void stack_spawn_catalogue(
    const struct stack *st, const char *entries, struct stack_proc *p);

/*
 * stack_spawn_navigator(st, llm, p): Likewise a simulated language model and a
 * navigator that thinks with it after each turn.
 */
void stack_spawn_navigator(
    const struct stack *st, struct stack_proc *llm, struct stack_proc *p);

/* stack_spawn_alarm_clock(st, p): Likewise an alarm-clock. */
void stack_spawn_alarm_clock(const struct stack *st, struct stack_proc *p);

/*
 * stack_spawn_navigator_plain(st, p): Likewise a navigator with the model of
 * the stack, whose cycles have no gap between them.
 */
void stack_spawn_navigator_plain(const struct stack *st, struct stack_proc *p);

/*
 * stack_spawn_engines(st, engine, runner, proxy):
 * Start an engine-runner, whose engines are the script engine, and its model
 * proxy, likewise.
 */
void stack_spawn_engines(const struct stack *st, const char *engine,
    struct stack_proc *runner, struct stack_proc *proxy);

/* stack_wait_ready(p): Wait until its /readyz is 200. */
void stack_wait_ready(struct stack_proc *p);

/*
 * stack_kill(st, i), stack_restart(st, i):
 * SIGKILL a service; start it again, with the same ports.
 */
void stack_kill(struct stack *st, enum stack_service i);
void stack_restart(struct stack *st, enum stack_service i);

/*
 * stack_lines(st, i, text): The number of lines in its log that contain text.
 */
size_t stack_lines(
    const struct stack *st, enum stack_service i, const char *text);

/*
 * stack_check(st):
 * Fails the test unless every process runs and the capture saw nothing wrong.
 */
void stack_check(struct stack *st);

/*
 * stack_end(st): Stop all processes. Returns what went wrong (a process that
 * does not drain and exit with 0, a message that violates its schema, a service
 * whose request was denied), or NULL.
 */
const char *stack_end(struct stack *st);

/* For stack_opts.without: servers and the capture only. */
#define STACK_BARE                                             \
	{                                                      \
		true, true, true, true, true, true, true, true \
	}

/* All tests of the program share one stack with these options. */
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
