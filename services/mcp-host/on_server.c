/*
 * soul.rpc.mcp.*: servers, tools and grants, for their users.
 */
#include <stdio.h>
#include <stdlib.h>

#include "catalogue.h"
#include "context.h"
#include "core/arena.h"
#include "core/log.h"
#include "core/mem.h"
#include "handlers.h"
#include "instance.h"
#include "presence.h"
#include "state/mcp.h"
#include "svc/svc.h"
#include "tool/own_tool_names.h"
#include "tool_server.h"
#include "toolbox.h"
#include "user_grants.h"
#include "user_server.h"
#include "user_servers.h"
#include "user_tools.h"
#include "wire/msgs.h"
#include "wire/wire.h"

#define SERVERS_MAX 320 /* as of the schema */
#define ERROR_MAX   512

#define NAME_OF_OPERATOR "the operator has a server of that name"
#define NAME_OF_SERVICE                                        \
	"a service with tools of its own has that name: take " \
	"another one"
#define NO_TOOL \
	"tool not found: name one of GET /v1/mcp/tools, or " OWN_TOOL_NAMES_TEXT
#define NOT_IN_CATALOGUE "the operator's catalogue does not have it any more"

static void
server_fail_state(struct svc_call *c, enum rc rc)
{
	svc_fail(c, rc == RC_TIMEOUT ? RC_DOWN : rc,
	    "Redis is unavailable: try again later");
}

/* ---- views ---- */

static struct tool_server *
server_find_in(const struct user_tools *t, struct str name)
{
	size_t i;

	for (i = 0; i < t->n; i++)
		if (str_eq(name, str_of(t->servers[i]->conf->name)))
			return t->servers[i];
	return NULL;
}

static void
server_view_state(struct host *h, struct tool_server *s, struct arena *a,
    struct wire_mcp_server *out)
{
	const struct instance *i;
	char why[ERROR_MAX];

	out->state = WIRE_MCP_SERVER_STATE_UNKNOWN;
	if (s->tools != NULL) {
		out->state = WIRE_MCP_SERVER_STATE_READY;
		out->tools = (int64_t)catalogue_n(s->tools);
	} else if (!h->draining) {
		/* Who looks wants to know whether it works. */
		i = instance_of(h, s, STR(""));
		str_copy(str_of(instance_why(i)), why, sizeof(why));
		if (why[0] != '\0')
			out->error = arena_str(a, str_of(why));
	}
}

static enum wire_mcp_server_kind
server_view_kind(const struct tool_server *s)
{
	switch (s->conf->kind) {
	case MCP_STDIO:
		return WIRE_MCP_SERVER_KIND_STDIO;
	case MCP_SSE:
		return WIRE_MCP_SERVER_KIND_SSE;
	default:
		return WIRE_MCP_SERVER_KIND_HTTP;
	}
}

/* One of the operator's; how it is reached is not the user's business. */
static void
server_view_operators(struct host *h, struct tool_server *s, struct arena *a,
    struct wire_mcp_server *out)
{
	static const enum wire_mcp_server_policy policies[] = {
		[MCP_POLICY_AUTO] = WIRE_MCP_SERVER_POLICY_AUTO,
		[MCP_POLICY_CONFIRM] = WIRE_MCP_SERVER_POLICY_ASK,
		[MCP_POLICY_NEVER] = WIRE_MCP_SERVER_POLICY_NEVER,
	};

	*out =
	    (struct wire_mcp_server){ .owner = WIRE_MCP_SERVER_OWNER_OPERATOR,
		    .name = arena_str(a, str_of(s->conf->name)),
		    .kind = server_view_kind(s) };
	if (s->conf->policy != MCP_POLICY_UNSET) {
		out->policy = policies[s->conf->policy];
		out->has_policy = true;
	}
	server_view_state(h, s, a, out);
}

/* An entry of the catalogue; s NULL: it is not there any more. */
static void
server_view_entry(struct host *h, struct tool_server *s, struct arena *a,
    struct wire_mcp_server *out)
{
	if (s == NULL || !s->entry) {
		out->error =
		    s == NULL ? STR(NOT_IN_CATALOGUE) : STR(NAME_OF_OPERATOR);
		return;
	}
	out->kind = server_view_kind(s);
	server_view_state(h, s, a, out);
	/* What is wrong with it names hosts and files of the operator. */
	if (out->error.n > 0)
		out->error = STR("not available at the moment: operators see "
				 "why");
}

