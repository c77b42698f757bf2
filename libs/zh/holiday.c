/*
 * How the day of each holiday is found.
 */
#include "zh/holiday.h"

#include <stddef.h>

#include "core/clock.h"

enum holiday_rule_kind {
	RULE_FIXED,
	RULE_WEEKDAY,
	RULE_LUNAR,
	RULE_LUNAR_BEFORE,
	RULE_SOLAR_TERM,
	RULE_EASTER,
	RULE_ORTHODOX_EASTER, /* always the Orthodox one */
	RULE_ISLAMIC,
	RULE_LAST_SATURDAY, /* the one before, on Easter's eve */
};

struct holiday_rule {
	enum holiday_rule_kind holiday_rule_kind;
	int month; /* SOLAR_TERM: the sun's longitude; EASTER: days after it */
	int day;   /* WEEKDAY: which one of the month, -1 the last */
	int how;   /* WEEKDAY: which; ISLAMIC: 1 if it begins the day before */
	int days;  /* its duration; 0: a single day */
};

static const struct holiday_rule holiday_rules[HOLIDAY_COUNT] = {
	[HOLIDAY_NEW_YEAR] = { RULE_FIXED, 1, 1, 0, 0 },
	[HOLIDAY_VALENTINE] = { RULE_FIXED, 2, 14, 0, 0 },
	[HOLIDAY_WOMEN] = { RULE_FIXED, 3, 8, 0, 0 },
	[HOLIDAY_ARBOR_DAY] = { RULE_FIXED, 3, 12, 0, 0 },
	[HOLIDAY_CONSUMERS] = { RULE_FIXED, 3, 15, 0, 0 },
	[HOLIDAY_APRIL_FOOLS] = { RULE_FIXED, 4, 1, 0, 0 },
	[HOLIDAY_LABOUR] = { RULE_FIXED, 5, 1, 0, 0 },
	[HOLIDAY_YOUTH] = { RULE_FIXED, 5, 4, 0, 0 },
	[HOLIDAY_CHILDREN] = { RULE_FIXED, 6, 1, 0, 0 },
	[HOLIDAY_PARTY] = { RULE_FIXED, 7, 1, 0, 0 },
	[HOLIDAY_ARMY] = { RULE_FIXED, 8, 1, 0, 0 },
	[HOLIDAY_TEACHERS] = { RULE_FIXED, 9, 10, 0, 0 },
	[HOLIDAY_NATIONAL] = { RULE_FIXED, 10, 1, 0, 0 },
	[HOLIDAY_HALLOWEEN] = { RULE_FIXED, 10, 31, 0, 0 },
	[HOLIDAY_SINGLES] = { RULE_FIXED, 11, 11, 0, 0 },
	[HOLIDAY_CHRISTMAS_EVE] = { RULE_FIXED, 12, 24, 0, 0 },
	[HOLIDAY_CHRISTMAS] = { RULE_FIXED, 12, 25, 0, 0 },
	[HOLIDAY_NEW_YEARS_EVE] = { RULE_FIXED, 12, 31, 0, 0 },
	[HOLIDAY_MACAO] = { RULE_FIXED, 12, 20, 0, 0 },
	[HOLIDAY_HONGKONG] = { RULE_FIXED, 7, 1, 0, 0 },
	[HOLIDAY_MOTHERS] = { RULE_WEEKDAY, 5, 2, 7, 0 },
	[HOLIDAY_FATHERS] = { RULE_WEEKDAY, 6, 3, 7, 0 },
	[HOLIDAY_THANKSGIVING] = { RULE_WEEKDAY, 11, 4, 4, 0 },
	[HOLIDAY_LUNAR_EVE] = { RULE_LUNAR, 1, 0, 0, 0 },
	[HOLIDAY_SPRING_FESTIVAL] = { RULE_LUNAR, 1, 1, 0, 0 },
	[HOLIDAY_LANTERN] = { RULE_LUNAR, 1, 15, 0, 0 },
	[HOLIDAY_DRAGON_HEAD] = { RULE_LUNAR, 2, 2, 0, 0 },
	[HOLIDAY_DRAGON_BOAT] = { RULE_LUNAR, 5, 5, 0, 0 },
	[HOLIDAY_QIXI] = { RULE_LUNAR, 7, 7, 0, 0 },
	[HOLIDAY_GHOST] = { RULE_LUNAR, 7, 15, 0, 0 },
	[HOLIDAY_MID_AUTUMN] = { RULE_LUNAR, 8, 15, 0, 0 },
	[HOLIDAY_DOUBLE_NINTH] = { RULE_LUNAR, 9, 9, 0, 0 },
	[HOLIDAY_LABA] = { RULE_LUNAR_BEFORE, 12, 8, 0, 0 },
	[HOLIDAY_KITCHEN_GOD] = { RULE_LUNAR_BEFORE, 12, 23, 0, 0 },
	[HOLIDAY_EASTER] = { RULE_EASTER, 0, 0, 0, 0 },
	[HOLIDAY_GOOD_FRIDAY] = { RULE_EASTER, -2, 0, 0, 0 },
	[HOLIDAY_SHROVE_TUESDAY] = { RULE_EASTER, -47, 0, 0, 0 },
	[HOLIDAY_ASH_WEDNESDAY] = { RULE_EASTER, -46, 0, 0, 0 },
	[HOLIDAY_PALM_SUNDAY] = { RULE_EASTER, -7, 0, 0, 0 },
	[HOLIDAY_HOLY_THURSDAY] = { RULE_EASTER, -3, 0, 0, 0 },
	[HOLIDAY_HOLY_SATURDAY] = { RULE_EASTER, -1, 0, 0, 0 },
	[HOLIDAY_EASTER_MONDAY] = { RULE_EASTER, 1, 0, 0, 0 },
	[HOLIDAY_ASCENSION] = { RULE_EASTER, 39, 0, 0, 0 },
	[HOLIDAY_PENTECOST] = { RULE_EASTER, 49, 0, 0, 0 },
	[HOLIDAY_TRINITY] = { RULE_EASTER, 56, 0, 0, 0 },
	[HOLIDAY_CORPUS_CHRISTI] = { RULE_EASTER, 60, 0, 0, 0 },
	[HOLIDAY_EID_AL_FITR] = { RULE_ISLAMIC, 10, 1, 0, 0 },
	[HOLIDAY_EID_AL_ADHA] = { RULE_ISLAMIC, 12, 10, 0, 0 },
	[HOLIDAY_ISLAMIC_NEW_YEAR] = { RULE_ISLAMIC, 1, 1, 1, 0 },
	[HOLIDAY_ASHURA] = { RULE_ISLAMIC, 1, 10, 1, 0 },
	[HOLIDAY_MAWLID] = { RULE_ISLAMIC, 3, 12, 1, 0 },
	[HOLIDAY_ISRA_MIRAJ] = { RULE_ISLAMIC, 7, 27, 0, 0 },
	[HOLIDAY_LAYLAT_AL_QADR] = { RULE_ISLAMIC, 9, 27, 0, 0 },
	[HOLIDAY_QINGMING] = { RULE_SOLAR_TERM, 15, 0, 0, 0 },
	[HOLIDAY_WINTER_SOLSTICE] = { RULE_SOLAR_TERM, 270, 0, 0, 0 },
	[HOLIDAY_SUMMER_SOLSTICE] = { RULE_SOLAR_TERM, 90, 0, 0, 0 },
	[HOLIDAY_START_OF_SPRING] = { RULE_SOLAR_TERM, 315, 0, 0, 0 },
	[HOLIDAY_RAMADAN] = { RULE_ISLAMIC, 9, 1, 0, 30 },
	[HOLIDAY_BARAAT] = { RULE_ISLAMIC, 8, 15, 1, 0 },
	[HOLIDAY_BOSS] = { RULE_FIXED, 10, 16, 0, 0 },
	[HOLIDAY_EARTH_DAY] = { RULE_FIXED, 4, 22, 0, 0 },
	[HOLIDAY_ST_PATRICK] = { RULE_FIXED, 3, 17, 0, 0 },
	[HOLIDAY_ALL_SAINTS] = { RULE_FIXED, 11, 1, 0, 0 },
	[HOLIDAY_ALL_SOULS] = { RULE_FIXED, 11, 2, 0, 0 },
	[HOLIDAY_EPIPHANY] = { RULE_FIXED, 1, 6, 0, 0 },
	[HOLIDAY_BOXING_DAY] = { RULE_FIXED, 12, 26, 0, 0 },
	[HOLIDAY_YOUTH_SERVICE] = { RULE_WEEKDAY, 4, -1, 5, 3 },
	[HOLIDAY_EARTH_HOUR] = { RULE_LAST_SATURDAY, 3, 0, 0, 0 },
	[HOLIDAY_LENT] = { RULE_EASTER, -46, 0, 0, 46 },
	[HOLIDAY_GREAT_LENT] = { RULE_ORTHODOX_EASTER, -48, 0, 0, 40 },
	[HOLIDAY_LAZARUS_SATURDAY] = { RULE_ORTHODOX_EASTER, -8, 0, 0, 0 },
	[HOLIDAY_HOLY_WEEK] = { RULE_EASTER, -7, 0, 0, 7 },
	[HOLIDAY_WHIT_MONDAY] = { RULE_EASTER, 50, 0, 0, 0 },
	[HOLIDAY_RAIN_WATER] = { RULE_SOLAR_TERM, 330, 0, 0, 0 },
	[HOLIDAY_AWAKENING] = { RULE_SOLAR_TERM, 345, 0, 0, 0 },
	[HOLIDAY_SPRING_EQUINOX] = { RULE_SOLAR_TERM, 0, 0, 0, 0 },
	[HOLIDAY_GRAIN_RAIN] = { RULE_SOLAR_TERM, 30, 0, 0, 0 },
	[HOLIDAY_START_OF_SUMMER] = { RULE_SOLAR_TERM, 45, 0, 0, 0 },
	[HOLIDAY_GRAIN_BUDS] = { RULE_SOLAR_TERM, 60, 0, 0, 0 },
	[HOLIDAY_AWNED_GRAIN] = { RULE_SOLAR_TERM, 75, 0, 0, 0 },
	[HOLIDAY_MINOR_HEAT] = { RULE_SOLAR_TERM, 105, 0, 0, 0 },
	[HOLIDAY_MAJOR_HEAT] = { RULE_SOLAR_TERM, 120, 0, 0, 0 },
	[HOLIDAY_START_OF_AUTUMN] = { RULE_SOLAR_TERM, 135, 0, 0, 0 },
	[HOLIDAY_END_OF_HEAT] = { RULE_SOLAR_TERM, 150, 0, 0, 0 },
	[HOLIDAY_WHITE_DEW] = { RULE_SOLAR_TERM, 165, 0, 0, 0 },
	[HOLIDAY_AUTUMN_EQUINOX] = { RULE_SOLAR_TERM, 180, 0, 0, 0 },
	[HOLIDAY_COLD_DEW] = { RULE_SOLAR_TERM, 195, 0, 0, 0 },
	[HOLIDAY_FROST] = { RULE_SOLAR_TERM, 210, 0, 0, 0 },
	[HOLIDAY_START_OF_WINTER] = { RULE_SOLAR_TERM, 225, 0, 0, 0 },
	[HOLIDAY_MINOR_SNOW] = { RULE_SOLAR_TERM, 240, 0, 0, 0 },
	[HOLIDAY_MAJOR_SNOW] = { RULE_SOLAR_TERM, 255, 0, 0, 0 },
	[HOLIDAY_MINOR_COLD] = { RULE_SOLAR_TERM, 285, 0, 0, 0 },
	[HOLIDAY_MAJOR_COLD] = { RULE_SOLAR_TERM, 300, 0, 0, 0 },
	[HOLIDAY_DOUBLE_TWELVE] = { RULE_FIXED, 12, 12, 0, 0 },
};

