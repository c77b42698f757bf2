/*
 * Calls that are repeated within their deadline: those that were certainly not
 * executed, and idempotent scripts whose outcome is unknown.
 */
#include "core/fiber.h"
#include "testkit/redis_set.h"
#include "testkit/state_fixture.h"

#define DEADLINE_MS 4000

#define COUNT "return redis.call('INCRBY',KEYS[1],ARGV[1])"

static const struct state_script count = {
	.text = COUNT,
	.sha = "fb8144401c089a1dbddf5fc7eb24a42b93c7cb92",
};

/* It is not, but so the test sees whether it was executed. */
static const struct state_script repeated = {
	.text = COUNT,
	.sha = "fb8144401c089a1dbddf5fc7eb24a42b93c7cb92",
	.idempotent = true,
};

struct caller {
	struct state_fixture *f;
	const struct state_script *script;
	enum rc rc;
	int64_t number;
	bool ended;
};

static void
fiber_evals(void *arg)
{
	struct str n = STR("n"), one = STR("1");
	struct caller *c = arg;
	struct state_call call = { c->script, &n, 1, &one, 1 };
	struct state_reply *r;

	c->rc = state_eval(c->f->s, &call, &r);
	c->number = state_reply_int(r);
	state_reply_free(r);
	c->ended = true;
}

static bool
has_ended(void *arg)
{
	return ((struct caller *)arg)->ended;
}

static void
caller_start(struct caller *c, struct state_fixture *f,
    const struct state_script *script)
{
	*c = (struct caller){ .f = f, .script = script };
	fiber_start(fiber_evals, c);
}

static enum rc
caller_wait(struct caller *c)
{
	ck_assert(
	    tk_loop_until(c->f->loop, has_ended, c, STATE_FIXTURE_WAIT_MS));
	return c->rc;
}

static void
connect_to(struct state_fixture *f)
{
	state_fixture_init(f);
	tk_server_start(&f->redis, TK_REDIS);
	state_fixture_connect(f, f->redis.url, DEADLINE_MS);
	state_fixture_wait_up(f);
}

/* The server becomes a master again before the deadline. */
TEST(a_read_only_server_is_waited_for)
{
	struct state_fixture f;
	struct caller c;

	connect_to(&f);
	caller_start(&c, &f, &count);
	OK(caller_wait(&c));
	tk_redis_do(&f.redis, NULL, 0, "REPLICAOF 127.0.0.1 1");
	caller_start(&c, &f, &count);
	ck_assert(!tk_loop_until(f.loop, has_ended, &c, 300));
	tk_redis_do(&f.redis, NULL, 0, "REPLICAOF NO ONE");
	OK(caller_wait(&c));
	ck_assert_int_eq(c.number, 2);
	state_fixture_stop(&f);
}

TEST(a_server_that_stays_read_only_is_down)
{
	struct state_fixture f;
	struct caller c;
	struct mono t;

	connect_to(&f);
	tk_redis_do(&f.redis, NULL, 0, "REPLICAOF 127.0.0.1 1");
	t = clock_mono();
	caller_start(&c, &f, &count);
	IS(RC_DOWN, caller_wait(&c));
	ck_assert_int_le(mono_diff_ms(clock_mono(), t), DEADLINE_MS);
	state_fixture_stop(&f);
}

/* Sent to a server that hangs and is then replaced. */
TEST(only_idempotent_scripts_are_repeated)
{
	struct caller single, twice;
	struct state_fixture f;

	connect_to(&f);
	caller_start(&single, &f, &count);
	OK(caller_wait(&single));
	tk_signal(&f.redis.proc, SIGSTOP);
	caller_start(&single, &f, &count);
	caller_start(&twice, &f, &repeated);
	ck_assert(!tk_loop_until(f.loop, has_ended, &single, 50));
	tk_server_stop(&f.redis, SIGKILL);
	tk_server_restart(&f.redis);
	IS(RC_TIMEOUT, caller_wait(&single));
	OK(caller_wait(&twice));
	ck_assert_int_eq(twice.number, 2);
	state_fixture_stop(&f);
}

/* The outcome stays unknown if the repetition is not executed. */
TEST(a_repetition_that_fails_is_a_timeout)
{
	struct state_fixture f;
	struct caller c;

	connect_to(&f);
	tk_signal(&f.redis.proc, SIGSTOP);
	caller_start(&c, &f, &repeated);
	ck_assert(!tk_loop_until(f.loop, has_ended, &c, 50));
	tk_server_stop(&f.redis, SIGKILL);
	IS(RC_TIMEOUT, caller_wait(&c));
	state_fixture_stop(&f);
}

TEST(stopping_ends_a_call_that_waits_for_a_retry)
{
	struct state_fixture f;
	struct caller c;

	connect_to(&f);
	tk_redis_do(&f.redis, NULL, 0, "REPLICAOF 127.0.0.1 1");
	caller_start(&c, &f, &count);
	ck_assert(!tk_loop_until(f.loop, has_ended, &c, 200));
	state_stop(f.s);
	ck_assert(c.ended);
	ck_assert_int_ne(c.rc, RC_OK);
	state_fixture_stop(&f);
}
