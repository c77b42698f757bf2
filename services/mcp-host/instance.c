#include "instance.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bus/bus.h"
#include "catalogue.h"
#include "clean_text.h"
#include "context.h"
#include "core/buf.h"
#include "core/clock.h"
#include "core/fiber.h"
#include "core/log.h"
#include "core/loop.h"
#include "core/map.h"
#include "core/mem.h"
#include "core/metric.h"
#include "core/rate.h"
#include "handlers.h"
#include "http_transport.h"
#include "instance_internal.h"
#include "mcp_connection.h"
#include "state/state.h"
#include "svc/svc.h"
#include "svc/system_notice.h"
#include "tool/tool_digest.h"

#define TICK_MS      5000
#define ELSEWHERE_MS 2000   /* until its lease is tried once more */
#define ORPHANS_MS   20     /* until it is tried whether orphans have ended */
#define CHILD_MS     100    /* until there may be room for a process */
#define STABLE_MS    60000  /* after which a crash is the first one */
#define CRASHES_MS   600000 /* in which CRASHES_MAX are reported */
/* Bytes of stderr in the log. */
#define STDERR_LOG_MAX 1024
/* A call waits so long for a server that is being started anew. */
#define PATIENCE_MS 5000

static void instance_on_tick(void *arg);
static void instance_begin(struct instance *i);

/* ---- ids, finding ---- */

static bool
instance_is_process(const struct instance *i)
{
	return i->server->conf->kind == MCP_STDIO;
}

/* One for all users; or that of nobody, which lists the tools. */
static bool
instance_is_probe(const struct instance *i)
{
	return i->user[0] == '\0' && !i->server->conf->stateless;
}

static void
instance_make_id(
    const struct tool_server *s, struct str user, char dst[INSTANCE_ID_MAX])
{
	const struct str parts[] = { str_of(s->key), user };
	char digest[TOOL_DIGEST_MAX];

	tool_digest(parts, NELEM(parts), digest);
	memcpy(dst, digest, INSTANCE_ID_MAX - 1);
	dst[INSTANCE_ID_MAX - 1] = '\0';
}

static struct instance *
instance_new(
    struct host *h, struct tool_server *s, struct str user, const char *id)
{
	struct instance *i = mem_zalloc(sizeof(*i));

	i->host = h;
	i->server = tool_server_ref(s);
	i->backoff = (struct backoff){ .min_ms = 500, .max_ms = 60000 };
	str_copy(user, i->user, sizeof(i->user));
	memcpy(i->id, id, sizeof(i->id));
	(void)map_put(h->instances, str_of(i->id), i);
	loop_timer_set(h->loop, &i->tick, mono_add_ms(clock_mono(), TICK_MS),
	    instance_on_tick, i);
	return i;
}

struct instance *
instance_of(struct host *h, struct tool_server *s, struct str user)
{
	char id[INSTANCE_ID_MAX];
	struct instance *i;

	if (s->conf->stateless)
		user = STR("");
	instance_make_id(s, user, id);
	i = map_get(h->instances, str_of(id));
	if (i == NULL)
		i = instance_new(h, s, user, id);
	i->used = clock_mono();
	/* There may be room for its process by now. */
	if (i->phase == PHASE_DOWN && (i->retry.pos == 0 || i->crowded))
		instance_begin(i);
	return i;
}

void
instance_free(struct instance *i)
{
	struct host *h = i->host;

	(void)map_del(h->instances, str_of(i->id));
	loop_timer_cancel(h->loop, &i->tick);
	loop_timer_cancel(h->loop, &i->retry);
	bus_unsubscribe(i->sub);
	mcp_connection_free(i->connection);
	tool_server_unref(i->server);
	free(i);
}

void
instance_hold(struct instance *i)
{
	i->holds++;
}

void
instance_release(struct instance *i)
{
	i->holds--;
	i->used = clock_mono();
}

/* ---- the end of a connection ---- */

static void
instance_set_why(struct instance *i, const char *why)
{
	str_copy(str_of(why), i->why, sizeof(i->why));
}

static void
instance_on_retry(void *arg)
{
	struct instance *i = arg;

	instance_begin(i);
}

void
instance_retry_in(struct instance *i, int64_t ms)
{
	i->phase = PHASE_DOWN;
	loop_timer_set(i->host->loop, &i->retry, mono_add_ms(clock_mono(), ms),
	    instance_on_retry, i);
	host_wake(&i->waits);
}

static void
instance_notify(struct instance *i)
{
	struct buf text = BUF_INIT(512);
	const struct svc_notice n = { .level =
					  WIRE_SYSTEM_NOTIFICATION_LEVEL_ERROR,
		.code = "MCP_SERVER_LOST" };
	struct svc_notice sent = n;

	buf_printf(&text, "The MCP server %s has ended %d times in %d minutes",
	    i->server->label, CRASHES_MAX, CRASHES_MS / 60000);
	sent.message = buf_str(&text);
	svc_notify(i->host->svc, &sent, NULL);
	buf_free(&text);
}