static enum rc
server_view_users(struct host *h, const struct mcp_user_server *u,
    const struct user_tools *t, struct arena *a, struct wire_mcp_server *out)
{
	struct tool_server *s = server_find_in(t, u->name);
	struct user_server_entry e;
	enum rc rc = user_server_view(u->json, a, out);

	if (rc != RC_OK)
		return rc;
	rc = user_server_entry(u->json, a, &e);
	if (rc != RC_OK)
		return rc;
	out->name = u->name;
	out->kind = WIRE_MCP_SERVER_KIND_HTTP;
	out->state = WIRE_MCP_SERVER_STATE_UNKNOWN;
	if (e.name.n > 0)
		server_view_entry(h, s, a, out);
	else if (s == NULL)
		out->error = STR("its headers cannot be decrypted: set them "
				 "anew");
	else if (s->user[0] == '\0')
		out->error = STR(NAME_OF_OPERATOR);
	else
		server_view_state(h, s, a, out);
	return RC_OK;
}

/* All servers of a user, or the one with the name, into list. */
static enum rc
servers_view(struct host *h, const struct wire_mcp_server_request *q,
    struct arena *a, struct wire_mcp_server_list *out)
{
	struct mcp_user_server *own;
	struct user_tools t;
	size_t i, n;
	enum rc rc = user_tools_get(h, q->user_id, &t);

	out->servers = arena_alloc(a, SERVERS_MAX * sizeof(*out->servers));
	out->n_servers = 0;
	if (rc == RC_OK && out->servers == NULL)
		rc = RC_TOOBIG;
	for (i = 0; rc == RC_OK && i < t.n && out->n_servers < SERVERS_MAX; i++)
		if (t.servers[i]->user[0] == '\0' && !t.servers[i]->entry &&
		    (q->name.n == 0 ||
			str_eq(q->name, str_of(t.servers[i]->conf->name))))
			server_view_operators(h, t.servers[i], a,
			    &out->servers[out->n_servers++]);
	if (rc == RC_OK)
		rc = mcp_servers_read(h->state, q->user_id, a, &own, &n);
	for (i = 0; rc == RC_OK && i < n && out->n_servers < SERVERS_MAX; i++)
		if ((q->name.n == 0 || str_eq(q->name, own[i].name)) &&
		    server_view_users(h, &own[i], &t, a,
			&out->servers[out->n_servers]) == RC_OK)
			out->n_servers++;
	user_tools_free(&t);
	return rc;
}

void
on_mcp_servers(void *app, struct svc_call *c)
{
	const struct wire_mcp_server_request *q = svc_call_request(c);
	struct wire_mcp_server_list rep;
	enum rc rc = servers_view(app, q, svc_call_arena(c), &rep);

	if (rc != RC_OK)
		server_fail_state(c, rc);
	else if (q->name.n > 0 && rep.n_servers == 0)
		svc_fail(c, RC_NOENT, "server not found");
	else
		svc_reply(c, &rep);
}

/* ---- changes ---- */

static bool
server_is_operators(struct host *h, struct str user, struct str name)
{
	const struct tool_server *s;

	LIST_FOREACH (s, &h->servers, link)
		if (str_eq(name, str_of(s->conf->name)) &&
		    mcp_server_for(s->conf, user_tenant(user)))
			return true;
	return false;
}

/* False: it came by an evolution, or that is not known; c has been ended. */
static bool
server_is_own(
    struct host *h, struct svc_call *c, struct str user, struct str name)
{
	struct arena *a = svc_call_arena(c);
	struct mcp_user_server *list;
	struct user_server_entry e;
	char text[ERROR_MAX];
	size_t i, n;
	enum rc rc = mcp_servers_read(h->state, user, a, &list, &n);

	if (rc != RC_OK) {
		server_fail_state(c, rc);
		return false;
	}
	for (i = 0; i < n; i++) {
		if (!str_eq(name, list[i].name) ||
		    user_server_entry(list[i].json, a, &e) != RC_OK ||
		    e.name.n == 0)
			continue;
		(void)snprintf(text, sizeof(text),
		    "the server is of the operator's catalogue: POST "
		    "/v1/evolutions/%.*s/disable takes it away",
		    STR_ARG(e.evolution_id));
		svc_fail(c, RC_CONFLICT, text);
		return false;
	}
	return true;
}

/* The user's list has changed. */
static void
server_on_change(struct host *h, struct str user, struct str name)
{
	user_servers_forget(h->user_servers, user, name);
	presence_changed(h->presence, user);
}

