/*
 * A cluster of six servers: calls go to the server of their slot, while slots
 * move and masters are killed.
 */
#include "core/fiber.h"
#include "state/cluster.h"
#include "testkit/redis_set.h"
#include "testkit/state_fixture.h"

#define DEADLINE_MS 3000

static const struct state_script count = {
	.text = "return redis.call('INCRBY',KEYS[1],ARGV[1])",
	.sha = "fb8144401c089a1dbddf5fc7eb24a42b93c7cb92",
};

static const struct state_script both = {
	.text = "return {redis.call('GET',KEYS[1]),redis.call('GET',KEYS[2])}",
	.sha = "b651ae6f0bd1b24babe43c0ba18d428d4665e95c",
};

struct cluster_fixture {
	struct tk_cluster set;
	struct state_fixture f;
};

static void
cluster_start(struct cluster_fixture *x)
{
	tk_cluster_start(&x->set);
	state_fixture_init(&x->f);
	state_fixture_connect(&x->f, x->set.url, DEADLINE_MS);
	state_fixture_wait_up(&x->f);
}

/* A call in a fiber: it may wait for connections and between retries. */
struct fiber_call {
	struct state_fixture *f;
	const struct state_script *script;
	const struct str *keys;
	size_t n_keys;
	enum rc rc;
	int64_t number;
	char text[256];
	bool ended;
};

static void
fiber_evals(void *arg)
{
	struct str one = STR("1");
	struct fiber_call *c = arg;
	struct state_call call = { c->script, c->keys, c->n_keys, &one, 1 };
	struct state_reply *r;

	c->rc = state_eval(c->f->s, &call, &r);
	c->number = state_reply_int(r);
	str_copy(state_reply_str(r), c->text, sizeof(c->text));
	state_reply_free(r);
	c->ended = true;
}

static bool
fiber_call_ended(void *arg)
{
	return ((struct fiber_call *)arg)->ended;
}

static void
fiber_call_start(struct fiber_call *c, struct state_fixture *f,
    const struct state_script *script, const struct str *keys, size_t n)
{
	*c = (struct fiber_call){
		.f = f, .script = script, .keys = keys, .n_keys = n
	};
	fiber_start(fiber_evals, c);
}

static enum rc
fiber_call_wait(struct fiber_call *c)
{
	ck_assert(tk_loop_until(
	    c->f->loop, fiber_call_ended, c, STATE_FIXTURE_WAIT_MS));
	return c->rc;
}

static enum rc
eval(struct fiber_call *c, struct state_fixture *f,
    const struct state_script *script, const struct str *keys, size_t n)
{
	fiber_call_start(c, f, script, keys, n);
	return fiber_call_wait(c);
}

/* The value of a counter, incremented by a script. */
static int64_t
counted(struct state_fixture *f, const char *key)
{
	struct str k = str_of(key);
	struct fiber_call c;

	OK(eval(&c, f, &count, &k, 1));
	return c.number;
}

TEST_T(calls_go_to_the_server_of_their_slot, 60)
{
	struct cluster_fixture x;
	struct state_reply *r;
	struct state_pipe *p;
	char num[STR_NUM_MAX];
	const struct state_reply *one;
	size_t i;

	cluster_start(&x);
	p = state_pipe_new(x.f.s, 300);
	for (i = 0; i < 300; i++)
		OK(state_pipe_cmd(p,
		    STATE_ARGS(
			STR("SET"), str_num((int64_t)i, num), STR("v"))));
	OK(state_pipe_run(p));
	for (i = 0; i < 300; i++) {
		OK(state_pipe_reply(p, i, &one));
		ck_text(state_reply_str(one), "OK");
	}
	for (i = 0; i < TK_CLUSTER_MASTERS; i++)
		ck_assert(!tk_redis_has(&x.set.node[i], "DBSIZE", ":0\r\n"));
	for (i = 0; i < 300; i++)
		state_fixture_expect(&x.f, "v",
		    STATE_ARGS(STR("GET"), str_num((int64_t)i, num)));
	/* A command without a key, and scripts that no server has yet. */
	OK(state_fixture_ping(&x.f));
	for (i = 1000; i < 1100; i++)
		ck_assert_int_eq(counted(&x.f, str_num((int64_t)i, num).p), 1);
	OK(state_cmd(x.f.s, STATE_ARGS(STR("GET"), STR("1000")), &r));
	ck_text(state_reply_str(r), "1");
	state_reply_free(r);
	state_pipe_free(p);
	state_fixture_stop(&x.f);
}

