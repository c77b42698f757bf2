/*
 * soul.tool.mcp-host.list: the tools of a user for a turn.
 */
#include <stdlib.h>

#include "catalogue.h"
#include "clean_text.h"
#include "context.h"
#include "core/arena.h"
#include "core/buf.h"
#include "core/log.h"
#include "core/mem.h"
#include "grant.h"
#include "handlers.h"
#include "instance.h"
#include "state/mcp.h"
#include "svc/svc.h"
#include "tool_server.h"
#include "toolbox.h"
#include "user_grants.h"
#include "user_tools.h"
#include "wire/msgs.h"

#define NOTES_MAX    16
#define LEFT_OUT_MAX 64
#define NAMES_MAX    256
#define NOTE_MAX     256
#define USED_MAX     16
/* A tool's time if its server has none. */
#define TIMEOUT_S 60

struct tool_list {
	struct host *host;
	struct arena *a;
	const struct wire_tool_list_request *q;
	struct user_tools tools;
	struct user_grants grants;
	struct grant_decision *decisions; /* of the toolbox' tools */
	uint32_t *order; /* positions of those that are offered, best first */
	size_t n_order;
	struct wire_tool_list_reply rep;
};

/* ---- which tools ---- */

static bool
list_offers(const struct tool_list *l, uint32_t i)
{
	return l->tools.box->tools[i].name.n > 0 &&
	    l->decisions[i].policy != MCP_POLICY_NEVER;
}

static void
list_decide(struct tool_list *l)
{
	const struct toolbox *b = l->tools.box;

	for (size_t i = 0; i < b->n; i++)
		l->decisions[i] =
		    user_grants_decide(&l->grants, &b->tools[i], l->q->soul_id);
}

/* Positions of the tools that this session has used. */
static size_t
list_read_used(struct tool_list *l, uint32_t *first)
{
	const struct toolbox *b = l->tools.box;
	struct mcp_used *used;
	size_t n = 0, found = 0;

	if (l->q->session_id.n == 0 ||
	    mcp_used_read(l->host->state, l->q->user_id, l->q->session_id, l->a,
		&used, &n) != RC_OK)
		return 0;
	for (size_t i = 0; i < n && found < USED_MAX; i++)
		for (uint32_t k = 0; k < b->n; k++)
			if (str_eq(used[i].tool, b->tools[k].tool->name) &&
			    str_eq(used[i].server,
				str_of(b->tools[k].server->conf->name)))
				first[found++] = k;
	return found < USED_MAX ? found : USED_MAX;
}

/* All of them, the best first; those in order that are not offered go. */
static void
list_rank(struct tool_list *l)
{
	struct toolbox *b = l->tools.box;
	uint32_t first[2 * USED_MAX];
	const struct tool_rank_query q = { .text = l->q->text,
		.first = first,
		.n_first = list_read_used(l, first),
		.max = b->n };
	size_t n, k = 0;

	n = tool_rank_find(b->rank, &q, l->order);
	for (size_t i = 0; i < n; i++)
		if (list_offers(l, l->order[i]))
			l->order[k++] = l->order[i];
	l->n_order = k;
}

/* Without a need to choose, in the order of servers and names. */
static void
list_choose(struct tool_list *l)
{
	const struct toolbox *b = l->tools.box;

	l->n_order = 0;
	for (uint32_t i = 0; i < b->n; i++)
		if (list_offers(l, i))
			l->order[l->n_order++] = i;
	if (l->n_order > (size_t)l->q->max)
		list_rank(l);
}

/* ---- the reply ---- */

static void
list_put_tool(
    const struct tool_list *l, uint32_t i, struct wire_tool_definition *d)
{
	const struct toolbox_tool *t = &l->tools.box->tools[i];
	const struct grant_decision *g = &l->decisions[i];
	int64_t s = t->server->conf->timeout_ms > 0
	    ? (t->server->conf->timeout_ms + 999) / 1000
	    : TIMEOUT_S;

	if (s > l->host->conf->timeout_max_s)
		s = l->host->conf->timeout_max_s;
	*d = (struct wire_tool_definition){ .name = t->name,
		.server = str_of(t->server->conf->name),
		.tool = t->tool->name,
		.title = t->title,
		.description = t->description,
		.schema = t->tool->schema,
		.policy = g->policy == MCP_POLICY_AUTO
		    ? WIRE_TOOL_DEFINITION_POLICY_AUTO
		    : WIRE_TOOL_DEFINITION_POLICY_ASK,
		.read_only = g->read_only,
		.idempotent = g->idempotent,
		.timeout_s = s < 300 ? s : 300,
		.definition = str_of(t->definition) };
}