/* The Sunday after the ecclesiastical full moon. */
static int64_t
holiday_easter(int64_t year)
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

/* The same in the Julian calendar. */
static int64_t
holiday_orthodox_easter(int64_t year)
{
	int64_t epact = (19 * (year % 19) + 15) % 30;
	int64_t full = civil_days((struct civil){ year, 3, 21 }) + epact +
	    year / 100 - year / 400 - 2;

	return full + 7 - civil_weekday(full) % 7;
}

/* Months alternate between 30 and 29 days, 11 leap days in 30 years. */
static int64_t
holiday_islamic_day(int64_t year, int month, int day)
{
	/* Day 0 of the year 1 is 622-07-18. */
	return civil_days((struct civil){ 622, 7, 18 }) + (year - 1) * 354 +
	    (11 * year + 3) / 30 + 29 * (month - 1) + month / 2 + day;
}

/* The first one in a Gregorian year. */
static int64_t
holiday_islamic(int64_t year, const struct holiday_rule *r)
{
	int64_t first = civil_days((struct civil){ year, 1, 1 });
	int64_t y = (year - 622) * 33 / 32 - 1;

	while (holiday_islamic_day(y, r->month, r->day) - r->how < first)
		y++;
	return holiday_islamic_day(y, r->month, r->day) - r->how;
}

