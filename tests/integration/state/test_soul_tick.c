/* Souls: due ticks and their claims. */
#include "state/keys.h"
#include "state/soul.h"
#include "testkit/state_fixture.h"
#include "testkit/terminal_fixture.h"

/* The bucket of the user u. */
#define BUCKET 562
#define TICKS  "soul:ticks:{b0562}:1"

/* Claims of that bucket. */
struct claims {
	struct soul_tick_bucket bucket;
	struct soul_tick t;
};

static const struct soul_tick *
every(struct claims *c, int64_t interval_ms)
{
	c->bucket = (struct soul_tick_bucket){ .number = BUCKET };
	c->t = (struct soul_tick){
		.interval_ms = interval_ms, .bucket = &c->bucket, .n_buckets = 1
	};
	return &c->t;
}

/* A claim every 3 s: what is due now. */
static void
claim(struct state_fixture *b, struct soul_due **list, size_t *n)
{
	struct claims c;

	OK(soul_tick_claim(b->s, every(&c, 3000), b->a, list, n));
}

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
	OK(terminal_fixture_bind(b->s, str_of(id), STR("u"), str_of(id)));
}

/* Set when a soul is due, by its token. */
static void
due_at(struct state_fixture *b, const char *token, int64_t ms)
{
	char num[STR_NUM_MAX], member[64];

	snprintf(member, sizeof(member), "u:%s", token);
	DO(b, STR("ZADD"), STR(TICKS), str_num(ms, num), str_of(member));
}

/* When it is due, or -1. */
static int64_t
due(struct state_fixture *b, const char *token)
{
	struct state_reply *r;
	char member[64];
	double ms = -1;

	snprintf(member, sizeof(member), "u:%s", token);
	OK(state_cmd(
	    b->s, STATE_ARGS(STR("ZSCORE"), STR(TICKS), str_of(member)), &r));
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
	claim(&b, &list, &n);
	ck_assert_uint_eq(n, 1);
	ck_text(list[0].soul_id, "灵");
	ck_assert_uint_eq(list[0].n, 1);
	ck_text(list[0].terminal[0].terminal_id, "灵");
	ck_text(list[0].terminal[0].broker, "main");
	claim(&b, &list, &n);
	ck_assert_uint_eq(n, 0);
	ck_assert_int_gt(due(&b, "~54G1"), state_fixture_now(&b));
	state_fixture_stop(&b);
}

/* Each bucket has its offset in the interval, however late it was claimed. */
TEST(a_tick_has_a_fixed_offset)
{
	static const int64_t late[] = { 0, 1, 2999, 3000, 3001, 7500, 600000 };
	const int64_t offset = 3000 * BUCKET / STATE_BUCKETS;
	struct soul_due *list;
	struct claims c;
	int64_t now;
	struct state_fixture b;
	size_t i, n;

	state_fixture_start(&b);
	make(&b, "s");
	OK(terminal_fixture_put_online(b.s, &b.w, STR("s"), true, NULL));
	ck_assert_int_eq(due(&b, "s"), 0); /* it has no time yet */
	OK(soul_tick_claim(b.s, every(&c, 3000), b.a, &list, &n));
	ck_assert_uint_eq(n, 0);
	ck_assert_int_eq(due(&b, "s") % 3000, offset);
	ck_assert_int_ge(c.bucket.in_ms, 0);
	ck_assert_int_le(c.bucket.in_ms, 3000);
	for (i = 0; i < NELEM(late); i++) {
		due_at(&b, "s", state_fixture_now(&b) - late[i]);
		OK(soul_tick_claim(b.s, every(&c, 3000), b.a, &list, &n));
		ck_assert_uint_eq(n, 1);
		ck_text(list[0].user_id, "u");
		ck_assert_uint_eq(c.bucket.n, 1);
		ck_assert_int_eq(c.bucket.next % 3000, offset);
		ck_assert_int_le(c.bucket.in_ms, 3000);
		OK(soul_tick_done(b.s, &c.bucket, 1));
		ck_assert_int_eq(due(&b, "s"), c.bucket.next);
		now = state_fixture_now(&b);
		ck_assert_int_le(c.bucket.next, now + 3000);
		ck_assert_int_gt(c.bucket.next, now - 1000);
	}
	due_at(&b, "s", state_fixture_now(&b) + 60000);
	OK(soul_tick_claim(b.s, every(&c, 3000), b.a, &list, &n));
	ck_assert_uint_eq(n, 0);
	DO(&b, STR("DEL"), STR(TICKS));
	OK(soul_tick_claim(b.s, every(&c, 3000), b.a, &list, &n));
	ck_assert_int_eq(c.bucket.in_ms, -1);
	state_fixture_stop(&b);
}

