/*
 * Ranges: from one instant to another, or open at one end.
 */
#include "core/clock.h"
#include "zh/zh_internal.h"

#define DAY INT64_C(86400)

static bool
range_ends_with_any(struct str s, const char *const *ends)
{
	for (; *ends != NULL; ends++) {
		if (str_ends(s, str_of(*ends)))
			return true;
	}
	return false;
}

static bool
range_starts_with_any(struct str s, const char *const *starts)
{
	for (; *starts != NULL; starts++) {
		if (str_starts(s, str_of(*starts)))
			return true;
	}
	return false;
}

/* 快一点, 两点建议: looks like an hour and is not. */
static bool
range_is_amount(const struct parser *r, const struct token *t,
    const struct instant *m, const struct token *n)
{
	static const char *const verbs[] = { "到", "在", "于", "是", "定", "设",
		"约", "闹钟", "提醒", "叫", "改", "至", "从", "我", "要", "的",
		",", "。", " ", "!", "?", ":", ";", "、", "吧", "了", "会",
		"开", "就", "等", NULL };
	static const char *const things[] = { "建议", "意见", "要求", "原因",
		"理由", "说明", "注意", "启示", "看法", "想法", "问题", "内容",
		"心", "区别", "好处", "水", "钱", "东西", "声", "儿", "希望",
		"道理", NULL };
	struct str before = token_scan_before(&r->scan, t);
	struct str behind = token_scan_after(&r->scan, n - 1);

	/* 三点钟方向 */
	if (m->has == HAS_CLOCK && str_starts(behind, STR("方向")))
		return true;
	if (m->has != HAS_CLOCK || m->clock_grain != DATETIME_HOUR ||
	    t->type != TOK_NUM || t->is_ascii || n != t + 2 || t[1].w == 1)
		return false;
	if (range_starts_with_any(behind, things))
		return true;
	return t->num <= 1 && before.n > 0 &&
	    !range_ends_with_any(before, verbs);
}

/* 3号楼, 5号线. */
static bool
range_is_name(
    const struct parser *r, const struct instant *m, const struct token *n)
{
	static const char *const things[] = { "楼", "线", "门", "桌", "房",
		"厅", "车", "机", "仓", "馆", "院", "口", "店", "柜", "床",
		"球", "灯", "位", "选", "电池", "窗", "台", "航站", "键", "厂",
		"室", "库", "场", "频道", NULL };

	return m->has == HAS_DAY && n[-1].type == TOK_HAO &&
	    range_starts_with_any(token_scan_after(&r->scan, n - 1), things);
}

/* The confidence of an instant by its parts. */
static double
range_confidence(const struct instant *m)
{
	double c = m->confidence;

	if (m->has == HAS_CLOCK)
		c = m->is_24h ? .9 : .8;
	else if (m->has == HAS_MONTH || m->has == HAS_DAY)
		c = c < .8 ? c : .8;
	else if (m->has == HAS_QUARTER || m->has == HAS_DAY_PART)
		c = .85;
	else if ((m->has & HAS_CLOCK) != 0 && (m->has & HAS_DAY_PART) == 0 &&
	    !m->is_24h)
		c = c < .85 ? c : .85;
	return c;
}

/* The bare number in 三到五点, 5-8号, 周一到五: typed by the range's end. */
static const struct token *
range_parse_shared(const struct token *t, struct instant *a, struct instant *b)
{
	const struct token *n;

	bool latin_and =
	    t[1].type == TOK_AND && t[1].is_latin && t[-1].type == TOK_FROM;
	bool between = t[1].type == TOK_AND && !t[1].is_latin && t[1].v == 1;

	if (t->type != TOK_NUM ||
	    (t[1].type != TOK_TO && !latin_and && !between))
		return NULL;
	n = instant_parse(t + 2, b);
	if (n == NULL || t[2].type != TOK_NUM ||
	    (between && n->type != TOK_BETWEEN))
		return NULL;
	if (b->has == HAS_YEAR && t->digits == t[2].digits && t->digits > 1 &&
	    (t->digits == 4 || t->has_zero) && !t->is_decimal) {
		/* 2024-2026年 */
		a->has |= HAS_YEAR;
		a->year = (int)t->num;
		a->year_is_short = t->digits == 2;
		return n;
	}
	if ((t[3].type == TOK_OCLOCK || t[3].type == TOK_AMPM) &&
	    token_is_int(t, 0, 24)) {
		a->has |= HAS_CLOCK;
		a->clock_s = (int)t->num * 3600;
		a->clock_grain = DATETIME_HOUR;
		a->is_24h = t->num > 12;
		if (t[3].type == TOK_AMPM) {
			/* between 2 and 4 pm */
			a->clock_s += t[3].v == 1 && t->num < 12 ? 43200 : 0;
			a->is_24h = true;
		}
		return n;
	}
	if ((b->has & HAS_DAY) != 0 && (b->has & HAS_MONTH) == 0 &&
	    token_is_int(t, 1, 31)) {
		a->has |= HAS_DAY;
		a->day = (int)t->num;
		return n;
	}
	if (b->has == HAS_MONTH && token_is_int(t, 1, 12) &&
	    (a->has & HAS_MONTH) == 0) {
		a->has |= HAS_MONTH;
		a->month = (int)t->num;
		return n;
	}
	return NULL;
}

