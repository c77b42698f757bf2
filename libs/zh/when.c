/*
 * The driver: at each token the longest reading of those there are.
 */
#include "zh/when.h"

#include "core/mem.h"
#include "zh/aim.h"
#include "zh/reader.h"

#define DAY INT64_C(86400)
enum when_grain
reader_grain(int unit)
{
	static const enum when_grain grains[UNIT_COUNT] = { WHEN_SECOND,
		WHEN_MINUTE, WHEN_MINUTE, WHEN_HOUR, WHEN_DAY, WHEN_WEEK,
		WHEN_MONTH, WHEN_QUARTER, WHEN_YEAR };

	return grains[unit];
}

void
when_set(struct when *w, struct reach reach, struct reader *r)
{
	w->grain = reach.grain;
	r->reach = reach;
	r->is_set = true;
}

/* From local seconds to the world's. */
static void
place(struct when *w, const struct reach *at, struct when_now now)
{
	if (at->from != REACH_OPEN)
		w->from = zone_wall_of(now.zone, at->from);
	if (at->to != REACH_OPEN)
		w->to = zone_wall_of(now.zone, at->to);
	aim_set(w, at, now);
	w->offset_min = zone_offset_min(
	    now.zone, at->from != REACH_OPEN ? w->from : now.now);
}

/* Longest first; of two that are as long the first. */
static const struct token *
longest_read(struct reader *r, const struct token *t, struct when *w)
{
	static const struct token *(*const readings[])(struct reader *,
	    const struct token *, struct when *) = { read_repeat, read_relative,
		read_stretch, read_units, read_vague, read_range, read_length };
	const struct token *best = NULL, *n;
	struct reach reach = { 0 };
	bool is_set = false;
	size_t i;

	for (i = 0; i < NELEM(readings); i++) {
		struct when one = { .kind = WHEN_DURATION };

		r->is_set = false;
		n = readings[i](r, t, &one);
		if (n == NULL || n <= t || (best != NULL && n <= best))
			continue;
		best = n;
		*w = one;
		reach = r->reach;
		is_set = r->is_set;
	}
	if (best == NULL)
		return NULL;
	if (is_set)
		place(w, &reach, r->now);
	w->start = t->start;
	w->end = best[-1].end;
	return best;
}

size_t
when_find(struct when_now now, struct str text, struct when *dst, size_t max)
{
	struct reader r;
	const struct token *t, *n, *most;
	size_t count = 0, at = 0;

	if (text.n > WHEN_TEXT_MAX)
		text.n = WHEN_TEXT_MAX;
	r.now = now;
	r.reach = (struct reach){ 0 };
	r.seen = (struct feast_seen){ 0 };
	r.here.seen = &r.seen;
	r.here.now = zone_local_of(now.zone, now.now);
	r.here.today = (r.here.now - (r.here.now < 0 ? DAY - 1 : 0)) / DAY;
	while (at < text.n && count < max) {
		scan_from(&r.scan, text, at);
		/* What begins later is read again with more behind it. */
		most = r.scan.tok + r.scan.ntok;
		if (!r.scan.is_last)
			most -= r.scan.ntok / 3;
		for (t = r.scan.tok; t < most && count < max; t = n) {
			n = t + 1;
			if (t->type == TOK_OTHER)
				continue;
			n = longest_read(&r, t, &dst[count]);
			if (n == NULL)
				n = t + 1;
			else
				count++;
		}
		at = r.scan.is_last && t >= r.scan.tok + r.scan.ntok ? text.n
								     : t->start;
	}
	return count;
}
