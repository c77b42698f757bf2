/*
 * clock: monotonic and wall time, calendar dates, CPU budgets.
 *
 * Monotonic time is for durations and timers within a process, wall time for
 * deadlines and timestamps between processes.  Domain logic reads no clock: it
 * gets the time as an argument.
 */
#ifndef CORE_CLOCK_H
#define CORE_CLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/rc.h"
#include "core/str.h"

struct arena;

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
 * t plus ms milliseconds, which may be negative.  Saturates.
 */
struct mono mono_add_ms(struct mono t, int64_t ms);

/* mono_diff_ns(a, b), mono_diff_ms(a, b): a minus b, rounded towards 0. */
int64_t mono_diff_ns(struct mono a, struct mono b);
int64_t mono_diff_ms(struct mono a, struct mono b);

/*
 * clock_mono_of(deadline):
 * The monotonic time at which the wall clock will show deadline; 0 for 0.  Any
 * thread.
 */
struct mono clock_mono_of(struct wall deadline);

/* Room for any result of wall_format(), NUL included. */
#define WALL_FORMAT_MAX 40

/*
 * wall_format(t, offset_min, dst):
 * RFC 3339 with the offset in minutes east of UTC, "Z" for 0, and milliseconds
 * unless they are 0: "2026-02-22T17:40:00+08:00".  Clamped to the years 0000 to
 * 9999 and to offsets of less than a day.
 */
void wall_format(struct wall t, int offset_min, char dst[WALL_FORMAT_MAX]);

/* wall_text(t, offset_min, a): The same from a; absent if a is full. */
struct str wall_text(struct wall t, int offset_min, struct arena *a);

/*
 * wall_parse(s, out):
 * RFC 3339 date-time, truncated to milliseconds; 't' and 'z' are allowed.  A
 * leap second (60, at the end of a day of UTC) becomes the last millisecond
 * before it.  RC_INVALID otherwise, with *out unchanged.
 */
enum rc wall_parse(struct str s, struct wall *out) RC_CHECK;

/*
 * Dates of the Gregorian calendar.  A day is also a number, of days since
 * 1970-01-01; weeks begin on Monday.
 */
struct civil {
	int64_t year;
	int month, day; /* from 1 */
};

/*
 * civil_days(c):
 * The number of a day.  Months and days may be out of range: month 13 is the
 * next January, day 0 the day before the first.
 */
int64_t civil_days(struct civil c);

/* civil_of_days(days): The inverse. */
struct civil civil_of_days(int64_t days);

/* civil_weekday(days): 1 Monday … 7 Sunday. */
int civil_weekday(int64_t days);

/* civil_month_days(year, month): The number of days in that month. */
int civil_month_days(int64_t year, int month);

/* clock_thread_ns(): Processor time that this thread has used, in ns. */
int64_t clock_thread_ns(void);

/*
 * A limit of CPU time for work on hostile input.  Checking it takes about 25 ns
 * until that much wall time has passed; only then the thread's CPU clock is
 * read, which can take almost a microsecond.
 */
struct budget {
	int64_t cpu_end_ns;   /* private: of the thread's CPU clock */
	struct mono check_at; /* private: it cannot be used up before */
};

/* budget_start(b, ns): ns nanoseconds of the calling thread's CPU time. */
void budget_start(struct budget *b, int64_t ns);

/* budget_over(b): Whether it is used up.  By the thread that started it. */
bool budget_over(struct budget *b);

#endif /* !CORE_CLOCK_H */
