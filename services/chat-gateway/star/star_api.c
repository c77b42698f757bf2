/*
 * Environments of the Star Protocol, their members and events, and an end to a
 * client.  star-hub has all of it.
 */
#include "caller.h"
#include "core/mem.h"
#include "gateway.h"
#include "handlers.h"
#include "peer_request.h"
#include "svc/svc.h"
#include "wire/msgs.h"
#include "wire/subjects.h"

#define LIMIT_MAX 100

/* What is sent; the reply is passed on. */
struct star_route {
	const char *subject;
	const struct wire_desc *request, *reply;
	int64_t timeout_ms;
};

static void
star_on_reply(struct peer_request *q, enum rc rc)
{
	struct svc_call *c = q->arg;

	if (rc == RC_OK)
		svc_reply(c, q->reply);
	else if (rc == RC_NOENT)
		svc_fail(c, rc, "no client has this identity");
	else if (rc == RC_INVALID && q->error.p != NULL)
		gateway_reject(c, rc, "%.*s", STR_ARG(q->error));
	else if (rc == RC_DOWN && q->error.p == NULL)
		svc_fail(c, rc, "no star-hub is running");
	else
		gateway_fail(c, rc);
}

static void
star_request(struct gateway *g, struct svc_call *c,
    const struct star_route *route, const void *msg)
{
	struct peer_request *q = peer_request_new(g, c, star_on_reply);
	enum rc rc;

	if (q == NULL)
		return;
	q->subject = route->subject;
	q->request_desc = route->request;
	q->reply_desc = route->reply;
	q->timeout_ms = route->timeout_ms;
	rc = peer_request_send(q, msg);
	if (rc == RC_INVALID)
		star_on_reply(q, rc);
	else if (rc != RC_OK)
		gateway_fail_bus(c, rc);
}

#define ROUTE(x, X, rep)                         \
	static const struct star_route route = { \
		WIRE_SUBJECT_STAR_##X,           \
		&wire_star_##x##_request_desc,   \
		&wire_star_##rep##_desc,         \
		WIRE_DEADLINE_MS_STAR_##X,       \
	}

void
on_star_environments(void *app, struct svc_call *c)
{
	ROUTE(list, LIST, environment_list);
	const struct wire_star_list_request req = { caller_tenant(c) };

	star_request(app, c, &route, &req);
}

void
on_star_environment_members(void *app, struct svc_call *c)
{
	ROUTE(members, MEMBERS, member_list);
	const struct wire_star_members_request req = { caller_tenant(c),
		svc_call_param(c, 0) };

	star_request(app, c, &route, &req);
}

void
on_star_environment_events(void *app, struct svc_call *c)
{
	ROUTE(history, HISTORY, history_reply);
	struct wire_star_history_request req = { .tenant = caller_tenant(c),
		.env_id = svc_call_param(c, 0),
		.after = svc_call_query(c, "after"),
		.limit = LIMIT_MAX };
	struct str limit = svc_call_query(c, "limit");

	if (limit.p != NULL &&
	    str_to_i64(limit, 1, LIMIT_MAX, &req.limit) != RC_OK) {
		gateway_reject(
		    c, RC_INVALID, "limit: must be 1 to %d", LIMIT_MAX);
		return;
	}
	star_request(app, c, &route, &req);
}

void
on_star_client_kick(void *app, struct svc_call *c)
{
	ROUTE(kick, KICK, kick_reply);
	static const struct str types[] = { STR_INIT("agent"),
		STR_INIT("environment"), STR_INIT("human") };
	struct wire_star_kick_request req = { .tenant = caller_tenant(c),
		.id = svc_call_param(c, 1),
		.env_id = svc_call_query(c, "env_id"),
		.reason = svc_call_query(c, "reason") };
	struct str type = svc_call_param(c, 0);
	size_t i;

	for (i = 0; i < NELEM(types) && !str_eq(type, types[i]); i++)
		;
	if (i == NELEM(types)) {
		svc_fail(c, RC_INVALID,
		    "class: must be agent, environment or human");
		return;
	}
	req.type = (enum wire_star_kick_request_type)i;
	star_request(app, c, &route, &req);
}