/*
 * 七八点, 五六月, 十五六号: two neighbours, after the date and the part of the
 * day in *a.
 */
static const struct token *
range_parse_neighbours(
    const struct token *t, struct instant *a, struct instant *b)
{
	const struct token *n = t + 1;
	int lo, hi;

	if (token_is_pair_row(t)) {
		lo = (int)t->num / 10;
		hi = lo + 1;
	} else if (token_is_int(t, 90, 90) && !t->is_ascii &&
	    n->type == TOK_OCLOCK) {
		/* 九十点 */
		lo = 9;
		hi = 10;
	} else {
		if (n->type == TOK_COMMA && n->w == 0)
			n++;
		/* 3、4点 */
		if (!token_is_int(t, 1, 30) || !token_is_int(n, 1, 12) ||
		    ((t->is_ascii || n->is_ascii) && n == t + 1))
			return NULL;
		lo = (int)t->num;
		hi = n->num <= 9 ? lo - lo % 10 + (int)n->num : (int)n->num;
		if (hi != lo + 1)
			return NULL;
		n++;
	}
	*b = *a;
	if (n->type == TOK_OCLOCK && hi <= 24 && (a->has & HAS_CLOCK) == 0) {
		a->clock_s = lo * 3600;
		b->clock_s = hi * 3600;
		a->clock_grain = b->clock_grain = DATETIME_HOUR;
		a->is_24h = b->is_24h = hi > 13;
		a->has |= HAS_CLOCK;
		b->has = HAS_CLOCK | (a->has & HAS_DAY_PART);
	} else if (token_is_unit(n, UNIT_MONTH) && n->w > 0 && hi <= 12 &&
	    (a->has & ~(unsigned)HAS_YEAR) == 0) {
		a->month = lo;
		b->month = hi;
		a->has |= HAS_MONTH;
		b->has |= HAS_MONTH;
	} else if ((n->type == TOK_HAO ||
		       (token_is_unit(n, UNIT_DAY) && n->w == 1)) &&
	    hi <= 31 && (a->has & ~(unsigned)(HAS_YEAR | HAS_MONTH)) == 0) {
		a->day = lo;
		b->day = hi;
		a->has |= HAS_DAY;
		b->has |= HAS_DAY;
	} else {
		return NULL;
	}
	a->is_approximate = true;
	return n + 1;
}

/* Parts that the end omits are taken from the start. */
static void
range_inherit(const struct instant *a, struct instant *b)
{
	unsigned date = a->has & HAS_DATE;

	if ((b->has & HAS_DAY_PART) == 0 && (a->has & HAS_DAY_PART) != 0 &&
	    (b->has & (HAS_CLOCK | HAS_DATE)) == HAS_CLOCK && !b->is_24h) {
		b->has |= HAS_DAY_PART;
		b->day_part = a->day_part;
	}
	if ((b->has & HAS_YEAR) == 0 && (date & HAS_YEAR) != 0 &&
	    (b->has & (HAS_MONTH | HAS_DAY)) != 0) {
		b->has |= HAS_YEAR;
		b->year = a->year;
		b->year_is_rel = a->year_is_rel;
		b->year_is_short = a->year_is_short;
	}
	if ((b->has & HAS_MONTH) == 0 && (date & HAS_MONTH) != 0 &&
	    (b->has & HAS_DAY) != 0) {
		b->has |= HAS_MONTH;
		b->month = a->month;
		b->month_is_rel = a->month_is_rel;
		b->is_lunar = b->is_lunar || a->is_lunar;
	}
	if ((b->has & HAS_WDAY) != 0 && (b->has & HAS_WEEK) == 0 &&
	    (date & HAS_WEEK) != 0) {
		b->has |= HAS_WEEK;
		b->week = a->week;
	}
}

