/* Pipelines and scripts against a real Redis. */
#include "state/scripts.h"
#include "testkit/state_fixture.h"

/* Connections do not load it, so that the server lacks it at first. */
static const struct state_script counter = {
	.text = "return redis.call('INCRBY',KEYS[1],ARGV[1])",
	.sha = "fb8144401c089a1dbddf5fc7eb24a42b93c7cb92",
};

static void
queue(struct state_pipe *p, const struct str *args, size_t n)
{
	ck_assert_int_eq(state_pipe_cmd(p, args, n), RC_OK);
}

static void
queue_count(struct state_pipe *p, const char *key, const char *by)
{
	struct str k = str_of(key), a = str_of(by);
	struct state_call c = { &counter, &k, 1, &a, 1 };

	ck_assert_int_eq(state_pipe_eval(p, &c), RC_OK);
}

/* Check the result of command i of the last run; returns its reply. */
static const struct state_reply *
result(const struct state_pipe *p, size_t i, enum rc want)
{
	const struct state_reply *r;
	enum rc rc = state_pipe_reply(p, i, &r);

	ck_assert_msg(rc == want, "%zu: %s", i, rc_name(rc));
	return r;
}

TEST(an_error_does_not_stop_the_pipeline)
{
	struct state_pipe *p;
	struct state_fixture r;

	state_fixture_start(&r);
	p = state_pipe_new(r.s, 8);
	queue(p, STATE_ARGS(STR("SET"), STR("a"), STR("text")));
	queue(p, STATE_ARGS(STR("INCR"), STR("a")));
	queue(p, STATE_ARGS(STR("LPUSH"), STR("a"), STR("x")));
	queue(p, STATE_ARGS(STR("APPEND"), STR("a"), STR("!")));
	queue(p, STATE_ARGS(STR("GET"), STR("a")));
	ck_assert_int_eq(state_pipe_run(p), RC_OK);
	result(p, 0, RC_OK);
	ck_assert_int_eq(
	    state_reply_kind(result(p, 1, RC_INVALID)), STATE_ERROR);
	ck_assert(str_starts(
	    state_reply_str(result(p, 2, RC_INVALID)), STR("WRONGTYPE ")));
	ck_assert_int_eq(state_reply_int(result(p, 3, RC_OK)), 5);
	ck_assert_str_eq(state_reply_str(result(p, 4, RC_OK)).p, "text!");
	ck_assert_int_eq(state_pipe_reply(p, 5, NULL), RC_NOENT);

	/* The next command empties it. */
	queue(p, STATE_ARGS(STR("STRLEN"), STR("a")));
	ck_assert_int_eq(state_pipe_reply(p, 0, NULL), RC_NOENT);
	ck_assert_int_eq(state_pipe_run(p), RC_OK);
	ck_assert_int_eq(state_reply_int(result(p, 0, RC_OK)), 5);
	/* Nothing queued. */
	ck_assert_int_eq(state_pipe_run(p), RC_OK);
	state_pipe_free(p);
	state_fixture_stop(&r);
}

TEST(limits_are_enforced)
{
	size_t half = STATE_SEND_MAX / 2;
	char *bytes = mem_zalloc(half);
	struct str v = { bytes, half };
	struct state_pipe *p;
	struct state_fixture r;

	state_fixture_start(&r);
	p = state_pipe_new(r.s, 3);
	queue(p, STATE_ARGS(STR("PING")));
	queue(p, STATE_ARGS(STR("STRLEN"), v));
	/* Too many bytes: rejected, and what is queued stays. */
	ck_assert_int_eq(
	    state_pipe_cmd(p, STATE_ARGS(STR("STRLEN"), v)), RC_TOOBIG);
	ck_assert_int_eq(state_pipe_cmd(p, NULL, 0), RC_INVALID);
	queue(p, STATE_ARGS(STR("PING"), STR("last")));
	ck_assert_int_eq(state_pipe_cmd(p, STATE_ARGS(STR("PING"))), RC_RETRY);
	ck_assert_int_eq(state_pipe_run(p), RC_OK);
	ck_assert_str_eq(state_reply_str(result(p, 0, RC_OK)).p, "PONG");
	ck_assert_int_eq(state_reply_int(result(p, 1, RC_OK)), 0);
	ck_assert_str_eq(state_reply_str(result(p, 2, RC_OK)).p, "last");
	state_pipe_free(p);
	free(bytes);

	p = state_pipe_new(r.s, SIZE_MAX);
	for (int i = 0; i < STATE_PIPE_MAX; i++)
		queue(p, STATE_ARGS(STR("INCR"), STR("n")));
	ck_assert_int_eq(state_pipe_cmd(p, STATE_ARGS(STR("PING"))), RC_RETRY);
	ck_assert_int_eq(state_pipe_run(p), RC_OK);
	ck_assert_int_eq(state_reply_int(result(p, STATE_PIPE_MAX - 1, RC_OK)),
	    STATE_PIPE_MAX);
	state_pipe_free(p);
	state_fixture_stop(&r);
}

