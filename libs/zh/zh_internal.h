/*
 * zh_internal: the parsers of datetime expressions.
 *
 * Every parser takes the token at which it begins and returns the token after
 * what it parsed, or NULL if there is no such expression; *out is then
 * unspecified.
 */
#ifndef ZH_ZH_INTERNAL_H
#define ZH_ZH_INTERNAL_H

#include <stdbool.h>
#include <stdint.h>

#include "zh/datetime.h"
#include "zh/lexer.h"

struct holiday_cache;

/* The reference time on the clocks of its zone. */
struct local_now {
	int64_t now;   /* local seconds */
	int64_t today; /* civil_days */
	struct holiday_cache *holidays;
	const struct zone *zone;
	bool *is_used; /* as datetime_now's */
};

/* local_day(local): The day (civil_days) of a local second. */
int64_t local_day(int64_t local);

/* An open end of a local_range. */
#define RANGE_OPEN INT64_MIN

/* Seconds of local time. */
struct local_range {
	int64_t from, to;
	/* The trigger; 0: as from, to and grain imply; RANGE_OPEN: none. */
	int64_t at;
	enum datetime_grain grain;
	bool is_interval; /* an interval by nature: 早上, 周末 */
	bool is_either_half, is_zoned; /* as datetime's */
};

/* ---- durations ---- */

struct duration {
	double n[UNIT_COUNT]; /* how many of each unit */
	int finest;           /* enum token_unit */
	double spread; /* 三四天: so many of the finest less or more */
	bool is_approximate;
	double confidence;
};

/* duration_parse(t, l): 一个半小时, 三天, an hour and a half. */
const struct token *duration_parse(const struct token *t, struct duration *l);

/* duration_seconds(l): A month counts 30 days, a year 365. */
double duration_seconds(const struct duration *l);

/* duration_add(l, h, sign): Local seconds l after (sign 1) or before (-1) now.
 */
int64_t duration_add(const struct duration *l, struct local_now h, int sign);

/* ---- instants ---- */

enum instant_has {
	HAS_YEAR = 1 << 0,
	HAS_MONTH = 1 << 1,
	HAS_DAY = 1 << 2,  /* of the month */
	HAS_DAYS = 1 << 3, /* counted from today */
	HAS_WEEK = 1 << 4, /* counted from this one */
	HAS_WDAY = 1 << 5, /* one day of the week */
	HAS_WEEKEND = 1 << 6,
	HAS_HOLIDAY = 1 << 7,
	HAS_EDGE = 1 << 8,
	HAS_QUARTER = 1 << 9,
	HAS_HALF_YEAR = 1 << 10,
	HAS_DAY_PART = 1 << 11,
	HAS_CLOCK = 1 << 12,
	HAS_MONTHS = 1 << 13, /* 两个月后: a day counted by months and years */
};

#define HAS_DATE                                                           \
	(HAS_YEAR | HAS_MONTH | HAS_DAY | HAS_DAYS | HAS_WEEK | HAS_WDAY | \
	    HAS_WEEKEND | HAS_HOLIDAY | HAS_EDGE | HAS_QUARTER |           \
	    HAS_HALF_YEAR | HAS_MONTHS)
/* Enough to know a single day. */
#define HAS_ONE_DAY (HAS_DAY | HAS_DAYS | HAS_WDAY | HAS_HOLIDAY | HAS_MONTHS)

/* A date and a time of day as said, not yet resolved on the calendar. */
struct instant {
	unsigned has; /* enum instant_has */
	int year, month, day, days, week, wday, quarter, half, months;
	int era;             /* years from year on: 80年代; 0: one */
	int shift;           /* days from the day said: 前夕, 翌日 */
	bool year_is_rel;    /* year counts from this one */
	bool year_is_short;  /* 08年: two digits */
	bool month_is_rel;   /* month counts from this one */
	bool quarter_is_rel; /* so does quarter */
	bool is_lunar;
	bool is_leap;     /* 闰四月 */
	bool is_vacation; /* 国庆长假 */
	bool is_zoned;    /* the clock time is zone_min minutes east of UTC */
	int zone_min;
	int nth;         /* which of the month's weekdays; -1 the last; 0 any */
	int holiday;     /* enum holiday */
	int holiday_day; /* which of its days, from 1; 0: all of it */
	int edge;        /* enum token_edge */
	int edge_unit;   /* enum token_unit */
	int day_part;    /* enum day_part */
	int clock_s;     /* as said, in seconds */
	enum datetime_grain clock_grain;
	bool is_now; /* the clock time is the one of now */
	bool is_24h; /* the clock time is unambiguous */
	bool is_approximate, is_latin;
	double confidence;
};

