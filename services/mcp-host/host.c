/*
 * Configuration table, start and stop.
 */
#include "host.h"

#include <stdlib.h>

#include "core/buf.h"
#include "core/log.h"
#include "core/mem.h"
#include "core/worker.h"
#include "state/state.h"
#include "svc/svc.h"

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
	    "JSON file of the MCP servers; empty: none"),
	HOST_OPT("MCP_CHILDREN_MAX", CONF_INT, children_max, "64", 1, 4096,
	    "processes of MCP servers at a time"),
	HOST_OPT("TOOL_TIMEOUT_MAX", CONF_INT, timeout_max_s, "300", 1, 3600,
	    "longest call of a tool, with its progress, s"),
};

void
host_check(const void *arg, struct buf *errors, struct buf *known)
{
	const struct host_conf *c = arg;
	const char *why = state_url_error(c->redis_url);

	(void)known;
	if (why != NULL)
		buf_printf(errors, "REDIS_URL: %s\n", why);
}

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

void *
host_start(struct svc *s, const void *conf)
{
	struct host *h = mem_zalloc(sizeof(*h));

	h->conf = conf;
	h->svc = s;
	h->loop = svc_loop(s);
	h->bus = svc_bus(s);
	h->workers = worker_new(h->loop, 1, 16);
	if (host_connect(h) != RC_OK) {
		host_stop(h);
		return NULL;
	}
	return h;
}

void
host_drain(void *app)
{
	(void)app;
}

void
host_stop(void *app)
{
	struct host *h = app;

	state_stop(h->state);
	state_free(h->state);
	worker_free(h->workers);
	free(h);
}
