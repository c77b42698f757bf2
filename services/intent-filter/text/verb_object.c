/*
 * Splitting keywords into verb and object, and finding the verb of an object.
 */
#include "core/mem.h"
#include "text/utterance.h"

/* The shortest object of a verb, in bytes: one ideograph. */
#define OBJECT_MIN 3
/* Most bytes between a verb and its object. */
#define DISTANCE_MAX 18
/* The same in Latin text. */
#define DISTANCE_LATIN 32
/* The shortest object in Latin letters: "tv". */
#define OBJECT_LATIN_MIN 2
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
	return n > 0 && !vocabulary_is_noun(text, n) &&
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

static bool
verb_object_is_latin(struct str s)
{
	return s.n > 0 && s.p[0] >= 'a' && s.p[0] <= 'z';
}

/*
 * English verbs whose objects may stand before, after or between them.  "turn
 * on" and "open" are the same action of a lamp, but not of a door.
 */
static const struct {
	struct str text, verb;
} verb_object_english[] = {
	{ STR_INIT("turn on "), STR_INIT("turn on") },
	{ STR_INIT("switch on "), STR_INIT("turn on") },
	{ STR_INIT("turn off "), STR_INIT("turn off") },
	{ STR_INIT("switch off "), STR_INIT("turn off") },
	{ STR_INIT("shut off "), STR_INIT("turn off") },
	{ STR_INIT("open "), STR_INIT("open") },
	{ STR_INIT("close "), STR_INIT("close") },
	{ STR_INIT("shut "), STR_INIT("close") },
	{ STR_INIT("lock "), STR_INIT("lock") },
	{ STR_INIT("unlock "), STR_INIT("unlock") },
};

static bool
verb_object_split_english(
    struct str folded, struct str *verb, struct str *object)
{
	static const struct str articles[] = { STR_INIT("the "), STR_INIT("a "),
		STR_INIT("my ") };
	size_t i, k;

	for (i = 0; i < NELEM(verb_object_english); i++) {
		const struct str text = verb_object_english[i].text;

		if (!str_starts(folded, text))
			continue;
		*verb = verb_object_english[i].verb;
		*object = (struct str){ folded.p + text.n, folded.n - text.n };
		for (k = 0; k < NELEM(articles); k++) {
			if (!str_starts(*object, articles[k]))
				continue;
			object->p += articles[k].n;
			object->n -= articles[k].n;
		}
		return object->n >= OBJECT_LATIN_MIN;
	}
	return false;
}

bool
verb_object_split(struct str folded, struct str *verb, struct str *object)
{
	struct verb v, other;

	if (verb_object_is_latin(folded))
		return verb_object_split_english(folded, verb, object);
	if (folded.n == 0 || (unsigned char)folded.p[0] < HAN_LEAST ||
	    !verb_object_split_text(folded, &v, object))
		return false;
	*object = verb_object_strip_counter(*object);
	*verb = v.value != NULL ? str_of(v.value) : v.text;
	return object->n >= OBJECT_MIN &&
	    (v.value != NULL || object->n >= 2 * OBJECT_MIN) &&
	    !verb_object_verb_at(*object, &other);
}

/* Particles are found as verbs: "on" of "turn the light on". */
static bool
verb_object_is_english_verb(
    struct str text, const struct word_hit *w, struct str verb)
{
	bool opens, is_switch;

	if (w->value == NULL ||
	    (w->kind != WORD_ACTION && w->kind != WORD_VERB))
		return false;
	opens = strcmp(w->value, "open") == 0;
	is_switch = (opens || strcmp(w->value, "close") == 0) &&
	    !str_eq(text, STR("open")) && !str_eq(text, STR("close")) &&
	    !str_eq(text, STR("shut"));
	return is_switch
	    ? str_eq(verb, opens ? STR("turn on") : STR("turn off"))
	    : str_eq(verb, str_of(w->value));
}

/* "turn on the lamp near the fan": the object of another word. */
static bool
verb_object_is_apart(const struct utterance *u, size_t from, size_t to)
{
	static const struct str words[] = { STR_INIT(" in "), STR_INIT(" at "),
		STR_INIT(" near "), STR_INIT(" by "), STR_INIT(" under "),
		STR_INIT(" behind "), STR_INIT(" of "), STR_INIT(" for "),
		STR_INIT(" to "), STR_INIT(" with ") };
	struct str between = { u->cmd.folded.p + from, to - from };
	size_t i;

	for (i = 0; i < NELEM(words); i++) {
		if (str_find(between, words[i]) >= 0)
			return true;
	}
	return false;
}

/* Only the particles stand after the object: "turn the light on". */
static bool
verb_object_precedes(const struct utterance *u, const struct word_hit *w,
    const struct text_span *h)
{
	return w->end <= h->start ? !verb_object_is_apart(u, w->end, h->start)
				  : w->end - w->start <= STR("off").n;
}

static bool
verb_object_is_verb(
    const struct utterance *u, const struct word_hit *w, struct str verb)
{
	struct str text = { u->cmd.folded.p + w->start, w->end - w->start };

	if (verb_object_is_latin(verb) && verb_object_is_latin(text))
		return verb_object_is_english_verb(text, w, verb);
	if (w->value != NULL &&
	    (w->kind == WORD_ACTION || w->kind == WORD_VERB))
		return str_eq(str_of(w->value), verb);
	return w->kind == WORD_VERB && str_eq(text, verb);
}

/* "门" of "门口的灯" is not an object of 开. */
static bool
verb_object_is_object(const struct utterance *u, const struct segment *g,
    const struct text_span *h)
{
	static const struct str heads[] = { STR_INIT("遥控"), STR_INIT("开关"),
		STR_INIT("按钮"), STR_INIT("说明书"), STR_INIT("电费"),
		STR_INIT("维修"), STR_INIT("师傅"), STR_INIT("公司"),
		STR_INIT("广告"), STR_INIT("柜"), STR_INIT("罩"),
		STR_INIT("支架"), STR_INIT("插头"), STR_INIT("插座") };
	struct str after = { u->cmd.folded.p + h->end, g->end - h->end };
	size_t i;

	/* 灯 of "关灯，不，打开" is the object of both. */
	if (h->end > g->start && utterance_is_part_of_name(u, h->start, h->end))
		return false;
	/* 空调 of 空调遥控器 is not an object either. */
	for (i = 0; i < NELEM(heads); i++) {
		if (str_starts(after, heads[i]))
			return false;
	}
	if (verb_object_is_latin((struct str){ u->cmd.folded.p + h->start, 1 }))
		return true;
	if (h->end - h->start > OBJECT_MIN || after.n == 0 ||
	    h->end <= g->start || str_starts(after, STR("给")))
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
	bool is_latin = verb_object_is_latin(
	    (struct str){ u->cmd.folded.p + h->start, h->end - h->start });
	size_t i, distance,
	    nearest = (is_latin ? DISTANCE_LATIN : DISTANCE_MAX) + 1;

	if (!verb_object_is_object(u, g, h))
		return NULL;
	for (i = 0; i < u->n_words && u->words[i].start < g->end; i++) {
		const struct word_hit *w = &u->words[i];

		if (w->start < g->start || !verb_object_is_verb(u, w, verb))
			continue;
		if (h->end <= g->start)
			distance = 0; /* carried from before the segment */
		else if (is_latin && !verb_object_precedes(u, w, h))
			continue;
		else if (w->end <= h->start)
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
