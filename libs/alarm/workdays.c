/*
 * Sources: the notices of the General Office of the State Council on the
 * holidays of a year (部分节假日安排的通知), published on gov.cn: of 2024-11-12
 * for 2025, of 2025-11-04 for 2026.
 */
#include "alarm/workdays.h"

#include <stddef.h>

#include "core/clock.h"
#include "core/mem.h"
#include "core/str.h"
#include "core/zone.h"

/* Days of one year that differ from its weeks; month and day as MMDD. */
struct workdays_period {
	int year, from, to;
	bool is_worked; /* a make-up day, else a holiday */
};

static const struct workdays_period workdays_periods[] = {
	{ 2025, 101, 101, false },
	{ 2025, 126, 126, true },
	{ 2025, 128, 131, false },
	{ 2025, 201, 204, false },
	{ 2025, 208, 208, true },
	{ 2025, 404, 406, false },
	{ 2025, 427, 427, true },
	{ 2025, 501, 505, false },
	{ 2025, 531, 531, false },
	{ 2025, 601, 602, false },
	{ 2025, 928, 928, true },
	{ 2025, 1001, 1008, false },
	{ 2025, 1011, 1011, true },
	{ 2026, 101, 103, false },
	{ 2026, 104, 104, true },
	{ 2026, 214, 214, true },
	{ 2026, 215, 223, false },
	{ 2026, 228, 228, true },
	{ 2026, 404, 406, false },
	{ 2026, 501, 505, false },
	{ 2026, 509, 509, true },
	{ 2026, 619, 621, false },
	{ 2026, 920, 920, true },
	{ 2026, 925, 927, false },
	{ 2026, 1001, 1007, false },
	{ 2026, 1010, 1010, true },
};

bool
workdays_apply(const struct zone *z)
{
	static const struct str names[] = { STR_INIT("Asia/Shanghai"),
		STR_INIT("Asia/Urumqi"), STR_INIT("Asia/Chongqing"),
		STR_INIT("Asia/Chungking"), STR_INIT("Asia/Harbin"),
		STR_INIT("Asia/Kashgar"), STR_INIT("PRC") };
	size_t i;

	for (i = 0; i < NELEM(names); i++) {
		if (str_eq(str_of(zone_name(z)), names[i]))
			return true;
	}
	return false;
}

bool
workdays_is_known(int64_t year)
{
	size_t last = NELEM(workdays_periods) - 1;

	return year >= workdays_periods[0].year &&
	    year <= workdays_periods[last].year;
}

bool
workdays_is_workday(int64_t day)
{
	struct civil c = civil_of_days(day);
	int date = c.month * 100 + c.day;
	size_t i;

	for (i = 0; i < NELEM(workdays_periods); i++) {
		const struct workdays_period *p = &workdays_periods[i];

		if (p->year == c.year && date >= p->from && date <= p->to)
			return p->is_worked;
	}
	return civil_weekday(day) <= 5;
}