int64_t
calendar_nth_weekday(int64_t year, int month, int nth, int weekday)
{
	int64_t first = civil_days((struct civil){ year, month, 1 });
	int64_t day = first + (weekday - civil_weekday(first) + 7) % 7;

	if (nth > 0)
		return day + INT64_C(7) * (nth - 1);
	return day +
	    (day + 28 < first + civil_month_days(year, month) ? 28 : 21);
}

/* The last Saturday of the month, or the one before it on Easter's eve. */
static int64_t
holiday_last_saturday(int64_t year, int month)
{
	int64_t day = calendar_nth_weekday(year, month, -1, 6);

	return day == holiday_easter(year) - 1 ? day - 7 : day;
}

static const struct holiday_rule *
holiday_rule_of(enum holiday f)
{
	return &holiday_rules[(unsigned)f & (unsigned)~HOLIDAY_ORTHODOX];
}

int
holiday_days(enum holiday f)
{
	return holiday_rule_of(f)->days;
}

int
holiday_vacation(enum holiday f)
{
	switch (f) {
	case HOLIDAY_NATIONAL:
		return 7;
	case HOLIDAY_SPRING_FESTIVAL:
		return 8;
	case HOLIDAY_LABOUR:
		return 5;
	default:
		return 0;
	}
}

