/*
 * utterance: what a command contains independent of any catalog: words, times,
 * quotations, entities, segments.
 */
#ifndef INTENT_FILTER_TEXT_UTTERANCE_H
#define INTENT_FILTER_TEXT_UTTERANCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/arena.h"
#include "core/buf.h"
#include "text/command_text.h"
#include "text/vocabulary.h"
#include "zh/datetime.h"

/* More of these are ignored. */
#define UTTERANCE_WORDS_MAX  1024
#define UTTERANCE_TIMES_MAX  64
#define UTTERANCE_QUOTES_MAX 16

/* Datetime expressions below this confidence are ignored. */
#define UTTERANCE_TIME_CONFIDENCE .5

struct text_span {
	size_t start, end; /* bytes */
};

struct utterance {
	struct command cmd;
	struct normalized_text normalized;
	struct wall now;
	const struct zone *zone;
	struct word_hit *words;                        /* by start */
	struct datetime *times;                        /* by start */
	struct text_span quotes[UTTERANCE_QUOTES_MAX]; /* with their marks */
	size_t n_words, n_times, n_quotes;
	int offset_min; /* of the zone now, minutes east of UTC */
	/* Phrases of the catalog that are longer than one character. */
	struct text_span *names;
	size_t n_names;
	/* The objects of its phrases: 风扇 of 打开风扇. */
	struct text_span *things;
	size_t n_things;
	bool uses_times; /* whether times are entities and fill slots */
};

/*
 * utterance_parse(u, now, v, a):
 * Parse u->cmd.  RC_TOOBIG if a is full.  Unless it sets *now.is_used, u has no
 * times, and only for a time of u is the reference time read later.
 */
enum rc utterance_parse(struct utterance *u, struct datetime_now now,
    const struct vocabulary *v, struct arena *a) RC_CHECK;

/* utterance_points(s, n): Code points in the first n bytes. */
int64_t utterance_points(struct str s, size_t n);

/* utterance_time_at(u, start, end): The first time that overlaps, or NULL. */
const struct datetime *utterance_time_at(
    const struct utterance *u, size_t start, size_t end);

/*
 * utterance_time_includes_now(u, t):
 * Whether t includes the present and has no explicit end: 今天, 现在.
 */
bool utterance_time_includes_now(
    const struct utterance *u, const struct datetime *t);

/* utterance_time_is_today(u, t): Whether t ends today or later. */
bool utterance_time_is_today(
    const struct utterance *u, const struct datetime *t);

/* utterance_is_quoted(u, at): Whether byte at is inside a quotation. */
bool utterance_is_quoted(const struct utterance *u, size_t at);

/*
 * utterance_is_part_of_name(u, start, end):
 * Whether a phrase of the catalog covers these bytes and more.
 */
bool utterance_is_part_of_name(
    const struct utterance *u, size_t start, size_t end);

/* utterance_verb_at(u, at): Whether a verb of action begins at byte at. */
bool utterance_verb_at(const struct utterance *u, size_t at);

/*
 * utterance_share(u, start, end, spans, n):
 * The share (0 to 1) of the content of [start, end) that the n spans cover.
 * Times, fillers and punctuation are not content; 0 if there is none.
 */
double utterance_share(const struct utterance *u, size_t start, size_t end,
    const struct text_span *spans, size_t n);

/* utterance_rest(u, start, end, spans, n): The bytes of it that they leave. */
size_t utterance_rest(const struct utterance *u, size_t start, size_t end,
    const struct text_span *spans, size_t n);

/* utterance_has_content(u, start, end): Whether [start, end) has content. */
bool utterance_has_content(const struct utterance *u, size_t start, size_t end);

/*
 * utterance_core(u, start, end, a):
 * [start, end) without its fillers and days, as examples are compared; all of
 * it if nothing else is in it, or if a is full.
 */
struct str utterance_core(
    const struct utterance *u, size_t start, size_t end, struct arena *a);

/* ---- entities ---- */

/* action, device, room, color, time_duration or time_time_point. */
struct entity {
	const char *type;
	size_t start, end;           /* bytes of the command */
	const char *value;           /* normalized; NULL of a time */
	const struct datetime *time; /* NULL of others */
};

/*
 * entity_next(u, from, end, type, out):
 * The first entity of that type (absent: any) that starts in [from, end).
 */
bool entity_next(const struct utterance *u, size_t from, size_t end,
    struct str type, struct entity *out);

/* entity_is_duration(t): Whether t is a duration, or counted from now. */
bool entity_is_duration(const struct datetime *t);

/*
 * entity_list(u, b):
 * Append all of them as a JSON array for people: type, text, start, end (code
 * points) and value.
 */
void entity_list(const struct utterance *u, struct buf *b);

/* ---- segments ---- */

/* A longer command has its rest in the last segment. */
#define SEGMENT_MAX 64

struct segment {
	size_t start, end; /* bytes of command.text */
	size_t sentence;   /* segments of one sentence have the same number */
	bool is_question;  /* a question mark ends it */
	bool is_retracted; /* the user took it back: 开灯，不对 */
	/*
	 * What it refers to: the segment that names the thing
	 * (灯太亮了，关掉它), or the retracted request that it amends
	 * (26度，不，24度).
	 */
	struct text_span carried;
	bool amends;
};

/*
 * segment_split(u, dst):
 * Split a command at conjunctions and sentence punctuation, so that each
 * segment is one request; never inside a number, a time, a quotation or a word.
 * Connectors and empty segments are dropped.  A segment that is only a time is
 * joined to its neighbor.
 */
size_t segment_split(
    const struct utterance *u, struct segment dst[SEGMENT_MAX]);

/*
 * segment_refer(u, g, n):
 * Find what segments refer to (carried, amends), and retract those that a
 * later prohibition takes back (关窗帘，先别关).
 */
void segment_refer(const struct utterance *u, struct segment *g, size_t n);

/* segment_has_content(u, g): Whether g is more than fillers and times. */
bool segment_has_content(const struct utterance *u, const struct segment *g);

/* segment_contains(g, w): Whether the word is in the segment. */
bool segment_contains(const struct segment *g, const struct word_hit *w);

/* ---- verb and object of a keyword ---- */

/*
 * verb_object_split(folded, verb, object):
 * Split a keyword: 打开风扇, which users also phrase as 把风扇开一下 and
 * 开客厅的风扇.  false if it is not a verb with an object.  *verb is the verb's
 * value ("open"), or its own text.
 */
bool verb_object_split(struct str folded, struct str *verb, struct str *object);

/*
 * verb_object_find_verb(u, g, object, verb):
 * The nearest word in segment g that means verb; NULL if there is none near the
 * object, or if the object is only a part of another word.
 */
const struct word_hit *verb_object_find_verb(const struct utterance *u,
    const struct segment *g, const struct text_span *object, struct str verb);

#endif /* !INTENT_FILTER_TEXT_UTTERANCE_H */
