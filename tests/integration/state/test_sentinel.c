/* The master that sentinels name: found, lost, and found anew. */
#include "testkit/redis_set.h"
#include "testkit/state_fixture.h"

#define DEADLINE_MS 2000

static int
connected_port(struct state_fixture *f)
{
	struct state_reply *r;
	int port;

	OK(state_cmd(
	    f->s, STATE_ARGS(STR("CONFIG"), STR("GET"), STR("port")), &r));
	port = (int)strtol(state_reply_str(state_reply_at(r, 1)).p, NULL, 10);
	state_reply_free(r);
	return port;
}

/* The client has the master that it did not have before. */
struct failover {
	struct state_fixture *f;
	int old;
};

static bool
has_another_master(void *arg)
{
	struct failover *o = arg;

	return state_up(o->f->s) && connected_port(o->f) != o->old;
}

TEST(the_master_is_found)
{
	struct tk_sentinels set;
	struct state_fixture f;

	tk_sentinels_start(&set, 2, NULL);
	state_fixture_init(&f);
	state_fixture_connect(&f, set.url, DEADLINE_MS);
	state_fixture_wait_up(&f);
	ck_assert_int_eq(connected_port(&f), set.server[0].port);
	state_fixture_expect(
	    &f, "OK", STATE_ARGS(STR("SET"), STR("k"), STR("v")));
	state_fixture_stop(&f);
}

TEST_T(a_failover_is_followed, 60)
{
	struct tk_sentinels set;
	struct state_fixture f;
	struct failover o = { .f = &f };

	tk_sentinels_start(&set, 2, NULL);
	state_fixture_init(&f);
	state_fixture_connect(&f, set.url, DEADLINE_MS);
	state_fixture_wait_up(&f);
	o.old = connected_port(&f);
	state_fixture_expect(
	    &f, "OK", STATE_ARGS(STR("SET"), STR("k"), STR("v")));
	tk_redis_wait(&set.server[1], "GET k", "v");
	/* The first sentinel of the URL is lost with the master. */
	tk_server_stop(&set.sentinel[0], SIGKILL);
	tk_server_stop(&set.server[0], SIGKILL);
	state_fixture_wait_down(&f);
	ck_assert_int_eq(state_fixture_ping(&f), RC_DOWN);
	ck_assert(tk_loop_until(
	    f.loop, has_another_master, &o, STATE_FIXTURE_WAIT_MS));
	state_fixture_expect(&f, "v", STATE_ARGS(STR("GET"), STR("k")));
	state_fixture_expect(
	    &f, "OK", STATE_ARGS(STR("SET"), STR("k"), STR("w")));
	state_fixture_stop(&f);
}

/* Sentinels that do not know yet name the demoted server for a while. */
TEST(a_server_that_was_demoted_is_left)
{
	struct tk_sentinels set;
	struct state_fixture f;

	tk_sentinels_start(&set, 1, NULL);
	state_fixture_init(&f);
	state_fixture_connect(&f, set.url, DEADLINE_MS);
	state_fixture_wait_up(&f);
	/* Of a server that does not exist. */
	tk_redis_do(&set.server[0], NULL, 0, "REPLICAOF 127.0.0.1 1");
	ck_assert_int_eq(
	    state_cmd(f.s, STATE_ARGS(STR("SET"), STR("k"), STR("v")), NULL),
	    RC_DOWN);
	ck_assert(!state_up(f.s));
	/* It replies, but its role is not that of a master. */
	ck_assert(!tk_loop_until(f.loop, state_fixture_is_up, f.s, 300));
	tk_redis_do(&set.server[0], NULL, 0, "REPLICAOF NO ONE");
	state_fixture_wait_up(&f);
	state_fixture_expect(
	    &f, "OK", STATE_ARGS(STR("SET"), STR("k"), STR("v")));
	state_fixture_stop(&f);
}

static bool
is_denied(void *arg)
{
	return state_fixture_ping(arg) == RC_DENIED;
}

TEST(sentinels_have_a_login_of_their_own)
{
	struct tk_sentinels set;
	struct state_fixture f;
	struct state_opts o;
	struct state_conf conf = { .sentinel_user = "watcher",
		.sentinel_password = "wrong" };

	tk_sentinels_start(&set, 1, "watcher");
	state_fixture_init(&f);
	o = (struct state_opts){ .loop = f.loop,
		.workers = f.workers,
		.url = set.url,
		.conf = &conf };
	OK(state_new(&o, &f.s));
	ck_assert(tk_loop_until(f.loop, is_denied, &f, STATE_FIXTURE_WAIT_MS));
	state_free(f.s);
	conf.sentinel_password = "sentinel-secret";
	OK(state_new(&o, &f.s));
	state_fixture_wait_up(&f);
	ck_assert_int_eq(connected_port(&f), set.server[0].port);
	state_fixture_stop(&f);
}

TEST(an_unknown_master_is_not_up)
{
	struct tk_sentinels set;
	struct state_fixture f;
	char url[256];

	tk_sentinels_start(&set, 1, NULL);
	state_fixture_init(&f);
	snprintf(url, sizeof(url), "redis+sentinel://127.0.0.1:%d/other",
	    set.sentinel[0].port);
	state_fixture_connect(&f, url, DEADLINE_MS);
	ck_assert(!tk_loop_until(f.loop, state_fixture_is_up, f.s, 300));
	ck_assert_int_eq(state_fixture_ping(&f), RC_DOWN);
	tk_redis_do(&set.sentinel[0], NULL, 0,
	    "SENTINEL MONITOR other 127.0.0.1 %d 1", set.server[0].port);
	state_fixture_wait_up(&f);
	state_fixture_stop(&f);
}
