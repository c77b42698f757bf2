/* Souls: due ticks and their claims. */
#include "state/soul.h"
#include "testkit/state_fixture.h"
#include "testkit/terminal_fixture.h"

#define TICKS "soul:ticks:1"

static const struct soul_tick every_3s = {
	.interval_ms = 3000, .ttl_ms = STATE_FIXTURE_TTL_MS, .max = 1000
};

/* A soul with a terminal of the same name. */
static void
make(struct state_fixture *b, const char *id)
{
	struct soul soul = { .id = str_of(id),
		.user_id = STR("u"),
		.name = str_of(id),
		.mbti_type = STR("INFJ"),
		.model = STR("m") };

	OK(soul_create(b->s, &soul, STR("0")));
	OK(terminal_bind(b->s, str_of(id), STR("u"), str_of(id)));
}

/* Set when a soul is due, by its token. */
static void
due_at(struct state_fixture *b, const char *token, int64_t ms)
{
	char num[STATE_NUM_MAX];

	DO(b, STR("ZADD"), STR(TICKS), state_num(ms, num), str_of(token));
}

/* When it is due, or -1. */
static int64_t
due(struct state_fixture *b, const char *token)
{
	struct state_reply *r;
	double ms = -1;

	OK(state_cmd(
	    b->s, STATE_ARGS(STR("ZSCORE"), STR(TICKS), str_of(token)), &r));
	if (state_reply_kind(r) == STATE_STR)
		OK(str_to_f64(state_reply_str(r), 0, 1e15, &ms));
	state_reply_free(r);
	return (int64_t)ms;
}

TEST(a_terminal_makes_its_soul_tick)
{
	struct soul_due *list;
	struct state_fixture b;
	size_t n;

	state_fixture_start(&b);
	make(&b, "灵");
	ck_assert_int_eq(due(&b, "~54G1"), -1);
	OK(terminal_fixture_put_online(b.s, &b.w, STR("灵"), true, NULL));
	due_at(&b, "~54G1", 1);
	OK(terminal_fixture_put_online(b.s, &b.w, STR("灵"), true, NULL));
	ck_assert_int_eq(due(&b, "~54G1"), 1); /* ticks already */
	OK(terminal_fixture_put_online(b.s, &b.w, STR("unbound"), true, NULL));
	OK(soul_tick_claim(b.s, &every_3s, b.a, &list, &n));
	ck_assert_uint_eq(n, 1);
	ck_text(list[0].soul_id, "灵");
	ck_assert_uint_eq(list[0].n, 1);
	ck_text(list[0].terminal[0].terminal_id, "灵");
	ck_text(list[0].terminal[0].broker, "main");
	OK(soul_tick_claim(b.s, &every_3s, b.a, &list, &n));
	ck_assert_uint_eq(n, 0);
	ck_assert_int_gt(due(&b, "~54G1"), state_fixture_now(&b));
	state_fixture_stop(&b);
}

/* Each soul has its offset in the interval, however late it was claimed. */
TEST(a_tick_has_a_fixed_offset)
{
	static const int64_t late[] = { 0, 1, 2999, 3000, 3001, 7500, 600000 };
	struct soul_due *list;
	struct soul_tick t = every_3s;
	int64_t offset, now;
	struct state_fixture b;
	size_t i, n;

	state_fixture_start(&b);
	OK(soul_tick_claim(b.s, &t, b.a, &list, &n)); /* says the interval */
	make(&b, "s");
	OK(terminal_fixture_put_online(b.s, &b.w, STR("s"), true, NULL));
	offset = due(&b, "s") % 3000;
	for (i = 0; i < NELEM(late); i++) {
		due_at(&b, "s", state_fixture_now(&b) - late[i]);
		OK(soul_tick_claim(b.s, &t, b.a, &list, &n));
		ck_assert_uint_eq(n, 1);
		ck_assert_int_eq(list[0].next % 3000, offset);
		OK(soul_tick_done(b.s, list, n));
		ck_assert_int_eq(due(&b, "s"), list[0].next);
		now = state_fixture_now(&b);
		ck_assert_int_le(list[0].next, now + 3000);
		ck_assert_int_gt(list[0].next, now - 1000);
	}
	due_at(&b, "s", state_fixture_now(&b) + 60000);
	OK(soul_tick_claim(b.s, &t, b.a, &list, &n));
	ck_assert_uint_eq(n, 0);
	state_fixture_stop(&b);
}

