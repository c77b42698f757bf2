/*
 * The list in order of beginning, which action begins a phase and which event
 * ends it, and the export as spans.
 */
#include "turn/turn_timeline.h"

#include <stdlib.h>
#include <string.h>

#include "context.h"
#include "core/clock.h"
#include "core/mem.h"
#include "otlp/otlp.h"
#include "reply/reply_stream.h"
#include "svc/svc.h"
#include "turn/turn_runner.h"
#include "wire/wire.h"

#define GROW 8

const char *
timeline_name(enum timeline_kind kind)
{
	static const char *const names[] = {
		[TIMELINE_BEGIN] = "begin",
		[TIMELINE_QUEUE] = "queue",
		[TIMELINE_LOAD] = "load",
		[TIMELINE_EMOTION] = "emotion",
		[TIMELINE_INTENT] = "intent",
		[TIMELINE_MEMORY] = "memory",
		[TIMELINE_TOOLS] = "tools",
		[TIMELINE_ACT] = "act",
		[TIMELINE_COMPLETION] = "think",
		[TIMELINE_INVOKE] = "invoke",
		[TIMELINE_RECALL] = "recall",
		[TIMELINE_FORGET] = "forget",
		[TIMELINE_COMMIT] = "commit",
	};

	return names[kind];
}

/* The newest open phase; SIZE_MAX: with any key. */
static struct timeline_phase *
timeline_open(struct turn_timeline *t, enum timeline_kind kind, size_t key)
{
	for (size_t i = t->n; i > 0; i--) {
		struct timeline_phase *s = &t->list[i - 1];
		if (s->kind == kind && s->end.ns == 0 &&
		    (key == SIZE_MAX || s->key == key))
			return s;
	}
	return NULL;
}

void
timeline_begin(struct turn_timeline *t, const struct timeline_phase *s)
{
	if (t->n == TIMELINE_MAX || timeline_open(t, s->kind, s->key) != NULL)
		return;
	if (t->n == t->cap) {
		t->cap += GROW;
		t->list = mem_realloc(t->list, t->cap * sizeof(*t->list));
	}
	t->list[t->n++] = *s;
}

void
timeline_end(struct turn_timeline *t, enum timeline_kind kind, size_t key,
    const char *outcome, struct mono now)
{
	struct timeline_phase *s = timeline_open(t, kind, key);

	if (s == NULL)
		return;
	s->end = now;
	s->outcome = outcome;
}

void
timeline_first(
    struct turn_timeline *t, enum timeline_kind kind, struct mono now)
{
	struct timeline_phase *s = timeline_open(t, kind, SIZE_MAX);

	if (s != NULL && s->first.ns == 0)
		s->first = now;
}

void
timeline_close(struct turn_timeline *t, const char *outcome, struct mono now)
{
	for (size_t i = 0; i < t->n; i++) {
		if (t->list[i].end.ns != 0 ||
		    t->list[i].kind == TIMELINE_COMMIT)
			continue;
		t->list[i].end = now;
		t->list[i].outcome = outcome;
	}
}

size_t
timeline_count(const struct turn_timeline *t, enum timeline_kind kind)
{
	size_t n = 0;

	for (size_t i = 0; i < t->n; i++)
		n += t->list[i].kind == kind;
	return n;
}

int64_t
timeline_took_us(const struct turn_timeline *t, enum timeline_kind kind)
{
	for (size_t i = t->n; i > 0; i--) {
		const struct timeline_phase *s = &t->list[i - 1];
		if (s->kind == kind && s->end.ns != 0)
			return mono_diff_ns(s->end, s->begin) / 1000;
	}
	return 0;
}

double
timeline_ms(struct mono from, struct mono to)
{
	int64_t us = mono_diff_ns(to, from) / 1000;

	return us > 0 ? (double)us / 1000 : 0;
}

static void
timeline_item(const struct turn_timeline *t, const struct timeline_phase *s,
    struct wire_turn_record_timeline *out)
{
	*out = (struct wire_turn_record_timeline){
		.stage = str_of(timeline_name(s->kind)),
		.what = s->what,
		.start_ms = timeline_ms(t->start, s->begin),
		.ms = timeline_ms(s->begin, s->end),
		.has_ms = s->end.ns != 0,
		.first_ms = timeline_ms(s->begin, s->first),
		.has_first_ms = s->first.ns != 0,
		.outcome = str_of(s->outcome),
	};
}

struct wire_turn_record_timeline *
timeline_items(const struct turn_timeline *t, struct arena *a)
{
	struct wire_turn_record_timeline *list =
	    arena_alloc(a, t->n * sizeof(*list));

	for (size_t i = 0; list != NULL && i < t->n; i++)
		timeline_item(t, &t->list[i], &list[i]);
	return list;
}

