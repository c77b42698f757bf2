/*
 * on_connect: connections begin and end: identities, rooms, presence.
 */
#include <stdlib.h>

#include "auth/auth.h"
#include "core/log.h"
#include "core/mem.h"
#include "handlers.h"
#include "http/head_reader.h"
#include "permission.h"
#include "svc/svc.h"
#include "ws/handshake.h"

/* Of a connection whose identity a newer one holds. */
#define CLOSE_REPLACED 4409
#define SUBPROTOCOL    STR("star.v1")

/* ---- rooms ---- */

static void
connect_leave_rooms(struct hub *h, struct client *c, const char *reason)
{
	char text[IDENTITY_KEY_MAX];
	struct str key;
	size_t i;

	for (i = 0; i < c->nrooms; i++) {
		if (c->rooms[i].room == NULL)
			continue;
		key = identity_env_key(
		    c->identity.tenant, room_env(c->rooms[i].room), text);
		room_leave(&c->rooms[i]);
		presence_left(h, c, key, reason);
	}
}

void
connect_release(struct hub *h, struct client *c, const char *reason)
{
	if (!c->held)
		return;
	c->held = false;
	directory_remove(h->directory, &c->identity, c);
	metric_change(h->metrics.clients[c->identity.class], -1);
	connect_leave_rooms(h, c, reason);
	if (c->identity.class == CLASS_ENVIRONMENT)
		presence_environment(h, c, reason);
}

/* ---- the beginning ---- */

/* NULL, or why nobody more is admitted. */
static const char *
connect_limit_error(const struct hub *h, const struct identity *i)
{
	char text[IDENTITY_KEY_MAX];

	if (i->class == CLASS_ENVIRONMENT &&
	    directory_count(h->directory, CLASS_ENVIRONMENT, i->tenant) >=
		HUB_TENANT_MAX)
		return "too many environments are connected";
	if (i->class == CLASS_AGENT &&
	    room_count(rooms_find(h->rooms,
		identity_env_key(i->tenant, i->env, text))) >= HUB_MEMBERS_MAX)
		return "the environment has too many members";
	return NULL;
}

/* The newest connection of an identity holds it. */
static void
connect_claim(struct hub *h, struct client *c)
{
	struct client *old = directory_put(h->directory, &c->identity, c);

	metric_change(h->metrics.clients[c->identity.class], 1);
	c->held = true;
	if (old == NULL)
		return;
	hub_audit_replaced(h, c, old->user);
	old->held = false;
	metric_change(h->metrics.clients[c->identity.class], -1);
	connect_leave_rooms(h, old, "replaced");
	if (c->identity.class == CLASS_ENVIRONMENT)
		presence_environment(h, old, "replaced");
	client_close(
	    old, CLOSE_REPLACED, STR("replaced by a newer connection"));
}

static void
connect_enter(struct hub *h, struct client *c)
{
	char text[IDENTITY_KEY_MAX];
	struct str key;

	if (c->identity.class == CLASS_ENVIRONMENT) {
		presence_environment(h, c, NULL);
	} else if (c->identity.class == CLASS_AGENT) {
		key = client_env_key(c, text);
		room_join(h->rooms, key, &c->rooms[0]);
		presence_joined(h, c, key);
	}
}

static bool
connect_is_of_another(const struct hub *h, const struct identity *i,
    const struct auth_caller *who)
{
	char text[IDENTITY_KEY_MAX], owner[CLIENT_OWNER_MAX];
	const struct client *c =
	    directory_find(h->directory, identity_key(i, text));

	return who != NULL && who->role != WIRE_ROLE_OPERATOR && c != NULL &&
	    !str_eq(c->user, client_owner(who, owner));
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
	if (*why != NULL)
		return 503;
	*why = "the id is of another user";
	return connect_is_of_another(h, i, who) ? 403 : 0;
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
	connect_claim(h, c);
	connect_enter(h, c);
	return NULL;
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

void
on_connect(void *app, struct ws_peer *p, const struct http_head *head,
    const struct auth_caller *who)
{
	struct hub *h = app;
	const struct str none = { NULL, 0 };
	struct identity i;
	struct client *c;
	const char *why;
	char *target;
	int status;
	bool later;

	arena_reset(h->arena);
	target = arena_bytes(h->arena, head->target.n);
	memcpy(target, head->target.p, head->target.n);
	status = identity_of_target(target, head->target.n, &i, &why);
	if (status != 0) {
		ws_reject(p, status, why);
		return;
	}
	if (who != NULL)
		i.tenant = who->tenant;
	later = who == NULL && svc_auth(h->svc) != NULL;
	status = later ? 0 : connect_check(h, &i, who, &why);
	if (status != 0) {
		ws_reject(p, status, why);
		return;
	}
	c = client_new(h, p, &i, who);
	ws_peer_set(p, c);
	if (!later) {
		caller_recheck_begin(h, c);
		connect_claim(h, c);
	}
	ws_accept(p, handshake_offers(head, SUBPROTOCOL) ? SUBPROTOCOL : none);
	client_heartbeat(h, c);
	if (later)
		client_auth_expect(h, c);
	else
		connect_enter(h, c);
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

	c->closing = true;
	client_auth_end(h, c);
	caller_recheck_end(h, c);
	client_set_full(h, c, false);
	connect_release(h, c, connect_end_reason(h, end));
	TAILQ_REMOVE(&h->clients, c, link);
	log_debug("star.end", LOG_V("id", c->identity.id),
	    LOG_I("code", (int64_t)end->code), LOG_S("why", end->why));
	client_free(c);
}

void
on_room(void *app, struct ws_peer *p)
{
	struct client *c = ws_peer_arg(p);

	client_set_full(app, c, false);
	if (!c->closing)
		(void)client_send_dropped(app, c);
}
