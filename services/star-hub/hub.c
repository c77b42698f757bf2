/*
 * hub: its configuration and its life.
 */
#include "hub.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "cluster/handlers.h"
#include "core/conf.h"
#include "core/fiber.h"
#include "core/id.h"
#include "core/log.h"
#include "core/mem.h"
#include "core/worker.h"
#include "handlers.h"
#include "state/star.h"
#include "state/state.h"
#include "svc/svc.h"
#include "svc/svc_ws.h"

#define CONNECTIONS 20000
/* Descriptors of all else. */
#define FILES_SPARE 256
/* Texts of one message: ids with escapes. */
#define ARENA_BYTES (64UL * 1024)
#define OUT_BYTES   (4UL * 1024 * 1024)
#define MIB         (1024UL * 1024)

const struct conf_opt hub_opts[HUB_OPTS_N] = {
	{ "REDIS_URL", CONF_URL, CONF_AT(hub_conf, redis_url),
	    "redis://127.0.0.1:6379", 0, 0,
	    "Redis URL, including any password" },
	STATE_CONF_OPTS(hub_conf, redis),
	{ "REDIS_TIMEOUT_MS", CONF_INT, CONF_AT(hub_conf, redis_timeout_ms),
	    "1000", 10, 10000, "timeout of a Redis command, ms" },
	{ "STAR_CONNECTIONS", CONF_INT, CONF_AT(hub_conf, connections), "0", 0,
	    1000000,
	    "concurrent connections; 0: 20000, or what the limit of open "
	    "files allows" },
	{ "STAR_HANDSHAKE_MS", CONF_INT, CONF_AT(hub_conf, handshake_ms),
	    "5000", 100, 60000, "time until a handshake is complete, ms" },
	{ "STAR_RATE", CONF_INT, CONF_AT(hub_conf, rate), "2000", 1, 1000000,
	    "messages per second of a connection" },
	{ "STAR_RATE_BURST", CONF_INT, CONF_AT(hub_conf, rate_burst), "4000", 1,
	    1000000, "burst of messages of a connection" },
	{ "STAR_BROADCAST_RATE", CONF_INT, CONF_AT(hub_conf, broadcast_rate),
	    "200", 1, 1000000,
	    "broadcasts per second, and their burst, of a connection" },
	{ "STAR_QUEUE_BYTES", CONF_INT, CONF_AT(hub_conf, queue_bytes),
	    "262144", 4096, 16777216,
	    "bytes that wait for a connection to read" },
	{ "STAR_STALL_MS", CONF_INT, CONF_AT(hub_conf, stall_ms), "10000", 100,
	    600000,
	    "a connection that reads nothing for so long is closed, ms" },
	{ "STAR_MEMORY_MIB", CONF_INT, CONF_AT(hub_conf, memory_mib), "1024", 1,
	    1048576, "memory limit of all queues, MiB" },
	{ "STAR_MESSAGE_BYTES", CONF_INT, CONF_AT(hub_conf, message_bytes),
	    "1048576", 1024, 1048576, "bytes of a message" },
	{ "STAR_HEARTBEAT_MS", CONF_INT, CONF_AT(hub_conf, heartbeat_ms),
	    "30000", 100, 600000, "interval of heartbeats and pings, ms" },
	{ "STAR_TIMEOUT_MS", CONF_INT, CONF_AT(hub_conf, timeout_ms), "60000",
	    200, 1200000,
	    "a connection that sends nothing for so long is closed, ms" },
	{ "STAR_SENDER", CONF_STR, CONF_AT(hub_conf, sender), "rewrite", 0, 0,
	    "a sender that is not the connection's: rewrite it, or refuse "
	    "the message" },
	{ "STAR_PRESENCE", CONF_BOOL, CONF_AT(hub_conf, presence), "on", 0, 0,
	    "events about who joins and leaves" },
	{ "STAR_HUMAN_AUTOJOIN", CONF_BOOL, CONF_AT(hub_conf, human_autojoin),
	    "off", 0, 0,
	    "a human's action join_environment to an environment joins it, as "
	    "the request to the hub does" },
	{ "SKILL_SNAPSHOT_TTL_SECONDS", CONF_INT, CONF_AT(hub_conf, ttl_s),
	    "60", 1, 86400,
	    "time without a sign of life after which a terminal is offline, "
	    "s" },
	{ "SKILLS_BYTES_MAX", CONF_INT, CONF_AT(hub_conf, skills_max), "65536",
	    1024, 1048576,
	    "maximum size of an environment's skills, which are sent whole to "
	    "the language model, bytes; larger reports are rejected" },
	{ "STAR_GLOBAL_BROADCAST", CONF_STR,
	    CONF_AT(hub_conf, global_broadcast), "", 0, 0,
	    "environments may send to all of their tenant: on, off; empty: "
	    "on without authentication" },
	{ "STAR_RESUME_MS", CONF_INT, CONF_AT(hub_conf, resume_ms), "30000", 0,
	    600000,
	    "a client may come back to its session for so long, ms; 0: never" },
	{ "STAR_HISTORY", CONF_INT, CONF_AT(hub_conf, history), "1000", 0,
	    100000, "broadcasts of an environment that are stored; 0: none" },
	OTLP_CONF_ROWS(hub_conf, otlp, "star-hub"),
};

