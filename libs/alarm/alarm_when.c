/*
 * Words are read by clocks without changes, in UTC, as if now were local: so
 * an occurrence in a gap of the clocks does not change the time of day of the
 * rule.  Only what counts from now (十分钟后) is elapsed time.
 */
#include "alarm/alarm_when.h"

#include <stdio.h>

#include "core/mem.h"
#include "zh/datetime.h"
#include "zh/hanzi.h"
#include "zh/holiday.h"

#define DAY      INT64_C(86400)
#define HALF     (DAY / 2)
#define NINE     (9 * 3600)
#define WORKDAYS 0x1fu
/* Expressions that are looked for; two are too many. */
#define FOUND_MAX 4
/* Years in which a date of the year must be the same one. */
#define YEARLY_TRIES 4
/* Below, an expression likely means something else. */
#define CONFIDENCE_MIN .5

/* The state of one reading. */
struct when_read {
	const struct alarm_when_input *in;
	char folded[3 * ALARM_WORDS_MAX];
	struct str text; /* in folded */
	struct zone *utc;
	struct wall local; /* now as the clocks show it, in UTC */
	struct datetime found[FOUND_MAX];
	size_t n;
};

/* ---- the text ---- */

/* NFKC of what keyboards and models write: full-width forms, blanks. */
static void
when_fold(struct str s, struct str *out, char *dst)
{
	size_t at = 0, n = 0;
	int32_t c;

	while ((c = str_utf8_next(s, &at)) >= 0) {
		if (c > 0xff00 && c < 0xff5f)
			c -= 0xfee0;
		else if (c == 0x3000)
			c = ' ';
		if (c >= 'A' && c <= 'Z')
			c += 'a' - 'A';
		if (c < 0x80) {
			dst[n++] = (char)c;
			continue;
		}
		/* Copied as it was read. */
		size_t from = at - (c < 0x800 ? 2 : c < 0x10000 ? 3 : 4);

		memcpy(dst + n, s.p + from, at - from);
		n += at - from;
	}
	*out = (struct str){ dst, at == s.n ? n : 0 };
	(void)hanzi_simplify(dst, out->n);
	*out = str_trim(*out);
}

bool
alarm_is_chinese(struct str text)
{
	size_t i;

	for (i = 0; i < text.n; i++) {
		if ((unsigned char)text.p[i] >= 0x80)
			return true;
	}
	return text.n == 0;
}

/* What may stand beside a time in the words of a user or a model. */
static const struct str when_fillers[] = { STR_INIT("提醒我"), STR_INIT("叫我"),
	STR_INIT("的时候"), STR_INIT("时候"), STR_INIT("闹钟"),
	STR_INIT("起床"), STR_INIT("请"), STR_INIT("在"), STR_INIT("于"),
	STR_INIT("到"), STR_INIT("的"), STR_INIT("吧"), STR_INIT("就"),
	STR_INIT("我"), STR_INIT("要"), STR_INIT("开始"), STR_INIT("准时"),
	STR_INIT("整"), STR_INIT("the"), STR_INIT("please"),
	STR_INIT("from now"), STR_INIT("at"), STR_INIT("on"), STR_INIT("in"),
	STR_INIT("for"), STR_INIT("by the"), STR_INIT(" "), STR_INIT(","),
	STR_INIT("."), STR_INIT("!"), STR_INIT("，"), STR_INIT("。"),
	STR_INIT("、"), STR_INIT("~") };

/* Whether a part of the text has nothing but fillers. */
static bool
when_is_filler(struct str s)
{
	size_t n;

	while (s.n > 0) {
		n = str_starts_any(s, when_fillers, NELEM(when_fillers));
		if (n == 0)
			return false;
		s.p += n;
		s.n -= n;
	}
	return true;
}

