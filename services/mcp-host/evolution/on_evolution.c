/*
 * soul.rpc.evolution.*: what souls ask for, and what humans decide.
 */
#include <stdio.h>
#include <stdlib.h>

#include "context.h"
#include "core/arena.h"
#include "core/buf.h"
#include "core/log.h"
#include "evolution/evolution.h"
#include "evolution/evolution_item.h"
#include "handlers.h"
#include "instance.h"
#include "presence.h"
#include "svc/audit.h"
#include "svc/svc.h"
#include "tool_server.h"
#include "user_server.h"
#include "user_tools.h"
#include "wire/msgs.h"

/* Changes of others that are taken into account. */
#define TRIES_MAX 8
/* The JSON of a user's server that is an entry of the catalogue. */
#define ENTRY_MAX 512

static void
evolution_fail_state(struct svc_call *c, enum rc rc)
{
	svc_fail(c, rc == RC_TIMEOUT ? RC_DOWN : rc,
	    "Redis is unavailable: try again later");
}

/* The evolutions of the items, in a; NULL: a is full. */
static struct wire_evolution *
evolution_views(const struct evolution_item *items, size_t n, struct arena *a)
{
	struct wire_evolution *list = arena_alloc(a, (n + 1) * sizeof(*list));

	for (size_t i = 0; list != NULL && i < n; i++)
		list[i] = items[i].rec.evolution;
	return list;
}

/* ---- requests ---- */

struct evolution_requesting {
	struct host *host;
	struct svc_call *c;
	struct arena *a;
	struct wire_evolution_request q;
	struct evolution_item *items;
	struct wire_evolution *list; /* those of the items */
	size_t n;
	struct evolution_finding found;
};

/* Whether the user has a server of that name, whosever it is. */
static enum rc
evolution_has_server(
    struct host *h, struct str user, struct str name, bool *had)
{
	struct user_tools t;
	enum rc rc = user_tools_get(h, user, &t);

	*had = false;
	for (size_t i = 0; rc == RC_OK && i < t.n; i++)
		*had |= str_eq(name, str_of(t.servers[i]->conf->name));
	user_tools_free(&t);
	return rc;
}

static enum rc
evolution_request_load(struct evolution_requesting *x)
{
	struct host *h = x->host;
	enum rc rc =
	    evolution_items_read(h, x->q.user_id, x->a, &x->items, &x->n);

	if (rc != RC_OK)
		return rc;
	x->list = evolution_views(x->items, x->n, x->a);
	if (x->list == NULL)
		return RC_TOOBIG;
	x->found.entry =
	    evolution_match(h->catalogue, user_tenant(x->q.user_id), x->q.need);
	if (x->found.entry == NULL)
		return RC_OK;
	/* What is configured may change while the fiber waits. */
	return evolution_has_server(h, x->q.user_id,
	    arena_str(x->a, str_of(x->found.entry->name)), &x->found.had);
}

static void
evolution_request_audit(
    const struct evolution_requesting *x, const struct wire_evolution *e)
{
	log_info("mcp.evolution", LOG_V("user", e->user_id),
	    LOG_V("evolution", e->evolution_id),
	    LOG_V("state", wire_evolution_state_names[e->state]));
	svc_audit(x->host->svc,
	    &(struct wire_audit){ .action = WIRE_AUDIT_ACTION_EVOLUTION_ASKED,
		.user_id = e->user_id,
		.soul_id = e->soul_id,
		.evolution_id = e->evolution_id,
		.reason = wire_evolution_state_names[e->state] },
	    svc_call_trace(x->c));
}

static enum rc
evolution_request_store(
    struct evolution_requesting *x, struct evolution_item *item)
{
	struct evolution_change change = { .publish_ms = 0 };
	const struct wire_evolution *spare;
	enum rc rc;

	*item = (struct evolution_item){ .entry = { .user_id = x->q.user_id } };
	rc = evolution_begin(
	    &x->q, &x->found, clock_wall(), x->a, &item->rec.evolution);
	if (rc != RC_OK)
		return rc;
	item->entry.id = item->rec.evolution.evolution_id;
	if (x->n >= EVOLUTIONS_MAX) {
		spare = evolution_spare(x->list, x->n);
		if (spare != NULL)
			change.drop = spare->evolution_id;
	}
	rc = evolution_item_save(x->host, item, &change, x->a);
	if (rc == RC_OK || rc == RC_UNREPLICATED)
		evolution_request_audit(x, &item->rec.evolution);
	/* Another has asked for it in the name of the same cycle. */
	return rc == RC_CONFLICT ? RC_OK : rc;
}