/* ---- configuration ---- */

/* The most files that this process may open. */
static size_t
hub_files_max(void)
{
	struct rlimit l;

	if (getrlimit(RLIMIT_NOFILE, &l) != 0 || l.rlim_max < FILES_SPARE)
		return FILES_SPARE;
	return l.rlim_max > 1048576 ? 1048576 : (size_t)l.rlim_max;
}

static size_t
hub_connections(const struct hub_conf *conf)
{
	size_t most = hub_files_max() - FILES_SPARE;

	if (conf->connections > 0)
		return (size_t)conf->connections;
	return most < CONNECTIONS ? most : CONNECTIONS;
}

void
hub_check(const void *arg, struct buf *errors, struct buf *known)
{
	const struct hub_conf *conf = arg;
	const struct str global = str_of(conf->global_broadcast);
	const char *error = state_url_error(conf->redis_url);

	(void)known;
	if (error != NULL)
		buf_printf(errors, "REDIS_URL: %s\n", error);
	if ((size_t)conf->connections + FILES_SPARE > hub_files_max() &&
	    conf->connections > 0)
		buf_printf(errors,
		    "STAR_CONNECTIONS: the hard limit of open files allows "
		    "%zu: raise it (ulimit -Hn), or use less\n",
		    hub_files_max() - FILES_SPARE);
	if (conf->timeout_ms <= conf->heartbeat_ms)
		buf_puts(errors,
		    "STAR_TIMEOUT_MS: must be over STAR_HEARTBEAT_MS, since "
		    "idle clients only send pongs\n");
	if (!str_eq(str_of(conf->sender), STR("rewrite")) &&
	    !str_eq(str_of(conf->sender), STR("refuse")))
		buf_puts(errors, "STAR_SENDER: use rewrite or refuse\n");
	error = otlp_conf_error(&conf->otlp);
	if (error != NULL)
		buf_printf(errors,
		    "OTEL_EXPORTER_OTLP_ENDPOINT, "
		    "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT, "
		    "OTEL_EXPORTER_OTLP_HEADERS: %s\n",
		    error);
	if (global.n > 0 && !str_eq(global, STR("on")) &&
	    !str_eq(global, STR("off")))
		buf_puts(errors,
		    "STAR_GLOBAL_BROADCAST: use on or off, or leave it "
		    "empty\n");
}

void
hub_limits(const void *arg, struct ws_opts *o)
{
	const struct hub_conf *conf = arg;

	o->connections_max = hub_connections(conf);
	o->message_max = (size_t)conf->message_bytes;
	o->queue_bytes = (size_t)conf->queue_bytes;
	o->queue_frames = HUB_QUEUE_FRAMES;
	o->handshake_ms = conf->handshake_ms;
	o->ping_ms = conf->heartbeat_ms;
	o->timeout_ms = conf->timeout_ms;
	o->stall_ms = conf->stall_ms;
}

/* As many files as connections need; the hard limit was checked. */
static void
hub_raise_files(const struct hub_conf *conf)
{
	rlim_t n = hub_connections(conf) + FILES_SPARE;
	struct rlimit l;

	if (getrlimit(RLIMIT_NOFILE, &l) != 0 || l.rlim_cur >= n)
		return;
	l.rlim_cur = n < l.rlim_max ? n : l.rlim_max;
	if (setrlimit(RLIMIT_NOFILE, &l) != 0)
		log_warn("star.files", LOG_I("wanted", (int64_t)n));
}

/* ---- metrics ---- */

static struct metric *
hub_counter(struct hub *h, const char *name, const char *help,
    const char *label, const char *value)
{
	char labels[96];

	(void)snprintf(labels, sizeof(labels), "%s=\"%s\"", label, value);
	return metric_counter(svc_metrics(h->svc), name, help, labels);
}

