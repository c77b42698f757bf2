/*
 * What is counted from now, and lengths of time.
 */
#include "core/clock.h"
#include "zh/reader.h"

#define DAY INT64_C(86400)
/* Most units beside the current one. */
#define COUNT_MAX 10000

/* The start of the unit in which a local time lies. */
static int64_t
unit_start(int64_t local, int unit, int64_t add)
{
	int64_t day = local >= 0 ? local / DAY : (local - DAY + 1) / DAY;
	struct civil c = civil_of_days(day);

	switch (unit) {
	case UNIT_SECOND:
		return local + add;
	case UNIT_MINUTE:
		return local - local % 60 + add * 60;
	case UNIT_KE:
		return local - local % 900 + add * 900;
	case UNIT_HOUR:
		return local - local % 3600 + add * 3600;
	case UNIT_DAY:
		return (day + add) * DAY;
	case UNIT_WEEK:
		return (day - civil_weekday(day) + 1 + 7 * add) * DAY;
	case UNIT_MONTH:
		c.month += (int)add;
		break;
	case UNIT_QUARTER:
		c.month = (c.month - 1) / 3 * 3 + 1 + 3 * (int)add;
		break;
	default:
		c.month = 1;
		c.year += add;
	}
	c.day = 1;
	return civil_days(c) * DAY;
}

const struct token *
read_units(struct reader *r, const struct token *t, struct when *w)
{
	const struct token *n;
	struct length l;
	struct reach out = { 0 };
	int64_t count;
	int sign;

	if (t->type == TOK_DAYS) {
		out.from = (r->here.today + t->v) * DAY;
		out.to = (r->here.today + t->w) * DAY;
		out.grain = WHEN_DAY;
		w->kind = WHEN_INTERVAL;
		w->confidence = .95;
		when_set(w, out, r);
		return t + 1;
	}
	n = t + 1;
	if (n->type == TOK_GE || (n->type == TOK_NUM && n->num <= 1))
		n++;
	if (t->type == TOK_REL && t->v >= -1 && t->v <= 1 && !t->is_latin &&
	    n->type == TOK_UNIT && n->w == 0 && n->v < UNIT_DAY) {
		/* 下一个小时 */
		out.from = unit_start(r->here.now, n->v, t->v);
		out.to = unit_start(r->here.now, n->v, t->v + 1);
		out.grain = reader_grain(n->v);
		w->kind = WHEN_INTERVAL;
		w->confidence = .85;
		when_set(w, out, r);
		return n + 1;
	}
	if (t->type == TOK_REL && t->v != 0 && t->v >= -1 && t->v <= 1)
		sign = t->v;
	else if ((t->type == TOK_AFTER || t->type == TOK_BEFORE) && t->w == 1)
		sign = t->type == TOK_AFTER ? 1 : -1;
	else
		return NULL;
	n = t + 1;
	if (n->type != TOK_NUM && n->type != TOK_SOME)
		return NULL;
	n = length_read(n, &l);
	/* 开会前十分钟 counts from something else than now. */
	if (n != NULL && l.finest < UNIT_DAY && scan_is_tail(&r->scan, t))
		return NULL;
	if (n == NULL) {
		/* 前两月 */
		if (t[1].type != TOK_NUM || t[2].type != TOK_UNIT)
			return NULL;
		l = (struct length){ .finest = t[2].v };
		l.n[l.finest] = t[1].num;
		n = t + 3;
	}
	if (l.n[l.finest] < 1 || l.n[l.finest] > COUNT_MAX)
		return NULL;
	count = (int64_t)l.n[l.finest];
	if (sign > 0) {
		out.from = unit_start(r->here.now, l.finest, 1);
		out.to = unit_start(r->here.now, l.finest, 1 + count);
	} else {
		out.from = unit_start(r->here.now, l.finest, -count);
		out.to = unit_start(r->here.now, l.finest, 0);
	}
	out.grain = reader_grain(l.finest);
	w->kind = WHEN_INTERVAL;
	w->is_vague = l.is_vague;
	w->confidence = .85;
	when_set(w, out, r);
	return n;
}

