/*
 * Configuration table, start and stop.
 */
#include "context.h"

#include <stdio.h>
#include <stdlib.h>

#include "auth/secret_box.h"
#include "bus/bus.h"
#include "catalogue.h"
#include "catalogue_store.h"
#include "config_file.h"
#include "core/buf.h"
#include "core/fiber.h"
#include "core/log.h"
#include "core/map.h"
#include "core/mem.h"
#include "core/metric.h"
#include "core/worker.h"
#include "evolution/evolution_due.h"
#include "handlers.h"
#include "httpc/httpc.h"
#include "httpc/public_address.h"
#include "instance.h"
#include "pin_notice.h"
#include "presence.h"
#include "rpc.h"
#include "state/bucket_poll.h"
#include "state/state.h"
#include "svc/svc.h"
#include "tool/tool_digest.h"
#include "user_servers.h"
#include "user_tools.h"
#include "wire/subjects.h"

/* Until it is tried once more whether Redis is connected. */
#define FIND_STEP_MS 20
/* A drain waits so long for processes, in steps. */
#define DRAIN_STEP_MS 20
#define DRAIN_MS      6000

#define HOST_OPT(env, kind, member, dflt, lo, hi, help)                   \
	{                                                                 \
		env, kind, CONF_AT(host_conf, member), dflt, lo, hi, help \
	}

const struct conf_opt host_opts[HOST_OPTS_N] = {
	HOST_OPT("REDIS_URL", CONF_URL, redis_url, "redis://127.0.0.1:6379", 0,
	    0, "Redis URL, including any password"),
	STATE_CONF_OPTS(host_conf, redis),
	HOST_OPT("REDIS_TIMEOUT_MS", CONF_INT, redis_timeout_ms, "1000", 10,
	    10000, "timeout of a Redis command, ms"),
	HOST_OPT("MCP_CONFIG", CONF_STR, config, "", 0, 0,
	    "JSON file of the MCP servers, read again when it changes; empty: "
	    "none"),
	HOST_OPT("MCP_CATALOGUE", CONF_STR, catalogue, "", 0, 0,
	    "JSON file of the MCP servers that souls may ask for and users "
	    "approve, read again when it changes; empty: none"),
	HOST_OPT("MCP_CHILDREN_MAX", CONF_INT, children_max, "64", 1, 4096,
	    "processes of MCP servers at a time"),
	HOST_OPT("MCP_IDLE_S", CONF_INT, idle_s, "600", 1, 86400,
	    "time after which a process that is not used is stopped, s"),
	HOST_OPT("MCP_ALLOW_PRIVATE", CONF_BOOL, allow_private, "off", 0, 0,
	    "let users' own servers be at private addresses, and without TLS"),
	HOST_OPT("SECRETS_KEY", CONF_SECRET, secrets_key, "", 0, 0,
	    "keys that encrypt headers of users' servers, name:key[,name:key]; "
	    "the first encrypts, each is 32 bytes in base64url or hexadecimal"),
	HOST_OPT("TOOL_TIMEOUT_MAX", CONF_INT, timeout_max_s, "300", 1, 300,
	    "longest call of a tool, with its progress, s"),
};

void
host_check(const void *arg, struct buf *errors, struct buf *known)
{
	const struct host_conf *c = arg;
	const char *why = state_url_error(c->redis_url);
	struct mcp_config *config = NULL;
	struct secret_box *secrets = NULL;

	(void)known;
	if (why != NULL)
		buf_printf(errors, "REDIS_URL: %s\n", why);
	if (config_file_load(CONFIG_FILE_SERVERS, c->config, &config, errors) ==
	    RC_OK)
		mcp_config_unref(config);
	if (config_file_load(
		CONFIG_FILE_CATALOGUE, c->catalogue, &config, errors) == RC_OK)
		mcp_config_unref(config);
	if (secret_box_new(str_of(c->secrets_key), &secrets, &why) != RC_OK)
		buf_printf(errors, "SECRETS_KEY: %s\n", why);
	secret_box_free(secrets);
}

/* ---- what changes ---- */

struct host_list {
	struct host *host;
	struct tool_server *server;
};

static void
host_store_fiber(void *arg)
{
	struct host_list *l = arg;
	struct host *h = l->host;
	struct catalogue *c = catalogue_ref(l->server->tools);
	enum rc rc = catalogue_store_write(h->state, l->server->key, c);

	/* Only other replicas miss it. */
	if (rc != RC_OK)
		log_warn("mcp.list_not_stored",
		    LOG_S("server", l->server->label), LOG_RC(rc));
	catalogue_unref(c);
	tool_server_unref(l->server);
	free(l);
	svc_release(h->svc);
}

void
host_on_tools(struct host *h, struct tool_server *s, struct catalogue *tools)
{
	struct host_list *l;

	struct str user = { NULL, 0 };

	if (s->user[0] != '\0')
		user = str_of(s->user);
	if (tool_server_set_tools(s, tools))
		presence_changed(h->presence, user);
	/* What is stored of a user is deleted with the user. */
	if (h->draining || user.p != NULL)
		return;
	l = mem_zalloc(sizeof(*l));
	*l = (struct host_list){ h, tool_server_ref(s) };
	svc_hold(h->svc);
	fiber_start(host_store_fiber, l);
}

