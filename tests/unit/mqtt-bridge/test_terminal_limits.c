/* Limits of messages, events and notices of a terminal. */
#include <stdio.h>

#include "core/mem.h"
#include "terminal_limits.h"
#include "testkit/testkit.h"
#include "wire/subjects.h"

#define T1 STR("t1")
#define T2 STR("t2")

static struct mono
time_at(int64_t ms)
{
	return (struct mono){ (1000000 + ms) * 1000000 };
}

static struct str
numbered_id(int i)
{
	static char text[32];

	snprintf(text, sizeof(text), "t%d", i);
	return str_of(text);
}

#define ck_take(f, row, id, bytes, ms, verdict)                         \
	ck_assert_int_eq(                                               \
	    flood_limiter_take((f), (row), (id), (bytes), time_at(ms)), \
	    (verdict))

TEST(each_kind_of_message_has_its_own_bucket)
{
	struct flood_limiter *f = flood_limiter_new(10, 40);
	int i;

	for (i = 0; i < 40; i++)
		ck_assert_int_eq(flood_limiter_take(
				     f, WIRE_TOPIC_SKILLS, T1, 10, time_at(0)),
		    FLOOD_OK);
	ck_take(f, WIRE_TOPIC_ONLINE, T1, 10, 0, FLOOD_OVER_FIRST);
	ck_take(f, WIRE_TOPIC_ONLINE, T1, 10, 0, FLOOD_OVER);
	ck_take(f, WIRE_TOPIC_HEARTBEAT, T1, 1, 0, FLOOD_OK);
	ck_take(f, WIRE_TOPIC_RESULT, T1, 1, 0, FLOOD_OK);
	ck_take(f, WIRE_TOPIC_ONLINE, T2, 10, 0, FLOOD_OK);
	ck_take(f, WIRE_TOPIC_ONLINE, T1, 10, 100, FLOOD_OK);
	/* A new window, a new notice. */
	for (i = 0; i < 40; i++)
		ck_assert_int_eq(flood_limiter_take(f, WIRE_TOPIC_SKILLS, T1,
				     10, time_at(NOTICE_WINDOW_MS)),
		    FLOOD_OK);
	ck_assert_int_eq(flood_limiter_take(f, WIRE_TOPIC_SKILLS, T1, 10,
			     time_at(NOTICE_WINDOW_MS)),
	    FLOOD_OVER_FIRST);
	flood_limiter_free(f);
}

TEST(a_notice_is_given_one_time_per_window)
{
	struct notice_window *o = notice_window_new();
	char id[16];
	int i;

	ck_assert(notice_window_first(o, T1, time_at(0)));
	ck_assert(!notice_window_first(o, T1, time_at(NOTICE_WINDOW_MS - 1)));
	ck_assert(notice_window_first(o, T2, time_at(NOTICE_WINDOW_MS - 1)));
	ck_assert(notice_window_first(o, T1, time_at(NOTICE_WINDOW_MS)));
	ck_assert(notice_window_first(o, T2, time_at(NOTICE_WINDOW_MS)));
	/* Beyond the limit, no notices. */
	for (i = 2; i < NOTICE_WINDOW_TERMINALS; i++) {
		snprintf(id, sizeof(id), "n%d", i);
		ck_assert(notice_window_first(
		    o, str_of(id), time_at(NOTICE_WINDOW_MS)));
	}
	ck_assert(
	    !notice_window_first(o, STR("more"), time_at(NOTICE_WINDOW_MS)));
	ck_assert(notice_window_first(
	    o, STR("more"), time_at(2 * (int64_t)NOTICE_WINDOW_MS)));
	notice_window_free(o);
	notice_window_free(NULL);
}

TEST(large_messages_cost_more)
{
	struct flood_limiter *f = flood_limiter_new(1, 40);

	/* 17 tokens, twice. */
	ck_take(f, WIRE_TOPIC_SKILLS, T1, 1048576, 0, FLOOD_OK);
	ck_take(f, WIRE_TOPIC_SKILLS, T1, 1048576, 0, FLOOD_OK);
	ck_take(f, WIRE_TOPIC_SKILLS, T1, 1048576, 0, FLOOD_OVER_FIRST);
	flood_limiter_free(f);
}

TEST(refunded_messages_do_not_count)
{
	struct flood_limiter *f = flood_limiter_new(1, 40);
	int i;

	for (i = 0; i < 100; i++) {
		ck_assert(flood_limiter_has_room(
		    f, WIRE_TOPIC_RESULT, T1, 65536, time_at(0)));
		ck_assert_int_eq(flood_limiter_take(f, WIRE_TOPIC_RESULT, T1,
				     65536, time_at(0)),
		    FLOOD_OK);
		flood_limiter_refund(f, WIRE_TOPIC_RESULT, T1, 65536);
	}
	for (i = 0; i < 40; i++)
		ck_take(f, WIRE_TOPIC_RESULT, T1, 9, 0, FLOOD_OK);
	ck_assert(
	    !flood_limiter_has_room(f, WIRE_TOPIC_RESULT, T1, 9, time_at(0)));
	ck_assert(
	    flood_limiter_has_room(f, WIRE_TOPIC_HEARTBEAT, T1, 9, time_at(0)));
	ck_take(f, WIRE_TOPIC_RESULT, T1, 9, 0, FLOOD_OVER_FIRST);
	flood_limiter_free(f);
}

TEST(the_event_quota_is_per_terminal)
{
	struct event_quota *q = event_quota_new();
	int i;

	for (i = 0; i < EVENT_QUOTA; i++)
		ck_assert(event_quota_take(q, STR("t1"), time_at(i)));
	ck_assert(!event_quota_take(
	    q, STR("t1"), time_at(EVENT_QUOTA_WINDOW_MS - 1)));
	ck_assert(
	    event_quota_take(q, STR("t2"), time_at(EVENT_QUOTA_WINDOW_MS - 1)));
	ck_assert(
	    event_quota_take(q, STR("t1"), time_at(EVENT_QUOTA_WINDOW_MS)));
	event_quota_free(q);
	event_quota_free(NULL);
}

TEST(terminals_beyond_the_table_are_not_limited)
{
	struct event_quota *q = event_quota_new();
	int i, k;

	for (i = 0; i < EVENT_QUOTA_TERMINALS; i++)
		ck_assert(event_quota_take(q, numbered_id(i), time_at(0)));
	for (k = 0; k < 2 * EVENT_QUOTA; k++)
		ck_assert(event_quota_take(q, STR("late"), time_at(1)));
	for (k = 1; k < EVENT_QUOTA; k++)
		ck_assert(event_quota_take(q, numbered_id(7), time_at(1)));
	ck_assert(!event_quota_take(q, numbered_id(7), time_at(1)));
	event_quota_free(q);
}
