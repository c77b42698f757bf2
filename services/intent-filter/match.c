/*
 * Evidence, and the confidence it gives.
 */
#include "match.h"

#include <math.h>

#include "rx/rx.h"

/*
 * One Chinese character is weak evidence, a word good, a phrase strong; Latin
 * letters say less each.  Weights are halves of a Chinese character.
 */
#define WEIGHT_HAN     2
#define WEIGHT_LATIN   1
#define BASE_ONE       .80
#define BASE_WORD      .86
#define BASE_PHRASE    .90
#define PER_FURTHER    .02
#define FURTHER_MAX    .04
#define HINT           .02
#define CONFIDENCE_MAX .95

struct tally {
	struct match *m;
	struct arena *a;
	double best;
	size_t hits;
};

static void
note(struct tally *t, const char *type, struct str value, double base)
{
	t->hits++;
	if (base > t->best)
		t->best = base;
	if (t->m->evidence == NULL)
		t->m->evidence = arena_alloc(
		    t->a, MATCH_EVIDENCE_MAX * sizeof(*t->m->evidence));
	if (t->m->evidence != NULL && t->m->nevidence < MATCH_EVIDENCE_MAX)
		t->m->evidence[t->m->nevidence++] =
		    (struct wire_intent_filter_response_intents_evidence){
			    .type = str_of(type), .value = value, .score = 1
		    };
}

static double
word_base(struct str folded)
{
	size_t pos = 0, weight = 0;
	int32_t c;

	while ((c = str_utf8_next(folded, &pos)) >= 0)
		weight += c < 0x2e80 ? WEIGHT_LATIN : WEIGHT_HAN;
	if (weight <= WEIGHT_HAN)
		return BASE_ONE;
	return weight <= 2 * WEIGHT_HAN ? BASE_WORD : BASE_PHRASE;
}

static bool
is_letter(char c)
{
	return c >= 'a' && c <= 'z';
}

/* A Latin keyword is a word of its own: "on" is not in "front". */
static bool
word_in(struct str text, struct str word)
{
	size_t from = 0;
	ptrdiff_t at;

	if (word.n == 0)
		return false;
	while ((at = str_find(
		    (struct str){ text.p + from, text.n - from }, word)) >= 0) {
		size_t i = from + (size_t)at, end = i + word.n;

		if (!(is_letter(word.p[0]) && i > 0 &&
			is_letter(text.p[i - 1])) &&
		    !(is_letter(word.p[word.n - 1]) && end < text.n &&
			is_letter(text.p[end])))
			return true;
		from = i + 1;
	}
	return false;
}

static bool
any_word(const struct catalog_words *w, struct str text)
{
	size_t i;

	for (i = 0; i < w->n; i++) {
		if (word_in(text, w->folded[i]))
			return true;
	}
	return false;
}

static void
count_any(struct tally *t, const struct catalog_words *w, struct str text)
{
	size_t i;

	for (i = 0; i < w->n; i++) {
		if (word_in(text, w->folded[i]))
			note(t, "keyword_any", w->source[i],
			    word_base(w->folded[i]));
	}
}

/* All of them, or none counts and the intent is out. */
static bool
count_all(struct tally *t, const struct catalog_words *w, struct str text)
{
	size_t i;

	for (i = 0; i < w->n; i++) {
		if (!word_in(text, w->folded[i]))
			return false;
		note(t, "keyword_all", w->source[i], word_base(w->folded[i]));
	}
	return true;
}

/* A pattern that hits its limits has not matched. */
static bool
matches(const struct rx *rx, struct rx_scratch *s, struct str text)
{
	return rx_find(rx, s, text, 0, NULL) == RC_OK;
}

static bool
count_patterns(struct tally *t, const struct catalog_intent *in,
    struct rx_scratch *rx, struct str text)
{
	size_t i;

	for (i = 0; i < in->rx_all.n; i++) {
		if (!matches(in->rx_all.rx[i], rx, text))
			return false;
		note(t, "regex_all", in->rx_all.source[i], BASE_WORD);
	}
	for (i = 0; i < in->rx_any.n; i++) {
		if (matches(in->rx_any.rx[i], rx, text))
			note(t, "regex_any", in->rx_any.source[i], BASE_PHRASE);
	}
	return true;
}

void
match_intent(const struct catalog_intent *in, struct match_text t,
    struct rx_scratch *rx, struct arena *a, struct match *out)
{
	struct tally tally = { .m = out, .a = a };
	double further;

	*out = (struct match){ .intent = in };
	if (any_word(&in->not, t.folded))
		return;
	if (!count_all(&tally, &in->all, t.folded) ||
	    !count_patterns(&tally, in, rx, t.text))
		return;
	count_any(&tally, &in->any, t.folded);
	if (out->evidence == NULL)
		return;
	further = PER_FURTHER * (double)(tally.hits - 1);
	out->confidence = tally.best + fmin(further, FURTHER_MAX);
	if (in->def->has_hint_score)
		out->confidence += HINT * in->def->hint_score;
	out->confidence = fmin(out->confidence, CONFIDENCE_MAX);
	out->confidence = round(out->confidence * 1e4) / 1e4;
}
