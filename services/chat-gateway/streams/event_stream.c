/*
 * Streams of a gateway, which a drain ends.
 */
#include "streams/event_stream.h"

#include <stdlib.h>

#include "core/mem.h"
#include "core/metric.h"
#include "gateway.h"
#include "streams/event_cursor.h"
#include "streams/event_follower.h"
#include "svc/svc.h"

struct event_stream {
	TAILQ_ENTRY(event_stream) link;
	struct gateway *g;
	struct svc_call *c;
	struct follower *f;
	struct event_stream_opts opts; /* its strings are not valid */
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

void
event_streams_close(struct gateway *g)
{
	struct event_stream *w;

	while ((w = TAILQ_FIRST(&g->event_streams)) != NULL)
		event_stream_close(w);
}

static bool
event_stream_on_event(void *arg, const struct fcmp_event *e)
{
	struct event_stream *w = arg;

	if (w->opts.send(w->c, e) == RC_OK &&
	    (w->opts.ends == NULL || !w->opts.ends(e)))
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

bool
event_stream_cursor(struct svc_call *c, int64_t *after)
{
	struct str header = svc_call_header(c, "Last-Event-ID");

	if (event_cursor_parse(header, svc_call_query(c, "cursor"), after) ==
	    RC_OK)
		return true;
	gateway_reject(c, RC_INVALID, "%s: must be the seq of an event, or 0",
	    header.p != NULL ? "Last-Event-ID" : "cursor");
	return false;
}

void
event_stream_start(
    struct gateway *g, struct svc_call *c, const struct event_stream_opts *o)
{
	struct event_stream *w = mem_zalloc(sizeof(*w));
	struct follower_opts with = { .key = o->key,
		.after = o->after,
		.turn_id = o->turn_id,
		.fn = event_stream_on_event,
		.ready = event_stream_is_ready,
		.arg = w };
	enum rc rc;

	w->g = g;
	w->c = c;
	w->opts = *o;
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
