/* A client while Redis is killed, hung or rejects its credentials. */
#include "testkit/state_fixture.h"

#include "core/clock.h"

/* The deadline of these tests, and the overrun allowed on a busy machine. */
#define DEADLINE_MS 400
#define SLACK_MS    1500

static int64_t
timed_ping(struct state_fixture *r, enum rc want)
{
	struct mono t = clock_mono();

	ck_assert_int_eq(state_fixture_ping(r), want);
	return mono_diff_ms(clock_mono(), t);
}

TEST(server_comes_later)
{
	char url[64];
	struct state_fixture r;
	int port = tk_port();

	state_fixture_init(&r);
	snprintf(url, sizeof(url), "redis://127.0.0.1:%d", port);
	state_fixture_connect(&r, url, 0);
	ck_assert(!state_up(r.s));
	ck_assert_int_eq(state_fixture_ping(&r), RC_DOWN);
	r.redis.kind = TK_REDIS;
	r.redis.port = port;
	tk_server_restart(&r.redis);
	state_fixture_wait_up(&r);
	ck_assert_int_eq(state_fixture_ping(&r), RC_OK);
	state_fixture_stop(&r);
}

TEST(acknowledged_writes_survive_a_kill)
{
	char num[STR_NUM_MAX];
	struct state_fixture r;
	int round;

	state_fixture_start(&r);
	for (round = 1; round <= 3; round++) {
		for (int i = 0; i < 200; i++)
			ck_assert_int_eq(state_cmd(r.s,
					     STATE_ARGS(STR("RPUSH"),
						 STR("log"), str_num(i, num)),
					     NULL),
			    RC_OK);
		tk_server_stop(&r.redis, SIGKILL);
		ck_assert_int_eq(state_fixture_ping(&r), RC_DOWN);
		ck_assert(!state_up(r.s));
		tk_server_restart(&r.redis);
		state_fixture_wait_up(&r);
		struct state_reply *n;
		ck_assert_int_eq(
		    state_cmd(r.s, STATE_ARGS(STR("LLEN"), STR("log")), &n),
		    RC_OK);
		ck_assert_int_eq(state_reply_int(n), 200 * round);
		state_reply_free(n);
	}
	state_fixture_stop(&r);
}

/* Restarted between two calls without the loop running in between. */
TEST(a_restart_between_two_calls_is_a_certain_failure)
{
	struct state_fixture r;

	state_fixture_start(&r);
	tk_server_restart(&r.redis);
	/* Not sent on the dead connection, so it is certain that it was not
	 * executed. */
	ck_assert_int_eq(state_fixture_ping(&r), RC_DOWN);
	state_fixture_wait_up(&r);
	ck_assert_int_eq(state_fixture_ping(&r), RC_OK);
	state_fixture_stop(&r);
}

/* The loop notices without a call. */
TEST(the_loop_notices_a_closed_connection)
{
	struct state_fixture r;

	state_fixture_start(&r);
	tk_server_stop(&r.redis, SIGKILL);
	state_fixture_wait_down(&r);
	tk_server_restart(&r.redis);
	state_fixture_wait_up(&r);
	ck_assert_int_eq(state_fixture_ping(&r), RC_OK);
	ck_assert_int_eq(state_fixture_metric(&r, "state_connects_total"), 2);
	state_fixture_stop(&r);
}

TEST(a_hung_server_costs_one_deadline)
{
	int64_t first, later = 0;
	struct state_fixture r;
	int i;

	state_fixture_init(&r);
	tk_server_start(&r.redis, TK_REDIS);
	state_fixture_connect(&r, r.redis.url, DEADLINE_MS);
	state_fixture_wait_up(&r);
	ck_assert_int_eq(state_fixture_ping(&r), RC_OK);
	tk_signal(&r.redis.proc, SIGSTOP);

	first = timed_ping(&r, RC_TIMEOUT);
	ck_assert_int_ge(first, DEADLINE_MS);
	ck_assert_int_lt(first, DEADLINE_MS + SLACK_MS);
	for (i = 0; i < 100; i++)
		later += timed_ping(&r, RC_DOWN);
	ck_assert_int_lt(later, SLACK_MS);
	ck_assert(!state_up(r.s));

	tk_signal(&r.redis.proc, SIGCONT);
	state_fixture_wait_up(&r);
	ck_assert_int_eq(state_fixture_ping(&r), RC_OK);
	state_fixture_stop(&r);
}

