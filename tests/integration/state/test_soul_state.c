/* Souls: emotional states under compare-and-set. */
#include "state/keys.h"
#include "state/soul.h"
#include "testkit/state_fixture.h"
#include "testkit/terminal_fixture.h"

#define BATCH 256

static void
make(struct state *s, const char *id)
{
	struct soul soul = { .id = str_of(id),
		.user_id = STR("u"),
		.name = str_of(id),
		.mbti_type = STR("INFJ"),
		.model = STR("m") };

	OK(soul_create(s, &soul, STR("0")));
}

TEST(the_older_version_loses)
{
	struct soul_state mine = { .user_id = STR("u"), .soul_id = STR("s") },
			  other;
	struct state_fixture b;
	bool won;

	state_fixture_start(&b);
	make(b.s, "s");
	OK(soul_state_get(b.s, &mine, 1, b.a));
	other = mine;
	mine.bytes = STR("mine");
	other.bytes = STR("other");
	OK(soul_state_cas(b.s, &other, 1, &won));
	ck_assert(won);
	OK(soul_state_cas(b.s, &mine, 1, &won));
	ck_assert(!won);
	OK(soul_state_get(b.s, &mine, 1, b.a));
	ck_assert_int_eq(mine.version, 2);
	ck_text(mine.bytes, "other");
	state_fixture_stop(&b);
}

TEST(a_batch_has_a_result_for_each)
{
	static struct soul_state st[BATCH];
	static char id[BATCH][16], bytes[BATCH][120];
	bool won[BATCH];
	struct state_fixture b;
	size_t i;

	state_fixture_start(&b);
	for (i = 0; i < BATCH; i++) {
		snprintf(id[i], sizeof(id[i]), "s%zu", i);
		st[i].user_id = STR("u");
		st[i].soul_id = str_of(id[i]);
		if (i % 8 != 3)
			make(b.s, id[i]);
	}
	OK(soul_state_get(b.s, st, BATCH, b.a));
	for (i = 0; i < BATCH; i++) {
		ck_assert_int_eq(st[i].version, i % 8 != 3);
		memset(bytes[i], (int)i, sizeof(bytes[i]));
		st[i].bytes = (struct str){ bytes[i], sizeof(bytes[i]) };
		if (i % 8 == 5)
			st[i].version = 17; /* changed meanwhile */
		if (i % 8 == 3)
			st[i].version = 1; /* deleted meanwhile */
	}
	OK(soul_state_cas(b.s, st, BATCH, won));
	for (i = 0; i < BATCH; i++)
		ck_assert_int_eq(won[i], i % 8 != 3 && i % 8 != 5);
	OK(soul_state_get(b.s, st, BATCH, b.a));
	for (i = 0; i < BATCH; i++) {
		ck_assert_int_eq(st[i].version,
		    i % 8 == 3       ? 0
			: i % 8 == 5 ? 1
				     : 2);
		if (st[i].version == 2)
			ck_assert_mem_eq(
			    st[i].bytes.p, bytes[i], sizeof(bytes[i]));
	}
	OK(soul_state_get(b.s, NULL, 0, b.a));
	OK(soul_state_cas(b.s, NULL, 0, NULL));
	state_fixture_stop(&b);
}

#define MANY (STATE_PIPE_MAX + 100)

TEST(more_states_than_a_pipeline_holds)
{
	static struct soul_state st[MANY];
	static bool won[MANY];
	struct state_fixture b;
	size_t i;

	state_fixture_start(&b);
	make(b.s, "s");
	for (i = 0; i < MANY; i++) {
		st[i].user_id = STR("u");
		st[i].soul_id = STR("s");
	}
	OK(soul_state_get(b.s, st, MANY, b.a));
	for (i = 0; i < MANY; i++) {
		ck_assert_int_eq(st[i].version, 1);
		st[i].version = (int64_t)i + 1;
	}
	OK(soul_state_cas(b.s, st, MANY, won));
	for (i = 0; i < MANY; i++)
		ck_assert(won[i]);
	OK(soul_state_get(b.s, st, 1, b.a));
	ck_assert_int_eq(st[0].version, MANY + 1);
	state_fixture_stop(&b);
}

