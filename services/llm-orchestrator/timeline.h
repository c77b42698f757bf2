/*
 * timeline: where a turn's time went, stage by stage.
 *
 * Pure: moments are arguments.  One owner.
 */
#ifndef LLM_ORCHESTRATOR_TIMELINE_H
#define LLM_ORCHESTRATOR_TIMELINE_H

#include <stddef.h>

#include "core/arena.h"
#include "core/buf.h"
#include "core/clock.h"
#include "core/rc.h"
#include "core/str.h"
#include "wire/msgs.h"

/* Stages that are kept; what comes after them is left out. */
#define TIMELINE_MAX 128

enum timeline_kind {
	TIMELINE_QUEUE,
	TIMELINE_LOAD,
	TIMELINE_EMOTION,
	TIMELINE_INTENT,
	TIMELINE_MEMORY,
	TIMELINE_ACT,
	TIMELINE_THINK,
	TIMELINE_INVOKE,
	TIMELINE_RECALL,
	TIMELINE_FORGET,
	TIMELINE_STORE
};

struct timeline_stage {
	enum timeline_kind kind;
	size_t key;      /* tells those of one kind apart */
	struct str what; /* lives as long as the turn; absent: nothing */
	struct mono begin, end, first; /* never: not yet */
	const char *outcome;           /* "ok", or a word for what went wrong */
};

/* Zero-initialised, but for start; freed with timeline_free(). */
struct timeline {
	struct mono start; /* of the turn */
	struct timeline_stage *list;
	size_t n, cap;
};

/* timeline_name(kind): As turn_record has it. */
const char *timeline_name(enum timeline_kind kind);

/* timeline_begin(t, s): Stage s begins, unless it goes on already. */
void timeline_begin(struct timeline *t, const struct timeline_stage *s);

/*
 * timeline_end(t, kind, key, outcome, now): It ended, if it was going on.
 * timeline_first(t, kind, now): The first piece came of the one going on.
 * timeline_close(t, outcome, now): All that go on end.
 */
void timeline_end(struct timeline *t, enum timeline_kind kind, size_t key,
    const char *outcome, struct mono now);
void timeline_first(
    struct timeline *t, enum timeline_kind kind, struct mono now);
void timeline_close(struct timeline *t, const char *outcome, struct mono now);

/* timeline_count(t, kind): How many stages of that kind have begun. */
size_t timeline_count(const struct timeline *t, enum timeline_kind kind);

/* timeline_ms(from, to): A span as messages have it, to the microsecond. */
double timeline_ms(struct mono from, struct mono to);

/* timeline_items(t, a): t->n stages as a turn_record has them; NULL: a is
 * full. */
struct wire_turn_record_timeline *timeline_items(
    const struct timeline *t, struct arena *a);

/* timeline_write(t, a, b): Append them as JSON.  RC_TOOBIG: no room. */
enum rc timeline_write(
    const struct timeline *t, struct arena *a, struct buf *b) RC_CHECK;

/* timeline_free(t): Forget all. */
void timeline_free(struct timeline *t);

#endif /* !LLM_ORCHESTRATOR_TIMELINE_H */
