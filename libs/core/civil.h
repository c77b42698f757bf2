/*
 * civil: dates of the Gregorian calendar, as years, months and days.
 *
 * A day is also its number since 1970-01-01, a week begins on Monday.
 */
#ifndef CORE_CIVIL_H
#define CORE_CIVIL_H

#include <stdint.h>

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

#endif /* !CORE_CIVIL_H */