static void
instance_count_crash(struct instance *i)
{
	struct mono now = clock_mono();
	struct mono *oldest = &i->crashes[i->n_crashes % CRASHES_MAX];
	bool many = oldest->ns != 0 && mono_diff_ms(now, *oldest) < CRASHES_MS;

	*oldest = now;
	i->n_crashes++;
	metric_add(i->server->restarts, 1);
	if (many &&
	    (i->notified.ns == 0 ||
		mono_diff_ms(now, i->notified) > CRASHES_MS)) {
		i->notified = now;
		instance_notify(i);
	}
}

/* Some old servers exit at a request that they do not know. */
static bool
instance_was_probing(const struct instance *i, const struct transport_end *e)
{
	return e->why == TRANSPORT_EXITED && !i->legacy &&
	    i->server->era == MCP_ERA_UNKNOWN &&
	    i->server->conf->protocol == MCP_PROTOCOL_AUTO &&
	    mcp_session_state(mcp_connection_session(i->connection)) ==
	    MCP_PROBING;
}

/* With the last of what it wrote to stderr, which users do not get. */
static void
instance_log_crash(const struct instance *i, const struct transport_end *e,
    const char *why, bool was_ready)
{
	struct buf text = BUF_INIT(2 * STDERR_LOG_MAX);
	struct str last = e->log;

	if (last.n > STDERR_LOG_MAX) {
		last.p += last.n - STDERR_LOG_MAX;
		last.n = STDERR_LOG_MAX;
	}
	clean_text_line(last, STDERR_LOG_MAX, &text);
	log_warn("mcp.server_ended", LOG_S("server", i->server->label),
	    LOG_S("why", why), LOG_I("status", e->status),
	    LOG_S("phase", was_ready ? "ready" : "starting"),
	    LOG_V("stderr", buf_str(&text)));
	buf_free(&text);
}

static void
instance_on_crash(
    struct instance *i, const struct transport_end *e, const char *why)
{
	bool was_ready = i->phase == PHASE_READY;

	instance_set_why(i, why);
	instance_log_crash(i, e, why, was_ready);
	if (!was_ready)
		metric_add(i->server->failed_starts, 1);
	if (was_ready && mono_diff_ms(clock_mono(), i->ready_since) > STABLE_MS)
		backoff_reset(&i->backoff);
	if (was_ready)
		instance_count_crash(i);
	instance_retry_in(i, backoff_next_ms(&i->backoff));
}

static void
instance_on_closed(void *arg, const struct transport_end *e, const char *why)
{
	struct instance *i = arg;
	bool probing = instance_was_probing(i, e);
	bool wanted = i->wanted;

	if (instance_is_process(i))
		metric_set(i->host->n_children, (int64_t)--i->host->children);
	i->connection = NULL;
	i->wanted = false;
	if (i->phase == PHASE_CLOSING) {
		i->phase = PHASE_DOWN;
		host_wake(&i->waits);
		if (wanted && !i->host->draining)
			instance_begin(i);
	} else if (probing) {
		i->legacy = true;
		i->phase = PHASE_DOWN;
		instance_begin(i);
	} else if (e->why == TRANSPORT_SESSION_LOST &&
	    i->phase == PHASE_READY) {
		/* The server has another session to offer. */
		i->phase = PHASE_DOWN;
		instance_begin(i);
	} else {
		instance_on_crash(i, e, why);
	}
}

void
instance_close(struct instance *i)
{
	if (i->connection == NULL || i->phase == PHASE_CLOSING)
		return;
	i->phase = PHASE_CLOSING;
	mcp_connection_close(i->connection);
}

/* ---- opening ---- */

static void
instance_on_tools(void *arg, struct catalogue *tools)
{
	struct instance *i = arg;
	const struct mcp_session *s = mcp_connection_session(i->connection);
	struct tool_server *server = i->server;

	if (i->phase == PHASE_OPENING) {
		i->phase = PHASE_READY;
		i->ready_since = clock_mono();
		i->why[0] = '\0';
		server->era = mcp_session_era(s);
		log_info("mcp.server_ready", LOG_S("server", server->label),
		    LOG_S("version", mcp_session_version(s)),
		    LOG_I("tools", catalogue_n(tools)),
		    LOG_I("left_out", mcp_session_left_out(s)));
		/* It has done what it was started for. */
		if (instance_is_probe(i))
			i->used = (struct mono){ 1 };
	}
	host_on_tools(i->host, server, tools);
	host_wake(&i->waits);
}