/* Whether it names an hour that is no single one: 七八点. */
static bool
when_has_clock(struct str s)
{
	static const struct str words[] = { STR_INIT("点"), STR_INIT("时"),
		STR_INIT("o'clock"), STR_INIT("oclock") };
	size_t i;

	for (i = 0; i < NELEM(words); i++) {
		if (str_find(s, words[i]) >= 0)
			return true;
	}
	for (i = 0; i < s.n; i++) {
		if (s.p[i] >= '0' && s.p[i] <= '9')
			return true;
	}
	return false;
}

static bool
when_has(const struct when_read *r, const struct str *words, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++) {
		if (str_find(r->text, words[i]) >= 0)
			return true;
	}
	return false;
}

/* The error of the text beside its time. */
static enum alarm_when_error
when_check_rest(const struct when_read *r, const struct datetime *w)
{
	struct str before = { r->text.p, w->start };
	struct str after = { r->text.p + w->end, r->text.n - w->end };

	if (when_is_filler(before) && when_is_filler(after))
		return ALARM_WHEN_OK;
	return when_has_clock(before) || when_has_clock(after)
	    ? ALARM_WHEN_AMBIGUOUS
	    : ALARM_WHEN_UNREAD;
}

/* ---- instants ---- */

static void
when_set_instant(struct alarm_rule *out, struct wall t)
{
	*out = (struct alarm_rule){
		.kind = ALARM_SINGLE, .every = 1, .instant = t
	};
}

static void
when_set_local(struct alarm_rule *out, int64_t local)
{
	*out = (struct alarm_rule){ .kind = ALARM_SINGLE,
		.every = 1,
		.dates = { local / DAY },
		.n_dates = 1,
		.time_s = (int)(local % DAY) };
}

static enum alarm_when_error
when_set_elapsed(
    const struct when_read *r, double seconds, struct alarm_rule *out)
{
	if (seconds < 1)
		return ALARM_WHEN_EXPIRED;
	if (seconds > ALARM_EVERY_S_MAX * 100.)
		return ALARM_WHEN_FAR;
	when_set_instant(out,
	    (struct wall){ r->in->now.ms + (int64_t)(seconds * 1000 + .5) });
	return ALARM_WHEN_OK;
}

/* The half of the day of the alarm that is changed. */
static int64_t
when_half_near(const struct when_read *r, int64_t local)
{
	int64_t at = local - local % DAY + local % HALF +
	    (r->in->near_s >= HALF ? HALF : 0);

	return at * 1000 <= r->local.ms ? at + DAY : at;
}

/* It has a zone of its own: it is an instant as it is. */
static enum alarm_when_error
when_read_zoned(const struct when_read *r, struct alarm_rule *out)
{
	struct datetime_now now = { .now = r->in->now, .zone = r->in->zone };
	struct datetime w;

	if (datetime_find(now, r->text, &w, 1) != 1 || w.at.ms <= now.now.ms)
		return ALARM_WHEN_EXPIRED;
	when_set_instant(out, w.at);
	return ALARM_WHEN_OK;
}

static enum alarm_when_error
when_read_instant(
    const struct when_read *r, const struct datetime *w, struct alarm_rule *out)
{
	int64_t local = w->at.ms / 1000;

	if (w->is_approximate || w->is_loose || w->is_unknown ||
	    w->grain >= DATETIME_MONTH)
		return ALARM_WHEN_INEXACT;
	if (w->is_zoned)
		return when_read_zoned(r, out);
	if (w->from.ms == 0 || w->to.ms == 0 ||
	    (w->kind == DATETIME_INTERVAL && w->is_bounded &&
		w->at.ms == w->to.ms))
		return ALARM_WHEN_OPEN;
	if (w->at.ms <= r->local.ms)
		return ALARM_WHEN_EXPIRED;
	if (w->is_relative && w->grain < DATETIME_DAY)
		return when_set_elapsed(r, w->seconds, out);
	if (w->is_either_half && r->in->near_s < 0)
		return ALARM_WHEN_AMBIGUOUS;
	when_set_local(
	    out, w->is_either_half ? when_half_near(r, local) : local);
	return ALARM_WHEN_OK;
}

