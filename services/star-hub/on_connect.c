/*
 * on_connect: connections begin and end.
 */
#include <string.h>

#include "auth/auth.h"
#include "core/log.h"
#include "core/mem.h"
#include "environment.h"
#include "handlers.h"
#include "http/head_reader.h"
#include "permission.h"
#include "svc/svc.h"
#include "svc/svc_ws.h"
#include "web_files.h"
#include "wire/iface.h"

const struct svc_ws hub_ws = {
	.name = "star",
	.roles = 1U << WIRE_ROLE_OWNER | 1U << WIRE_ROLE_TERMINAL |
	    1U << WIRE_ROLE_OPERATOR,
	.token_later = true,
	.limits = hub_limits,
	.on_request = on_connect,
	.on_message = on_message,
	.on_read = on_read,
	.on_room = on_room,
	.on_end = on_end,
	.on_reject = on_reject,
	.drain_reason = "restart, resume at once",
	.files = web_files,
	.nfiles = WEB_FILES_N,
};

/* ---- who may connect ---- */

/* NULL, or why nobody more is admitted. */
static const char *
connect_limit_error(const struct hub *h, const struct identity *i)
{
	if (h->draining)
		return "this hub restarts: connect again";
	if (i->class == CLASS_ENVIRONMENT &&
	    directory_count(h->directory, CLASS_ENVIRONMENT, i->tenant) >=
		HUB_TENANT_MAX)
		return "too many environments are connected";
	return NULL;
}

/* The status of who may not connect as i, with why; 0: it may. */
static int
connect_check(const struct hub *h, const struct identity *i,
    const struct auth_caller *who, const char **why)
{
	*why = who != NULL ? permission_connect(who, i) : NULL;
	if (*why != NULL)
		return 403;
	*why = connect_limit_error(h, i);
	return *why != NULL ? 503 : 0;
}

void
on_reject(void *app, int status)
{
	static const struct {
		int status;
		enum hub_rejection reason;
	} rows[] = {
		{ 401, HUB_REJECTION_TOKEN },
		{ 403, HUB_REJECTION_DENIED },
		{ 404, HUB_REJECTION_PATH },
		{ 408, HUB_REJECTION_TIMEOUT },
		{ 429, HUB_REJECTION_RATE },
		{ 503, HUB_REJECTION_FULL },
	};
	enum hub_rejection reason = HUB_REJECTION_REQUEST;
	const struct hub *h = app;
	size_t i;

	for (i = 0; i < NELEM(rows); i++)
		if (rows[i].status == status)
			reason = rows[i].reason;
	metric_add(h->metrics.rejected[reason], 1);
}

/* ---- parameters ---- */

static bool
connect_is_session(struct str s)
{
	size_t i;

	for (i = 0; i < s.n; i++)
		if (str_hex_value(s.p[i]) < 0)
			return false;
	return s.n == HUB_SESSION_MAX - 1;
}

/* NULL, or what is wrong with the parameters; others are ignored. */
static const char *
connect_read_query(struct client *c, struct str query)
{
	struct str value, name;

	while (query.p != NULL) {
		value = str_split(&query, '&');
		name = str_split(&value, '=');
		if (str_eq(name, STR("session"))) {
			if (!connect_is_session(value))
				return "session is not one of this hub";
			str_copy(value, c->resume_session,
			    sizeof(c->resume_session));
		} else if (str_eq(name, STR("last"))) {
			if (str_to_i64(value, 0, INT64_MAX, &c->resume_last) !=
			    RC_OK)
				return "last is not a number of frames";
		} else if (str_eq(name, STR("cursor"))) {
			if (!environment_read_cursor(value, &c->after_cursor))
				return "cursor is not one of an event";
		}
	}
	return NULL;
}

static const char *
connect_set_session(struct hub *h, struct client *c, struct str query)
{
	const char *why = connect_read_query(c, query);

	if (h->conf->resume_ms == 0)
		c->resume_session[0] = '\0';
	if (c->resume_session[0] != '\0')
		memcpy(c->session, c->resume_session, sizeof(c->session));
	else
		id_hex32(c->session);
	return why;
}

