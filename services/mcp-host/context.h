/*
 * context: configuration and state of the process, which all handlers share.
 *
 * Servers (tool_server.h) have instances (instance.h), a process or a
 * connection each; calls of tools (tool_call.h) are made at instances.
 */
#ifndef MCP_HOST_CONTEXT_H
#define MCP_HOST_CONTEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

#include "core/conf.h"
#include "core/id.h"
#include "core/loop.h"
#include "mcp_config.h"
#include "mcp_connection.h"
#include "orphan_sweep.h"
#include "procsup/procsup.h"
#include "procsup/sandbox.h"
#include "state/state_conf.h"
#include "stdio_transport.h"
#include "tool_server.h"

struct bucket_poll;
struct buf;
struct bus;
struct catalogue;
struct config_file;
struct httpc;
struct secret_box;
struct user_servers;
struct map;
struct metric;
struct pin_notices;
struct presence;
struct rpc_reader;
struct state;
struct svc;
struct worker_pool;

struct host_waiting;
/* Fibers that wait for one thing; zero-initialised by its owner. */
LIST_HEAD(host_waits, host_waiting);

struct host_conf {
	const char *redis_url;
	struct state_conf redis;
	int64_t redis_timeout_ms;
	const char *config;
	const char *catalogue;
	int64_t children_max;
	int64_t idle_s;
	int64_t timeout_max_s;
	bool allow_private;
	const char *secrets_key;
};

#define HOST_OPTS_N (9 + STATE_CONF_N)
extern const struct conf_opt host_opts[HOST_OPTS_N];

struct host {
	struct svc *svc;
	struct loop *loop;
	struct bus *bus;
	const struct host_conf *conf;
	char id[ID_HEX32_MAX];       /* of this process */
	struct worker_pool *workers; /* connecting */
	struct state *state;
	/* Processes of servers. */
	struct procsup_opts procsup;
	char shim_program[512];
	struct sandbox_report sandbox;
	struct stdio_host stdio;
	char mark[ORPHAN_MARK_MAX];   /* of processes; a number follows */
	uint64_t processes;           /* that were started */
	struct orphan_sweep *orphans; /* NULL: processes may be started */
	struct httpc *http;
	struct httpc *http_users;   /* to public addresses */
	struct secret_box *secrets; /* NULL: none */
	struct user_servers *user_servers;
	/* Servers. */
	struct rpc_reader *reader;
	struct mcp_config *config;       /* NULL: there is none */
	struct tool_server_list servers; /* the operator's */
	struct mcp_config *catalogue;    /* NULL: there is none */
	struct tool_server_list entries; /* of the catalogue */
	struct config_file *config_file, *catalogue_file;
	struct bucket_poll *evolutions;
	struct presence *presence;
	struct pin_notices *pin_notices;
	struct map *instances; /* id -> struct instance */
	size_t children;       /* instances that are processes */
	struct map *calls;     /* call id -> struct tool_call */
	struct map *toolboxes; /* digest -> struct toolbox */
	struct mcp_counts counts;
	struct metric *n_children, *call_seconds;
	LIST_HEAD(, host_waiting) waits;
	size_t finding; /* fibers that read stored lists */
	bool draining, stopping;
};

/*
 * host_check(conf, errors, known), host_start(s, conf), host_drain(h),
 * host_stop(h): As struct svc_def has them.
 */
void host_check(const void *conf, struct buf *errors, struct buf *known);
void *host_start(struct svc *s, const void *conf);
void host_drain(void *app);
void host_stop(void *app);

/*
 * host_on_tools(h, s, tools): A server has listed its tools.
 * host_on_servers(h): The operator's servers are others.
 */
void host_on_tools(
    struct host *h, struct tool_server *s, struct catalogue *tools);
void host_on_servers(struct host *h);

/* host_revision(h, dst): Of what it lists for all users. */
void host_revision(const struct host *h, char dst[MCP_KEY_MAX]);

/*
 * host_entry(h, user, name): The entry of the catalogue that the user may have;
 * NULL: there is none.
 */
struct tool_server *host_entry(
    const struct host *h, struct str user, struct str name);

/* ---- host_wait.c: in fibers only ---- */

/*
 * host_wait(h, l, ms):
 * Suspend this fiber until host_wake(), for at most ms, or until the process
 * stops; false: not woken.  l NULL: just sleep.
 */
bool host_wait(struct host *h, struct host_waits *l, int64_t ms);

/* host_wake(l): Resume all, in a later iteration of the loop. */
void host_wake(struct host_waits *l);

/* host_wake_all(h): The process stops. */
void host_wake_all(struct host *h);

#endif /* !MCP_HOST_CONTEXT_H */
