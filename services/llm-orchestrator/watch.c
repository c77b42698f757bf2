/*
 * Which action begins a stage, and which event ends it.
 */
#include "watch.h"

#include "core/clock.h"
#include "core/mem.h"
#include "run.h"
#include "stream.h"
#include "timeline.h"

static const char *
outcome_name(enum turn_outcome outcome)
{
	static const char *const names[TURN_OUTCOMES] = {
		[TURN_OPEN] = "open",
		[TURN_SENT] = "sent",
		[TURN_OK] = "ok",
		[TURN_ERROR] = "error",
		[TURN_NOT_CONFIRMED] = "not_confirmed",
		[TURN_OFFLINE] = "offline",
		[TURN_UNHEARD] = "no_subscriber",
		[TURN_LATE] = "late",
		[TURN_NOTHING] = "nothing_fits",
	};

	return names[outcome] != NULL ? names[outcome] : "error";
}

static void
begin(struct run *r, enum timeline_kind kind, size_t key, struct str what)
{
	timeline_begin(&r->timeline,
	    &(struct timeline_stage){ .kind = kind,
		.key = key,
		.what = what,
		.begin = clock_mono() });
}

static struct str
number(struct run *r)
{
	return arena_printf(
	    r->a, "%zu", timeline_count(&r->timeline, TIMELINE_THINK) + 1);
}

void
watch_action(struct run *r, const struct turn_action *a)
{
	static const struct {
		enum turn_action_kind action;
		enum timeline_kind stage;
	} rows[] = {
		{ TURN_DO_LOAD, TIMELINE_LOAD },
		{ TURN_DO_FEEL, TIMELINE_EMOTION },
		{ TURN_DO_FILTER, TIMELINE_INTENT },
		{ TURN_DO_ASK_MEMORY, TIMELINE_MEMORY },
		{ TURN_DO_ACT, TIMELINE_ACT },
		{ TURN_DO_STORE, TIMELINE_STORE },
	};
	const struct str none = { NULL, 0 };

	if (a->kind == TURN_DO_THINK)
		begin(r, TIMELINE_THINK, 0, number(r));
	else if (a->kind == TURN_DO_INVOKE)
		begin(
		    r, TIMELINE_INVOKE, a->deed, r->turn.deeds[a->deed].skill);
	else if (a->kind == TURN_DO_RECALL)
		begin(r, TIMELINE_RECALL, a->deed, none);
	else if (a->kind == TURN_DO_FORGET)
		begin(r, TIMELINE_FORGET, a->deed, none);
	for (size_t i = 0; i < NELEM(rows); i++) {
		if (rows[i].action == a->kind)
			begin(r, rows[i].stage, 0, none);
	}
}

static void
end(struct run *r, enum timeline_kind kind, const char *outcome)
{
	timeline_end(&r->timeline, kind, 0, outcome, clock_mono());
}

static const char *
fault_name(const struct turn_event *e)
{
	return e->fault.status != 0 ? e->fault.code : "ok";
}

static void
result(struct run *r, const struct turn_event *e)
{
	static const enum timeline_kind stages[] = {
		[TURN_INVOKE] = TIMELINE_INVOKE,
		[TURN_RECALL] = TIMELINE_RECALL,
		[TURN_FORGET] = TIMELINE_FORGET,
	};
	enum turn_kind kind = e->deed < r->turn.n_deeds
	    ? r->turn.deeds[e->deed].kind
	    : TURN_INVOKE;

	timeline_end(&r->timeline, stages[kind], e->deed,
	    outcome_name(e->outcome), clock_mono());
	if (kind == TURN_RECALL && e->outcome != TURN_OK)
		stream_warn(r, "MEMORY_SEARCH_FAILED",
		    "the memories could not be searched");
	if (kind == TURN_FORGET &&
	    (e->outcome == TURN_ERROR || e->outcome == TURN_NOT_CONFIRMED))
		stream_warn(r, "MEMORY_FORGET_FAILED",
		    "a memory could not be forgotten, or nobody knows");
}

void
watch_event(struct run *r, const struct turn_event *e)
{
	switch (e->kind) {
	case TURN_PLACED:
		if (e->ahead == 0)
			end(r, TIMELINE_QUEUE, "ok");
		break;
	case TURN_LOADED:
		end(r, TIMELINE_QUEUE, fault_name(e));
		end(r, TIMELINE_LOAD, fault_name(e));
		break;
	case TURN_FELT:
		end(r, TIMELINE_EMOTION, e->known ? "ok" : "no_answer");
		if (!e->known)
			stream_warn(r, "EMOTION_UNKNOWN",
			    "emotion-engine did not answer");
		break;
	case TURN_FILTERED:
		end(r, TIMELINE_INTENT, e->known ? "ok" : "no_answer");
		if (!e->known)
			stream_warn(r, "INTENTS_UNKNOWN",
			    "intent-filter did not answer");
		break;
	case TURN_REMEMBERS:
		end(r, TIMELINE_MEMORY, e->known ? "ok" : "not_ready");
		break;
	case TURN_ACTED:
		end(r, TIMELINE_ACT, outcome_name(e->outcome));
		break;
	case TURN_ANSWERED:
		end(r, TIMELINE_THINK, fault_name(e));
		break;
	case TURN_RESULT:
		result(r, e);
		break;
	default:
		break;
	}
	r->engine = e->kind == TURN_ANSWERED;
}

void
watch_first(struct run *r)
{
	timeline_first(&r->timeline, TIMELINE_THINK, clock_mono());
}