/* Both sides' sockets fill up: it must read while it writes. */
TEST(a_pipeline_may_exceed_the_sockets_buffers)
{
	char *bytes = mem_alloc(100000);
	struct str v = { bytes, 100000 };
	struct state_pipe *p;
	struct state_fixture r;

	memset(bytes, 'b', v.n);
	state_fixture_start(&r);
	p = state_pipe_new(r.s, 400);
	for (int i = 0; i < 400; i++)
		queue(p, STATE_ARGS(STR("ECHO"), v));
	ck_assert_int_eq(state_pipe_run(p), RC_OK);
	for (size_t i = 0; i < 400; i++)
		ck_assert(str_eq(state_reply_str(result(p, i, RC_OK)), v));
	state_pipe_free(p);
	free(bytes);
	state_fixture_stop(&r);
}

TEST(commands_while_down_are_not_executed_later)
{
	struct state_pipe *p;
	struct state_fixture r;

	state_fixture_start(&r);
	p = state_pipe_new(r.s, 4);
	tk_server_stop(&r.redis, SIGKILL);
	queue(p, STATE_ARGS(STR("INCR"), STR("n")));
	queue_count(p, "n", "1");
	ck_assert_int_eq(state_pipe_run(p), RC_DOWN);
	ck_assert_ptr_null(result(p, 0, RC_DOWN));
	ck_assert_ptr_null(result(p, 1, RC_DOWN));
	tk_server_restart(&r.redis);
	state_fixture_wait_up(&r);
	/* It is not executed later. */
	queue_count(p, "n", "7");
	ck_assert_int_eq(state_pipe_run(p), RC_OK);
	ck_assert_int_eq(state_reply_int(result(p, 0, RC_OK)), 7);
	state_pipe_free(p);
	state_fixture_stop(&r);
}

/* Half of a pipeline has its replies when the server hangs. */
TEST(commands_without_a_reply_are_unknown)
{
	struct state_pipe *p;
	struct state_fixture r;

	state_fixture_init(&r);
	tk_server_start(&r.redis, TK_REDIS);
	state_fixture_connect(&r, r.redis.url, 1500);
	state_fixture_wait_up(&r);
	p = state_pipe_new(r.s, 3);
	queue(p, STATE_ARGS(STR("INCR"), STR("n")));
	queue(p, STATE_ARGS(STR("INCR"), STR("n")));
	queue(p, STATE_ARGS(STR("BLPOP"), STR("none"), STR("0")));
	ck_assert_int_eq(state_pipe_run(p), RC_TIMEOUT);
	ck_assert_int_eq(state_reply_int(result(p, 1, RC_OK)), 2);
	ck_assert_ptr_null(result(p, 2, RC_TIMEOUT));
	ck_assert(!state_up(r.s));
	state_fixture_wait_up(&r);
	ck_assert_int_eq(state_fixture_ping(&r), RC_OK);
	ck_assert_int_eq(state_fixture_metric(&r, "state_failures_total"), 1);
	state_pipe_free(p);
	state_fixture_stop(&r);
}

/* ---- scripts ---- */

static int64_t
count(struct state_fixture *r, const char *key, int64_t by)
{
	char num[STR_NUM_MAX];
	struct str k = str_of(key), a = str_num(by, num);
	struct state_call c = { &counter, &k, 1, &a, 1 };
	struct state_reply *reply;
	int64_t n;

	ck_assert_int_eq(state_eval(r->s, &c, &reply), RC_OK);
	n = state_reply_int(reply);
	state_reply_free(reply);
	return n;
}

/*
 * How often the server has loaded a script besides those that each of n
 * connections has loaded at its start, by its own statistics.
 */
static int
loads(struct state_fixture *r, int connections)
{
	struct state_reply *reply;
	struct str s;
	ptrdiff_t at;
	int n = 0;

	ck_assert_int_eq(
	    state_cmd(
		r->s, STATE_ARGS(STR("INFO"), STR("commandstats")), &reply),
	    RC_OK);
	s = state_reply_str(reply);
	at = str_find(s, STR("cmdstat_script|load:calls="));
	if (at >= 0)
		n = (int)strtol(s.p + at + 26, NULL, 10);
	state_reply_free(reply);
	return n - connections * STATE_SCRIPTS;
}

