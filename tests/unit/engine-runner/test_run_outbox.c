/* Events that wait to be published. */
#include "run_outbox.h"
#include "testkit/testkit.h"

TEST(events_that_are_published_are_skipped)
{
	struct run_outbox o;
	struct str json[4];
	size_t bytes = 100;

	run_outbox_init(&o, 2, 0);
	run_outbox_put(&o, RUN_LOG_FCMP, STR("1"), 10);
	run_outbox_put(&o, RUN_LOG_FCMP, STR("2"), 20);
	ck_assert(run_outbox_is_empty(&o));
	run_outbox_put(&o, RUN_LOG_FCMP, STR("3"), 30);
	run_outbox_put(&o, RUN_LOG_RASP, STR("1"), 40);
	ck_assert_int_eq(run_outbox_oldest_ns(&o), 30);
	ck_assert_uint_eq(
	    run_outbox_batch(&o, RUN_LOG_FCMP, json, 4, &bytes), 1);
	ck_assert(str_eq(json[0], STR("3")));
	run_outbox_published(&o, RUN_LOG_FCMP, 3);
	ck_assert_int_eq(o.published[RUN_LOG_FCMP], 3);
	ck_assert(!run_outbox_is_empty(&o));
	run_outbox_published(&o, RUN_LOG_RASP, 1);
	ck_assert(run_outbox_is_empty(&o));
	ck_assert_int_eq(run_outbox_oldest_ns(&o), 0);
	run_outbox_free(&o);
}

TEST(a_log_that_has_more_is_followed)
{
	struct run_outbox o;

	run_outbox_init(&o, 0, 0);
	run_outbox_put(&o, RUN_LOG_RASP, STR("1"), 1);
	run_outbox_published(&o, RUN_LOG_RASP, 2);
	ck_assert(run_outbox_is_empty(&o));
	run_outbox_put(&o, RUN_LOG_RASP, STR("2"), 2);
	ck_assert(run_outbox_is_empty(&o));
	run_outbox_put(&o, RUN_LOG_RASP, STR("3"), 3);
	ck_assert(!run_outbox_is_empty(&o));
	run_outbox_free(&o);
}

TEST(a_batch_has_limits_but_always_one_event)
{
	struct run_outbox o;
	struct str json[4];
	size_t bytes = 5;

	run_outbox_init(&o, 0, 0);
	run_outbox_put(&o, RUN_LOG_FCMP, STR("a long one"), 1);
	run_outbox_put(&o, RUN_LOG_FCMP, STR("b"), 2);
	ck_assert_uint_eq(
	    run_outbox_batch(&o, RUN_LOG_FCMP, json, 4, &bytes), 1);
	ck_assert_uint_eq(bytes, 0);
	run_outbox_published(&o, RUN_LOG_FCMP, 1);
	bytes = 5;
	run_outbox_put(&o, RUN_LOG_FCMP, STR("c"), 3);
	run_outbox_put(&o, RUN_LOG_FCMP, STR("d"), 4);
	ck_assert_uint_eq(
	    run_outbox_batch(&o, RUN_LOG_FCMP, json, 2, &bytes), 2);
	ck_assert_uint_eq(bytes, 3);
	run_outbox_free(&o);
}

TEST(it_is_full_from_a_number_of_events_on)
{
	struct run_outbox o;

	run_outbox_init(&o, 0, 0);
	for (size_t i = 0; i < RUN_OUTBOX_MAX; i++) {
		ck_assert(!run_outbox_is_full(&o));
		run_outbox_put(&o, RUN_LOG_RASP, STR("x"), 1);
	}
	ck_assert(run_outbox_is_full(&o));
	run_outbox_free(&o);
}