static void
server_put_reply(struct host *h, struct svc_call *c,
    const struct wire_mcp_server_put_request *q)
{
	const struct wire_mcp_server_request one = { q->user_id, q->name };
	struct wire_mcp_server_list list;
	enum rc rc = servers_view(h, &one, svc_call_arena(c), &list);

	if (rc != RC_OK)
		server_fail_state(c, rc);
	else if (list.n_servers == 0)
		svc_fail(c, RC_NOENT, "server not found");
	else
		svc_reply(c, &list.servers[0]);
}

void
on_mcp_server_put(void *app, struct svc_call *c)
{
	struct host *h = app;
	const struct wire_mcp_server_put_request *q = svc_call_request(c);
	const struct user_server_id id = { q->user_id, q->name };
	struct buf json = BUF_INIT(MCP_SERVER_JSON_MAX);
	struct mcp_user_server server = { .name = q->name };
	char text[WIRE_ERR_TEXT_MAX];
	struct wire_err err;
	enum rc rc;

	if (server_is_operators(h, q->user_id, q->name)) {
		svc_fail(c, RC_CONFLICT, NAME_OF_OPERATOR);
		return;
	}
	if (own_tool_provider_is(q->name)) {
		svc_fail(c, RC_CONFLICT, NAME_OF_SERVICE);
		return;
	}
	if (!server_is_own(h, c, q->user_id, q->name))
		return;
	rc = user_server_write(
	    h->secrets, &id, &q->settings, h->conf->allow_private, &json, &err);
	if (rc == RC_OK) {
		server.json = buf_str(&json);
		rc = mcp_server_put(h->state, q->user_id, &server);
		err.path[0] = '\0';
	}
	buf_free(&json);
	if (rc == RC_OK) {
		server_on_change(h, q->user_id, q->name);
		log_info("mcp.server_put", LOG_V("user", q->user_id),
		    LOG_V("server", q->name));
		server_put_reply(h, c, q);
	} else if (rc == RC_INVALID && err.path[0] != '\0') {
		wire_err_text(&err, text, sizeof(text));
		svc_fail(c, rc, text);
	} else if (rc == RC_RETRY) {
		svc_fail(c, RC_CONFLICT, "the user has too many servers");
	} else {
		server_fail_state(c, rc);
	}
}

void
on_mcp_server_delete(void *app, struct svc_call *c)
{
	struct host *h = app;
	const struct wire_mcp_server_request *q = svc_call_request(c);
	const struct wire_ok_response rep = { .ok = true };
	enum rc rc;

	if (!server_is_own(h, c, q->user_id, q->name))
		return;
	rc = mcp_server_delete(h->state, q->user_id, q->name);
	if (rc == RC_NOENT) {
		svc_fail(c, rc, "server not found");
	} else if (rc != RC_OK) {
		server_fail_state(c, rc);
	} else {
		server_on_change(h, q->user_id, q->name);
		svc_reply(c, &rep);
	}
}

static struct tool_server *
server_find(const struct tool_server_list *servers, struct str name)
{
	struct tool_server *s;

	LIST_FOREACH (s, servers, link)
		if (str_eq(name, str_of(s->conf->name)))
			return s;
	return NULL;
}

void
on_mcp_server_restart(void *app, struct svc_call *c)
{
	struct host *h = app;
	const struct wire_mcp_server_request *q = svc_call_request(c);
	const struct wire_ok_response rep = { .ok = true };
	struct tool_server *s;

	s = server_find(&h->servers, q->name);
	if (s == NULL)
		s = server_find(&h->entries, q->name);
	if (s == NULL) {
		svc_fail(c, RC_NOENT, "server not found");
		return;
	}
	log_info("mcp.restart", LOG_V("server", q->name));
	instances_restart(h, s);
	svc_reply(c, &rep);
}

/* ---- tools and grants ---- */

static void
tools_put(const struct toolbox_tool *t, const struct grant_decision *d,
    struct wire_mcp_tool_list_tools *out)
{
	static const enum wire_mcp_tool_list_tools_policy policies[] = {
		[MCP_POLICY_AUTO] = WIRE_MCP_TOOL_LIST_TOOLS_POLICY_AUTO,
		[MCP_POLICY_CONFIRM] = WIRE_MCP_TOOL_LIST_TOOLS_POLICY_ASK,
		[MCP_POLICY_NEVER] = WIRE_MCP_TOOL_LIST_TOOLS_POLICY_NEVER,
	};

