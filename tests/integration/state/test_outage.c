/* What a struct state does while Redis is killed, hung or refusing. */
#include "integration/state/rig.h"

#include "core/clock.h"

/* The deadline of these tests, and how late a call may be on a busy machine. */
#define DEADLINE_MS 400
#define SLACK_MS    1500

static int64_t
timed_ping(struct rig *r, enum rc want)
{
	struct mono t = clock_mono();

	ck_assert_int_eq(rig_ping(r), want);
	return mono_diff_ms(clock_mono(), t);
}

TEST(server_comes_later)
{
	char url[64];
	struct rig r;
	int port = tk_port();

	rig_bare(&r);
	snprintf(url, sizeof(url), "redis://127.0.0.1:%d", port);
	rig_connect(&r, url, 0);
	ck_assert(!state_up(r.s));
	ck_assert_int_eq(rig_ping(&r), RC_DOWN);
	r.redis.kind = TK_REDIS;
	r.redis.port = port;
	tk_server_restart(&r.redis);
	rig_wait_up(&r);
	ck_assert_int_eq(rig_ping(&r), RC_OK);
	rig_end(&r);
}

TEST(kill_and_restart_keeps_what_was_acknowledged)
{
	char num[STATE_NUM_MAX];
	struct rig r;
	int round;

	rig_start(&r);
	for (round = 1; round <= 3; round++) {
		for (int i = 0; i < 200; i++)
			ck_assert_int_eq(state_cmd(r.s,
					     STATE_ARGS(STR("RPUSH"),
						 STR("log"), state_num(i, num)),
					     NULL),
			    RC_OK);
		tk_server_stop(&r.redis, SIGKILL);
		ck_assert_int_eq(rig_ping(&r), RC_DOWN);
		ck_assert(!state_up(r.s));
		tk_server_restart(&r.redis);
		rig_wait_up(&r);
		struct state_reply *n;
		ck_assert_int_eq(
		    state_cmd(r.s, STATE_ARGS(STR("LLEN"), STR("log")), &n),
		    RC_OK);
		ck_assert_int_eq(state_reply_int(n), 200 * round);
		state_reply_free(n);
	}
	rig_end(&r);
}

/* Restarted between two calls without the loop running in between. */
TEST(restart_unnoticed)
{
	struct rig r;

	rig_start(&r);
	tk_server_restart(&r.redis);
	/* Not sent into the dead connection: certain, not unknown. */
	ck_assert_int_eq(rig_ping(&r), RC_DOWN);
	rig_wait_up(&r);
	ck_assert_int_eq(rig_ping(&r), RC_OK);
	rig_end(&r);
}

/* The loop itself notices, without a call. */
TEST(loop_notices)
{
	struct rig r;

	rig_start(&r);
	tk_server_stop(&r.redis, SIGKILL);
	rig_wait_down(&r);
	tk_server_restart(&r.redis);
	rig_wait_up(&r);
	ck_assert_int_eq(rig_ping(&r), RC_OK);
	ck_assert_int_eq(rig_metric(&r, "state_connects_total"), 2);
	rig_end(&r);
}

TEST(hung_server_costs_one_deadline)
{
	int64_t first, later = 0;
	struct rig r;
	int i;

	rig_bare(&r);
	tk_server_start(&r.redis, TK_REDIS);
	rig_connect(&r, r.redis.url, DEADLINE_MS);
	rig_wait_up(&r);
	ck_assert_int_eq(rig_ping(&r), RC_OK);
	tk_signal(&r.redis.proc, SIGSTOP);

	first = timed_ping(&r, RC_TIMEOUT);
	ck_assert_int_ge(first, DEADLINE_MS);
	ck_assert_int_lt(first, DEADLINE_MS + SLACK_MS);
	for (i = 0; i < 100; i++)
		later += timed_ping(&r, RC_DOWN);
	ck_assert_int_lt(later, SLACK_MS);
	ck_assert(!state_up(r.s));

	tk_signal(&r.redis.proc, SIGCONT);
	rig_wait_up(&r);
	ck_assert_int_eq(rig_ping(&r), RC_OK);
	rig_end(&r);
}

