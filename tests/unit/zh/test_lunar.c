/*
 * The lunar calendar by dates that are known, and its own consistency.
 */
#include "core/clock.h"
#include "core/mem.h"
#include "testkit/testkit.h"
#include "zh/feast.h"
#include "zh/lunar.h"

static int64_t
day(int64_t year, int month, int dom)
{
	return civil_days((struct civil){ year, month, dom });
}

/* New Year's days, years with a leap month among them. */
static const struct {
	int year, month, day;
} springs[] = {
	{ 1949, 1, 29 },
	{ 1976, 1, 31 },
	{ 1985, 2, 20 },
	{ 2000, 2, 5 },
	{ 2012, 1, 23 },
	{ 2020, 1, 25 },
	{ 2023, 1, 22 },
	{ 2024, 2, 10 },
	{ 2025, 1, 29 },
	{ 2026, 2, 17 },
	{ 2027, 2, 6 },
	{ 2033, 1, 31 },
	{ 2034, 2, 19 },
};

TEST(new_years)
{
	int64_t d;
	size_t i;

	for (i = 0; i < NELEM(springs); i++) {
		ck_assert(feast_day(FEAST_SPRING, springs[i].year, &d));
		ck_assert_msg(
		    d == day(springs[i].year, springs[i].month, springs[i].day),
		    "%d", springs[i].year);
	}
}

static const struct {
	enum feast feast;
	int year, month, day;
} feasts[] = {
	{ FEAST_MOON, 2023, 9, 29 }, /* after a leap month */
	{ FEAST_MOON, 2025, 10, 6 },
	{ FEAST_MOON, 2026, 9, 25 },
	{ FEAST_BOATS, 2024, 6, 10 },
	{ FEAST_SEVENS, 2025, 8, 29 },
	{ FEAST_NINES, 2024, 10, 11 },
	{ FEAST_EVE, 2025, 1, 28 },
	{ FEAST_LANTERNS, 2026, 3, 3 },
	{ FEAST_LABA, 2025, 1, 7 },
	{ FEAST_QINGMING, 2024, 4, 4 },
	{ FEAST_QINGMING, 2026, 4, 5 },
	{ FEAST_SOLSTICE_WINTER, 2025, 12, 21 },
	{ FEAST_SOLSTICE_SUMMER, 2024, 6, 21 },
	{ FEAST_SPRING_BEGINS, 2025, 2, 3 },
	{ FEAST_EASTER, 2024, 3, 31 },
	{ FEAST_EASTER, 2025, 4, 20 },
	{ FEAST_EASTER, 2038, 4, 25 },
	{ FEAST_MOTHERS, 2026, 5, 10 },
	{ FEAST_FATHERS, 2025, 6, 15 },
	{ FEAST_THANKS, 2024, 11, 28 },
};

TEST(feast_days)
{
	int64_t d;
	size_t i;

	for (i = 0; i < NELEM(feasts); i++) {
		ck_assert(feast_day(feasts[i].feast, feasts[i].year, &d));
		ck_assert_msg(
		    d == day(feasts[i].year, feasts[i].month, feasts[i].day),
		    "row %zu", i);
	}
}

/* Months have 29 or 30 days, and each day is the date it was made from. */
TEST(months)
{
	int64_t year, start, next, y;
	int month, m, dom;

	for (year = 1950; year < 2100; year += 3) {
		for (month = 1; month <= 12; month++) {
			ck_assert(lunar_day(year, month, 1, &start));
			ck_assert(lunar_day(year, month, 29, &next));
			ck_assert_int_eq(next - start, 28);
			ck_assert(lunar_of_day(start + 14, &y, &m, &dom));
			ck_assert_int_eq(y, year);
			ck_assert_int_eq(m, month);
			ck_assert_int_eq(dom, 15);
		}
	}
}

TEST(bounds)
{
	int64_t d, y;
	int m, dom;

	ck_assert(!lunar_day(1899, 1, 1, &d));
	ck_assert(!lunar_day(2101, 1, 1, &d));
	ck_assert(!lunar_day(2026, 13, 1, &d));
	ck_assert(!lunar_day(2026, 0, 1, &d));
	ck_assert(!lunar_day(2026, 1, 31, &d));
	ck_assert(!lunar_day(2026, 1, -1, &d));
	ck_assert(!lunar_of_day(day(1800, 1, 1), &y, &m, &dom));
	ck_assert(!lunar_of_day(day(2500, 1, 1), &y, &m, &dom));
	ck_assert(!feast_day(FEAST_MOON, 3000, &d));
	ck_assert(feast_day(FEAST_CHRISTMAS, 3000, &d));
}
