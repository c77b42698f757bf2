/*
 * on_home: requests of chat-gateway: where a soul is to live.
 */
#include <stdio.h>

#include "body/body.h"
#include "core/log.h"
#include "handlers.h"
#include "svc/svc.h"
#include "svc/tick_hint.h"
#include "wire/msgs.h"
#include "wire/subjects.h"

#define ID_ERROR_MAX 128

/* Bound by another user, whose soul does not live there any more. */
static enum rc
home_unbind_stale(struct hub *h, struct str terminal)
{
	struct arena *a = arena_new(2UL * 1024 * 1024);
	struct terminal t;
	enum rc rc = terminal_read_brief(
	    h->state, terminal, h->conf->ttl_s * 1000, a, &t);

	if (rc == RC_OK && t.user_id.p != NULL)
		rc = terminal_unbind(h->state, terminal, t.user_id);
	arena_free(a);
	return rc == RC_NOENT || rc == RC_DENIED ? RC_OK : rc;
}

enum rc
hub_bind_home(struct hub *h, const struct star_home *home)
{
	const struct terminal_binding b = { .terminal_id = home->terminal_id,
		.user_id = home->user_id,
		.soul_id = home->soul_id,
		.ttl_ms = h->conf->ttl_s * 1000 };
	bool ticks = false;
	unsigned bucket;
	enum rc rc = terminal_bind(h->state, &b, &ticks);

	if (rc == RC_CONFLICT) {
		rc = home_unbind_stale(h, home->terminal_id);
		if (rc == RC_OK)
			rc = terminal_bind(h->state, &b, &ticks);
	}
	if (rc == RC_OK && ticks &&
	    state_bucket(home->user_id, &bucket) == RC_OK)
		svc_tick_hint(h->svc, bucket);
	return rc;
}

static void
home_unbind(struct hub *h, const struct star_home *home)
{
	enum rc rc = terminal_unbind_soul(
	    h->state, home->terminal_id, home->user_id, home->soul_id);

	if (rc != RC_OK && rc != RC_NOENT && rc != RC_CONFLICT &&
	    rc != RC_DENIED)
		log_warn("star.not_unbound",
		    LOG_V("terminal", home->terminal_id), LOG_RC(rc));
}

/* False: c has been ended. */
static bool
home_check_id(struct svc_call *c, const char *member, struct str id)
{
	char text[ID_ERROR_MAX];
	const char *why = identity_id_error(id);

	if (why == NULL)
		return true;
	(void)snprintf(text, sizeof(text), "%s: %s", member, why);
	svc_fail(c, RC_INVALID, text);
	return false;
}

static void
home_fail(struct svc_call *c, enum rc rc)
{
	switch (rc) {
	case RC_NOENT:
		svc_fail(c, rc, "soul not found");
		break;
	case RC_CONFLICT:
		svc_fail(
		    c, rc, "another soul is this agent of the environment");
		break;
	case RC_RETRY:
		svc_fail(c, rc, "too many souls live in the environment");
		break;
	default:
		svc_fail(c, rc == RC_TIMEOUT ? RC_DOWN : rc,
		    "the state cannot be used now; try again");
		break;
	}
}

static void
home_reply(struct svc_call *c, const struct star_home *home)
{
	char at[WALL_FORMAT_MAX];
	struct wire_star_soul_place rep = { .soul_id = home->soul_id,
		.env_id = home->env_id,
		.agent_id = home->agent_id,
		.terminal_id = home->terminal_id };

	wall_format((struct wall){ home->at }, 0, at);
	rep.entered_at = str_of(at);
	svc_reply(c, &rep);
}

void
on_star_enter(void *app, struct svc_call *c)
{
	const struct wire_star_enter_request *req = svc_call_request(c);
	char tenant[ID_MAX + 1], name[ID_MAX + 1], terminal[BODY_TERMINAL_MAX];
	const struct identity agent = { .class = CLASS_AGENT,
		.tenant = req->tenant,
		.env = req->env_id,
		.id = req->agent_id };
	struct star_home home = { .user_id = req->user_id,
		.soul_id = req->soul_id,
		.room = { body_key_id(req->tenant, tenant),
		    body_key_id(req->env_id, name) },
		.env_id = req->env_id,
		.agent_id = req->agent_id,
		.terminal_id = body_terminal_id(&agent, terminal) };
	struct star_home before;
	struct hub *h = app;
	enum rc rc;

	if (!home_check_id(c, "env_id", req->env_id) ||
	    !home_check_id(c, "agent_id", req->agent_id))
		return;
	rc = star_home_enter(h->state, &home, svc_call_arena(c), &before);
	if (rc == RC_OK)
		rc = hub_bind_home(h, &home);
	if (rc != RC_OK) {
		home_fail(c, rc);
		return;
	}
	if (before.soul_id.p != NULL &&
	    !str_eq(before.terminal_id, home.terminal_id)) {
		home_unbind(h, &before);
		bodies_notify(h, &before.room);
	}
	bodies_notify(h, &home.room);
	home_reply(c, &home);
}

void
on_star_leave(void *app, struct svc_call *c)
{
	const struct wire_star_leave_request *req = svc_call_request(c);
	struct hub *h = app;
	struct star_home before;
	enum rc rc;

	rc = star_home_leave(
	    h->state, req->user_id, req->soul_id, svc_call_arena(c), &before);
	if (rc != RC_OK) {
		if (rc == RC_NOENT)
			svc_fail(c, rc, "the soul lives in no environment");
		else
			home_fail(c, rc);
		return;
	}
	if (before.soul_id.p != NULL) {
		home_unbind(h, &before);
		bodies_notify(h, &before.room);
	}
	svc_reply(c, &(struct wire_ok_response){ .ok = true });
}
