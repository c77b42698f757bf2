/*
 * Strongest first, each against those before it.
 */
#include "choose.h"

#include <stdlib.h>

#include "core/mem.h"
#include "slots.h"

/* Evidence of all matches of a segment that is compared. */
#define SPANS_MAX 512
/* Words of a segment that carry a wish: verbs, places, colours. */
#define CARRIERS_MAX 64
/*
 * How much of what is said must carry the wish where no evidence is a verb: to
 * be a command at all, and to be one although no slot was filled.
 */
#define SHARE_COMMAND .4
#define SHARE_BARE    .6
#define SHARE_DEED    .5
/* The same where the evidence is a verb and nothing marks a request. */
#define SHARE_VERB .3

struct choice {
	const struct matcher *m;
	const struct clause *p;
	struct reading_span spans[SPANS_MAX]; /* of all matches */
	size_t n_spans;
	struct reading_span taken[SPANS_MAX]; /* of those that won */
	size_t n_taken;
	bool shares; /* one verb is for several things: 灯和窗帘都打开 */
};

int
choose_cmp(const struct match *a, const struct match *b)
{
	int64_t x = a->intent->def->priority, y = b->intent->def->priority;

	if (a->confidence != b->confidence)
		return a->confidence > b->confidence ? -1 : 1;
	if (a->longest != b->longest)
		return a->longest > b->longest ? -1 : 1;
	if (x != y)
		return x > y ? -1 : 1;
	return str_cmp(a->intent->def->id, b->intent->def->id);
}

static int
match_cmp(const void *a, const void *b)
{
	return choose_cmp(a, b);
}

static size_t
begin_of(const struct match *m)
{
	size_t i, begin = m->spans[0].start;

	for (i = 1; i < m->n; i++) {
		if (m->spans[i].start < begin)
			begin = m->spans[i].start;
	}
	return begin;
}

static int
begin_cmp(const void *pa, const void *pb)
{
	const struct match *const *a = pa, *const *b = pb;
	size_t x = begin_of(*a), y = begin_of(*b);

	if (x != y)
		return x < y ? -1 : 1;
	return choose_cmp(*a, *b);
}

static bool
overlaps(const struct choice *c, const struct match *m)
{
	size_t i, j;

	for (i = 0; i < m->n; i++) {
		for (j = 0; j < c->n_taken; j++) {
			if (m->spans[i].start < c->taken[j].end &&
			    m->spans[i].end > c->taken[j].start)
				return true;
		}
	}
	return false;
}

static void
take_spans(struct choice *c, const struct match *m)
{
	size_t i;

	for (i = 0; i < m->n && c->n_taken < SPANS_MAX; i++)
		c->taken[c->n_taken++] = m->spans[i];
}

static bool
carries(enum speech_kind k)
{
	switch (k) {
	case SPEECH_ACTION:
	case SPEECH_VERB:
	case SPEECH_OBJECT:
	case SPEECH_MAY:
	case SPEECH_PLEASE:
	case SPEECH_ROOM:
	case SPEECH_COLOR:
	case SPEECH_LINK:
		return true;
	default:
		return false;
	}
}

/* How much of what is said is evidence, or carries a wish beside it. */
static double
share_of(const struct choice *c, const struct match *m)
{
	struct reading_span
	    spans[MATCH_EVIDENCE_MAX + SLOTS_SPANS + CARRIERS_MAX];
	const struct reading *r = c->m->r;
	const struct slots *slots = m->slots;
	struct segment g = clause_here(c->p);
	size_t i, n = m->n;

	memcpy(spans, m->spans, n * sizeof(*spans));
	memcpy(spans + n, slots->spans, slots->n_spans * sizeof(*spans));
	n += slots->n_spans;
	for (i = 0; i < r->n_words && n < NELEM(spans); i++) {
		const struct speech_hit *w = &r->words[i];

		if (clause_has(&g, w) && carries(w->kind))
			spans[n++] = (struct reading_span){ w->start, w->end };
	}
	return reading_share(r, g.start, g.end, spans, n);
}

/* Whether an intent has slots that the text could fill. */
static bool
asks_text(const struct catalog_intent *in)
{
	size_t i;

	for (i = 0; i < in->def->n_slots; i++) {
		const struct wire_intent_slot *s = in->slots[i].def;

		if (s->regex.p != NULL || s->from_time_key.p != NULL ||
		    s->n_from_entity_types > 0 || in->slots[i].n_values > 0)
			return true;
	}
	return false;
}

/* Whether the segment tells to do something, and not just names a thing. */
static bool
is_command(const struct choice *c, struct match *m)
{
	struct segment g = clause_here(c->p);
	double share;

	if (m->acts)
		return true;
	if (slots_fill(c->m, &g, m) != RC_OK)
		return false;
	share = share_of(c, m);
	if (share < SHARE_COMMAND)
		return false;
	if ((!asks_text(m->intent) && share >= SHARE_DEED) ||
	    (share >= SHARE_BARE && !mood_names_only(c->p, m->spans, m->n)))
		return true;
	return m->slots->said > 0 ||
	    (share >= SHARE_BARE && m->slots->nmissing > 0) ||
	    (share >= SHARE_BARE &&
		share > reading_share(c->m->r, g.start, g.end, m->spans, m->n));
}

static enum mood
mood_for(const struct choice *c, const struct match *m)
{
	struct claim claim = { .spans = m->spans,
		.evidence = m->evidence,
		.n = m->n,
		.says = m->intent->says,
		.acts = m->acts,
		.others = c->spans,
		.n_others = c->n_spans };

	return mood_of(c->p, &claim);
}

/* Whether m may stand beside what has won in the same segment. */
static bool
is_another_wish(const struct choice *c, const struct match *m)
{
	return !overlaps(c, m) && !clause_is_memo(c->p, begin_of(m)) &&
	    (c->n_taken == 0 || m->acts || c->shares);
}

static void
choice_init(struct choice *c, const struct matcher *m, const struct clause *p,
    const struct match *all, size_t n)
{
	struct segment g = clause_here(p);
	size_t i, j;

	c->m = m;
	c->p = p;
	c->n_spans = c->n_taken = 0;
	c->shares = false;
	for (i = 0; i < n; i++) {
		for (j = 0; j < all[i].n && c->n_spans < SPANS_MAX; j++)
			c->spans[c->n_spans++] = all[i].spans[j];
	}
	for (i = 0; i < m->r->n_words; i++) {
		const struct speech_hit *w = &m->r->words[i];

		if (w->kind == SPEECH_LINK && clause_has(&g, w))
			c->shares = true;
	}
}

size_t
choose(const struct matcher *m, const struct clause *p, struct match *all,
    size_t n, size_t max, struct match **dst)
{
	struct choice c;
	enum mood mood;
	size_t i, out = 0;

	choice_init(&c, m, p, all, n);
	if (n > 1)
		qsort(all, n, sizeof(*all), match_cmp);
	for (i = 0; i < n && out < max; i++) {
		if (!is_another_wish(&c, &all[i]))
			continue;
		mood = mood_for(&c, &all[i]);
		if (mood == MOOD_WANTED && is_command(&c, &all[i]))
			dst[out++] = &all[i];
		/* Another intent may be meant by the same words. */
		else if (mood == MOOD_WANTED || mood == MOOD_OTHER ||
		    mood == MOOD_DESCRIBED)
			continue;
		take_spans(&c, &all[i]);
	}
	if (out > 1)
		qsort(dst, out, sizeof(*dst), begin_cmp);
	return out;
}
