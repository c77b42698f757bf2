/*
 * /v1/mcp/…: MCP servers, their tools, and what users decide of them.  mcp-host
 * has them; access is checked here.
 */
#include "caller.h"
#include "gateway.h"
#include "handlers.h"
#include "mcp/mcp_host.h"
#include "svc/svc.h"

#define NOT_AVAILABLE "not available at the moment: operators see why"
#define TOOLS_MAX     100
#define TOOLS_DEFAULT 24

static const struct service_call_peer mcp_servers =
    MCP_HOST_PEER(MCP_SERVERS, mcp_server_request, mcp_server_list);
static const struct service_call_peer mcp_server_put =
    MCP_HOST_PEER(MCP_SERVER_PUT, mcp_server_put_request, mcp_server);
static const struct service_call_peer mcp_server_delete =
    MCP_HOST_PEER(MCP_SERVER_DELETE, mcp_server_request, ok_response);
static const struct service_call_peer mcp_server_restart =
    MCP_HOST_PEER(MCP_SERVER_RESTART, mcp_server_request, ok_response);
static const struct service_call_peer mcp_tools =
    MCP_HOST_PEER(MCP_TOOLS, mcp_tools_request, mcp_tool_list);
static const struct service_call_peer mcp_grant =
    MCP_HOST_PEER(MCP_GRANT, mcp_grant_request, mcp_grant);

/* ---- servers ---- */

static void
mcp_server_call(struct gateway *g, struct svc_call *c,
    const struct service_call_peer *peer, service_call_fn fn)
{
	struct wire_mcp_server_request *q = service_call_message(c, sizeof(*q));

	if (q == NULL || !caller_query_user(g, c, &q->user_id))
		return;
	q->name = svc_call_param(c, 0);
	service_call_send(g, c, peer, q, fn);
}

/* What is wrong with an operator's server names hosts and files. */
static void
mcp_hide_error(const struct svc_call *c, struct wire_mcp_server *s)
{
	if (s->owner == WIRE_MCP_SERVER_OWNER_OPERATOR && s->error.n > 0 &&
	    !caller_is_unlimited(c))
		s->error = STR(NOT_AVAILABLE);
}

static void
mcp_on_servers(struct svc_call *c, const struct peer_request *q)
{
	const struct wire_mcp_server_list *rep = q->reply;
	size_t i;

	for (i = 0; i < rep->n_servers; i++)
		mcp_hide_error(c, &rep->servers[i]);
	svc_reply(c, rep);
}

void
on_mcp_servers_list(void *app, struct svc_call *c)
{
	mcp_server_call(app, c, &mcp_servers, mcp_on_servers);
}

static void
mcp_on_server(struct svc_call *c, const struct peer_request *q)
{
	const struct wire_mcp_server_list *rep = q->reply;

	if (rep->n_servers > 0) {
		mcp_hide_error(c, &rep->servers[0]);
		svc_reply(c, &rep->servers[0]);
	} else {
		svc_fail(c, RC_NOENT, "server not found");
	}
}

void
on_mcp_servers_get(void *app, struct svc_call *c)
{
	mcp_server_call(app, c, &mcp_servers, mcp_on_server);
}

void
on_mcp_servers_delete(void *app, struct svc_call *c)
{
	mcp_server_call(app, c, &mcp_server_delete, NULL);
}

/* An operator's server is nobody's in particular. */
void
on_mcp_servers_restart(void *app, struct svc_call *c)
{
	struct wire_mcp_server_request *q = service_call_message(c, sizeof(*q));
	struct gateway *g = app;

	if (q == NULL)
		return;
	q->user_id = str_of(g->conf->user_id);
	q->name = svc_call_param(c, 0);
	service_call_send(g, c, &mcp_server_restart, q, NULL);
}

void
on_mcp_servers_put(void *app, struct svc_call *c)
{
	const struct wire_mcp_server_settings *settings = svc_call_request(c);
	struct wire_mcp_server_put_request *q =
	    service_call_message(c, sizeof(*q));

	if (q == NULL || !caller_query_user(app, c, &q->user_id))
		return;
	q->name = svc_call_param(c, 0);
	q->settings = *settings;
	service_call_send(app, c, &mcp_server_put, q, NULL);
}

/* ---- tools and grants ---- */

void
on_mcp_tools_list(void *app, struct svc_call *c)
{
	struct wire_mcp_tools_request *q = service_call_message(c, sizeof(*q));
	struct str limit = svc_call_query(c, "limit");

	if (q == NULL || !caller_query_user(app, c, &q->user_id))
		return;
	q->max = TOOLS_DEFAULT;
	if (limit.p != NULL &&
	    str_to_i64(limit, 1, TOOLS_MAX, &q->max) != RC_OK) {
		gateway_reject(
		    c, RC_INVALID, "limit: must be 1 to %d", TOOLS_MAX);
		return;
	}
	q->q = svc_call_query(c, "q");
	q->soul_id = svc_call_query(c, "soul_id");
	service_call_send(app, c, &mcp_tools, q, NULL);
}

void
on_mcp_grants_put(void *app, struct svc_call *c)
{
	const struct wire_mcp_grant_body *body = svc_call_request(c);
	struct wire_mcp_grant_request *q = service_call_message(c, sizeof(*q));

	if (q == NULL || !caller_user(app, c, body->user_id, &q->user_id))
		return;
	q->tool = svc_call_param(c, 0);
	q->soul_id = body->soul_id;
	q->policy = (enum wire_mcp_grant_request_policy)body->policy;
	q->has_policy = true;
	service_call_send(app, c, &mcp_grant, q, NULL);
}

static void
mcp_on_deleted(struct svc_call *c, const struct peer_request *q)
{
	const struct wire_ok_response rep = { .ok = true };

	(void)q;
	svc_reply(c, &rep);
}

void
on_mcp_grants_delete(void *app, struct svc_call *c)
{
	struct wire_mcp_grant_request *q = service_call_message(c, sizeof(*q));

	if (q == NULL || !caller_query_user(app, c, &q->user_id))
		return;
	q->tool = svc_call_param(c, 0);
	q->soul_id = svc_call_query(c, "soul_id");
	service_call_send(app, c, &mcp_grant, q, mcp_on_deleted);
}
