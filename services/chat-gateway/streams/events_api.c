/*
 * GET /v1/sessions/{session_id}/events: a stream that ends when the client
 * disconnects or the gateway drains.
 */
#include <stdlib.h>

#include "caller.h"
#include "core/mem.h"
#include "core/metric.h"
#include "gateway.h"
#include "handlers.h"
#include "state/session.h"
#include "streams/fcmp_event_view.h"
#include "streams/session_follower.h"
#include "svc/svc.h"

struct event_stream {
	TAILQ_ENTRY(event_stream) link;
	struct gateway *g;
	struct svc_call *c;
	struct follower *f;
};

static void
event_stream_end(struct event_stream *w)
{
	TAILQ_REMOVE(&w->g->event_streams, w, link);
	metric_change(w->g->open_streams, -1);
	svc_stream_end(w->c, RC_OK);
	free(w);
}

static void
event_stream_close(void *arg)
{
	struct event_stream *w = arg;

	follower_close(w->f);
	event_stream_end(w);
}

static bool
event_stream_on_event(void *arg, const struct fcmp_event *e)
{
	struct event_stream *w = arg;

	if (gateway_stream_send(w->c, e) == RC_OK)
		return true;
	event_stream_end(w);
	return false;
}

static bool
event_stream_is_ready(void *arg)
{
	struct event_stream *w = arg;

	return gateway_stream_has_room(w->c);
}

void
on_drain(void *app)
{
	struct gateway *g = app;
	struct event_stream *w;

	g->draining = true;
	followers_drain(g->followers);
	while ((w = TAILQ_FIRST(&g->event_streams)) != NULL)
		event_stream_close(w);
}

/* The requested session and position.  False: c has been ended. */
static bool
events_read_request(struct gateway *g, struct svc_call *c,
    struct session_key *k, int64_t *after)
{
	struct str header = svc_call_header(c, "Last-Event-ID");

	k->session_id = svc_call_param(c, 0);
	if (!caller_query_user(g, c, &k->user_id) ||
	    !gateway_id(c, k->session_id, "session_id"))
		return false;
	if (event_cursor_parse(header, svc_call_query(c, "cursor"), after) ==
	    RC_OK)
		return true;
	gateway_reject(c, RC_INVALID, "%s: must be the seq of an event, or 0",
	    header.p != NULL ? "Last-Event-ID" : "cursor");
	return false;
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
	struct session s = { .known = true };
	enum rc rc = RC_OK;

	if (*after >= 0)
		return true;
	rc = session_read(g->state, k, svc_call_arena(c), &s);
	if (rc == RC_OK && s.known)
		rc = session_events_newest(g->state, k, after);
	if (rc != RC_OK)
		gateway_fail(c, rc);
	else if (!s.known)
		svc_fail(c, RC_NOENT, "session not found");
	return rc == RC_OK && s.known;
}

static void
events_start(
    struct gateway *g, struct svc_call *c, const struct follower_opts *o)
{
	struct event_stream *w = mem_zalloc(sizeof(*w));
	struct follower_opts with = *o;
	enum rc rc;

	w->g = g;
	w->c = c;
	with.arg = w;
	rc = follower_open(g->followers, &with, &w->f);
	if (rc != RC_OK) {
		free(w);
		gateway_fail_bus(c, rc);
		return;
	}
	TAILQ_INSERT_TAIL(&g->event_streams, w, link);
	metric_change(g->open_streams, 1);
	if (svc_sse_start(c) != RC_OK ||
	    svc_call_on_abort(c, event_stream_close, w) != RC_OK)
		event_stream_close(w);
	else
		follower_start(w->f);
}

void
on_events(void *app, struct svc_call *c)
{
	struct gateway *g = app;
	struct follower_opts o = { .fn = event_stream_on_event,
		.ready = event_stream_is_ready };

	if (!gateway_stream_begin(g, c))
		return;
	if (events_read_request(g, c, &o.key, &o.after) &&
	    events_find_start(g, c, &o.key, &o.after))
		events_start(g, c, &o);
}
