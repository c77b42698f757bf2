/* Who says too much, whose result is expected, who has a line of passwords. */
#include <stdio.h>

#include "core/mem.h"
#include "expected.h"
#include "flood.h"
#include "once.h"
#include "passwd.h"
#include "testkit/testkit.h"
#include "wire/subjects.h"

#define T1 STR("t1")
#define T2 STR("t2")

static struct mono
at(int64_t ms)
{
	return (struct mono){ (1000000 + ms) * 1000000 };
}

TEST(each_kind_has_its_own)
{
	struct flood *f = flood_new(10, 40);
	int i;

	for (i = 0; i < 40; i++)
		ck_assert_int_eq(
		    flood_take(f, WIRE_TOPIC_SKILLS, T1, 10, at(0)), FLOOD_OK);
	ck_assert_int_eq(
	    flood_take(f, WIRE_TOPIC_ONLINE, T1, 10, at(0)), FLOOD_OVER_FIRST);
	ck_assert_int_eq(
	    flood_take(f, WIRE_TOPIC_ONLINE, T1, 10, at(0)), FLOOD_OVER);
	ck_assert_int_eq(
	    flood_take(f, WIRE_TOPIC_HEARTBEAT, T1, 1, at(0)), FLOOD_OK);
	ck_assert_int_eq(
	    flood_take(f, WIRE_TOPIC_RESULT, T1, 1, at(0)), FLOOD_OK);
	ck_assert_int_eq(
	    flood_take(f, WIRE_TOPIC_ONLINE, T2, 10, at(0)), FLOOD_OK);
	ck_assert_int_eq(
	    flood_take(f, WIRE_TOPIC_ONLINE, T1, 10, at(100)), FLOOD_OK);
	/* It is told again when the span is over. */
	for (i = 0; i < 40; i++)
		ck_assert_int_eq(
		    flood_take(f, WIRE_TOPIC_SKILLS, T1, 10, at(ONCE_SPAN_MS)),
		    FLOOD_OK);
	ck_assert_int_eq(
	    flood_take(f, WIRE_TOPIC_SKILLS, T1, 10, at(ONCE_SPAN_MS)),
	    FLOOD_OVER_FIRST);
	flood_free(f);
}

TEST(once_in_a_span)
{
	struct once *o = once_new();
	char id[16];
	int i;

	ck_assert(once_first(o, T1, at(0)));
	ck_assert(!once_first(o, T1, at(ONCE_SPAN_MS - 1)));
	ck_assert(once_first(o, T2, at(ONCE_SPAN_MS - 1)));
	ck_assert(once_first(o, T1, at(ONCE_SPAN_MS)));
	ck_assert(once_first(o, T2, at(ONCE_SPAN_MS)));
	/* Of too many the rest is not told. */
	for (i = 2; i < ONCE_BODIES; i++) {
		snprintf(id, sizeof(id), "n%d", i);
		ck_assert(once_first(o, str_of(id), at(ONCE_SPAN_MS)));
	}
	ck_assert(!once_first(o, STR("more"), at(ONCE_SPAN_MS)));
	ck_assert(once_first(o, STR("more"), at(2 * (int64_t)ONCE_SPAN_MS)));
	once_free(o);
	once_free(NULL);
}

TEST(bytes_count)
{
	struct flood *f = flood_new(1, 40);

	/* 16 and one, twice. */
	ck_assert_int_eq(
	    flood_take(f, WIRE_TOPIC_SKILLS, T1, 1048576, at(0)), FLOOD_OK);
	ck_assert_int_eq(
	    flood_take(f, WIRE_TOPIC_SKILLS, T1, 1048576, at(0)), FLOOD_OK);
	ck_assert_int_eq(flood_take(f, WIRE_TOPIC_SKILLS, T1, 1048576, at(0)),
	    FLOOD_OVER_FIRST);
	flood_free(f);
}

