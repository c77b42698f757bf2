/*
 * mcp_fixture: mcp-hosts with their servers, and calls of tools.  Its functions
 * start with mh_; a failure fails the test.
 */
#ifndef TESTKIT_MCP_FIXTURE_H
#define TESTKIT_MCP_FIXTURE_H

#include <jansson.h>
#include <nats/nats.h>
#include <stdbool.h>
#include <stddef.h>

#include "testkit/nats.h"
#include "testkit/service.h"
#include "testkit/testkit.h"

#define MH_HOSTS 2
/* Longest wait for something that must happen. */
#define MH_MS 20000

struct mcp_fixture {
	struct tk_server nats, redis;
	struct tk_service host[MH_HOSTS];
	natsConnection *nc;
	const char *user; /* of requests; "ann" at first */
};

/*
 * mh_config(servers): Write MCP_CONFIG: members of mcpServers.
 * MH_SIM(name, switches): One that is mcp-sim; switches are JSON strings, each
 * with a comma before it; MH_SIM_WITH: with more members of the server.
 * Each takes two arguments, MH_SIM_AT.
 */
void mh_config(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
#define MH_SIM_WITH(name, switches, more)                                \
	"\"" name "\":{\"command\":\"%s\",\"args\":[\"log=%s\"" switches \
	"],\"policy\":\"auto\",\"trust_hints\":true" more "}"
#define MH_SIM_AT              tk_bin("mcp-sim"), tk_path("sim.log")
#define MH_SIM(name, switches) MH_SIM_WITH(name, switches, "")

/*
 * mh_start(f): Servers, and a host, with what mh_config() has written.
 * mh_start_with(f, more): The same, with settings of the host.
 * mh_start_host(f, i, more): One of them; more are its settings, NULL: none.
 * mh_stop(f): All; hosts must drain and exit 0, and leave no process.
 */
void mh_start(struct mcp_fixture *f);
void mh_start_with(struct mcp_fixture *f, const char *const more[]);
void mh_start_host(struct mcp_fixture *f, int i, const char *const more[]);
void mh_stop(struct mcp_fixture *f);

/*
 * mh_list(f, text, max): The reply to a tool_list_request.
 * mh_await_tools(f, n): Until it has n tools, and no notes.
 * mh_has_tool(f, name): Whether it has one of that name.
 */
json_t *mh_list(struct mcp_fixture *f, const char *text, int max);
void mh_await_tools(struct mcp_fixture *f, size_t n);
bool mh_has_tool(struct mcp_fixture *f, const char *name);

/* A call whose end is not awaited yet. */
struct mh_call {
	struct mcp_fixture *f;
	natsSubscription *sub;
	char id[64];
	size_t running, progress; /* replies before the last */
};

/*
 * mh_begin(f, c, name, arguments): Call it, with a new id, by its definition
 *     now.
 * mh_begin_as(…, id, more): With that id; more are members of the request.
 * mh_await(c): Its end.
 * mh_await_progress(c): Until it has reported progress.
 * mh_cancel(c): tool_cancel.
 *
 * mh_call(f, name, arguments): mh_begin() and mh_await().
 * mh_ok(f, name, arguments, text): It must be ok, with that text.
 * mh_fails(f, name, arguments, code): It must fail with that code.
 */
void mh_begin(struct mcp_fixture *f, struct mh_call *c, const char *name,
    const char *arguments);
void mh_begin_as(struct mcp_fixture *f, struct mh_call *c, const char *name,
    const char *arguments, const char *id, const char *more);
json_t *mh_await(struct mh_call *c);
void mh_await_progress(struct mh_call *c);
void mh_cancel(struct mh_call *c);
json_t *mh_call(struct mcp_fixture *f, const char *name, const char *arguments);
void mh_ok(struct mcp_fixture *f, const char *name, const char *arguments,
    const char *text);
void mh_fails(struct mcp_fixture *f, const char *name, const char *arguments,
    const char *code);

/*
 * mh_sims(): Processes of mcp-sim, of this test.
 * mh_await_sims(n): Until there are n.
 * mh_kill_sims(): kill -9 of all; how many.
 * mh_kill_shims(host): kill -9 of the children of a host, which is stopped.
 */
size_t mh_sims(void);
void mh_await_sims(size_t n);
size_t mh_kill_sims(void);
void mh_kill_shims(pid_t host);

/* mh_log_lines(path, part): Lines of a log of mcp-sim with that part. */
size_t mh_log_lines(const char *path, const char *part);

#endif /* !TESTKIT_MCP_FIXTURE_H */