/* A claim of a dead process lasts half an interval. */
TEST(a_claim_that_is_not_done_ends)
{
	struct soul_tick_bucket first;
	struct soul_due *list;
	struct claims c;
	int64_t now;
	struct state_fixture b;
	size_t n;

	state_fixture_start(&b);
	make(&b, "s");
	OK(terminal_fixture_put_online(b.s, &b.w, STR("s"), true, NULL));
	due_at(&b, "s", 1);
	now = state_fixture_now(&b);
	OK(soul_tick_claim(b.s, every(&c, 3000), b.a, &list, &n));
	ck_assert_uint_eq(n, 1);
	first = c.bucket;
	ck_assert_int_eq(due(&b, "s"), first.claim_ends);
	ck_assert_int_ge(due(&b, "s"), now + 1500);
	ck_assert_int_le(due(&b, "s"), state_fixture_now(&b) + 1500);
	/* Done with the next claim, in the same round trip. */
	(void)every(&c, 3000);
	c.t.done = &first;
	c.t.n_done = 1;
	OK(soul_tick_claim(b.s, &c.t, b.a, &list, &n));
	ck_assert_uint_eq(n, 0);
	ck_assert_int_eq(due(&b, "s"), first.next);
	/* A soul that stopped ticking meanwhile does not come back. */
	DO(&b, STR("ZREM"), STR(TICKS), STR("u:s"));
	OK(soul_tick_done(b.s, &first, 1));
	ck_assert_int_eq(due(&b, "s"), -1);
	c.t.n_done = SOUL_TICK_DONE_MAX + 1;
	IS(RC_INVALID, soul_tick_claim(b.s, &c.t, b.a, &list, &n));
	state_fixture_stop(&b);
}

TEST(a_claim_brings_the_state)
{
	struct soul_state st = { .user_id = STR("u"), .soul_id = STR("s") };
	struct soul_due *list;
	struct state_fixture b;
	size_t n;

	state_fixture_start(&b);
	make(&b, "s");
	OK(terminal_fixture_put_online(b.s, &b.w, STR("s"), true, NULL));
	OK(soul_state_get(b.s, &st, 1, b.a));
	due_at(&b, "s", 1);
	claim(&b, &list, &n);
	ck_assert_uint_eq(n, 1);
	ck_assert_int_eq(list[0].state.version, st.version);
	ck_text(list[0].state.bytes, "0");
	DO(&b, STR("DEL"), terminal_fixture_key(KEY_SOUL_STATE, "u", "s"));
	due_at(&b, "s", 1);
	claim(&b, &list, &n);
	ck_assert_int_eq(list[0].state.version, 0);
	state_fixture_stop(&b);
}