TEST(what_does_not_count_is_given_back)
{
	struct flood *f = flood_new(1, 40);
	int i;

	for (i = 0; i < 100; i++) {
		ck_assert(flood_room(f, WIRE_TOPIC_RESULT, T1, 65536, at(0)));
		ck_assert_int_eq(
		    flood_take(f, WIRE_TOPIC_RESULT, T1, 65536, at(0)),
		    FLOOD_OK);
		flood_give(f, WIRE_TOPIC_RESULT, T1, 65536);
	}
	for (i = 0; i < 40; i++)
		ck_assert_int_eq(
		    flood_take(f, WIRE_TOPIC_RESULT, T1, 9, at(0)), FLOOD_OK);
	ck_assert(!flood_room(f, WIRE_TOPIC_RESULT, T1, 9, at(0)));
	ck_assert(flood_room(f, WIRE_TOPIC_HEARTBEAT, T1, 9, at(0)));
	ck_assert_int_eq(
	    flood_take(f, WIRE_TOPIC_RESULT, T1, 9, at(0)), FLOOD_OVER_FIRST);
	flood_free(f);
}

TEST(a_result_is_expected_once)
{
	struct expected *e = expected_new();
	char id[16];
	int i;

	ck_assert(!expected_take(e, T1, STR("r"), at(0)));
	(void)expected_add(e, T1, STR("r"), at(0));
	(void)expected_add(e, T1, STR("r"), at(1));
	ck_assert(!expected_take(e, T2, STR("r"), at(1)));
	ck_assert(!expected_take(e, STR("t"), STR("1r"), at(1)));
	ck_assert(expected_take(e, T1, STR("r"), at(EXPECTED_MS - 1)));
	ck_assert(!expected_take(e, T1, STR("r"), at(2)));
	(void)expected_add(e, T1, STR("r"), at(0));
	ck_assert(!expected_take(e, T1, STR("r"), at(EXPECTED_MS)));
	/* Of too many the oldest is forgotten. */
	for (i = 0; i <= EXPECTED_MAX; i++) {
		snprintf(id, sizeof(id), "r%d", i);
		(void)expected_add(e, T1, str_of(id), at(0));
	}
	ck_assert(!expected_take(e, T1, STR("r0"), at(1)));
	ck_assert(expected_take(e, T1, STR("r1"), at(1)));
	ck_assert(expected_take(e, T1, str_of(id), at(1)));
	expected_free(e);
}

static void
ck_text(const struct passwd *p, const char *want)
{
	struct str text;

	ck_assert_int_eq(passwd_text(p, &text), RC_OK);
	ck_assert_int_eq((int)text.n, (int)strlen(want));
	ck_assert_int_eq(strncmp(text.p, want, text.n), 0);
}

TEST(lines)
{
	static const char *const bad_ids[] = { "a:b", "a\nb", "", "health",
		"mqtt-bridge", " a", "a ", "a/b", "+", "#", "a\tb" };
	static const char *const bad_hashes[] = { "", "secret", "$5$x",
		"$7$1$a b", "$7$1$a\nx:$7$1$b", "$7$1$a:b" };
	struct passwd *p = passwd_new(
	    STR("# services\n\nhealth:$7$1$a$b\n mqtt-bridge:$7$1$a$b\r\n"));
	size_t i;

	for (i = 0; i < NELEM(bad_ids); i++)
		ck_assert_msg(
		    !passwd_add(p, str_of(bad_ids[i]), STR("$7$1$a$b")), "%s",
		    bad_ids[i]);
	for (i = 0; i < NELEM(bad_hashes); i++)
		ck_assert_msg(!passwd_add(p, T1, str_of(bad_hashes[i])), "%s",
		    bad_hashes[i]);
	ck_assert_int_eq((int)passwd_bodies(p), 0);
	ck_assert(passwd_lacks(p, STR("t1:x\n")));
	ck_assert(passwd_add(p, T1, STR("$7$101$a/+=$b")));
	ck_assert(!passwd_lacks(p, STR("t1:x\nhealth:y\n")));
	ck_assert(passwd_lacks(p, STR("t2:x\nhealth:y\n")));
	ck_text(p, "health:$7$1$a$b\nmqtt-bridge:$7$1$a$b\nt1:$7$101$a/+=$b\n");
	passwd_free(p);
}