/* ---- repetitions ---- */

static int64_t
when_local_day(const struct datetime *w)
{
	return w->at.ms / 1000 / DAY;
}

/* Every so many minutes or hours. */
static enum alarm_when_error
when_read_interval(
    const struct when_read *r, const struct datetime *w, struct alarm_rule *out)
{
	double s = w->repeat.every *
	    (w->repeat.unit == DATETIME_HOUR            ? 3600
		    : w->repeat.unit == DATETIME_MINUTE ? 60
							: 1);

	if (s < ALARM_EVERY_S_MIN || s > ALARM_EVERY_S_MAX)
		return ALARM_WHEN_UNSUPPORTED;
	*out = (struct alarm_rule){ .kind = ALARM_EVERY,
		.every = 1,
		.every_s = (int64_t)(s + .5),
		.instant = { r->in->now.ms + (int64_t)(s + .5) * 1000 } };
	return ALARM_WHEN_OK;
}

static enum alarm_when_error
when_read_weekly(
    const struct when_read *r, const struct datetime *w, struct alarm_rule *out)
{
	static const struct str plain[] = { STR_INIT("weekday"),
		STR_INIT("平日") };
	static const struct str working[] = { STR_INIT("工作日"),
		STR_INIT("上班日"), STR_INIT("workday"),
		STR_INIT("working day") };
	unsigned days = w->repeat.weekdays;

	if (days == 0)
		return ALARM_WHEN_INEXACT;
	out->kind = ALARM_WEEKLY;
	/* 半夜 is the start of the next day. */
	if (w->repeat.time_s >= DAY)
		days = (days << 1 | days >> 6) & 0x7fu;
	out->weekdays = days;
	if (w->repeat.weekdays == WORKDAYS && out->every == 1 &&
	    !when_has(r, plain, NELEM(plain)) &&
	    when_has(r, working, NELEM(working))) {
		if (w->repeat.time_s >= DAY)
			return ALARM_WHEN_UNSUPPORTED;
		out->kind = ALARM_WORKDAYS;
		out->weekdays = 0;
	}
	return ALARM_WHEN_OK;
}

static enum alarm_when_error
when_read_monthly(const struct datetime *w, struct alarm_rule *out)
{
	if (w->repeat.nth != 0 || w->repeat.time_s >= DAY ||
	    (w->repeat.month_day == 0 && w->repeat.month_days == 0))
		return ALARM_WHEN_UNSUPPORTED;
	out->kind = ALARM_MONTHLY;
	out->month_days = w->repeat.month_days << 1;
	if (w->repeat.month_days == 0)
		out->month_days = UINT32_C(1)
		    << (w->repeat.month_day < 0 ? ALARM_LAST_DAY
						: w->repeat.month_day);
	return ALARM_WHEN_OK;
}

/* A day in both calendars. */
struct when_date {
	int month, day;             /* of the Gregorian one */
	int lunar_month, lunar_day; /* -1 the last of its month */
};

static bool
when_date_of(int64_t day, struct when_date *out)
{
	struct civil c = civil_of_days(day);
	int64_t year;
	int month, dom;

	out->month = c.month;
	out->day = c.day;
	if (!lunar_of_day(day, &year, &out->lunar_month, &out->lunar_day))
		return false;
	/* 除夕 is the last day of a month of 29 or 30. */
	if (lunar_of_day(day + 1, &year, &month, &dom) && dom == 1 &&
	    month == 1)
		out->lunar_day = -1;
	return true;
}

/*
 * 每年春节: the calendar that has it on the same date in all years is the one
 * that is meant.
 */
static enum alarm_when_error
when_read_holiday(
    struct when_read *r, const struct datetime *w, struct alarm_rule *out)
{
	struct when_date first, other;
	bool same = true, same_lunar = true;
	struct datetime next = *w;
	int i;

