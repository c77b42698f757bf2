/*
 * The process's own state, and what every route needs.
 */
#include "gateway.h"

#include <stdarg.h>
#include <stdlib.h>

#include "auth/auth.h"
#include "core/arena.h"
#include "core/buf.h"
#include "core/log.h"
#include "core/mem.h"
#include "core/worker.h"
#include "follow.h"
#include "on_events.h"
#include "persona/persona.h"
#include "state/credential.h"
#include "state/state.h"
#include "svc/svc.h"
#include "wire/wire.h"

#define TEXT_MAX 1024
/* A terminal's record and what its two snapshots are read into. */
#define BODIES_MAX  4096
#define SCRATCH_MAX (2 * (size_t)WIRE_ARENA_MAX + 4 * (size_t)WIRE_MESSAGE_MAX)

static bool
redis_up(void *arg)
{
	struct gateway *g = arg;

	return state_up(g->state);
}

void
gateway_check(const void *arg, struct buf *errors, struct buf *known)
{
	const struct gateway_conf *conf = arg;
	const char *why = state_url_fault(conf->redis_url);
	enum persona_model model;
	struct persona ignored;

	(void)known;
	if (why != NULL)
		buf_printf(errors, "REDIS_URL: %s\n", why);
	if (!id_valid(str_of(conf->user_id)))
		buf_puts(errors,
		    "USER_ID: it must be 1 to 128 bytes without control "
		    "characters\n");
	if (persona_of_mbti(str_of(conf->default_mbti), &ignored) != RC_OK)
		buf_puts(errors,
		    "SOUL_DEFAULT_MBTI: it must be an MBTI type, as INTJ\n");
	if (persona_model_of(str_of(conf->model), &model) != RC_OK)
		buf_puts(errors,
		    "SOUL_MODEL: it must be persona-pad-v3 or "
		    "persona-pad-v2\n");
}

/* What was found lives until the next lookup. */
static enum rc
find_body(void *arg, struct str id, struct str *hash, struct str *tenant)
{
	struct gateway *g = arg;
	struct credential cr;
	enum rc rc;

	arena_reset(g->bodies);
	rc = credential_read(g->state, id, g->bodies, &cr);
	if (rc == RC_OK && (cr.revoked || cr.hash.p == NULL))
		rc = RC_NOENT;
	*hash = cr.hash;
	*tenant = cr.tenant;
	return rc;
}

void *
gateway_start(struct svc *s, const void *conf)
{
	struct gateway *g = mem_zalloc(sizeof(*g));

	g->conf = conf;
	g->svc = s;
	g->workers = worker_new(svc_loop(s), 1, 4);
	g->scratch = arena_new(SCRATCH_MAX);
	g->bodies = arena_new(BODIES_MAX);
	if (state_new(&(struct state_opts){ .loop = svc_loop(s),
			  .workers = g->workers,
			  .url = g->conf->redis_url,
			  .name = "chat-gateway",
			  .deadline_ms = (int)g->conf->redis_timeout_ms,
			  .metrics = svc_metrics(s) },
		&g->state) != RC_OK) {
		gateway_stop(g);
		return NULL;
	}
	if (svc_auth(s) != NULL)
		auth_accept_terminals(svc_auth(s), find_body, g);
	g->follows = follows_new(s, g->state);
	id_hex32(g->instance);
	TAILQ_INIT(&g->watchers);
	g->watching = metric_gauge(svc_metrics(s), "soul_event_streams",
	    "Streams of sessions' events that are open.", NULL);
	svc_require(s, "redis", redis_up, g);
	return g;
}

void
gateway_drain(void *app)
{
	struct gateway *g = app;

	g->draining = true;
	follows_hurry(g->follows);
	on_events_drain(g);
}

void
gateway_stop(void *app)
{
	struct gateway *g = app;

	follows_free(g->follows);
	state_free(g->state);
	worker_free(g->workers);
	arena_free(g->scratch);
	arena_free(g->bodies);
	free(g);
}

int64_t
gateway_ttl_ms(const struct gateway *g)
{
	return g->conf->snapshot_ttl_s * 1000;
}

bool
gateway_id(struct svc_call *c, struct str id, const char *name)
{
	if (id_valid(id))
		return true;
	gateway_refuse(c, RC_INVALID,
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

void
gateway_fail(struct svc_call *c, enum rc rc)
{
	switch (rc) {
	case RC_DOWN:
		svc_fail(c, rc, "the state cannot be reached now");
		return;
	case RC_TIMEOUT:
		/* What was sent and not answered may have happened. */
		svc_fail(c, rc, "the state did not answer in time");
		return;
	case RC_RETRY:
		svc_fail(c, rc, "the state is overloaded");
		return;
	case RC_TOOBIG:
		svc_fail(c, RC_BUG, "what is stored is too big to be told");
		return;
	default:
		log_error("gateway.state", LOG_RC(rc));
		svc_fail(c, RC_BUG, "what is stored cannot be used");
		return;
	}
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
gateway_refuse(struct svc_call *c, enum rc rc, const char *fmt, ...)
{
	struct buf text = BUF_INIT(TEXT_MAX);
	va_list ap;

	va_start(ap, fmt);
	buf_vprintf(&text, fmt, ap);
	va_end(ap);
	svc_fail(c, rc, buf_str(&text).p);
	buf_free(&text);
}
