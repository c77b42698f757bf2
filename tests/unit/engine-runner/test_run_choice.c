/* Which runner a run is for. */
#include "core/mem.h"
#include "run_choice.h"
#include "testkit/testkit.h"

static struct str acme[] = { STR_INIT("acme") };
static struct str models[] = { STR_INIT("large"), STR_INIT("small") };
static struct wire_runner_status_engines codex = {
	.engine = STR_INIT("codex"),
	.models = models,
	.n_models = 2,
	.has_models = true,
};
static struct wire_runner_status_engines gemini = {
	.engine = STR_INIT("gemini"),
	.tenants = acme,
	.n_tenants = 1,
	.has_tenants = true,
};

TEST(the_runner_with_most_free_slots_is_chosen)
{
	const struct wire_runner_status list[] = {
		{ .runner = STR_INIT("a"),
		    .engines = &codex,
		    .n_engines = 1,
		    .free = 1 },
		{ .runner = STR_INIT("b"),
		    .engines = &codex,
		    .n_engines = 1,
		    .free = 3 },
		{ .runner = STR_INIT("c"),
		    .engines = &gemini,
		    .n_engines = 1,
		    .free = 9 },
	};
	struct run_choice c = { .engine = STR("codex") };
	struct str out;

	ck_assert_int_eq(run_choice_make(&c, list, NELEM(list), &out), RC_OK);
	ck_assert(str_eq(out, STR("b")));
	c.model = STR("small");
	ck_assert_int_eq(run_choice_make(&c, list, NELEM(list), &out), RC_OK);
	c.model = STR("huge");
	ck_assert_int_eq(
	    run_choice_make(&c, list, NELEM(list), &out), RC_INVALID);
	c = (struct run_choice){ .engine = STR("opencode") };
	ck_assert_int_eq(run_choice_make(&c, list, NELEM(list), &out), RC_DOWN);
}

TEST(an_engine_of_other_tenants_is_denied)
{
	const struct wire_runner_status list[] = {
		{ .runner = STR_INIT("c"), .engines = &gemini, .n_engines = 1 },
	};
	struct run_choice c = { .engine = STR("gemini") };
	struct str out;

	ck_assert_int_eq(run_choice_make(&c, list, 1, &out), RC_DENIED);
	c.tenant = STR("other");
	ck_assert_int_eq(run_choice_make(&c, list, 1, &out), RC_DENIED);
	c.tenant = STR("acme");
	ck_assert_int_eq(run_choice_make(&c, list, 1, &out), RC_OK);
	ck_assert(str_eq(out, STR("c")));
}
