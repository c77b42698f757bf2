/* Heartbeats that wait, bodies that are watched, events that are counted. */
#include <stdio.h>
#include <string.h>

#include "beats.h"
#include "pulse.h"
#include "quota.h"
#include "testkit/testkit.h"

static struct mono
at(int64_t ms)
{
	return (struct mono){ 1000000000 + ms * 1000000 };
}

static struct str
name(int i)
{
	static char text[32];

	snprintf(text, sizeof(text), "t%d", i);
	return str_of(text);
}

TEST(beats_of_one_terminal_are_one)
{
	struct beats *b = beats_new();
	struct str ids[4];
	int i;

	ck_assert_int_eq(beats_due(b).ns, 0);
	for (i = 0; i < 100; i++)
		ck_assert(beats_add(b, STR("t1"), at(i)));
	ck_assert(beats_add(b, STR("t2"), at(100)));
	ck_assert_uint_eq(beats_len(b), 2);
	/* From the first one on. */
	ck_assert_int_eq(beats_due(b).ns, at(BEATS_WAIT_MS).ns);
	ck_assert_uint_eq(beats_list(b, ids, 1), 1);
	ck_assert_uint_eq(beats_list(b, ids, 4), 2);
	ck_assert(str_eq(ids[0], STR("t1")));
	ck_assert(str_eq(ids[1], STR("t2")));
	beats_drop(b, STR("t1"));
	beats_drop(b, STR("t3"));
	ck_assert_uint_eq(beats_list(b, ids, 4), 1);
	ck_assert(str_eq(ids[0], STR("t2")));
	beats_drop(b, STR("t2"));
	ck_assert_int_eq(beats_due(b).ns, 0);
	ck_assert(beats_add(b, STR("t1"), at(500)));
	ck_assert_int_eq(beats_due(b).ns, at(500 + BEATS_WAIT_MS).ns);
	beats_clear(b);
	ck_assert_uint_eq(beats_len(b), 0);
	beats_free(b);
	beats_free(NULL);
}

TEST(many_beats_are_due_at_once)
{
	struct beats *b = beats_new();
	int i;

	for (i = 0; i < BEATS_DUE - 1; i++)
		ck_assert(beats_add(b, name(i), at(0)));
	ck_assert_int_eq(beats_due(b).ns, at(BEATS_WAIT_MS).ns);
	ck_assert(beats_add(b, name(i), at(3)));
	ck_assert_int_eq(beats_due(b).ns, at(0).ns);
	for (i++; i < BEATS_MAX; i++)
		ck_assert(beats_add(b, name(i), at(4)));
	ck_assert(!beats_add(b, name(i), at(5)));
	ck_assert(beats_add(b, name(0), at(5)));
	ck_assert_uint_eq(beats_len(b), BEATS_MAX);
	beats_free(b);
}

TEST(silence_is_noticed_in_order)
{
	struct pulse *p = pulse_new();
	char id[ID_MAX + 1];

	ck_assert(!pulse_silent(p, at(9), id));
	pulse_seen(p, STR("a"), at(1));
	pulse_seen(p, STR("b"), at(2));
	pulse_seen(p, STR("c"), at(3));
	pulse_seen(p, STR("a"), at(4));
	ck_assert_uint_eq(pulse_len(p), 3);
	ck_assert(!pulse_silent(p, at(2), id));
	ck_assert(pulse_silent(p, at(4), id));
	ck_assert_str_eq(id, "b");
	ck_assert(pulse_silent(p, at(4), id));
	ck_assert_str_eq(id, "c");
	ck_assert(!pulse_silent(p, at(4), id));
	ck_assert(pulse_silent(p, at(5), id));
	ck_assert_str_eq(id, "a");
	ck_assert(!pulse_silent(p, at(99), id));
	pulse_seen(p, STR("a"), at(6));
	pulse_gone(p, STR("a"));
	pulse_gone(p, STR("x"));
	ck_assert(!pulse_silent(p, at(99), id));
	pulse_seen(p, STR("a"), at(7));
	pulse_clear(p);
	ck_assert_uint_eq(pulse_len(p), 0);
	pulse_seen(p, STR("a"), at(8));
	pulse_free(p);
	pulse_free(NULL);
}

TEST(a_terminal_uses_up_its_own_quota)
{
	struct quota *q = quota_new();
	int i;

	for (i = 0; i < QUOTA_EVENTS; i++)
		ck_assert(quota_take(q, STR("t1"), at(i)));
	ck_assert(!quota_take(q, STR("t1"), at(QUOTA_SPAN_MS - 1)));
	ck_assert(quota_take(q, STR("t2"), at(QUOTA_SPAN_MS - 1)));
	ck_assert(quota_take(q, STR("t1"), at(QUOTA_SPAN_MS)));
	quota_free(q);
	quota_free(NULL);
}

TEST(beyond_its_ceiling_a_quota_lets_all_pass)
{
	struct quota *q = quota_new();
	int i, k;

	for (i = 0; i < QUOTA_TERMINALS; i++)
		ck_assert(quota_take(q, name(i), at(0)));
	for (k = 0; k < 2 * QUOTA_EVENTS; k++)
		ck_assert(quota_take(q, STR("late"), at(1)));
	for (k = 1; k < QUOTA_EVENTS; k++)
		ck_assert(quota_take(q, name(7), at(1)));
	ck_assert(!quota_take(q, name(7), at(1)));
	quota_free(q);
}
