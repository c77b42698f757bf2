/*
 * What the next occurrence and the reading of words cost, in instructions.
 */
#include <stdio.h>

#include "alarm/alarm_rule.h"
#include "alarm/alarm_when.h"
#include "core/mem.h"
#include "testkit/instructions.h"
#include "testkit/testkit.h"

#define CALLS 20
/* A hundred thousand alarms a minute leave a core mostly idle. */
#define NEXT_MAX  5000.0
#define WORDS_MAX 50000.0

__attribute__((noinline)) enum rc counted_next(
    const struct alarm_rule *r, const struct zone *z, struct wall *at);
__attribute__((noinline)) enum alarm_when_error counted_words(
    const struct alarm_when_input *in, struct alarm_rule *out);

enum rc
counted_next(const struct alarm_rule *r, const struct zone *z, struct wall *at)
{
	return alarm_rule_next(r, z, *at, at);
}

enum alarm_when_error
counted_words(const struct alarm_when_input *in, struct alarm_rule *out)
{
	return alarm_when_parse(in, out);
}

static const struct alarm_rule rules[] = {
	{ .kind = ALARM_DAILY, .every = 1, .time_s = 8 * 3600 },
	{ .kind = ALARM_WORKDAYS, .every = 1, .time_s = 8 * 3600 },
	{ .kind = ALARM_WEEKLY,
	    .every = 1,
	    .weekdays = 0x15,
	    .time_s = 8 * 3600 },
	{ .kind = ALARM_MONTHLY,
	    .every = 1,
	    .month_days = 2,
	    .time_s = 8 * 3600 },
	{ .kind = ALARM_YEARLY,
	    .every = 1,
	    .month = 3,
	    .day = 5,
	    .time_s = 8 * 3600 },
};

static const struct str words[] = { STR_INIT("明天早上八点"),
	STR_INIT("每个工作日早上八点"), STR_INIT("十分钟后"),
	STR_INIT("next thursday at 9 pm"), STR_INIT("七八点") };

static struct zone *
cost_zone(void)
{
	struct zone *z = NULL;

	ck_assert_int_eq(zone_load("Asia/Shanghai", &z), RC_OK);
	return z;
}

/* In the process that is counted. */
TEST(run_next)
{
	struct zone *z;
	size_t i, k;

	if (!instructions_child())
		return;
	z = cost_zone();
	for (i = 0; i < NELEM(rules); i++) {
		struct wall at = { INT64_C(1795791600000) };

		for (k = 0; k < CALLS; k++)
			ck_assert_int_eq(
			    counted_next(&rules[i], z, &at), RC_OK);
	}
	zone_free(z);
}

TEST(run_words)
{
	struct alarm_when_input in = { .now = { INT64_C(1795791600000) },
		.near_s = -1 };
	struct alarm_rule r;
	struct zone *z;
	size_t i, k;

	if (!instructions_child())
		return;
	z = cost_zone();
	in.zone = z;
	for (i = 0; i < NELEM(words); i++) {
		in.when = words[i];
		for (k = 0; k < CALLS; k++)
			(void)counted_words(&in, &r);
	}
	zone_free(z);
}

static void
cost_check(const char *function, const char *test, size_t n, double max)
{
	double got = instructions_count(function, test, CALLS * (int)n);

	if (got > 0)
		printf("%s: %.0f instructions\n", function, got);
	ck_assert_double_le(got, max);
}

TEST_T(the_next_occurrence, 120)
{
	if (!instructions_child())
		cost_check("counted_next", "run_next", NELEM(rules), NEXT_MAX);
}

TEST_T(words_of_a_time, 120)
{
	if (!instructions_child())
		cost_check(
		    "counted_words", "run_words", NELEM(words), WORDS_MAX);
}