static void
put_raw(struct state_fixture *b, struct str bytes)
{
	DO(b, STR("SET"), terminal_fixture_key(KEY_SOUL_STATE, "u", "bad"),
	    bytes);
}

TEST(an_unreadable_state_does_not_hide_others)
{
	static const struct str garbage[] = { STR_INIT(""),
		STR_INIT("garbage that is long enough"), STR_INIT("1short"),
		STR_INIT("2\0\0\0\0\0\0\0\1x"), /* another format */
		STR_INIT("1\0\0\0\0\0\0\0\0x"),
		STR_INIT("1\377\377\377\377\377\377\377\377x") };
	struct soul_state st[3];
	struct state_fixture b;
	bool won[3];
	size_t i;

	state_fixture_start(&b);
	make(b.s, "a");
	make(b.s, "bad");
	make(b.s, "c");
	for (i = 0; i <= NELEM(garbage); i++) {
		if (i < NELEM(garbage)) {
			put_raw(&b, garbage[i]);
		} else {
			DO(&b, STR("DEL"),
			    terminal_fixture_key(KEY_SOUL_STATE, "u", "bad"));
			DO(&b, STR("LPUSH"),
			    terminal_fixture_key(KEY_SOUL_STATE, "u", "bad"),
			    STR("x"));
		}
		st[0].user_id = st[1].user_id = st[2].user_id = STR("u");
		st[0].soul_id = STR("a");
		st[1].soul_id = STR("bad");
		st[2].soul_id = STR("c");
		OK(soul_state_get(b.s, st, 3, b.a));
		ck_assert_int_eq(st[0].version, (int64_t)i + 1);
		ck_assert_int_eq(st[1].version, 0);
		ck_assert_int_eq(st[2].version, (int64_t)i + 1);
		st[1].version = 1;
		OK(soul_state_cas(b.s, st, 3, won));
		ck_assert(won[0] && !won[1] && won[2]);
	}
	state_fixture_stop(&b);
}

TEST(limits_are_enforced)
{
	static char text[SOUL_STATE_MAX + 1];
	struct soul_state st = {
		.user_id = STR("u"), .soul_id = STR("s"), .version = 1
	};
	struct arena *small = arena_new(0);
	struct state_fixture b;
	bool won;

	state_fixture_start(&b);
	make(b.s, "s");
	st.bytes = (struct str){ text, sizeof(text) };
	IS(RC_TOOBIG, soul_state_cas(b.s, &st, 1, &won));
	st.bytes.n--;
	OK(soul_state_cas(b.s, &st, 1, &won));
	ck_assert(won);
	st.version = 0;
	IS(RC_INVALID, soul_state_cas(b.s, &st, 1, &won));
	IS(RC_TOOBIG, soul_state_get(b.s, &st, 1, small));
	st.soul_id = STR("");
	IS(RC_INVALID, soul_state_get(b.s, &st, 1, b.a));
	st.version = 1;
	IS(RC_INVALID, soul_state_cas(b.s, &st, 1, &won));
	arena_free(small);
	state_fixture_stop(&b);
}

#define SOULS  16
#define ROUNDS 400