/* RC_TIMEOUT says "unknown", and means it: the write is done afterwards. */
TEST(unknown_may_happen_later)
{
	struct rig r;

	rig_bare(&r);
	tk_server_start(&r.redis, TK_REDIS);
	rig_connect(&r, r.redis.url, DEADLINE_MS);
	rig_wait_up(&r);
	tk_signal(&r.redis.proc, SIGSTOP);
	ck_assert_int_eq(
	    state_cmd(r.s, STATE_ARGS(STR("SET"), STR("sent"), STR("1")), NULL),
	    RC_TIMEOUT);
	ck_assert_int_eq(
	    state_cmd(r.s, STATE_ARGS(STR("SET"), STR("not"), STR("1")), NULL),
	    RC_DOWN);
	tk_signal(&r.redis.proc, SIGCONT);
	rig_wait_up(&r);
	rig_expect(&r, "1", STATE_ARGS(STR("GET"), STR("sent")));
	rig_expect(&r, NULL, STATE_ARGS(STR("GET"), STR("not")));
	rig_end(&r);
}

/* While the server hangs, the worker finds a connection that is no use. */
TEST(hung_server_is_not_up)
{
	struct rig r;

	rig_bare(&r);
	tk_server_start(&r.redis, TK_REDIS);
	tk_signal(&r.redis.proc, SIGSTOP);
	rig_connect(&r, r.redis.url, DEADLINE_MS);
	ck_assert(!tk_loop_until(r.loop, rig_up, r.s, 1500));
	tk_signal(&r.redis.proc, SIGCONT);
	rig_wait_up(&r);
	rig_end(&r);
}

static void
with_password(struct rig *r, const char *userinfo)
{
	char url[128];

	snprintf(url, sizeof(url), "redis://%s@127.0.0.1:%d", userinfo,
	    r->redis.port);
	rig_connect(r, url, 0);
}

static bool
denied(void *arg)
{
	return rig_ping(arg) == RC_DENIED;
}

TEST(credentials)
{
	struct rig r;

	rig_start(&r);
	rig_expect(&r, "OK",
	    STATE_ARGS(STR("CONFIG"), STR("SET"), STR("requirepass"),
		STR("p@ss:w/rd")));
	rig_expect(&r, "OK",
	    STATE_ARGS(STR("ACL"), STR("SETUSER"), STR("reader"), STR("on"),
		STR(">secret"), STR("~*"), STR("+get"), STR("+ping")));
	state_free(r.s);

	/* Wrong: refused, and still refused later, but never a hang. */
	with_password(&r, ":wrong");
	ck_assert(tk_loop_until(r.loop, denied, &r, RIG_MS));
	ck_assert(!state_up(r.s));
	state_free(r.s);
	rig_connect(&r, r.redis.url, 0); /* none */
	ck_assert(tk_loop_until(r.loop, denied, &r, RIG_MS));
	state_free(r.s);

	with_password(&r, ":p%40ss%3Aw%2Frd");
	rig_wait_up(&r);
	rig_expect(&r, "OK", STATE_ARGS(STR("SET"), STR("k"), STR("v")));
	state_free(r.s);

	/* A user whose rights end at GET; SETNAME is one he has not. */
	with_password(&r, "reader:secret");
	rig_wait_up(&r);
	rig_expect(&r, "v", STATE_ARGS(STR("GET"), STR("k")));
	ck_assert_int_eq(
	    state_cmd(r.s, STATE_ARGS(STR("SET"), STR("k"), STR("w")), NULL),
	    RC_DENIED);
	ck_assert(state_up(r.s));
	rig_end(&r);
}

TEST(right_password_comes_later)
{
	struct rig r;

	rig_start(&r);
	rig_expect(&r, "OK",
	    STATE_ARGS(
		STR("CONFIG"), STR("SET"), STR("requirepass"), STR("old")));
	state_free(r.s);
	with_password(&r, ":new");
	ck_assert(tk_loop_until(r.loop, denied, &r, RIG_MS));
	struct state *waiting = r.s;
	with_password(&r, ":old");
	rig_wait_up(&r);
	rig_expect(&r, "OK",
	    STATE_ARGS(
		STR("CONFIG"), STR("SET"), STR("requirepass"), STR("new")));
	state_free(r.s);
	r.s = waiting;
	rig_wait_up(&r);
	ck_assert_int_eq(rig_ping(&r), RC_OK);
	rig_end(&r);
}

