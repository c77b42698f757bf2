/*
 * How each feast's day is found.
 */
#include "zh/feast.h"

#include <stddef.h>

#include "core/clock.h"
#include "zh/hebrew.h"
#include "zh/hindu.h"
#include "zh/lunar.h"

enum rule {
	FIXED,
	WEEKDAY,
	LUNAR,
	LUNAR_BEFORE,
	TERM,
	EASTER,
	EASTER_EAST, /* of the eastern churches only */
	MUSLIM,
	HEBREW, /* from the evening before */
	TITHI,
	STAR,
	SIGN,
	LAST_SATURDAY, /* but not the one before Easter */
};

struct feast_rule {
	enum rule rule;
	int month; /* TERM: the sun's longitude; EASTER: days after it; STAR,
		      SIGN: the sun's sign */
	int day;   /* WEEKDAY: which one of the month, -1 the last; TITHI: the
		      tithi; STAR: the star */
	/* WEEKDAY: 1 Monday … 7 Sunday; MUSLIM: 1 if from the evening before;
	 * TITHI, STAR: the hour that counts. */
	int how;
	int days; /* how long it is, 0 if it is a day of its own */
};

static const struct feast_rule rules[FEAST_COUNT] = {
	[FEAST_NEW_YEAR] = { FIXED, 1, 1, 0, 0 },
	[FEAST_VALENTINE] = { FIXED, 2, 14, 0, 0 },
	[FEAST_WOMEN] = { FIXED, 3, 8, 0, 0 },
	[FEAST_TREES] = { FIXED, 3, 12, 0, 0 },
	[FEAST_CONSUMERS] = { FIXED, 3, 15, 0, 0 },
	[FEAST_FOOLS] = { FIXED, 4, 1, 0, 0 },
	[FEAST_LABOUR] = { FIXED, 5, 1, 0, 0 },
	[FEAST_YOUTH] = { FIXED, 5, 4, 0, 0 },
	[FEAST_CHILDREN] = { FIXED, 6, 1, 0, 0 },
	[FEAST_PARTY] = { FIXED, 7, 1, 0, 0 },
	[FEAST_ARMY] = { FIXED, 8, 1, 0, 0 },
	[FEAST_TEACHERS] = { FIXED, 9, 10, 0, 0 },
	[FEAST_NATION] = { FIXED, 10, 1, 0, 0 },
	[FEAST_HALLOWEEN] = { FIXED, 10, 31, 0, 0 },
	[FEAST_SINGLES] = { FIXED, 11, 11, 0, 0 },
	[FEAST_CHRISTMAS_EVE] = { FIXED, 12, 24, 0, 0 },
	[FEAST_CHRISTMAS] = { FIXED, 12, 25, 0, 0 },
	[FEAST_SILVESTER] = { FIXED, 12, 31, 0, 0 },
	[FEAST_MACAO] = { FIXED, 12, 20, 0, 0 },
	[FEAST_HONGKONG] = { FIXED, 7, 1, 0, 0 },
	[FEAST_MOTHERS] = { WEEKDAY, 5, 2, 7, 0 },
	[FEAST_FATHERS] = { WEEKDAY, 6, 3, 7, 0 },
	[FEAST_THANKS] = { WEEKDAY, 11, 4, 4, 0 },
	[FEAST_EVE] = { LUNAR, 1, 0, 0, 0 },
	[FEAST_SPRING] = { LUNAR, 1, 1, 0, 0 },
	[FEAST_LANTERNS] = { LUNAR, 1, 15, 0, 0 },
	[FEAST_DRAGON] = { LUNAR, 2, 2, 0, 0 },
	[FEAST_BOATS] = { LUNAR, 5, 5, 0, 0 },
	[FEAST_SEVENS] = { LUNAR, 7, 7, 0, 0 },
	[FEAST_GHOSTS] = { LUNAR, 7, 15, 0, 0 },
	[FEAST_MOON] = { LUNAR, 8, 15, 0, 0 },
	[FEAST_NINES] = { LUNAR, 9, 9, 0, 0 },
	[FEAST_LABA] = { LUNAR_BEFORE, 12, 8, 0, 0 },
	[FEAST_KITCHEN] = { LUNAR_BEFORE, 12, 23, 0, 0 },
	[FEAST_EASTER] = { EASTER, 0, 0, 0, 0 },
	[FEAST_GOOD_FRIDAY] = { EASTER, -2, 0, 0, 0 },
	[FEAST_SHROVE] = { EASTER, -47, 0, 0, 0 },
	[FEAST_ASHES] = { EASTER, -46, 0, 0, 0 },
	[FEAST_PALMS] = { EASTER, -7, 0, 0, 0 },
	[FEAST_HOLY_THURSDAY] = { EASTER, -3, 0, 0, 0 },
	[FEAST_HOLY_SATURDAY] = { EASTER, -1, 0, 0, 0 },
	[FEAST_EASTER_MONDAY] = { EASTER, 1, 0, 0, 0 },
	[FEAST_ASCENSION] = { EASTER, 39, 0, 0, 0 },
	[FEAST_PENTECOST] = { EASTER, 49, 0, 0, 0 },
	[FEAST_TRINITY] = { EASTER, 56, 0, 0, 0 },
	[FEAST_CORPUS_CHRISTI] = { EASTER, 60, 0, 0, 0 },
	[FEAST_FAST_BROKEN] = { MUSLIM, 10, 1, 0, 0 },
	[FEAST_SACRIFICE] = { MUSLIM, 12, 10, 0, 0 },
	[FEAST_MUSLIM_NEW_YEAR] = { MUSLIM, 1, 1, 1, 0 },
	[FEAST_ASHURA] = { MUSLIM, 1, 10, 1, 0 },
	[FEAST_PROPHET] = { MUSLIM, 3, 12, 1, 0 },
	[FEAST_ASCENT] = { MUSLIM, 7, 27, 0, 0 },
	[FEAST_QADR] = { MUSLIM, 9, 27, 0, 0 },
	[FEAST_QINGMING] = { TERM, 15, 0, 0, 0 },
	[FEAST_SOLSTICE_WINTER] = { TERM, 270, 0, 0, 0 },
	[FEAST_SOLSTICE_SUMMER] = { TERM, 90, 0, 0, 0 },
	[FEAST_SPRING_BEGINS] = { TERM, 315, 0, 0, 0 },
	[FEAST_RAMADAN] = { MUSLIM, 9, 1, 0, 30 },
	[FEAST_BARAAT] = { MUSLIM, 8, 15, 1, 0 },
	[FEAST_BOSS] = { FIXED, 10, 16, 0, 0 },
	[FEAST_EARTH_DAY] = { FIXED, 4, 22, 0, 0 },
	[FEAST_ST_PATRICK] = { FIXED, 3, 17, 0, 0 },
	[FEAST_ALL_SAINTS] = { FIXED, 11, 1, 0, 0 },
	[FEAST_ALL_SOULS] = { FIXED, 11, 2, 0, 0 },
	[FEAST_EPIPHANY] = { FIXED, 1, 6, 0, 0 },
	[FEAST_BOXING] = { FIXED, 12, 26, 0, 0 },
	[FEAST_YOUTH_SERVICE] = { WEEKDAY, 4, -1, 5, 3 },
	[FEAST_EARTH_HOUR] = { LAST_SATURDAY, 3, 0, 0, 0 },
	[FEAST_LENT] = { EASTER, -46, 0, 0, 46 },
	[FEAST_GREAT_LENT] = { EASTER_EAST, -48, 0, 0, 40 },
	[FEAST_LAZARUS] = { EASTER_EAST, -8, 0, 0, 0 },
	[FEAST_HOLY_WEEK] = { EASTER, -7, 0, 0, 7 },
	[FEAST_WHIT_MONDAY] = { EASTER, 50, 0, 0, 0 },
	[FEAST_ROSH_HASHANAH] = { HEBREW, HEBREW_TISHRI, 1, 0, 3 },
	[FEAST_YOM_KIPPUR] = { HEBREW, HEBREW_TISHRI, 10, 0, 0 },
	[FEAST_SUKKOT] = { HEBREW, HEBREW_TISHRI, 15, 0, 9 },
	[FEAST_SHEMINI] = { HEBREW, HEBREW_TISHRI, 22, 0, 0 },
	[FEAST_TORAH] = { HEBREW, HEBREW_TISHRI, 23, 0, 0 },
	[FEAST_HANUKKAH] = { HEBREW, HEBREW_KISLEV, 25, 0, 8 },
	[FEAST_TU_BISHVAT] = { HEBREW, HEBREW_SHEVAT, 15, 0, 0 },
	[FEAST_PURIM] = { HEBREW, HEBREW_ADAR, 14, 0, 0 },
	[FEAST_PASSOVER] = { HEBREW, HEBREW_NISAN, 15, 0, 9 },
	[FEAST_SHOAH] = { HEBREW, HEBREW_NISAN, 27, 0, 0 },
	[FEAST_ISRAEL_FALLEN] = { HEBREW, HEBREW_IYAR, 4, 0, 0 },
	[FEAST_ISRAEL] = { HEBREW, HEBREW_IYAR, 5, 0, 0 },
	[FEAST_LAG_BAOMER] = { HEBREW, HEBREW_IYAR, 18, 0, 0 },
	[FEAST_SHAVUOT] = { HEBREW, HEBREW_SIVAN, 6, 0, 3 },
	[FEAST_TEMPLE] = { HEBREW, HEBREW_AV, 9, 0, 0 },
	[FEAST_UGADI] = { TITHI, 0, 1, 6, 0 },
	[FEAST_RAMA] = { TITHI, 0, 9, 12, 0 },
	[FEAST_VESAK] = { TITHI, 1, 15, 12, 0 },
	[FEAST_RATH_YATRA] = { TITHI, 3, 2, 6, 0 },
	/* Three muhurtas after sunrise. */
	[FEAST_RAKHI] = { TITHI, 4, 15, 8, 0 },
	[FEAST_KRISHNA] = { TITHI, 4, 23, 6, 0 },
	[FEAST_GANESH] = { TITHI, 5, 4, 12, 0 },
	/* From the new moon before it, when the goddess is called. */
	[FEAST_NAVARATRI] = { TITHI, 5, 30, 6, 10 },
	[FEAST_DUSSEHRA] = { TITHI, 6, 10, 11, 0 },
	[FEAST_DHANTERAS] = { TITHI, 6, 28, 18, 0 },
	[FEAST_DIWALI] = { TITHI, 6, 30, 18, 0 },
	[FEAST_CHHATH] = { TITHI, 7, 6, 7, 0 },
	[FEAST_SARASWATI] = { TITHI, 10, 5, 9, 0 },
	[FEAST_SHIVA] = { TITHI, 10, 29, 24, 0 },
	/* The evening of the bonfire. */
	[FEAST_HOLI] = { TITHI, 11, 15, 18, 0 },
	[FEAST_PONGAL] = { SIGN, 9, 0, 0, 0 },
	[FEAST_SANKRANTI] = { SIGN, 9, 0, 0, 0 },
	[FEAST_VAISAKHI] = { SIGN, 0, 0, 0, 0 },
	[FEAST_ONAM] = { STAR, 4, 21, 6, 0 },
	[FEAST_THAIPUSAM] = { STAR, 9, 7, 12, 0 },
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

	while (muslim_day(y, r->month, r->day) - r->how < first)
		y++;
	return muslim_day(y, r->month, r->day) - r->how;
}

