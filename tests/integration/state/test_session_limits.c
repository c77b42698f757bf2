/* Limits of a user: bytes of a session, and sessions. */
#include "state/keys.h"
#include "state/session.h"
#include "state/turn.h"
#include "testkit/state_fixture.h"

STATE_FIXTURE_ON_CLUSTER

static const struct session_key key = { STR_INIT("用户"), STR_INIT("s:1") };

/* Numbers of the first and the last message; returns how many there are. */
static size_t
ends(struct state_fixture *b, int64_t *first, int64_t *last)
{
	struct session_list l;
	int64_t after = 0;
	size_t n = 0;

	do {
		arena_reset(b->a);
		OK(session_messages(b->s, &key,
		    (struct session_page){
			.after = after, .max = SESSION_MESSAGES_MAX },
		    b->a, &l));
		if (n == 0 && l.n > 0)
			*first = l.message[0].number;
		if (l.n > 0)
			*last = after = l.message[l.n - 1].number;
		n += l.n;
	} while (l.n > 0);
	return n;
}

TEST(the_bytes_of_a_session_are_limited)
{
	static char text[SESSION_TEXT_MAX];
	struct str large = { text, sizeof(text) };
	const size_t room = SESSION_BYTES_MAX / sizeof(text);
	int64_t first = 0, last = 0, got;
	struct state_fixture b;
	size_t i;

	memset(text, 'x', sizeof(text));
	state_fixture_start(&b);
	for (i = 0; i < room; i++)
		OK(session_append(b.s, &key, &large, 1, NULL));
	ck_assert_uint_eq(ends(&b, &first, &last), room);
	ck_assert_int_eq(first, 1);
	/* A byte more, and the oldest is removed. */
	OK(session_append(b.s, &key, &STR("y"), 1, &got));
	ck_assert_int_eq(got, (int64_t)room + 1);
	ck_assert_uint_eq(ends(&b, &first, &last), room);
	ck_assert_int_eq(first, 2);
	ck_assert_int_eq(last, got);
	/* It makes room for as much. */
	large.n--;
	OK(session_append(b.s, &key, &large, 1, NULL));
	ck_assert_uint_eq(ends(&b, &first, &last), room + 1);
	/* After a deletion it has all its room. */
	OK(session_delete(b.s, &key));
	OK(session_append(b.s, &key, &large, 1, NULL));
	OK(session_append(b.s, &key, &large, 1, NULL));
	ck_assert_uint_eq(ends(&b, &first, &last), 2);
	state_fixture_stop(&b);
}

TEST(messages_of_an_older_release_count_from_now_on)
{
	static char text[SESSION_TEXT_MAX];
	struct str large = { text, sizeof(text) };
	int64_t first = 0, last = 0;
	struct state_fixture b;
	size_t i;

	memset(text, 'x', sizeof(text));
	state_fixture_start(&b);
	for (i = 0; i < 4; i++)
		OK(session_append(b.s, &key, &large, 1, NULL));
	DO(&b, STR("HDEL"), STR("soul:session:{b0193}:~55So5oi3:~czox"),
	    STR("bytes"));
	for (i = 0; i < 100; i++)
		OK(session_append(b.s, &key, &large, 1, NULL));
	ck_assert_uint_le(ends(&b, &first, &last), 36);
	ck_assert_int_eq(last, 104);
	state_fixture_stop(&b);
}

/* ---- sessions ---- */

/*
 * A user's input into the i-th session, which becomes idle much later.  Those
 * of one millisecond are in the order of their names.
 */
static void
input(struct state_fixture *b, const char *user, long i)
{
	char name[24];
	struct session_key k = { str_of(user), { name, 0 } };

	k.session_id.n = (size_t)snprintf(name, sizeof(name), "s%04ld", i);
	OK(session_user_input(
	    b->s, &k, STR("soul"), STR("t"), INT64_C(3600000)));
	OK(session_append(b->s, &k, &STR("1"), 1, NULL));
}

static bool
knows(struct state_fixture *b, const char *user, long i)
{
	char name[24];
	struct session_key k = { str_of(user), { name, 0 } };
	struct session out;

	k.session_id.n = (size_t)snprintf(name, sizeof(name), "s%04ld", i);
	OK(session_read(b->s, &k, b->a, &out));
	return out.known;
}

/* Finish all idle periods. */
static void
none_is_idle(struct state_fixture *b)
{
	DO(b, STR("DEL"), STR("soul:idle:{b0562}:1"));
}

TEST_T(a_user_keeps_so_many_sessions, 60)
{
	struct turn_slot p = { { STR("u"), STR("s0000") }, STR("i"), STR("t") };
	struct state_fixture b;
	int64_t ahead;
	long i;

	state_fixture_start(&b);
	input(&b, "other", 0);
	for (i = 0; i < SESSIONS_MAX; i++)
		input(&b, "u", i);
	/* It has not been summarised, or a turn runs in it. */
	input(&b, "u", i++);
	ck_assert(knows(&b, "u", 0));
	none_is_idle(&b);
	OK(turn_fixture_enter(b.s, &p, &ahead));
	input(&b, "u", i++);
	ck_assert(knows(&b, "u", 0));
	ck_assert(!knows(&b, "u", 1));
	ck_assert(!knows(&b, "u", 2));
	ck_assert(knows(&b, "u", 3));
	/* Nothing of it is left. */
	ck_assert_int_eq(
	    INT_OF(&b, STR("EXISTS"), STR("soul:messages:{b0562}:u:~cy4x")), 0);
	ck_assert_int_eq(
	    INT_OF(&b, STR("ZCARD"), STR("soul:user:{b0562}:u:sessions:1")),
	    SESSIONS_MAX);
	/* The one idle for longest. */
	input(&b, "u", 3);
	input(&b, "u", i);
	ck_assert(knows(&b, "u", 3));
	ck_assert(!knows(&b, "u", 4));
	ck_assert(knows(&b, "other", 0));
	state_fixture_stop(&b);
}

TEST_T(twice_as_many_are_too_many_in_any_case, 60)
{
	struct state_fixture b;
	long i;

	state_fixture_start(&b);
	for (i = 0; i < 2 * SESSIONS_MAX; i++)
		input(&b, "u", i);
	ck_assert(knows(&b, "u", 0));
	input(&b, "u", i);
	ck_assert(!knows(&b, "u", 0));
	ck_assert(!knows(&b, "u", 1));
	ck_assert(knows(&b, "u", 2));
	ck_assert_int_eq(INT_OF(&b, STR("ZCARD"), STR("soul:idle:{b0562}:1")),
	    2 * SESSIONS_MAX - 1);
	state_fixture_stop(&b);
}

TEST(a_deleted_session_does_not_count)
{
	struct session_key k = { STR("u"), STR("s0001") };
	struct state_fixture b;

	state_fixture_start(&b);
	input(&b, "u", 0);
	input(&b, "u", 1);
	OK(session_delete(b.s, &k));
	ck_assert_int_eq(
	    INT_OF(&b, STR("ZCARD"), STR("soul:user:{b0562}:u:sessions:1")), 1);
	state_fixture_stop(&b);
}
