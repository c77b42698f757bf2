/*
 * lunar: the Chinese lunisolar calendar, computed from the sun and the moon.
 */
#ifndef ZH_LUNAR_H
#define ZH_LUNAR_H

#include <stdbool.h>
#include <stdint.h>

/*
 * lunar_day(year, month, day, out):
 * The day (civil_days) of a date of the lunar year that begins in that year;
 * day 0 is the last one of the month before.  A leap month is never meant.
 * false outside of 1900 to 2100 or if there is no such month or day.
 */
bool lunar_day(int64_t year, int month, int day, int64_t *out);

/*
 * lunar_term(year, degrees, out):
 * The day in that year on which the sun's longitude reaches degrees: 15 清明,
 * 90 夏至, 270 冬至, 315 立春.  false outside of 1900 to 2100.
 */
bool lunar_term(int64_t year, int degrees, int64_t *out);

/* lunar_of_day(day, year, month, dom): Which date of it a day is. */
bool lunar_of_day(int64_t day, int64_t *year, int *month, int *dom);

#endif /* !ZH_LUNAR_H */
