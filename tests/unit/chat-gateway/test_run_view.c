/* Runs, their ends, and engines, as messages. */
#include <string.h>

#include "core/mem.h"
#include "runs/engine_view.h"
#include "runs/run_end.h"
#include "runs/run_view.h"
#include "testkit/testkit.h"

static struct run_record
waiting_run(void)
{
	return (struct run_record){ .run_id = STR("20260221T091252-codex-0"),
		.user_id = STR("ann"),
		.engine = STR("codex"),
		.mode = STR("file-write"),
		.title = STR("t"),
		.spec = STR("{\"engine\":\"codex\",\"skill\":\"demo\"}"),
		.status = RUN_IS_WAITING,
		.attempt = 2,
		.fcmp_last = 7,
		.rasp_last = 9,
		.question = STR("{\"interaction_id\":\"ix_2\",\"kind\":"
				"\"single_choice\",\"prompt\":\"?\","
				"\"options\":[{\"value\":\"a\"}]}"),
		.facts = STR("{\"engine_version\":\"1\"}"),
		.created = { 1000 },
		.changed = { 2000 },
		.reply_until = { 3000 } };
}

TEST(a_record_is_shown_with_what_its_state_has)
{
	struct arena *a = arena_new(65536);
	struct run_record rec = waiting_run();
	struct wire_run_record out;

	ck_assert_int_eq(run_view_record(&rec, a, &out), RC_OK);
	ck_assert_int_eq(out.state, WIRE_RUN_RECORD_STATE_WAITING_USER);
	ck_assert_int_eq(out.mode, WIRE_RUN_RECORD_MODE_FILE_WRITE);
	ck_assert(out.has_interaction && out.has_request);
	ck_assert(str_eq(out.interaction.interaction_id, STR("ix_2")));
	ck_assert(str_eq(out.request.skill, STR("demo")));
	ck_assert(str_eq(out.created_at, STR("1970-01-01T00:00:01Z")));
	ck_assert(str_eq(out.reply_until, STR("1970-01-01T00:00:03Z")));
	ck_assert_ptr_null(out.ended_at.p);
	ck_assert_int_eq(out.events, 7);
	ck_assert_int_eq(out.rasp_events, 9);
	/* The question stays in the record when it was answered. */
	rec.status = RUN_IS_RUNNING;
	ck_assert_int_eq(run_view_record(&rec, a, &out), RC_OK);
	ck_assert(!out.has_interaction);
	ck_assert_ptr_null(out.reply_until.p);
	arena_free(a);
}

TEST(a_record_that_breaks_its_schema_is_invalid)
{
	struct arena *a = arena_new(65536), *small = arena_new(8);
	struct run_record rec = waiting_run();
	struct wire_run_record out;
	struct wire_run brief;

	rec.mode = STR("other");
	ck_assert_int_eq(run_view(&rec, a, &brief), RC_INVALID);
	rec = waiting_run();
	rec.facts = STR("{\"isolation\":1}");
	ck_assert_int_eq(run_view_record(&rec, a, &out), RC_INVALID);
	rec = waiting_run();
	rec.question = STR("{");
	ck_assert_int_eq(run_view_record(&rec, a, &out), RC_INVALID);
	rec = waiting_run();
	ck_assert_int_eq(run_view_record(&rec, small, &out), RC_TOOBIG);
	arena_free(a);
	arena_free(small);
}

TEST(the_last_event_of_rasp_is_found_by_its_type)
{
	static const char *const ends[] = {
		"{\"event\":{\"type\":\"run.completed\"}}",
		"{\"event\":{\"category\":\"x\",\"type\":\"run.failed\"},"
		"\"data\":{}}",
		"{\"data\":{\"event\":{\"type\":\"run.usage\"}},"
		"\"event\":{\"type\":\"run.canceled\"}}",
	};
	static const char *const others[] = { "", "{", "[]", "{\"event\":1}",
		"{\"event\":{\"type\":\"run.started\"}}",
		"{\"event\":{\"type\":[\"run.failed\"]}}",
		"{\"data\":{\"event\":{\"type\":\"run.failed\"}}}",
		"{\"data\":{\"type\":\"run.failed\"},\"event\":{}}",
		"{\"text\":\"{\\\"event\\\":{\\\"type\\\":"
		"\\\"run.failed\\\"}}\"}" };
	size_t i;

	for (i = 0; i < NELEM(ends); i++)
		ck_assert_msg(run_end_of_rasp(str_of(ends[i])), "%s", ends[i]);
	for (i = 0; i < NELEM(others); i++)
		ck_assert_msg(
		    !run_end_of_rasp(str_of(others[i])), "%s", others[i]);
	ck_assert(!run_end_of_rasp((struct str){ NULL, 0 }));
}

TEST(engines_are_joined_over_their_runners)
{
	struct str acme = STR("acme"), models[] = { STR("m1"), STR("m2") };
	struct wire_runner_status_engines first[] = { { .engine = STR("codex"),
							  .version = STR("1"),
							  .models = models,
							  .n_models = 2,
							  .has_models = true },
		{ .engine = STR("gemini"),
		    .version = STR("2"),
		    .tenants = &acme,
		    .n_tenants = 1,
		    .has_tenants = true } },
					  second[] = { { .engine = STR("codex"),
					      .version = STR("3") } };
	const struct wire_runner_status list[] = {
		{ .runner = STR("r1"),
		    .engines = first,
		    .n_engines = 2,
		    .places = 8,
		    .free = 1 },
		{ .runner = STR("r2"),
		    .engines = second,
		    .n_engines = 1,
		    .places = 4,
		    .free = 4 },
	};
	struct arena *a = arena_new(65536), *small = arena_new(64);
	struct wire_engine_list out;

	ck_assert_int_eq(engine_view(list, 2, true, acme, a, &out), RC_OK);
	ck_assert_uint_eq(out.n_items, 2);
	ck_assert_int_eq(out.items[0].places, 12);
	ck_assert_int_eq(out.items[0].free, 5);
	ck_assert_uint_eq(out.items[0].n_runners, 2);
	ck_assert_uint_eq(out.items[0].runners[0].n_models, 2);
	ck_assert(str_eq(out.items[0].runners[1].version, STR("3")));
	/* An owner without a tenant, and a caller that is not known. */
	ck_assert_int_eq(
	    engine_view(list, 2, true, (struct str){ NULL, 0 }, a, &out),
	    RC_OK);
	ck_assert_uint_eq(out.n_items, 1);
	ck_assert_int_eq(
	    engine_view(list, 2, false, (struct str){ NULL, 0 }, a, &out),
	    RC_OK);
	ck_assert_uint_eq(out.n_items, 2);
	ck_assert_int_eq(
	    engine_view(list, 2, false, acme, small, &out), RC_TOOBIG);
	arena_free(a);
	arena_free(small);
}
