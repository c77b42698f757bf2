/*
 * The driver: at each token the longest expression that any parser finds;
 * adverbs of time; the trigger, the one instant of an expression.
 */
#include "zh/datetime.h"

#include "core/mem.h"
#include "zh/holiday.h"
#include "zh/zh_internal.h"

#define HOUR INT64_C(3600)
#define DAY  INT64_C(86400)

int64_t
local_day(int64_t local)
{
	return (local - (local < 0 ? DAY - 1 : 0)) / DAY;
}

/* ---- adverbs ---- */

static const struct {
	enum datetime_kind kind;
	enum datetime_grain grain;
	int64_t from, to; /* seconds from now */
} adverb_meanings[] = {
	[ADVERB_NOW] = { DATETIME_INSTANT, DATETIME_SECOND, 0, 1 },
	[ADVERB_IMMEDIATELY] = { DATETIME_INSTANT, DATETIME_SECOND, 0, 1 },
	[ADVERB_SOON] = { DATETIME_INSTANT, DATETIME_MINUTE, 600, 660 },
	[ADVERB_IN_A_WHILE] = { DATETIME_INSTANT, DATETIME_MINUTE, 600, 660 },
	[ADVERB_LATER] = { DATETIME_INSTANT, DATETIME_HOUR, HOUR, 2 * HOUR },
	[ADVERB_JUST_NOW] = { DATETIME_INSTANT, DATETIME_MINUTE, -300, -240 },
	[ADVERB_RECENTLY] = { DATETIME_INTERVAL, DATETIME_DAY, -7 * DAY, 0 },
	[ADVERB_RECENT_YEARS] = { DATETIME_INTERVAL, DATETIME_YEAR,
	    -3 * 365 * DAY, 0 },
	[ADVERB_SOME_DAY] = { DATETIME_INSTANT, DATETIME_DAY, 3 * DAY,
	    4 * DAY },
	[ADVERB_FUTURE] = { DATETIME_INTERVAL, DATETIME_DAY, 0, RANGE_OPEN },
	[ADVERB_FORMERLY] = { DATETIME_INTERVAL, DATETIME_DAY, RANGE_OPEN, 0 },
};

static void
adverb_set(enum time_adverb v, struct parser *r, struct datetime *w)
{
	int64_t from = adverb_meanings[v].from, to = adverb_meanings[v].to;
	struct local_range out = { .grain = adverb_meanings[v].grain };

	out.from = from == RANGE_OPEN ? RANGE_OPEN : r->local.now + from;
	out.to = to == RANGE_OPEN ? RANGE_OPEN : r->local.now + to;
	if (v == ADVERB_FUTURE || v == ADVERB_FORMERLY)
		out.at = RANGE_OPEN;
	w->kind = adverb_meanings[v].kind;
	w->is_approximate = v != ADVERB_NOW;
	w->is_loose = v == ADVERB_JUST_NOW || v == ADVERB_RECENTLY ||
	    v == ADVERB_RECENT_YEARS || v == ADVERB_FUTURE ||
	    v == ADVERB_FORMERLY;
	w->is_relative = w->kind == DATETIME_INSTANT;
	w->confidence = v == ADVERB_NOW ? .9 : .6;
	datetime_set(w, out, r);
	if (w->is_relative)
		w->seconds = (double)from;
}

static const struct token *
datetime_parse_adverb(
    struct parser *r, const struct token *t, struct datetime *w)
{
	enum time_adverb v;

	if (t->type == TOK_ADVERB)
		v = (enum time_adverb)t->v;
	else if (t->is_latin || token_scan_is_suffix(&r->scan, t))
		return NULL; /* 放学以后 */
	else if (t->type == TOK_AFTER && t->w == 0)
		v = ADVERB_FUTURE;
	else if (t->type == TOK_COMING && t->v == 1)
		v = ADVERB_FUTURE;
	else if (t->type == TOK_BEFORE && t->w == 0 && t->v == 0)
		v = ADVERB_FORMERLY;
	else if (t->type == TOK_PRECEDING && t->v == 1)
		v = ADVERB_RECENTLY;
	else
		return NULL;
	adverb_set(v, r, w);
	return t + 1;
}

/* ---- events without a date ---- */

/* Whether a token follows a noun or a verb that no expression contains. */
static bool
unknown_follows_event(const struct parser *r, const struct token *t)
{
	static const char *const others[] = { "在", "于", "就", "是", "请",
		"会", "要", "想", "和", "跟", "与", "及", "或", "从", "到",
		"让", "给", "把", "被", "又", "也", "都", "还", "再", "先",
		"才", "刚", "但", "可", "而", "则", "即", "按", "用", "选",
		"这", "那", "吧", "吗", "呢", "啊", "是在", "有", "没" };
	struct str s;
	size_t i;

	if (t[-1].type == TOK_OF)
		return t->type != TOK_SAME &&
		    token_scan_is_suffix(&r->scan, t - 1);
	if (!token_scan_is_suffix(&r->scan, t))
		return false;
	/* 会后, 睡前: short nouns and verbs, which are not adverbs there. */
	if ((t->type == TOK_AFTER || t->type == TOK_BEFORE) && t->w == 1)
		return true;
	s = token_scan_before(&r->scan, t);
	for (i = 0; i < NELEM(others); i++) {
		if (str_ends(s, str_of(others[i])))
			return false;
	}
	return true;
}

