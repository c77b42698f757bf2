/*
 * Streams that end when the client leaves, or the gateway.
 */
#include "on_events.h"

#include <stdlib.h>

#include "caller.h"
#include "core/mem.h"
#include "core/metric.h"
#include "cursor.h"
#include "follow.h"
#include "gateway.h"
#include "send.h"
#include "state/session.h"
#include "svc/svc.h"

struct watcher {
	TAILQ_ENTRY(watcher) link;
	struct gateway *g;
	struct svc_call *c;
	struct follow *f;
};

static void
watcher_end(struct watcher *w)
{
	TAILQ_REMOVE(&w->g->watchers, w, link);
	metric_change(w->g->watching, -1);
	svc_stream_end(w->c, RC_OK);
	free(w);
}

static void
on_gone(void *arg)
{
	struct watcher *w = arg;

	follow_close(w->f);
	watcher_end(w);
}

static bool
on_event(void *arg, const struct event *e)
{
	struct watcher *w = arg;

	if (send_event(w->c, e) == RC_OK)
		return true;
	watcher_end(w);
	return false;
}

static bool
is_ready(void *arg)
{
	struct watcher *w = arg;

	return send_has_room(w->c);
}

void
on_events_drain(struct gateway *g)
{
	struct watcher *w;

	while ((w = TAILQ_FIRST(&g->watchers)) != NULL)
		on_gone(w);
}

/* The session and the cursor that are asked for; false if c was answered. */
static bool
read_request(struct gateway *g, struct svc_call *c, struct session_key *k,
    int64_t *after)
{
	struct str header = svc_call_header(c, "Last-Event-ID");

	k->session_id = svc_call_param(c, 0);
	if (!caller_query_user(g, c, &k->user_id) ||
	    !gateway_id(c, k->session_id, "session_id"))
		return false;
	if (cursor_parse(header, svc_call_query(c, "cursor"), after) == RC_OK)
		return true;
	gateway_refuse(c, RC_INVALID, "%s: must be the seq of an event, or 0",
	    header.p != NULL ? "Last-Event-ID" : "cursor");
	return false;
}

/*
 * Whether the session may be watched from after on, which is found if the
 * client knows nothing.  One who names a cursor may wait for a session that has
 * not begun.
 */
static bool
find_start(struct gateway *g, struct svc_call *c, const struct session_key *k,
    int64_t *after)
{
	struct session s = { .known = true };
	enum rc rc = RC_OK;

	if (*after >= 0)
		return true;
	arena_reset(g->scratch);
	rc = session_read(g->state, k, g->scratch, &s);
	if (rc == RC_OK && s.known)
		rc = session_events_newest(g->state, k, after);
	if (rc != RC_OK)
		gateway_fail(c, rc);
	else if (!s.known)
		svc_fail(c, RC_NOENT, "session not found");
	return rc == RC_OK && s.known;
}

static void
begin(struct gateway *g, struct svc_call *c, const struct follow_opts *o)
{
	struct watcher *w = mem_zalloc(sizeof(*w));
	struct follow_opts with = *o;
	enum rc rc;

	w->g = g;
	w->c = c;
	with.arg = w;
	rc = follow_open(g->follows, &with, &w->f);
	if (rc != RC_OK) {
		free(w);
		gateway_fail_bus(c, rc);
		return;
	}
	TAILQ_INSERT_TAIL(&g->watchers, w, link);
	metric_change(g->watching, 1);
	if (svc_stream(c) != RC_OK || svc_call_on_gone(c, on_gone, w) != RC_OK)
		on_gone(w);
	else
		follow_begin(w->f);
}

void
on_events(void *app, struct svc_call *c)
{
	struct gateway *g = app;
	struct follow_opts o = { .fn = on_event, .ready = is_ready };

	if (!gateway_stream_begin(g, c))
		return;
	if (read_request(g, c, &o.key, &o.after) &&
	    find_start(g, c, &o.key, &o.after))
		begin(g, c, &o);
}