/* A claim of a dead process lasts half an interval. */
TEST(a_claim_that_is_not_done_ends)
{
	struct soul_tick t = every_3s;
	struct soul_due *list, *second;
	int64_t now;
	struct state_fixture b;
	size_t n;

	state_fixture_start(&b);
	make(&b, "s");
	OK(terminal_fixture_put_online(b.s, &b.w, STR("s"), true, NULL));
	due_at(&b, "s", 1);
	now = state_fixture_now(&b);
	OK(soul_tick_claim(b.s, &t, b.a, &list, &n));
	ck_assert_uint_eq(n, 1);
	ck_assert_int_ge(due(&b, "s"), now + 1500);
	ck_assert_int_le(due(&b, "s"), state_fixture_now(&b) + 1500);
	/* Done with the next claim, in the same round trip. */
	t.done = list;
	t.n_done = n;
	OK(soul_tick_claim(b.s, &t, b.a, &second, &n));
	ck_assert_uint_eq(n, 0);
	ck_assert_int_eq(due(&b, "s"), list[0].next);
	/* A soul that stopped ticking meanwhile does not come back. */
	DO(&b, STR("ZREM"), STR(TICKS), STR("s"));
	OK(soul_tick_done(b.s, list, 1));
	ck_assert_int_eq(due(&b, "s"), -1);
	t.n_done = 1001;
	IS(RC_INVALID, soul_tick_claim(b.s, &t, b.a, &second, &n));
	state_fixture_stop(&b);
}

TEST(a_claim_brings_the_state)
{
	struct soul_state st = { .soul_id = STR("s") };
	struct soul_due *list;
	struct state_fixture b;
	size_t n;

	state_fixture_start(&b);
	make(&b, "s");
	OK(terminal_fixture_put_online(b.s, &b.w, STR("s"), true, NULL));
	OK(soul_state_get(b.s, &st, 1, b.a));
	due_at(&b, "s", 1);
	OK(soul_tick_claim(b.s, &every_3s, b.a, &list, &n));
	ck_assert_uint_eq(n, 1);
	ck_assert_int_eq(list[0].state.version, st.version);
	ck_text(list[0].state.bytes, "0");
	DO(&b, STR("DEL"), STR("soul:soul:{s}:state"));
	due_at(&b, "s", 1);
	OK(soul_tick_claim(b.s, &every_3s, b.a, &list, &n));
	ck_assert_int_eq(list[0].state.version, 0);
	state_fixture_stop(&b);
}

TEST(a_soul_without_terminals_stops_ticking)
{
	struct soul_tick t = every_3s;
	struct soul_due *list;
	struct state_fixture b;
	size_t n;
	bool came;

	state_fixture_start(&b);
	make(&b, "s");
	OK(terminal_fixture_put_online(b.s, &b.w, STR("s"), true, NULL));
	OK(terminal_fixture_put_online(b.s, &b.w, STR("s"), false, NULL));
	due_at(&b, "s", 1);
	OK(soul_tick_claim(b.s, &every_3s, b.a, &list, &n));
	ck_assert_uint_eq(n, 0);
	ck_assert_int_eq(due(&b, "s"), -1);
	/* Each sign of life restarts it. */
	OK(terminal_fixture_heartbeats(b.s, &b.w, &STR("s"), 1, &came));
	ck_assert(came);
	ck_assert_int_gt(due(&b, "s"), 0);

	/* Absence, by the time to live of the claim. */
	due_at(&b, "s", 1);
	t.ttl_ms = 1;
	while (n == 0 && due(&b, "s") >= 0) {
		OK(soul_tick_claim(b.s, &t, b.a, &list, &n));
		n = 0;
		if (due(&b, "s") > 1)
			due_at(&b, "s", 1);
	}
	/* For the bridge it was present throughout; it ticks all the same. */
	OK(terminal_fixture_heartbeats(b.s, &b.w, &STR("s"), 1, &came));
	ck_assert(!came);
	ck_assert_int_gt(due(&b, "s"), 0);

	/* Bound to another soul, or unbound. */
	OK(terminal_unbind(b.s, STR("s"), STR("u")));
	due_at(&b, "s", 1);
	OK(soul_tick_claim(b.s, &every_3s, b.a, &list, &n));
	ck_assert_uint_eq(n, 0);
	ck_assert_int_eq(due(&b, "s"), -1);
	/* Binding a present one restarts it. */
	OK(terminal_bind(b.s, STR("s"), STR("u"), STR("s")));
	ck_assert_int_gt(due(&b, "s"), 0);
	state_fixture_stop(&b);
}

