/*
 * when: expressions of time in Chinese, and plain English, Japanese and Korean
 * ones: "十分钟后", "下周四晚上九点", "每周一三五早上七点", "in 10 minutes".
 *
 * Pure: no clock, no memory of its own; any bytes are allowed, the work is
 * linear.  Text is expected in NFKC with Latin letters in lower case; blanks
 * between the parts of an expression are allowed.
 */
#ifndef ZH_WHEN_H
#define ZH_WHEN_H

#include <stdbool.h>
#include <stddef.h>

#include "core/clock.h"
#include "core/str.h"
#include "core/zone.h"

/* What lies beyond this many bytes of a text is not read. */
#define WHEN_TEXT_MAX (64 * 1024)

enum when_kind {
	WHEN_DURATION, /* 半小时, an hour and a half */
	WHEN_INSTANT,  /* 明天, 十分钟后, 3月5日晚上8点 */
	WHEN_INTERVAL, /* 明天上午, 三点到五点, 周末, 未来三天 */
	WHEN_REPEAT, /* 每天早上七点, 每隔两小时, 每周一三五 */
};

enum when_grain {
	WHEN_SECOND,
	WHEN_MINUTE,
	WHEN_HOUR,
	WHEN_DAY,
	WHEN_WEEK, /* begins on Monday */
	WHEN_MONTH,
	WHEN_QUARTER,
	WHEN_YEAR,
};

/* The moment of speaking and the zone it is spoken in. */
struct when_now {
	struct wall now;
	const struct zone *zone;
};

/* Where a repetition falls: every `every` units, within these bounds. */
struct when_repeat {
	enum when_grain unit;
	double every;      /* 每隔两小时, 每两小时: 2 hours; > 0 */
	unsigned weekdays; /* bit 0 Monday … bit 6 Sunday; 0: any day */
	int month;         /* 1–12, of a yearly one; else 0 */
	int month_day;     /* 1–31, -1 the last day; else 0 */
	int time_s;        /* time of day in seconds; -1: none said */
	int until_s; /* end of a part of the day (每天早上); else -1 */
};

struct when {
	enum when_kind kind;
	enum when_grain grain; /* the finest part that was said */
	size_t start, end;     /* bytes of the text */
	/*
	 * A duration's length; of what is_relative, how far from now (三天前:
	 * less than 0).  A month counts 30 days, a year 365.  Else 0.
	 */
	double seconds;
	/*
	 * Instant: [from, to) is the second, minute, … year it names. Interval:
	 * [from, to); an end that was left open is 0 (明天以后); 未来三天
	 * begins tomorrow, 过去三天 ended yesterday, 最近三天 goes on until
	 * now.  Repetition: its next occurrence after now.  Duration: 0.
	 */
	struct wall from, to;
	/*
	 * The one moment that is meant where one is wanted, as by an alarm;
	 * never before now, 0 if there is none.  An instant: itself.  What has
	 * a deadline (周五之前, 三天内): its end.  A part of the day (早上):
	 * the hour that README.md's table gives for it, on the day said, or
	 * else the next one.  Days: the first of them that is not over, at
	 * 09:00; 月底, 年底: the last.  Repetition: its first one.  Duration:
	 * 0.
	 */
	struct wall at;
	int offset_min, at_offset_min; /* minutes east of UTC at from, at */
	struct when_repeat repeat;
	bool is_relative; /* counted from now: 十分钟后, in 10 minutes */
	bool is_vague; /* 待会儿, 最近, 晚点: from and to are a guess */
	bool is_loose; /* 刚才, 最近, 以后: not a time to do something at */
	bool is_bounded; /* says where it begins or ends: 到五点, 三天内 */
	double confidence; /* 0–1: below 0.5 likely means something else */
};

/*
 * when_find(now, text, dst, max):
 * All expressions of time, left to right, not overlapping, the longest reading
 * of each, at most max; returns how many were written.  A clock time that
 * names no day is the next one after now.
 */
size_t when_find(
    struct when_now now, struct str text, struct when *dst, size_t max);

#endif /* !ZH_WHEN_H */
