/*
 * Where one wish ends and the next begins.
 */
#include "segment.h"

struct cut {
	const struct reading *r;
	struct segment *dst;
	size_t n;
	size_t start;    /* of the segment in hand */
	size_t sentence; /* its number */
};

static bool
is_digit(struct str s, size_t i)
{
	return i < s.n && s.p[i] >= '0' && s.p[i] <= '9';
}

static bool
is_inside(const struct reading *r, const struct lexicon_hit *w)
{
	struct str s = r->cmd.folded;

	/* 1,000 and 2.5 are one number each. */
	if (w->end == w->start + 1 && w->start > 0 &&
	    is_digit(s, w->start - 1) && is_digit(s, w->end))
		return true;
	/* A full stop of a Latin sentence has a blank behind it. */
	if (s.p[w->start] == '.' && w->end < s.n && s.p[w->end] != ' ' &&
	    s.p[w->end] != '.')
		return true;
	return reading_time_at(r, w->start, w->end) != NULL ||
	    reading_is_quoted(r, w->start);
}

static bool
is_doing(enum lexicon_kind k)
{
	return k == LEXICON_ACTION || k == LEXICON_VERB || k == LEXICON_OBJECT;
}

static bool
is_border(enum lexicon_kind k)
{
	return k == LEXICON_JOINT || k == LEXICON_LINK || k == LEXICON_STOP ||
	    k == LEXICON_ASK;
}

/* Whether something is to be done on both sides of what may join two things. */
static bool
links_wishes(const struct cut *c, size_t word)
{
	const struct lexicon_hit *w = c->r->words;
	bool before = false, after = false;
	size_t i;

	for (i = word; i-- > 0 && w[i].start >= c->start && !before;)
		before = is_doing(w[i].kind);
	for (i = word + 1;
	     i < c->r->n_words && !is_border(w[i].kind) && !after; i++)
		after = w[i].start >= w[word].end && is_doing(w[i].kind);
	return before && after;
}

static void
put(struct cut *c, size_t end, bool asks)
{
	struct str s = c->r->cmd.text;

	while (c->start < end && s.p[c->start] == ' ')
		c->start++;
	while (end > c->start && s.p[end - 1] == ' ')
		end--;
	if (c->start < end)
		c->dst[c->n++] =
		    (struct segment){ c->start, end, c->sentence, asks };
	else if (asks && c->n > 0)
		c->dst[c->n - 1].asks = true;
}

static bool
says_only_when(const struct reading *r, const struct segment *g)
{
	return reading_time_at(r, g->start, g->end) != NULL &&
	    reading_share(r, g->start, g->end, NULL, 0) == 0 &&
	    !reading_is_quoted(r, g->start);
}

bool
segment_says(const struct reading *r, const struct segment *g)
{
	struct reading_span all = { g->start, g->end };

	return reading_share(r, g->start, g->end, &all, 1) > 0;
}

/* Times on their own join the next part of their sentence, else the last. */
static size_t
join_times(const struct reading *r, struct segment *g, size_t n)
{
	size_t i, kept = 0;
	bool only;

	for (i = 0; i < n; i++) {
		only = says_only_when(r, &g[i]);
		if (only && i + 1 < n && g[i + 1].sentence == g[i].sentence &&
		    segment_says(r, &g[i + 1]) &&
		    !says_only_when(r, &g[i + 1])) {
			g[i + 1].start = g[i].start;
		} else if (only && kept > 0 &&
		    g[kept - 1].sentence == g[i].sentence) {
			g[kept - 1].end = g[i].end;
			g[kept - 1].asks |= g[i].asks;
		} else {
			g[kept++] = g[i];
		}
	}
	return kept;
}

size_t
segment_split(const struct reading *r, struct segment dst[SEGMENT_MAX])
{
	struct cut c = { .r = r, .dst = dst };
	size_t i;

	for (i = 0; i < r->n_words && c.n < SEGMENT_MAX - 1; i++) {
		const struct lexicon_hit *w = &r->words[i];

		if (!is_border(w->kind) || w->start < c.start ||
		    is_inside(r, w) ||
		    (w->kind == LEXICON_LINK && !links_wishes(&c, i)))
			continue;
		put(&c, w->start, w->kind == LEXICON_ASK);
		c.start = w->end;
		if (w->kind == LEXICON_STOP || w->kind == LEXICON_ASK)
			c.sentence++;
	}
	put(&c, r->cmd.text.n, false);
	return join_times(r, dst, c.n);
}
