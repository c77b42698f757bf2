/*
 * reading: what stands in a command, whatever body it is for: known words,
 * times, quotations.
 */
#ifndef INTENT_FILTER_READING_H
#define INTENT_FILTER_READING_H

#include <stdbool.h>
#include <stddef.h>

#include "command.h"
#include "core/arena.h"
#include "plain.h"
#include "speech.h"
#include "zh/datetime.h"

/* More of these are not read. */
#define READING_WORDS_MAX  1024
#define READING_TIMES_MAX  64
#define READING_QUOTES_MAX 16

struct quote {
	size_t start, end; /* bytes, the marks included */
};

struct reading_span {
	size_t start, end; /* bytes */
};

struct reading {
	struct command cmd;
	struct plain plain;
	struct wall now;
	const struct zone *zone;
	struct speech_hit *words; /* by start */
	struct datetime *times;   /* by start */
	struct quote quotes[READING_QUOTES_MAX];
	size_t n_words, n_times, n_quotes;
	int offset_min; /* of the zone now, minutes east of UTC */
	/* Words of the catalog that are longer than one character. */
	struct reading_span *names;
	size_t n_names;
	bool tells_times; /* whether times are entities and fill slots */
};

/*
 * reading_make(r, now, speech, a):
 * Find all of it in r->cmd.  RC_TOOBIG if a is full.
 */
enum rc reading_make(struct reading *r, struct datetime_now now,
    const struct speech *speech, struct arena *a) RC_CHECK;

/* reading_time_at(r, start, end): The first time that overlaps, or NULL. */
const struct datetime *reading_time_at(
    const struct reading *r, size_t start, size_t end);

/* reading_is_quoted(r, at): Whether the byte at stands in a quotation. */
bool reading_is_quoted(const struct reading *r, size_t at);

/*
 * reading_is_named(r, start, end):
 * Whether a word of the catalog has these bytes and more.
 */
bool reading_is_named(const struct reading *r, size_t start, size_t end);

/*
 * reading_share(r, start, end, spans, n):
 * Which share (0 to 1) of what is said in [start, end) the n spans take.
 * Times, fillers and punctuation do not count as said; 0 if nothing is.
 */
double reading_share(const struct reading *r, size_t start, size_t end,
    const struct reading_span *spans, size_t n);

/* reading_says(r, start, end): Whether anything is said in [start, end). */
bool reading_says(const struct reading *r, size_t start, size_t end);

/*
 * reading_core(r, start, end, a):
 * [start, end) without its fillers and days, as examples are compared; the
 * whole if it has nothing else, or if a is full.
 */
struct str reading_core(
    const struct reading *r, size_t start, size_t end, struct arena *a);

#endif /* !INTENT_FILTER_READING_H */