TEST(all_present_terminals_are_listed)
{
	static const char *const more[] = { "b1", "b2", "b3" };
	struct terminal_writer second;
	struct soul_due *list;
	unsigned seen = 0;
	struct state_fixture b;
	size_t i, n;

	state_fixture_start(&b);
	second = b.w;
	second.broker = STR("second");
	make(&b, "s");
	for (i = 0; i < NELEM(more); i++)
		OK(terminal_bind(b.s, str_of(more[i]), STR("u"), STR("s")));
	OK(terminal_fixture_put_online(b.s, &b.w, STR("b1"), true, NULL));
	OK(terminal_fixture_put_online(b.s, &b.w, STR("b2"), true, NULL));
	OK(terminal_fixture_put_online(b.s, &b.w, STR("b2"), false, NULL));
	OK(terminal_fixture_put_online(b.s, &second, STR("b3"), true, NULL));
	due_at(&b, "s", 1);
	OK(soul_tick_claim(b.s, &every_3s, b.a, &list, &n));
	ck_assert_uint_eq(n, 1);
	ck_assert_uint_eq(list[0].n, 2);
	for (i = 0; i < 2; i++)
		if (str_eq(list[0].terminal[i].terminal_id, STR("b1"))) {
			ck_text(list[0].terminal[i].broker, "main");
			seen |= 1;
		} else {
			ck_text(list[0].terminal[i].terminal_id, "b3");
			ck_text(list[0].terminal[i].broker, "second");
			seen |= 2;
		}
	ck_assert_uint_eq(seen, 3);
	state_fixture_stop(&b);
}

#define SPREAD  1000
#define BUCKETS 10

TEST(simultaneous_heartbeats_are_spread)
{
	static char text[SPREAD][16];
	static struct str ids[SPREAD];
	struct soul_tick t = every_3s;
	int hits[BUCKETS] = { 0 };
	struct soul_due *list;
	int64_t start, at;
	struct state_fixture b;
	size_t i, n;

	state_fixture_start(&b);
	t.interval_ms = 5000;
	OK(soul_tick_claim(b.s, &t, b.a, &list, &n)); /* says the interval */
	for (i = 0; i < SPREAD; i++) {
		snprintf(text[i], sizeof(text[i]), "s%zu", i);
		ids[i] = str_of(text[i]);
		make(&b, text[i]);
	}
	start = state_fixture_now(&b);
	OK(terminal_fixture_heartbeats(b.s, &b.w, ids, SPREAD, NULL));
	for (i = 0; i < SPREAD; i++) {
		at = due(&b, text[i]);
		ck_assert_int_ge(at, start);
		/* The heartbeats themselves took some time. */
		ck_assert_int_lt(at, state_fixture_now(&b) + t.interval_ms);
		hits[(at - start) * BUCKETS / t.interval_ms % BUCKETS]++;
	}
	/* 100 each; 6 standard deviations are 57. */
	for (i = 0; i < BUCKETS; i++)
		ck_assert_msg(
		    hits[i] > 43 && hits[i] < 157, "%zu: %d", i, hits[i]);
	state_fixture_stop(&b);
}