TEST(a_soul_without_terminals_stops_ticking)
{
	struct terminal_writer brief;
	struct soul_due *list;
	struct state_fixture b;
	size_t n;

	state_fixture_start(&b);
	make(&b, "s");
	OK(terminal_fixture_put_online(b.s, &b.w, STR("s"), true, NULL));
	OK(terminal_fixture_put_online(b.s, &b.w, STR("s"), false, NULL));
	due_at(&b, "s", 1);
	claim(&b, &list, &n);
	ck_assert_uint_eq(n, 0);
	ck_assert_int_eq(due(&b, "s"), -1);
	/* Each sign of life restarts it. */
	OK(terminal_fixture_heartbeats(b.s, &b.w, &STR("s"), 1, NULL));
	ck_assert_int_ge(due(&b, "s"), 0);

	/* The bridge does not copy it any more: it may be down. */
	brief = b.w;
	brief.ttl_ms = 1;
	OK(terminal_fixture_heartbeats(b.s, &brief, &STR("s"), 1, NULL));
	n = 1;
	while (n > 0) {
		due_at(&b, "s", 1);
		claim(&b, &list, &n);
	}
	ck_assert_int_eq(due(&b, "s"), -1);
	OK(terminal_fixture_heartbeats(b.s, &b.w, &STR("s"), 1, NULL));
	ck_assert_int_ge(due(&b, "s"), 0);

	/* Bound to another soul, or unbound. */
	OK(terminal_unbind(b.s, STR("s"), STR("u")));
	due_at(&b, "s", 1);
	claim(&b, &list, &n);
	ck_assert_uint_eq(n, 0);
	ck_assert_int_eq(due(&b, "s"), -1);
	/* Binding a present one restarts it. */
	OK(terminal_fixture_bind(b.s, STR("s"), STR("u"), STR("s")));
	ck_assert_int_ge(due(&b, "s"), 0);
	state_fixture_stop(&b);
}