/* Where a stretch of time ends that is counted from now. */
enum stretch {
	STRETCH_WITHIN, /* 三天内: at now */
	STRETCH_COMING, /* 未来三天: days are whole, from tomorrow on */
	STRETCH_PAST,   /* 过去三天: days are whole, up to yesterday */
	STRETCH_RECENT, /* 最近三天: up to now */
};

static void
stretch_set(
    struct reader *r, const struct length *l, enum stretch kind, struct when *w)
{
	int sign = kind == STRETCH_WITHIN || kind == STRETCH_COMING ? 1 : -1;
	int64_t at = r->here.now, other;
	struct reach out = { .grain = reader_grain(l->finest) };

	if (l->finest >= UNIT_DAY && kind == STRETCH_COMING)
		at = (r->here.today + 1) * DAY;
	else if (l->finest >= UNIT_DAY && kind != STRETCH_WITHIN)
		at = r->here.today * DAY;
	other = length_add(
	    l, (struct here){ .now = at, .today = r->here.today }, sign);
	out.from = sign > 0 ? at : other;
	out.to = sign > 0 ? other : kind == STRETCH_RECENT ? r->here.now : at;
	if (kind == STRETCH_WITHIN)
		out.at = out.to;
	w->kind = WHEN_INTERVAL;
	w->is_bounded = true;
	w->is_relative = true;
	w->is_vague = l->is_vague;
	w->confidence = l->confidence;
	when_set(w, out, r);
	w->seconds = sign * length_seconds(l);
}

const struct token *
read_stretch(struct reader *r, const struct token *t, struct when *w)
{
	const struct token *n = NULL;
	struct length l;
	enum stretch kind = STRETCH_WITHIN;

	if (t->type == TOK_COMING || t->type == TOK_PAST) {
		kind = t->type == TOK_COMING ? STRETCH_COMING
		    : t->v > 0               ? STRETCH_RECENT
					     : STRETCH_PAST;
		n = t + 1;
		if (n->type == TOK_OF)
			n++;
	} else if ((t->type == TOK_IN && t->w == 1) || t->type == TOK_WITHIN) {
		n = t + 1;
	} else if (t->type == TOK_REL && t->is_latin && t->v != 0 &&
	    t[1].type == TOK_NUM) {
		kind = t->v > 0 ? STRETCH_COMING : STRETCH_PAST;
		n = t + 1;
	}
	if (n != NULL) {
		if (n->type == TOK_AT)
			n++;
		n = length_read(n, &l);
		if (n == NULL)
			return NULL;
		if (n->type == TOK_WITHIN)
			n++;
	} else {
		n = length_read(t, &l);
		if (n == NULL || n->type != TOK_WITHIN)
			return NULL;
		n++;
	}
	stretch_set(r, &l, kind, w);
	return n;
}

/* A day so far from today, so that a time of day may follow. */
static bool
day_moment(const struct length *l, int sign, struct moment *m)
{
	double months =
	    12 * l->n[UNIT_YEAR] + 3 * l->n[UNIT_QUARTER] + l->n[UNIT_MONTH];
	double days = 7 * l->n[UNIT_WEEK] + l->n[UNIT_DAY];
	int i;

	for (i = 0; i < UNIT_DAY; i++) {
		if (l->n[i] > 0)
			return false;
	}
	if (months > 12000 || days > 365000)
		return false;
	/* 一个半月后 */
	days += (months - (int)months) * 30;
	if (days < (int)days || days > (int)days)
		return false;
	*m = (struct moment){ .confidence = l->confidence };
	m->days = (int)days * sign;
	m->months = (int)months * sign;
	m->has = m->months == 0 ? HAS_DAYS : HAS_MONTHS;
	return true;
}