TEST(garbage_does_not_stop_the_others)
{
	struct soul_due *list;
	struct state_fixture b;
	size_t n;

	state_fixture_start(&b);
	make(&b, "good");
	make(&b, "bad1");
	make(&b, "bad2");
	OK(terminal_fixture_put_online(b.s, &b.w, STR("good"), true, NULL));
	due_at(&b, "good", 5);
	due_at(&b, "no token!", 1);
	due_at(&b, "gone", 2);
	due_at(&b, "bad1", 3);
	due_at(&b, "bad2", 4);
	DO(&b, STR("SET"), STR("soul:soul:{bad1}:terminals:1"), STR("x"));
	DO(&b, STR("SET"), STR("soul:terminal:{bad2}"), STR("x"));
	OK(soul_tick_claim(b.s, &every_3s, b.a, &list, &n));
	ck_assert_uint_eq(n, 1);
	ck_text(list[0].soul_id, "good");
	ck_assert_int_eq(INT_OF(&b, STR("ZCARD"), STR(TICKS)), 1);

	/* A terminal whose record has another format does not count. */
	due_at(&b, "good", 5);
	DO(&b, STR("HSET"), STR("soul:terminal:{good}"), STR("v"), STR("2"));
	OK(soul_tick_claim(b.s, &every_3s, b.a, &list, &n));
	ck_assert_uint_eq(n, 0);
	state_fixture_stop(&b);
}

TEST(claims_without_terminals_are_repeated)
{
	struct soul_tick t = every_3s;
	struct soul_due *list;
	char token[16];
	struct state_fixture b;
	size_t i, n;

	state_fixture_start(&b);
	t.max = 10;
	make(&b, "s");
	OK(terminal_fixture_put_online(b.s, &b.w, STR("s"), true, NULL));
	for (i = 0; i < 50; i++) {
		snprintf(token, sizeof(token), "gone%zu", i);
		due_at(&b, token, 1);
	}
	due_at(&b, "s", 2);
	OK(soul_tick_claim(b.s, &t, b.a, &list, &n));
	ck_assert_uint_eq(n, 1);
	t.max = 0;
	IS(RC_INVALID, soul_tick_claim(b.s, &t, b.a, &list, &n));
	t.max = 1001;
	IS(RC_INVALID, soul_tick_claim(b.s, &t, b.a, &list, &n));
	t = every_3s;
	t.interval_ms = 0;
	IS(RC_INVALID, soul_tick_claim(b.s, &t, b.a, &list, &n));
	state_fixture_stop(&b);
}

#define RACE_SOULS 500

static void
make_due(struct state_fixture *r, int who)
{
	struct state_fixture b = *r;
	char id[16];
	int i;

	(void)who;
	for (i = 0; i < RACE_SOULS; i++) {
		snprintf(id, sizeof(id), "s%d", i);
		make(&b, id);
		OK(terminal_fixture_put_online(
		    b.s, &b.w, str_of(id), true, NULL));
		due_at(&b, id, 1 + i);
	}
}

/* Claim a few at a time until nothing is due, and record them. */
static void
claim_all(struct state_fixture *r, int who)
{
	struct soul_tick t = {
		.interval_ms = 600000, .ttl_ms = STATE_FIXTURE_TTL_MS, .max = 7
	};
	struct arena *a = arena_new(1 << 20);
	struct soul_due *list;
	size_t i, n;

	(void)who;
	do {
		OK(soul_tick_claim(r->s, &t, a, &list, &n));
		for (i = 0; i < n; i++)
			DO(r, STR("RPUSH"), STATE_FIXTURE_CLAIMED,
			    list[i].soul_id);
		arena_reset(a);
	} while (n > 0);
	arena_free(a);
}

TEST(nothing_is_claimed_twice)
{
	struct tk_server redis;
	struct state_fixture r;

	tk_server_start(&redis, TK_REDIS);
	state_fixture_run_peers(redis.url, 1, make_due);
	state_fixture_run_peers(redis.url, 4, claim_all);
	state_fixture_join(&r, &redis);
	state_fixture_check_claims(&r, RACE_SOULS);
	state_fixture_stop(&r);
}
