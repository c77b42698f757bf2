/*
 * GET /v1/turns, and a turn with what its stages got and gave.
 */
#include <stdbool.h>
#include <stdint.h>

#include "caller.h"
#include "chat/chat_turn.h"
#include "core/arena.h"
#include "core/log.h"
#include "core/mem.h"
#include "gateway.h"
#include "handlers.h"
#include "state/turn_detail.h"
#include "svc/svc.h"
#include "wire/msgs.h"
#include "wire/wire.h"

#define LIMIT_DEFAULT 50
#define SLOWER_MAX_MS 86400000

struct turns_filter {
	struct str session_id, terminal_id, soul_id, state;
	int64_t slower_ms, limit;
};

static bool
turns_check_state(struct svc_call *c, struct str state)
{
	size_t i;

	for (i = 0; i < NELEM(wire_turn_summary_state_names); i++)
		if (state.p == NULL ||
		    str_eq(state, wire_turn_summary_state_names[i]))
			return true;
	svc_fail(c, RC_INVALID, "state: must be completed, failed or canceled");
	return false;
}

static bool
turns_check_ids(struct svc_call *c, const struct turns_filter *f)
{
	return (f->session_id.p == NULL ||
		   gateway_id(c, f->session_id, "session_id")) &&
	    (f->terminal_id.p == NULL ||
		gateway_id(c, f->terminal_id, "terminal_id")) &&
	    (f->soul_id.p == NULL || gateway_id(c, f->soul_id, "soul_id"));
}

static bool
turns_read_filter(struct svc_call *c, struct turns_filter *f)
{
	*f = (struct turns_filter){
		.session_id = svc_call_query(c, "session_id"),
		.terminal_id = svc_call_query(c, "terminal_id"),
		.soul_id = svc_call_query(c, "soul_id"),
		.state = svc_call_query(c, "state"),
		.limit = LIMIT_DEFAULT,
	};
	return turns_check_ids(c, f) && turns_check_state(c, f->state) &&
	    gateway_query_number(
		c, "limit", 1, TURN_DETAIL_PAGE_MAX, &f->limit) &&
	    gateway_query_number(
		c, "slower_ms", 0, SLOWER_MAX_MS, &f->slower_ms);
}

static bool
turns_is(struct str want, struct str is)
{
	return want.p == NULL || str_eq(want, is);
}

static bool
turns_match(const struct turns_filter *f, const struct wire_turn_summary *s)
{
	return turns_is(f->session_id, s->session_id) &&
	    turns_is(f->terminal_id, s->terminal_id) &&
	    turns_is(f->soul_id, s->soul_id) &&
	    turns_is(f->state, wire_turn_summary_state_names[s->state]) &&
	    s->total_ms >= (double)f->slower_ms;
}

/* Append those of a page that match.  What is invalid is logged, left out. */
static void
turns_take_page(const struct turn_detail_page *p, const struct turns_filter *f,
    struct arena *a, struct wire_turn_list *rep)
{
	struct wire_turn_summary *s;
	size_t i;

	for (i = 0; i < p->n; i++) {
		s = &rep->items[rep->n_items];
		if (wire_decode(&wire_turn_summary_desc, p->summary[i], a, s,
			NULL) != RC_OK)
			log_error(
			    "gateway.stored", LOG_S("message", "turn_summary"));
		else if (turns_match(f, s))
			rep->n_items++;
	}
}

void
on_turns_list(void *app, struct svc_call *c)
{
	struct gateway *g = app;
	struct arena *a = svc_call_arena(c);
	struct wire_turn_list rep = { 0 };
	struct turn_detail_page p = { .after = svc_call_query(c, "cursor") };
	struct turns_filter f;
	struct str user;
	enum rc rc;

	if (!caller_query_user(g, c, &user) || !turns_read_filter(c, &f))
		return;
	rep.items = arena_alloc(a, (size_t)f.limit * sizeof(*rep.items));
	rc = rep.items != NULL ? RC_OK : RC_TOOBIG;
	do {
		p.max = (size_t)f.limit - rep.n_items;
		if (rc == RC_OK)
			rc = turn_detail_list(g->state, user, a, &p);
		if (rc == RC_OK)
			turns_take_page(&p, &f, a, &rep);
		p.after = p.next;
	} while (
	    rc == RC_OK && p.next.p != NULL && rep.n_items < (size_t)f.limit);
	rep.next = p.next;
	if (rc == RC_OK)
		svc_reply(c, &rep);
	else if (rc == RC_INVALID)
		svc_fail(c, rc, "cursor: must be the next of the page before");
	else
		gateway_fail(c, rc);
}

bool
turn_detail_reply(
    struct gateway *g, struct svc_call *c, struct str user, struct str id)
{
	struct arena *a = svc_call_arena(c);
	struct wire_turn_record rep;
	struct str json;
	enum rc rc;

	if (!str_eq(svc_call_query(c, "detail"), STR("1")))
		return false;
	rc = turn_detail_read(g->state, user, id, a, &json);
	if (rc == RC_NOENT)
		return false;
	if (rc == RC_OK)
		rc = wire_decode(&wire_turn_record_desc, json, a, &rep, NULL);
	if (rc == RC_OK)
		svc_reply(c, &rep);
	else
		gateway_fail(c, rc);
	return true;
}
