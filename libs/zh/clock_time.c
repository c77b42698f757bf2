/*
 * Clock times, and the bounds of the parts of a day.
 */
#include "zh/zh_internal.h"

static void
clock_time_set(struct instant *m, int seconds, enum datetime_grain grain)
{
	m->has |= HAS_CLOCK;
	m->clock_s = seconds;
	m->clock_grain = grain;
}

/* 五分, 一刻, 十五: minutes. */
static const struct token *
clock_time_parse_minutes(const struct token *t, int *minutes)
{
	if (token_is_int(t, 1, 3) && token_is_unit(t + 1, UNIT_KE)) {
		*minutes = (int)t->num * 15;
		return t + 2;
	}
	if (token_is_int(t, 0, 59) && token_is_unit(t + 1, UNIT_MINUTE)) {
		*minutes = (int)t->num;
		return t + 2;
	}
	return NULL;
}

/* Whether the number at t counts something other than minutes. */
static bool
clock_time_counts_other(const struct token *t)
{
	const struct token *n = t + 1;

	return n->type == TOK_GE || n->type == TOK_UNIT ||
	    n->type == TOK_OCLOCK || n->type == TOK_HAO || n->type == TOK_NUM ||
	    (n->type == TOK_EDGE && token_touches(t, n));
}

/* What may follow 八点: 半, 一刻, 三十(分), 零五, 过五分, 差五分, 整. */
static const struct token *
clock_time_parse_after_hour(
    const struct token *t, int *s, enum datetime_grain *grain)
{
	int minutes = 0;
	const struct token *n;

	if (t->type == TOK_SHARP)
		return t + 1;
	*grain = DATETIME_MINUTE;
	if (t->type == TOK_HALF && t[1].type != TOK_GE &&
	    t[1].type != TOK_UNIT) {
		*s += 1800;
		return t + 1;
	}
	if (t->type == TOK_PASS && t->w == 1) {
		n = clock_time_parse_minutes(t + 1, &minutes);
		*s += minutes * 60;
		if (n != NULL)
			return n;
	}
	if (t->type == TOK_LACK) {
		n = clock_time_parse_minutes(t + 1, &minutes);
		*s -= minutes * 60;
		if (n != NULL)
			return n;
	}
	n = clock_time_parse_minutes(t, &minutes);
	/* 分钟 is a duration: 八点|五分钟后. */
	if (n != NULL && (token_is_unit(t + 1, UNIT_KE) || t[1].w == 1)) {
		*s += minutes * 60;
		if (token_is_int(n, 0, 59) &&
		    token_is_unit(n + 1, UNIT_SECOND)) {
			*s += (int)n->num;
			*grain = DATETIME_SECOND;
			return n + 2;
		}
		return n;
	}
	if (token_is_int(t, 0, 59) && (t->num >= 10 || t->has_zero) &&
	    token_touches(t - 1, t) && !clock_time_counts_other(t)) {
		*s += (int)t->num * 60;
		return t + 1;
	}
	*grain = DATETIME_HOUR;
	return t;
}

/* 八点, 20点, 3时 with what follows. */
static const struct token *
clock_time_parse_hour(const struct token *t, struct instant *m)
{
	enum datetime_grain grain = DATETIME_HOUR;
	int s;

	if (!token_is_int(t, 0, 24) || t[1].type != TOK_OCLOCK ||
	    token_is_pair_row(t))
		return NULL;
	s = (int)t->num * 3600;
	m->is_24h = t->num > 12 || t->num < 1 || (t->is_ascii && t->has_zero);
	if (t[1].w == 1) {
		clock_time_set(m, s, DATETIME_HOUR);
		return t[2].type == TOK_SHARP ? t + 3 : t + 2;
	}
	t = clock_time_parse_after_hour(t + 2, &s, &grain);
	clock_time_set(m, s, grain);
	return t;
}

/* 差五分八点, 差一刻到九点. */
static const struct token *
clock_time_parse_lack(const struct token *t, struct instant *m)
{
	int minutes;
	const struct token *n;

	if (t->type != TOK_LACK)
		return NULL;
	n = clock_time_parse_minutes(t + 1, &minutes);
	if (n == NULL)
		return NULL;
	if (n->type == TOK_TO)
		n++;
	n = clock_time_parse_hour(n, m);
	if (n == NULL || m->clock_grain != DATETIME_HOUR)
		return NULL;
	clock_time_set(m, m->clock_s - minutes * 60, DATETIME_MINUTE);
	return n;
}

/* am, pm make the time unambiguous; "in the morning" is a part of the day. */
static const struct token *
clock_time_parse_ampm(const struct token *t, struct instant *m)
{
	int h = m->clock_s / 3600;

	if (t->type != TOK_AMPM || h > 12)
		return t;
	if (t->w == 1 && m->clock_grain == DATETIME_HOUR)
		return t;
	if (h == 12)
		m->clock_s -= 12 * 3600;
	if (t->v == 1)
		m->clock_s += 12 * 3600;
	m->is_24h = true;
	return t + 1;
}