/* A month or a holiday without a year: the first one not before from. */
static bool
range_next_year(const struct instant *b, struct local_now h, int64_t from,
    struct local_range *to)
{
	struct instant next = *b;

	if ((b->has & (HAS_MONTH | HAS_HOLIDAY)) == 0 || b->month_is_rel)
		return false;
	next.year = (int)civil_of_days(from / DAY).year;
	if ((b->has & HAS_YEAR) != 0)
		next.year = b->year + 1;
	next.has |= HAS_YEAR;
	if (!instant_resolve(&next, h, to))
		return false;
	next.year++;
	return to->from >= from || instant_resolve(&next, h, to);
}

/* Resolve the end of a range; it is later than its start. */
static bool
range_resolve_end(struct parser *r, const struct instant *b,
    const struct local_range *from, struct local_range *to)
{
	struct local_now h = r->local;
	bool dated = (b->has & HAS_DATE) != 0;

	if (!instant_resolve(b, h, to))
		return false;
	if (!dated && (b->has & (HAS_CLOCK | HAS_DAY_PART)) != 0) {
		/* On the day of the start. */
		int64_t day = local_day(from->from);
		int64_t duration = to->to - to->from;
		int s, e;

		if ((b->has & HAS_CLOCK) != 0) {
			s = instant_clock(b);
		} else {
			day_part_bounds(b->day_part, &s, &e);
		}
		to->from = day * DAY + s;
		while (to->from <= from->from)
			to->from += b->is_24h || (b->has & HAS_DAY_PART) != 0
			    ? DAY
			    : DAY / 2;
		to->to = to->from + duration;
	} else if (dated && to->from < from->from) {
		/* 周五到周一, 十一月到二月: the one after the start. */
		if ((b->has & HAS_WDAY) != 0 && b->nth == 0) {
			while (to->from < from->from) {
				to->from += 7 * DAY;
				to->to += 7 * DAY;
			}
		} else if (!range_next_year(b, h, from->from, to)) {
			return false;
		}
	}
	return to->from >= from->from;
}

/* From the start of a to the end of b. */
static bool
range_set(
    struct parser *r, struct instant *a, struct instant *b, struct datetime *w)
{
	struct local_range from, to, out;

	range_inherit(a, b);
	if (!instant_resolve(a, r->local, &from) ||
	    !range_resolve_end(r, b, &from, &to))
		return false;
	out = from;
	/* A clock time is exclusive; a day or a month is included. */
	out.to = (b->has & HAS_CLOCK) != 0 ? to.from : to.to;
	if (from.grain > to.grain)
		out.grain = to.grain;
	w->kind = DATETIME_INTERVAL;
	w->is_bounded = true;
	w->confidence = range_confidence(a) > range_confidence(b)
	    ? range_confidence(a)
	    : range_confidence(b);
	datetime_set(w, out, r);
	return true;
}

/* 三点以后, 周五之前, 周五或之前, 从明天起. */
static const struct token *
range_parse_open(struct parser *r, const struct token *n,
    const struct local_range *at, struct datetime *w)
{
	struct local_range out = *at;
	bool coarse = at->grain >= DATETIME_DAY || at->is_interval;
	bool included = false;

	if (n->is_latin)
		return NULL;
	/* 及以后, 或之前: what is named belongs to it. */
	if ((n->type == TOK_OR || (n->type == TOK_AND && n->v == 1)) &&
	    (n[1].type == TOK_AFTER || n[1].type == TOK_BEFORE) &&
	    !n[1].is_latin) {
		included = true;
		n++;
	}
	switch (n->type) {
	case TOK_AFTER:
		/* 后 alone begins too many other words. */
		if (n->w == 1 && !included && at->grain >= DATETIME_DAY &&
		    n[1].type != TOK_END && n[1].type != TOK_COMMA &&
		    n[1].type != TOK_OTHER)
			return NULL;
		out.from = coarse && !included ? at->to : at->from;
		out.to = RANGE_OPEN;
		out.at = 0;
		break;
	case TOK_SINCE:
		out.to = RANGE_OPEN;
		if (n->v == 2 && at->from < r->local.now)
			out.to = r->local.now;
		break;
	case TOK_WITHIN:
		if (!coarse)
			return NULL;
		out.at = out.to;
		break;
	case TOK_BEFORE:
		out.from = RANGE_OPEN;
		out.to = (n->v == 1 || included) && coarse ? at->to : at->from;
		out.at = out.to;
		break;
	default:
		return NULL;
	}
	w->kind = DATETIME_INTERVAL;
	w->is_bounded = true;
	datetime_set(w, out, r);
	return n + 1;
}