TEST(databases)
{
	char url[96];
	struct rig r;

	rig_start(&r);
	rig_expect(&r, "OK", STATE_ARGS(STR("SET"), STR("where"), STR("0")));
	state_free(r.s);
	snprintf(url, sizeof(url), "%s/3", r.redis.url);
	rig_connect(&r, url, 0);
	rig_wait_up(&r);
	rig_expect(&r, NULL, STATE_ARGS(STR("GET"), STR("where")));
	rig_expect(&r, "OK", STATE_ARGS(STR("SET"), STR("where"), STR("3")));
	/* It is selected again after a reconnect. */
	tk_server_restart(&r.redis);
	rig_wait_down(&r);
	rig_wait_up(&r);
	rig_expect(&r, "3", STATE_ARGS(STR("GET"), STR("where")));
	state_free(r.s);
	snprintf(url, sizeof(url), "%s/999", r.redis.url);
	rig_connect(&r, url, 0);
	ck_assert(tk_loop_until(r.loop, denied, &r, RIG_MS));
	rig_end(&r);
}

TEST(names_resolve_in_the_worker)
{
	char url[96];
	struct rig r;

	rig_start(&r);
	state_free(r.s);
	snprintf(url, sizeof(url), "redis://localhost:%d", r.redis.port);
	rig_connect(&r, url, 0);
	rig_wait_up(&r);
	rig_expect(&r, "rig", STATE_ARGS(STR("CLIENT"), STR("GETNAME")));
	rig_end(&r);
}

/* Freed while a worker connects. */
TEST(free_at_any_time)
{
	struct rig r;
	int i;

	rig_start(&r);
	state_free(r.s);
	for (i = 0; i < 50; i++) {
		rig_connect(&r, r.redis.url, 0);
		if (i % 2 == 0)
			tk_loop_once(r.loop);
		state_free(r.s);
	}
	r.s = NULL;
	rig_connect(&r, r.redis.url, 0);
	rig_wait_up(&r);
	rig_end(&r);
}

/* A job that keeps its thread until it is told to end. */
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
keep_busy(void *arg)
{
	struct gate *g = arg;

	g->entered = true;
	(void)tk_until(gate_open, g, RIG_MS);
}

static void
nothing(void *arg)
{
	(void)arg;
}

/* A full worker queue only delays. */
TEST(busy_workers)
{
	struct gate g = { false, false };
	struct rig r;

	rig_bare(&r);
	tk_server_start(&r.redis, TK_REDIS);
	worker_free(r.workers);
	r.workers = worker_new(r.loop, 1, 1);
	ck_assert_int_eq(worker_run(r.workers, keep_busy, nothing, &g), RC_OK);
	ck_assert(tk_until(gate_entered, &g, RIG_MS));
	ck_assert_int_eq(worker_run(r.workers, keep_busy, nothing, &g), RC_OK);
	rig_connect(&r, r.redis.url, 0);
	ck_assert(!tk_loop_until(r.loop, rig_up, r.s, 100));
	g.open = true;
	rig_wait_up(&r);
	ck_assert_int_eq(rig_ping(&r), RC_OK);
	rig_end(&r);
}

TEST(urls)
{
	static const char *const bad[] = { "", "127.0.0.1:6379",
		"http://127.0.0.1", "rediss://127.0.0.1", "redis://",
		"redis://h:0", "redis://h:65536", "redis://h:x", "redis://h/x",
		"redis://h/-1", "redis://h/1/2", "redis://user@h",
		"redis://user:@h", NULL };
	struct rig r;
	size_t i;

	rig_bare(&r);
	for (i = 0; i < NELEM(bad); i++) {
		struct state_opts o = {
			.loop = r.loop, .workers = r.workers, .url = bad[i]
		};

		r.s = (struct state *)&o;
		ck_assert_msg(state_new(&o, &r.s) == RC_INVALID, "%s",
		    bad[i] != NULL ? bad[i] : "NULL");
		ck_assert_ptr_null(r.s);
	}
	rig_end(&r);
}