enum rc
timeline_write(const struct turn_timeline *t, struct arena *a, struct buf *b)
{
	const struct wire_turn_record_timeline *list = timeline_items(t, a);
	enum rc rc = list != NULL ? RC_OK : RC_TOOBIG;

	buf_putc(b, '[');
	for (size_t i = 0; rc == RC_OK && i < t->n; i++) {
		if (i > 0)
			buf_putc(b, ',');
		rc = wire_encode(
		    &wire_turn_record_timeline_desc, &list[i], b, NULL);
	}
	buf_putc(b, ']');
	return rc == RC_OK ? buf_rc(b) : rc;
}

void
timeline_free(struct turn_timeline *t)
{
	free(t->list);
	t->list = NULL;
	t->n = t->cap = 0;
}

/* ---- phases of a run ---- */

static const char *
timeline_outcome_name(enum turn_outcome outcome)
{
	static const char *const names[TURN_OUTCOMES] = {
		[TURN_UNSENT] = "open",
		[TURN_SENT] = "sent",
		[TURN_OK] = "ok",
		[TURN_ERROR] = "error",
		[TURN_NOT_CONFIRMED] = "not_confirmed",
		[TURN_OFFLINE] = "offline",
		[TURN_NO_SUBSCRIBER] = "no_subscriber",
		[TURN_NO_TIME] = "late",
		[TURN_NO_MATCH] = "nothing_fits",
		[TURN_UNAPPROVED] = "asked",
	};

	return names[outcome] != NULL ? names[outcome] : "error";
}

static void
timeline_begin_now(
    struct turn_run *r, enum timeline_kind kind, size_t key, struct str what)
{
	timeline_begin(r->timeline,
	    &(struct timeline_phase){ .kind = kind,
		.key = key,
		.what = what,
		.begin = clock_mono() });
}

static struct str
timeline_number(struct turn_run *r)
{
	return arena_printf(
	    r->a, "%zu", timeline_count(r->timeline, TIMELINE_COMPLETION) + 1);
}

void
turn_trace_action(struct turn_run *r, const struct turn_action *a)
{
	static const struct {
		enum turn_action_kind action;
		enum timeline_kind phase;
	} phases[] = {
		{ TURN_DO_LOAD, TIMELINE_LOAD },
		{ TURN_DO_OBSERVE_EMOTION, TIMELINE_EMOTION },
		{ TURN_DO_CHECK_GATE, TIMELINE_EMOTION },
		{ TURN_DO_FILTER_INTENTS, TIMELINE_INTENT },
		{ TURN_DO_CHECK_MEMORY, TIMELINE_MEMORY },
		{ TURN_DO_LIST_TOOLS, TIMELINE_TOOLS },
		{ TURN_DO_SEND_INTENTS, TIMELINE_ACT },
		{ TURN_DO_COMMIT, TIMELINE_COMMIT },
	};
	const struct str none = { NULL, 0 };

	if (a->kind == TURN_DO_CALL_MODEL)
		timeline_begin_now(
		    r, TIMELINE_COMPLETION, 0, timeline_number(r));
	else if (a->kind == TURN_DO_INVOKE || a->kind == TURN_DO_SPEAK ||
	    a->kind == TURN_DO_CALL_TOOL || a->kind == TURN_DO_CALL_ALARM ||
	    a->kind == TURN_DO_READ_TOOL || a->kind == TURN_DO_FIND_TOOLS)
		timeline_begin_now(
		    r, TIMELINE_INVOKE, a->call, r->turn.calls[a->call].skill);
	else if (a->kind == TURN_DO_RECALL)
		timeline_begin_now(r, TIMELINE_RECALL, a->call, none);
	else if (a->kind == TURN_DO_FORGET)
		timeline_begin_now(r, TIMELINE_FORGET, a->call, none);
	for (size_t i = 0; i < NELEM(phases); i++) {
		if (phases[i].action == a->kind)
			timeline_begin_now(r, phases[i].phase, 0, none);
	}
}

static void
timeline_end_now(
    struct turn_run *r, enum timeline_kind kind, const char *outcome)
{
	timeline_end(r->timeline, kind, 0, outcome, clock_mono());
}

static const char *
timeline_error_name(const struct turn_event *e)
{
	return e->error.status != 0 ? e->error.code : "ok";
}

static void
timeline_end_call(struct turn_run *r, const struct turn_event *e)
{
	static const enum timeline_kind kinds[] = {
		[TURN_INVOKE] = TIMELINE_INVOKE,
		[TURN_RECALL] = TIMELINE_RECALL,
		[TURN_FORGET] = TIMELINE_FORGET,
		[TURN_PROVIDED] = TIMELINE_INVOKE,
		[TURN_ALARM] = TIMELINE_INVOKE,
		[TURN_MORE] = TIMELINE_INVOKE,
	};
	enum turn_call_kind kind = e->call < r->turn.n_calls
	    ? r->turn.calls[e->call].kind
	    : TURN_INVOKE;

	timeline_end(r->timeline, kinds[kind], e->call,
	    timeline_outcome_name(e->outcome), clock_mono());
	if (kind == TURN_RECALL && e->outcome != TURN_OK)
		reply_stream_warn(r, "MEMORY_SEARCH_FAILED",
		    "the memories could not be searched");
	if (kind == TURN_FORGET &&
	    (e->outcome == TURN_ERROR || e->outcome == TURN_NOT_CONFIRMED))
		reply_stream_warn(r, "MEMORY_FORGET_FAILED",
		    "a memory could not be forgotten, or it is not known");
}