	if (!when_date_of(when_local_day(w), &first))
		return ALARM_WHEN_UNSUPPORTED;
	for (i = 0; i < YEARLY_TRIES; i++) {
		struct datetime_now now = { .now = { next.at.ms + DAY * 1000 },
			.zone = r->utc };

		if (datetime_find(now, r->text, &next, 1) != 1 ||
		    next.at.ms < now.now.ms ||
		    !when_date_of(when_local_day(&next), &other))
			return ALARM_WHEN_UNSUPPORTED;
		same = same && other.month == first.month &&
		    other.day == first.day;
		same_lunar = same_lunar &&
		    other.lunar_month == first.lunar_month &&
		    other.lunar_day == first.lunar_day;
	}
	if (!same && !same_lunar)
		return ALARM_WHEN_UNSUPPORTED;
	out->kind = same ? ALARM_YEARLY : ALARM_LUNAR;
	out->month = same ? first.month : first.lunar_month;
	out->day = same ? first.day : first.lunar_day;
	return ALARM_WHEN_OK;
}

static enum alarm_when_error
when_read_yearly(
    struct when_read *r, const struct datetime *w, struct alarm_rule *out)
{
	if (w->repeat.time_s >= DAY || w->repeat.nth != 0)
		return ALARM_WHEN_UNSUPPORTED;
	if (w->repeat.month_day == 0 && w->repeat.month != 0)
		return ALARM_WHEN_INEXACT;
	if (w->repeat.month_day == 0)
		return when_read_holiday(r, w, out);
	out->kind = ALARM_YEARLY;
	out->month = w->repeat.month;
	out->day = w->repeat.month_day;
	return ALARM_WHEN_OK;
}

static enum alarm_when_error
when_read_repeat(
    struct when_read *r, const struct datetime *w, struct alarm_rule *out)
{
	const struct datetime_repeat *p = &w->repeat;
	bool timed = p->time_s >= 0;
	enum alarm_when_error e = ALARM_WHEN_UNSUPPORTED;

	if (w->is_either_half && r->in->near_s < 0)
		return ALARM_WHEN_AMBIGUOUS;
	if (p->unit < DATETIME_DAY)
		return when_read_interval(r, w, out);
	if (p->every < 1 || p->every > ALARM_EVERY_MAX ||
	    p->every > (int)p->every || w->at.ms == 0)
		return ALARM_WHEN_UNSUPPORTED;
	*out = (struct alarm_rule){ .every = (int)p->every,
		.time_s = timed ? (int)(w->at.ms / 1000 % DAY) : NINE,
		.from_day = when_local_day(w) };
	out->has_from = out->every > 1;
	if (!out->has_from)
		out->from_day = 0;
	if (w->is_either_half)
		out->time_s = (int)(out->time_s % HALF +
		    (r->in->near_s >= HALF ? HALF : 0));
	if (p->unit == DATETIME_DAY) {
		out->kind = ALARM_DAILY;
		e = ALARM_WHEN_OK;
	} else if (p->unit == DATETIME_WEEK) {
		e = when_read_weekly(r, w, out);
	} else if (p->unit == DATETIME_MONTH) {
		e = when_read_monthly(w, out);
	} else if (p->unit == DATETIME_YEAR && out->every == 1) {
		e = when_read_yearly(r, w, out);
	}
	return e;
}

/* ---- all forms ---- */

/* 2026-11-28T08:00:00+08:00, or by the clocks of the zone without an offset. */
static bool
when_read_iso(const struct alarm_when_input *in, struct alarm_rule *out)
{
	char text[40];
	struct str s = str_trim(in->when);
	struct wall t;

	if (s.n < 16 || s.n >= sizeof(text) - 4 ||
	    (s.p[10] != 'T' && s.p[10] != ' '))
		return false;
	(void)snprintf(
	    text, sizeof(text), "%.10sT%.*s", s.p, (int)(s.n - 11), s.p + 11);
	if (wall_parse(str_of(text), &t) == RC_OK) {
		when_set_instant(out, t);
		return true;
	}
	if (s.n != 16 && s.n != 19)
		return false;
	(void)snprintf(text, sizeof(text), "%.10sT%.*s%sZ", s.p,
	    (int)(s.n - 11), s.p + 11, s.n == 16 ? ":00" : "");
	if (wall_parse(str_of(text), &t) != RC_OK || t.ms < 0)
		return false;
	when_set_local(out, t.ms / 1000);
	return true;
}

