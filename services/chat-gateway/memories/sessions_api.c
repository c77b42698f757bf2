/*
 * Routes that list sessions, and show and delete the messages of one.
 */
#include "caller.h"
#include "core/arena.h"
#include "gateway.h"
#include "handlers.h"
#include "memories/session_view.h"
#include "state/session.h"
#include "state/session_index.h"
#include "svc/audit.h"
#include "svc/svc.h"
#include "wire/msgs.h"

/* Code points of a session's last text. */
#define LAST_TEXT_MAX 120

/* ---- list ---- */

static struct str
sessions_shorten(struct str s)
{
	size_t at = 0, n;

	for (n = 0; n < LAST_TEXT_MAX && str_utf8_next(s, &at) >= 0; n++)
		;
	return (struct str){ s.p, at };
}

static enum rc
sessions_put_page(struct arena *a, const struct session_index_page *p,
    struct wire_session_list *out)
{
	size_t i;

	out->items = arena_alloc(a, (p->n + 1) * sizeof(*out->items));
	if (out->items == NULL)
		return RC_TOOBIG;
	for (i = 0; i < p->n; i++) {
		const struct session_entry *e = &p->entry[i];
		struct wire_session_list_items *to = &out->items[i];

		*to = (struct wire_session_list_items){
			.session_id = e->session_id,
			.soul_id = e->soul_id,
			.terminal_id = e->terminal_id,
			.last_activity = wall_text(e->active, 0, a),
			.messages = e->messages,
		};
		if (e->last_text.p != NULL)
			to->last_text = sessions_shorten(e->last_text);
		if (to->last_activity.p == NULL)
			return RC_TOOBIG;
	}
	out->n_items = p->n;
	out->next = p->next;
	return RC_OK;
}

void
on_sessions_list(void *app, struct svc_call *c)
{
	struct gateway *g = app;
	struct arena *a = svc_call_arena(c);
	struct session_index_page p = { .after = svc_call_query(c, "cursor") };
	struct wire_session_list rep = { 0 };
	int64_t limit = SESSION_INDEX_PAGE_MAX;
	struct str user;
	enum rc rc;

	if (!caller_query_user(g, c, &user) ||
	    !gateway_query_number(
		c, "limit", 1, SESSION_INDEX_PAGE_MAX, &limit))
		return;
	p.max = (size_t)limit;
	rc = session_index_read(g->state, user, a, &p);
	if (rc == RC_INVALID) {
		svc_fail(c, rc, "cursor: must be the next of the page before");
		return;
	}
	if (rc == RC_OK)
		rc = sessions_put_page(a, &p, &rep);
	if (rc == RC_OK)
		svc_reply(c, &rep);
	else
		gateway_fail(c, rc);
}

/* ---- messages ---- */

/* The session of the path and the query.  False: c has been ended. */
static bool
sessions_key(struct gateway *g, struct svc_call *c, struct session_key *k)
{
	k->session_id = svc_call_param(c, 0);
	return caller_query_user(g, c, &k->user_id) &&
	    gateway_id(c, k->session_id, "session_id");
}

void
on_sessions_messages(void *app, struct svc_call *c)
{
	struct gateway *g = app;
	struct arena *a = svc_call_arena(c), *messages;
	struct wire_session_messages rep = { 0 };
	struct session_list list = { 0 };
	struct session_key k;
	struct session s;
	enum rc rc;

	if (!sessions_key(g, c, &k))
		return;
	rc = session_read(g->state, &k, a, &s);
	if (rc == RC_OK && !s.known) {
		svc_fail(c, RC_NOENT, "session not found");
		return;
	}
	messages = arena_new(GATEWAY_RECORD_MAX);
	if (rc == RC_OK)
		rc = session_messages(g->state, &k,
		    (struct session_page){
			.after = -1, .max = SESSION_MESSAGES_MAX },
		    messages, &list);
	if (rc == RC_OK)
		rc = session_view_messages(a, &list, &rep);
	arena_free(messages);
	if (rc != RC_OK) {
		gateway_fail(c, rc);
		return;
	}
	rep.user_id = k.user_id;
	rep.session_id = k.session_id;
	rep.summary = s.summary;
	svc_reply(c, &rep);
}

void
on_sessions_delete(void *app, struct svc_call *c)
{
	struct gateway *g = app;
	struct session_key k;
	enum rc rc;

	if (!sessions_key(g, c, &k))
		return;
	rc = session_delete(g->state, &k);
	if (rc != RC_OK) {
		gateway_fail_missing(c, rc, "session not found");
	} else {
		svc_audit_call(c,
		    &(struct wire_audit){
			.action = WIRE_AUDIT_ACTION_SESSION_DELETED,
			.user_id = k.user_id,
			.session_id = k.session_id });
		svc_reply(c, &(struct wire_ok_response){ .ok = true });
	}
}
