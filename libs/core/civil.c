/*
 * The year is taken to begin in March, so that the leap day is its last.
 */
#include "core/clock.h"

static int64_t
floor_div(int64_t a, int64_t b)
{
	return (a >= 0 ? a : a - (b - 1)) / b;
}

int64_t
civil_days(struct civil c)
{
	int64_t years = floor_div(c.month - 1, 12);
	int64_t month = c.month - years * 12;
	int64_t y = c.year + years - (month > 2 ? 0 : 1);
	int64_t m = (month + 9) % 12;
	int64_t era = floor_div(y, 400);
	int64_t yoe = y - era * 400;
	int64_t doy = (153 * m + 2) / 5 + c.day - 1;

	return era * 146097 + yoe * 365 + yoe / 4 - yoe / 100 + doy - 719468;
}

struct civil
civil_of_days(int64_t days)
{
	int64_t z = days + 719468;
	int64_t era = floor_div(z, 146097);
	int64_t doe = z - era * 146097;
	int64_t yoe = (doe - doe / 1460 + doe / 36524 - doe / 146096) / 365;
	int64_t doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
	int64_t m = (5 * doy + 2) / 153;
	struct civil c;

	c.day = (int)(doy - (153 * m + 2) / 5 + 1);
	c.month = (int)(m < 10 ? m + 3 : m - 9);
	c.year = yoe + era * 400 + (c.month <= 2 ? 1 : 0);
	return c;
}

int
civil_weekday(int64_t days)
{
	/* The first day was a Thursday. */
	int64_t n = days + 3;

	return (int)(n - floor_div(n, 7) * 7) + 1;
}

int
civil_month_days(int64_t year, int month)
{
	return (int)(civil_days((struct civil){ year, month + 1, 1 }) -
	    civil_days((struct civil){ year, month, 1 }));
}