static bool
when_begin(struct when_read *r, struct str text)
{
	struct datetime_now now;

	r->n = 0;
	if (text.n > ALARM_WORDS_MAX)
		return false;
	when_fold(text, &r->text, r->folded);
	r->local.ms = zone_local_of(r->in->zone, r->in->now) * 1000;
	now = (struct datetime_now){ .now = r->local, .zone = r->utc };
	r->n = datetime_find(now, r->text, r->found, FOUND_MAX);
	return true;
}

static enum alarm_when_error
when_read_found(struct when_read *r, struct alarm_rule *out)
{
	const struct datetime *w = &r->found[0];
	enum alarm_when_error e;

	if (r->n == 0)
		return when_has_clock(r->text) ? ALARM_WHEN_AMBIGUOUS
					       : ALARM_WHEN_NONE;
	if (r->n > 1)
		return ALARM_WHEN_SEVERAL;
	e = when_check_rest(r, w);
	if (e != ALARM_WHEN_OK)
		return e;
	if (w->confidence < CONFIDENCE_MIN)
		return ALARM_WHEN_UNREAD;
	if (w->kind == DATETIME_DURATION)
		return w->is_approximate ? ALARM_WHEN_INEXACT
					 : when_set_elapsed(r, w->seconds, out);
	if (w->kind == DATETIME_REPEAT)
		return when_read_repeat(r, w, out);
	return when_read_instant(r, w, out);
}

/* 每天, daily, weekly, … with the date and time of a rule for once. */
static bool
when_repeat(const struct alarm_when_input *in, struct alarm_rule *out)
{
	static const struct {
		enum alarm_kind kind;
		struct str words[6];
	} kinds[] = {
		{ ALARM_DAILY,
		    { STR_INIT("daily"), STR_INIT("every day"), STR_INIT("day"),
			STR_INIT("每天"), STR_INIT("每日"),
			STR_INIT("天天") } },
		{ ALARM_WORKDAYS,
		    { STR_INIT("workdays"), STR_INIT("every workday"),
			STR_INIT("workday"), STR_INIT("每个工作日"),
			STR_INIT("工作日"), STR_INIT("上班日") } },
		{ ALARM_WEEKLY,
		    { STR_INIT("weekly"), STR_INIT("every week"),
			STR_INIT("week"), STR_INIT("每周"), STR_INIT("每星期"),
			STR_INIT("每个星期") } },
		{ ALARM_MONTHLY,
		    { STR_INIT("monthly"), STR_INIT("every month"),
			STR_INIT("month"), STR_INIT("每月"), STR_INIT("每个月"),
			STR_INIT("按月") } },
		{ ALARM_YEARLY,
		    { STR_INIT("yearly"), STR_INIT("every year"),
			STR_INIT("annually"), STR_INIT("每年"),
			STR_INIT("年年"), STR_INIT("year") } },
	};
	char folded[3 * ALARM_WORDS_MAX];
	struct str s;
	size_t i, k;
	int64_t day,
	    local = out->instant.ms > 0 ? zone_local_of(in->zone, out->instant)
					: out->dates[0] * DAY + out->time_s;

	if (in->repeat.n > ALARM_WORDS_MAX)
		return false;
	when_fold(in->repeat, &s, folded);
	for (i = 0; i < NELEM(kinds) * NELEM(kinds[0].words); i++) {
		k = i / NELEM(kinds[0].words);
		if (str_eq(s, kinds[k].words[i % NELEM(kinds[0].words)]))
			break;
	}
	if (i == NELEM(kinds) * NELEM(kinds[0].words))
		return false;
	day = local / DAY;
	*out = (struct alarm_rule){
		.kind = kinds[k].kind, .every = 1, .time_s = (int)(local % DAY)
	};
	if (out->kind == ALARM_WEEKLY)
		out->weekdays = 1u << (civil_weekday(day) - 1);
	if (out->kind == ALARM_MONTHLY)
		out->month_days = UINT32_C(1) << civil_of_days(day).day;
	if (out->kind == ALARM_YEARLY) {
		out->month = civil_of_days(day).month;
		out->day = civil_of_days(day).day;
	}
	return true;
}

