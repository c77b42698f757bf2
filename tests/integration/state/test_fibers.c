/*
 * Calls of fibers: they wait beside each other, leave in one write, and end
 * when the server does.
 */
#include "core/fiber.h"
#include "testkit/state_fixture.h"

#define FIBERS 200

struct caller {
	struct state_fixture *f;
	int64_t got;
	enum rc rc;
	bool ended;
};

struct callers {
	struct state_fixture f;
	struct caller c[FIBERS];
};

static bool
callers_ended(void *arg)
{
	struct callers *all = arg;
	size_t i;

	for (i = 0; i < FIBERS; i++)
		if (!all->c[i].ended)
			return false;
	return true;
}

/* A number of INFO stats. */
static int64_t
server_stat(struct state_fixture *f, struct str name)
{
	struct state_reply *r;
	struct str s;
	ptrdiff_t at;
	int64_t n;

	ck_assert_int_eq(
	    state_cmd(f->s, STATE_ARGS(STR("INFO"), STR("stats")), &r), RC_OK);
	s = state_reply_str(r);
	at = str_find(s, name);
	ck_assert_int_ge(at, 0);
	n = strtoll(s.p + at + name.n + 1, NULL, 10);
	state_reply_free(r);
	return n;
}

static void
fiber_counts(void *arg)
{
	struct caller *c = arg;
	struct state_reply *r;

	c->rc = state_cmd(c->f->s, STATE_ARGS(STR("INCR"), STR("n")), &r);
	c->got = state_reply_int(r);
	state_reply_free(r);
	c->ended = true;
}

static void
callers_start(struct callers *all, fiber_fn fn)
{
	size_t i;

	for (i = 0; i < FIBERS; i++) {
		all->c[i] = (struct caller){ .f = &all->f };
		fiber_start(fn, &all->c[i]);
	}
}

TEST(calls_of_one_iteration_leave_in_one_write)
{
	struct callers all;
	int64_t before, i;

	state_fixture_start(&all.f);
	before = server_stat(&all.f, STR("total_reads_processed"));
	callers_start(&all, fiber_counts);
	ck_assert(!all.c[0].ended);
	ck_assert(tk_loop_until(
	    all.f.loop, callers_ended, &all, STATE_FIXTURE_WAIT_MS));
	for (i = 0; i < FIBERS; i++) {
		ck_assert_int_eq(all.c[i].rc, RC_OK);
		ck_assert_int_eq(all.c[i].got, i + 1);
	}
	/* One for each 64 calls, and that of INFO. */
	ck_assert_int_le(
	    server_stat(&all.f, STR("total_reads_processed")) - before, 5);
	ck_assert_uint_eq(fiber_count(), 0);
	state_fixture_stop(&all.f);
}

static void
fiber_blocks(void *arg)
{
	struct caller *c = arg;

	c->rc = state_cmd(
	    c->f->s, STATE_ARGS(STR("BLPOP"), STR("nothing"), STR("0")), NULL);
	c->ended = true;
}

TEST(calls_without_a_reply_fail_together)
{
	struct callers all;
	size_t i;

	state_fixture_start(&all.f);
	callers_start(&all, fiber_blocks);
	ck_assert(tk_loop_until(
	    all.f.loop, callers_ended, &all, STATE_FIXTURE_WAIT_MS));
	for (i = 0; i < FIBERS; i++)
		ck_assert_int_eq(all.c[i].rc, RC_TIMEOUT);
	state_fixture_wait_up(&all.f);
	callers_start(&all, fiber_counts);
	ck_assert(tk_loop_until(
	    all.f.loop, callers_ended, &all, STATE_FIXTURE_WAIT_MS));
	ck_assert_int_eq(all.c[0].rc, RC_OK);
	state_fixture_stop(&all.f);
}

TEST(stopping_ends_calls)
{
	struct callers all;
	size_t i;

	state_fixture_start(&all.f);
	callers_start(&all, fiber_blocks);
	/* Nothing was sent yet. */
	state_stop(all.f.s);
	ck_assert(callers_ended(&all));
	for (i = 0; i < FIBERS; i++)
		ck_assert_int_eq(all.c[i].rc, RC_DOWN);
	callers_start(&all, fiber_counts);
	ck_assert(callers_ended(&all));
	ck_assert_int_eq(all.c[0].rc, RC_DOWN);
	state_fixture_stop(&all.f);
}

/* A blocking call while fibers wait: their replies are kept for the loop. */
TEST(a_blocking_call_beside_fibers)
{
	struct callers all;
	int64_t i;

	state_fixture_start(&all.f);
	callers_start(&all, fiber_counts);
	state_fixture_expect(
	    &all.f, "OK", STATE_ARGS(STR("SET"), STR("k"), STR("v")));
	ck_assert(!callers_ended(&all));
	ck_assert(tk_loop_until(
	    all.f.loop, callers_ended, &all, STATE_FIXTURE_WAIT_MS));
	for (i = 0; i < FIBERS; i++)
		ck_assert_int_eq(all.c[i].got, i + 1);
	state_fixture_stop(&all.f);
}
