/* Sessions that are long before they are idle. */
#include "state/session.h"
#include "state/state_internal.h"
#include "testkit/state_fixture.h"

STATE_FIXTURE_ON_CLUSTER

#define FOREVER 600000
/* Keys of the session, and a script of the first, or of both. */
#define SESSION  STR("soul:session:{b0562}:u:~5Lya6K-d")
#define MESSAGES STR("soul:messages:{b0562}:u:~5Lya6K-d")
#define RUN_SCRIPT(b, text) \
	INT_OF(b, STR("EVAL"), STR(text), STR("2"), SESSION, MESSAGES)

static const struct session_key key = { STR_INIT("u"), STR_INIT("会话") };
static const struct session_length six = { 6, 10 };

#define SHORT STR_INIT("{\"content\":\"一\"}")
#define CHARS STR_INIT("{\"content\":\"一二三四五六七八九十\"}")

static void
append(struct state_fixture *b, struct str json)
{
	OK(session_append(b->s, &key, &json, 1, NULL));
	OK(session_user_input(b->s, &key, STR("soul"), STR("t"), FOREVER));
}

static bool
request_summary(struct state_fixture *b)
{
	bool requested;

	OK(session_request_summary(b->s, &key, &six, &requested));
	return requested;
}

static size_t
claim(struct state_fixture *b, struct session_idle *first)
{
	struct session_idle_list l;

	OK(session_fixture_claim(b, "u", FOREVER, 100, &l));
	if (l.n > 0)
		*first = l.idle[0];
	return l.n;
}

/* Either limit makes it long; other members and odd messages do not count. */
TEST(messages_or_characters_make_a_session_long)
{
	static const struct {
		struct str texts[6];
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
		ck_assert(!request_summary(&b));
		for (size_t k = 0; k < 6 && rows[i].texts[k].p != NULL; k++)
			append(&b, rows[i].texts[k]);
		ck_assert_msg(request_summary(&b) == rows[i].is, "row %zu", i);
		state_fixture_stop(&b);
	}
}

static bool
finish_turn(struct state_fixture *b, const char *turn)
{
	const struct turn_slot p = { key, STR("i"), str_of(turn) };
	struct turn_ending end = { .summary_requested = true };
	struct str json = CHARS;
	int64_t ahead;

	OK(turn_fixture_enter(b->s, &p, &ahead));
	OK(turn_finish(b->s, &p,
	    &(struct session_new){ .json = &json, .n = 1, .chars = 10 }, &end,
	    b->a));
	return end.summary_requested;
}

/* So that nobody requests what has been requested. */
TEST(the_end_of_a_turn_tells_of_a_request)
{
	struct state_fixture b;

	state_fixture_start(&b);
	ck_assert(!finish_turn(&b, "t1"));
	ck_assert(request_summary(&b));
	ck_assert(finish_turn(&b, "t2"));
	ck_assert(!request_summary(&b));
	/* It is repeated after a minute, and for other messages. */
	DO(&b, STR("HSET"), SESSION, STR("early"), STR("0:1"));
	ck_assert(!finish_turn(&b, "t3"));
	ck_assert(request_summary(&b));
	DO(&b, STR("HSET"), SESSION, STR("sumn"), STR("2"));
	ck_assert(!finish_turn(&b, "t4"));
	state_fixture_stop(&b);
}

/* It is claimed immediately, and becomes idle all the same. */
TEST(claimed_now_and_idle_later)
{
	struct session_idle early, second;
	struct session_list l;
	struct session_page all = { .after = 0, .max = 100 };
	struct state_fixture b;

	state_fixture_start(&b);
	append(&b, STR("{\"content\":\"一二三四五六七八九十\"}"));
	ck_assert_uint_eq(claim(&b, &early), 0);
	ck_assert(request_summary(&b));
	/* Not twice for the same messages. */
	ck_assert(!request_summary(&b));
	ck_assert_uint_eq(claim(&b, &early), 1);
	ck_assert_int_gt(early.due.ms, state_fixture_now(&b) + FOREVER / 2);
	ck_assert_uint_eq(claim(&b, &second), 0);
	OK(session_messages(b.s, &key, all, b.a, &l));
	OK(session_summarise(b.s, &key,
	    &(struct session_summary){
		.text = STR("s"), .after = 0, .number = l.message[0].number }));
	OK(session_idle_done(b.s, &early));
	ck_assert(!request_summary(&b));
	/* Its idle period has not changed. */
	ck_assert_int_eq(
	    INT_OF(&b, STR("ZCARD"), STR("soul:idle:{b0562}:1")), 1);
	ck_assert_int_eq(INT_OF(&b, STR("ZCOUNT"), STR("soul:idle:{b0562}:1"),
			     STR("-inf"), STR("(1000000")),
	    0);
	ck_assert_uint_eq(claim(&b, &second), 0);
	/* New messages count from zero. */
	append(&b, STR("{\"content\":\"一\"}"));
	ck_assert(!request_summary(&b));
	append(&b, STR("{\"content\":\"一二三四五六七八九十\"}"));
	ck_assert(request_summary(&b));
	ck_assert_uint_eq(claim(&b, &second), 1);
	state_fixture_stop(&b);
}

