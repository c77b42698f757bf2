/* Sessions: idle periods and their claims. */
#include "state/session.h"
#include "testkit/state_fixture.h"

STATE_FIXTURE_ON_CLUSTER

#define FOREVER 600000

static const struct session_key key = { STR_INIT("u"), STR_INIT("会话") };

static void
input(struct state_fixture *b, struct session_key k, int64_t idle_ms)
{
	OK(session_user_input(b->s, &k, STR("soul"), STR("t"), idle_ms));
}

static size_t
claim(struct state_fixture *b, int64_t lease_ms, struct session_idle *first)
{
	struct session_idle_list l;

	OK(session_fixture_claim(b, "u", lease_ms, 100, &l));
	if (l.n > 0 && first != NULL)
		*first = l.idle[0];
	return l.n;
}

struct waiting {
	struct state_fixture *b;
	struct session_idle idle;
	int64_t lease_ms;
};

static bool
fell_idle(void *arg)
{
	struct waiting *w = arg;

	return claim(w->b, w->lease_ms, &w->idle) > 0;
}

TEST(an_idle_period_has_a_single_claim)
{
	struct waiting w = { .lease_ms = FOREVER };
	int64_t before;
	struct state_fixture b;

	state_fixture_start(&b);
	w.b = &b;
	input(&b, key, 60000);
	ck_assert_uint_eq(claim(&b, FOREVER, NULL), 0);
	before = state_fixture_now(&b);
	input(&b, key, 100);
	ck_assert_uint_eq(claim(&b, FOREVER, NULL), 0);
	ck_assert(tk_until(fell_idle, &w, STATE_FIXTURE_WAIT_MS));
	ck_assert_int_ge(state_fixture_now(&b), before + 100);
	ck_assert_int_ge(w.idle.due.ms, before + 100);
	ck_text(w.idle.key.user_id, "u");
	ck_text(w.idle.key.session_id, "会话");
	ck_assert_uint_eq(claim(&b, FOREVER, NULL), 0);
	OK(session_idle_done(b.s, &w.idle));
	OK(session_idle_done(b.s, &w.idle));
	ck_assert_int_eq(
	    INT_OF(&b, STR("ZCARD"), STR("soul:idle:{b0562}:1")), 0);
	state_fixture_stop(&b);
}

TEST(a_dead_claimer_is_replaced)
{
	struct session_idle dead;
	struct waiting w = { .lease_ms = FOREVER };
	struct state_fixture b;

	state_fixture_start(&b);
	w.b = &b;
	input(&b, key, 0);
	ck_assert_uint_eq(claim(&b, 100, &dead), 1);
	ck_assert(tk_until(fell_idle, &w, STATE_FIXTURE_WAIT_MS));
	/* It is the same idle period for every claimer. */
	ck_assert_int_eq(w.idle.due.ms, dead.due.ms);
	OK(session_idle_done(b.s, &dead));
	ck_assert_int_eq(
	    INT_OF(&b, STR("ZCARD"), STR("soul:idle:{b0562}:1")), 0);
	state_fixture_stop(&b);
}

TEST(an_input_begins_another_idle_period)
{
	struct waiting w = { .lease_ms = FOREVER };
	struct session_idle old;
	struct state_fixture b;

	state_fixture_start(&b);
	w.b = &b;
	input(&b, key, 0);
	ck_assert_uint_eq(claim(&b, FOREVER, &old), 1);
	/* Within the same millisecond too: then it is due a millisecond later.
	 */
	input(&b, key, 0);
	OK(session_idle_done(b.s, &old));
	ck_assert(tk_until(fell_idle, &w, STATE_FIXTURE_WAIT_MS));
	ck_assert_int_gt(w.idle.due.ms, old.due.ms);
	OK(session_idle_done(b.s, &w.idle));
	ck_assert_int_eq(
	    INT_OF(&b, STR("ZCARD"), STR("soul:idle:{b0562}:1")), 0);
	state_fixture_stop(&b);
}

TEST(idle_periods_have_different_due_times)
{
	const struct str field = STR("soul:session:{b0562}:u:~5Lya6K-d");
	struct state_reply *r;
	int64_t due, last = 0;
	struct state_fixture b;
	int i;

	state_fixture_start(&b);
	for (i = 0; i < 200; i++) {
		input(&b, key, 0);
		OK(state_cmd(
		    b.s, STATE_ARGS(STR("HGET"), field, STR("due")), &r));
		OK(str_to_i64(state_reply_str(r), 1, INT64_MAX, &due));
		state_reply_free(r);
		ck_assert_int_gt(due, last);
		last = due;
	}
	/* A shorter wait is due earlier. */
	input(&b, key, 60000);
	input(&b, key, 100);
	OK(state_cmd(b.s, STATE_ARGS(STR("HGET"), field, STR("due")), &r));
	OK(str_to_i64(state_reply_str(r), 1, INT64_MAX, &due));
	state_reply_free(r);
	ck_assert_int_lt(due, state_fixture_now(&b) + 1000);
	state_fixture_stop(&b);
}

TEST(claims_are_counted)
{
	struct waiting w = { .lease_ms = 20 };
	struct state_fixture b;
	int i;

	state_fixture_start(&b);
	w.b = &b;
	input(&b, key, 0);
	for (i = 1; i <= 3; i++) {
		ck_assert(tk_until(fell_idle, &w, STATE_FIXTURE_WAIT_MS));
		ck_assert_int_eq(w.idle.claims, i);
	}
	/* For each idle period anew. */
	input(&b, key, 0);
	ck_assert(tk_until(fell_idle, &w, STATE_FIXTURE_WAIT_MS));
	ck_assert_int_eq(w.idle.claims, 1);
	DO(&b, STR("HSET"), STR("soul:session:{b0562}:u:~5Lya6K-d"),
	    STR("claims"), STR("x"));
	ck_assert(tk_until(fell_idle, &w, STATE_FIXTURE_WAIT_MS));
	ck_assert_int_eq(w.idle.claims, 1);
	state_fixture_stop(&b);
}

