/*
 * clock: the two kinds of time, each with a type of its own.
 *
 * Monotonic time measures spans and sets timers inside one process; wall time
 * crosses processes: deadlines in headers, timestamps in messages.  Domain
 * logic never asks for the time; it is handed in.
 */
#ifndef CORE_CLOCK_H
#define CORE_CLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/rc.h"
#include "core/str.h"

struct mono {
	int64_t ns; /* nanoseconds since an arbitrary start; 0 means "never" */
};

struct wall {
	int64_t ms; /* milliseconds since 1970-01-01T00:00:00Z; 0: "none" */
};

/* clock_mono(), clock_wall(): Now.  Any thread. */
struct mono clock_mono(void);
struct wall clock_wall(void);

/*
 * mono_add_ms(t, ms):
 * t plus ms milliseconds (may be negative).  Ends at the type's limits.
 */
struct mono mono_add_ms(struct mono t, int64_t ms);

/* mono_diff_ns(a, b), mono_diff_ms(a, b): a minus b, cut towards 0. */
int64_t mono_diff_ns(struct mono a, struct mono b);
int64_t mono_diff_ms(struct mono a, struct mono b);

/*
 * clock_mono_of(deadline):
 * The monotonic moment at which the wall clock will show deadline; never for
 * none.  Any thread.
 */
struct mono clock_mono_of(struct wall deadline);

/* Room for any result of wall_format(), NUL included. */
#define WALL_FORMAT_MAX 40

/*
 * wall_format(t, offset_min, dst):
 * RFC 3339 with the offset in minutes east of UTC, "Z" for 0; milliseconds are
 * written unless they are 0.  "2026-02-22T17:40:00+08:00".  The years 0000 to
 * 9999 and offsets below a day; what is beyond becomes the nearest of these.
 */
void wall_format(struct wall t, int offset_min, char dst[WALL_FORMAT_MAX]);

/*
 * wall_parse(s, out):
 * RFC 3339 date-time, fraction beyond milliseconds cut, 't' and 'z' allowed.  A
 * leap second (60, at the end of a day of UTC) becomes the last millisecond
 * before it.  RC_INVALID otherwise, *out untouched.
 */
enum rc wall_parse(struct str s, struct wall *out) RC_CHECK;

/*
 * civil: dates of the Gregorian calendar, as years, months and days.
 *
 * A day is also its number since 1970-01-01, a week begins on Monday.
 */
struct civil {
	int64_t year;
	int month, day; /* from 1 */
};

/*
 * civil_days(c):
 * The number of c's day.  A month or a day beyond its range counts on: month 13
 * is the next January, day 0 the day before the first.
 */
int64_t civil_days(struct civil c);

/* civil_of_days(days): The inverse. */
struct civil civil_of_days(int64_t days);

/* civil_weekday(days): 1 Monday … 7 Sunday. */
int civil_weekday(int64_t days);

/* civil_month_days(year, month): How many days that month has. */
int civil_month_days(int64_t year, int month);

/*
 * budget: a span of CPU time that work on hostile input may take.
 *
 * Asking is cheap, some 25 ns, until about that much time has passed; only then
 * the thread's CPU clock is looked at, which can cost most of a microsecond.
 * What other threads and processes do meanwhile does not count.
 */
struct budget {
	int64_t cpu_end_ns; /* private: of the thread's CPU time */
	struct mono look;   /* private: before this it cannot be over */
};

/* budget_start(b, ns): ns nanoseconds of the calling thread's time from now. */
void budget_start(struct budget *b, int64_t ns);

/* budget_over(b): Whether they are used up.  The thread that started it. */
bool budget_over(struct budget *b);

#endif /* !CORE_CLOCK_H */