/* The bounds of what is so far from now. */
static const struct token *
relative_set(struct reader *r, const struct token *n, const struct length *l,
    int sign, struct when *w)
{
	struct reach out = { 0 };
	const struct token *end;
	struct moment m;

	w->kind = WHEN_INSTANT;
	w->is_relative = true;
	w->is_vague = l->is_vague;
	w->confidence = l->confidence;
	if (day_moment(l, sign, &m)) {
		/* 两周后的周三 */
		if (l->finest == UNIT_WEEK && n->type == TOK_OF &&
		    n[1].type == TOK_WDAY && n[1].w == 0) {
			struct moment d = { .has = 0 };

			end = date_read(n + 1, &d);
			m.has = HAS_WEEK | HAS_WDAY;
			m.week = m.days / 7;
			m.wday = d.wday;
			n = end != NULL ? end : n;
		}
		/* 一周后的今天 */
		if (n->type == TOK_OF && n[1].type == TOK_DAY && n[1].v == 0 &&
		    n[1].w == PART_NONE)
			n += 2;
		end = time_read(n, &m);
		n = end != NULL ? end : n;
		if (!moment_reach(&m, r->here, &out))
			return NULL;
		if (end != NULL && out.is_interval)
			w->kind = WHEN_INTERVAL;
		w->is_relative = end == NULL && m.has != (HAS_WEEK | HAS_WDAY);
	} else {
		out.from = length_add(l, r->here, sign);
		out.grain = reader_grain(l->finest);
		out.to = out.from +
		    (out.grain == WHEN_SECOND          ? 1
			    : out.grain == WHEN_MINUTE ? 60
						       : 3600);
	}
	when_set(w, out, r);
	if (w->is_relative)
		w->seconds = sign * length_seconds(l);
	return n;
}

const struct token *
read_relative(struct reader *r, const struct token *t, struct when *w)
{
	const struct token *n = t;
	bool passes = false, in = false;
	struct length l;
	int sign = 0;

	if (n->type == TOK_ABOUT)
		n++;
	if (n->type == TOK_PASS) {
		passes = true;
		n++;
		if (n->type == TOK_ABOUT)
			n++;
	} else if (n->type == TOK_IN && n->w == 0) {
		in = true;
		n++;
	}
	n = length_read(n, &l);
	if (n == NULL)
		return NULL;
	if (n->type == TOK_ABOUT && n->w == 1) {
		l.is_vague = true;
		n++;
	}
	if (n->type == TOK_OF && n[1].type == TOK_AFTER)
		n++;
	if (n->type == TOK_AFTER && !n->is_latin) {
		sign = 1;
		n++;
	} else if (n->type == TOK_LATER) {
		sign = 1;
		n++;
	} else if (n->type == TOK_AGO ||
	    (n->type == TOK_BEFORE && !n->is_latin)) {
		sign = -1;
		n++;
	} else if (passes || in) {
		sign = 1;
	}
	if (sign == 0)
		return NULL;
	return relative_set(r, n, &l, sign, w);
}

const struct token *
read_length(struct reader *r, const struct token *t, struct when *w)
{
	const struct token *n;
	struct length l, to;
	bool about = false;

	if (t->type == TOK_FOR || t->type == TOK_ABOUT) {
		about = t->type == TOK_ABOUT;
		t++;
	}
	/* 三到五天, 10-15分钟 */
	if (t->type == TOK_NUM && t[1].type == TOK_TO && t[2].type == TOK_NUM &&
	    t[2].num > t->num) {
		n = length_read(t + 2, &l);
		if (n != NULL) {
			to = l;
			to.n[l.finest] = (t->num + t[2].num) / 2;
			l = to;
			l.is_vague = true;
		}
	} else {
		n = length_read(t, &l);
	}
	if (n == NULL)
		return NULL;
	if (n[-1].is_latin &&
	    str_starts(scan_behind(&r->scan, n - 1), STR(" old")))
		return NULL;
	if (n->type == TOK_ABOUT && n->w == 1) {
		about = true;
		n++;
	}
	w->kind = WHEN_DURATION;
	w->grain = reader_grain(l.finest);
	w->seconds = length_seconds(&l);
	w->is_vague = l.is_vague || about;
	w->confidence = l.confidence;
	w->offset_min = 0;
	return n;
}
