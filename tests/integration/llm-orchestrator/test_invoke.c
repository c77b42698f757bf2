/*
 * Skills that the model invokes on the body, and their results.
 */
#include "testkit/orch_fixture.h"
#include "testkit/terminal_fixture.h"

#define NOD "[[\"nod\",\"{\\\"times\\\":1}\"]]"

/* A turn in which the model calls nod, for each behaviour of the body. */
static void
nod(struct orch_fixture *b, struct orch_turn *t, enum orch_body_mode mode)
{
	orch_peers_set(&b->peers, filter, INTENT_FALLBACK);
	orch_peers_set(&b->peers, body, mode);
	orch_turn_start(t, b, "表示同意");
}

TEST_T(a_skill_succeeds, 60)
{
	struct orch_fixture b;
	struct orch_turn t;

	orch_fixture_start(&b, 1);
	/* Text beside the call is the reply: one call of the model. */
	orch_model_reply(&b.model, "好，我点头了。", NOD);
	nod(&b, &t, BODY_OK);
	orch_ck_completed(
	    &t, .reply = "好，我点头了。", .executed = "nod", .failed = "");
	ck_assert_uint_eq(orch_model_requests(&b.model), 1);
	json_t *v = orch_peers_last(&b.peers, invoke);
	ck_assert_str_eq(orch_text(v, "skill"), "nod");
	ck_assert_int_eq(json_integer_value(tk_find(v, "arguments.times")), 1);
	ck_assert_int_gt(json_integer_value(tk_find(v, "deadline_ms")),
	    (json_int_t)clock_wall().ms - ORCH_WAIT_MS);
	orch_turn_close(&t);

	/* Without text the model sees the result. */
	orch_model_reply(&b.model, NULL, NOD);
	orch_model_reply(&b.model, "点过了。", NULL);
	nod(&b, &t, BODY_OK);
	orch_ck_completed(
	    &t, .reply = "点过了。", .executed = "nod", .failed = "");
	ck_assert_str_eq(orch_model_text(orch_model_request(&b.model, 2), -1),
	    "{\"ok\":true,\"output\":\"nod done\"}");
	orch_turn_close(&t);

	/* The first result counts. */
	orch_model_reply(&b.model, "好。", NOD);
	nod(&b, &t, BODY_TWICE);
	orch_ck_completed(&t, .reply = "好。", .executed = "nod", .failed = "");
	orch_turn_close(&t);
	orch_fixture_stop(&b);
}

TEST_T(a_skill_fails, 60)
{
	struct orch_fixture b;
	struct orch_turn t;

	orch_fixture_start(&b, 1);
	orch_model_reply(&b.model, "已经点头了。", NOD);
	orch_model_reply(&b.model, "没点成。", NULL);
	nod(&b, &t, BODY_ERROR);
	orch_ck_completed(&t, .reply = "没点成。\n点头没有成功：stuck。",
	    .executed = "", .failed = "nod", .errors = "stuck");
	ck_assert_str_eq(orch_model_text(orch_model_request(&b.model, 1), -1),
	    "{\"ok\":false,\"error\":\"stuck\"}");
	orch_turn_close(&t);
	orch_fixture_stop(&b);
}

/* No result, the result of another request, an invalid result. */
TEST_T(a_skill_without_a_result_is_not_confirmed, 90)
{
	static const enum orch_body_mode modes[] = { BODY_MUTE, BODY_WRONG_ID,
		BODY_BAD };
	struct orch_fixture b;
	struct orch_turn t;

	orch_fixture_start(&b, 1);
	for (size_t i = 0; i < NELEM(modes); i++) {
		orch_model_reply(&b.model, "点好了。", NOD);
		orch_model_reply(&b.model, "好像没点成。", NULL);
		nod(&b, &t, modes[i]);
		orch_ck_completed(&t,
		    .reply = "好像没点成。\n点头已经发出，但没有得到确认。",
		    .executed = "", .failed = "nod", .errors = "not confirmed");
		ck_assert_str_eq(
		    orch_text(
			orch_model_request(&b.model, 2 * i + 1), "tool_choice"),
		    "none");
		orch_turn_close(&t);
	}
	/* Each was sent a single time. */
	ck_assert_uint_eq(orch_peers_invokes(&b.peers), NELEM(modes));
	orch_fixture_stop(&b);
}

