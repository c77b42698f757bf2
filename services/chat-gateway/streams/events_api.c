/*
 * GET /v1/sessions/{session_id}/events: a stream that ends when the client
 * disconnects or the gateway drains.
 */
#include "agui/agui_stream.h"
#include "caller.h"
#include "gateway.h"
#include "handlers.h"
#include "live/live.h"
#include "state/session.h"
#include "streams/event_follower.h"
#include "streams/event_stream.h"
#include "svc/svc.h"
#include "webhooks/webhooks.h"

void
on_drain(void *app)
{
	struct gateway *g = app;

	g->draining = true;
	followers_drain(g->followers);
	event_streams_close(g);
	live_drain(g->live);
	webhooks_drain(g->webhooks);
}

/* The requested session and position.  False: c has been ended. */
static bool
events_read_request(struct gateway *g, struct svc_call *c,
    struct session_key *k, int64_t *after)
{
	k->session_id = svc_call_param(c, 0);
	return caller_query_user(g, c, &k->user_id) &&
	    gateway_id(c, k->session_id, "session_id") &&
	    event_stream_cursor(c, after);
}

/*
 * Whether the stream may start; *after becomes the newest event if the client
 * named no position.  A client that names one may wait for a session that does
 * not exist yet.
 */
static bool
events_find_start(struct gateway *g, struct svc_call *c,
    const struct session_key *k, int64_t *after)
{
	const struct events_key log = events_of_session(k);
	struct session s = { .known = true };
	enum rc rc = RC_OK;

	if (*after >= 0)
		return true;
	rc = session_read(g->state, k, svc_call_arena(c), &s);
	if (rc == RC_OK && s.known)
		rc = events_newest(g->state, &log, after);
	if (rc != RC_OK)
		gateway_fail(c, rc);
	else if (!s.known)
		svc_fail(c, RC_NOENT, "session not found");
	return rc == RC_OK && s.known;
}

void
on_events(void *app, struct svc_call *c)
{
	struct event_stream_opts o = { .send = gateway_stream_send };
	struct gateway *g = app;
	struct session_key k;

	if (!gateway_stream_begin(g, c) || !agui_stream_choose(c, &o.send) ||
	    !events_read_request(g, c, &k, &o.after) ||
	    !events_find_start(g, c, &k, &o.after))
		return;
	o.key = events_of_session(&k);
	event_stream_start(g, c, &o);
}