/* half past eight, quarter to nine, twenty (minutes) past three. */
static const struct token *
clock_time_parse_offset(const struct token *t, struct instant *m)
{
	int minutes, sign;

	/* from 10 to 5 */
	if (t[-1].type == TOK_FROM)
		return NULL;
	if (t->type == TOK_NUM && t->num <= 1 && t->is_latin &&
	    (token_is_unit(t + 1, UNIT_KE) || t[1].type == TOK_HALF))
		t++;
	if (t->type == TOK_HALF && t->is_latin)
		minutes = 30;
	else if (token_is_unit(t, UNIT_KE) && t->is_latin)
		minutes = 15;
	else if (token_is_int(t, 1, 59))
		minutes = (int)t->num;
	else
		return NULL;
	t++;
	if (token_is_unit(t, UNIT_MINUTE) && t->is_latin)
		t++;
	if (t->type == TOK_PLUS)
		sign = 1;
	else if (t->type == TOK_TO && t->is_latin && minutes <= 30 &&
	    (minutes % 5 == 0 || token_is_unit(t - 1, UNIT_MINUTE)))
		sign = -1;
	else
		return NULL;
	t++;
	if (!token_is_int(t, 1, 12) || t[1].type == TOK_UNIT)
		return NULL;
	clock_time_set(
	    m, (int)t->num * 3600 + sign * minutes * 60, DATETIME_MINUTE);
	t++;
	if (t->type == TOK_OCLOCK)
		t++;
	return clock_time_parse_ampm(t, m);
}

/* 5 pm, at 7, 5 o'clock. */
static const struct token *
clock_time_parse_bare(const struct token *t, struct instant *m)
{
	bool at = t->type == TOK_AT && t->v == 1;
	const struct token *n;

	if (at)
		t++;
	if (t->type == TOK_AT && at)
		return NULL;
	if (!token_is_int(t, 0, 24))
		return NULL;
	clock_time_set(m, (int)t->num * 3600, DATETIME_HOUR);
	m->is_24h = t->num > 12 || t->num < 1;
	n = clock_time_parse_ampm(t + 1, m);
	if (n != t + 1)
		return n;
	/* 7 in the morning */
	if (t[1].type == TOK_IN && t[2].type == TOK_AT &&
	    t[3].type == TOK_DAY_PART)
		return t + 1;
	if (!at || clock_time_counts_other(t) || t->has_zero ||
	    t[1].type == TOK_TO || t[1].type == TOK_OTHER) {
		m->has &= ~(unsigned)HAS_CLOCK;
		return NULL;
	}
	return n;
}

static const struct token *
clock_time_parse_literal(const struct token *t, struct instant *m)
{
	enum datetime_grain grain;

	if (t->type != TOK_CLOCK)
		return NULL;
	grain = t->x == 1 ? DATETIME_SECOND : DATETIME_MINUTE;
	clock_time_set(m, t->v, grain);
	m->is_24h = t->w == 1;
	m->is_zoned = t->is_zoned;
	m->zone_min = (int)t->num;
	return clock_time_parse_ampm(t + 1, m);
}

const struct token *
clock_time_parse(const struct token *t, struct instant *m)
{
	const struct token *n;

	if ((m->has & HAS_CLOCK) != 0)
		return NULL;
	if (t->type == TOK_AT && t->v == 1 &&
	    (t[1].type == TOK_CLOCK || t[1].type == TOK_HALF ||
		t[1].type == TOK_UNIT ||
		(t[1].type == TOK_NUM && t[2].type != TOK_AMPM &&
		    t[2].type != TOK_OTHER && t[2].type != TOK_END))) {
		n = clock_time_parse(t + 1, m);
		if (n != NULL)
			return n;
	}
	n = clock_time_parse_literal(t, m);
	if (n == NULL)
		n = clock_time_parse_offset(t, m);
	if (n == NULL)
		n = clock_time_parse_lack(t, m);
	if (n == NULL)
		n = clock_time_parse_hour(t, m);
	if (n == NULL)
		n = clock_time_parse_bare(t, m);
	return n;
}

void
day_part_bounds(int part, int *from, int *to)
{
	static const int hours[DAY_PART_COUNT][2] = {
		[DAY_PART_NONE] = { 0, 24 },
		[DAY_PART_DAWN] = { 0, 6 },
		[DAY_PART_EARLY] = { 5, 8 },
		[DAY_PART_MORNING] = { 4, 12 },
		[DAY_PART_FORENOON] = { 8, 12 },
		[DAY_PART_NOON] = { 12, 13 },
		[DAY_PART_AFTERNOON] = { 12, 18 },
		[DAY_PART_DUSK] = { 17, 19 },
		[DAY_PART_EVENING] = { 18, 24 },
		[DAY_PART_NIGHT] = { 22, 26 },
		[DAY_PART_MIDNIGHT] = { 24, 25 },
		[DAY_PART_DAYTIME] = { 6, 18 },
	};

	*from = hours[part][0] * 3600;
	*to = hours[part][1] * 3600;
}

int
instant_clock(const struct instant *m)
{
	const int noon = 12 * 3600;
	int s = m->clock_s;

	if ((m->has & HAS_DAY_PART) == 0 || s >= 13 * 3600)
		return s;
	switch (m->day_part) {
	case DAY_PART_DAWN:
		return s >= noon ? s - noon : s;
	case DAY_PART_NOON:
		return s < 10 * 3600 ? s + noon : s;
	case DAY_PART_AFTERNOON:
	case DAY_PART_DUSK:
		return s < noon ? s + noon : s;
	case DAY_PART_EVENING:
	case DAY_PART_NIGHT:
		/* 晚上一点 is in the following night. */
		if (s < 5 * 3600)
			return s + 2 * noon;
		return s + noon;
	case DAY_PART_MIDNIGHT:
		if (s >= noon)
			return s + noon;
		return s >= 9 * 3600 ? s + noon : s + 2 * noon;
	case DAY_PART_DAYTIME:
		return s < 5 * 3600 ? s + noon : s;
	default:
		return s;
	}
}