static void
hub_class_metrics(struct hub *h, enum client_class class)
{
	static const char *const how[HUB_HOWS] = { "local", "remote", "room",
		"hub" };
	const char *name = client_class_names[class].p;
	char labels[96];
	int i;

	(void)snprintf(labels, sizeof(labels), "class=\"%s\"", name);
	h->metrics.clients[class] = metric_gauge(svc_metrics(h->svc),
	    "soul_star_clients", "Clients that are connected.", labels);
	for (i = 0; i < HUB_HOWS; i++) {
		(void)snprintf(labels, sizeof(labels),
		    "class=\"%s\",how=\"%s\"", name, how[i]);
		h->metrics.messages[class][i] = metric_counter(
		    svc_metrics(h->svc), "soul_star_messages_total",
		    "Messages of clients that were delivered, by their "
		    "class.",
		    labels);
	}
}

static void
hub_make_peer_metrics(struct hub_metrics *m, struct metric_set *set)
{
	m->hubs = metric_gauge(
	    set, "soul_star_hubs", "Hubs that are alive, this one too.", NULL);
	m->remote_seconds = metric_histogram(set, "soul_star_remote_seconds",
	    "Time from sending a message to another hub to its confirmation.",
	    NULL);
	m->unconfirmed = metric_gauge(set, "soul_star_unconfirmed",
	    "Messages that other hubs have not confirmed yet.", NULL);
	m->lookups = metric_counter(set, "soul_star_lookups_total",
	    "Clients that were looked for in Redis.", NULL);
	m->directory_misses =
	    metric_counter(set, "soul_star_directory_misses_total",
		"Clients that Redis did not have either.", NULL);
	m->gaps = metric_counter(set, "soul_star_history_gaps_total",
	    "Requests for events of which some had expired.", NULL);
}

static void
hub_make_metrics(struct hub *h)
{
	static const char *const rejections[HUB_REJECTIONS] = { "request",
		"token", "denied", "path", "timeout", "rate", "full" };
	struct hub_metrics *m = &h->metrics;
	static const char *const claims[HUB_CLAIMS] = { "new", "replaced",
		"resumed" };
	struct metric_set *set = svc_metrics(h->svc);
	int i;

	for (i = 0; i < CLASS_HUB; i++)
		hub_class_metrics(h, (enum client_class)i);
	m->deliveries = metric_counter(set, "soul_star_deliveries_total",
	    "Broadcasts times their recipients.", NULL);
	for (i = 0; i < HUB_ERROR_N; i++)
		m->errors[i] = hub_counter(h, "soul_star_errors_total",
		    "Errors that were sent to clients.", "code",
		    hub_error_code((enum hub_error)i));
	m->dropped = hub_counter(h, "soul_star_dropped_total",
	    "Frames that a client did not get, or clients that were closed "
	    "for it.",
	    "reason", "slow");
	m->shed = hub_counter(h, "soul_star_dropped_total",
	    "Frames that a client did not get, or clients that were closed "
	    "for it.",
	    "reason", "memory");
	m->route_seconds = metric_histogram(set, "soul_star_route_seconds",
	    "Time from reading a frame to queueing it for its recipient; of a "
	    "broadcast, without that.",
	    NULL);
	for (i = 0; i < HUB_CLAIMS; i++)
		m->claims[i] = hub_counter(h, "soul_star_claims_total",
		    "Identities that clients have claimed.", "how", claims[i]);
	hub_make_peer_metrics(m, set);
	m->queue_bytes = metric_histogram_bytes(set, "soul_star_queue_bytes",
	    "Bytes that wait for a client, at each of its heartbeats.", NULL);
	m->stalled = metric_gauge(set, "soul_star_stalled",
	    "Clients whose queue was full, and has not emptied since.", NULL);
	for (i = 0; i < HUB_REJECTIONS; i++)
		m->rejected[i] = hub_counter(h,
		    "soul_star_handshakes_rejected_total",
		    "Handshakes that were rejected.", "reason", rejections[i]);
}

/* ---- life ---- */

static void
hub_on_pause(void *arg)
{
	fiber_resume(arg);
}

void
hub_pause(struct hub *h, int64_t ms)
{
	struct loop_timer timer = { 0 };

	loop_timer_set(h->loop, &timer, mono_add_ms(clock_mono(), ms),
	    hub_on_pause, fiber_self());
	fiber_suspend();
}

struct str
hub_now(struct hub *h)
{
	int64_t ms = clock_wall().ms;

	if (ms != h->now_ms) {
		h->now_ms = ms;
		hub_timestamp(ms, h->timestamp);
	}
	return str_of(h->timestamp);
}

void
hub_set_name(struct hub *h)
{
	char *p;

	unsigned char random[4];
	char hex[2 * sizeof(random) + 1], host[64] = "hub";

	if (gethostname(host, sizeof(host)) != 0)
		str_copy(STR("hub"), host, sizeof(host));
	/* It is a part of subjects. */
	host[48] = '\0';
	for (p = host; *p != '\0'; p++)
		if (!isalnum((unsigned char)*p) && *p != '-')
			*p = '-';
	id_random(random, sizeof(random));
	id_hex(random, sizeof(random), hex);
	(void)snprintf(h->name, sizeof(h->name), "%s-%s", host, hex);
}

