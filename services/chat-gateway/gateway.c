/*
 * State of the process and functions that all routes use.
 */
#include "gateway.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "auth/auth.h"
#include "auth/secret_box.h"
#include "console_files.h"
#include "core/arena.h"
#include "core/buf.h"
#include "core/log.h"
#include "core/mem.h"
#include "core/worker.h"
#include "fcmp/fcmp_read.h"
#include "httpd/httpd_tunnel.h"
#include "live/event_log.h"
#include "live/live.h"
#include "persona/persona.h"
#include "speech/speech_limits.h"
#include "state/state.h"
#include "state/terminal.h"
#include "streams/event_follower.h"
#include "svc/audit.h"
#include "svc/svc.h"
#include "webhooks/webhooks.h"
#include "wire/msgs.h"
#include "wire/wire.h"

#define ERROR_TEXT_MAX       1024
#define CREDENTIAL_ARENA_MAX 4096

const struct conf_opt gateway_opts[GATEWAY_OPTS_N] = {
	{ "REDIS_URL", CONF_URL, CONF_AT(gateway_conf, redis_url),
	    "redis://127.0.0.1:6379", 0, 0, "Redis URL, with its password" },
	STATE_CONF_OPTS(gateway_conf, redis),
	{ "REDIS_TIMEOUT_MS", CONF_INT, CONF_AT(gateway_conf, redis_timeout_ms),
	    "1000", 10, 10000, "timeout of a Redis command, ms" },
	{ "USER_ID", CONF_STR, CONF_AT(gateway_conf, user_id), "demo-user", 0,
	    0, "user_id of requests that have none" },
	{ "SKILL_SNAPSHOT_TTL_SECONDS", CONF_INT,
	    CONF_AT(gateway_conf, snapshot_ttl_s), "60", 1, 86400,
	    "time without a heartbeat after which a body is offline, s" },
	{ "SOUL_AUTO_CREATE", CONF_BOOL,
	    CONF_AT(gateway_conf, soul_auto_create), "off", 0, 0,
	    "create a soul for a body that chats without one" },
	{ "SOUL_DEFAULT_MBTI", CONF_STR, CONF_AT(gateway_conf, default_mbti),
	    "INTJ", 0, 0, "MBTI type of automatically created souls" },
	{ "SOUL_MODEL", CONF_STR, CONF_AT(gateway_conf, model),
	    "persona-pad-v3", 0, 0,
	    "emotion model of new souls: persona-pad-v3 or persona-pad-v2" },
	{ "CONSOLE", CONF_BOOL, CONF_AT(gateway_conf, console), "on", 0, 0,
	    "serve the console at /" },
	{ "BODY_BROKER", CONF_STR, CONF_AT(gateway_conf, body_broker), "", 0, 0,
	    "host:port of the MQTT broker's listener for bodies, without TLS, "
	    "which browsers reach at /mqtt as bodies; the broker "
	    "authenticates them; empty: they cannot" },
	{ "SECRETS_KEY", CONF_SECRET, CONF_AT(gateway_conf, secrets_key), "", 0,
	    0,
	    "keys that encrypt the secrets of webhooks, name:key[,name:key]; "
	    "the first encrypts, each is 32 bytes in base64url or "
	    "hexadecimal; empty: there are no webhooks" },
	{ "WEBHOOK_ALLOW_PRIVATE", CONF_BOOL,
	    CONF_AT(gateway_conf, webhook_private), "off", 0, 0,
	    "let webhooks be at private addresses, and without TLS" },
	{ "WEBHOOK_RETRY_MS", CONF_INT, CONF_AT(gateway_conf, webhook_retry_ms),
	    "5000", 10, 3600000,
	    "time after which an event that a webhook has not confirmed is "
	    "sent again, ms; doubles up to an hour" },
	{ "WEBHOOK_TRIES", CONF_INT, CONF_AT(gateway_conf, webhook_tries), "20",
	    1, 1000, "attempts to send an event before it is given up" },
};

static bool
gateway_redis_up(void *arg)
{
	struct gateway *g = arg;

	return state_up(g->state);
}

