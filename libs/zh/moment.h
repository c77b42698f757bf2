/*
 * moment: what an expression says of a date and a time of day, before the
 * calendar is asked what it means.
 */
#ifndef ZH_MOMENT_H
#define ZH_MOMENT_H

#include <stdbool.h>
#include <stdint.h>

#include "zh/token.h"
#include "zh/when.h"

struct feast_seen;

enum moment_has {
	HAS_YEAR = 1 << 0,
	HAS_MONTH = 1 << 1,
	HAS_DAY = 1 << 2,  /* of the month */
	HAS_DAYS = 1 << 3, /* counted from today */
	HAS_WEEK = 1 << 4, /* counted from this one */
	HAS_WDAY = 1 << 5, /* one day of the week */
	HAS_WEEKEND = 1 << 6,
	HAS_FEAST = 1 << 7,
	HAS_EDGE = 1 << 8,
	HAS_QUARTER = 1 << 9,
	HAS_HALF_YEAR = 1 << 10,
	HAS_PART = 1 << 11,
	HAS_CLOCK = 1 << 12,
	HAS_MONTHS = 1 << 13, /* 两个月后: a day counted by months and years */
};

#define HAS_DATE                                                               \
	(HAS_YEAR | HAS_MONTH | HAS_DAY | HAS_DAYS | HAS_WEEK | HAS_WDAY |     \
	    HAS_WEEKEND | HAS_FEAST | HAS_EDGE | HAS_QUARTER | HAS_HALF_YEAR | \
	    HAS_MONTHS)
/* Enough to know a single day. */
#define HAS_ONE_DAY (HAS_DAY | HAS_DAYS | HAS_WDAY | HAS_FEAST | HAS_MONTHS)

struct moment {
	unsigned has; /* enum moment_has */
	int year, month, day, days, week, wday, quarter, half, months;
	int era;             /* years from year on: 80年代; 0: one */
	int shift;           /* days from the day said: 前夕, 翌日 */
	bool year_is_rel;    /* year counts from this one */
	bool month_is_rel;   /* month counts from this one */
	bool quarter_is_rel; /* so does quarter */
	bool is_lunar;
	int nth;       /* which of the month's weekdays; -1 the last; 0 any */
	int feast;     /* enum feast */
	int feast_day; /* which of its days, from 1; 0: all of it */
	int edge;      /* enum token_edge */
	int edge_unit; /* enum token_unit */
	int part;      /* enum token_part */
	int clock_s;   /* as said, in seconds */
	enum when_grain clock_grain;
	bool is_now; /* the clock time is the one of now */
	bool is_24h; /* the clock time has but one reading */
	bool is_vague, is_latin;
	double confidence;
};

/* A length of time as said. */
struct length {
	double n[UNIT_COUNT]; /* how many of each unit */
	int finest;           /* enum token_unit */
	bool is_vague;
	double confidence;
};

/* An end of a stretch of local seconds that is left open. */
#define REACH_OPEN INT64_MIN

/* Seconds of local time; whether it is a stretch by its nature. */
struct reach {
	int64_t from, to;
	/*
	 * The one second meant: 0 what its bounds and its grain say, REACH_OPEN
	 * none.
	 */
	int64_t at;
	enum when_grain grain;
	bool is_interval;
};

/* The moment of speaking, on the clocks of its zone. */
struct here {
	int64_t now;   /* local seconds */
	int64_t today; /* civil_days */
	struct feast_seen *seen;
};

/* All readers give the token after what they read, NULL if it is not there. */

/* clock_read(t, m): A time of day: 八点半, 差五分八点, 8:30, half past eight.
 */
const struct token *clock_read(const struct token *t, struct moment *m);

/*
 * date_read(t, m): One further part of a date: a year, 三月, 15号, 下周四,
 * 春节, 月底; NULL also if m has such a part already.
 */
const struct token *date_read(const struct token *t, struct moment *m);

/*
 * moment_may_join(old, new, is_latin):
 * Whether what new has more than old may be said behind it.
 */
bool moment_may_join(
    const struct moment *old, const struct moment *new, bool is_latin);

/* time_read(t, m): A part of the day, a clock time, or both: (的)晚上八点. */
const struct token *time_read(const struct token *t, struct moment *m);

/* moment_read(t, m): The longest date, time of day, or both. */
const struct token *moment_read(const struct token *t, struct moment *m);

/* length_read(t, l): 一个半小时, 三天, an hour and a half. */
const struct token *length_read(const struct token *t, struct length *l);

/* length_seconds(l): A month counts 30 days, a year 365. */
double length_seconds(const struct length *l);

/* length_add(l, h, sign): Local seconds l after (sign 1) or before (-1) now. */
int64_t length_add(const struct length *l, struct here h, int sign);

/* moment_reach(m, h, out): false if there is no such day. */
bool moment_reach(const struct moment *m, struct here h, struct reach *out);

/* moment_clock(m): Its clock time in seconds from its day's start. */
int moment_clock(const struct moment *m);

/* part_span(part, from, to): Its bounds in seconds from the day's start. */
void part_span(int part, int *from, int *to);

/*
 * moment_month(m, h, year, month): The month it is in, the current one if it
 * says none.
 */
void moment_month(
    const struct moment *m, struct here h, int64_t *year, int *month);

#endif /* !ZH_MOMENT_H */
