/*
 * workdays: the public calendar of mainland China: which days are worked,
 * holidays and make-up working days included.
 *
 * Pure.  The calendar is data, one notice of the State Council a year, each
 * published in November of the previous year.  A year without data has plain
 * weeks, Monday to Friday: workdays_is_known() reports it, so that the user
 * can be informed.  Any thread.
 */
#ifndef ALARM_WORKDAYS_H
#define ALARM_WORKDAYS_H

#include <stdbool.h>
#include <stdint.h>

struct zone;

/* workdays_apply(z): Whether z is a zone of mainland China. */
bool workdays_apply(const struct zone *z);

/* workdays_is_known(year): Whether the calendar of that year is included. */
bool workdays_is_known(int64_t year);

/*
 * workdays_is_workday(day):
 * Whether the day (civil_days) is worked in mainland China; Monday to Friday
 * in a year that is not known.
 */
bool workdays_is_workday(int64_t day);

#endif /* !ALARM_WORKDAYS_H */