/* RC_TIMEOUT means unknown: here the write is executed afterwards. */
TEST(a_call_that_timed_out_may_be_executed_later)
{
	struct state_fixture r;

	state_fixture_init(&r);
	tk_server_start(&r.redis, TK_REDIS);
	state_fixture_connect(&r, r.redis.url, DEADLINE_MS);
	state_fixture_wait_up(&r);
	tk_signal(&r.redis.proc, SIGSTOP);
	ck_assert_int_eq(
	    state_cmd(r.s, STATE_ARGS(STR("SET"), STR("sent"), STR("1")), NULL),
	    RC_TIMEOUT);
	ck_assert_int_eq(
	    state_cmd(r.s, STATE_ARGS(STR("SET"), STR("not"), STR("1")), NULL),
	    RC_DOWN);
	tk_signal(&r.redis.proc, SIGCONT);
	state_fixture_wait_up(&r);
	state_fixture_expect(&r, "1", STATE_ARGS(STR("GET"), STR("sent")));
	state_fixture_expect(&r, NULL, STATE_ARGS(STR("GET"), STR("not")));
	state_fixture_stop(&r);
}

/* While the server hangs, the worker cannot get a usable connection. */
TEST(a_hung_server_is_not_up)
{
	struct state_fixture r;

	state_fixture_init(&r);
	tk_server_start(&r.redis, TK_REDIS);
	tk_signal(&r.redis.proc, SIGSTOP);
	state_fixture_connect(&r, r.redis.url, DEADLINE_MS);
	ck_assert(!tk_loop_until(r.loop, state_fixture_is_up, r.s, 1500));
	tk_signal(&r.redis.proc, SIGCONT);
	state_fixture_wait_up(&r);
	state_fixture_stop(&r);
}

static void
with_password(struct state_fixture *r, const char *userinfo)
{
	char url[128];

	snprintf(url, sizeof(url), "redis://%s@127.0.0.1:%d", userinfo,
	    r->redis.port);
	state_fixture_connect(r, url, 0);
}

static bool
denied(void *arg)
{
	return state_fixture_ping(arg) == RC_DENIED;
}

TEST(wrong_credentials_are_denied)
{
	struct state_fixture r;

	state_fixture_start(&r);
	state_fixture_expect(&r, "OK",
	    STATE_ARGS(STR("CONFIG"), STR("SET"), STR("requirepass"),
		STR("p@ss:w/rd")));
	state_fixture_expect(&r, "OK",
	    STATE_ARGS(STR("ACL"), STR("SETUSER"), STR("reader"), STR("on"),
		STR(">secret"), STR("~*"), STR("+get"), STR("+ping")));
	state_free(r.s);

	/* Wrong: denied, and still denied later, without a delay. */
	with_password(&r, ":wrong");
	ck_assert(tk_loop_until(r.loop, denied, &r, STATE_FIXTURE_WAIT_MS));
	ck_assert(!state_up(r.s));
	state_free(r.s);
	state_fixture_connect(&r, r.redis.url, 0); /* none */
	ck_assert(tk_loop_until(r.loop, denied, &r, STATE_FIXTURE_WAIT_MS));
	state_free(r.s);

	with_password(&r, ":p%40ss%3Aw%2Frd");
	state_fixture_wait_up(&r);
	state_fixture_expect(
	    &r, "OK", STATE_ARGS(STR("SET"), STR("k"), STR("v")));
	state_free(r.s);

	/* A user that may GET only; SETNAME is not permitted. */
	with_password(&r, "reader:secret");
	state_fixture_wait_up(&r);
	state_fixture_expect(&r, "v", STATE_ARGS(STR("GET"), STR("k")));
	ck_assert_int_eq(
	    state_cmd(r.s, STATE_ARGS(STR("SET"), STR("k"), STR("w")), NULL),
	    RC_DENIED);
	ck_assert(state_up(r.s));
	state_fixture_stop(&r);
}

TEST(a_password_that_becomes_right_connects)
{
	struct state_fixture r;

	state_fixture_start(&r);
	state_fixture_expect(&r, "OK",
	    STATE_ARGS(
		STR("CONFIG"), STR("SET"), STR("requirepass"), STR("old")));
	state_free(r.s);
	with_password(&r, ":new");
	ck_assert(tk_loop_until(r.loop, denied, &r, STATE_FIXTURE_WAIT_MS));
	struct state *waiting = r.s;
	with_password(&r, ":old");
	state_fixture_wait_up(&r);
	state_fixture_expect(&r, "OK",
	    STATE_ARGS(
		STR("CONFIG"), STR("SET"), STR("requirepass"), STR("new")));
	state_free(r.s);
	r.s = waiting;
	state_fixture_wait_up(&r);
	ck_assert_int_eq(state_fixture_ping(&r), RC_OK);
	state_fixture_stop(&r);
}

