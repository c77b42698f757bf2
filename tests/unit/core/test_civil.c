/*
 * Dates, by days that are known, and there and back.
 */
#include "core/clock.h"
#include "core/mem.h"
#include "testkit/testkit.h"

static const struct {
	struct civil c;
	int64_t days;
	int weekday;
} known[] = {
	{ { 1970, 1, 1 }, 0, 4 },
	{ { 1969, 12, 31 }, -1, 3 },
	{ { 2000, 2, 29 }, 11016, 2 },
	{ { 2026, 2, 22 }, 20506, 7 },
	{ { 1600, 1, 1 }, -135140, 6 },
};

TEST(known_days)
{
	size_t i;

	for (i = 0; i < NELEM(known); i++) {
		ck_assert_int_eq(civil_days(known[i].c), known[i].days);
		ck_assert_int_eq(
		    civil_weekday(known[i].days), known[i].weekday);
	}
}

TEST(there_and_back)
{
	int64_t day, year = -1000;
	struct civil c;

	for (day = civil_days((struct civil){ year, 1, 1 }); day < 800000;
	     day += 13) {
		c = civil_of_days(day);
		ck_assert_int_eq(civil_days(c), day);
		ck_assert_int_ge(c.month, 1);
		ck_assert_int_le(c.month, 12);
		ck_assert_int_ge(c.day, 1);
		ck_assert_int_le(c.day, civil_month_days(c.year, c.month));
	}
}

TEST(beyond_their_range)
{
	ck_assert_int_eq(civil_days((struct civil){ 2026, 13, 1 }),
	    civil_days((struct civil){ 2027, 1, 1 }));
	ck_assert_int_eq(civil_days((struct civil){ 2026, -11, 1 }),
	    civil_days((struct civil){ 2025, 1, 1 }));
	ck_assert_int_eq(civil_days((struct civil){ 2026, 3, 0 }),
	    civil_days((struct civil){ 2026, 2, 28 }));
	ck_assert_int_eq(civil_month_days(2024, 2), 29);
	ck_assert_int_eq(civil_month_days(1900, 2), 28);
	ck_assert_int_eq(civil_month_days(2026, 12), 31);
}
