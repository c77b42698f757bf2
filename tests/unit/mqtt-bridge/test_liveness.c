/* Heartbeat batches and presence timeouts. */
#include <stdio.h>

#include "presence/liveness.h"
#include "testkit/testkit.h"

static struct mono
time_at(int64_t ms)
{
	return (struct mono){ 1000000000 + ms * 1000000 };
}

static struct str
numbered_id(int i)
{
	static char text[32];

	snprintf(text, sizeof(text), "t%d", i);
	return str_of(text);
}

TEST(a_terminal_is_in_a_batch_one_time)
{
	struct heartbeat_batch *b = heartbeat_batch_new();
	struct str ids[4];
	int i;

	ck_assert_int_eq(heartbeat_batch_due(b).ns, 0);
	for (i = 0; i < 100; i++)
		ck_assert(heartbeat_batch_add(b, STR("t1"), time_at(i)));
	ck_assert(heartbeat_batch_add(b, STR("t2"), time_at(100)));
	ck_assert_uint_eq(heartbeat_batch_len(b), 2);
	/* Counted from the first one. */
	ck_assert_int_eq(
	    heartbeat_batch_due(b).ns, time_at(HEARTBEAT_BATCH_MS).ns);
	ck_assert_uint_eq(heartbeat_batch_list(b, ids, 1), 1);
	ck_assert_uint_eq(heartbeat_batch_list(b, ids, 4), 2);
	ck_assert(str_eq(ids[0], STR("t1")));
	ck_assert(str_eq(ids[1], STR("t2")));
	heartbeat_batch_remove(b, STR("t1"));
	heartbeat_batch_remove(b, STR("t3"));
	ck_assert_uint_eq(heartbeat_batch_list(b, ids, 4), 1);
	ck_assert(str_eq(ids[0], STR("t2")));
	heartbeat_batch_remove(b, STR("t2"));
	ck_assert_int_eq(heartbeat_batch_due(b).ns, 0);
	ck_assert(heartbeat_batch_add(b, STR("t1"), time_at(500)));
	ck_assert_int_eq(
	    heartbeat_batch_due(b).ns, time_at(500 + HEARTBEAT_BATCH_MS).ns);
	heartbeat_batch_clear(b);
	ck_assert_uint_eq(heartbeat_batch_len(b), 0);
	heartbeat_batch_free(b);
	heartbeat_batch_free(NULL);
}

TEST(a_full_batch_is_due_immediately)
{
	struct heartbeat_batch *b = heartbeat_batch_new();
	int i;

	for (i = 0; i < HEARTBEAT_BATCH_FULL - 1; i++)
		ck_assert(heartbeat_batch_add(b, numbered_id(i), time_at(0)));
	ck_assert_int_eq(
	    heartbeat_batch_due(b).ns, time_at(HEARTBEAT_BATCH_MS).ns);
	ck_assert(heartbeat_batch_add(b, numbered_id(i), time_at(3)));
	ck_assert_int_eq(heartbeat_batch_due(b).ns, time_at(0).ns);
	for (i++; i < HEARTBEAT_BATCH_MAX; i++)
		ck_assert(heartbeat_batch_add(b, numbered_id(i), time_at(4)));
	ck_assert(!heartbeat_batch_add(b, numbered_id(i), time_at(5)));
	ck_assert(heartbeat_batch_add(b, numbered_id(0), time_at(5)));
	ck_assert_uint_eq(heartbeat_batch_len(b), HEARTBEAT_BATCH_MAX);
	heartbeat_batch_free(b);
}