/*
 * 每月最后一个工作日, 每月前三天: a part of each period that no repetition can
 * name.  NULL: a repetition can.
 */
static const struct token *
unknown_part_of_each(struct parser *r, const struct token *t)
{
	struct datetime w = { .kind = DATETIME_REPEAT };
	const struct token *n = t + 1, *end;

	if (t->type != TOK_EVERY || t->v == 1)
		return NULL;
	n += n->type == TOK_GE;
	if (n->type != TOK_UNIT || n->v < UNIT_WEEK)
		return NULL;
	n = period_skip_part(n + 1);
	if (n == NULL)
		return NULL;
	end = datetime_parse_repeat(r, t, &w);
	return end == NULL || end < n ? n : NULL;
}

/*
 * 生日当天, 考试那天早上七点, 饭后一小时, 婚礼前三天: NULL if the moment is
 * known.
 */
static const struct token *
datetime_parse_unknown(
    struct parser *r, const struct token *t, struct datetime *w)
{
	struct instant m = { .has = HAS_DAYS };
	const struct token *n, *end;
	struct duration l;

	if (t->is_latin)
		return NULL;
	if (t->type == TOK_SAME || (t->type == TOK_EVE && t->v < 0)) {
		n = t + 1;
		end = instant_parse_time(n, &m);
		if (!unknown_follows_event(r, t) && (t->v <= 0 || end == NULL))
			return NULL;
	} else if (t->type == TOK_AFTER || t->type == TOK_BEFORE) {
		if (!unknown_follows_event(r, t))
			return NULL;
		n = t + 1;
		n += n->type == TOK_OF || n->type == TOK_ABOUT;
		n = duration_parse(n, &l);
		if (n == NULL || n->type == TOK_AFTER || n->type == TOK_BEFORE)
			return NULL;
		n += n->type == TOK_WITHIN;
		end = instant_parse_time(n, &m);
	} else {
		n = unknown_part_of_each(r, t);
		if (n == NULL)
			return NULL;
		end = instant_parse_time(n, &m);
	}
	w->kind = DATETIME_INSTANT;
	w->grain = DATETIME_DAY;
	w->is_unknown = true;
	w->confidence = .7;
	return end != NULL ? end : n;
}

/* ---- the trigger ---- */

int
trigger_hour(int part)
{
	static const int hours[DAY_PART_COUNT] = {
		[DAY_PART_NONE] = 9,
		[DAY_PART_DAWN] = 5,
		[DAY_PART_EARLY] = 7,
		[DAY_PART_MORNING] = 8,
		[DAY_PART_FORENOON] = 10,
		[DAY_PART_NOON] = 12,
		[DAY_PART_AFTERNOON] = 15,
		[DAY_PART_DUSK] = 18,
		[DAY_PART_EVENING] = 20,
		[DAY_PART_NIGHT] = 23,
		[DAY_PART_MIDNIGHT] = 24,
		[DAY_PART_DAYTIME] = 9,
	};

	return hours[part] * (int)HOUR;
}

/*
 * The first second of [from, to) not before now that stands for a day;
 * RANGE_OPEN if there is none.
 */
static int64_t
trigger_day(int64_t from, int64_t to, int64_t now)
{
	int64_t least = from > now ? from : now;
	int64_t at = local_day(least) * DAY + trigger_hour(DAY_PART_NONE);

	if (at < least)
		at += DAY;
	return to == RANGE_OPEN || at < to ? at : RANGE_OPEN;
}

/* 月底, 年初 without a month or year: the next one. */
static bool
trigger_next_edge(
    const struct instant *m, struct local_now h, struct local_range *out)
{
	struct instant next = *m;

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
	return instant_resolve(&next, h, out);
}

/* 月底, 年底 mean the last day. */
static int64_t
trigger_edge_day(
    const struct instant *m, struct local_now h, const struct local_range *r)
{
	return trigger_day(
	    m->edge == EDGE_END ? r->to - DAY : r->from, r->to, h.now);
}

int64_t
trigger_instant(
    const struct instant *m, struct local_now h, const struct local_range *r)
{
	struct local_range next;
	int from, to;
	int64_t at;

	if ((m->has & HAS_DAY_PART) != 0) {
		day_part_bounds(m->day_part, &from, &to);
		at = r->from - from + trigger_hour(m->day_part);
		/* Without a day, the next occurrence. */
		if (at < h.now && (m->has & HAS_DATE) == 0)
			at += DAY;
		if (at < h.now && (m->has & HAS_DATE) == HAS_WDAY &&
		    m->nth == 0)
			at += 7 * DAY;
		return at;
	}
	if ((m->has & HAS_EDGE) != 0) {
		at = trigger_edge_day(m, h, r);
		if (at == RANGE_OPEN && trigger_next_edge(m, h, &next))
			return trigger_edge_day(m, h, &next);
		return at;
	}
	return 0;
}