/* repeat and when as one expression: 每周一三五 + 早上八点. */
static enum alarm_when_error
when_read_joined(struct when_read *r, struct alarm_rule *out)
{
	char joined[2 * ALARM_WORDS_MAX + 2];

	(void)snprintf(joined, sizeof(joined), "%.*s %.*s",
	    STR_ARG(r->in->repeat), STR_ARG(r->in->when));
	if (!when_begin(r, str_of(joined)))
		return ALARM_WHEN_UNREAD;
	return when_read_found(r, out);
}

static enum alarm_when_error
when_read(struct when_read *r, struct alarm_rule *out)
{
	enum alarm_when_error e = ALARM_WHEN_OK;
	bool repeats = str_trim(r->in->repeat).n > 0;

	if (r->in->when.n > ALARM_WORDS_MAX ||
	    r->in->repeat.n > ALARM_WORDS_MAX)
		return ALARM_WHEN_UNREAD;
	if (!when_read_iso(r->in, out)) {
		if (!when_begin(r, r->in->when))
			return ALARM_WHEN_UNREAD;
		e = when_read_found(r, out);
	}
	if (!repeats || (e == ALARM_WHEN_OK && out->kind != ALARM_SINGLE))
		return e;
	if (e == ALARM_WHEN_OK && when_repeat(r->in, out))
		return e;
	return when_read_joined(r, out);
}

enum alarm_when_error
alarm_when_parse(const struct alarm_when_input *in, struct alarm_rule *out)
{
	struct when_read r = { .in = in };
	enum alarm_when_error e;
	struct wall first;

	if (zone_load("UTC", &r.utc) != RC_OK)
		return ALARM_WHEN_UNREAD;
	e = when_read(&r, out);
	zone_free(r.utc);
	if (e != ALARM_WHEN_OK)
		return e;
	if (!alarm_rule_is_valid(out))
		return ALARM_WHEN_UNSUPPORTED;
	if (alarm_rule_next(out, in->zone, in->now, &first) == RC_OK)
		return ALARM_WHEN_OK;
	if (out->kind == ALARM_SINGLE &&
	    (out->instant.ms > in->now.ms ||
		(out->n_dates > 0 &&
		    civil_of_days(out->dates[0]).year > ALARM_YEAR_MAX)))
		return ALARM_WHEN_FAR;
	return out->kind == ALARM_SINGLE ? ALARM_WHEN_EXPIRED
					 : ALARM_WHEN_UNSUPPORTED;
}

/* ---- words ---- */