TEST(a_claim_can_be_extended)
{
	struct waiting w = { .lease_ms = FOREVER };
	struct session_idle old;
	struct state_fixture b;

	state_fixture_start(&b);
	w.b = &b;
	input(&b, key, 0);
	ck_assert_uint_eq(claim(&b, 1, &old), 1);
	OK(session_idle_defer(b.s, &old, FOREVER));
	ck_assert_uint_eq(claim(&b, FOREVER, NULL), 0);
	OK(session_idle_defer(b.s, &old, 1));
	ck_assert(tk_until(fell_idle, &w, STATE_FIXTURE_WAIT_MS));
	ck_assert_int_eq(w.idle.due.ms, old.due.ms);
	IS(RC_INVALID, session_idle_defer(b.s, &old, 0));
	/* Not after it was done, nor for another idle period. */
	OK(session_idle_done(b.s, &old));
	IS(RC_CONFLICT, session_idle_defer(b.s, &old, 1));
	ck_assert_int_eq(
	    INT_OF(&b, STR("ZCARD"), STR("soul:idle:{b0562}:1")), 0);
	input(&b, key, FOREVER);
	IS(RC_CONFLICT, session_idle_defer(b.s, &old, 1));
	ck_assert_uint_eq(claim(&b, FOREVER, NULL), 0);
	state_fixture_stop(&b);
}

TEST(the_number_of_claims_is_limited)
{
	struct session_idle_list l;
	struct session_key k = key;
	struct state_fixture b;
	char text[16];
	int i;

	state_fixture_start(&b);
	for (i = 0; i < 25; i++) {
		snprintf(text, sizeof(text), "s%d", i);
		k.session_id = str_of(text);
		input(&b, k, 0);
	}
	OK(session_fixture_claim(&b, "u", FOREVER, 10, &l));
	ck_assert_uint_eq(l.n, 10);
	OK(session_fixture_claim(&b, "u", FOREVER, SIZE_MAX, &l));
	ck_assert_uint_eq(l.n, 15);
	IS(RC_INVALID, session_fixture_claim(&b, "u", FOREVER, 0, &l));
	IS(RC_INVALID, session_fixture_claim(&b, "u", 0, 1, &l));
	state_fixture_stop(&b);
}

TEST(garbage_does_not_stop_the_others)
{
	static const char *const bad[] = { "", "x", "a:b:c", "no session:x",
		"u:gone", "u:string", "u:format", "u:due" };
	struct session_idle idle;
	struct state_fixture b;
	size_t i;

	state_fixture_start(&b);
	DO(&b, STR("SET"), STR("soul:session:{b0562}:u:string"), STR("x"));
	DO(&b, STR("HSET"), STR("soul:session:{b0562}:u:format"), STR("v"),
	    STR("2"), STR("due"), STR("1"));
	DO(&b, STR("HSET"), STR("soul:session:{b0562}:u:due"), STR("v"),
	    STR("1"), STR("due"), STR("x"));
	for (i = 0; i < NELEM(bad); i++)
		DO(&b, STR("ZADD"), STR("soul:idle:{b0562}:1"), STR("1"),
		    str_of(bad[i]));
	/* A record whose key is no session's. */
	DO(&b, STR("HSET"), STR("soul:session:{b0562}:no session:x"), STR("v"),
	    STR("1"), STR("due"), STR("1"));
	input(&b, key, 0);
	ck_assert_uint_eq(claim(&b, FOREVER, &idle), 1);
	ck_text(idle.key.session_id, "会话");
	ck_assert_uint_eq(claim(&b, FOREVER, NULL), 0);
	state_fixture_stop(&b);
}

#define SESSIONS 400

static void
fall_idle(struct state_fixture *r, int who)
{
	struct session_key k = key;
	char text[16];
	int i;

	(void)who;
	for (i = 0; i < SESSIONS; i++) {
		snprintf(text, sizeof(text), "s%d", i);
		k.session_id = str_of(text);
		OK(session_user_input(r->s, &k, STR("soul"), STR("t"), 0));
	}
}

/* Claim a few at a time until nothing is left, and record them. */
static void
deal(struct state_fixture *r, int who)
{
	struct session_idle_list l;
	size_t i;

	(void)who;
	for (;;) {
		arena_reset(r->a);
		OK(session_fixture_claim(r, "u", FOREVER, 7, &l));
		if (l.n == 0)
			break;
		for (i = 0; i < l.n; i++) {
			DO(r, STR("RPUSH"), STATE_FIXTURE_CLAIMED,
			    l.idle[i].key.session_id);
			OK(session_idle_done(r->s, &l.idle[i]));
		}
	}
}

TEST(nothing_is_claimed_twice)
{
	struct tk_server redis;
	struct state_fixture r;

	state_fixture_start_server(&redis);
	state_fixture_run_peers(redis.url, 1, fall_idle);
	state_fixture_run_peers(redis.url, 4, deal);
	state_fixture_join(&r, &redis);
	state_fixture_check_claims(&r, SESSIONS);
	ck_assert_int_eq(
	    INT_OF(&r, STR("ZCARD"), STR("soul:idle:{b0562}:1")), 0);
	state_fixture_stop(&r);
}
