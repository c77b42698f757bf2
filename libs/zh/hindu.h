/*
 * hindu: feasts of the Indian calendars, computed from the sun and the moon
 * as they stand in India: by the thirtieths of the moon's month (tithis), by
 * the moon's star, and by the sun's sign among the stars.
 */
#ifndef ZH_HINDU_H
#define ZH_HINDU_H

#include <stdbool.h>
#include <stdint.h>

/*
 * hindu_tithi(year, month, tithi, hour, day):
 * The first day (civil_days) in a year of ours that has a tithi (1–30, from the
 * new moon on) at that hour (0–24) in India; where no day has it at that hour
 * the day it begins.  Months are counted from 0, the one in which the sun
 * enters the Ram (Chaitra); of a doubled month the second one.  A day in
 * doubt may differ from what a place's own almanac says.  false outside of
 * 1900 to 2100.
 */
bool hindu_tithi(int64_t year, int month, int tithi, int hour, int64_t *day);

/*
 * hindu_star(year, sign, star, hour, day):
 * The last day on which the moon stands at a star (0–26) at that hour in India
 * while the sun is in a sign (0–11, 0 the Ram).  false outside of 1900 to 2100.
 */
bool hindu_star(int64_t year, int sign, int star, int hour, int64_t *day);

/*
 * hindu_sign(year, sign, day):
 * The day on which the sun enters a sign, the next one if after sunset.  false
 * outside of 1900 to 2100.
 */
bool hindu_sign(int64_t year, int sign, int64_t *day);

#endif /* !ZH_HINDU_H */