/* before 5 pm, after friday, since monday. */
static const struct token *
range_parse_prefixed(
    struct parser *r, const struct token *t, struct datetime *w)
{
	struct instant m;
	struct local_range at;
	const struct token *n = instant_parse(t + 1, &m);
	struct token shape = *t;

	if (n == NULL || !instant_resolve(&m, r->local, &at))
		return NULL;
	/* since monday: the last one */
	if (t->type == TOK_FROM && t->v == 0 && at.from > r->local.now &&
	    (m.has & (HAS_WDAY | HAS_WEEK)) == HAS_WDAY && m.nth == 0) {
		at.from -= 7 * DAY;
		at.to -= 7 * DAY;
	}
	shape.is_latin = false;
	shape.w = 0;
	/* until friday: its end */
	shape.v = t->type == TOK_TO || (t->type == TOK_BEFORE && t->v == 1);
	if (t->type == TOK_FROM)
		shape.type = TOK_SINCE;
	if (t->type == TOK_TO)
		shape.type = TOK_BEFORE;
	w->confidence = range_confidence(&m);
	if (range_parse_open(r, &shape, &at, w) == NULL)
		return NULL;
	/* 自从去年以来 */
	return t->type == TOK_FROM && n->type == TOK_SINCE ? n + 1 : n;
}

/* From one instant to another; NULL: there is one at most. */
static const struct token *
range_parse_closed(struct parser *r, const struct token *t, bool from,
    struct instant *a, struct datetime *w)
{
	const struct token *n, *end;
	struct instant b, lower;

	n = instant_parse(t, a);
	lower = *a;
	end = range_parse_neighbours(n != NULL ? n : t, &lower, &b);
	if (end != NULL && range_set(r, &lower, &b, w)) {
		w->is_approximate = true;
		if (end->type == TOK_ABOUT && end->w == 1)
			end++;
		return end->type == TOK_BELL ? end + 1 : end;
	}
	end = range_parse_shared(n != NULL ? n : t, a, &b);
	if (end == NULL && n != NULL && range_is_name(r, a, n))
		return NULL;
	/* 从周一开始到周五 */
	if (n != NULL && n->type == TOK_SINCE && n[1].type == TOK_TO)
		n++;
	if (end == NULL && n != NULL && !range_is_amount(r, t, a, n)) {
		if (n->type == TOK_TO ||
		    (n->type == TOK_AND && n->is_latin && from))
			end = instant_parse(n + 1, &b);
		/* 6月和8月之间 */
		if (n->type == TOK_AND && !n->is_latin && n->v == 1) {
			end = instant_parse(n + 1, &b);
			if (end != NULL && end->type != TOK_BETWEEN)
				end = NULL;
		}
		/* 周一到五 */
		if (end == NULL && n->type == TOK_TO &&
		    (a->has & HAS_WDAY) != 0 && token_is_int(n + 1, 1, 6) &&
		    !n[1].is_ascii) {
			b = *a;
			b.wday = (int)n[1].num;
			end = n + 2;
		}
	}
	if (end == NULL || !range_set(r, a, &b, w))
		return NULL;
	return end->type == TOK_BETWEEN ? end + 1 : end;
}

/* Words after an instant that make it approximate. */
static const struct token *
range_skip_about(const struct token *n, struct datetime *w)
{
	if (n->type == TOK_MORE && n[-1].type == TOK_OCLOCK) {
		/* 八点多, 八点来钟 */
		w->is_approximate = true;
		return n + (n[1].type == TOK_BELL ? 2 : 1);
	}
	if (n->type == TOK_ABOUT && n->w == 1) {
		w->is_approximate = true;
		return n + 1;
	}
	return n;
}