/* w->at from local seconds. */
static void
trigger_set(
    struct datetime *w, const struct local_range *r, struct datetime_now now)
{
	int64_t local = zone_local_of(now.zone, now.now), at = r->at;

	w->at = (struct wall){ 0 };
	if (at == 0)
		at = r->from == RANGE_OPEN ? r->to
		    : r->grain >= DATETIME_DAY
		    ? trigger_day(r->from, r->to, local)
		    : r->from;
	if (at == RANGE_OPEN || at < local)
		return;
	/* The current second means now. */
	w->at = at == local ? now.now : zone_wall_of(now.zone, at);
	/* When clocks are set back, an hour occurs twice. */
	if (w->at.ms < now.now.ms)
		w->at = (struct wall){ 0 };
	w->at_offset_min = zone_offset_min(now.zone, w->at);
}

/* ---- the driver ---- */

enum datetime_grain
datetime_grain_of_unit(int unit)
{
	static const enum datetime_grain grains[UNIT_COUNT] = { DATETIME_SECOND,
		DATETIME_MINUTE, DATETIME_MINUTE, DATETIME_HOUR, DATETIME_DAY,
		DATETIME_WEEK, DATETIME_MONTH, DATETIME_QUARTER,
		DATETIME_YEAR };

	return grains[unit];
}

void
datetime_set(struct datetime *w, struct local_range range, struct parser *r)
{
	w->grain = range.grain;
	w->is_either_half = range.is_either_half;
	w->is_zoned = range.is_zoned;
	r->range = range;
	r->has_range = true;
}

/* Convert from local seconds. */
static void
datetime_set_bounds(
    struct datetime *w, const struct local_range *at, struct datetime_now now)
{
	w->open = at->from == RANGE_OPEN ? DATETIME_OPEN_START
	    : at->to == RANGE_OPEN       ? DATETIME_OPEN_END
					 : DATETIME_CLOSED;
	if (at->from != RANGE_OPEN)
		w->from = zone_wall_of(now.zone, at->from);
	if (at->to != RANGE_OPEN)
		w->to = zone_wall_of(now.zone, at->to);
	trigger_set(w, at, now);
	w->offset_min = zone_offset_min(
	    now.zone, at->from != RANGE_OPEN ? w->from : now.now);
}

/* The longest expression at t; of equally long ones the first parser's. */
static const struct token *
datetime_parse_longest(
    struct parser *r, const struct token *t, struct datetime *w)
{
	static const struct token *(*const parsers[])(struct parser *,
	    const struct token *, struct datetime *) = { datetime_parse_repeat,
		datetime_parse_relative, datetime_parse_window,
		datetime_parse_units, datetime_parse_adverb,
		datetime_parse_range, datetime_parse_duration };
	const struct token *best = NULL, *n;
	struct local_range range = { 0 };
	bool has_range = false;
	size_t i;

	*w = (struct datetime){ .kind = DATETIME_DURATION };
	best = datetime_parse_unknown(r, t, w);
	if (best != NULL) {
		w->start = t->start;
		w->end = best[-1].end;
		return best;
	}
	for (i = 0; i < NELEM(parsers); i++) {
		struct datetime one = { .kind = DATETIME_DURATION };

		r->has_range = false;
		n = parsers[i](r, t, &one);
		if (n == NULL || n <= t || (best != NULL && n <= best))
			continue;
		best = n;
		*w = one;
		range = r->range;
		has_range = r->has_range;
	}
	if (best == NULL)
		return NULL;
	if (has_range)
		datetime_set_bounds(w, &range, r->now);
	w->start = t->start;
	w->end = best[-1].end;
	return best;
}

size_t
datetime_find(
    struct datetime_now now, struct str text, struct datetime *dst, size_t max)
{
	struct holiday_cache holidays = { 0 };
	struct parser r;
	const struct token *t, *n, *most;
	size_t count = 0, at = 0;

	if (text.n > DATETIME_TEXT_MAX)
		text.n = DATETIME_TEXT_MAX;
	r.now = now;
	r.range = (struct local_range){ 0 };
	r.local.holidays = &holidays;
	r.local.now = zone_local_of(now.zone, now.now);
	r.local.today = local_day(r.local.now);
	r.local.is_used = now.is_used;
	r.local.zone = now.zone;
	while (at < text.n && count < max) {
		token_scan_from(&r.scan, text, at);
		/* Later tokens are scanned again with their context. */
		most = r.scan.tok + r.scan.ntok;
		if (!r.scan.is_last)
			most -= r.scan.ntok / 3;
		for (t = r.scan.tok; t < most && count < max; t = n) {
			n = t + 1;
			if (t->type == TOK_OTHER)
				continue;
			n = datetime_parse_longest(&r, t, &dst[count]);
			if (n == NULL)
				n = t + 1;
			else
				count++;
		}
		at = r.scan.is_last && t >= r.scan.tok + r.scan.ntok ? text.n
								     : t->start;
	}
	if (count > 0 && now.is_used != NULL)
		*now.is_used = true;
	return count;
}