static void
evolution_request_reply(
    struct evolution_requesting *x, struct evolution_item *item)
{
	evolution_item_publish(x->host, item, svc_call_trace(x->c), x->a);
	svc_reply(x->c, &item->rec.evolution);
}

static void
evolution_request_new(struct evolution_requesting *x)
{
	struct evolution_item item;
	enum rc rc;

	if (x->found.entry != NULL && !x->found.had &&
	    evolution_open(x->list, x->n, x->q.soul_id) >= EVOLUTION_OPEN_MAX) {
		svc_fail(x->c, RC_CONFLICT,
		    "as many requests of the soul as may wait for a decision");
		return;
	}
	rc = evolution_request_store(x, &item);
	if (rc == RC_OK)
		evolution_request_reply(x, &item);
	else if (rc == RC_RETRY)
		svc_fail(x->c, RC_CONFLICT,
		    "the user has as many evolutions as may be stored");
	else if (rc == RC_NOENT)
		svc_fail(x->c, rc, "soul not found");
	else
		evolution_fail_state(x->c, rc);
}

void
on_evolution_request(void *app, struct svc_call *c)
{
	struct evolution_requesting x = { .host = app,
		.c = c,
		.a = svc_call_arena(c),
		.q = *(const struct wire_evolution_request *)svc_call_request(
		    c) };
	const struct wire_evolution *same;
	enum rc rc;

	if (evolution_clean(&x.q, x.a) != RC_OK) {
		svc_fail(c, RC_INVALID, "/need: has no text");
		return;
	}
	rc = evolution_request_load(&x);
	if (rc != RC_OK) {
		evolution_fail_state(c, rc);
		return;
	}
	/* It may have changed meanwhile. */
	if (x.found.entry != NULL)
		x.found.entry = evolution_match(
		    x.host->catalogue, user_tenant(x.q.user_id), x.q.need);
	same = evolution_same(x.list, x.n, &x.q, x.found.entry, clock_wall());
	if (same != NULL)
		evolution_request_reply(&x, &x.items[same - x.list]);
	else
		evolution_request_new(&x);
}

/* ---- lists ---- */

static int
evolution_compare(const void *a, const void *b)
{
	const struct wire_evolution *x = a, *y = b;

	return str_cmp(y->created_at, x->created_at);
}

static bool
evolution_is_wanted(
    const struct wire_evolution *e, const struct wire_evolution_list_request *q)
{
	return (q->evolution_id.n == 0 ||
		   str_eq(q->evolution_id, e->evolution_id)) &&
	    (q->soul_id.n == 0 || str_eq(q->soul_id, e->soul_id)) &&
	    (!q->has_state || (int)q->state == (int)e->state);
}

void
on_evolution_list(void *app, struct svc_call *c)
{
	const struct wire_evolution_list_request *q = svc_call_request(c);
	struct wire_evolution_list rep = { .n_evolutions = 0 };
	struct arena *a = svc_call_arena(c);
	struct evolution_item *items;
	size_t i, n;
	enum rc rc = evolution_items_read(app, q->user_id, a, &items, &n);

	if (rc == RC_OK)
		rep.evolutions = evolution_views(items, n, a);
	if (rc == RC_OK && rep.evolutions == NULL)
		rc = RC_TOOBIG;
	if (rc != RC_OK) {
		evolution_fail_state(c, rc);
		return;
	}
	for (i = 0; i < n; i++)
		if (evolution_is_wanted(&rep.evolutions[i], q))
			rep.evolutions[rep.n_evolutions++] = rep.evolutions[i];
	if (q->evolution_id.n > 0 && rep.n_evolutions == 0) {
		svc_fail(c, RC_NOENT, "evolution not found");
		return;
	}
	if (rep.n_evolutions > 0)
		qsort(rep.evolutions, rep.n_evolutions, sizeof(*rep.evolutions),
		    evolution_compare);
	svc_reply(c, &rep);
}

/* ---- decisions ---- */

struct evolution_deciding {
	struct host *host;
	struct svc_call *c;
	struct arena *a;
	const struct wire_evolution_act_request *q;
	struct evolution_item item;
	char why[EVOLUTION_TEXT_MAX];
};