/* Entries of the catalogue are not started: perhaps nobody has them. */
static void
host_find_tools(struct host *h, const struct tool_server_list *servers)
{
	struct tool_server *list[MCP_SERVERS_MAX] = { NULL }, *s;
	struct catalogue *c;
	size_t n = 0;

	LIST_FOREACH (s, servers, link)
		if (n < MCP_SERVERS_MAX && s->tools == NULL)
			list[n++] = tool_server_ref(s);
	for (size_t i = 0; i < n; i++) {
		s = list[i];
		if (!h->draining && s->tools == NULL &&
		    catalogue_store_read(h->state, s->key, &c) == RC_OK) {
			(void)tool_server_set_tools(s, c);
			catalogue_unref(c);
		}
		if (!h->draining && !s->retired && !s->entry)
			instance_probe(h, s);
		tool_server_unref(s);
	}
}

/* What is stored of new servers; others are started for their tools. */
static void
host_find_fiber(void *arg)
{
	struct host *h = arg;

	/* At the start it is not connected yet. */
	while (!state_up(h->state) && !h->draining && !h->stopping)
		(void)host_wait(h, NULL, FIND_STEP_MS);
	host_find_tools(h, &h->servers);
	host_find_tools(h, &h->entries);
	h->finding--;
	presence_changed(h->presence, (struct str){ NULL, 0 });
	svc_release(h->svc);
}

void
host_on_servers(struct host *h)
{
	user_tools_forget(h);
	if (h->draining)
		return;
	h->finding++;
	svc_hold(h->svc);
	fiber_start(host_find_fiber, h);
}

static size_t
host_put_tools(const struct tool_server_list *servers, struct str *parts)
{
	const struct tool_server *s;
	size_t n = 0;

	LIST_FOREACH (s, servers, link) {
		if (n + 2 > 2 * MCP_SERVERS_MAX)
			break;
		parts[n++] = str_of(s->key);
		parts[n++] = s->tools != NULL
		    ? str_of(catalogue_digest(s->tools))
		    : STR("");
	}
	return n;
}

void
host_revision(const struct host *h, char dst[MCP_KEY_MAX])
{
	struct str parts[2 + 4 * MCP_SERVERS_MAX];
	size_t n = 0;

	parts[n++] = str_of(mcp_config_revision(h->config));
	parts[n++] = str_of(mcp_config_revision(h->catalogue));
	n += host_put_tools(&h->servers, parts + n);
	n += host_put_tools(&h->entries, parts + n);
	tool_digest(parts, n, dst);
}

struct tool_server *
host_entry(const struct host *h, struct str user, struct str name)
{
	struct tool_server *s;

	LIST_FOREACH (s, &h->entries, link)
		if (str_eq(name, str_of(s->conf->name)) &&
		    mcp_server_for(s->conf, user_tenant(user)))
			return s;
	return NULL;
}

/* ---- start ---- */

static bool
host_state_up(void *arg)
{
	return state_up(arg);
}

static enum rc
host_connect(struct host *h)
{
	const struct state_opts o = { .loop = h->loop,
		.workers = h->workers,
		.url = h->conf->redis_url,
		.conf = &h->conf->redis,
		.name = "mcp-host",
		.deadline_ms = (int)h->conf->redis_timeout_ms,
		.on_format = svc_end_unusable,
		.arg = h->svc,
		.metrics = svc_metrics(h->svc) };
	enum rc rc = state_new(&o, &h->state);

	if (rc == RC_OK)
		svc_require(h->svc, "redis", host_state_up, h->state);
	return rc;
}

static void
host_make_metrics(struct host *h)
{
	struct metric_set *set = svc_metrics(h->svc);

	h->n_children = metric_gauge(
	    set, "soul_mcp_children", "Processes of MCP servers.", NULL);
	h->call_seconds = metric_histogram(set, "soul_mcp_call_seconds",
	    "Duration of calls of tools, with the start of a server.", NULL);
	h->counts = (struct mcp_counts){
		.noise = metric_counter(set, "soul_mcp_noise_total",
		    "Messages of servers that are none, or too long.", NULL),
		.unwanted = metric_counter(set, "soul_mcp_unwanted_total",
		    "Responses that nobody waits for (any more).", NULL),
		.requests = metric_counter(set, "soul_mcp_requests_total",
		    "Requests of servers that were rejected.", NULL),
	};
}

static void
host_on_swept(void *arg)
{
	struct host *h = arg;

	h->orphans = NULL;
}