/* Increment all states until this process has incremented each ROUNDS times. */
static void
count_up(struct state_fixture *r, int who)
{
	struct arena *a = arena_new(1 << 20);
	char id[SOULS][8], bytes[SOULS][24];
	struct soul_state st[SOULS];
	int wins[SOULS] = { 0 }, left = SOULS * ROUNDS;
	bool won[SOULS];
	int64_t v;
	size_t i;

	for (i = 0; i < SOULS; i++) {
		snprintf(id[i], sizeof(id[i]), "s%zu", i);
		st[i].user_id = STR("u");
		st[i].soul_id = str_of(id[i]);
	}
	(void)who;
	while (left > 0) {
		arena_reset(a);
		OK(soul_state_get(r->s, st, SOULS, a));
		for (i = 0; i < SOULS; i++) {
			OK(str_to_i64(st[i].bytes, 0, INT32_MAX, &v));
			if (wins[i] < ROUNDS)
				v++;
			snprintf(bytes[i], sizeof(bytes[i]), "%d", (int)v);
			st[i].bytes = str_of(bytes[i]);
		}
		OK(soul_state_cas(r->s, st, SOULS, won));
		for (i = 0; i < SOULS; i++)
			if (won[i] && wins[i] < ROUNDS) {
				wins[i]++;
				left--;
			}
	}
	arena_free(a);
}

static void
make_souls(struct state_fixture *r, int who)
{
	char id[16];
	int i;

	(void)who;
	for (i = 0; i < SOULS; i++) {
		snprintf(id, sizeof(id), "s%d", i);
		make(r->s, id);
	}
}

TEST(no_update_is_lost)
{
	struct arena *a = arena_new(1 << 20);
	struct soul_state st;
	struct tk_server redis;
	char id[16], want[24];
	struct state_fixture r;
	int i;

	tk_server_start(&redis, TK_REDIS);
	state_fixture_run_peers(redis.url, 1, make_souls);
	state_fixture_run_peers(redis.url, 4, count_up);
	state_fixture_join(&r, &redis);
	snprintf(want, sizeof(want), "%d", 4 * ROUNDS);
	for (i = 0; i < SOULS; i++) {
		snprintf(id, sizeof(id), "s%d", i);
		st.user_id = STR("u");
		st.soul_id = str_of(id);
		OK(soul_state_get(r.s, &st, 1, a));
		ck_text(st.bytes, want);
		ck_assert_int_ge(st.version, 4 * ROUNDS + 1);
	}
	arena_free(a);
	state_fixture_stop(&r);
}

/* A change has a log entry if and only if it is stored. */
TEST(a_log_goes_with_the_changes)
{
	struct soul_log_page page = {
		.user_id = STR("u"), .soul_id = STR("s"), .max = SOUL_LOG_MAX
	};
	struct soul_state st[2];
	struct soul_log_entry *list;
	struct state_fixture b;
	bool won[2];
	size_t n;

	state_fixture_start(&b);
	make(b.s, "s");
	OK(soul_log_read(b.s, &page, b.a, &list, &n));
	ck_assert_uint_eq(n, 0);
	st[0] = (struct soul_state){ .user_id = STR("u"),
		.soul_id = STR("s"),
		.version = 1,
		.bytes = STR("x"),
		.log = STR("first\0second") };
	st[1] = st[0];
	st[1].log = STR("loser");
	OK(soul_state_cas(b.s, st, 2, won));
	ck_assert(won[0] && !won[1]);
	st[0].version = 2;
	st[0].log = (struct str){ NULL, 0 };
	OK(soul_state_cas(b.s, st, 1, won));
	ck_assert(won[0]);
	OK(soul_log_read(b.s, &page, b.a, &list, &n));
	ck_assert_uint_eq(n, 1);
	ck_assert(str_eq(list[0].bytes, STR("first\0second")));
	ck_assert_int_le(llabs(list[0].at.ms - clock_wall().ms), 60000);
	page.since = list[0].at;
	OK(soul_log_read(b.s, &page, b.a, &list, &n));
	ck_assert_uint_eq(n, 0);
	OK(soul_delete(b.s, STR("u"), STR("s"), NULL));
	ck_assert_int_eq(INT_OF(&b, STR("EXISTS"),
			     terminal_fixture_key(KEY_SOUL_LOG, "u", "s")),
	    0);
	state_fixture_stop(&b);
}

