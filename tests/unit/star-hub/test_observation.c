/* What a soul notices of an environment. */
#include <stdio.h>
#include <string.h>

#include "body/observation.h"
#include "testkit/testkit.h"

static struct mono
at_ms(int64_t ms)
{
	return (struct mono){ INT64_C(1000000000) + ms * 1000000 };
}

TEST(the_newest_of_a_second_is_remembered)
{
	struct observations o = { 0 };

	ck_assert_ptr_null(observation_newest(&o, 0, 0));
	ck_assert_uint_eq(observation_omitted(&o, 0), 0);
	observation_add(&o, STR("a"), at_ms(0));
	observation_add(&o, STR("b"), at_ms(500));
	observation_add(&o, STR("c"), at_ms(999));
	ck_assert_str_eq(observation_newest(&o, 0, 0)->text, "c");
	ck_assert_ptr_null(observation_newest(&o, 0, 1));
	ck_assert_uint_eq(observation_omitted(&o, 0), 2);
	observation_add(&o, STR("d"), at_ms(1000));
	ck_assert_str_eq(observation_newest(&o, 0, 0)->text, "d");
	ck_assert_str_eq(observation_newest(&o, 0, 1)->text, "c");
	ck_assert_uint_eq(observation_omitted(&o, 0), 2);
	/* Of those after the first. */
	ck_assert_str_eq(observation_newest(&o, 1, 0)->text, "d");
	ck_assert_ptr_null(observation_newest(&o, 1, 1));
	ck_assert_uint_eq(observation_omitted(&o, 1), 0);
	ck_assert_ptr_null(observation_newest(&o, 2, 0));
}

TEST(only_so_many_are_remembered)
{
	struct observations o = { 0 };
	char text[16];
	int i;

	for (i = 1; i <= OBSERVATION_MAX + 3; i++) {
		snprintf(text, sizeof(text), "%d", i);
		observation_add(&o, str_of(text), at_ms(i * 1000));
	}
	snprintf(text, sizeof(text), "%d", OBSERVATION_MAX + 3);
	ck_assert_str_eq(observation_newest(&o, 0, 0)->text, text);
	ck_assert_str_eq(
	    observation_newest(&o, 0, OBSERVATION_MAX - 1)->text, "4");
	ck_assert_ptr_null(observation_newest(&o, 0, OBSERVATION_MAX));
	ck_assert_uint_eq(observation_omitted(&o, 0), 3);
	ck_assert_uint_eq(observation_omitted(&o, 2), 1);
	ck_assert_uint_eq(observation_omitted(&o, 3), 0);
}

TEST(a_long_text_is_shortened_between_characters)
{
	struct observations o = { 0 };
	char text[2 * OBSERVATION_BYTES];
	size_t n;

	for (n = 0; n + 3 < sizeof(text); n += 3)
		memcpy(text + n, "\xe5\xa2\x99", 3);
	observation_add(&o, (struct str){ text, n }, at_ms(0));
	n = strlen(observation_newest(&o, 0, 0)->text);
	ck_assert_uint_le(n, OBSERVATION_BYTES);
	ck_assert_uint_gt(n, OBSERVATION_BYTES - 3);
	ck_assert_uint_eq(n % 3, 0);
}