/* Only the first soul of a bucket needs a hint. */
TEST(the_first_ticking_soul_of_a_bucket_is_reported)
{
	struct terminal_binding a = { STR("a"), STR("u"), STR("a"), 60000 };
	struct terminal_binding c = { STR("c"), STR("u"), STR("c"), 60000 };
	struct terminal_copy copy = {
		.id = STR("a"), .user_id = STR("u"), .soul_id = STR("a")
	};
	struct soul_due *list;
	struct state_fixture b;
	size_t n;
	bool ticks;

	state_fixture_start(&b);
	make(&b, "a");
	make(&b, "c");
	OK(terminal_bind(b.s, &a, &ticks));
	ck_assert(!ticks); /* it is not present */
	OK(terminal_unbind(b.s, STR("a"), STR("u")));
	OK(terminal_fixture_put_online(b.s, &b.w, STR("a"), true, NULL));
	OK(terminal_fixture_put_online(b.s, &b.w, STR("c"), true, NULL));
	DO(&b, STR("DEL"), STR(TICKS));
	OK(terminal_bind(b.s, &a, &ticks));
	ck_assert(ticks);
	OK(terminal_bind(b.s, &c, &ticks));
	ck_assert(!ticks);

	DO(&b, STR("DEL"), STR(TICKS));
	copy.at = state_fixture_now(&b);
	copy.until = copy.at + 60000;
	OK(terminal_put_copies(b.s, STR("main"), &copy, 1));
	ck_assert(copy.rc == RC_OK && copy.ticks);
	OK(terminal_put_copies(b.s, STR("main"), &copy, 1));
	ck_assert(copy.rc == RC_OK && !copy.ticks);
	/* An older copy does not count. */
	copy.at--;
	copy.until = 0;
	OK(terminal_put_copies(b.s, STR("main"), &copy, 1));
	DO(&b, STR("ZADD"), STR(TICKS), STR("1"), STR("u:a"));
	claim(&b, &list, &n);
	ck_assert_uint_eq(n, 1);
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
		OK(terminal_fixture_bind(
		    b.s, str_of(more[i]), STR("u"), STR("s")));
	OK(terminal_fixture_put_online(b.s, &b.w, STR("b1"), true, NULL));
	OK(terminal_fixture_put_online(b.s, &b.w, STR("b2"), true, NULL));
	OK(terminal_fixture_put_online(b.s, &b.w, STR("b2"), false, NULL));
	OK(terminal_fixture_put_online(b.s, &second, STR("b3"), true, NULL));
	due_at(&b, "s", 1);
	claim(&b, &list, &n);
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

TEST(buckets_are_spread_over_the_interval)
{
	struct soul soul = { .id = STR("s"),
		.name = STR("s"),
		.mbti_type = STR("INFJ"),
		.model = STR("m") };
	char user[16];
	struct soul_tick_bucket bucket[20] = { 0 };
	struct soul_tick t = {
		.interval_ms = 5000, .bucket = bucket, .n_buckets = 20
	};
	struct soul_due *list;
	int64_t now;
	struct state_fixture b;
	size_t i, n;

	state_fixture_start(&b);
	for (i = 0; i < NELEM(bucket); i++) {
		snprintf(user, sizeof(user), "u%zu", i);
		soul.user_id = str_of(user);
		OK(state_bucket(soul.user_id, &bucket[i].number));
		OK(soul_create(b.s, &soul, STR("0")));
		OK(terminal_fixture_put_online(
		    b.s, &b.w, soul.user_id, true, NULL));
		OK(terminal_fixture_bind(
		    b.s, soul.user_id, soul.user_id, soul.id));
	}
	now = state_fixture_now(&b);
	OK(soul_tick_claim(b.s, &t, b.a, &list, &n));
	ck_assert_uint_eq(n, 0);
	for (i = 0; i < NELEM(bucket); i++) {
		int64_t due_in = bucket[i].in_ms + now;
		int64_t offset = 5000 * bucket[i].number / STATE_BUCKETS;

		/* The call took some time. */
		ck_assert_int_le((offset + 5000 - due_in % 5000) % 5000, 1000);
	}
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
	DO(&b, STR("ZADD"), STR(TICKS), STR("1"), STR("no colon"));
	due_at(&b, "gone", 2);
	due_at(&b, "bad1", 3);
	due_at(&b, "bad2", 4);
	DO(&b, STR("SET"), terminal_fixture_key(KEY_BODIES, "u", "bad1"),
	    STR("x"));
	DO(&b, STR("HSET"), terminal_fixture_key(KEY_BODIES, "u", "bad2"),
	    STR("bad2"), STR("x"));
	claim(&b, &list, &n);
	ck_assert_uint_eq(n, 1);
	ck_text(list[0].soul_id, "good");
	ck_assert_int_eq(INT_OF(&b, STR("ZCARD"), STR(TICKS)), 1);
	state_fixture_stop(&b);
}

TEST(a_claim_is_limited)
{
	struct claims c;
	struct soul_due *list;
	char token[16];
	struct state_fixture b;
	size_t i, n;

	state_fixture_start(&b);
	make(&b, "s");
	OK(terminal_fixture_put_online(b.s, &b.w, STR("s"), true, NULL));
	for (i = 0; i < SOUL_TICK_CLAIM_MAX; i++) {
		snprintf(token, sizeof(token), "gone%zu", i);
		due_at(&b, token, 1);
	}
	due_at(&b, "s", 2);
	OK(soul_tick_claim(b.s, every(&c, 3000), b.a, &list, &n));
	ck_assert_uint_eq(n, 0);
	ck_assert_int_eq(c.bucket.in_ms, 0);
	OK(soul_tick_claim(b.s, every(&c, 3000), b.a, &list, &n));
	ck_assert_uint_eq(n, 1);
	ck_assert_int_gt(c.bucket.in_ms, 0);
	c.t.n_buckets = SOUL_TICK_BUCKETS_MAX + 1;
	IS(RC_INVALID, soul_tick_claim(b.s, &c.t, b.a, &list, &n));
	IS(RC_INVALID, soul_tick_claim(b.s, every(&c, 0), b.a, &list, &n));
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
	struct claims c;
	struct arena *a = arena_new(1 << 20);
	struct soul_due *list;
	size_t i, n;

	(void)who;
	do {
		OK(soul_tick_claim(r->s, every(&c, 600000), a, &list, &n));
		for (i = 0; i < n; i++)
			DO(r, STR("RPUSH"), STATE_FIXTURE_CLAIMED,
			    list[i].soul_id);
		arena_reset(a);
	} while (c.bucket.in_ms == 0);
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
