/*
 * hebrew: the Jewish calendar, by its own arithmetic.
 */
#ifndef ZH_HEBREW_H
#define ZH_HEBREW_H

#include <stdint.h>

/* Months as they are counted from the one of the Passover. */
enum hebrew_month {
	HEBREW_NISAN = 1,
	HEBREW_IYAR,
	HEBREW_SIVAN,
	HEBREW_TAMMUZ,
	HEBREW_AV,
	HEBREW_ELUL,
	HEBREW_TISHRI,
	HEBREW_HESHVAN,
	HEBREW_KISLEV,
	HEBREW_TEVET,
	HEBREW_SHEVAT,
	HEBREW_ADAR, /* of a leap year the second one */
};

/*
 * hebrew_day(year, month, day):
 * The day (civil_days) of a date of a Jewish year, 5786 and its like; the day
 * itself, which begins the evening before.  Any thread.
 */
int64_t hebrew_day(int64_t year, enum hebrew_month month, int day);

/*
 * hebrew_feast(year, month, day):
 * The day on which a feast of that date is kept in a year of ours: days of
 * mourning and of the state give way to the sabbath.  For what falls into
 * January only from Shevat on.
 */
int64_t hebrew_feast(int64_t year, enum hebrew_month month, int day);

#endif /* !ZH_HEBREW_H */