/* An input during the claim begins another idle period, which stays. */
TEST(an_input_during_a_claim_begins_another_period)
{
	struct session_idle early, second;
	struct state_fixture b;

	state_fixture_start(&b);
	append(&b, STR("{\"content\":\"一二三四五六七八九十\"}"));
	ck_assert(request_summary(&b));
	ck_assert_uint_eq(claim(&b, &early), 1);
	OK(session_user_input(b.s, &key, STR("soul"), STR("t"), 0));
	IS(RC_CONFLICT, session_idle_defer(b.s, &early, 1000));
	OK(session_idle_done(b.s, &early));
	while (claim(&b, &second) == 0)
		;
	ck_assert_int_ne(second.due.ms, early.due.ms);
	state_fixture_stop(&b);
}

/* The stored count of characters, or -1. */
static int64_t
counted(struct state_fixture *b)
{
	static const char script[] =
	    "local c=string.match(redis.call('HGET',KEYS[1],'chars') or '',"
	    "'^%d+:%d+:(%d+)$')\n"
	    "return tonumber(c) or -1";

	return RUN_SCRIPT(b, script);
}

/* Make all messages undecodable, so that only stored counts can be right. */
static void
corrupt(struct state_fixture *b)
{
	static const char script[] =
	    "for i=1,redis.call('LLEN',KEYS[2]) do\n"
	    " redis.call('LSET',KEYS[2],i-1,'spoilt')\n"
	    "end\n"
	    "return 1";

	ck_assert_int_eq(RUN_SCRIPT(b, script), 1);
}

static void
append_counted(struct state_fixture *b, struct str json, int64_t chars)
{
	struct session_new new = { .json = &json, .n = 1, .chars = chars };

	OK(session_append_fenced(b->s, &key, NULL, new, NULL));
	OK(session_user_input(b->s, &key, STR("soul"), STR("t"), FOREVER));
}

/* Messages whose characters were counted are never decoded. */
TEST(characters_are_counted_by_appends)
{
	struct session_list l;
	struct state_fixture b;

	state_fixture_start(&b);
	append_counted(&b, STR("{\"content\":\"一二三四\"}"), 4);
	ck_assert_int_eq(counted(&b), 4);
	append_counted(&b, STR("{\"content\":\"一二三四五\"}"), 5);
	ck_assert_int_eq(counted(&b), 9);
	corrupt(&b);
	ck_assert(!request_summary(&b));
	append_counted(&b, STR("{\"content\":\"一\"}"), 1);
	corrupt(&b);
	ck_assert(request_summary(&b));
	/* After a summary of all of them the count is 0. */
	OK(session_messages(b.s, &key,
	    (struct session_page){ .after = 0, .max = 100 }, b.a, &l));
	struct session_summary sum = { .text = STR("s"),
		.number = l.message[l.n - 1].number };
	OK(session_summarise(b.s, &key, &sum));
	ck_assert_int_eq(counted(&b), 0);
	append_counted(&b, STR("{\"content\":\"一\"}"), 1);
	ck_assert_int_eq(counted(&b), 1);
	state_fixture_stop(&b);
}

/* As 0.1.0 appends: 一二. */
static void
append_uncounted(struct state_fixture *b)
{
	static const char script[] =
	    "redis.call('RPUSH',KEYS[2],'{\"content\":\"一二\"}')\n"
	    "return redis.call('HINCRBY',KEYS[1],'last',1)";

	ck_assert_int_gt(RUN_SCRIPT(b, script), 0);
}

/* A record of 0.1.0 has no count: it is counted, and updated from then on. */
TEST(an_older_record_is_counted)
{
	struct state_fixture b;

	state_fixture_start(&b);
	append(&b, STR("{\"content\":\"一二三四\"}"));
	ck_assert_int_eq(counted(&b), -1);
	/* Earlier messages are not counted, so no count is begun in the middle.
	 */
	append_counted(&b, STR("{\"content\":\"一\"}"), 1);
	ck_assert_int_eq(counted(&b), -1);
	ck_assert(!request_summary(&b));
	ck_assert_int_eq(counted(&b), 5);
	corrupt(&b);
	append_counted(&b, STR("{\"content\":\"一二三四\"}"), 4);
	ck_assert(!request_summary(&b));
	ck_assert_int_eq(counted(&b), 9);
	/* An older program appends concurrently: the count is out of date. */
	append_uncounted(&b);
	ck_assert(!request_summary(&b));
	ck_assert_int_eq(counted(&b), 6);
	state_fixture_stop(&b);
}