static struct wire_tool_list_reply_left_out *
list_left_out(struct tool_list *l, const struct tool_server *s)
{
	struct wire_tool_list_reply_left_out *o = l->rep.left_out;
	struct str name = str_of(s->conf->name);
	size_t n = l->rep.n_left_out;

	for (size_t i = 0; i < n; i++)
		if (str_eq(o[i].server, name))
			return &o[i];
	if (n == LEFT_OUT_MAX)
		return NULL;
	o[n] = (struct wire_tool_list_reply_left_out){ .server = name,
		.names = arena_alloc(l->a, NAMES_MAX * sizeof(struct str)) };
	l->rep.n_left_out++;
	return &o[n];
}

static void
list_put_left_out(struct tool_list *l)
{
	struct wire_tool_list_reply_left_out *o;

	for (size_t i = (size_t)l->q->max; i < l->n_order; i++) {
		const struct toolbox_tool *t =
		    &l->tools.box->tools[l->order[i]];

		o = list_left_out(l, t->server);
		if (o == NULL)
			continue;
		if (o->names != NULL && o->n_names < NAMES_MAX)
			o->names[o->n_names++] = t->name;
		else
			o->more++;
	}
}

/* Servers whose tools are not known; they are started for it. */
static void
list_put_notes(struct tool_list *l)
{
	for (size_t i = 0; i < l->tools.n; i++) {
		struct tool_server *s = l->tools.servers[i];

		if (s->tools != NULL)
			continue;
		if (!l->host->draining)
			instance_probe(l->host, s);
		if (l->rep.n_notes < NOTES_MAX)
			l->rep.notes[l->rep.n_notes++] = arena_printf(l->a,
			    "The tools of the server %s are not available at "
			    "the moment.",
			    s->conf->name);
	}
}

static void
list_reply(struct tool_list *l, struct svc_call *c)
{
	char revision[MCP_KEY_MAX];
	size_t n =
	    l->n_order < (size_t)l->q->max ? l->n_order : (size_t)l->q->max;

	host_revision(l->host, revision);
	l->rep = (struct wire_tool_list_reply){
		.revision = arena_str(l->a, str_of(revision)),
		.tools = arena_alloc(l->a, (n + 1) * sizeof(*l->rep.tools)),
		.left_out =
		    arena_alloc(l->a, LEFT_OUT_MAX * sizeof(*l->rep.left_out)),
		.notes = arena_alloc(l->a, NOTES_MAX * sizeof(*l->rep.notes)),
	};
	if (l->rep.tools == NULL || l->rep.left_out == NULL ||
	    l->rep.notes == NULL) {
		svc_fail(c, RC_TOOBIG, "the list is too long");
		return;
	}
	for (; l->rep.n_tools < n; l->rep.n_tools++)
		list_put_tool(
		    l, l->order[l->rep.n_tools], &l->rep.tools[l->rep.n_tools]);
	list_put_left_out(l);
	list_put_notes(l);
	svc_reply(c, &l->rep);
}

void
on_tool_list(void *app, struct svc_call *c)
{
	struct host *h = app;
	struct tool_list l = {
		.host = h, .a = svc_call_arena(c), .q = svc_call_request(c)
	};
	enum rc rc = user_tools_get(h, l.q->user_id, &l.tools);

	if (rc == RC_OK)
		rc = user_grants_read(h, l.q->user_id, l.a, &l.grants);
	if (rc != RC_OK) {
		user_tools_free(&l.tools);
		svc_fail(c, rc, "the user's tools are not known");
		return;
	}
	l.decisions = mem_calloc(l.tools.box->n + 1, sizeof(*l.decisions));
	l.order = mem_calloc(l.tools.box->n + 1, sizeof(*l.order));
	list_decide(&l);
	list_choose(&l);
	list_reply(&l, c);
	free(l.decisions);
	free(l.order);
	user_tools_free(&l.tools);
}