/* A result after the timeout does not confirm the call. */
TEST_T(a_result_after_the_timeout_is_ignored, 60)
{
	struct orch_fixture b;
	struct orch_turn t;
	char id[64], json[256];

	orch_fixture_start(&b, 1);
	orch_model_reply(&b.model, NULL, NOD);
	orch_model_reply_after(&b.model, "没有确认。", NULL, 500);
	nod(&b, &t, BODY_MUTE);
	while (orch_model_requests(&b.model) < 2)
		orch_turn_next(&t, 50);
	snprintf(id, sizeof(id), "%s",
	    orch_text(orch_peers_last(&b.peers, invoke), "request_id"));
	snprintf(json, sizeof(json), "{\"request_id\":\"%s\",\"ok\":true}", id);
	orch_body_result(&b.peers, "t1", id, json);
	orch_ck_completed(
	    &t, .executed = "", .failed = "nod", .errors = "not confirmed");
	orch_body_result(&b.peers, "t1", id, json);
	orch_turn_close(&t);
	orch_fixture_stop(&b);
}

/* A result lost on NATS is read from Redis. */
TEST_T(a_lost_result_is_read_from_redis, 60)
{
	struct orch_fixture b;
	struct orch_turn t;
	char id[64], json[256];
	bool first;

	orch_fixture_start(&b, 1);
	orch_model_reply(&b.model, "点好了。", NOD);
	nod(&b, &t, BODY_MUTE);
	while (orch_peers_invokes(&b.peers) < 1)
		orch_turn_next(&t, 20);
	snprintf(id, sizeof(id), "%s",
	    orch_text(orch_peers_last(&b.peers, invoke), "request_id"));
	snprintf(json, sizeof(json), "{\"request_id\":\"%s\",\"ok\":true}", id);
	ck_assert_int_eq(terminal_fixture_put_result(b.state, STR("t1"),
			     str_of(id), str_of(json), &first),
	    RC_OK);
	orch_ck_completed(
	    &t, .reply = "点好了。", .executed = "nod", .failed = "");
	orch_turn_close(&t);
	orch_fixture_stop(&b);
}

TEST_T(an_offline_body_gets_no_invoke, 60)
{
	static const struct {
		const char *delivery, *error;
	} rows[] = {
		{ "offline", "offline" },
		{ "no_subscriber", "no subscriber" },
		{ "late", "late" },
	};
	struct orch_fixture b;
	struct orch_turn t;

	orch_fixture_start(&b, 1);
	for (size_t i = 0; i < NELEM(rows); i++) {
		orch_model_reply(&b.model, "点好了。", NOD);
		orch_model_reply(&b.model, "没点成。", NULL);
		orch_peers_set(&b.peers, delivery, rows[i].delivery);
		nod(&b, &t, BODY_OK);
		orch_ck_completed(&t, .executed = "", .failed = "nod",
		    .errors = rows[i].error);
		orch_turn_close(&t);
	}
	orch_fixture_stop(&b);
}

/* Calls of one skill run in order, different skills in parallel. */
TEST_T(several_calls_run_in_parallel, 60)
{
	struct orch_fixture b;
	struct orch_turn t;
	char diary[512];

	orch_fixture_start(&b, 1);
	orch_model_reply(&b.model, "都好了。",
	    "[[\"nod\",\"{\\\"times\\\":1}\"],[\"nod\",\"{\\\"times\\\":2}\"],"
	    "[\"control_light\",\"{\\\"mode\\\":\\\"on\\\"}\"]]");
	nod(&b, &t, BODY_OK);
	orch_ck_completed(&t, .reply = "都好了。",
	    .executed = "nod,control_light", .failed = "");
	ck_assert_uint_eq(orch_peers_invokes(&b.peers), 3);
	ck_assert_int_eq(
	    json_integer_value(
		tk_find(orch_peers_last(&b.peers, invoke), "arguments.times")),
	    2);
	orch_turn_close(&t);

	/*
	 * A skill without a result does not delay others; the second nod
	 * waits.
	 */
	orch_peers_clear(&b.peers);
	orch_peers_set(&b.peers, mute_skill, "nod");
	orch_model_reply(&b.model, "都好了。",
	    "[[\"nod\",\"{}\"],[\"nod\",\"{}\"],"
	    "[\"control_light\",\"{\\\"mode\\\":\\\"on\\\"}\"]]");
	orch_model_reply(&b.model, "灯开了。", NULL);
	nod(&b, &t, BODY_OK);
	orch_ck_completed(&t, .executed = "control_light", .failed = "nod,nod",
	    .errors = "not confirmed,not sent");
	ck_assert_str_eq(
	    strstr(orch_peers_log(&b.peers, diary, sizeof(diary)), "invoke"),
	    "invoke:nod invoke:control_light");
	orch_turn_close(&t);
	orch_fixture_stop(&b);
}