/* ---- the beginning ---- */

/* It sends its token in a message. */
static void
connect_without_token(
    struct hub *h, struct client *c, const struct http_head *head)
{
	client_accept(c, head);
	c->phase = CLIENT_OPEN;
	TAILQ_INSERT_TAIL(&h->clients, c, link);
	c->heartbeat = mono_add_ms(clock_mono(), h->conf->heartbeat_ms);
	client_heartbeat(h, c, NULL);
	client_auth_expect(h, c);
}

const char *
connect_as(struct hub *h, struct client *c, const struct auth_caller *who)
{
	struct identity i = c->identity;
	const char *why;

	i.tenant = who->tenant;
	if (connect_check(h, &i, who, &why) != 0)
		return why;
	client_auth_end(h, c);
	ws_set_message_max(c->peer, (size_t)h->conf->message_bytes);
	client_set_caller(c, who);
	caller_recheck_begin(h, c);
	TAILQ_REMOVE(&h->clients, c, link);
	c->phase = CLIENT_CLAIMING;
	/* What it got before is of no session. */
	client_forget_replay(h, c);
	c->replay = (struct replay){ 0 };
	claims_begin(h->claims, c);
	return NULL;
}

void
on_connect(void *app, struct ws_peer *p, const struct http_head *head,
    const struct auth_caller *who)
{
	struct hub *h = app;
	struct str query = head->target;
	bool later = who == NULL && svc_auth(h->svc) != NULL;
	struct identity i;
	struct client *c;
	const char *why;
	char *target;
	int status;

	arena_reset(h->arena);
	target = arena_bytes(h->arena, head->target.n);
	memcpy(target, head->target.p, head->target.n);
	status = identity_of_target(target, head->target.n, &i, &why);
	if (status == 0 && who != NULL)
		i.tenant = who->tenant;
	if (status == 0 && !later)
		status = connect_check(h, &i, who, &why);
	if (status != 0) {
		ws_reject(p, status, why);
		return;
	}
	c = client_new(p, &i, who);
	ws_peer_set(p, c);
	message_span_connect(h, c, head);
	(void)str_split(&query, '?');
	why = connect_set_session(h, c, query);
	if (why != NULL) {
		ws_reject(p, 400, why);
	} else if (later) {
		connect_without_token(h, c, head);
	} else {
		caller_recheck_begin(h, c);
		claims_begin(h->claims, c);
	}
}

/* ---- the end ---- */

static const char *
connect_end_reason(const struct hub *h, const struct ws_end *end)
{
	if (end->by_peer)
		return "closed";
	if (h->draining)
		return "hub_down";
	return end->code == WS_CLOSE_GOING_AWAY ? "timeout" : "kicked";
}

void
on_end(void *app, struct ws_peer *p, const struct ws_end *end)
{
	struct hub *h = app;
	struct client *c = ws_peer_arg(p);
	const char *reason = connect_end_reason(h, end);
	bool was_open = c->phase == CLIENT_OPEN;

	log_debug("star.end", LOG_V("id", c->identity.id),
	    LOG_I("code", (int64_t)end->code), LOG_S("why", end->why));
	client_auth_end(h, c);
	caller_recheck_end(h, c);
	client_set_full(h, c, false);
	c->peer = NULL;
	if (was_open) {
		TAILQ_REMOVE(&h->clients, c, link);
		c->phase = CLIENT_ENDED;
	}
	if (was_open && c->held && client_may_resume(h, end)) {
		c->closing = false;
		claims_detach(h->claims, c, reason);
	} else if (was_open) {
		claims_end(h->claims, c, reason);
	}
	client_unref(h, c);
}

void
on_room(void *app, struct ws_peer *p)
{
	struct client *c = ws_peer_arg(p);

	client_set_full(app, c, false);
	if (!c->closing)
		(void)client_send_dropped(app, c);
}
