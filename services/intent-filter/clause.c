/*
 * Looking things up in one segment.
 */
#include "clause.h"

/* Known words before a claim that are looked at. */
#define SUBJECT_SPANS 32

struct segment
clause_here(const struct clause *p)
{
	return p->segments[p->at];
}

bool
clause_has(const struct segment *g, const struct speech_hit *w)
{
	return w->start >= g->start && w->end <= g->end;
}

bool
clause_is_own(
    const struct clause *p, const struct claim *c, const struct speech_hit *w)
{
	size_t i;

	for (i = 0; i < c->n; i++) {
		if (c->spans[i].start > w->start || c->spans[i].end < w->end)
			continue;
		if (str_starts(c->evidence[i].type, STR("keyword")) ||
		    str_find(c->evidence[i].value, clause_text(p, w)) >= 0)
			return true;
	}
	return false;
}

/* Whether a word of that kind stands in the segment before at. */
static bool
follows(const struct clause *p, enum speech_kind kind, size_t at)
{
	struct segment g = clause_here(p);
	size_t i;

	for (i = 0; i < p->r->n_words; i++) {
		const struct speech_hit *w = &p->r->words[i];

		if (w->kind == kind && clause_has(&g, w) && w->end <= at)
			return true;
	}
	return false;
}

bool
clause_is_memo(const struct clause *p, size_t at)
{
	return follows(p, SPEECH_MEMO, at);
}

bool
clause_is_name(const struct clause *p, size_t at)
{
	return follows(p, SPEECH_NAMING, at);
}

size_t
claim_start(const struct claim *c)
{
	size_t i, first = (size_t)-1;

	for (i = 0; i < c->n; i++) {
		if (c->spans[i].start < first)
			first = c->spans[i].start;
	}
	return first;
}

size_t
claim_end(const struct claim *c)
{
	size_t i, last = 0;

	for (i = 0; i < c->n; i++) {
		if (c->spans[i].end > last)
			last = c->spans[i].end;
	}
	return last;
}

bool
clause_does_at(const struct reading *r, size_t at)
{
	size_t i;

	for (i = 0; i < r->n_words && r->words[i].start <= at; i++) {
		if (r->words[i].start == at &&
		    (r->words[i].kind == SPEECH_ACTION ||
			r->words[i].kind == SPEECH_VERB))
			return true;
	}
	return false;
}

bool
claim_begins_at(const struct claim *c, size_t at)
{
	size_t i;

	for (i = 0; i < c->n; i++) {
		if (c->spans[i].start == at)
			return true;
	}
	return false;
}

struct str
clause_rest(const struct clause *p, size_t at)
{
	return (struct str){ p->r->cmd.folded.p + at, clause_here(p).end - at };
}

struct str
clause_text(const struct clause *p, const struct speech_hit *w)
{
	return (struct str){ p->r->cmd.folded.p + w->start, w->end - w->start };
}

bool
clause_says(const struct clause *p, size_t from, size_t to,
    const struct reading_span *spans, size_t n)
{
	return reading_says(p->r, from, to) &&
	    reading_share(p->r, from, to, spans, n) < 1;
}

bool
clause_has_subject(const struct clause *p, const struct claim *c)
{
	struct reading_span spans[SUBJECT_SPANS];
	struct segment g = clause_here(p);
	size_t i, n = 0;

	for (i = 0; i < p->r->n_words && n < SUBJECT_SPANS; i++) {
		const struct speech_hit *w = &p->r->words[i];

		if (!clause_has(&g, w))
			continue;
		switch (w->kind) {
		case SPEECH_PLEASE:
			/* "他给我打电话了" */
			if (str_eq(clause_text(p, w), STR("给我")))
				break;
			return false;
		case SPEECH_OBJECT:
		case SPEECH_MAY:
		case SPEECH_MEMO:
			return false;
		case SPEECH_ACTION:
		case SPEECH_VERB:
		case SPEECH_DEVICE:
		case SPEECH_ROOM:
		case SPEECH_COLOR:
			spans[n++] = (struct reading_span){ w->start, w->end };
			break;
		default:
			break;
		}
	}
	return !p->r->cmd.polite &&
	    clause_says(p, g.start, claim_start(c), spans, n);
}

bool
clause_is_first(const struct clause *p, const struct speech_hit *w)
{
	return !clause_says(p, clause_here(p).start, w->start, NULL, 0);
}