static struct transport *
instance_open_process(
    struct instance *i, const struct transport_handler *handler)
{
	struct host *h = i->host;
	char mark[PROCSUP_MARK_MAX + 1];
	char user[ID_TOKEN_MAX];

	if (i->user[0] == '\0' || id_token(str_of(i->user), user) != RC_OK)
		str_copy(STR("all"), user, sizeof(user));
	(void)snprintf(mark, sizeof(mark), "%s.%llu", h->mark,
	    (unsigned long long)++h->processes);
	return stdio_transport_new(
	    &h->stdio, i->server->conf, str_of(user), mark, handler);
}

static struct transport *
instance_open_transport(void *arg, const struct transport_handler *handler)
{
	struct instance *i = arg;
	struct host *h = i->host;
	const struct mcp_server *conf = i->server->conf;
	const struct http_transport_opts o = {
		.loop = h->loop,
		.client = i->server->user[0] != '\0' ? h->http_users : h->http,
		.url = conf->url,
		.headers = conf->headers,
		.n_headers = conf->n_headers,
		.kind = conf->kind,
		.request_ms = h->conf->timeout_max_s * 1000,
		.push = !instance_is_probe(i) && i->server->user[0] == '\0',
	};

	return instance_is_process(i) ? instance_open_process(i, handler)
				      : http_transport_new(&o, handler);
}

static enum mcp_era
instance_era(const struct instance *i)
{
	switch (i->server->conf->protocol) {
	case MCP_PROTOCOL_LEGACY:
		return MCP_ERA_LEGACY;
	case MCP_PROTOCOL_MODERN:
		return MCP_ERA_MODERN;
	default:
		return i->legacy ? MCP_ERA_LEGACY : i->server->era;
	}
}

static void
instance_open(struct instance *i)
{
	struct host *h = i->host;
	const struct mcp_server *conf = i->server->conf;
	const struct mcp_connection_opts o = {
		.loop = h->loop,
		.reader = h->reader,
		.counts = &h->counts,
		.session = { .era = instance_era(i),
		    .only = conf->protocol == MCP_PROTOCOL_MODERN,
		    .roots = conf->n_roots > 0,
		    .client = svc_version() },
		.roots = conf->n_roots > 0 ? conf->roots_json : NULL,
		.open = instance_open_transport,
		.arg = i,
		.handler = { instance_on_tools, instance_on_closed, i },
	};

	i->phase = PHASE_OPENING;
	if (instance_is_process(i))
		metric_set(h->n_children, (int64_t)++h->children);
	i->connection = mcp_connection_new(&o);
}

/* The process that is idle and was not used for the longest time. */
static struct instance *
instance_idlest(struct host *h)
{
	struct instance *i, *best = NULL;
	size_t pos = 0;

	while ((i = map_next(h->instances, &pos, NULL)) != NULL)
		if (i->phase == PHASE_READY && i->holds == 0 &&
		    instance_is_process(i) &&
		    (best == NULL || i->used.ns < best->used.ns))
			best = i;
	return best;
}

static bool
instance_is_any_closing(struct host *h)
{
	struct instance *i;
	size_t pos = 0;

	while ((i = map_next(h->instances, &pos, NULL)) != NULL)
		if (i->phase == PHASE_CLOSING && instance_is_process(i))
			return true;
	return false;
}

/* Whether there is room for one more process; if not, it is being made. */
static bool
instance_has_room(struct instance *i)
{
	struct host *h = i->host;
	struct instance *idle;

	if (!instance_is_process(i) ||
	    h->children < (size_t)h->conf->children_max)
		return true;
	idle = instance_idlest(h);
	i->crowded = idle == NULL && !instance_is_any_closing(h);
	if (idle != NULL)
		instance_close(idle);
	return false;
}

void
instance_on_leased(struct instance *i)
{
	i->crowded = false;
	if (i->server->retired || i->host->draining) {
		i->phase = PHASE_DOWN;
		instance_set_why(i, "it is not configured any more");
		host_wake(&i->waits);
	} else if (instance_has_room(i)) {
		instance_open(i);
	} else {
		instance_set_why(i, "too many processes run");
		instance_retry_in(i, CHILD_MS);
	}
}

static void
instance_begin(struct instance *i)
{
	loop_timer_cancel(i->host->loop, &i->retry);
	if (instance_is_process(i) && i->host->orphans != NULL) {
		/* Its files may be in use. */
		if (orphan_sweep_has_found(i->host->orphans))
			instance_set_why(
			    i, "processes of a killed mcp-host are ended");
		instance_retry_in(i, ORPHANS_MS);
	} else if (instance_is_process(i) && !i->leased) {
		i->phase = PHASE_LEASING;
		instance_lease_begin(i);
	} else {
		instance_on_leased(i);
	}
}