/* The server is the user's at the moment when the step is stored. */
static enum rc
evolution_decide_store(
    struct evolution_deciding *x, enum evolution_effect effect)
{
	const struct wire_evolution *e = &x->item.rec.evolution;
	const struct user_server_entry server = { e->proposal.name,
		e->evolution_id };
	struct evolution_change change = { .publish_ms = 0 };
	struct buf json = BUF_INIT(ENTRY_MAX);
	enum rc rc = RC_OK;

	if (effect == EVOLUTION_ENABLES || effect == EVOLUTION_DISABLES) {
		rc = user_server_write_entry(&server, &json);
		change.server_change = effect == EVOLUTION_ENABLES
		    ? EVOLUTION_SERVER_ADDED
		    : EVOLUTION_SERVER_REMOVED;
		change.server = (struct mcp_user_server){ e->proposal.name,
			buf_str(&json) };
	}
	if (rc == RC_OK)
		rc = evolution_item_save(x->host, &x->item, &change, x->a);
	buf_free(&json);
	return rc;
}

/* The user's tools are others. */
static void
evolution_on_tools(struct evolution_deciding *x, enum evolution_effect effect)
{
	const struct wire_evolution *e = &x->item.rec.evolution;
	struct host *h = x->host;
	struct tool_server *s;

	if (effect != EVOLUTION_ENABLES && effect != EVOLUTION_DISABLES)
		return;
	s = host_entry(h, e->user_id, e->proposal.name);
	if (effect == EVOLUTION_ENABLES && s != NULL && s->tools == NULL &&
	    !h->draining)
		instance_probe(h, s);
	presence_changed(h->presence, e->user_id);
}

static void
evolution_decide_fail(struct evolution_deciding *x, enum rc rc)
{
	const struct str name = x->item.rec.evolution.proposal.name;

	switch (rc) {
	case RC_NOENT:
		svc_fail(x->c, rc,
		    x->item.entry.version == 0
			? "evolution not found"
			: "the evolution or its soul was deleted");
		break;
	case RC_DENIED:
		(void)snprintf(x->why, sizeof(x->why),
		    "the user has a server of the name %.*s: delete it first",
		    STR_ARG(name));
		svc_fail(x->c, RC_CONFLICT, x->why);
		break;
	case RC_RETRY:
		svc_fail(x->c, RC_CONFLICT, "the user has too many servers");
		break;
	case RC_CONFLICT:
		svc_fail(x->c, RC_DOWN, "others change it: try again");
		break;
	default:
		evolution_fail_state(x->c, rc);
	}
}

/* What is stored and done, or was before. */
static void
evolution_decide_end(struct evolution_deciding *x, enum evolution_effect effect)
{
	const struct wire_evolution *e = &x->item.rec.evolution;

	evolution_on_tools(x, effect);
	evolution_item_publish(x->host, &x->item, svc_call_trace(x->c), x->a);
	if (effect == EVOLUTION_REPROPOSED)
		svc_fail(x->c, RC_CONFLICT, x->why);
	else
		svc_reply(x->c, e);
}

/* RC_CONFLICT: it was changed meanwhile, and is to be decided on anew. */
static enum rc
evolution_decide_try(struct evolution_deciding *x)
{
	struct wire_evolution *e = &x->item.rec.evolution;
	struct evolution_act act = {
		.action = x->q->action, .by = x->q->by, .now = clock_wall()
	};
	const struct tool_server *s =
	    host_entry(x->host, e->user_id, e->proposal.name);
	enum evolution_effect effect;
	enum rc rc = RC_OK;

	if (s != NULL)
		act.entry = s->conf;
	effect = evolution_decide(e, &act, x->a, x->why);
	if (effect == EVOLUTION_REJECTED) {
		svc_fail(x->c, RC_CONFLICT, x->why);
		return RC_OK;
	}
	if (effect != EVOLUTION_UNCHANGED)
		rc = evolution_decide_store(x, effect);
	if (rc == RC_OK)
		evolution_decide_end(x, effect);
	return rc;
}

void
on_evolution_act(void *app, struct svc_call *c)
{
	const struct wire_evolution_act_request *q = svc_call_request(c);
	struct evolution_deciding x = { .host = app,
		.c = c,
		.a = svc_call_arena(c),
		.q = q,
		.item.entry = {
		    .user_id = q->user_id, .id = q->evolution_id } };
	enum rc rc = evolution_item_read(x.host, &x.item, x.a);

	if (rc == RC_OK)
		rc = RC_CONFLICT;
	for (int i = 0; i < TRIES_MAX && rc == RC_CONFLICT; i++)
		rc = evolution_decide_try(&x);
	if (rc != RC_OK)
		evolution_decide_fail(&x, rc);
}