TEST(the_database_is_selected)
{
	char url[96];
	struct state_fixture r;

	state_fixture_start(&r);
	state_fixture_expect(
	    &r, "OK", STATE_ARGS(STR("SET"), STR("where"), STR("0")));
	state_free(r.s);
	snprintf(url, sizeof(url), "%s/3", r.redis.url);
	state_fixture_connect(&r, url, 0);
	state_fixture_wait_up(&r);
	state_fixture_expect(&r, NULL, STATE_ARGS(STR("GET"), STR("where")));
	state_fixture_expect(
	    &r, "OK", STATE_ARGS(STR("SET"), STR("where"), STR("3")));
	/* It is selected after a reconnect, too. */
	tk_server_restart(&r.redis);
	state_fixture_wait_down(&r);
	state_fixture_wait_up(&r);
	state_fixture_expect(&r, "3", STATE_ARGS(STR("GET"), STR("where")));
	state_free(r.s);
	snprintf(url, sizeof(url), "%s/999", r.redis.url);
	state_fixture_connect(&r, url, 0);
	ck_assert(tk_loop_until(r.loop, denied, &r, STATE_FIXTURE_WAIT_MS));
	state_fixture_stop(&r);
}

TEST(host_names_are_resolved_by_the_worker)
{
	char url[96];
	struct state_fixture r;

	state_fixture_start(&r);
	state_free(r.s);
	snprintf(url, sizeof(url), "redis://localhost:%d", r.redis.port);
	state_fixture_connect(&r, url, 0);
	state_fixture_wait_up(&r);
	state_fixture_expect(
	    &r, "test", STATE_ARGS(STR("CLIENT"), STR("GETNAME")));
	state_fixture_stop(&r);
}

/* Freed while a worker connects. */
TEST(a_client_can_be_freed_while_it_connects)
{
	struct state_fixture r;
	int i;

	state_fixture_start(&r);
	state_free(r.s);
	for (i = 0; i < 50; i++) {
		state_fixture_connect(&r, r.redis.url, 0);
		if (i % 2 == 0)
			tk_loop_step(r.loop);
		state_free(r.s);
	}
	r.s = NULL;
	state_fixture_connect(&r, r.redis.url, 0);
	state_fixture_wait_up(&r);
	state_fixture_stop(&r);
}

/* A job that occupies its thread until it is released. */
struct gate {
	_Atomic bool entered, open;
};

static bool
gate_entered(void *arg)
{
	return ((struct gate *)arg)->entered;
}

static bool
gate_open(void *arg)
{
	return ((struct gate *)arg)->open;
}

static void
occupy(void *arg)
{
	struct gate *g = arg;

	g->entered = true;
	(void)tk_until(gate_open, g, STATE_FIXTURE_WAIT_MS);
}

static void
nothing(void *arg)
{
	(void)arg;
}

/* A full worker queue only delays. */
TEST(busy_workers_delay_the_connection)
{
	struct gate g = { false, false };
	struct state_fixture r;

	state_fixture_init(&r);
	tk_server_start(&r.redis, TK_REDIS);
	worker_free(r.workers);
	r.workers = worker_new(r.loop, 1, 1);
	ck_assert_int_eq(worker_run(r.workers, occupy, nothing, &g), RC_OK);
	ck_assert(tk_until(gate_entered, &g, STATE_FIXTURE_WAIT_MS));
	ck_assert_int_eq(worker_run(r.workers, occupy, nothing, &g), RC_OK);
	state_fixture_connect(&r, r.redis.url, 0);
	ck_assert(!tk_loop_until(r.loop, state_fixture_is_up, r.s, 100));
	g.open = true;
	state_fixture_wait_up(&r);
	ck_assert_int_eq(state_fixture_ping(&r), RC_OK);
	state_fixture_stop(&r);
}

TEST(invalid_urls_are_rejected)
{
	static const char *const bad[] = { "", "127.0.0.1:6379",
		"http://127.0.0.1", "rediss://127.0.0.1", "redis://",
		"redis://h:0", "redis://h:65536", "redis://h:x", "redis://h/x",
		"redis://h/-1", "redis://h/1/2", "redis://user@h",
		"redis://user:@h", NULL };
	struct state_fixture r;
	size_t i;

	state_fixture_init(&r);
	for (i = 0; i < NELEM(bad); i++) {
		struct state_opts o = {
			.loop = r.loop, .workers = r.workers, .url = bad[i]
		};

		r.s = (struct state *)&o;
		ck_assert_msg(state_new(&o, &r.s) == RC_INVALID, "%s",
		    bad[i] != NULL ? bad[i] : "NULL");
		ck_assert_ptr_null(r.s);
	}
	state_fixture_stop(&r);
}
