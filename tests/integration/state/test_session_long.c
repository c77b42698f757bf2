/* Sessions that get long before they fall idle. */
#include "state/session.h"
#include "state/state_internal.h"
#include "testkit/state_fixture.h"

#define FOREVER 600000

static const struct session_key key = { STR_INIT("u"), STR_INIT("会话") };
static const struct session_length six = { 6, 10 };

#define SHORT STR_INIT("{\"content\":\"一\"}")
#define CHARS STR_INIT("{\"content\":\"一二三四五六七八九十\"}")

static void
say(struct state_fixture *b, struct str json)
{
	OK(session_append(b->s, &key, &json, 1, NULL));
	OK(session_user_input(b->s, &key, STR("soul"), STR("t"), FOREVER));
}

static bool
ask(struct state_fixture *b)
{
	bool asked;

	OK(session_request_summary(b->s, &key, &six, &asked));
	return asked;
}

static size_t
claim(struct state_fixture *b, struct session_idle *first)
{
	struct session_idle_list l;

	OK(session_idle_claim(b->s, FOREVER, 100, b->a, &l));
	if (l.n > 0)
		*first = l.idle[0];
	return l.n;
}

/* Either of the two makes it long; other members and odd messages do not. */
TEST(what_is_long)
{
	static const struct {
		struct str said[6];
		bool is;
	} rows[] = {
		{ { SHORT, SHORT, SHORT, SHORT, SHORT }, false },
		{ { SHORT, SHORT, SHORT, SHORT, SHORT, SHORT }, true },
		{ { CHARS }, true },
		{ { SHORT, CHARS }, true },
		{ { STR_INIT("{\"content\":\"123456789\"}") }, false },
		{ { STR_INIT("{\"content\":\"1234567890\"}") }, true },
		{ { STR_INIT("{\"id\":\"1234567890\"}"), STR_INIT("7"),
		      STR_INIT("no JSON at all"),
		      STR_INIT("{\"content\":12345678901}") },
		    false },
	};

	for (size_t i = 0; i < NELEM(rows); i++) {
		struct state_fixture b;
		state_fixture_start(&b);
		ck_assert(!ask(&b));
		for (size_t k = 0; k < 6 && rows[i].said[k].p != NULL; k++)
			say(&b, rows[i].said[k]);
		ck_assert_msg(ask(&b) == rows[i].is, "row %zu", i);
		state_fixture_stop(&b);
	}
}

/* It is claimed at once, and falls idle all the same. */
TEST(claimed_now_and_idle_later)
{
	struct session_idle early, again;
	struct session_list l;
	struct session_page all = { .after = 0, .max = 100 };
	struct state_fixture b;

	state_fixture_start(&b);
	say(&b, STR("{\"content\":\"一二三四五六七八九十\"}"));
	ck_assert_uint_eq(claim(&b, &early), 0);
	ck_assert(ask(&b));
	/* Once for the same messages. */
	ck_assert(!ask(&b));
	ck_assert_uint_eq(claim(&b, &early), 1);
	ck_assert_int_gt(early.due.ms, state_fixture_now(&b) + FOREVER / 2);
	ck_assert_uint_eq(claim(&b, &again), 0);
	OK(session_messages(b.s, &key, all, b.a, &l));
	OK(session_summarise(b.s, &key,
	    &(struct session_summary){
		.text = STR("s"), .after = 0, .number = l.message[0].number }));
	OK(session_idle_done(b.s, &early));
	ck_assert(!ask(&b));
	/* Its silence is what it was. */
	ck_assert_int_eq(INT_OF(&b, STR("ZCARD"), STR("soul:idle:1")), 1);
	ck_assert_int_eq(INT_OF(&b, STR("ZCOUNT"), STR("soul:idle:1"),
			     STR("-inf"), STR("(1000000")),
	    0);
	ck_assert_uint_eq(claim(&b, &again), 0);
	/* New messages count anew. */
	say(&b, STR("{\"content\":\"一\"}"));
	ck_assert(!ask(&b));
	say(&b, STR("{\"content\":\"一二三四五六七八九十\"}"));
	ck_assert(ask(&b));
	ck_assert_uint_eq(claim(&b, &again), 1);
	state_fixture_stop(&b);
}