static const char *const when_words[2][ALARM_WHEN_COUNT] = {
	{
	    [ALARM_WHEN_NONE] = "no time was given: when exactly?",
	    [ALARM_WHEN_AMBIGUOUS] = "may be in the morning or in the evening, "
				     "or is not one exact time: which one?",
	    [ALARM_WHEN_INEXACT] =
		"is not an exact time: on which day, at what "
		"time?",
	    [ALARM_WHEN_EXPIRED] = "is over: when is it to be instead?",
	    [ALARM_WHEN_OPEN] = "is a deadline or an open period: at what time "
				"exactly?",
	    [ALARM_WHEN_SEVERAL] = "has several times: one at a time, please",
	    [ALARM_WHEN_UNREAD] = "was not understood: give a date and a time, "
				  "for example tomorrow at 8 am",
	    [ALARM_WHEN_UNSUPPORTED] = "is a repetition that is not supported",
	    [ALARM_WHEN_FAR] = "is too far in the future",
	},
	{
	    [ALARM_WHEN_NONE] = "没有说时间：具体什么时候？",
	    [ALARM_WHEN_AMBIGUOUS] = "不够准确：是早上还是晚上，具体几点？",
	    [ALARM_WHEN_INEXACT] = "不是确切的时间：具体是哪天、几点？",
	    [ALARM_WHEN_EXPIRED] = "已经过去了：想定在什么时候？",
	    [ALARM_WHEN_OPEN] = "只是期限或时段：具体几点？",
	    [ALARM_WHEN_SEVERAL] = "有不止一个时间：请一次说一个。",
	    [ALARM_WHEN_UNREAD] =
		"没有听懂：请说日期和时间，例如“明天早上八点”。",
	    [ALARM_WHEN_UNSUPPORTED] = "这样的重复还不支持。",
	    [ALARM_WHEN_FAR] = "太远了。",
	},
};

void
alarm_when_explain(
    enum alarm_when_error e, struct str when, char *why, size_t size)
{
	bool chinese = alarm_is_chinese(when);
	char quoted[ALARM_WORDS_MAX / 2];
	const char *words = when_words[chinese][e];

	str_copy(str_trim(when), quoted, sizeof(quoted));
	if (words == NULL || size == 0)
		words = "";
	if (e == ALARM_WHEN_NONE || quoted[0] == '\0')
		(void)snprintf(why, size, "%s", words);
	else if (chinese)
		(void)snprintf(why, size, "“%s”%s", quoted, words);
	else
		(void)snprintf(why, size, "\"%s\" %s", quoted, words);
}

enum rc
alarm_when_read(const struct alarm_when_input *in, struct alarm_rule *out,
    char *why, size_t size)
{
	enum alarm_when_error e = alarm_when_parse(in, out);

	if (e == ALARM_WHEN_OK)
		return RC_OK;
	alarm_when_explain(e, in->when, why, size);
	return RC_INVALID;
}

/* ---- selecting alarms ---- */

static struct wall
when_real(const struct alarm_when_input *in, struct wall local)
{
	return alarm_instant_of(in->zone, local.ms / 1000);
}

/* A clock time is a minute, wherever its hour ends. */
static void
when_range_of(const struct alarm_when_input *in, const struct datetime *w,
    struct alarm_range *out)
{
	struct wall from = w->from, to = w->to;

	if (w->kind == DATETIME_REPEAT)
		from = w->at;
	if (w->kind == DATETIME_REPEAT ||
	    (w->kind == DATETIME_INSTANT && w->grain < DATETIME_DAY))
		to.ms = from.ms + 60000;
	*out = (struct alarm_range){ .from = when_real(in, from),
		.to = when_real(in, to) };
	if (!w->is_either_half)
		return;
	from.ms += HALF * 1000;
	to.ms += HALF * 1000;
	out->other_from = when_real(in, from);
	out->other_to = when_real(in, to);
}

enum rc
alarm_when_range(struct str when, struct wall now, const struct zone *zone,
    struct alarm_range *out)
{
	struct alarm_when_input in = {
		.when = when, .now = now, .zone = zone, .near_s = -1
	};
	struct when_read r = { .in = &in };
	enum rc rc = RC_INVALID;

	if (zone_load("UTC", &r.utc) != RC_OK)
		return RC_INVALID;
	if (when_begin(&r, when) && r.n == 1 &&
	    when_check_rest(&r, &r.found[0]) == ALARM_WHEN_OK &&
	    r.found[0].kind != DATETIME_DURATION && r.found[0].from.ms != 0 &&
	    r.found[0].to.ms != 0) {
		when_range_of(&in, &r.found[0], out);
		rc = RC_OK;
	}
	zone_free(r.utc);
	return rc;
}