static void
host_make_processes(struct host *h)
{
	const char *why = "";

	orphan_mark(h->mark);
	h->orphans = orphan_sweep_new(h->loop, host_on_swept, h);

	h->procsup = (struct procsup_opts){ .loop = h->loop,
		.program =
		    procsup_find_shim(h->shim_program, sizeof(h->shim_program))
		    ? h->shim_program
		    : NULL,
		.stop_grace_ms = STDIO_TERM_GRACE_MS };
	h->stdio = (struct stdio_host){
		.loop = h->loop, .procsup = &h->procsup, .home = "/"
	};
	if (sandbox_probe(SANDBOX_AUTO, &h->sandbox, &why) == RC_OK)
		h->stdio.sandbox = &h->sandbox;
	else
		log_info("mcp.no_sandbox", LOG_S("why", why));
}

static void
host_make_http(struct host *h)
{
	const char *why;

	/* host_check() has read it. */
	(void)!secret_box_new(str_of(h->conf->secrets_key), &h->secrets, &why);
	h->http_users = httpc_new(&(struct httpc_opts){ .loop = h->loop,
	    .peer = "mcp-user",
	    .may_connect = h->conf->allow_private ? NULL : public_address_is,
	    .metrics = svc_metrics(h->svc) });
	h->user_servers = user_servers_new(h);
	h->pin_notices = pin_notices_new(h);
	h->http = httpc_new(&(struct httpc_opts){
	    .loop = h->loop, .peer = "mcp", .metrics = svc_metrics(h->svc) });
}

static enum rc
host_begin(struct host *h)
{
	char cancel[64];
	enum rc rc = host_connect(h);

	(void)snprintf(
	    cancel, sizeof(cancel), WIRE_SUBJECT_FMT_TOOL_CANCEL, "mcp-host");
	if (rc == RC_OK)
		rc = bus_subscribe(
		    h->bus, cancel, NULL, on_tool_cancel, h, NULL);
	if (rc != RC_OK)
		return rc;
	h->config_file = config_file_new(h, CONFIG_FILE_SERVERS);
	h->catalogue_file = config_file_new(h, CONFIG_FILE_CATALOGUE);
	h->presence = presence_new(h);
	if (h->config_file == NULL || h->catalogue_file == NULL ||
	    h->presence == NULL)
		return RC_DOWN;
	host_on_servers(h);
	evolution_due_start(h);
	return RC_OK;
}

void *
host_start(struct svc *s, const void *conf)
{
	struct host *h = mem_zalloc(sizeof(*h));

	h->conf = conf;
	h->svc = s;
	h->loop = svc_loop(s);
	h->bus = svc_bus(s);
	id_hex32(h->id);
	LIST_INIT(&h->servers);
	LIST_INIT(&h->entries);
	LIST_INIT(&h->waits);
	h->instances = map_new();
	h->calls = map_new();
	h->toolboxes = map_new();
	h->reader = rpc_reader_new();
	h->workers = worker_new(h->loop, 1, 16);
	host_make_metrics(h);
	host_make_processes(h);
	host_make_http(h);
	if (host_begin(h) != RC_OK) {
		host_stop(h);
		return NULL;
	}
	return h;
}

/* ---- the end ---- */

/* Calls end first; then processes are stopped, and their leases released. */
static void
host_drain_fiber(void *arg)
{
	struct host *h = arg;
	struct mono end;

	while (map_len(h->calls) > 0 && !h->stopping)
		(void)host_wait(h, NULL, DRAIN_STEP_MS);
	end = mono_add_ms(clock_mono(), DRAIN_MS);
	while (!h->stopping && mono_diff_ms(end, clock_mono()) > 0) {
		instances_stop(h);
		if (!instances_are_open(h))
			break;
		(void)host_wait(h, NULL, DRAIN_STEP_MS);
	}
	svc_release(h->svc);
}

void
host_drain(void *app)
{
	struct host *h = app;

	h->draining = true;
	evolution_due_drain(h);
	svc_hold(h->svc);
	fiber_start(host_drain_fiber, h);
}

static void
host_free_servers(struct tool_server_list *servers, struct mcp_config *config)
{
	struct tool_server *s;

	while ((s = LIST_FIRST(servers)) != NULL) {
		LIST_REMOVE(s, link);
		tool_server_unref(s);
	}
	mcp_config_unref(config);
}

void
host_stop(void *app)
{
	struct host *h = app;

	h->stopping = true;
	instances_abort(h);
	host_wake_all(h);
	state_stop(h->state);
	bucket_poll_free(h->evolutions);
	orphan_sweep_free(h->orphans);
	presence_free(h->presence);
	config_file_free(h->config_file);
	config_file_free(h->catalogue_file);
	instances_free(h);
	user_servers_free(h->user_servers);
	pin_notices_free(h->pin_notices);
	httpc_free(h->http);
	httpc_free(h->http_users);
	secret_box_free(h->secrets);
	user_tools_forget(h);
	host_free_servers(&h->servers, h->config);
	host_free_servers(&h->entries, h->catalogue);
	state_free(h->state);
	worker_free(h->workers);
	map_free(h->instances);
	map_free(h->calls);
	map_free(h->toolboxes);
	rpc_reader_free(h->reader);
	free(h);
}