/* An input while it is dealt with begins another stretch, which stays. */
TEST(an_input_meanwhile)
{
	struct session_idle early, again;
	struct state_fixture b;

	state_fixture_start(&b);
	say(&b, STR("{\"content\":\"一二三四五六七八九十\"}"));
	ck_assert(ask(&b));
	ck_assert_uint_eq(claim(&b, &early), 1);
	OK(session_user_input(b.s, &key, STR("soul"), STR("t"), 0));
	IS(RC_CONFLICT, session_idle_defer(b.s, &early, 1000));
	OK(session_idle_done(b.s, &early));
	while (claim(&b, &again) == 0)
		;
	ck_assert_int_ne(again.due.ms, early.due.ms);
	state_fixture_stop(&b);
}

/* Characters as the record has them, or -1. */
static int64_t
counted(struct state_fixture *b)
{
	static const char script[] =
	    "local s=redis.call('KEYS','soul:session:{*}')[1]\n"
	    "local c=string.match(redis.call('HGET',s,'chars') or '',"
	    "'^%d+:%d+:(%d+)$')\n"
	    "return tonumber(c) or -1";

	return INT_OF(b, STR("EVAL"), STR(script), STR("0"));
}

/* Replace all messages by what cannot be decoded, so that counts stay bare. */
static void
spoil(struct state_fixture *b)
{
	static const char script[] =
	    "local k=redis.call('KEYS','soul:session:{*}:messages')[1]\n"
	    "for i=1,redis.call('LLEN',k) do\n"
	    " redis.call('LSET',k,i-1,'spoilt')\n"
	    "end\n"
	    "return 1";

	ck_assert_int_eq(INT_OF(b, STR("EVAL"), STR(script), STR("0")), 1);
}

static void
say_counted(struct state_fixture *b, struct str json, int64_t chars)
{
	struct session_new new = { .json = &json, .n = 1, .chars = chars };

	OK(session_append_fenced(b->s, &key, NULL, new, NULL));
	OK(session_user_input(b->s, &key, STR("soul"), STR("t"), FOREVER));
}

/* Messages whose characters are known are never decoded again. */
TEST(characters_are_counted_as_they_come)
{
	struct session_list l;
	struct state_fixture b;

	state_fixture_start(&b);
	say_counted(&b, STR("{\"content\":\"一二三四\"}"), 4);
	ck_assert_int_eq(counted(&b), 4);
	say_counted(&b, STR("{\"content\":\"一二三四五\"}"), 5);
	ck_assert_int_eq(counted(&b), 9);
	spoil(&b);
	ck_assert(!ask(&b));
	say_counted(&b, STR("{\"content\":\"一\"}"), 1);
	spoil(&b);
	ck_assert(ask(&b));
	/* A summary of all of them begins with none. */
	OK(session_messages(b.s, &key,
	    (struct session_page){ .after = 0, .max = 100 }, b.a, &l));
	struct session_summary sum = { .text = STR("s"),
		.number = l.message[l.n - 1].number };
	OK(session_summarise(b.s, &key, &sum));
	ck_assert_int_eq(counted(&b), 0);
	say_counted(&b, STR("{\"content\":\"一\"}"), 1);
	ck_assert_int_eq(counted(&b), 1);
	state_fixture_stop(&b);
}

/* As 0.1.0 appends: 一二. */
static void
say_as_before(struct state_fixture *b)
{
	static const char script[] =
	    "local k=redis.call('KEYS','soul:session:{*}')[1]\n"
	    "redis.call('RPUSH',k..':messages','{\"content\":\"一二\"}')\n"
	    "return redis.call('HINCRBY',k,'last',1)";

	ck_assert_int_gt(INT_OF(b, STR("EVAL"), STR(script), STR("0")), 0);
}

/* A record of 0.1.0 has no count: it is counted once, and kept from then on. */
TEST(an_older_record_is_counted_once)
{
	struct state_fixture b;

	state_fixture_start(&b);
	say(&b, STR("{\"content\":\"一二三四\"}"));
	ck_assert_int_eq(counted(&b), -1);
	/* What came before is not known, so it is not begun in the middle. */
	say_counted(&b, STR("{\"content\":\"一\"}"), 1);
	ck_assert_int_eq(counted(&b), -1);
	ck_assert(!ask(&b));
	ck_assert_int_eq(counted(&b), 5);
	spoil(&b);
	say_counted(&b, STR("{\"content\":\"一二三四\"}"), 4);
	ck_assert(!ask(&b));
	ck_assert_int_eq(counted(&b), 9);
	/* An older program appends beside us: the count is not believed. */
	say_as_before(&b);
	ck_assert(!ask(&b));
	ck_assert_int_eq(counted(&b), 6);
	state_fixture_stop(&b);
}