void
gateway_check(const void *arg, struct buf *errors, struct buf *known)
{
	const struct gateway_conf *conf = arg;
	const char *why = state_url_error(conf->redis_url);
	enum persona_model model;
	struct secret_box *secrets = NULL;
	struct persona ignored;

	(void)known;
	if (why != NULL)
		buf_printf(errors, "REDIS_URL: %s\n", why);
	if (httpd_tunnel_error(conf->body_broker) != NULL)
		buf_printf(errors, "BODY_BROKER: %s\n",
		    httpd_tunnel_error(conf->body_broker));
	if (!id_valid(str_of(conf->user_id)))
		buf_puts(errors,
		    "USER_ID: must be 1 to 128 bytes without control "
		    "characters\n");
	if (persona_of_mbti(str_of(conf->default_mbti), &ignored) != RC_OK)
		buf_puts(errors,
		    "SOUL_DEFAULT_MBTI: must be an MBTI type, such as INTJ\n");
	if (persona_model_of(str_of(conf->model), &model) != RC_OK)
		buf_puts(errors,
		    "SOUL_MODEL: must be persona-pad-v3 or persona-pad-v2\n");
	if (secret_box_new(str_of(conf->secrets_key), &secrets, &why) != RC_OK)
		buf_printf(errors, "SECRETS_KEY: %s\n", why);
	secret_box_free(secrets);
}

const struct httpd_file *
gateway_files(const void *arg, size_t *n)
{
	const struct gateway_conf *conf = arg;

	*n = conf->console ? console_files_n : 0;
	return console_files;
}

/* Tabs that are bodies; each holds a worker. */
#define TUNNELS_MAX 64

void
gateway_tunnel(const void *arg, struct httpd_tunnel *out)
{
	const struct gateway_conf *conf = arg;

	out->path = "/mqtt";
	out->to = conf->body_broker;
	out->protocol = "mqtt";
	out->max = TUNNELS_MAX;
}

/* The result is valid until the next lookup. */
static enum rc
gateway_find_credential(
    void *arg, struct str id, struct str *hash, struct str *tenant)
{
	struct gateway *g = arg;

	arena_reset(g->credentials);
	return credential_find_hash(g->state, id, g->credentials, hash, tenant);
}

void *
gateway_start(struct svc *s, const void *conf)
{
	struct gateway *g = mem_zalloc(sizeof(*g));

	g->conf = conf;
	g->svc = s;
	g->workers = worker_new(svc_loop(s), 1, 4);
	g->credentials = arena_new(CREDENTIAL_ARENA_MAX);
	g->speech_limits = speech_limits_new();
	if (state_new(&(struct state_opts){ .loop = svc_loop(s),
			  .workers = g->workers,
			  .url = g->conf->redis_url,
			  .conf = &g->conf->redis,
			  .name = "chat-gateway",
			  .deadline_ms = (int)g->conf->redis_timeout_ms,
			  .on_format = svc_end_unusable,
			  .arg = s,
			  .metrics = svc_metrics(s) },
		&g->state) != RC_OK) {
		gateway_stop(g);
		return NULL;
	}
	if (svc_auth(s) != NULL)
		auth_accept_terminals(svc_auth(s), gateway_find_credential, g);
	g->followers = followers_new(s, g->state);
	g->log = event_log_new(s, g->state);
	g->live = live_new(s, g->log, gateway_stream_has_room);
	id_hex32(g->instance);
	TAILQ_INIT(&g->event_streams);
	g->open_streams = metric_gauge(svc_metrics(s), "soul_event_streams",
	    "Open streams of session events.", NULL);
	svc_require(s, "redis", gateway_redis_up, g);
	if (webhooks_new(&(struct webhooks_opts){ .svc = s,
			     .state = g->state,
			     .log = g->log,
			     .secrets_key = g->conf->secrets_key,
			     .allow_private = g->conf->webhook_private,
			     .retry_ms = g->conf->webhook_retry_ms,
			     .tries = g->conf->webhook_tries },
		&g->webhooks) != RC_OK) {
		gateway_stop(g);
		return NULL;
	}
	return g;
}

void
gateway_stop(void *app)
{
	struct gateway *g = app;

	/* What waits for it ends before what it uses is freed. */
	state_stop(g->state);
	webhooks_free(g->webhooks);
	followers_free(g->followers);
	live_free(g->live);
	event_log_free(g->log);
	speech_limits_free(g->speech_limits);
	state_free(g->state);
	worker_free(g->workers);
	arena_free(g->credentials);
	free(g);
}

int64_t
gateway_ttl_ms(const struct gateway *g)
{
	return g->conf->snapshot_ttl_s * 1000;
}

bool
gateway_query_number(
    struct svc_call *c, const char *name, int64_t min, int64_t max, int64_t *v)
{
	struct str given = svc_call_query(c, name);

	if (given.p == NULL || str_to_i64(given, min, max, v) == RC_OK)
		return true;
	gateway_reject(c, RC_INVALID, "%s: must be %lld to %lld", name,
	    (long long)min, (long long)max);
	return false;
}

