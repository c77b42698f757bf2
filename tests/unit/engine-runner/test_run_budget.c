/* Budgets of runs. */
#include "proxy/run_budget.h"
#include "testkit/testkit.h"

static struct proxy_grant
budget_grant(const char *run, int64_t epoch, int64_t budget)
{
	return (struct proxy_grant){ str_of(run), epoch, budget };
}

/* A call that takes so many tokens. */
static enum rc
budget_call(struct run_budgets *b, const struct proxy_grant *g, int64_t tokens)
{
	struct run_budget *r;
	enum rc rc = run_budget_begin(b, g, &r);

	if (rc == RC_OK)
		run_budget_end(r, tokens);
	return rc;
}

TEST(a_run_stops_at_its_budget)
{
	struct run_budgets *b = run_budgets_new(4);
	struct proxy_grant one = budget_grant("one", 1, 100);
	struct proxy_grant two = budget_grant("two", 1, 100);

	ck_assert_int_eq(budget_call(b, &one, 60), RC_OK);
	ck_assert_int_eq(budget_call(b, &one, 60), RC_OK);
	ck_assert_int_eq(budget_call(b, &one, 0), RC_TOOBIG);
	ck_assert_int_eq(budget_call(b, &two, INT64_MAX), RC_OK);
	ck_assert_int_eq(budget_call(b, &two, 0), RC_TOOBIG);
	/* A budget of a later epoch is of the same run. */
	one = budget_grant("one", 2, 100);
	ck_assert_int_eq(budget_call(b, &one, 0), RC_TOOBIG);
	one.budget = 121;
	ck_assert_int_eq(budget_call(b, &one, 1), RC_OK);
	ck_assert_int_eq(budget_call(b, &one, 1), RC_TOOBIG);
	run_budgets_free(b);
}

TEST(a_budget_of_zero_allows_nothing)
{
	struct run_budgets *b = run_budgets_new(4);
	struct proxy_grant g = budget_grant("one", 1, 0);

	ck_assert_int_eq(budget_call(b, &g, 1), RC_TOOBIG);
	run_budgets_free(b);
}

TEST(an_earlier_epoch_is_fenced)
{
	struct run_budgets *b = run_budgets_new(4);
	struct proxy_grant g = budget_grant("one", 2, 100);

	ck_assert_int_eq(budget_call(b, &g, 1), RC_OK);
	g.epoch = 1;
	ck_assert_int_eq(budget_call(b, &g, 1), RC_DENIED);
	g.epoch = 3;
	ck_assert_int_eq(budget_call(b, &g, 1), RC_OK);
	run_budgets_free(b);
}

TEST(calls_at_a_time_are_limited)
{
	struct run_budgets *b = run_budgets_new(4);
	struct proxy_grant g = budget_grant("one", 1, 100);
	struct run_budget *r[RUN_BUDGET_CALLS_MAX], *more;
	size_t i;

	for (i = 0; i < RUN_BUDGET_CALLS_MAX; i++)
		ck_assert_int_eq(run_budget_begin(b, &g, &r[i]), RC_OK);
	ck_assert_int_eq(run_budget_begin(b, &g, &more), RC_RETRY);
	run_budget_end(r[0], 1);
	ck_assert_int_eq(run_budget_begin(b, &g, &r[0]), RC_OK);
	for (i = 0; i < RUN_BUDGET_CALLS_MAX; i++)
		run_budget_end(r[i], 1);
	run_budgets_free(b);
}

TEST(the_longest_idle_run_is_forgotten_and_no_busy_one)
{
	struct run_budgets *b = run_budgets_new(2);
	struct proxy_grant one = budget_grant("one", 1, 100);
	struct proxy_grant two = budget_grant("two", 1, 100);
	struct proxy_grant three = budget_grant("three", 1, 100);
	struct run_budget *r, *s, *t;

	ck_assert_int_eq(budget_call(b, &one, 100), RC_OK);
	ck_assert_int_eq(budget_call(b, &two, 100), RC_OK);
	ck_assert_int_eq(budget_call(b, &three, 100), RC_OK);
	ck_assert_int_eq(budget_call(b, &two, 1), RC_TOOBIG);
	ck_assert_int_eq(run_budget_begin(b, &one, &r), RC_OK);
	ck_assert_int_eq(budget_call(b, &three, 1), RC_TOOBIG);
	three.run = STR("four");
	ck_assert_int_eq(run_budget_begin(b, &three, &s), RC_OK);
	ck_assert_int_eq(run_budget_begin(b, &two, &t), RC_RETRY);
	run_budget_end(r, 1);
	run_budget_end(s, 1);
	run_budgets_free(b);
}
