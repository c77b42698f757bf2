/*
 * Made of the timeline when the turn has ended.
 */
#include "spans.h"

#include <string.h>

#include "core/mem.h"
#include "orch.h"
#include "otlp/otlp.h"
#include "run.h"
#include "svc/svc.h"
#include "timeline.h"

void
spans_begin(struct run *r)
{
	r->trace = *svc_call_trace(r->c);
	if (otlp_wants(r->o->otlp, &r->trace))
		trace_child(&r->trace, &r->trace);
}

static void
stage(struct run *r, const struct timeline_stage *s)
{
	struct otlp *o = r->o->otlp;
	struct otlp_attr attrs[] = { OTLP_S("soul.what", s->what),
		OTLP_S("soul.outcome", str_of(s->outcome)),
		OTLP_I(
		    "soul.first_us", mono_diff_ns(s->first, s->begin) / 1000) };
	bool failed = s->outcome != NULL && strcmp(s->outcome, "ok") != 0;
	struct otlp_span span = { .parent = r->trace.span_id,
		.name = str_of(timeline_name(s->kind)),
		.kind = s->kind == TIMELINE_THINK ? OTLP_CLIENT : OTLP_INTERNAL,
		.start_ns = otlp_unix_ns(o, s->begin),
		.end_ns = otlp_unix_ns(o, s->end),
		.status = failed ? OTLP_ERROR : OTLP_UNSET,
		.error = failed ? str_of(s->outcome) : (struct str){ 0 },
		.attrs = attrs,
		.nattrs = NELEM(attrs) - (s->first.ns == 0) };
	struct trace t;

	trace_child(&r->trace, &t);
	span.trace = &t;
	otlp_span(o, &span);
}

void
spans_end(struct run *r, const char *error)
{
	const struct trace *caller = svc_call_trace(r->c);
	struct otlp *o = r->o->otlp;
	struct otlp_attr id = OTLP_S("soul.turn_id", r->place.turn_id);
	struct otlp_span span = { .trace = &r->trace,
		.parent = caller->span_id,
		.name = STR("turn"),
		.kind = OTLP_SERVER,
		.start_ns = otlp_unix_ns(o, r->timeline.start),
		.end_ns = otlp_unix_ns(o, clock_mono()),
		.status = error != NULL ? OTLP_ERROR : OTLP_UNSET,
		.error = str_of(error),
		.attrs = &id,
		.nattrs = 1 };

	if (!otlp_wants(o, &r->trace))
		return;
	otlp_span(o, &span);
	timeline_close(&r->timeline, "stopped", clock_mono());
	for (size_t i = 0; i < r->timeline.n; i++)
		stage(r, &r->timeline.list[i]);
}