TEST_T(a_script_with_keys_of_two_slots_is_not_sent, 60)
{
	const struct str keys[] = { STR("soul:{a}:1"), STR("soul:{b}:1") };
	struct cluster_fixture x;
	struct state_pipe *p;
	const struct state_reply *r;
	struct state_call call = { &both, keys, 2, NULL, 0 };

	cluster_start(&x);
	p = state_pipe_new(x.f.s, 2);
	OK(state_pipe_eval(p, &call));
	OK(state_pipe_cmd(p, STATE_ARGS(STR("SET"), STR("k"), STR("v"))));
	OK(state_pipe_run(p));
	IS(RC_INVALID, state_pipe_reply(p, 0, &r));
	ck_text(state_reply_str(r),
	    "CROSSSLOT Keys of a script are in different slots: soul:{a}:1, "
	    "soul:{b}:1");
	OK(state_pipe_reply(p, 1, NULL));
	state_pipe_free(p);
	state_fixture_stop(&x.f);
}

/*
 * A slot moves: calls of keys that have moved follow ASK, those with one key
 * here and one there wait until TRYAGAIN ends, and after the move the client
 * knows the new server.
 */
TEST_T(a_slot_that_moves_is_followed, 60)
{
	const struct str keys[] = { STR("{a}here"), STR("{a}moved") };
	struct cluster_fixture x;
	struct fiber_call c;
	size_t from, to;
	int slot = slot_of_key(STR("a"));

	cluster_start(&x);
	from = tk_cluster_owner(&x.set, slot);
	to = (from + 1) % TK_CLUSTER_MASTERS;
	ck_assert_int_eq(counted(&x.f, "{a}here"), 1);
	ck_assert_int_eq(counted(&x.f, "{a}moved"), 1);
	tk_cluster_migrate_begin(&x.set, slot, from, to);
	tk_cluster_migrate_key(&x.set, "{a}moved", from, to);
	ck_assert_int_eq(counted(&x.f, "{a}here"), 2);
	ck_assert_int_eq(counted(&x.f, "{a}moved"), 2);
	/* A new key is made where the slot goes to. */
	ck_assert_int_eq(counted(&x.f, "{a}new"), 1);
	ck_assert(tk_redis_has(
	    &x.set.node[to], "CLUSTER COUNTKEYSINSLOT 15495", ":2\r\n"));

	/* One key is here, the other there. */
	fiber_call_start(&c, &x.f, &both, keys, 2);
	ck_assert(!tk_loop_until(x.f.loop, fiber_call_ended, &c, 200));
	tk_cluster_migrate_key(&x.set, "{a}here", from, to);
	OK(fiber_call_wait(&c));

	tk_cluster_migrate_end(&x.set, slot, to);
	ck_assert_int_eq(counted(&x.f, "{a}here"), 3);
	ck_assert_int_eq(counted(&x.f, "{a}moved"), 3);
	ck_assert_int_eq(counted(&x.f, "{a}new"), 2);
	state_fixture_stop(&x.f);
}