void
turn_trace_event(struct turn_run *r, const struct turn_event *e)
{
	switch (e->kind) {
	case TURN_POSITION:
		if (e->ahead == 0)
			timeline_end_now(r, TIMELINE_QUEUE, "ok");
		break;
	case TURN_LOADED:
		timeline_end_now(r, TIMELINE_QUEUE, timeline_error_name(e));
		timeline_end_now(r, TIMELINE_LOAD, timeline_error_name(e));
		break;
	case TURN_EMOTION_REPLY:
		timeline_end_now(
		    r, TIMELINE_EMOTION, e->known ? "ok" : "no_answer");
		if (!e->known)
			reply_stream_warn(r, "EMOTION_UNKNOWN",
			    "emotion-engine did not answer");
		break;
	case TURN_INTENT_REPLY:
		timeline_end_now(
		    r, TIMELINE_INTENT, e->known ? "ok" : "no_answer");
		if (!e->known)
			reply_stream_warn(r, "INTENTS_UNKNOWN",
			    "intent-filter did not answer");
		break;
	case TURN_MEMORY_REPLY:
		timeline_end_now(
		    r, TIMELINE_MEMORY, e->known ? "ok" : "not_ready");
		break;
	case TURN_TOOLS_REPLY:
		timeline_end_now(
		    r, TIMELINE_TOOLS, r->lists_missing ? "no_answer" : "ok");
		break;
	case TURN_INTENT_RESULT:
		timeline_end_now(
		    r, TIMELINE_ACT, timeline_outcome_name(e->outcome));
		break;
	case TURN_COMPLETION:
		timeline_end_now(
		    r, TIMELINE_COMPLETION, timeline_error_name(e));
		break;
	case TURN_COMMITTED:
		timeline_end_now(r, TIMELINE_COMMIT, timeline_error_name(e));
		break;
	case TURN_CALL_RESULT:
		timeline_end_call(r, e);
		break;
	default:
		break;
	}
	r->model_last = e->kind == TURN_COMPLETION;
}

void
turn_trace_first_token(struct turn_run *r)
{
	timeline_first(r->timeline, TIMELINE_COMPLETION, clock_mono());
}

/* ---- spans ---- */

void
turn_trace_begin(struct turn_run *r)
{
	r->timeline = mem_zalloc(sizeof(*r->timeline));
	r->timeline->start = r->start;
	if (otlp_wants(r->o->otlp, &r->trace))
		trace_child(&r->trace, &r->trace);
}

static void
timeline_emit_span(struct turn_run *r, const struct timeline_phase *s)
{
	struct otlp *o = r->o->otlp;
	struct otlp_attr attrs[] = { OTLP_S("soul.what", s->what),
		OTLP_S("soul.outcome", str_of(s->outcome)),
		OTLP_I(
		    "soul.first_us", mono_diff_ns(s->first, s->begin) / 1000) };
	bool failed = s->outcome != NULL && strcmp(s->outcome, "ok") != 0;
	struct otlp_span span = { .parent = r->trace.span_id,
		.name = str_of(timeline_name(s->kind)),
		.kind = s->kind == TIMELINE_COMPLETION ? OTLP_CLIENT
						       : OTLP_INTERNAL,
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
turn_trace_end(struct turn_run *r, const char *error)
{
	const struct trace *caller = svc_call_trace(r->c);
	struct otlp *o = r->o->otlp;
	struct otlp_attr id = OTLP_S("soul.turn_id", r->slot.turn_id);
	struct otlp_span span = { .trace = &r->trace,
		.parent = caller->span_id,
		.name = STR("turn"),
		.kind = OTLP_SERVER,
		.start_ns = otlp_unix_ns(o, r->timeline->start),
		.end_ns = otlp_unix_ns(o, clock_mono()),
		.status = error != NULL ? OTLP_ERROR : OTLP_UNSET,
		.error = str_of(error),
		.attrs = &id,
		.nattrs = 1 };

	if (!otlp_wants(o, &r->trace))
		return;
	otlp_span(o, &span);
	timeline_close(r->timeline, "stopped", clock_mono());
	timeline_end_now(r, TIMELINE_COMMIT, "stopped");
	for (size_t i = 0; i < r->timeline->n; i++)
		timeline_emit_span(r, &r->timeline->list[i]);
}

void
turn_trace_free(struct turn_run *r)
{
	timeline_free(r->timeline);
	free(r->timeline);
}
