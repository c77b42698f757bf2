/*
 * timing: which times of a command an intent's slots took.  What is left was
 * said and would be dropped: the intent must not be carried out.
 */
#ifndef INTENT_FILTER_TIMING_H
#define INTENT_FILTER_TIMING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "clause.h"
#include "core/mem.h"
#include "reading.h"
#include "segment.h"

/* Pieces of a command that slots took and that are noted. */
#define TIMING_WORDS_MAX 32

/* Bit i of each set stands for the reading's times[i]. */
_Static_assert(READING_TIMES_MAX <= 64, "a set has a bit for each time");

struct timing {
	uint64_t taken;   /* whole, by slots that hold a time */
	uint64_t over;    /* of today, but over: a slot asks for another one */
	uint64_t refused; /* repetitions that a slot of one moment cannot say */
	/* What other slots took word for word. */
	struct reading_span words[TIMING_WORDS_MAX];
	size_t n_words;
};

/* timing_bit(r, t): The bit of one of the reading's times. */
uint64_t timing_bit(const struct reading *r, const struct datetime *t);

/* timing_note(s, start, end): That a slot took these bytes as they are. */
void timing_note(struct timing *s, size_t start, size_t end);

/*
 * timing_says_repeat(s, r, t):
 * Whether the words of a slot say that t is repeated: "daily" of 每天.
 */
bool timing_says_repeat(
    const struct timing *s, const struct reading *r, const struct datetime *t);

/*
 * timing_has_now(r, t):
 * Whether t goes on now and nothing is said of its end: 今天, 现在.  What is
 * done now is done then.
 */
bool timing_has_now(const struct reading *r, const struct datetime *t);

/* timing_is_today(r, t): Whether t ends today, or later. */
bool timing_is_today(const struct reading *r, const struct datetime *t);

/*
 * timing_left(s, r, g, claim):
 * The times of the segment that the claim's intent would drop.  Not among them
 * are what goes on now, what is quoted or part of a catalog's own words, and
 * what does not say when to act (刚才, 以后, 都十点了).
 */
uint64_t timing_left(const struct timing *s, const struct reading *r,
    const struct segment *g, const struct claim *claim);

#endif /* !INTENT_FILTER_TIMING_H */
