/*
 * Results that arrive after their turn are reported in the next one.
 */
#include "testkit/orch_fixture.h"
#include "testkit/terminal_fixture.h"

#define NOD "[[\"nod\",\"{\\\"times\\\":1}\"]]"

#define DONE   "之前没有得到确认的点头，后来已经完成。"
#define FAILED "之前没有得到确认的点头没有成功：stuck。"

/* A turn whose nod is not confirmed; returns its request id. */
static void
unconfirmed(struct orch_fixture *b, char id[64])
{
	struct orch_turn t;

	orch_peers_set(&b->peers, body, BODY_MUTE);
	orch_model_reply(&b->model, NULL, NOD);
	orch_model_reply(&b->model, "没有确认。", NULL);
	orch_turn_start(&t, b, "点个头");
	orch_ck_completed(&t,
	    .reply = "没有确认。\n点头已经发出，但没有得到确认。",
	    .executed = "", .failed = "nod", .errors = "not confirmed");
	snprintf(id, 64, "%s",
	    orch_text(orch_peers_last(&b->peers, invoke), "request_id"));
	orch_turn_close(&t);
}

/* The body publishes a result, and the bridge stores it. */
static void
result_replies(struct orch_fixture *b, const char *id, const char *more)
{
	char json[256];
	bool first;

	snprintf(json, sizeof(json), "{\"request_id\":\"%s\",%s}", id, more);
	ck_assert_int_eq(terminal_fixture_put_result(b->state, STR("t1"),
			     str_of(id), str_of(json), &first),
	    RC_OK);
	ck_assert(first);
}

TEST_T(a_result_after_the_turn_is_in_the_next_reply, 60)
{
	struct orch_fixture b;
	char id[64];

	orch_fixture_start(&b, 1);
	orch_peers_set(&b.peers, filter, INTENT_FALLBACK);
	unconfirmed(&b, id);
	/* No result yet. */
	orch_ck_reply(&b, "你好。");
	result_replies(&b, id, "\"ok\":true");
	orch_ck_reply(&b, "你好。\n" DONE);
	/* The model was informed too, and instructed not to repeat it. */
	json_t *q = orch_model_request(&b.model, 3);
	ck_assert_ptr_nonnull(strstr(orch_model_text(q, 0), "【后来】" DONE));
	orch_ck_reply(&b, "你好。");
	/* It is part of the history now. */
	q = orch_model_request(&b.model, 4);
	ck_assert_ptr_null(strstr(orch_model_text(q, 0), "【后来】"));
	ck_assert_str_eq(orch_model_text(q, -3), "[late_result] " DONE);
	orch_fixture_stop(&b);
}

/* The body's own errors are reported, each with its outcome. */
TEST_T(several_results_after_the_turn, 60)
{
	char first[64], second[64];
	struct orch_fixture b;

	orch_fixture_start(&b, 1);
	orch_peers_set(&b.peers, filter, INTENT_FALLBACK);
	unconfirmed(&b, first);
	unconfirmed(&b, second);
	result_replies(&b, second, "\"ok\":false,\"error\":\"stuck\"");
	orch_ck_reply(&b, "你好。\n" FAILED);
	result_replies(&b, first, "\"ok\":true");
	orch_ck_reply(&b, "你好。\n" DONE);
	orch_ck_reply(&b, "你好。");
	orch_fixture_stop(&b);
}

/* Any process reports it in the next turn; a failed turn has not. */
TEST_T(results_after_the_turn_survive_a_kill, 60)
{
	struct orch_turn t;
	struct orch_fixture b;
	char id[64];

	orch_fixture_start(&b, 1);
	orch_peers_set(&b.peers, filter, INTENT_FALLBACK);
	unconfirmed(&b, id);
	result_replies(&b, id, "\"ok\":true");
	orch_model_fail(&b.model, 400);
	orch_turn_start(&t, &b, "你好");
	orch_ck_failed(&t, 502, "llm_unavailable");
	orch_turn_close(&t);
	orch_fixture_kill(&b, 0);
	orch_fixture_spawn(&b, 0);
	orch_ck_reply(&b, "你好。\n" DONE);
	orch_fixture_kill(&b, 0);
	orch_fixture_spawn(&b, 0);
	orch_ck_reply(&b, "你好。");
	orch_fixture_stop(&b);
}