static void
hub_set_limits(struct hub *h)
{
	const struct hub_conf *conf = h->conf;

	h->messages = throttle_limit_of(conf->rate, conf->rate_burst);
	h->bytes = throttle_limit_of(HUB_BYTES_PER_S, HUB_BYTES_PER_S);
	h->broadcasts =
	    throttle_limit_of(conf->broadcast_rate, conf->broadcast_rate);
	h->deliveries =
	    throttle_limit_of(HUB_DELIVERIES_PER_S, HUB_DELIVERIES_PER_S);
	h->rewrite = str_eq(str_of(conf->sender), STR("rewrite"));
	h->global = conf->global_broadcast[0] == '\0'
	    ? svc_auth(h->svc) == NULL
	    : str_eq(str_of(conf->global_broadcast), STR("on"));
}

static bool
hub_redis_up(void *arg)
{
	return state_up(arg);
}

static enum rc
hub_connect(struct hub *h)
{
	const struct state_opts o = { .loop = h->loop,
		.workers = h->workers,
		.url = h->conf->redis_url,
		.conf = &h->conf->redis,
		.name = "star-hub",
		.deadline_ms = (int)h->conf->redis_timeout_ms,
		.on_format = svc_end_unusable,
		.arg = h->svc,
		.metrics = svc_metrics(h->svc) };
	enum rc rc = state_new(&o, &h->state);

	if (rc == RC_OK)
		svc_require(h->svc, "redis", hub_redis_up, h->state);
	return rc;
}

void *
hub_start(struct svc *s, const void *conf)
{
	struct hub *h = mem_zalloc(sizeof(*h));

	h->svc = s;
	h->loop = svc_loop(s);
	h->ws = svc_ws_listener(s);
	h->bus = svc_bus(s);
	h->workers = worker_new(h->loop, 1, 16);
	h->conf = conf;
	h->since = clock_mono();
	h->directory = directory_new();
	h->rooms = rooms_new();
	h->arena = arena_new(ARENA_BYTES);
	buf_init(&h->out, OUT_BYTES);
	buf_init(&h->message, OUT_BYTES);
	TAILQ_INIT(&h->residents);
	TAILQ_INIT(&h->clients);
	TAILQ_INIT(&h->queued);
	TAILQ_INIT(&h->claiming);
	TAILQ_INIT(&h->detached);
	TAILQ_INIT(&h->authenticating);
	TAILQ_INIT(&h->callers);
	hub_raise_files(conf);
	hub_set_name(h);
	hub_set_limits(h);
	hub_make_metrics(h);
	/* The URL was checked. */
	if (message_spans_start(h) != RC_OK || hub_connect(h) != RC_OK) {
		hub_stop(h);
		return NULL;
	}
	h->claims = claims_new(h);
	if (peers_new(h, &h->peers) != RC_OK || !bodies_start(h)) {
		hub_stop(h);
		return NULL;
	}
	heartbeats_start(h);
	caller_recheck_start(h);
	hub_audit_start(h);
	log_info("star.started", LOG_S("hub", h->name),
	    LOG_I("connections", (int64_t)hub_connections(conf)),
	    LOG_I("global_broadcast", h->global));
	return h;
}

void
hub_drain(void *app)
{
	struct hub *h = app;

	h->draining = true;
	bodies_drain(h);
	claims_drain(h->claims);
}

/* The other hubs need not wait until it is overdue. */
static void
hub_end(struct hub *h)
{
	enum rc rc = star_hub_end(h->state, str_of(h->name));

	if (rc != RC_OK && rc != RC_UNREPLICATED)
		log_warn("star.not_ended", LOG_RC(rc));
}

void
hub_stop(void *app)
{
	struct hub *h = app;

	heartbeats_stop(h);
	loop_timer_cancel(h->loop, &h->auth_timer);
	caller_recheck_stop(h);
	if (h->peers != NULL) {
		peers_stop(h->peers);
		hub_end(h);
	}
	/* Fibers that wait end here. */
	state_stop(h->state);
	bodies_stop(h);
	claims_free(h->claims);
	peers_free(h->peers);
	hub_audit_stop(h);
	monitors_expire(h, true);
	state_free(h->state);
	worker_free(h->workers);
	message_spans_stop(h);
	directory_free(h->directory);
	rooms_free(h->rooms);
	arena_free(h->arena);
	buf_free(&h->out);
	buf_free(&h->message);
	free(h);
}