bool
gateway_id(struct svc_call *c, struct str id, const char *name)
{
	if (id_valid(id))
		return true;
	gateway_reject(c, RC_INVALID,
	    "%s: must be 1 to %d bytes without control characters", name,
	    ID_MAX);
	return false;
}

bool
gateway_stream_begin(struct gateway *g, struct svc_call *c)
{
	if (!g->draining)
		return svc_stream_admit(c);
	svc_fail(c, RC_RETRY, "the service is stopping");
	return false;
}

void *
gateway_alloc(struct svc_call *c, size_t n)
{
	void *p = arena_alloc(svc_call_arena(c), n);

	if (p == NULL)
		gateway_fail(c, RC_TOOBIG);
	return p;
}

void
gateway_fail(struct svc_call *c, enum rc rc)
{
	switch (rc) {
	case RC_DOWN:
		svc_fail(c, rc, "the state cannot be reached now");
		return;
	case RC_TIMEOUT:
		/* The command may have been executed. */
		svc_fail(c, rc, "the state did not answer in time");
		return;
	case RC_UNREPLICATED:
		svc_fail(c, rc,
		    "it was done, but is not stored safely: too few replicas "
		    "of Redis have it; see whether it is there before you "
		    "repeat it");
		return;
	case RC_RETRY:
		svc_fail(c, rc, "the state is overloaded");
		return;
	case RC_TOOBIG:
		svc_fail(c, RC_BUG, "the stored data is too large to send");
		return;
	default:
		log_error("gateway.state", LOG_RC(rc));
		svc_fail(c, RC_BUG, "the stored data is invalid");
		return;
	}
}

void
gateway_fail_missing(struct svc_call *c, enum rc rc, const char *text)
{
	if (rc == RC_NOENT)
		svc_fail(c, rc, text);
	else
		gateway_fail(c, rc);
}

void
gateway_fail_bus(struct svc_call *c, enum rc rc)
{
	switch (rc) {
	case RC_DOWN:
		svc_fail(c, rc, "the message bus cannot be reached now");
		return;
	case RC_RETRY:
		svc_fail(c, rc, "overloaded");
		return;
	case RC_TIMEOUT:
		svc_fail(c, rc, "deadline exceeded");
		return;
	case RC_TOOBIG:
		svc_fail(c, rc, "the body is too large");
		return;
	default:
		log_error("gateway.bus", LOG_RC(rc));
		svc_fail(c, RC_BUG, "the request could not be handed on");
		return;
	}
}

void
gateway_reject(struct svc_call *c, enum rc rc, const char *fmt, ...)
{
	struct buf text = BUF_INIT(ERROR_TEXT_MAX);
	va_list ap;

	va_start(ap, fmt);
	buf_vprintf(&text, fmt, ap);
	va_end(ap);
	svc_fail(c, rc, buf_str(&text).p);
	buf_free(&text);
}

static bool
text_is_space(int32_t c)
{
	return (c >= 0x09 && c <= 0x0d) || c == 0x20 || c == 0x85 ||
	    c == 0xa0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200a) ||
	    c == 0x2028 || c == 0x2029 || c == 0x202f || c == 0x205f ||
	    c == 0x3000;
}

struct str
gateway_trim_text(struct str s)
{
	size_t begin = s.n, end = 0, at = 0, from = 0;
	int32_t c;

	while ((c = str_utf8_next(s, &at)) >= 0) {
		if (!text_is_space(c)) {
			if (from < begin)
				begin = from;
			end = at;
		}
		from = at;
	}
	if (end < begin)
		return (struct str){ s.p, 0 };
	return (struct str){ s.p + begin, end - begin };
}

/* Pending output of a stream above which no event is sent. */
#define OUTPUT_PENDING_MAX (128UL * 1024)

enum rc
gateway_stream_send(struct svc_call *c, const struct fcmp_event *e)
{
	char id[24];

	(void)snprintf(id, sizeof(id), "%lld", (long long)e->seq);
	return svc_sse_send(c, "chat_event", id, e->json);
}

bool
gateway_stream_has_room(struct svc_call *c)
{
	return svc_stream_pending(c) < OUTPUT_PENDING_MAX;
}

void
gateway_audit_binding(
    struct svc_call *c, const char *how, const struct binding *b)
{
	svc_audit_call(c,
	    &(struct wire_audit){ .action = WIRE_AUDIT_ACTION_BINDING_CHANGED,
		.user_id = b->user_id,
		.terminal_id = b->terminal_id,
		.soul_id = b->soul_id,
		.reason = str_of(how) });
}
