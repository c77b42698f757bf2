/*
 * The environment of the Star Protocol in which a soul lives.  Ownership is
 * checked here; star-hub puts the soul there, and the record of that is read
 * here, so that it can be shown without a hub.
 */
#include <stdio.h>

#include "caller.h"
#include "core/arena.h"
#include "core/clock.h"
#include "gateway.h"
#include "handlers.h"
#include "peer_request.h"
#include "souls/souls_api.h"
#include "state/soul.h"
#include "state/star_home.h"
#include "state/terminal.h"
#include "svc/svc.h"
#include "wire/msgs.h"
#include "wire/subjects.h"

#define NO_HOME "the soul lives in no environment"

static void
home_fail(struct peer_request *q, enum rc rc, const char *missing)
{
	struct svc_call *c = q->arg;

	if (rc == RC_NOENT)
		svc_fail(c, rc, missing);
	else if (rc == RC_CONFLICT)
		svc_fail(
		    c, rc, "another soul is this agent of the environment");
	else if (rc == RC_DOWN && q->error.p == NULL)
		svc_fail(c, rc, "no star-hub is running");
	else if (rc == RC_INVALID && q->error.p != NULL)
		gateway_reject(c, rc, "%.*s", STR_ARG(q->error));
	else if (rc == RC_RETRY && q->error.p != NULL)
		gateway_reject(c, RC_CONFLICT, "%.*s", STR_ARG(q->error));
	else
		gateway_fail(c, rc);
}

static void
home_send(struct peer_request *q, const void *msg)
{
	enum rc rc = peer_request_send(q, msg);

	if (rc == RC_DOWN || rc == RC_RETRY)
		gateway_fail_bus(q->arg, rc);
	else if (rc != RC_OK)
		home_fail(q, rc, NO_HOME);
}

/* ---- POST ---- */

static void
home_on_entered(struct peer_request *q, enum rc rc)
{
	const struct wire_star_enter_request *req = q->msg;
	const struct wire_star_soul_place *home = q->reply;

	if (rc != RC_OK) {
		home_fail(q, rc, "soul not found");
		return;
	}
	gateway_audit_binding(q->arg, "star_enter",
	    &(struct binding){ home->terminal_id, req->user_id, req->soul_id });
	svc_reply(q->arg, home);
}

void
on_soul_star_enter(void *app, struct svc_call *c)
{
	struct gateway *g = app;
	const struct wire_star_enter_body *body = svc_call_request(c);
	struct wire_star_enter_request *req =
	    arena_alloc(svc_call_arena(c), sizeof(*req));
	struct peer_request *q;
	struct soul soul;
	enum rc rc;

	if (req == NULL) {
		gateway_fail(c, RC_TOOBIG);
		return;
	}
	*req =
	    (struct wire_star_enter_request){ .soul_id = svc_call_param(c, 0),
		    .env_id = body->env_id,
		    .agent_id = body->agent_id };
	if (!caller_user(g, c, body->user_id, &req->user_id) ||
	    !gateway_id(c, req->soul_id, "soul_id"))
		return;
	rc = soul_read(
	    g->state, req->user_id, req->soul_id, svc_call_arena(c), &soul);
	if (rc != RC_OK) {
		gateway_fail_missing(c, rc, "soul not found");
		return;
	}
	req->tenant = caller_user_tenant(c, req->user_id);
	q = peer_request_new(g, c, home_on_entered);
	if (q == NULL)
		return;
	q->subject = WIRE_SUBJECT_STAR_ENTER;
	q->request_desc = &wire_star_enter_request_desc;
	q->reply_desc = &wire_star_soul_place_desc;
	q->timeout_ms = WIRE_DEADLINE_MS_STAR_ENTER;
	q->msg = req;
	home_send(q, req);
}

/* ---- GET ---- */

void
on_soul_star_get(void *app, struct svc_call *c)
{
	struct gateway *g = app;
	struct arena *a = svc_call_arena(c);
	struct wire_star_soul_place rep;
	char at[WALL_FORMAT_MAX];
	struct str user, soul;
	struct star_home home;
	struct terminal t;
	enum rc rc;

	if (!souls_find_owned(g, c, &user, &soul))
		return;
	rc = star_home_read(g->state, user, soul, a, &home);
	if (rc == RC_OK)
		rc = terminal_read_brief(
		    g->state, home.terminal_id, gateway_ttl_ms(g), a, &t);
	if (rc != RC_OK) {
		gateway_fail_missing(c, rc, NO_HOME);
		return;
	}
	wall_format((struct wall){ home.at }, 0, at);
	rep = (struct wire_star_soul_place){ .soul_id = soul,
		.env_id = home.env_id,
		.agent_id = home.agent_id,
		.terminal_id = home.terminal_id,
		.has_present = true,
		.present = t.present && str_eq(t.soul_id, soul),
		.entered_at = str_of(at) };
	svc_reply(c, &rep);
}

/* ---- DELETE ---- */

struct home_leave {
	struct wire_star_leave_request req;
	struct star_home home;
};

static void
home_on_left(struct peer_request *q, enum rc rc)
{
	const struct home_leave *l = q->msg;

	if (rc != RC_OK) {
		home_fail(q, rc, NO_HOME);
		return;
	}
	gateway_audit_binding(q->arg, "star_leave",
	    &(struct binding){
		l->home.terminal_id, l->req.user_id, { NULL, 0 } });
	svc_reply(q->arg, q->reply);
}

void
on_soul_star_leave(void *app, struct svc_call *c)
{
	struct gateway *g = app;
	struct arena *a = svc_call_arena(c);
	struct home_leave *l = arena_alloc(a, sizeof(*l));
	struct peer_request *q;
	enum rc rc;

	if (l == NULL) {
		gateway_fail(c, RC_TOOBIG);
		return;
	}
	if (!souls_find_owned(g, c, &l->req.user_id, &l->req.soul_id))
		return;
	rc = star_home_read(
	    g->state, l->req.user_id, l->req.soul_id, a, &l->home);
	if (rc != RC_OK) {
		gateway_fail_missing(c, rc, NO_HOME);
		return;
	}
	q = peer_request_new(g, c, home_on_left);
	if (q == NULL)
		return;
	q->subject = WIRE_SUBJECT_STAR_LEAVE;
	q->request_desc = &wire_star_leave_request_desc;
	q->reply_desc = &wire_ok_response_desc;
	q->timeout_ms = WIRE_DEADLINE_MS_STAR_LEAVE;
	q->msg = l;
	home_send(q, &l->req);
}
