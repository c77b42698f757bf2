/*
 * How each feast's day is found.
 */
#include "zh/feast.h"

#include "core/civil.h"
#include "zh/lunar.h"

enum rule { FIXED, WEEKDAY, LUNAR, LUNAR_BEFORE, TERM, EASTER, MUSLIM };

struct feast_rule {
	enum rule rule;
	int month;   /* of TERM the sun's longitude, of EASTER days after it */
	int day;     /* of WEEKDAY which one of the month */
	int weekday; /* 1 Monday … 7 Sunday */
};

static const struct feast_rule rules[FEAST_COUNT] = {
	[FEAST_NEW_YEAR] = { FIXED, 1, 1, 0 },
	[FEAST_VALENTINE] = { FIXED, 2, 14, 0 },
	[FEAST_WOMEN] = { FIXED, 3, 8, 0 },
	[FEAST_TREES] = { FIXED, 3, 12, 0 },
	[FEAST_CONSUMERS] = { FIXED, 3, 15, 0 },
	[FEAST_FOOLS] = { FIXED, 4, 1, 0 },
	[FEAST_LABOUR] = { FIXED, 5, 1, 0 },
	[FEAST_YOUTH] = { FIXED, 5, 4, 0 },
	[FEAST_CHILDREN] = { FIXED, 6, 1, 0 },
	[FEAST_PARTY] = { FIXED, 7, 1, 0 },
	[FEAST_ARMY] = { FIXED, 8, 1, 0 },
	[FEAST_TEACHERS] = { FIXED, 9, 10, 0 },
	[FEAST_NATION] = { FIXED, 10, 1, 0 },
	[FEAST_HALLOWEEN] = { FIXED, 10, 31, 0 },
	[FEAST_SINGLES] = { FIXED, 11, 11, 0 },
	[FEAST_CHRISTMAS_EVE] = { FIXED, 12, 24, 0 },
	[FEAST_CHRISTMAS] = { FIXED, 12, 25, 0 },
	[FEAST_SILVESTER] = { FIXED, 12, 31, 0 },
	[FEAST_MACAO] = { FIXED, 12, 20, 0 },
	[FEAST_HONGKONG] = { FIXED, 7, 1, 0 },
	[FEAST_MOTHERS] = { WEEKDAY, 5, 2, 7 },
	[FEAST_FATHERS] = { WEEKDAY, 6, 3, 7 },
	[FEAST_THANKS] = { WEEKDAY, 11, 4, 4 },
	[FEAST_EVE] = { LUNAR, 1, 0, 0 },
	[FEAST_SPRING] = { LUNAR, 1, 1, 0 },
	[FEAST_LANTERNS] = { LUNAR, 1, 15, 0 },
	[FEAST_DRAGON] = { LUNAR, 2, 2, 0 },
	[FEAST_BOATS] = { LUNAR, 5, 5, 0 },
	[FEAST_SEVENS] = { LUNAR, 7, 7, 0 },
	[FEAST_GHOSTS] = { LUNAR, 7, 15, 0 },
	[FEAST_MOON] = { LUNAR, 8, 15, 0 },
	[FEAST_NINES] = { LUNAR, 9, 9, 0 },
	[FEAST_LABA] = { LUNAR_BEFORE, 12, 8, 0 },
	[FEAST_KITCHEN] = { LUNAR_BEFORE, 12, 23, 0 },
	[FEAST_EASTER] = { EASTER, 0, 0, 0 },
	[FEAST_GOOD_FRIDAY] = { EASTER, -2, 0, 0 },
	[FEAST_SHROVE] = { EASTER, -47, 0, 0 },
	[FEAST_ASHES] = { EASTER, -46, 0, 0 },
	[FEAST_PALMS] = { EASTER, -7, 0, 0 },
	[FEAST_HOLY_THURSDAY] = { EASTER, -3, 0, 0 },
	[FEAST_HOLY_SATURDAY] = { EASTER, -1, 0, 0 },
	[FEAST_EASTER_MONDAY] = { EASTER, 1, 0, 0 },
	[FEAST_ASCENSION] = { EASTER, 39, 0, 0 },
	[FEAST_PENTECOST] = { EASTER, 49, 0, 0 },
	[FEAST_TRINITY] = { EASTER, 56, 0, 0 },
	[FEAST_CORPUS_CHRISTI] = { EASTER, 60, 0, 0 },
	[FEAST_FAST_BROKEN] = { MUSLIM, 10, 1, 0 },
	[FEAST_SACRIFICE] = { MUSLIM, 12, 10, 0 },
	[FEAST_MUSLIM_NEW_YEAR] = { MUSLIM, 1, 1, 0 },
	[FEAST_ASHURA] = { MUSLIM, 1, 10, 0 },
	[FEAST_PROPHET] = { MUSLIM, 3, 12, 0 },
	[FEAST_ASCENT] = { MUSLIM, 7, 27, 0 },
	[FEAST_QADR] = { MUSLIM, 9, 27, 0 },
	[FEAST_QINGMING] = { TERM, 15, 0, 0 },
	[FEAST_SOLSTICE_WINTER] = { TERM, 270, 0, 0 },
	[FEAST_SOLSTICE_SUMMER] = { TERM, 90, 0, 0 },
	[FEAST_SPRING_BEGINS] = { TERM, 315, 0, 0 },
};

