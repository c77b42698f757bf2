/*
 * on_connect: connections begin and end.
 */
#include <string.h>

#include "auth/auth.h"
#include "cluster/handlers.h"
#include "core/log.h"
#include "handlers.h"
#include "http/head_reader.h"

/* ---- the beginning ---- */

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

static void
connect_reject(struct hub *h, struct ws_peer *p, int status, const char *why)
{
	metric_add(h->metrics.rejected, 1);
	ws_reject(p, status, why);
}

static bool
connect_is_session(struct str s)
{
	size_t i;

	for (i = 0; i < s.n; i++)
		if (str_hex_value(s.p[i]) < 0)
			return false;
	return s.n == HUB_SESSION_MAX - 1;
}

/* "<gen>-<seq>", of which the seq counts over generations. */
static bool
connect_read_cursor(struct str s, int64_t *seq)
{
	int64_t gen;

	return str_to_i64(str_split(&s, '-'), 0, INT64_MAX, &gen) == RC_OK &&
	    s.p != NULL && str_to_i64(s, 0, INT64_MAX, seq) == RC_OK;
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
			if (!connect_read_cursor(value, &c->after_cursor))
				return "cursor is not one of an event";
		}
	}
	return NULL;
}

static void
connect_begin(struct hub *h, struct client *c, struct str query)
{
	const char *why = connect_read_query(c, query);

	if (why != NULL) {
		connect_reject(h, c->peer, 400, why);
		return;
	}
	if (h->conf->resume_ms == 0)
		c->resume_session[0] = '\0';
	if (c->resume_session[0] != '\0')
		memcpy(c->session, c->resume_session, sizeof(c->session));
	else
		id_hex32(c->session);
	claims_begin(h->claims, c);
}

void
on_connect(void *app, struct ws_peer *p, const struct http_head *head,
    const struct auth_caller *who)
{
	struct hub *h = app;
	const struct str none = { NULL, 0 };
	struct str query = head->target;
	struct identity i;
	struct client *c;
	const char *why;
	char *target;
	int status;

	arena_reset(h->arena);
	target = arena_bytes(h->arena, head->target.n);
	memcpy(target, head->target.p, head->target.n);
	status = identity_of_target(target, head->target.n, &i, &why);
	if (status != 0) {
		connect_reject(h, p, status, why);
		return;
	}
	if (who != NULL)
		i.tenant = who->tenant;
	why = connect_limit_error(h, &i);
	if (why != NULL) {
		connect_reject(h, p, 503, why);
		return;
	}
	c = client_new(p, &i, who != NULL ? who->user : none);
	if (who != NULL) {
		c->until = who->until;
		c->operator= who->role == WIRE_ROLE_OPERATOR;
	}
	ws_peer_set(p, c);
	(void)str_split(&query, '?');
	connect_begin(h, c, query);
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

	if (!c->closing)
		(void)client_send_dropped(app, c);
}
