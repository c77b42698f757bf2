/*
 * alarm_rule: when an alarm is due: once, or again and again by the clocks of
 * the user's zone.
 *
 * Pure: no clock of its own, no global state.  Any thread.
 */
#ifndef ALARM_ALARM_RULE_H
#define ALARM_ALARM_RULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/clock.h"
#include "core/rc.h"
#include "core/zone.h"

/* Days of a list. */
#define ALARM_DATES_MAX 64
/* Seconds between two occurrences of EVERY: a minute to a leap year. */
#define ALARM_EVERY_S_MIN 60
#define ALARM_EVERY_S_MAX 31622400
/* Days, weeks or months between two occurrences of the others. */
#define ALARM_EVERY_MAX 366
/* No occurrence is after this year; lunar dates are known up to it. */
#define ALARM_YEAR_MAX 2100
/* The bit of the last day in month_days. */
#define ALARM_LAST_DAY 0

enum alarm_kind {
	ALARM_SINGLE, /* at one instant, or at a time of one day */
	ALARM_EVERY,  /* again and again after the same elapsed time */
	ALARM_DAILY,
	/*
	 * The working days of the public calendar (workdays.h) in a zone of
	 * mainland China, Monday to Friday elsewhere.
	 */
	ALARM_WORKDAYS,
	ALARM_WEEKLY,  /* some days of the week */
	ALARM_MONTHLY, /* some days of the month */
	ALARM_YEARLY,  /* a date of the year */
	ALARM_DATES,   /* a list of dates */
	ALARM_LUNAR,   /* a date of the Chinese calendar, each year */
	ALARM_KIND_COUNT
};

/*
 * Members that the kind does not use are 0.  Days are civil_days.  A month or
 * year without the day is left out.
 */
struct alarm_rule {
	enum alarm_kind kind;
	/* EVERY: the first occurrence.  SINGLE: the only one; 0: see dates. */
	struct wall instant;
	int64_t every_s; /* EVERY */
	/* Of DAILY, WEEKLY, MONTHLY: every so many, counted from from_day. */
	int every;         /* 1: each of them; the value of all other kinds */
	int time_s;        /* from the day's start; not EVERY */
	unsigned weekdays; /* WEEKLY: bit 0 Monday … bit 6 Sunday */
	/* MONTHLY: bit 1 to bit 31, and ALARM_LAST_DAY. */
	uint32_t month_days;
	int month; /* YEARLY, LUNAR: 1–12 */
	int day;   /* YEARLY, LUNAR: from 1; -1 the last of the month */
	bool leap; /* LUNAR: in the leap month of that number only */
	/* DATES: in ascending order; SINGLE without an instant: one. */
	int64_t dates[ALARM_DATES_MAX];
	size_t n_dates;
	/* The first and the last day of an occurrence. */
	int64_t from_day, until_day;
	bool has_from, has_until;
};

/*
 * alarm_instant_of(zone, local_s):
 * The instant at which the clocks of a zone show local_s, seconds since
 * 1970-01-01 00:00:00 local time.  Of a time that occurs twice it is the
 * first, of one that is skipped the first minute after the gap.
 */
struct wall alarm_instant_of(const struct zone *zone, int64_t local_s);

/*
 * alarm_rule_is_valid(r): Whether every member is within its bounds; the other
 * functions require it.
 */
bool alarm_rule_is_valid(const struct alarm_rule *r);

/*
 * alarm_rule_next(r, zone, after, out):
 * The first occurrence later than after.  RC_NOENT: there is none, or none
 * until ALARM_YEAR_MAX.
 */
enum rc alarm_rule_next(const struct alarm_rule *r, const struct zone *zone,
    struct wall after, struct wall *out) RC_CHECK;

#endif /* !ALARM_ALARM_RULE_H */
