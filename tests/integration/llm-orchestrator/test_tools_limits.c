/*
 * Extensions of a skill's schema: timeout, safety, clamped arguments.
 */
#include "testkit/orch_fixture.h"

#define STOP_INTENT INTENT_READY("i_stop", "{\"skill\":\"stop\"}")

static const char skills[] =
    "[{\"name\":\"slow\",\"description\":\"慢慢转\",\"input_schema\":{"
    "\"type\":\"object\",\"x-timeout-seconds\":4}},"
    "{\"name\":\"quick\",\"description\":\"快快转\",\"input_schema\":{"
    "\"type\":\"object\",\"x-timeout-seconds\":1}},"
    "{\"name\":\"stop\",\"description\":\"急停\",\"input_schema\":{"
    "\"type\":\"object\",\"x-safety\":true}},"
    "{\"name\":\"control_light\",\"description\":\"控制灯\","
    "\"input_schema\":{\"type\":\"object\",\"properties\":{\"mode\":{"
    "\"type\":\"string\",\"enum\":[\"on\",\"off\"]},\"level\":{\"type\":"
    "\"integer\",\"minimum\":1,\"maximum\":10,\"x-clamp\":true},"
    "\"night\":{\"type\":\"boolean\"}},\"required\":[\"mode\"]}}]";

static void
begin(struct orch_fixture *b)
{
	orch_fixture_start(b, 1);
	orch_fixture_set_skills(b, skills);
	orch_peers_set(&b->peers, filter, INTENT_FALLBACK);
}

static void
answer(struct orch_fixture *b)
{
	char id[64], json[128];

	snprintf(id, sizeof(id), "%s",
	    orch_text(orch_peers_last(&b->peers, invoke), "request_id"));
	snprintf(json, sizeof(json), "{\"request_id\":\"%s\",\"ok\":true}", id);
	orch_body_result(&b->peers, "t1", id, json);
}

/* Timeouts longer and shorter than the default. */
TEST_T(skills_have_their_own_timeout, 60)
{
	struct mono start;
	struct orch_fixture b;
	struct orch_turn t;

	begin(&b);
	orch_peers_set(&b.peers, body, BODY_MUTE);
	orch_model_reply(&b.model, "转好了。", "[[\"slow\",\"{}\"]]");
	start = clock_mono();
	orch_turn_start(&t, &b, "慢慢转一圈");
	while (orch_peers_invokes(&b.peers) < 1)
		orch_turn_next(&t, 20);
	int64_t left = json_integer_value(tk_find(
			   orch_peers_last(&b.peers, invoke), "deadline_ms")) -
	    clock_wall().ms;
	ck_assert_int_gt(left, 2500);
	ck_assert_int_le(left, 4000);
	/* The default of two seconds has passed. */
	while (mono_diff_ms(clock_mono(), start) < 2600)
		orch_turn_next(&t, 50);
	ck_assert_ptr_null(t.end);
	answer(&b);
	orch_ck_completed(
	    &t, .reply = "转好了。", .executed = "slow", .failed = "");
	orch_turn_close(&t);

	orch_model_reply(&b.model, "转好了。", "[[\"quick\",\"{}\"]]");
	orch_model_reply(&b.model, "没有确认。", NULL);
	start = clock_mono();
	orch_turn_start(&t, &b, "快转一圈");
	orch_ck_completed(
	    &t, .executed = "", .failed = "quick", .errors = "not confirmed");
	ck_assert_int_lt(mono_diff_ms(clock_mono(), start), 1900);
	orch_turn_close(&t);
	orch_fixture_stop(&b);
}

