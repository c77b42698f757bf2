/*
 * The events of a run as server-sent events, which end with the run.
 */
#include <stdio.h>

#include "agui/agui_stream.h"
#include "core/arena.h"
#include "gateway.h"
#include "handlers.h"
#include "runs/run_call.h"
#include "runs/run_end.h"
#include "state/events.h"
#include "streams/event_stream.h"
#include "svc/svc.h"

/* A stream of a run that ended, for a client that has all of it. */
static void
run_events_end(struct svc_call *c)
{
	svc_stream_end(c, svc_sse_start(c));
}

static void
run_events_start(
    struct gateway *g, struct svc_call *c, struct event_stream_opts *o)
{
	struct run_record rec;
	int64_t last;

	if (!gateway_stream_begin(g, c) || !run_call_read(g, c, &rec) ||
	    !event_stream_cursor(c, &o->after))
		return;
	o->key.id = rec.run_id;
	if (o->after < 0)
		o->after = 0;
	last = o->key.kind == EVENTS_RUN ? rec.fcmp_last : rec.rasp_last;
	if (run_status_is_end(rec.status) && o->after >= last)
		run_events_end(c);
	else
		event_stream_start(g, c, o);
}

static bool
run_events_is_last(const struct fcmp_event *e)
{
	return fcmp_event_ends_run(e->type);
}

void
on_runs_events(void *app, struct svc_call *c)
{
	struct event_stream_opts o = { .key.kind = EVENTS_RUN,
		.send = gateway_stream_send,
		.ends = run_events_is_last };

	if (agui_stream_choose(c, &o.send))
		run_events_start(app, c, &o);
}

/* Where events have been removed there is one without a text. */
static enum rc
run_rasp_send(struct svc_call *c, const struct fcmp_event *e)
{
	static const struct str none = STR_INIT("{}");
	char id[STR_NUM_MAX];

	(void)str_num(e->seq, id);
	return svc_sse_send(c, e->json.p != NULL ? "run_event" : "events_gone",
	    id, e->json.p != NULL ? e->json : none);
}

static bool
run_rasp_is_last(const struct fcmp_event *e)
{
	return run_end_of_rasp(e->json);
}

void
on_runs_rasp(void *app, struct svc_call *c)
{
	struct event_stream_opts o = { .key.kind = EVENTS_RUN_RASP,
		.send = run_rasp_send,
		.ends = run_rasp_is_last };

	run_events_start(app, c, &o);
}
