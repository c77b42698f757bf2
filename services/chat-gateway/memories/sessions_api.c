/*
 * Routes that show and delete the messages of a session.
 */
#include "caller.h"
#include "core/arena.h"
#include "gateway.h"
#include "handlers.h"
#include "memories/session_view.h"
#include "state/session.h"
#include "svc/audit.h"
#include "svc/svc.h"
#include "wire/msgs.h"

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
