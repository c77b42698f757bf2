/*
 * The one moment that is meant where a stretch of time was said.
 */
#include "zh/aim.h"

#include "zh/reader.h"

#define DAY    INT64_C(86400)
#define HOUR_S 3600

int
aim_part(int part)
{
	static const int hours[PART_COUNT] = {
		[PART_NONE] = 9,
		[PART_DAWN] = 5,
		[PART_EARLY] = 7,
		[PART_MORNING] = 8,
		[PART_FORENOON] = 10,
		[PART_NOON] = 12,
		[PART_AFTERNOON] = 15,
		[PART_DUSK] = 18,
		[PART_EVENING] = 20,
		[PART_NIGHT] = 23,
		[PART_MIDNIGHT] = 24,
		[PART_DAYTIME] = 9,
	};

	return hours[part] * HOUR_S;
}

static int64_t
day_of(int64_t local)
{
	return (local - (local < 0 ? DAY - 1 : 0)) / DAY;
}

int64_t
aim_day(int64_t from, int64_t to, int64_t now)
{
	int64_t least = from > now ? from : now;
	int64_t at = day_of(least) * DAY + aim_part(PART_NONE);

	if (at < least)
		at += DAY;
	return to == REACH_OPEN || at < to ? at : REACH_OPEN;
}

/* 月底, 年初 without a year: of the next one. */
static bool
next_edge(const struct moment *m, struct here h, struct reach *out)
{
	struct moment next = *m;

	if (m->has != HAS_EDGE || m->edge > EDGE_END)
		return false;
	if (m->edge_unit == UNIT_MONTH) {
		next.has |= HAS_MONTH;
		next.month = 1;
		next.month_is_rel = true;
	} else if (m->edge_unit == UNIT_YEAR) {
		next.has |= HAS_YEAR;
		next.year = 1;
		next.year_is_rel = true;
	} else {
		return false;
	}
	return moment_reach(&next, h, out);
}

/* An end is its last day. */
static int64_t
edge_day(const struct moment *m, struct here h, const struct reach *r)
{
	return aim_day(
	    m->edge == EDGE_END ? r->to - DAY : r->from, r->to, h.now);
}

int64_t
aim_moment(const struct moment *m, struct here h, const struct reach *r)
{
	struct reach next;
	int from, to;
	int64_t at;

	if ((m->has & HAS_PART) != 0) {
		part_span(m->part, &from, &to);
		at = r->from - from + aim_part(m->part);
		/* A day that was not said is the next one. */
		if (at < h.now && (m->has & HAS_DATE) == 0)
			at += DAY;
		if (at < h.now && (m->has & HAS_DATE) == HAS_WDAY &&
		    m->nth == 0)
			at += 7 * DAY;
		return at;
	}
	if ((m->has & HAS_EDGE) != 0) {
		at = edge_day(m, h, r);
		if (at == REACH_OPEN && next_edge(m, h, &next))
			return edge_day(m, h, &next);
		return at;
	}
	return 0;
}

void
aim_set(struct when *w, const struct reach *r, struct when_now now)
{
	int64_t here = zone_local_of(now.zone, now.now), at = r->at;

	w->at = (struct wall){ 0 };
	if (at == 0)
		at = r->from == REACH_OPEN ? r->to
		    : r->grain >= WHEN_DAY ? aim_day(r->from, r->to, here)
					   : r->from;
	if (at == REACH_OPEN || at < here)
		return;
	/* The second that is running is now. */
	w->at = at == here ? now.now : zone_wall_of(now.zone, at);
	/* Clocks that are put back have some hours twice. */
	if (w->at.ms < now.now.ms)
		w->at = (struct wall){ 0 };
	w->at_offset_min = zone_offset_min(now.zone, w->at);
}
