/*
 * turn_timeline: the phases of a turn with their times, for the turn's record
 * and as spans of its trace.
 *
 * The timeline_ functions are pure, with time as an argument; one owner.  The
 * turn_trace_ functions maintain the timeline of a run.
 */
#ifndef LLM_ORCHESTRATOR_TURN_TIMELINE_H
#define LLM_ORCHESTRATOR_TURN_TIMELINE_H

#include <stddef.h>
#include <stdint.h>

#include "core/arena.h"
#include "core/buf.h"
#include "core/clock.h"
#include "core/rc.h"
#include "core/str.h"
#include "wire/msgs.h"

struct turn_action;
struct turn_event;
struct turn_run;

/* Phases recorded; later ones are left out. */
#define TIMELINE_MAX 128

enum timeline_kind {
	TIMELINE_BEGIN,
	TIMELINE_QUEUE,
	TIMELINE_LOAD,
	TIMELINE_EMOTION,
	TIMELINE_INTENT,
	TIMELINE_MEMORY,
	TIMELINE_TOOLS,
	TIMELINE_ACT,
	TIMELINE_COMPLETION,
	TIMELINE_INVOKE,
	TIMELINE_RECALL,
	TIMELINE_FORGET,
	TIMELINE_COMMIT
};

struct timeline_phase {
	enum timeline_kind kind;
	size_t key;      /* distinguishes phases of one kind */
	struct str what; /* lives as long as the turn; absent: none */
	struct mono begin, end, first; /* 0: not yet */
	const char *outcome;           /* "ok", or what went wrong */
};

/* Zero-initialised but for start; freed with timeline_free(). */
struct turn_timeline {
	struct mono start; /* of the turn */
	struct timeline_phase *list;
	size_t n, cap;
};

/* timeline_name(kind): As turn_record has it. */
const char *timeline_name(enum timeline_kind kind);

/* timeline_begin(t, s): Begin phase s, unless the same one is open. */
void timeline_begin(struct turn_timeline *t, const struct timeline_phase *s);

/*
 * timeline_end(t, kind, key, outcome, now): End a phase, if it is open.
 * timeline_first(t, kind, now):  The open phase produced its first output.
 * timeline_close(t, outcome, now): End all open phases but that of the commit,
 *                                which ends after the timeline is stored.
 */
void timeline_end(struct turn_timeline *t, enum timeline_kind kind, size_t key,
    const char *outcome, struct mono now);
void timeline_first(
    struct turn_timeline *t, enum timeline_kind kind, struct mono now);
void timeline_close(
    struct turn_timeline *t, const char *outcome, struct mono now);

/* timeline_count(t, kind): Phases of that kind so far. */
size_t timeline_count(const struct turn_timeline *t, enum timeline_kind kind);

/* timeline_took_us(t, kind): Of its last phase, if that has ended; else 0. */
int64_t timeline_took_us(
    const struct turn_timeline *t, enum timeline_kind kind);

/* timeline_ms(from, to): Milliseconds, to the microsecond; not below 0. */
double timeline_ms(struct mono from, struct mono to);

/*
 * timeline_items(t, a): The t->n phases as turn_record has them; NULL: a is
 *                       full.
 * timeline_write(t, a, b): Append them as JSON.  RC_TOOBIG: no space.
 */
struct wire_turn_record_timeline *timeline_items(
    const struct turn_timeline *t, struct arena *a);
enum rc timeline_write(
    const struct turn_timeline *t, struct arena *a, struct buf *b) RC_CHECK;

/* timeline_free(t): Free the list. */
void timeline_free(struct turn_timeline *t);

/*
 * turn_trace_begin(r): Start the timeline, and the turn's span if the trace is
 *                      sampled; requests of the turn become its children.
 * turn_trace_end(r, error): Export the turn and its phases as spans; error is
 *                      NULL or a code.
 * turn_trace_free(r):  Free the timeline.
 */
void turn_trace_begin(struct turn_run *r);
void turn_trace_end(struct turn_run *r, const char *error);
void turn_trace_free(struct turn_run *r);

/*
 * turn_trace_action(r, a): Begin the phase of an action about to be executed.
 * turn_trace_event(r, e):  End the phase of an event about to be fed, and warn
 *                          subscribers of a peer that did not reply.
 * turn_trace_first_token(r): The model's first text arrived.
 */
void turn_trace_action(struct turn_run *r, const struct turn_action *a);
void turn_trace_event(struct turn_run *r, const struct turn_event *e);
void turn_trace_first_token(struct turn_run *r);

#endif /* !LLM_ORCHESTRATOR_TURN_TIMELINE_H */
