/*
 * Selection: strongest first, each compared with those before it.
 */
#include <stdlib.h>

#include "core/mem.h"
#include "filter.h"
#include "match/clause.h"
#include "slots/slots.h"

/* Compared pieces of evidence of one segment. */
#define SPANS_MAX 512
/* Words of a segment that support a request: verbs, rooms, colors. */
#define SUPPORT_MAX 64
/*
 * The share of the content that must support the request where no evidence is a
 * verb: to be a command at all; without filled slots; without slots that text
 * could fill.
 */
#define SHARE_COMMAND .4
#define SHARE_BARE    .6
#define SHARE_ACTION  .5
/* Unknown bytes before or after a claim that make a statement of it. */
#define SELECTION_MORE 12

struct selection {
	const struct matcher *m;
	const struct clause *p;
	struct text_span spans[SPANS_MAX]; /* of all candidates */
	size_t n_spans;
	struct text_span taken[SPANS_MAX]; /* of the selected ones */
	size_t n_taken;
	bool shares_verb; /* one verb has several objects: 灯和窗帘都打开 */
};

int
selection_cmp(const struct candidate *a, const struct candidate *b)
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
selection_candidate_cmp(const void *a, const void *b)
{
	return selection_cmp(a, b);
}

static size_t
selection_begin(const struct candidate *m)
{
	size_t i, begin = m->spans[0].start;

	for (i = 1; i < m->n; i++) {
		if (m->spans[i].start < begin)
			begin = m->spans[i].start;
	}
	return begin;
}

static int
selection_begin_cmp(const void *pa, const void *pb)
{
	const struct candidate *const *a = pa, *const *b = pb;
	size_t x = selection_begin(*a), y = selection_begin(*b);

	if (x != y)
		return x < y ? -1 : 1;
	return selection_cmp(*a, *b);
}

/* "turn off the tv and the fan": the verb is that of both. */
static bool
selection_is_shared_verb(const struct selection *c, const struct text_span *s)
{
	const struct utterance *u = c->m->u;
	size_t i;

	for (i = 0; c->shares_verb && i < u->n_words; i++) {
		if (u->words[i].start == s->start &&
		    u->words[i].end == s->end &&
		    u->words[i].kind == WORD_ACTION)
			return true;
	}
	return false;
}

static bool
selection_overlaps(const struct selection *c, const struct candidate *m)
{
	size_t i, j;

	for (i = 0; i < m->n; i++) {
		if (m->n > 1 && selection_is_shared_verb(c, &m->spans[i]))
			continue;
		for (j = 0; j < c->n_taken; j++) {
			if (m->spans[i].start < c->taken[j].end &&
			    m->spans[i].end > c->taken[j].start)
				return true;
		}
	}
	return false;
}

static void
selection_add_spans(struct selection *c, const struct candidate *m)
{
	size_t i;

	for (i = 0; i < m->n && c->n_taken < SPANS_MAX; i++)
		c->taken[c->n_taken++] = m->spans[i];
}

static bool
selection_supports_request(enum word_kind k)
{
	switch (k) {
	case WORD_ACTION:
	case WORD_VERB:
	case WORD_OBJECT_MARKER:
	case WORD_MODAL:
	case WORD_POLITE:
	case WORD_ROOM:
	case WORD_COLOR:
	case WORD_LINK:
		return true;
	default:
		return false;
	}
}

/* Evidence of other candidates of the segment that is examined. */
#define OTHERS_MAX 64
#define SELECTION_SPANS \
	(CANDIDATE_EVIDENCE_MAX + SLOTS_SPANS + SUPPORT_MAX + OTHERS_MAX)

/* What of the segment is evidence or supports the request. */
static size_t
selection_support(const struct selection *c, const struct candidate *m,
    struct text_span spans[SELECTION_SPANS])
{
	const struct utterance *u = c->m->u;
	const struct slots *slots = m->slots;
	struct segment g = clause_segment(c->p);
	size_t i, n = m->n;

	memcpy(spans, m->spans, n * sizeof(*spans));
	memcpy(spans + n, slots->spans, slots->n_spans * sizeof(*spans));
	n += slots->n_spans;
	for (i = 0; i < u->n_words && n < SELECTION_SPANS; i++) {
		const struct word_hit *w = &u->words[i];

		if (segment_contains(&g, w) &&
		    selection_supports_request(w->kind))
			spans[n++] = (struct text_span){ w->start, w->end };
	}
	return n;
}

/* The share of the content that is one of these. */
static double
selection_share(const struct selection *c, const struct candidate *m)
{
	struct text_span spans[SELECTION_SPANS];
	struct segment g = clause_segment(c->p);
	size_t n = selection_support(c, m, spans);

	return utterance_share(c->m->u, g.start, g.end, spans, n);
}

/* Whether a verb is evidence: not "大声点". */
static bool
selection_has_verb(const struct utterance *u, const struct candidate *m)
{
	size_t i;

	for (i = 0; i < m->n; i++) {
		size_t at = m->spans[i].start;

		for (; at < m->spans[i].end; at++) {
			if (utterance_verb_at(u, at))
				return true;
		}
	}
	return false;
}