/* 三月的第二周, 春节前三天: what is counted from the instant at. */
static const struct token *
range_parse_counted(struct parser *r, const struct token *n,
    const struct instant *a, struct local_range *at)
{
	bool is_named = (a->has & HAS_DATE) != 0 &&
	    ((a->has & HAS_DAYS) == 0 || a->days != 0);
	const struct token *next, *last = NULL;
	int i;

	/* 明年第二季度第一个月的最后一天 */
	for (i = 0; i < 3; i++) {
		next = period_select(n, r->local, at);
		if (next == NULL)
			next = period_offset(
			    n, r->local, at, is_named || n->type == TOK_OF);
		if (next == NULL)
			break;
		n = last = next;
	}
	return last;
}

/* 五月以来, 周一至今: the last one. */
static void
range_set_previous(
    struct parser *r, const struct instant *a, struct local_range *at)
{
	struct instant last = *a;
	struct local_range out;

	if (at->from <= r->local.now)
		return;
	if ((a->has & (HAS_WDAY | HAS_WEEK)) == HAS_WDAY && a->nth == 0) {
		at->from -= 7 * DAY;
		at->to -= 7 * DAY;
		return;
	}
	if ((a->has & HAS_YEAR) != 0 ||
	    (a->has & (HAS_MONTH | HAS_HOLIDAY)) == 0 || a->month_is_rel)
		return;
	last.has |= HAS_YEAR;
	last.year_is_rel = true;
	for (last.year = 0; last.year >= -1; last.year--) {
		if (instant_resolve(&last, r->local, &out) &&
		    out.from <= r->local.now) {
			*at = out;
			return;
		}
	}
}

/* 12月25日圣诞节: the same day in other words; NULL if it is another. */
static const struct token *
range_parse_same_day(
    struct parser *r, const struct token *n, const struct local_range *at)
{
	struct instant b;
	struct local_range same;
	const struct token *end;

	if (n->type != TOK_HOLIDAY || at->grain != DATETIME_DAY)
		return NULL;
	end = instant_parse(n, &b);
	return end == n + 1 && instant_resolve(&b, r->local, &same) &&
		same.from == at->from
	    ? end
	    : NULL;
}

const struct token *
datetime_parse_range(
    struct parser *r, const struct token *t, struct datetime *w)
{
	const struct token *first = t, *n, *end;
	struct instant a;
	struct local_range at;
	bool from = t->type == TOK_FROM;

	if (t->type == TOK_BEFORE && t->v == 1 && !t->is_latin &&
	    !token_scan_is_suffix(&r->scan, t)) {
		/* 截止六月 */
		return range_parse_prefixed(r, t, w);
	}
	if (t->type == TOK_TO && t->w == 0 && !t->is_latin) {
		/* 到周五为止 */
		n = range_parse_prefixed(r, t, w);
		return n != NULL && n->type == TOK_BEFORE && n->v == 1 ? n + 1
								       : NULL;
	}
	if (((from || t->type == TOK_TO) && t->w == 1) ||
	    (t->is_latin && (t->type == TOK_AFTER || t->type == TOK_BEFORE)))
		return range_parse_prefixed(r, t, w);
	if (t->type == TOK_COMMA || t->type == TOK_OF)
		return NULL;
	if (from || (t->type == TOK_ABOUT && t->w == 0))
		t++;
	end = range_parse_closed(r, t, from, &a, w);
	if (end != NULL)
		return end;
	n = instant_parse(t, &a);
	if (n == NULL || range_is_name(r, &a, n) ||
	    range_is_amount(r, t, &a, n) || !instant_resolve(&a, r->local, &at))
		return NULL;
	w->confidence = range_confidence(&a);
	w->is_approximate = a.is_approximate ||
	    ((a.has & HAS_EDGE) != 0 && a.edge <= EDGE_END) ||
	    ((a.has & HAS_DAY_PART) != 0 && a.day_part == DAY_PART_DUSK &&
		(a.has & HAS_CLOCK) == 0);
	if (n->type == TOK_SINCE && n->v > 0)
		range_set_previous(r, &a, &at);
	end = range_parse_counted(r, n, &a, &at);
	if (end == NULL)
		end = range_parse_same_day(r, n, &at);
	if (end != NULL) {
		from = false;
		n = end;
	}
	w->kind = at.is_interval ? DATETIME_INTERVAL : DATETIME_INSTANT;
	datetime_set(w, at, r);
	end = range_parse_open(r, n, &at, w);
	if (end != NULL)
		return end;
	/* 从 without an end is not an expression. */
	if (first != t && from)
		return NULL;
	if (first != t && first->type == TOK_ABOUT)
		w->is_approximate = true;
	return range_skip_about(n, w);
}
