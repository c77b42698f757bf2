/*
 * What has become of a session's tasks is reported in its next turn.
 */
#include "state/run.h"
#include "testkit/orch_fixture.h"
#include "testkit/run_fixture.h"

#define TASK "之前交给codex的任务“demo”"

/* In an arena of the test: a turn resets its fixture's. */
static struct run_record
begin_task(struct orch_fixture *b, struct arena *a, const char *session)
{
	struct run_new n = run_fixture_new();
	struct run_record rec;

	n.user_id = STR("u1");
	n.session_id = str_of(session);
	ck_assert_int_eq(run_create(b->state, &n), RC_OK);
	ck_assert_int_eq(
	    run_claim(b->state, str_of(n.run_id), STR("r1"), a, &rec), RC_OK);
	return rec;
}

static void
comes_to(struct orch_fixture *b, struct run_record *rec, enum run_status status)
{
	ck_assert_int_eq(
	    run_fixture_publish(b->state, rec, status, 1, 1), RC_OK);
}

TEST_T(one_turn_of_its_session_reports_a_task, 60)
{
	struct run_record waits, ends, others;
	struct arena *a = arena_new(64UL * 1024);
	struct orch_fixture b;
	struct orch_turn t;
	const char *reply;

	orch_fixture_start(&b, 1);
	orch_peers_set(&b.peers, filter, INTENT_FALLBACK);
	orch_ck_reply(&b, "你好。");
	waits = begin_task(&b, a, "s1");
	ends = begin_task(&b, a, "s1");
	others = begin_task(&b, a, "s2");
	orch_ck_reply(&b, "你好。");
	comes_to(&b, &waits, RUN_IS_WAITING);
	comes_to(&b, &others, RUN_IS_SUCCEEDED);
	orch_ck_reply(&b, "你好。\n" TASK "在等你回答。");
	orch_ck_reply(&b, "你好。");
	comes_to(&b, &waits, RUN_IS_CANCELED);
	comes_to(&b, &ends, RUN_IS_SUCCEEDED);

	/* A turn that failed has reported nothing. */
	orch_model_fail(&b.model, 400);
	orch_turn_start(&t, &b, "你好");
	orch_ck_failed(&t, 502, "llm_unavailable");
	orch_turn_close(&t);
	orch_model_reply(&b.model, "好。", NULL);
	orch_turn_start(&t, &b, "还在吗");
	reply = tk_find_text(orch_turn_end(&t), "response.reply");
	ck_assert_ptr_nonnull(strstr(reply, TASK "已经取消。"));
	ck_assert_ptr_nonnull(strstr(reply, TASK "已经完成。"));
	orch_turn_close(&t);
	orch_ck_reply(&b, "你好。");
	orch_fixture_stop(&b);
	arena_free(a);
}

/* As alarm-clock starts it for an end that is spoken about. */
static void
spoken_about(struct orch_fixture *b, const char *title)
{
	struct orch_turn t;
	char unasked[256];

	snprintf(unasked, sizeof(unasked),
	    "{\"reason\":\"run\",\"text\":\"好了\",\"occurrence\":\"p\","
	    "\"request_id\":\"p-%s\",\"title\":\"%s\"}",
	    title, title);
	orch_turn_start_with(&t, b, NULL,
	    &(struct orch_turn_opts){ .unasked = unasked,
		.unread = true,
		.inputs = "[{\"type\":\"event_note\",\"text\":\"x\"}]" });
	ck_assert_str_eq(
	    orch_text(orch_turn_end(&t), "unasked.outcome"), "spoken");
	orch_turn_close(&t);
}

TEST_T(a_task_that_was_spoken_about_is_not_reported_a_second_time, 60)
{
	struct run_record ends, waits;
	struct arena *a = arena_new(64UL * 1024);
	struct orch_fixture b;

	orch_fixture_start(&b, 1);
	orch_fixture_set_skills(&b,
	    "[{\"name\":\"speak\",\"description\":\"x\",\"input_schema\":"
	    "{\"type\":\"object\",\"properties\":{}}}]");
	orch_peers_set(&b.peers, filter, INTENT_FALLBACK);
	orch_ck_reply(&b, "你好。");
	ends = begin_task(&b, a, "s1");
	waits = begin_task(&b, a, "s1");
	comes_to(&b, &ends, RUN_IS_SUCCEEDED);
	comes_to(&b, &waits, RUN_IS_WAITING);
	spoken_about(&b, "other");
	spoken_about(&b, "demo");
	orch_ck_reply(&b, "你好。\n" TASK "在等你回答。");
	orch_fixture_stop(&b);
	arena_free(a);
}
