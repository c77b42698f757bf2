/*
 * Splitting keywords into verb and object, and finding the verb of an object.
 */
#include "core/mem.h"
#include "text/utterance.h"

/* The shortest object of a verb, in bytes: one ideograph. */
#define OBJECT_MIN 3
/* Most bytes between a verb and its object. */
#define DISTANCE_MAX 18
/* The lead byte of the first ideographs in UTF-8. */
#define HAN_LEAST 0xe4

/* A verb at either end of a keyword. */
struct verb {
	struct str text;
	const char *value; /* NULL: not an action */
};

static bool
verb_object_verb_at(struct str text, struct verb *out)
{
	size_t n = vocabulary_prefix(
	    text, 1UL << WORD_ACTION | 1UL << WORD_VERB, &out->value);

	out->text = (struct str){ text.p, n };
	return n > 0 &&
	    (out->value == NULL ||
		(strcmp(out->value, "stop") != 0 &&
		    strcmp(out->value, "remind") != 0 &&
		    strcmp(out->value, "memo") != 0));
}

/* "打开风扇", "灯打开": split into verb and object. */
static bool
verb_object_split_text(struct str folded, struct verb *verb, struct str *object)
{
	size_t pos = 0;

	if (verb_object_verb_at(folded, verb)) {
		*object = (struct str){ folded.p + verb->text.n,
			folded.n - verb->text.n };
		return true;
	}
	while (str_utf8_next(folded, &pos) >= 0 && pos < folded.n) {
		struct str rest = { folded.p + pos, folded.n - pos };

		if (verb_object_verb_at(rest, verb) && verb->text.n == rest.n) {
			*object = (struct str){ folded.p, pos };
			return true;
		}
	}
	return false;
}

/* The object of "把灯", "个闹钟", "一首歌". */
static struct str
verb_object_strip_counter(struct str s)
{
	static const struct str before[] = { STR_INIT("把"), STR_INIT("一"),
		STR_INIT("个"), STR_INIT("首"), STR_INIT("点"), STR_INIT("下"),
		STR_INIT("段") };
	size_t i;

	for (i = 0; i < NELEM(before); i++) {
		if (str_starts(s, before[i]))
			s = (struct str){ s.p + before[i].n,
				s.n - before[i].n };
	}
	return s;
}

bool
verb_object_split(struct str folded, struct str *verb, struct str *object)
{
	struct verb v, other;

	if (folded.n == 0 || (unsigned char)folded.p[0] < HAN_LEAST ||
	    !verb_object_split_text(folded, &v, object))
		return false;
	*object = verb_object_strip_counter(*object);
	*verb = v.value != NULL ? str_of(v.value) : v.text;
	return object->n >= OBJECT_MIN &&
	    (v.value != NULL || object->n >= 2 * OBJECT_MIN) &&
	    !verb_object_verb_at(*object, &other);
}

static bool
verb_object_is_verb(
    const struct utterance *u, const struct word_hit *w, struct str verb)
{
	if (w->value != NULL &&
	    (w->kind == WORD_ACTION || w->kind == WORD_VERB))
		return str_eq(str_of(w->value), verb);
	return w->kind == WORD_VERB &&
	    str_eq(
		(struct str){ u->cmd.folded.p + w->start, w->end - w->start },
		verb);
}

/* "门" of "门口的灯" is not an object of 开. */
static bool
verb_object_is_object(const struct utterance *u, const struct segment *g,
    const struct text_span *h)
{
	struct str after = { u->cmd.folded.p + h->end, g->end - h->end };
	size_t i;

	if (utterance_is_part_of_name(u, h->start, h->end))
		return false;
	if (h->end - h->start > OBJECT_MIN || after.n == 0 ||
	    str_starts(after, STR("给")))
		return true;
	for (i = 0; i < u->n_words && u->words[i].start <= h->end; i++) {
		if (u->words[i].start == h->end)
			return true;
	}
	return false;
}

/* The bytes of [from, to) that are not times. */
static size_t
verb_object_distance(const struct utterance *u, size_t from, size_t to)
{
	size_t i, n = to - from;

	for (i = 0; i < u->n_times && u->times[i].start < to; i++) {
		if (u->times[i].start >= from && u->times[i].end <= to)
			n -= u->times[i].end - u->times[i].start;
	}
	return n;
}

const struct word_hit *
verb_object_find_verb(const struct utterance *u, const struct segment *g,
    const struct text_span *h, struct str verb)
{
	const struct word_hit *best = NULL;
	size_t i, distance, nearest = DISTANCE_MAX + 1;

	if (!verb_object_is_object(u, g, h))
		return NULL;
	for (i = 0; i < u->n_words && u->words[i].start < g->end; i++) {
		const struct word_hit *w = &u->words[i];

		if (w->start < g->start || !verb_object_is_verb(u, w, verb))
			continue;
		if (w->end <= h->start)
			distance = verb_object_distance(u, w->end, h->start);
		else if (w->start >= h->end)
			distance = verb_object_distance(u, h->end, w->start);
		else
			continue;
		if (distance < nearest) {
			nearest = distance;
			best = w;
		}
	}
	return best;
}