/* The Sunday after the full moon of the church's own reckoning. */
static int64_t
easter(int64_t year)
{
	int64_t golden = year % 19, century = year / 100;
	int64_t epact = (century - century / 4 - (8 * century + 13) / 25 +
			    19 * golden + 15) %
	    30;
	int64_t moon =
	    epact - (epact > 28 || (epact == 28 && golden > 10) ? 1 : 0);
	int64_t full = civil_days((struct civil){ year, 3, 21 }) + moon;

	return full + 7 - civil_weekday(full) % 7;
}

/* The same by the Julian calendar and its own moon. */
static int64_t
easter_orthodox(int64_t year)
{
	int64_t epact = (19 * (year % 19) + 15) % 30;
	int64_t full = civil_days((struct civil){ year, 3, 21 }) + epact +
	    year / 100 - year / 400 - 2;

	return full + 7 - civil_weekday(full) % 7;
}

/* Months of 30 and 29 days in turn, eleven leap days in thirty years. */
static int64_t
muslim_day(int64_t year, int month, int day)
{
	/* Day 0 of the year 1 is 622-07-18 of our calendar. */
	return civil_days((struct civil){ 622, 7, 18 }) + (year - 1) * 354 +
	    (11 * year + 3) / 30 + 29 * (month - 1) + month / 2 + day;
}

/* The first one in a year of ours. */
static int64_t
muslim_feast(int64_t year, const struct feast_rule *r)
{
	int64_t first = civil_days((struct civil){ year, 1, 1 });
	int64_t y = (year - 622) * 33 / 32 - 1;

	while (muslim_day(y, r->month, r->day) < first)
		y++;
	return muslim_day(y, r->month, r->day);
}

static int64_t
nth_weekday(int64_t year, const struct feast_rule *r)
{
	int64_t first = civil_days((struct civil){ year, r->month, 1 });
	int off = (r->weekday - civil_weekday(first) + 7) % 7;

	return first + off + 7 * (r->day - 1);
}

bool
feast_day(enum feast f, int64_t year, int64_t *day)
{
	bool is_orthodox = ((unsigned)f & FEAST_ORTHODOX) != 0;
	const struct feast_rule *r =
	    &rules[(unsigned)f & (unsigned)~FEAST_ORTHODOX];

	switch (r->rule) {
	case FIXED:
		*day = civil_days((struct civil){ year, r->month, r->day });
		return true;
	case WEEKDAY:
		*day = nth_weekday(year, r);
		return true;
	case LUNAR:
		return lunar_day(year, r->month, r->day, day);
	case LUNAR_BEFORE:
		return lunar_day(year - 1, r->month, r->day, day);
	case TERM:
		return lunar_term(year, r->month, day);
	case EASTER:
		*day = (is_orthodox ? easter_orthodox(year) : easter(year)) +
		    r->month;
		return true;
	case MUSLIM:
		*day = muslim_feast(year, r);
		return true;
	default:
		return false;
	}
}
