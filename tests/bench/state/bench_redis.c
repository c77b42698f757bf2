/*
 * Times of commands and pipelines through state.h, next to bare hiredis against
 * the same Redis in the same run.
 */
#include <hiredis/hiredis.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/mem.h"
#include "testkit/figures.h"
#include "testkit/state.h"
#include "testkit/testkit.h"

#define ROUNDS  31
#define SINGLES 1000 /* commands of a round, one by one */
#define PIPES   20   /* pipelines of a round */
#define BATCH   256

static const struct state_script script = {
	.text =
	    "if redis.call('GETRANGE',KEYS[1],0,7)==ARGV[1] then return 1 end "
	    "return 0",
	.sha = "913f1a6bb32b24aefe0ccbd7e5b1b32185557cf1",
};

struct both {
	struct state *s;
	struct state_pipe *pipe;
	redisContext *bare;
	char sha[41];
};

static void
ours_single(struct both *b)
{
	struct state_reply *r;

	for (int i = 0; i < SINGLES; i++) {
		ck_assert_int_eq(
		    state_cmd(b->s, STATE_ARGS(STR("GET"), STR("key")), &r),
		    RC_OK);
		ck_assert_uint_eq(state_reply_str(r).n, 100);
		state_reply_free(r);
	}
}

static void
bare_append(struct both *b, const char **argv, const size_t *len, int n)
{
	ck_assert_int_eq(
	    redisAppendCommandArgv(b->bare, n, argv, len), REDIS_OK);
}

static void
bare_take(struct both *b, int type)
{
	void *reply;

	ck_assert_int_eq(redisGetReply(b->bare, &reply), REDIS_OK);
	ck_assert_int_eq(((redisReply *)reply)->type, type);
	freeReplyObject(reply);
}

static void
bare_single(struct both *b)
{
	const char *argv[] = { "GET", "key" };
	const size_t len[] = { 3, 3 };

	for (int i = 0; i < SINGLES; i++) {
		bare_append(b, argv, len, 2);
		bare_take(b, REDIS_REPLY_STRING);
	}
}

static void
ours_run(struct both *b, enum state_kind kind)
{
	const struct state_reply *r;

	ck_assert_int_eq(state_pipe_run(b->pipe), RC_OK);
	for (size_t i = 0; i < BATCH; i++) {
		ck_assert_int_eq(state_pipe_reply(b->pipe, i, &r), RC_OK);
		ck_assert_int_eq(state_reply_kind(r), kind);
	}
}

static void
ours_pipe(struct both *b)
{
	for (int i = 0; i < PIPES; i++) {
		for (int k = 0; k < BATCH; k++)
			ck_assert_int_eq(
			    state_pipe_cmd(
				b->pipe, STATE_ARGS(STR("GET"), STR("key"))),
			    RC_OK);
		ours_run(b, STATE_STR);
	}
}

static void
bare_pipe(struct both *b)
{
	const char *argv[] = { "GET", "key" };
	const size_t len[] = { 3, 3 };

	for (int i = 0; i < PIPES; i++) {
		for (int k = 0; k < BATCH; k++)
			bare_append(b, argv, len, 2);
		for (int k = 0; k < BATCH; k++)
			bare_take(b, REDIS_REPLY_STRING);
	}
}

static void
ours_script(struct both *b)
{
	struct str key = STR("key"), arg = STR("vvvvvvvv");
	struct state_call c = { &script, &key, 1, &arg, 1 };

	for (int i = 0; i < PIPES; i++) {
		for (int k = 0; k < BATCH; k++)
			ck_assert_int_eq(state_pipe_eval(b->pipe, &c), RC_OK);
		ours_run(b, STATE_INT);
	}
}

static void
bare_script(struct both *b)
{
	const char *argv[] = { "EVALSHA", b->sha, "1", "key", "vvvvvvvv" };
	const size_t len[] = { 7, 40, 1, 3, 8 };

	for (int i = 0; i < PIPES; i++) {
		for (int k = 0; k < BATCH; k++)
			bare_append(b, argv, len, 5);
		for (int k = 0; k < BATCH; k++)
			bare_take(b, REDIS_REPLY_INTEGER);
	}
}

static void
timed(struct both *b, void (*fn)(struct both *), int n, struct tk_cost *c)
{
	tk_cost_begin(c);
	fn(b);
	tk_cost_end(c, n);
}

static void
compare(struct both *b, const char *name, void (*ours)(struct both *),
    void (*bare)(struct both *), int n)
{
	struct tk_cost o = { 0 }, h = { 0 };

	/* The first call loads the script. */
	ours(b);
	bare(b);
	for (int i = 0; i < ROUNDS; i++) {
		timed(b, ours, n, &o);
		timed(b, bare, n, &h);
	}
	tk_cost_compare(name, &o, &h);
}

static void
prepare(struct both *b, int port)
{
	char v[101];
	redisReply *r;

	b->bare = redisConnect("127.0.0.1", port);
	memset(v, 'v', 100);
	v[100] = '\0';
	r = redisCommand(b->bare, "SET key %s", v);
	freeReplyObject(r);
	r = redisCommand(b->bare, "SCRIPT LOAD %s", script.text);
	ck_assert_uint_eq(r->len, 40);
	memcpy(b->sha, r->str, 41);
	freeReplyObject(r);
}

TEST_T(commands_compared_with_hiredis, 120)
{
	struct tk_server redis;
	struct tk_state db;
	struct both b = { 0 };

	tk_server_start(&redis, TK_REDIS);
	tk_state_open(&db, redis.url);
	b.s = db.s;
	b.pipe = state_pipe_new(b.s, BATCH);
	prepare(&b, redis.port);
	tk_cost_head("us per command", "state", "hiredis");
	compare(&b, "GET", ours_single, bare_single, SINGLES);
	compare(
	    &b, "GET, pipeline of 256", ours_pipe, bare_pipe, PIPES * BATCH);
	compare(
	    &b, "EVALSHA, likewise", ours_script, bare_script, PIPES * BATCH);
	redisFree(b.bare);
	state_pipe_free(b.pipe);
	tk_state_close(&db);
}