/* Arguments are coerced where that is safe, else returned to the model once. */
TEST_T(invalid_arguments_are_returned_to_the_model, 60)
{
	struct orch_fixture b;
	struct orch_turn t;

	orch_fixture_start(&b, 1);
	orch_model_reply(
	    &b.model, "好。", "[[\"nod\",\"{\\\"times\\\":\\\"3\\\"}\"]]");
	nod(&b, &t, BODY_OK);
	orch_ck_completed(&t, .reply = "好。", .executed = "nod", .failed = "");
	ck_assert_int_eq(
	    json_integer_value(
		tk_find(orch_peers_last(&b.peers, invoke), "arguments.times")),
	    3);
	orch_turn_close(&t);

	orch_model_reply(&b.model, NULL,
	    "[[\"control_light\",\"{\\\"mode\\\":\\\"blink\\\"}\"]]");
	orch_model_reply(&b.model, "灯开了。",
	    "[[\"control_light\",\"{\\\"mode\\\":\\\"on\\\"}\"]]");
	nod(&b, &t, BODY_OK);
	orch_ck_completed(
	    &t, .reply = "灯开了。", .executed = "control_light", .failed = "");
	ck_assert_str_eq(orch_model_text(orch_model_request(&b.model, 2), -1),
	    "{\"ok\":false,\"error\":\"invalid arguments: /mode: must be one "
	    "of on, off, set_color\"}");
	orch_turn_close(&t);

	/* No third attempt; a truncated call is invalid. */
	orch_peers_clear(&b.peers);
	orch_model_reply(&b.model, NULL, "[[\"control_light\",\"{}\"]]");
	orch_model_reply(&b.model, NULL, "[[\"control_light\",\"{\\\"mo\"]]");
	orch_model_reply(&b.model, "没弄好。", NULL);
	nod(&b, &t, BODY_OK);
	orch_ck_completed(&t, .executed = "", .failed = "control_light");
	ck_assert_uint_eq(orch_peers_invokes(&b.peers), 0);
	orch_turn_close(&t);
	orch_fixture_stop(&b);
}

/* A skill that the body does not have, and endless rounds. */
TEST_T(unknown_skills_and_rounds_are_limited, 60)
{
	struct orch_fixture b;
	struct orch_turn t;

	orch_fixture_start(&b, 1);
	orch_model_reply(&b.model, "飞起来了", "[[\"fly up!\",\"{}\"]]");
	orch_model_reply(&b.model, "我不会飞。", NULL);
	nod(&b, &t, BODY_OK);
	json_t *f = json_array_get(
	    tk_find(orch_turn_end(&t), "response.failed_skills"), 0);
	ck_assert_str_eq(orch_text(f, "error"), "unknown skill");
	/* The model is shown a name that providers accept. */
	json_t *call = json_array_get(
	    tk_find(orch_model_message(orch_model_request(&b.model, 1), -2),
		"tool_calls"),
	    0);
	ck_assert_str_eq(
	    orch_text(call, "function.name"), orch_text(f, "skill"));
	ck_assert_uint_eq(strspn(orch_text(f, "skill"),
			      "abcdefghijklmnopqrstuvwxyz0123456789_"),
	    strlen(orch_text(f, "skill")));
	orch_turn_close(&t);

	for (int i = 0; i < 4; i++)
		orch_model_reply(&b.model, NULL, NOD);
	orch_model_reply(&b.model, "够了。", NOD);
	nod(&b, &t, BODY_OK);
	orch_ck_completed(&t, .reply = "够了。\n一次要做的事太多，有些没有做。",
	    .executed = "nod", .failed = "");
	ck_assert_uint_eq(orch_peers_invokes(&b.peers), 4);
	orch_turn_close(&t);
	orch_fixture_stop(&b);
}
