/*
 * A guess for each, wide enough to be of use.
 */
#include "zh/vague.h"

#include "zh/reader.h"

#define HOUR INT64_C(3600)
#define DAY  INT64_C(86400)

static const struct {
	enum when_kind kind;
	enum when_grain grain;
	int64_t from, to; /* seconds from now */
} meanings[] = {
	[VAGUE_NOW] = { WHEN_INSTANT, WHEN_SECOND, 0, 1 },
	[VAGUE_AT_ONCE] = { WHEN_INSTANT, WHEN_SECOND, 0, 1 },
	[VAGUE_SOON] = { WHEN_INSTANT, WHEN_MINUTE, 600, 660 },
	[VAGUE_WHILE] = { WHEN_INSTANT, WHEN_MINUTE, 600, 660 },
	[VAGUE_LATER] = { WHEN_INSTANT, WHEN_HOUR, HOUR, 2 * HOUR },
	[VAGUE_JUST_NOW] = { WHEN_INSTANT, WHEN_MINUTE, -300, -240 },
	[VAGUE_RECENTLY] = { WHEN_INTERVAL, WHEN_DAY, -7 * DAY, 0 },
	[VAGUE_YEARS] = { WHEN_INTERVAL, WHEN_YEAR, -3 * 365 * DAY, 0 },
	[VAGUE_SOME_DAY] = { WHEN_INSTANT, WHEN_DAY, 3 * DAY, 4 * DAY },
	[VAGUE_FUTURE] = { WHEN_INTERVAL, WHEN_DAY, 0, REACH_OPEN },
	[VAGUE_PAST] = { WHEN_INTERVAL, WHEN_DAY, REACH_OPEN, 0 },
};

static void
vague_set(enum vague v, struct reader *r, struct when *w)
{
	int64_t from = meanings[v].from, to = meanings[v].to;
	struct reach out = { .grain = meanings[v].grain };

	out.from = from == REACH_OPEN ? REACH_OPEN : r->here.now + from;
	out.to = to == REACH_OPEN ? REACH_OPEN : r->here.now + to;
	if (v == VAGUE_FUTURE || v == VAGUE_PAST)
		out.at = REACH_OPEN;
	w->kind = meanings[v].kind;
	w->is_vague = v != VAGUE_NOW;
	w->is_loose = v == VAGUE_JUST_NOW || v == VAGUE_RECENTLY ||
	    v == VAGUE_YEARS || v == VAGUE_FUTURE || v == VAGUE_PAST;
	w->is_relative = w->kind == WHEN_INSTANT;
	w->confidence = v == VAGUE_NOW ? .9 : .6;
	when_set(w, out, r);
	if (w->is_relative)
		w->seconds = (double)from;
}

const struct token *
read_vague(struct reader *r, const struct token *t, struct when *w)
{
	enum vague v;

	if (t->type == TOK_VAGUE)
		v = (enum vague)t->v;
	else if (t->is_latin || scan_is_tail(&r->scan, t))
		return NULL; /* 放学以后 */
	else if (t->type == TOK_AFTER && t->w == 0)
		v = VAGUE_FUTURE;
	else if (t->type == TOK_COMING && t->v == 1)
		v = VAGUE_FUTURE;
	else if (t->type == TOK_BEFORE && t->w == 0)
		v = VAGUE_PAST;
	else if (t->type == TOK_PAST && t->v == 1)
		v = VAGUE_RECENTLY;
	else
		return NULL;
	vague_set(v, r, w);
	return t + 1;
}