TEST(a_log_of_single_changes_is_bounded)
{
	const struct str log = terminal_fixture_key(KEY_SOUL_LOG, "u", "s");
	struct soul_log_page page = {
		.user_id = STR("u"), .soul_id = STR("s"), .max = SOUL_LOG_MAX
	};
	struct soul_log_entry *list;
	struct state_fixture b;
	int64_t length;
	bool won;
	size_t n;

	state_fixture_start(&b);
	make(b.s, "s");
	/* It is not shown, even before it is removed. */
	DO(&b, STR("XADD"), log, STR("1-1"), STR("e"), STR("old"));
	for (int64_t i = 1; i < SOUL_LOG_MAX + 20; i++) {
		struct soul_state st = { .user_id = STR("u"),
			.soul_id = STR("s"),
			.version = i,
			.bytes = STR("x"),
			.log = STR("e") };

		OK(soul_state_swap(b.s, &st, b.a, &won));
		ck_assert(won);
		length = INT_OF(&b, STR("XLEN"), log);
		ck_assert_int_le(length, i < 16 ? i + 1 : i);
		ck_assert_int_le(length, SOUL_LOG_MAX + 1);
		OK(soul_log_read(b.s, &page, b.a, &list, &n));
		ck_assert_int_eq(
		    (int64_t)n, i < SOUL_LOG_MAX ? i : SOUL_LOG_MAX);
	}
	ck_assert_int_gt(INT_OF(&b, STR("PTTL"), log), 0);
	state_fixture_stop(&b);
}

TEST(a_log_is_bounded)
{
	char text[SOUL_LOG_MAX + 20][8];
	struct soul_log_page page = {
		.user_id = STR("u"), .soul_id = STR("s"), .max = SOUL_LOG_MAX
	};
	struct soul_state st = { .user_id = STR("u"), .soul_id = STR("s") };
	struct soul_log_entry *list;
	struct state_fixture b;
	bool won;
	size_t i, n;

	state_fixture_start(&b);
	make(b.s, "s");
	/* Older than the log's limit. */
	DO(&b, STR("XADD"), terminal_fixture_key(KEY_SOUL_LOG, "u", "s"),
	    STR("1-1"), STR("e"), STR("old"));
	for (i = 0; i < NELEM(text); i++) {
		snprintf(text[i], sizeof(text[i]), "%zu", i);
		st.version = (int64_t)i + 1;
		st.log = str_of(text[i]);
		OK(soul_state_cas(b.s, &st, 1, &won));
		ck_assert(won);
		ck_assert_int_eq(
		    INT_OF(&b, STR("XLEN"),
			terminal_fixture_key(KEY_SOUL_LOG, "u", "s")),
		    (int64_t)(i < SOUL_LOG_MAX ? i + 1 : SOUL_LOG_MAX));
	}
	OK(soul_log_read(b.s, &page, b.a, &list, &n));
	ck_assert_uint_eq(n, SOUL_LOG_MAX);
	ck_text(list[0].bytes, "20");
	ck_text(list[n - 1].bytes, text[NELEM(text) - 1]);
	page.max = 2;
	OK(soul_log_read(b.s, &page, b.a, &list, &n));
	ck_assert_uint_eq(n, 2);
	ck_text(list[1].bytes, text[NELEM(text) - 1]);
	ck_assert_int_gt(INT_OF(&b, STR("PTTL"),
			     terminal_fixture_key(KEY_SOUL_LOG, "u", "s")),
	    SOUL_LOG_MS - 60000);
	page.max = SOUL_LOG_MAX + 1;
	IS(RC_INVALID, soul_log_read(b.s, &page, b.a, &list, &n));
	DO(&b, STR("SET"), terminal_fixture_key(KEY_SOUL_LOG, "u", "s"),
	    STR("x"));
	page.max = 1;
	IS(RC_INVALID, soul_log_read(b.s, &page, b.a, &list, &n));
	state_fixture_stop(&b);
}
