/*
 * datetime: datetime expressions in Chinese, and simple English, Japanese and
 * Korean ones: "十分钟后", "下周四晚上九点", "每周一三五早上七点",
 * "in 10 minutes".
 *
 * Pure: no clock, no global state; any bytes are allowed, time is linear.  Text
 * is expected in NFKC with Latin letters in lower case; blanks between the
 * parts of an expression are allowed.
 */
#ifndef ZH_DATETIME_H
#define ZH_DATETIME_H

#include <stdbool.h>
#include <stddef.h>

#include "core/clock.h"
#include "core/str.h"
#include "core/zone.h"

/* Bytes of a text beyond this many are ignored. */
#define DATETIME_TEXT_MAX (64 * 1024)

enum datetime_kind {
	DATETIME_DURATION, /* 半小时, an hour and a half */
	DATETIME_INSTANT,  /* 明天, 十分钟后, 3月5日晚上8点 */
	DATETIME_INTERVAL, /* 明天上午, 三点到五点, 周末, 未来三天 */
	DATETIME_REPEAT, /* 每天早上七点, 每隔两小时, 每周一三五 */
};

enum datetime_grain {
	DATETIME_SECOND,
	DATETIME_MINUTE,
	DATETIME_HOUR,
	DATETIME_DAY,
	DATETIME_WEEK, /* begins on Monday */
	DATETIME_MONTH,
	DATETIME_QUARTER,
	DATETIME_YEAR,
};

/* Which end of an interval is not given: 周五之前, 明天以后. */
enum datetime_open {
	DATETIME_CLOSED,
	DATETIME_OPEN_START,
	DATETIME_OPEN_END,
};

/* The reference time of an utterance, and its zone. */
struct datetime_now {
	struct wall now;
	const struct zone *zone;
	/*
	 * datetime_find() sets it to true unless its result is the same at any
	 * other time, in any other zone; NULL: not wanted.
	 */
	bool *is_used;
};

/* Where a repetition falls: every `every` units, within these bounds. */
struct datetime_repeat {
	enum datetime_grain unit;
	double every;        /* 每隔两小时, 每两小时: 2 hours; > 0 */
	unsigned weekdays;   /* bit 0 Monday … bit 6 Sunday; 0: any day */
	int month;           /* 1–12, of a yearly one; else 0 */
	int month_day;       /* 1–31, -1 the last day; else 0 */
	unsigned month_days; /* all of them, bit 0 the first; 0: month_day */
	int nth;     /* which of the month's weekdays, -1 the last; 0: each */
	int time_s;  /* time of day in seconds; -1: not given */
	int until_s; /* end of a part of the day (每天早上); else -1 */
};

struct datetime {
	enum datetime_kind kind;
	enum datetime_grain grain; /* the finest part given */
	size_t start, end;         /* bytes of the text */
	/*
	 * Duration: its length.  is_relative: the distance from now, negative
	 * for 三天前.  Else 0.  A month counts 30 days, a year 365.
	 */
	double seconds;
	/*
	 * Instant: [from, to) is the second, minute, … year it names.
	 * Interval: [from, to); an open end is 0 (明天以后); 未来三天 begins
	 * tomorrow, 过去三天 ended yesterday, 最近三天 ends now.  Repetition:
	 * the next occurrence after now.  Duration: 0.
	 */
	struct wall from, to;
	enum datetime_open open; /* of an interval: the end that is 0 */
	/*
	 * The trigger: the one instant that an alarm takes; never before now, 0
	 * if there is none.  An instant: itself.  A deadline (周五之前,
	 * 三天内): its end.  A part of the day (早上): its hour in the table of
	 * intent-filter's README.md, on the day given, else the next one.
	 * Days: the first one that is not over, at 09:00; 月底, 年底: the last.
	 * Repetition: its first occurrence.  Duration: 0.
	 */
	struct wall at;
	int offset_min, at_offset_min; /* minutes east of UTC at from, at */
	struct datetime_repeat repeat;
	bool is_relative; /* counted from now: 十分钟后, in 10 minutes */
	bool is_approximate; /* 待会儿, 最近, 晚点: from and to are guesses */
	bool is_loose;   /* 刚才, 最近, 以后: cannot schedule an action */
	bool is_bounded; /* begin or end is given: 到五点, 三天内 */
	/*
	 * The clock time at which it begins may be of either half of the day,
	 * and both are still ahead: 九点, 明天八点半.
	 */
	bool is_either_half;
	bool is_zoned; /* with its own offset from UTC */
	/*
	 * Counted from an event that the text names and nobody dated: 生日当天,
	 * 饭后一小时.  An instant whose from, to and at are 0: it cannot be
	 * scheduled, and what depends on it must not be done now.
	 */
	bool is_unknown;
	double confidence; /* 0–1: below 0.5 likely means something else */
};

/*
 * datetime_find(now, text, dst, max):
 * Find all datetime expressions, left to right, not overlapping, each the
 * longest that parses, at most max.  Returns how many were written.  A clock
 * time without a day is the next one after now.  Any thread.
 */
size_t datetime_find(
    struct datetime_now now, struct str text, struct datetime *dst, size_t max);

#endif /* !ZH_DATETIME_H */