TEST(the_longest_silent_terminal_expires_first)
{
	struct presence_timeout *p = presence_timeout_new();
	char id[ID_MAX + 1];

	ck_assert(!presence_timeout_expired(p, time_at(9), id));
	presence_timeout_seen(p, STR("a"), time_at(1), true);
	presence_timeout_seen(p, STR("b"), time_at(2), true);
	presence_timeout_seen(p, STR("c"), time_at(3), true);
	presence_timeout_seen(p, STR("a"), time_at(4), true);
	ck_assert(!presence_timeout_expired(p, time_at(2), id));
	ck_assert(presence_timeout_expired(p, time_at(4), id));
	ck_assert_str_eq(id, "b");
	ck_assert(presence_timeout_expired(p, time_at(4), id));
	ck_assert_str_eq(id, "c");
	ck_assert(!presence_timeout_expired(p, time_at(4), id));
	ck_assert(presence_timeout_expired(p, time_at(5), id));
	ck_assert_str_eq(id, "a");
	ck_assert(!presence_timeout_expired(p, time_at(99), id));
	presence_timeout_seen(p, STR("a"), time_at(6), true);
	presence_timeout_remove(p, STR("a"));
	presence_timeout_remove(p, STR("x"));
	ck_assert(!presence_timeout_expired(p, time_at(99), id));
	presence_timeout_seen(p, STR("a"), time_at(7), true);
	presence_timeout_clear(p);
	ck_assert(!presence_timeout_expired(p, time_at(99), id));
	presence_timeout_seen(p, STR("a"), time_at(8), true);
	presence_timeout_free(p);
	presence_timeout_free(NULL);
}

/* Only here counts: a retained message may be of one that is elsewhere. */
TEST(a_terminal_is_seen_where_it_reports)
{
	struct presence_timeout *p = presence_timeout_new();
	char id[ID_MAX + 1];

	presence_timeout_seen(p, STR("a"), time_at(1), false);
	ck_assert(!presence_timeout_is_seen(p, STR("a"), time_at(0)));
	presence_timeout_seen(p, STR("a"), time_at(2), true);
	ck_assert(presence_timeout_is_seen(p, STR("a"), time_at(2)));
	ck_assert(!presence_timeout_is_seen(p, STR("a"), time_at(3)));
	ck_assert(!presence_timeout_is_seen(p, STR("b"), time_at(0)));
	presence_timeout_seen(p, STR("a"), time_at(4), false);
	ck_assert(!presence_timeout_is_seen(p, STR("a"), time_at(3)));
	/* It does not time out earlier. */
	ck_assert(!presence_timeout_expired(p, time_at(4), id));
	presence_timeout_remove(p, STR("a"));
	ck_assert(!presence_timeout_is_seen(p, STR("a"), time_at(0)));
	presence_timeout_seen(p, STR("a"), time_at(5), false);
	ck_assert(!presence_timeout_is_seen(p, STR("a"), time_at(0)));
	presence_timeout_free(p);
}

TEST(reports_before_an_offline_are_known)
{
	struct offline_marks *m = offline_marks_new();
	int i;

	ck_assert(!offline_marks_after(m, STR("a"), 1));
	offline_marks_add(m, STR("a"), 0);
	ck_assert(!offline_marks_after(m, STR("a"), 1));
	offline_marks_add(m, STR("a"), 7);
	ck_assert(offline_marks_after(m, STR("a"), 7));
	ck_assert(!offline_marks_after(m, STR("a"), 8));
	ck_assert(!offline_marks_after(m, STR("b"), 7));
	offline_marks_clear(m);
	ck_assert(!offline_marks_after(m, STR("a"), 7));
	for (i = 0; i < OFFLINE_MARKS_MAX; i++)
		offline_marks_add(m, numbered_id(i), 1);
	offline_marks_add(m, numbered_id(0), 2);
	ck_assert(!offline_marks_after(m, STR("a"), 1));
	/* With one more, nobody is known to be online. */
	offline_marks_add(m, numbered_id(i), 1);
	ck_assert(offline_marks_after(m, STR("a"), 1));
	offline_marks_clear(m);
	ck_assert(!offline_marks_after(m, STR("a"), 1));
	offline_marks_free(m);
	offline_marks_free(NULL);
}