int
holiday_hour(enum holiday f)
{
	return f == HOLIDAY_EARTH_HOUR ? (20 * 60 + 30) * 60 : -1;
}

bool
holiday_day(enum holiday f, int64_t year, int64_t *day)
{
	bool is_orthodox = ((unsigned)f & HOLIDAY_ORTHODOX) != 0;
	const struct holiday_rule *r = holiday_rule_of(f);

	switch (r->holiday_rule_kind) {
	case RULE_FIXED:
		/* The Julian calendar is 13 days behind. */
		if (is_orthodox && r->month == 12) {
			*day = civil_days((struct civil){
				   year - 1, r->month, r->day }) +
			    13;
			return true;
		}
		*day = civil_days((struct civil){ year, r->month, r->day });
		return true;
	case RULE_WEEKDAY:
		*day = calendar_nth_weekday(year, r->month, r->day, r->how);
		return true;
	case RULE_LAST_SATURDAY:
		*day = holiday_last_saturday(year, r->month);
		return true;
	case RULE_LUNAR:
		return lunar_day(year, r->month, r->day, day);
	case RULE_LUNAR_BEFORE:
		return lunar_day(year - 1, r->month, r->day, day);
	case RULE_SOLAR_TERM:
		return lunar_term(year, r->month, day);
	case RULE_EASTER:
	case RULE_ORTHODOX_EASTER:
		is_orthodox =
		    is_orthodox || r->holiday_rule_kind == RULE_ORTHODOX_EASTER;
		*day = (is_orthodox ? holiday_orthodox_easter(year)
				    : holiday_easter(year)) +
		    r->month;
		return true;
	case RULE_ISLAMIC:
		*day = holiday_islamic(year, r);
		return true;
	default:
		return false;
	}
}

bool
holiday_day_cached(
    struct holiday_cache *seen, enum holiday f, int64_t year, int64_t *day)
{
	/* Two consecutive years do not evict each other. */
	size_t i = ((size_t)f * 2 + ((uint64_t)year & 1)) % HOLIDAY_CACHE_SIZE;

	if (!seen->all[i].is_set || seen->all[i].f != (unsigned)f ||
	    seen->all[i].year != year) {
		seen->all[i].f = (unsigned)f;
		seen->all[i].year = year;
		seen->all[i].is_known = holiday_day(f, year, &seen->all[i].day);
		seen->all[i].is_set = true;
	}
	*day = seen->all[i].day;
	return seen->all[i].is_known;
}
