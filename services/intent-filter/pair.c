/*
 * Taking keywords apart, and finding the parts again.
 */
#include "pair.h"

#include "core/mem.h"

/* The shortest object of a verb, in bytes: one ideograph. */
#define OBJECT_MIN 3
/* Most bytes between a keyword's verb and its object. */
#define GAP_MAX 18
/* The first byte of the first ideographs in UTF-8. */
#define HAN_LEAST 0xe4

/* A verb at either end of a keyword. */
struct verb {
	struct str text;
	const char *value; /* NULL: no action */
};

static bool
verb_at(struct str text, struct verb *out)
{
	size_t n = speech_begins(
	    text, 1UL << SPEECH_ACTION | 1UL << SPEECH_VERB, &out->value);

	out->text = (struct str){ text.p, n };
	return n > 0 &&
	    (out->value == NULL ||
		(strcmp(out->value, "stop") != 0 &&
		    strcmp(out->value, "remind") != 0 &&
		    strcmp(out->value, "memo") != 0));
}

/* "打开风扇", "灯打开": split into verb and object. */
static bool
split_pair(struct str folded, struct verb *verb, struct str *object)
{
	size_t pos = 0;

	if (verb_at(folded, verb)) {
		*object = (struct str){ folded.p + verb->text.n,
			folded.n - verb->text.n };
		return true;
	}
	while (str_utf8_next(folded, &pos) >= 0 && pos < folded.n) {
		struct str rest = { folded.p + pos, folded.n - pos };

		if (verb_at(rest, verb) && verb->text.n == rest.n) {
			*object = (struct str){ folded.p, pos };
			return true;
		}
	}
	return false;
}

/* The object of "把灯", "个闹钟", "一首歌". */
static struct str
without_counter(struct str s)
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
pair_split(struct str folded, struct str *verb, struct str *object)
{
	struct verb v, other;

	if (folded.n == 0 || (unsigned char)folded.p[0] < HAN_LEAST ||
	    !split_pair(folded, &v, object))
		return false;
	*object = without_counter(*object);
	*verb = v.value != NULL ? str_of(v.value) : v.text;
	return object->n >= OBJECT_MIN &&
	    (v.value != NULL || object->n >= 2 * OBJECT_MIN) &&
	    !verb_at(*object, &other);
}

static bool
is_verb_of(const struct reading *r, const struct speech_hit *w, struct str verb)
{
	if (w->value != NULL &&
	    (w->kind == SPEECH_ACTION || w->kind == SPEECH_VERB))
		return str_eq(str_of(w->value), verb);
	return w->kind == SPEECH_VERB &&
	    str_eq(
		(struct str){ r->cmd.folded.p + w->start, w->end - w->start },
		verb);
}

/* "门" of "门口的灯" is no object of 开. */
static bool
is_object(const struct reading *r, const struct segment *g,
    const struct reading_span *h)
{
	struct str after = { r->cmd.folded.p + h->end, g->end - h->end };
	size_t i;

	if (reading_is_named(r, h->start, h->end))
		return false;
	if (h->end - h->start > OBJECT_MIN || after.n == 0 ||
	    str_starts(after, STR("给")))
		return true;
	for (i = 0; i < r->n_words && r->words[i].start <= h->end; i++) {
		if (r->words[i].start == h->end)
			return true;
	}
	return false;
}

/* The bytes of [from, to) that are no time. */
static size_t
gap_of(const struct reading *r, size_t from, size_t to)
{
	size_t i, n = to - from;

	for (i = 0; i < r->n_times && r->times[i].start < to; i++) {
		if (r->times[i].start >= from && r->times[i].end <= to)
			n -= r->times[i].end - r->times[i].start;
	}
	return n;
}

const struct speech_hit *
pair_verb(const struct reading *r, const struct segment *g,
    const struct reading_span *h, struct str verb)
{
	const struct speech_hit *best = NULL;
	size_t i, gap, least = GAP_MAX + 1;

	if (!is_object(r, g, h))
		return NULL;
	for (i = 0; i < r->n_words && r->words[i].start < g->end; i++) {
		const struct speech_hit *w = &r->words[i];

		if (w->start < g->start || !is_verb_of(r, w, verb))
			continue;
		if (w->end <= h->start)
			gap = gap_of(r, w->end, h->start);
		else if (w->start >= h->end)
			gap = gap_of(r, h->end, w->start);
		else
			continue;
		if (gap < least) {
			least = gap;
			best = w;
		}
	}
	return best;
}