	*out = (struct wire_mcp_tool_list_tools){ .name = t->name,
		.server = str_of(t->server->conf->name),
		.tool = t->tool->name,
		.title = t->title,
		.description = t->description,
		.policy = policies[d->policy],
		.changed = d->changed,
		.definition = str_of(t->definition) };
}

static void
tools_reply(struct svc_call *c, const struct wire_mcp_tools_request *q,
    const struct user_tools *t, const struct user_grants *g)
{
	const struct tool_rank_query rank = { .text = q->q,
		.max = (size_t)q->max };
	struct arena *a = svc_call_arena(c);
	struct wire_mcp_tool_list rep = { .total = (int64_t)t->box->n };
	uint32_t order[100];
	size_t i, n = tool_rank_find(t->box->rank, &rank, order);

	rep.tools = arena_alloc(a, (n + 1) * sizeof(*rep.tools));
	if (rep.tools == NULL) {
		svc_fail(c, RC_TOOBIG, "the list is too long");
		return;
	}
	for (i = 0; i < n; i++) {
		const struct toolbox_tool *tool = &t->box->tools[order[i]];
		const struct grant_decision d =
		    user_grants_decide(g, tool, q->soul_id);

		if (tool->name.n > 0)
			tools_put(tool, &d, &rep.tools[rep.n_tools++]);
	}
	svc_reply(c, &rep);
}

void
on_mcp_tools(void *app, struct svc_call *c)
{
	struct host *h = app;
	const struct wire_mcp_tools_request *q = svc_call_request(c);
	struct user_grants g;
	struct user_tools t;
	enum rc rc = user_tools_get(h, q->user_id, &t);

	if (rc == RC_OK)
		rc = user_grants_read(h, q->user_id, svc_call_arena(c), &g);
	if (rc == RC_OK)
		tools_reply(c, q, &t, &g);
	else
		server_fail_state(c, rc);
	user_tools_free(&t);
}

/* What a grant is of. */
struct grant_tool {
	struct str server, name;
	struct str definition; /* empty: any */
};

/*
 * A provider's own tool is not listed here, and has a definition that its
 * provider alone knows; a tool of a server has no name that one of them has.
 */
static bool
grant_tool_find(
    const struct user_tools *t, struct str name, struct grant_tool *out)
{
	const struct own_tool_name *own = own_tool_named(name);
	const struct toolbox_tool *tool;

	if (own != NULL) {
		*out = (struct grant_tool){ own->provider, own->tool, STR("") };
		return true;
	}
	tool = toolbox_find(t->box, name);
	if (tool == NULL)
		return false;
	*out = (struct grant_tool){ str_of(tool->server->conf->name),
		tool->tool->name, str_of(tool->definition) };
	return true;
}

static enum rc
grant_change(struct host *h, const struct wire_mcp_grant_request *q,
    const struct grant_tool *t, struct wire_mcp_grant *rep)
{
	static const struct str policies[] = { STR_INIT("auto"),
		STR_INIT("ask"), STR_INIT("never") };
	const struct mcp_grant g = { .soul_id = q->soul_id,
		.server = t->server,
		.tool = t->name,
		.policy = policies[q->policy],
		.pin = t->definition };

	*rep = (struct wire_mcp_grant){
		.server = g.server, .tool = g.tool, .soul_id = g.soul_id
	};
	if (!q->has_policy)
		return mcp_grant_delete(h->state, q->user_id, &g);
	rep->policy = (enum wire_mcp_grant_policy)q->policy;
	rep->has_policy = true;
	if (g.pin.n > 0)
		rep->definition = g.pin;
	return mcp_grant_put(h->state, q->user_id, &g);
}

void
on_mcp_grant(void *app, struct svc_call *c)
{
	struct host *h = app;
	const struct wire_mcp_grant_request *q = svc_call_request(c);
	struct grant_tool tool;
	struct wire_mcp_grant rep;
	struct user_tools t;
	bool found = false;
	enum rc rc = user_tools_get(h, q->user_id, &t);

	if (rc == RC_OK) {
		found = grant_tool_find(&t, q->tool, &tool);
		rc = found ? grant_change(h, q, &tool, &rep) : RC_NOENT;
	}
	if (rc == RC_OK) {
		presence_changed(h->presence, q->user_id);
		svc_reply(c, &rep);
	} else if (rc == RC_NOENT) {
		svc_fail(c, rc, found ? "grant not found" : NO_TOOL);
	} else if (rc == RC_RETRY) {
		svc_fail(c, RC_CONFLICT, "the user has too many grants");
	} else {
		server_fail_state(c, rc);
	}
	user_tools_free(&t);
}
