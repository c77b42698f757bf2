/*
 * The year begins with the new moon of Tishri, by the mean month of 29 days,
 * 12 hours and 793 of 1080 parts; four rules put it off.
 */
#include "zh/hebrew.h"

#include <stdbool.h>

#include "core/clock.h"

#define PARTS_PER_DAY INT64_C(25920)
/* civil_days() of the day before the first one of the year 1. */
#define EPOCH INT64_C(-2092590)

/* Days before the year, put off from Sunday, Wednesday and Friday. */
static int64_t
elapsed(int64_t year)
{
	int64_t months = (235 * year - 234) / 19;
	int64_t parts = 12084 + 13753 * months;
	int64_t day = 29 * months + parts / PARTS_PER_DAY;

	return 3 * (day + 1) % 7 < 3 ? day + 1 : day;
}

static int64_t
new_year(int64_t year)
{
	int64_t before = elapsed(year - 1), at = elapsed(year);
	int64_t after = elapsed(year + 1);

	/* No year may have 356 or 382 days. */
	if (after - at == 356)
		at += 2;
	else if (at - before == 382)
		at += 1;
	return EPOCH + at;
}

int64_t
hebrew_day(int64_t year, enum hebrew_month month, int day)
{
	/* From Adar to the year's end it is as long in every year. */
	static const int16_t to_end[] = { 177, 147, 118, 88, 59, 29 };
	int64_t start = new_year(year), end = new_year(year + 1);
	int length = (int)((end - start) % 10);
	/* A long Heshvan (355, 385), a short Kislev (353, 383). */
	int heshvan = length == 5 ? 30 : 29, kislev = length == 3 ? 29 : 30;

	switch (month) {
	case HEBREW_TISHRI:
		return start + day - 1;
	case HEBREW_HESHVAN:
		return start + 30 + day - 1;
	case HEBREW_KISLEV:
		return start + 30 + heshvan + day - 1;
	case HEBREW_TEVET:
		return start + 30 + heshvan + kislev + day - 1;
	case HEBREW_SHEVAT:
		return start + 30 + heshvan + kislev + 29 + day - 1;
	case HEBREW_ADAR:
		return end - 206 + day - 1;
	default:
		return end - to_end[month - HEBREW_NISAN] + day - 1;
	}
}

int64_t
hebrew_feast(int64_t year, enum hebrew_month month, int day)
{
	bool is_autumn = month >= HEBREW_TISHRI && month <= HEBREW_KISLEV;
	int64_t at = hebrew_day(year + (is_autumn ? 3761 : 3760), month, day);
	int weekday = civil_weekday(at);

	/* The fast of the temple, the day of the dead, independence. */
	if (month == HEBREW_AV && day == 9 && weekday == 6)
		return at + 1;
	if (month == HEBREW_NISAN && day == 27)
		return at + (weekday == 7) - (weekday == 5);
	if (month == HEBREW_IYAR && (day == 4 || day == 5)) {
		/* As the fifth: Friday, Saturday, Monday. */
		weekday = civil_weekday(at + 5 - day);
		return at + (weekday == 1) - (weekday == 5) -
		    2 * (weekday == 6);
	}
	return at;
}