/*
 * "开灯睡觉影响褪黑素", "爷爷叮嘱睡前要关窗": a sentence that says more than
 * the command.
 */
static bool
selection_is_statement(const struct selection *c, const struct candidate *m)
{
	struct text_span spans[SELECTION_SPANS];
	const struct utterance *u = c->m->u;
	struct segment g = clause_segment(c->p);
	const struct claim claim = { .spans = m->spans, .n = m->n };
	struct str text = { u->cmd.folded.p + g.start, g.end - g.start };
	size_t n, from = claim_start(&claim), to = claim_end(&claim), i;

	if (from < g.start || str_find(text, STR("让")) >= 0 ||
	    str_starts(text, STR("给")) || !selection_has_verb(u, m) ||
	    (unsigned char)u->cmd.folded.p[from] < 0x80 || u->cmd.polite)
		return false;
	for (i = 0; i < u->n_words; i++) {
		if (!segment_contains(&g, &u->words[i]))
			continue;
		switch (u->words[i].kind) {
		case WORD_OBJECT_MARKER:
		case WORD_POLITE:
		case WORD_REMINDER:
		case WORD_TITLE:
		case WORD_STATE:
		case WORD_LINK:
			return false;
		case WORD_MODAL:
			/* In "听歌能缓解压力" it is no request. */
			if (u->words[i].start < to)
				return false;
			break;
		default:
			break;
		}
	}
	n = selection_support(c, m, spans);
	for (i = 0; i < c->n_spans && n < SELECTION_SPANS; i++)
		spans[n++] = c->spans[i];
	return utterance_rest(u, to, g.end, spans, n) >= SELECTION_MORE ||
	    utterance_rest(u, g.start, from, spans, n) >= SELECTION_MORE;
}

/* Whether an intent has slots that text could fill. */
static bool
selection_has_text_slots(const struct catalog_intent *in)
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

/* Whether the segment requests an action and does not merely name a thing. */
static bool
selection_is_command(const struct selection *c, struct candidate *m)
{
	struct segment g = clause_segment(c->p);
	double share;

	if (slots_fill(c->m, &g, m) != RC_OK)
		return false;
	if (m->has_verb)
		return !selection_is_statement(c, m);
	share = selection_share(c, m);
	if (share < SHARE_COMMAND)
		return false;
	if ((!selection_has_text_slots(m->intent) && share >= SHARE_ACTION) ||
	    (share >= SHARE_BARE && !sentence_names_only(c->p, m->spans, m->n)))
		return true;
	return m->slots->filled > 0 ||
	    (share >= SHARE_BARE && m->slots->n_missing > 0) ||
	    (share >= SHARE_BARE &&
		share >
		    utterance_share(c->m->u, g.start, g.end, m->spans, m->n));
}

static enum sentence_type
selection_sentence_type(const struct selection *c, const struct candidate *m)
{
	struct claim claim = { .spans = m->spans,
		.evidence = m->evidence,
		.n = m->n,
		.topics = m->intent->topics,
		.has_verb = m->has_verb,
		.others = c->spans,
		.n_others = c->n_spans };

	return sentence_type_of(c->p, &claim);
}

/* Whether m may be selected in addition to those of its segment. */
static bool
selection_is_separate(const struct selection *c, const struct candidate *m)
{
	return !selection_overlaps(c, m) &&
	    !clause_is_in_reminder(c->p, selection_begin(m)) &&
	    (c->n_taken == 0 || m->has_verb || c->shares_verb);
}

static void
selection_init(struct selection *c, const struct matcher *m,
    const struct clause *p, const struct candidate *all, size_t n)
{
	struct segment g = clause_segment(p);
	size_t i, j;

	c->m = m;
	c->p = p;
	c->n_spans = c->n_taken = 0;
	c->shares_verb = false;
	for (i = 0; i < n; i++) {
		for (j = 0; j < all[i].n && c->n_spans < SPANS_MAX; j++)
			c->spans[c->n_spans++] = all[i].spans[j];
	}
	for (i = 0; i < m->u->n_words; i++) {
		const struct word_hit *w = &m->u->words[i];

		if (w->kind == WORD_LINK && segment_contains(&g, w))
			c->shares_verb = true;
	}
}

size_t
selection_choose(const struct matcher *m, const struct clause *p,
    struct candidate *all, size_t n, size_t max, struct candidate **dst)
{
	struct selection c;
	enum sentence_type type;
	size_t i, out = 0;

	selection_init(&c, m, p, all, n);
	if (n > 1)
		qsort(all, n, sizeof(*all), selection_candidate_cmp);
	for (i = 0; i < n && out < max; i++) {
		if (!selection_is_separate(&c, &all[i]))
			continue;
		type = selection_sentence_type(&c, &all[i]);
		if (type == SENTENCE_REQUEST &&
		    selection_is_command(&c, &all[i]))
			dst[out++] = &all[i];
		/* The same words may request another intent. */
		else if (type == SENTENCE_REQUEST ||
		    type == SENTENCE_OPPOSITE || type == SENTENCE_DESCRIPTION)
			continue;
		selection_add_spans(&c, &all[i]);
	}
	if (out > 1)
		qsort(dst, out, sizeof(*dst), selection_begin_cmp);
	return out;
}