/* A closed or unknown gate holds back all but safety skills. */
TEST_T(safety_skills_pass_the_gate, 60)
{
	static const char *const modes[] = { "blocked", NULL };
	static const char *const errors[] = { "blocked", "gate unknown" };
	struct orch_fixture b;
	struct orch_turn t;
	char text[256];

	begin(&b);
	for (size_t i = 0; i < NELEM(modes); i++) {
		orch_peers_clear(&b.peers);
		orch_peers_set(&b.peers, exec_mode, modes[i]);
		orch_model_reply(&b.model, "停下了。",
		    "[[\"stop\",\"{}\"],[\"quick\",\"{}\"]]");
		orch_model_reply(&b.model, "已经停下。", NULL);
		orch_turn_start(&t, &b, "快停，然后转一圈");
		orch_ck_completed(&t, .executed = "stop", .failed = "quick",
		    .errors = errors[i]);
		ck_assert_uint_eq(orch_peers_invokes(&b.peers), 1);
		json_t *q = orch_model_request(&b.model, 2 * i);
		ck_assert_str_eq(orch_model_tools(q, text, sizeof(text)),
		    "slow,quick,stop,control_light");
		ck_assert_ptr_nonnull(
		    strstr(orch_model_text(q, 0), "而且只有它们：stop。"));
		/* Blocked calls are not offered another time. */
		ck_assert_str_eq(
		    orch_text(
			orch_model_request(&b.model, 2 * i + 1), "tool_choice"),
		    "none");
		orch_turn_close(&t);
	}
	/* The extensions are not shown. */
	char *shown =
	    json_dumps(tk_find(orch_model_request(&b.model, 0), "tools"), 0);
	ck_assert_ptr_null(strstr(shown, "x-"));
	free(shown);

	/* The same without the model. */
	orch_peers_clear(&b.peers);
	orch_peers_set(&b.peers, exec_mode, "blocked");
	orch_peers_set(&b.peers, filter,
	    INTENT_DECISION("execute_intents",
		STOP_INTENT "," INTENT_READY(
		    "i_light", "{\"skill\":\"control_light\",\"mode\":\"on\"}"),
		""));
	orch_turn_start(&t, &b, "停，开灯");
	orch_ck_completed(&t, .executed = "stop", .failed = "control_light",
	    .errors = "blocked");
	json_t *sent = tk_find(orch_peers_last(&b.peers, action), "intents");
	ck_assert_uint_eq(json_array_size(sent), 1);
	ck_assert_str_eq(
	    orch_text(json_array_get(sent, 0), "normalized.skill"), "stop");
	orch_turn_close(&t);
	orch_fixture_stop(&b);
}

/* Synonyms are coerced, numbers clamped; other errors are returned once. */
TEST_T(arguments_are_coerced, 60)
{
	struct orch_fixture b;
	struct orch_turn t;

	begin(&b);
	orch_model_reply(&b.model, "开了。",
	    "[[\"control_light\",\"{\\\"mode\\\":\\\"打开\\\",\\\"level\\\":"
	    "\\\"９９\\\",\\\"night\\\":\\\"是\\\"}\"]]");
	orch_turn_start(&t, &b, "开灯");
	orch_ck_completed(
	    &t, .reply = "开了。", .executed = "control_light", .failed = "");
	char *args =
	    json_dumps(tk_find(orch_peers_last(&b.peers, invoke), "arguments"),
		JSON_COMPACT);
	ck_assert_str_eq(args, "{\"mode\":\"on\",\"level\":10,\"night\":true}");
	free(args);
	orch_turn_close(&t);

	orch_model_reply(&b.model, NULL,
	    "[[\"control_light\",\"{\\\"mode\\\":\\\"闪烁\\\"}\"]]");
	orch_model_reply(&b.model, "关了。",
	    "[[\"control_light\",\"{\\\"mode\\\":\\\"关\\\"}\"]]");
	orch_turn_start(&t, &b, "让灯闪");
	orch_ck_completed(
	    &t, .reply = "关了。", .executed = "control_light", .failed = "");
	ck_assert_ptr_nonnull(
	    strstr(orch_model_text(orch_model_request(&b.model, 2), -1),
		"/mode: must be one of on, off"));
	orch_turn_close(&t);
	orch_fixture_stop(&b);
}
