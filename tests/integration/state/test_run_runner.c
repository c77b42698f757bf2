/* Which runners live, what they offer, and which runs they have. */
#include "state/keys.h"
#include "state/run_runner.h"
#include "state/state_internal.h"
#include "testkit/run_fixture.h"
#include "testkit/state_fixture.h"

STATE_FIXTURE_ON_CLUSTER

static size_t
runners(struct state_fixture *b, struct run_runner **list)
{
	size_t n;

	OK(run_runner_list(b->s, b->a, list, &n));
	return n;
}

/* The runner stopped being alive ms ago. */
static void
set_dead(struct state_fixture *b, const char *runner, int64_t ms)
{
	char num[STR_NUM_MAX];

	DO(b, STR("ZADD"), STR(KEY_RUNNERS),
	    str_num(state_fixture_now(b) - ms, num), str_of(runner));
}

TEST(a_runner_lives_while_it_renews)
{
	struct run_runner *list;
	struct state_fixture b;

	state_fixture_start(&b);
	ck_assert_uint_eq(runners(&b, &list), 0);
	OK(run_runner_renew(b.s, STR("r 1"), STR("{\"a\":1}")));
	OK(run_runner_renew(b.s, STR("r 1"), STR("{\"a\":2}")));
	ck_assert_uint_eq(runners(&b, &list), 1);
	ck_text(list[0].id, "r 1");
	ck_text(list[0].status, "{\"a\":2}");
	ck_assert(list[0].alive);
	ck_assert_int_eq(list[0].dead_ms, 0);
	OK(run_runner_end(b.s, STR("r 1")));
	ck_assert_uint_eq(runners(&b, &list), 1);
	ck_assert(!list[0].alive);
	set_dead(&b, "r 1", 5000);
	/* Its end does not make it younger. */
	OK(run_runner_end(b.s, STR("r 1")));
	ck_assert_uint_eq(runners(&b, &list), 1);
	ck_assert(!list[0].alive);
	ck_assert_int_ge(list[0].dead_ms, 5000);
	OK(run_runner_renew(b.s, STR("r 1"), STR("{}")));
	ck_assert_uint_eq(runners(&b, &list), 1);
	ck_assert(list[0].alive);
	IS(RC_INVALID, run_runner_renew(b.s, STR(""), STR("{}")));
	state_fixture_stop(&b);
}

TEST(a_runner_that_is_long_dead_is_forgotten)
{
	struct run_runner *list;
	struct state_fixture b;

	state_fixture_start(&b);
	OK(run_runner_renew(b.s, STR("r1"), STR("{}")));
	set_dead(&b, "r1", RUNNER_FORGET_MS - 60000);
	OK(run_runner_renew(b.s, STR("r2"), STR("{}")));
	ck_assert_uint_eq(runners(&b, &list), 2);
	set_dead(&b, "r1", RUNNER_FORGET_MS + 1000);
	OK(run_runner_renew(b.s, STR("r2"), STR("{}")));
	ck_assert_uint_eq(runners(&b, &list), 1);
	ck_text(list[0].id, "r2");
	state_fixture_expect(&b, NULL,
	    STATE_ARGS(STR("HGET"), STR(KEY_RUNNER_STATUS), STR("r1")));
	state_fixture_stop(&b);
}

TEST(the_number_of_runners_is_limited)
{
	struct state_fixture b;
	char id[16];
	int i;

	state_fixture_start(&b);
	for (i = 0; i < RUN_RUNNERS_MAX; i++) {
		snprintf(id, sizeof(id), "r%d", i);
		OK(run_runner_renew(b.s, str_of(id), STR("{}")));
	}
	IS(RC_RETRY, run_runner_renew(b.s, STR("one more"), STR("{}")));
	OK(run_runner_renew(b.s, STR("r0"), STR("{}")));
	state_fixture_stop(&b);
}

TEST(a_runner_has_runs)
{
	struct state_fixture b;
	char first[RUN_ID_MAX], second[RUN_ID_MAX];
	struct str *list;
	int64_t count;
	size_t n;

	state_fixture_start(&b);
	run_fixture_create(b.s, first);
	run_fixture_create(b.s, second);
	OK(run_runner_count(b.s, STR("r1"), &count));
	ck_assert_int_eq(count, 0);
	OK(run_runner_add(b.s, STR("r1"), str_of(first)));
	OK(run_runner_add(b.s, STR("r1"), str_of(first)));
	OK(run_runner_add(b.s, STR("r1"), str_of(second)));
	OK(run_runner_count(b.s, STR("r1"), &count));
	ck_assert_int_eq(count, 2);
	OK(run_runner_drop(b.s, STR("r1"), str_of(first)));
	OK(run_runner_runs(b.s, STR("r1"), b.a, &list, &n));
	ck_assert_uint_eq(n, 1);
	ck_text(list[0], second);
	OK(run_runner_runs(b.s, STR("r2"), b.a, &list, &n));
	ck_assert_uint_eq(n, 0);
	IS(RC_INVALID, run_runner_add(b.s, STR("r1"), STR("no run")));
	state_fixture_stop(&b);
}
