/*
 * Times of the records' pipelines: 256 emotion states read and compared and
 * set, next to bare hiredis reading and writing strings of the same size; a
 * thousand heartbeats; ticks; and the calls of a turn, one by one.
 */
#include <hiredis/hiredis.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/mem.h"
#include "state/keys.h"
#include "state/soul.h"
#include "state/terminal.h"
#include "state/turn.h"
#include "testkit/figures.h"
#include "testkit/state.h"
#include "testkit/state_fixture.h"
#include "testkit/terminal_fixture.h"
#include "testkit/testkit.h"

#define ROUNDS     31
#define PIPES      10 /* pipelines of a round */
#define BATCH      256
#define HEARTBEATS 1000
#define TURNS      100
#define BYTES      120 /* of an emotion state */
#define TTL        60000

struct bench {
	struct state *s;
	redisContext *bare;
	struct arena *a;
	char soul[BATCH][40], key[BATCH][64], terminal[HEARTBEATS][40];
	struct str ids[HEARTBEATS];
	struct soul_state st[BATCH];
	char bytes[BYTES];
	char blob[BYTES + 9]; /* as stored in Redis */
	int64_t turn;
};

static const struct terminal_writer writer = { STR_INIT("main"), 1, TTL,
	false };

static void
ours_get(struct bench *b)
{
	for (int i = 0; i < PIPES; i++) {
		arena_reset(b->a);
		ck_assert_int_eq(
		    soul_state_get(b->s, b->st, BATCH, b->a), RC_OK);
	}
}

static void
ours_cas(struct bench *b)
{
	bool won[BATCH];

	for (int i = 0; i < PIPES; i++) {
		ck_assert_int_eq(
		    soul_state_cas(b->s, b->st, BATCH, won), RC_OK);
		for (int k = 0; k < BATCH; k++) {
			ck_assert(won[k]);
			b->st[k].version++;
		}
	}
}

static void
bare(struct bench *b, int n, int type)
{
	const char *argv[] = { n == 2 ? "GET" : "SET", NULL, b->blob };
	size_t len[] = { 3, 0, sizeof(b->blob) };
	void *reply;

	for (int i = 0; i < PIPES; i++) {
		for (int k = 0; k < BATCH; k++) {
			argv[1] = b->key[k];
			len[1] = strlen(b->key[k]);
			ck_assert_int_eq(
			    redisAppendCommandArgv(b->bare, n, argv, len),
			    REDIS_OK);
		}
		for (int k = 0; k < BATCH; k++) {
			ck_assert_int_eq(
			    redisGetReply(b->bare, &reply), REDIS_OK);
			ck_assert_int_eq(((redisReply *)reply)->type, type);
			freeReplyObject(reply);
		}
	}
}

static void
bare_get(struct bench *b)
{
	bare(b, 2, REDIS_REPLY_STRING);
}

static void
bare_set(struct bench *b)
{
	bare(b, 3, REDIS_REPLY_STATUS);
}

static void
heartbeats(struct bench *b)
{
	static struct terminal_report v[HEARTBEATS];

	for (int i = 0; i < HEARTBEATS; i++)
		v[i] = (struct terminal_report){ .kind = TERMINAL_HEARTBEAT,
			.id = b->ids[i] };
	arena_reset(b->a);
	ck_assert_int_eq(
	    terminal_put_reports(b->s, &writer, v, HEARTBEATS, b->a), RC_OK);
}

/* All souls are due; the claim lists one present terminal of each. */
static void
claim(struct bench *b)
{
	struct soul_tick_bucket bucket[BATCH / SOUL_TICK_CLAIM_MAX];
	const struct soul_tick t = { .interval_ms = 600000,
		.bucket = bucket,
		.n_buckets = NELEM(bucket) };
	struct soul_due *list;
	size_t i, n;

	for (i = 0; i < NELEM(bucket); i++)
		ck_assert_int_eq(
		    state_bucket(STR("u"), &bucket[i].number), RC_OK);

	arena_reset(b->a);
	ck_assert_int_eq(soul_tick_claim(b->s, &t, b->a, &list, &n), RC_OK);
	ck_assert_uint_eq(n, BATCH);
}

static void
make_due(struct bench *b)
{
	struct str key = terminal_fixture_key(KEY_TICKS, "u", NULL);

	for (int k = 0; k < BATCH; k++)
		freeReplyObject(redisCommand(
		    b->bare, "ZADD %s %d u:%s", key.p, k + 1, b->soul[k]));
}