/* ---- waiting ---- */

/* Whether *st is known already. */
static bool
instance_settled(struct instance *i, enum instance_state *st)
{
	switch (i->phase) {
	case PHASE_READY:
		/* The next one is about to be opened. */
		if (mcp_connection_is_ending(i->connection))
			return false;
		*st = INSTANCE_READY;
		return true;
	case PHASE_ELSEWHERE:
		*st = INSTANCE_ELSEWHERE;
		return true;
	case PHASE_CLOSING:
		i->wanted = true;
		return false;
	case PHASE_DOWN:
		*st = i->crowded ? INSTANCE_BUSY : INSTANCE_FAILED;
		if (i->retry.pos == 0 || i->crowded)
			return true;
		return mono_diff_ms(i->retry.at, clock_mono()) > PATIENCE_MS;
	default:
		return false;
	}
}

enum instance_state
instance_await(struct instance *i, int64_t ms)
{
	struct mono end = mono_add_ms(clock_mono(), ms);
	enum instance_state st = INSTANCE_STARTING;

	while (!instance_settled(i, &st)) {
		ms = mono_diff_ms(end, clock_mono());
		if (ms <= 0 || i->host->stopping)
			return i->why[0] != '\0' ? INSTANCE_FAILED
						 : INSTANCE_STARTING;
		(void)host_wait(i->host, &i->waits, ms);
	}
	return st;
}

struct mcp_connection *
instance_connection(const struct instance *i)
{
	return i->phase == PHASE_READY ? i->connection : NULL;
}

const char *
instance_id(const struct instance *i)
{
	return i->id;
}

const char *
instance_why(const struct instance *i)
{
	return i->why;
}

struct tool_server *
instance_server(const struct instance *i)
{
	return i->server;
}

/* ---- time ---- */

static bool
instance_is_idle(const struct instance *i)
{
	return i->holds == 0 && LIST_EMPTY(&i->waits) && !i->fiber &&
	    (i->server->retired || i->used.ns == 1 ||
		mono_diff_ms(clock_mono(), i->used) >
		    i->host->conf->idle_s * 1000);
}

static void
instance_on_tick(void *arg)
{
	struct instance *i = arg;
	struct host *h = i->host;

	loop_timer_set(h->loop, &i->tick, mono_add_ms(clock_mono(), TICK_MS),
	    instance_on_tick, i);
	if (i->phase == PHASE_ELSEWHERE &&
	    mono_diff_ms(clock_mono(), i->elsewhere) > ELSEWHERE_MS)
		i->phase = PHASE_DOWN;
	if (!instance_is_idle(i)) {
		if (i->leased)
			instance_lease_renew(i);
		return;
	}
	if (i->connection != NULL)
		instance_close(i);
	else if (i->leased)
		instance_lease_end(i);
	else
		instance_free(i);
}

void
instance_probe(struct host *h, struct tool_server *s)
{
	if (s->tools == NULL)
		(void)instance_of(h, s, STR(""));
}

void
instances_retire(struct host *h, struct tool_server *s)
{
	(void)h;
	s->retired = true;
}

void
instances_restart(struct host *h, struct tool_server *s)
{
	struct instance *i;
	size_t pos = 0;

	while ((i = map_next(h->instances, &pos, NULL)) != NULL) {
		if (i->server != s)
			continue;
		backoff_reset(&i->backoff);
		i->wanted = i->connection != NULL;
		instance_close(i);
		if (i->phase == PHASE_DOWN && i->retry.pos != 0)
			instance_retry_in(i, 1);
	}
}

void
instances_stop(struct host *h)
{
	struct instance *i;
	size_t pos = 0;

	while ((i = map_next(h->instances, &pos, NULL)) != NULL) {
		loop_timer_cancel(h->loop, &i->retry);
		instance_close(i);
		if (i->connection == NULL && i->leased)
			instance_lease_end(i);
	}
}

bool
instances_are_open(const struct host *h)
{
	const struct instance *i;
	size_t pos = 0;

	while ((i = map_next(h->instances, &pos, NULL)) != NULL)
		if (i->connection != NULL || i->leased || i->fiber)
			return true;
	return false;
}

void
instances_abort(struct host *h)
{
	struct mcp_connection *c;
	struct instance *i;
	size_t pos = 0;

	while ((i = map_next(h->instances, &pos, NULL)) != NULL) {
		c = i->connection;
		i->connection = NULL;
		i->phase = PHASE_DOWN;
		loop_timer_cancel(h->loop, &i->retry);
		mcp_connection_free(c);
	}
}

void
instances_free(struct host *h)
{
	struct instance *i;
	size_t pos = 0;

	while ((i = map_next(h->instances, &pos, NULL)) != NULL) {
		instance_free(i);
		pos = 0;
	}
}