TEST_T(keys_that_stay_apart_are_a_retry, 60)
{
	const struct str keys[] = { STR("{a}here"), STR("{a}moved") };
	struct cluster_fixture x;
	struct fiber_call c;
	size_t from, to;
	int slot = slot_of_key(STR("a"));

	cluster_start(&x);
	from = tk_cluster_owner(&x.set, slot);
	to = (from + 1) % TK_CLUSTER_MASTERS;
	ck_assert_int_eq(counted(&x.f, "{a}here"), 1);
	ck_assert_int_eq(counted(&x.f, "{a}moved"), 1);
	tk_cluster_migrate_begin(&x.set, slot, from, to);
	tk_cluster_migrate_key(&x.set, "{a}moved", from, to);
	IS(RC_RETRY, eval(&c, &x.f, &both, keys, 2));
	ck_assert(str_starts(str_of(c.text), STR("TRYAGAIN ")));
	state_fixture_stop(&x.f);
}

/* ---- a master that is killed ---- */

struct recovery {
	struct state_fixture *f;
	struct str key;
	struct fiber_call c;
};

/* Its master executes calls; while it does not, they end without harm. */
static bool
counts_anew(void *arg)
{
	struct recovery *o = arg;

	if (!o->c.ended)
		return false;
	if (o->c.rc == RC_OK)
		return true;
	ck_assert_msg(o->c.rc == RC_DOWN || o->c.rc == RC_TIMEOUT, "%s %s",
	    rc_name(o->c.rc), o->c.text);
	fiber_call_start(&o->c, o->f, &count, &o->key, 1);
	return false;
}

TEST_T(a_killed_master_is_replaced_by_its_replica, 60)
{
	char key[STR_NUM_MAX], other[STR_NUM_MAX];
	struct cluster_fixture x;
	struct recovery o = { .f = &x.f };
	size_t dead = 0, i;

	cluster_start(&x);
	/* A key of the master that dies, and one of another. */
	for (i = 0; tk_cluster_owner(
			&x.set, slot_of_key(str_num((int64_t)i, key))) != dead;
	     i++)
		;
	for (i = 0; tk_cluster_owner(&x.set,
			slot_of_key(str_num((int64_t)i, other))) == dead;
	     i++)
		;
	ck_assert_int_eq(counted(&x.f, key), 1);
	tk_redis_wait(&x.set.node[dead + TK_CLUSTER_MASTERS], "DBSIZE", ":1");
	tk_server_stop(&x.set.node[dead], SIGKILL);
	/* The others serve on. */
	ck_assert_int_eq(counted(&x.f, other), 1);
	ck_assert(state_up(x.f.s));
	o.key = str_of(key);
	fiber_call_start(&o.c, &x.f, &count, &o.key, 1);
	ck_assert(
	    tk_loop_until(x.f.loop, counts_anew, &o, STATE_FIXTURE_WAIT_MS));
	ck_assert_int_eq(o.c.number, 2);
	ck_assert_int_eq(counted(&x.f, other), 2);
	state_fixture_stop(&x.f);
}

/* Only one of the addresses works. */
TEST_T(one_address_suffices, 60)
{
	struct cluster_fixture x;
	char url[256];

	tk_cluster_start(&x.set);
	state_fixture_init(&x.f);
	snprintf(url, sizeof(url), "redis+cluster://127.0.0.1:%d,127.0.0.1:%d",
	    tk_port(), x.set.node[5].port);
	state_fixture_connect(&x.f, url, DEADLINE_MS);
	state_fixture_wait_up(&x.f);
	ck_assert_int_eq(counted(&x.f, "a"), 1);
	ck_assert_int_eq(counted(&x.f, "b"), 1);
	ck_assert_int_eq(counted(&x.f, "c"), 1);
	state_fixture_stop(&x.f);
}

TEST(a_server_that_is_no_cluster_is_not_up)
{
	struct state_fixture f;
	char url[64];

	state_fixture_init(&f);
	tk_server_start(&f.redis, TK_REDIS);
	snprintf(
	    url, sizeof(url), "redis+cluster://127.0.0.1:%d", f.redis.port);
	state_fixture_connect(&f, url, DEADLINE_MS);
	ck_assert(!tk_loop_until(f.loop, state_fixture_is_up, f.s, 300));
	IS(RC_DOWN, state_fixture_ping(&f));
	state_fixture_stop(&f);
}