static int64_t
nth_weekday(int64_t year, int month, int nth, int weekday)
{
	int64_t first = civil_days((struct civil){ year, month, 1 });
	int64_t day = first + (weekday - civil_weekday(first) + 7) % 7;

	if (nth > 0)
		return day + INT64_C(7) * (nth - 1);
	return day +
	    (day + 28 < first + civil_month_days(year, month) ? 28 : 21);
}

/* The last Saturday of the month, or the one before if it is Easter's eve. */
static int64_t
last_saturday(int64_t year, int month)
{
	int64_t day = nth_weekday(year, month, -1, 6);

	return day == easter(year) - 1 ? day - 7 : day;
}

static const struct feast_rule *
rule_of(enum feast f)
{
	return &rules[(unsigned)f & (unsigned)~FEAST_ORTHODOX];
}

int
feast_length(enum feast f)
{
	return rule_of(f)->days;
}

int
feast_hour(enum feast f)
{
	return f == FEAST_EARTH_HOUR ? (20 * 60 + 30) * 60 : -1;
}

int
feast_first(enum feast f)
{
	/* The old things are burnt the day before. */
	return f == FEAST_PONGAL ? 1 : 0;
}

bool
feast_day(enum feast f, int64_t year, int64_t *day)
{
	bool is_orthodox = ((unsigned)f & FEAST_ORTHODOX) != 0;
	const struct feast_rule *r = rule_of(f);

	switch (r->rule) {
	case FIXED:
		/* Thirteen days late by the Julian calendar. */
		if (is_orthodox && r->month == 12) {
			*day = civil_days((struct civil){
				   year - 1, r->month, r->day }) +
			    13;
			return true;
		}
		*day = civil_days((struct civil){ year, r->month, r->day });
		return true;
	case WEEKDAY:
		*day = nth_weekday(year, r->month, r->day, r->how);
		return true;
	case LAST_SATURDAY:
		*day = last_saturday(year, r->month);
		return true;
	case LUNAR:
		return lunar_day(year, r->month, r->day, day);
	case LUNAR_BEFORE:
		return lunar_day(year - 1, r->month, r->day, day);
	case TERM:
		return lunar_term(year, r->month, day);
	case EASTER:
	case EASTER_EAST:
		is_orthodox = is_orthodox || r->rule == EASTER_EAST;
		*day = (is_orthodox ? easter_orthodox(year) : easter(year)) +
		    r->month;
		return true;
	case MUSLIM:
		*day = muslim_feast(year, r);
		return true;
	case HEBREW:
		*day =
		    hebrew_feast(year, (enum hebrew_month)r->month, r->day) - 1;
		return true;
	case TITHI:
		return hindu_tithi(year, r->month, r->day, r->how, day);
	case STAR:
		return hindu_star(year, r->month, r->day, r->how, day);
	case SIGN:
		return hindu_sign(year, r->month, day);
	default:
		return false;
	}
}

bool
feast_day_once(
    struct feast_seen *seen, enum feast f, int64_t year, int64_t *day)
{
	/* This year's and the next one's do not push each other out. */
	size_t i = ((size_t)f * 2 + ((uint64_t)year & 1)) % FEAST_SEEN;

	if (!seen->all[i].is_set || seen->all[i].f != (unsigned)f ||
	    seen->all[i].year != year) {
		seen->all[i].f = (unsigned)f;
		seen->all[i].year = year;
		seen->all[i].is_known = feast_day(f, year, &seen->all[i].day);
		seen->all[i].is_set = true;
	}
	*day = seen->all[i].day;
	return seen->all[i].is_known;
}