TEST(a_script_is_sent_a_single_time)
{
	struct state_fixture r;

	state_fixture_start(&r);
	for (int i = 1; i <= 50; i++)
		ck_assert_int_eq(count(&r, "n", 2), 2 * i);
	ck_assert_int_eq(loads(&r, 1), 1);
	state_fixture_stop(&r);
}

TEST(flushed_scripts_are_loaded_anew)
{
	struct state_pipe *p;
	struct state_fixture r;

	state_fixture_start(&r);
	ck_assert_int_eq(count(&r, "n", 1), 1);
	state_fixture_expect(&r, "OK", STATE_ARGS(STR("SCRIPT"), STR("FLUSH")));
	ck_assert_int_eq(count(&r, "n", 1), 2);
	ck_assert_int_eq(loads(&r, 1), 2);

	tk_server_stop(&r.redis, SIGKILL);
	tk_server_restart(&r.redis);
	state_fixture_wait_down(&r);
	state_fixture_wait_up(&r);
	ck_assert_int_eq(count(&r, "n", 1), 3);

	/* In a pipeline, where it is executed after the others. */
	state_fixture_expect(&r, "OK", STATE_ARGS(STR("SCRIPT"), STR("FLUSH")));
	p = state_pipe_new(r.s, 8);
	queue(p, STATE_ARGS(STR("SET"), STR("m"), STR("10")));
	queue_count(p, "m", "5");
	queue(p, STATE_ARGS(STR("GET"), STR("m")));
	queue_count(p, "m", "100");
	queue(p, STATE_ARGS(STR("INCR"), STR("m")));
	ck_assert_int_eq(state_pipe_run(p), RC_OK);
	ck_assert_str_eq(state_reply_str(result(p, 2, RC_OK)).p, "10");
	ck_assert_int_eq(state_reply_int(result(p, 4, RC_OK)), 11);
	ck_assert_int_eq(state_reply_int(result(p, 1, RC_OK)), 16);
	ck_assert_int_eq(state_reply_int(result(p, 3, RC_OK)), 116);
	ck_assert_int_eq(loads(&r, 1), 2);

	/* Loaded: in order. */
	queue(p, STATE_ARGS(STR("SET"), STR("m"), STR("10")));
	queue_count(p, "m", "5");
	queue(p, STATE_ARGS(STR("GET"), STR("m")));
	ck_assert_int_eq(state_pipe_run(p), RC_OK);
	ck_assert_int_eq(state_reply_int(result(p, 1, RC_OK)), 15);
	ck_assert_str_eq(state_reply_str(result(p, 2, RC_OK)).p, "15");
	state_pipe_free(p);
	state_fixture_stop(&r);
}

TEST(a_whole_pipeline_of_lost_scripts)
{
	static const struct state_script twice = {
		.text = "return redis.call('GET',KEYS[1])*2",
		.sha = "d391e0d094cd1ecd1cccf6465723248a09286957",
	};
	struct str k = STR("n");
	struct state_call c = { &twice, &k, 1, NULL, 0 };
	struct state_pipe *p;
	struct state_fixture r;

	state_fixture_start(&r);
	p = state_pipe_new(r.s, 300);
	for (int i = 0; i < 100; i++) {
		queue_count(p, "n", "1");
		ck_assert_int_eq(state_pipe_eval(p, &c), RC_OK);
	}
	ck_assert_int_eq(state_pipe_run(p), RC_OK);
	for (size_t i = 0; i < 100; i++) {
		ck_assert_int_eq(
		    state_reply_int(result(p, 2 * i, RC_OK)), (int64_t)i + 1);
		ck_assert_int_eq(state_reply_int(result(p, 2 * i + 1, RC_OK)),
		    2 * ((int64_t)i + 1));
	}
	ck_assert_int_eq(loads(&r, 1), 2);
	state_pipe_free(p);
	state_fixture_stop(&r);
}

TEST(errors_of_scripts_are_results)
{
	static const struct state_script wrong = {
		.text = "this is not Lua",
		.sha = "263dcd35267ddd7b0025d16f632c0271f0a8f1f9",
	};
	static const struct state_script late = {
		.text = "redis.call('SET','wrote','1') return redis.call('NO')",
		.sha = "dd945bd5539d847e4f651a984fd6e3702021b4c2",
	};
	struct state_call c = { .script = &wrong };
	struct state_reply *reply;
	struct state_fixture r;

	state_fixture_start(&r);
	for (int i = 0; i < 3; i++) {
		ck_assert_int_eq(state_eval(r.s, &c, &reply), RC_INVALID);
		state_reply_free(reply);
	}
	c.script = &late;
	ck_assert_int_eq(state_eval(r.s, &c, NULL), RC_INVALID);
	state_fixture_expect(&r, "1", STATE_ARGS(STR("GET"), STR("wrote")));
	ck_assert(state_up(r.s));
	state_fixture_stop(&r);
}