static void
turns(struct bench *b)
{
	struct turn_slot p = { { STR("u"), STR("s") }, STR("i"), { NULL, 0 } };
	struct str json = STR("{\"role\":\"user\",\"text\":\"hello\"}"), next;
	char id[32];
	int64_t ahead;

	for (int i = 0; i < TURNS; i++) {
		snprintf(id, sizeof(id), "turn_%lld", (long long)b->turn++);
		p.turn_id = str_of(id);
		ck_assert_int_eq(turn_fixture_enter(b->s, &p, &ahead), RC_OK);
		ck_assert_int_eq(ahead, 0);
		ck_assert_int_eq(
		    turn_fixture_append(b->s, &p, &json, 1), RC_OK);
		ck_assert_int_eq(turn_check_head(b->s, &p), RC_OK);
		ck_assert_int_eq(
		    turn_fixture_append(b->s, &p, &json, 1), RC_OK);
		ck_assert_int_eq(
		    turn_fixture_leave(b->s, &p, b->a, &next), RC_OK);
	}
}

static void
timed(struct bench *b, void (*fn)(struct bench *), int n, struct tk_cost *c)
{
	tk_cost_begin(c);
	fn(b);
	tk_cost_end(c, n);
}

static void
compare(struct bench *b, const char *name, void (*ours)(struct bench *),
    void (*peer)(struct bench *))
{
	struct tk_cost o = { 0 }, h = { 0 };

	for (int i = 0; i < ROUNDS; i++) {
		timed(b, ours, PIPES * BATCH, &o);
		timed(b, peer, PIPES * BATCH, &h);
	}
	tk_cost_compare(name, &o, &h);
}

static void
alone(struct bench *b, const char *name, void (*fn)(struct bench *), int n,
    void (*before)(struct bench *))
{
	struct tk_cost o = { 0 };

	for (int i = 0; i < ROUNDS; i++) {
		if (before != NULL)
			before(b);
		timed(b, fn, n, &o);
	}
	tk_cost_alone(name, &o);
}

static void
prepare(struct bench *b, int port)
{
	struct soul soul = {
		.user_id = STR("u"), .mbti_type = STR("INFJ"), .model = STR("m")
	};
	unsigned bucket;

	b->bare = redisConnect("127.0.0.1", port);
	memset(b->bytes, 'b', sizeof(b->bytes));
	memset(b->blob, 'b', sizeof(b->blob));
	for (int i = 0; i < HEARTBEATS; i++) {
		snprintf(
		    b->terminal[i], sizeof(b->terminal[i]), "terminal-%05d", i);
		b->ids[i] = str_of(b->terminal[i]);
	}
	for (int k = 0; k < BATCH; k++) {
		snprintf(b->soul[k], sizeof(b->soul[k]), "soul_%032d", k);
		snprintf(b->key[k], sizeof(b->key[k]), "bare:{%s}:state",
		    b->soul[k]);
		soul.id = soul.name = str_of(b->soul[k]);
		b->st[k] = (struct soul_state){ .user_id = soul.user_id,
			.soul_id = soul.id,
			.version = 1 };
		b->st[k].bytes = (struct str){ b->bytes, BYTES };
		ck_assert_int_eq(
		    soul_create(b->s, &soul, b->st[k].bytes), RC_OK);
		ck_assert_int_eq(terminal_fixture_put_online(
				     b->s, &writer, b->ids[k], true, NULL),
		    RC_OK);
		ck_assert_int_eq(
		    terminal_fixture_bind(b->s, b->ids[k], STR("u"), soul.id),
		    RC_OK);
	}
	ck_assert_int_eq(state_bucket(STR("u"), &bucket), RC_OK);
	ck_assert_int_eq(
	    turn_alive(b->s, STR("i"), &bucket, 1, INT64_C(3600000)), RC_OK);
}

TEST_T(pipelines_of_records, 120)
{
	static struct bench b;
	struct tk_server redis;
	struct tk_state db;

	tk_server_start(&redis, TK_REDIS);
	tk_state_open(&db, redis.url);
	b.s = db.s;
	b.a = db.arena;
	prepare(&b, redis.port);
	tk_cost_head(
	    "us per operation, appendfsync always", "state", "hiredis");
	compare(&b, "CAS of 256 states : SET", ours_cas, bare_set);
	compare(&b, "256 states : GET", ours_get, bare_get);
	alone(&b, "heartbeat, 1,000 at once", heartbeats, HEARTBEATS, NULL);
	alone(&b, "tick claimed, 256 at once", claim, BATCH, make_due);
	alone(&b, "turn of 5 scripts, singly", turns, TURNS, NULL);
	redisFree(b.bare);
	tk_state_close(&db);
}
