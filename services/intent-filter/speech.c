/*
 * One automaton over all the words.
 */
#include "speech.h"

#include <stdlib.h>

#include "automaton.h"
#include "core/mem.h"
#include "speech_group.h"
#include "zh/hanzi.h"

#define WORD_MAX 64 /* bytes */
/* Hits before overlapping ones are thrown out. */
#define RAW_MAX 2048

struct speech {
	struct automaton *words; /* hits are indices into speech_groups */
};

static void
group_add(struct speech *s, const struct speech_group *g, uint32_t index)
{
	struct str rest = str_of(g->words), w;
	char text[WORD_MAX];
	size_t i;

	while (rest.p != NULL) {
		w = str_split(&rest, ' ');
		for (i = 0; i < w.n; i++)
			text[i] = w.p[i];
		for (i = 0; i < w.n; i++) {
			if (text[i] == '_')
				text[i] = ' ';
		}
		(void)hanzi_simplify(text, w.n);
		automaton_add(s->words, (struct str){ text, w.n }, index);
	}
}

struct speech *
speech_new(void)
{
	struct speech *s = mem_zalloc(sizeof(*s));
	uint32_t i;

	s->words = automaton_new();
	for (i = 0; i < speech_groups_n; i++)
		group_add(s, &speech_groups[i], i);
	automaton_build(s->words);
	return s;
}

void
speech_free(struct speech *s)
{
	if (s == NULL)
		return;
	automaton_free(s->words);
	free(s);
}

static bool
is_letter(char c)
{
	return c >= 'a' && c <= 'z';
}

bool
speech_is_word(struct str text, size_t start, size_t end)
{
	return !(start > 0 && is_letter(text.p[start]) &&
		   is_letter(text.p[start - 1])) &&
	    !(end < text.n && is_letter(text.p[end - 1]) &&
		is_letter(text.p[end]));
}

/* By start, the longer first. */
static int
hit_cmp(const void *pa, const void *pb)
{
	const struct automaton_hit *a = pa, *b = pb;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	return a->end > b->end ? -1 : a->end < b->end;
}

/* Of those that overlap the leftmost and longest of each kind. */
static size_t
leftmost_longest(struct automaton_hit *raw, size_t n, struct str text)
{
	size_t busy[SPEECH_KINDS] = { 0 };
	size_t i, kept = 0;

	for (i = 0; i < n; i++) {
		size_t *until = &busy[speech_groups[raw[i].word].kind];

		if (raw[i].start < *until ||
		    !speech_is_word(text, raw[i].start, raw[i].end))
			continue;
		*until = raw[i].end;
		raw[kept++] = raw[i];
	}
	return kept;
}

static bool
is_inside(const struct automaton_hit *a, const struct automaton_hit *whole)
{
	return a->start >= whole->start && a->end <= whole->end &&
	    (a->start != whole->start || a->end != whole->end);
}

/* "加湿器" names a thing, though 加湿 is a verb. */
static bool
is_noun(struct str text, const struct automaton_hit *h)
{
	static const struct str ends[] = { STR_INIT("器"), STR_INIT("机"),
		STR_INIT("仪"), STR_INIT("棒"), STR_INIT("键"), STR_INIT("员"),
		STR_INIT("师") };
	struct str after = { text.p + h->end, text.n - h->end };
	size_t i;

	if (str_starts(after, STR("机器")))
		return false;
	for (i = 0; i < NELEM(ends); i++) {
		if (str_starts(after, ends[i]))
			return true;
	}
	return false;
}

/* 不能 begins inside 能不能. */
static bool
forbids(enum speech_kind k)
{
	return k == SPEECH_NOT || k == SPEECH_NOT_DO;
}

/* "turn the light off": whether the verb of a particle stands before it. */
static bool
has_verb(struct str text, const struct speech_hit *hits, size_t n)
{
	static const struct str verbs[] = { STR_INIT("turn"),
		STR_INIT("switch") };
	struct str word;
	size_t i;

	while (n-- > 0) {
		if (hits[n].kind == SPEECH_JOINT || hits[n].kind == SPEECH_STOP)
			return false;
		word = (struct str){ text.p + hits[n].start,
			hits[n].end - hits[n].start };
		for (i = 0; i < NELEM(verbs); i++) {
			if (str_eq(word, verbs[i]))
				return true;
		}
	}
	return false;
}

size_t
speech_find(const struct speech *s, struct str folded, struct speech_hit *dst,
    size_t max)
{
	struct automaton_hit raw[RAW_MAX], whole = { 0 };
	size_t i, n, out = 0;

	n = automaton_scan(s->words, folded, raw, NELEM(raw));
	qsort(raw, n, sizeof(*raw), hit_cmp);
	n = leftmost_longest(raw, n, folded);
	for (i = 0; i < n && out < max; i++) {
		const struct speech_group *g = &speech_groups[raw[i].word];
		enum speech_kind kind = g->kind;

		if (is_inside(&raw[i], &whole) ||
		    (forbids(kind) && raw[i].start > whole.start &&
			raw[i].start < whole.end) ||
		    (kind == SPEECH_VERB && is_noun(folded, &raw[i])) ||
		    (kind == SPEECH_PARTICLE && !has_verb(folded, dst, out)))
			continue;
		if (kind == SPEECH_PARTICLE)
			kind = SPEECH_ACTION;
		if (g->kind == SPEECH_WHOLE)
			whole = raw[i];
		dst[out++] = (struct speech_hit){ raw[i].start, raw[i].end,
			kind, g->value };
	}
	return out;
}

/* Whether text begins with word, whose "_" are blanks. */
static bool
begins(struct str text, struct str word)
{
	size_t i;

	if (word.n == 0 || word.n > text.n)
		return false;
	for (i = 0; i < word.n; i++) {
		if (text.p[i] != (word.p[i] == '_' ? ' ' : word.p[i]))
			return false;
	}
	return speech_is_word(text, 0, word.n);
}

size_t
speech_begins(struct str text, unsigned long kinds, const char **value)
{
	size_t i, longest = 0;

	*value = NULL;
	for (i = 0; i < speech_groups_n; i++) {
		const struct speech_group *g = &speech_groups[i];
		struct str rest = str_of(g->words), w;

		if ((kinds & 1UL << g->kind) == 0)
			continue;
		while (rest.p != NULL) {
			w = str_split(&rest, ' ');
			if (w.n > longest && begins(text, w)) {
				longest = w.n;
				*value = g->value;
			}
		}
	}
	return longest;
}

struct str
speech_core(struct str folded, struct arena *a)
{
	char *p = arena_alloc(a, folded.n + 1);
	const char *value;
	size_t i, n = 0, next;

	for (i = 0; p != NULL && i < folded.n; i = next) {
		struct str rest = { folded.p + i, folded.n - i };

		next = i +
		    speech_begins(
			rest, 1UL << SPEECH_FILLER | 1UL << SPEECH_DAY, &value);
		if (next > i)
			continue;
		if (str_utf8_next(folded, &next) < 0)
			break;
		while (i < next)
			p[n++] = folded.p[i++];
	}
	return n > 0 ? (struct str){ p, n } : folded;
}

const char *
speech_type(enum speech_kind kind)
{
	switch (kind) {
	case SPEECH_ACTION:
		return "action";
	case SPEECH_DEVICE:
		return "device";
	case SPEECH_ROOM:
		return "room";
	case SPEECH_COLOR:
		return "color";
	default:
		return NULL;
	}
}