/* clock_time_parse(t, m): 八点半, 差五分八点, 8:30, half past eight. */
const struct token *clock_time_parse(const struct token *t, struct instant *m);

/* day_part_bounds(part, from, to): In seconds from the day's start. */
void day_part_bounds(int part, int *from, int *to);

/*
 * date_parse(t, m): One further part of a date: a year, 三月, 15号, 下周四,
 * 春节, 月底; NULL also if m has such a part already.
 */
const struct token *date_parse(const struct token *t, struct instant *m);

/*
 * instant_may_join(old, new, is_latin):
 * Whether the parts that new adds to old may follow it.
 */
bool instant_may_join(
    const struct instant *old, const struct instant *new, bool is_latin);

/* instant_parse_time(t, m): A part of the day, a clock time, or both. */
const struct token *instant_parse_time(
    const struct token *t, struct instant *m);

/* instant_parse(t, m): The longest date, time of day, or both. */
const struct token *instant_parse(const struct token *t, struct instant *m);

/* instant_resolve(m, h, out): false if there is no such day. */
bool instant_resolve(
    const struct instant *m, struct local_now h, struct local_range *out);

/* instant_clock(m): Its clock time in seconds from its day's start. */
int instant_clock(const struct instant *m);

/* ---- counted from a date ---- */

/*
 * period_select(t, h, at):
 * A part of the period at: 第二周, 头三个月, 最后两天晚上八点.  *at becomes
 * that part.  NULL: none, *at is untouched.
 */
const struct token *period_select(
    const struct token *t, struct local_now h, struct local_range *at);

/* period_skip_part(t): The words of such a part; NULL: there are none. */
const struct token *period_skip_part(const struct token *t);

/*
 * period_offset(t, h, at, is_named):
 * What is counted from at: 前三天, 的两周后, 起三天内.  is_named: it is a day
 * of the calendar, or a time of one, so that a distance may follow it without
 * 的. *at becomes that time.  NULL: none, *at is untouched.
 */
const struct token *period_offset(const struct token *t, struct local_now h,
    struct local_range *at, bool is_named);

/* ---- the trigger: the one instant that an alarm would take ---- */

/*
 * trigger_hour(part):
 * The hour that stands for an enum day_part, in seconds from its day's start;
 * DAY_PART_NONE: the one that stands for a whole day.
 */
int trigger_hour(int part);

/* trigger_instant(m, h, r): r->at of an m without a clock time, resolved to r.
 */
int64_t trigger_instant(
    const struct instant *m, struct local_now h, const struct local_range *r);

/* ---- expressions ---- */

struct parser {
	struct datetime_now now;
	struct local_now local;
	struct token_scan scan;
	/* Of the expression just parsed, where has_range: a duration has none.
	 */
	struct local_range range;
	bool has_range;
};

/* datetime_grain_of_unit(unit): The grain of an enum token_unit. */
enum datetime_grain datetime_grain_of_unit(int unit);

/*
 * datetime_set(w, range, p):
 * Set w's grain.  Its bounds and trigger follow if no other parser finds a
 * longer expression.
 */
void datetime_set(
    struct datetime *w, struct local_range range, struct parser *p);

/* The parsers of whole expressions set *w but for its place in the text. */

/* datetime_parse_units(p, t, w): 上两周, 后三天: units next to the current one.
 */
const struct token *datetime_parse_units(
    struct parser *p, const struct token *t, struct datetime *w);

/* datetime_parse_window(p, t, w): 未来三天, 最近两周, 十分钟之内, within 2
 * hours.
 */
const struct token *datetime_parse_window(
    struct parser *p, const struct token *t, struct datetime *w);

/* datetime_parse_relative(p, t, w): 十分钟后, 再过一小时, in 10 minutes. */
const struct token *datetime_parse_relative(
    struct parser *p, const struct token *t, struct datetime *w);

/* datetime_parse_duration(p, t, w): A duration. */
const struct token *datetime_parse_duration(
    struct parser *p, const struct token *t, struct datetime *w);

/* datetime_parse_range(p, t, w): An instant; a range, closed or open. */
const struct token *datetime_parse_range(
    struct parser *p, const struct token *t, struct datetime *w);

/* datetime_parse_repeat(p, t, w): A repetition. */
const struct token *datetime_parse_repeat(
    struct parser *p, const struct token *t, struct datetime *w);

#endif /* !ZH_ZH_INTERNAL_H */
