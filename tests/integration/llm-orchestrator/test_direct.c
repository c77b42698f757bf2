/*
 * Commands that run without the language model.
 */
#include "state/memory.h"
#include "testkit/orch_fixture.h"

TEST_T(a_command_runs_without_the_model, 60)
{
	struct orch_fixture b;
	struct orch_turn t;
	char diary[1024];

	orch_fixture_start(&b, 1);
	orch_peers_set(&b.peers, filter,
	    INTENT_DECISION("execute_intents", INTENT_GREEN, ""));
	orch_turn_start(&t, &b, "把灯变绿");
	orch_ck_completed(&t, .reply = "好的，控制灯已执行。",
	    .executed = "control_light", .failed = "");
	ck_assert(!t.accepted);
	ck_assert_str_eq(
	    orch_text(t.end, "response.intent_decision"), "execute_intents");
	ck_assert_str_eq(
	    orch_text(t.end, "response.exec_mode"), "auto_execute");
	ck_assert_double_eq_tol(
	    json_number_value(tk_find(t.end, "response.exec_probability")),
	    0.88, 1e-9);
	ck_assert_str_eq(orch_text(t.end, "response.soul_id"), "soul_1");
	ck_assert_str_eq(orch_text(t.end, "response.turn_id"), t.turn_id);
	ck_assert_ptr_null(tk_find(t.end, "response.failed_skills"));
	ck_assert_uint_eq(orch_model_requests(&b.model), 0);
	/* The action that the body received. */
	json_t *a = orch_peers_last(&b.peers, action);
	ck_assert_int_eq(strncmp(orch_text(a, "request_id"), "ia-", 3), 0);
	ck_assert_str_eq(orch_text(a, "session_id"), "s1");
	json_t *i = json_array_get(tk_find(a, "intents"), 0);
	ck_assert_str_eq(orch_text(i, "intent_id"), "i_light");
	char *normalized = json_dumps(tk_find(i, "normalized"), JSON_COMPACT);
	ck_assert_str_eq(normalized,
	    "{\"skill\":\"control_light\",\"mode\":\"set_color\","
	    "\"color\":\"green\"}");
	free(normalized);
	/* The requests to the peers. */
	ck_assert_str_eq(
	    orch_text(orch_peers_last(&b.peers, observe), "text"), "把灯变绿");
	ck_assert_str_eq(
	    orch_text(orch_peers_last(&b.peers, observe), "turn_id"),
	    t.turn_id);
	ck_assert_str_eq(
	    orch_text(orch_peers_last(&b.peers, filter), "command"),
	    "把灯变绿");
	ck_assert_uint_eq(json_array_size(tk_find(
			      orch_peers_last(&b.peers, filter), "skills")),
	    2);
	ck_assert_str_eq(orch_text(orch_peers_last(&b.peers, filter),
			     "catalog_ref.terminal_id"),
	    "t1");
	ck_assert_str_eq(
	    orch_text(orch_peers_last(&b.peers, filter), "catalog_ref.hash"),
	    "h");
	ck_assert_ptr_null(
	    tk_find(orch_peers_last(&b.peers, filter), "intent_catalog"));
	orch_peers_log(&b.peers, diary, sizeof(diary));
	ck_assert_ptr_nonnull(strstr(diary, "intent_action"));
	orch_turn_close(&t);
	orch_fixture_stop(&b);
}

/* An intent-filter that cannot resolve the reference gets the catalog. */
TEST_T(an_unresolved_catalog_ref_sends_the_catalog, 60)
{
	static const char *const errors[] = { "conflict", "not_found",
		"unavailable", "invalid_request" };
	struct orch_fixture b;
	struct orch_turn t;

	orch_fixture_start(&b, 1);
	orch_peers_set(&b.peers, filter,
	    INTENT_DECISION("execute_intents", INTENT_GREEN, ""));
	for (size_t i = 0; i < NELEM(errors); i++) {
		orch_peers_set(&b.peers, names, errors[i]);
		orch_turn_start(&t, &b, "把灯变绿");
		orch_ck_completed(
		    &t, .executed = "control_light", .failed = "");
		ck_assert_uint_eq(
		    orch_peers_count(&b.peers, "filter"), 2 * (i + 1));
		json_t *requested = orch_peers_last(&b.peers, filter);
		ck_assert_uint_eq(
		    json_array_size(tk_find(requested, "intent_catalog")), 1);
		ck_assert_uint_eq(
		    json_array_size(tk_find(requested, "skills")), 2);
		ck_assert_str_eq(orch_text(requested, "command"), "把灯变绿");
		orch_turn_close(&t);
	}
	/* Only one more request. */
	orch_peers_set(&b.peers, filter, NULL);
	orch_model_reply(&b.model, "好。", NULL);
	orch_turn_start(&t, &b, "把灯变绿");
	orch_ck_completed(&t, .reply = "好。", .executed = "", .failed = "");
	ck_assert_uint_eq(
	    orch_peers_count(&b.peers, "filter"), 2 * NELEM(errors) + 2);
	orch_turn_close(&t);
	orch_fixture_stop(&b);
}

/* A request that got lost with its replica is resent. */
TEST_T(a_request_to_the_filter_is_resent, 60)
{
	struct orch_fixture b;
	struct orch_turn t;

	orch_fixture_start(&b, 1);
	orch_peers_set(&b.peers, filter,
	    INTENT_DECISION("execute_intents", INTENT_GREEN, ""));
	orch_peers_set(&b.peers, filter_mute, 1);
	orch_turn_start(&t, &b, "把灯变绿");
	orch_ck_completed(&t, .executed = "control_light", .failed = "");
	ck_assert_uint_eq(orch_peers_count(&b.peers, "filter"), 2);
	orch_turn_close(&t);

	/* But not without limit. */
	orch_peers_set(&b.peers, filter_mute, 100);
	orch_model_reply(&b.model, "好。", NULL);
	orch_turn_start(&t, &b, "把灯变绿");
	orch_ck_completed(&t, .reply = "好。", .executed = "", .failed = "");
	ck_assert_uint_eq(orch_peers_count(&b.peers, "filter"), 4);
	orch_turn_close(&t);
	orch_fixture_stop(&b);
}

/* The reply reports the state of the delivery. */
TEST_T(an_undelivered_action_is_not_executed, 90)
{
	static const struct {
		const char *delivery, *error, *reply;
	} rows[] = {
		{ "no_subscriber", "no subscriber",
		    "我的身体现在没有响应，控制灯没有执行。" },
		{ "offline", "offline",
		    "我的身体现在不在线，控制灯没有执行。" },
		{ "late", "late", "控制灯没有来得及执行。" },
		{ "failed\",\"error\":\"bulb\",\"request_id\":\"r", "bulb",
		    NULL },
		{ NULL, "not confirmed", "控制灯已经发出，但没有得到确认。" },
	};
	struct orch_fixture b;
	struct orch_turn t;

	orch_fixture_start(&b, 1);
	orch_peers_set(&b.peers, filter,
	    INTENT_DECISION("execute_intents", INTENT_GREEN, ""));
	for (size_t i = 0; i < NELEM(rows); i++) {
		orch_peers_set(&b.peers, delivery, rows[i].delivery);
		orch_turn_start(&t, &b, "把灯变绿");
		orch_ck_completed(&t, .reply = rows[i].reply, .executed = "",
		    .failed = "control_light", .errors = rows[i].error);
		orch_turn_close(&t);
	}
	/* No bridge at all. */
	natsSubscription_Destroy(b.peers.subs[--b.peers.n_subs]);
	natsConnection_Flush(b.peers.nc);
	orch_turn_start(&t, &b, "把灯变绿");
	orch_ck_completed(
	    &t, .executed = "", .failed = "control_light", .errors = "offline");
	orch_turn_close(&t);
	orch_fixture_stop(&b);
}

TEST_T(a_blocked_gate_sends_nothing, 60)
{
	struct orch_fixture b;
	struct orch_turn t;

	orch_fixture_start(&b, 1);
	orch_peers_set(&b.peers, exec_mode, "blocked");
	orch_peers_set(&b.peers, filter,
	    INTENT_DECISION("execute_intents", INTENT_GREEN, ""));
	orch_turn_start(&t, &b, "把灯变绿");
	orch_ck_completed(&t, .reply = "我现在心情还没平复，控制灯这次先不做。",
	    .executed = "", .failed = "control_light", .errors = "blocked");
	ck_assert_str_eq(orch_text(t.end, "response.exec_mode"), "blocked");
	ck_assert_ptr_null(orch_peers_last(&b.peers, action));
	orch_turn_close(&t);

	/* The model cannot send anything either. */
	orch_peers_set(&b.peers, filter, INTENT_FALLBACK);
	orch_model_reply(&b.model, "好", "[[\"nod\",\"{}\"]]");
	orch_model_reply(&b.model, "现在不想动。", NULL);
	orch_turn_start(&t, &b, "动一动");
	orch_ck_completed(&t,
	    .reply = "现在不想动。\n我现在心情还没平复，点头这次先不做。",
	    .executed = "", .failed = "nod", .errors = "blocked");
	ck_assert_str_eq(
	    orch_text(orch_model_request(&b.model, 1), "tool_choice"), "none");
	ck_assert_uint_eq(orch_peers_invokes(&b.peers), 0);
	orch_turn_close(&t);
	orch_fixture_stop(&b);
}

/* Without emotion-engine the gate is unknown, and nothing is sent. */
TEST_T(an_unknown_gate_is_closed, 60)
{
	struct orch_fixture b;
	struct orch_turn t;

	orch_fixture_start(&b, 1);
	orch_peers_set(&b.peers, exec_mode, NULL);
	orch_peers_set(&b.peers, filter,
	    INTENT_DECISION("execute_intents", INTENT_GREEN, ""));
	orch_turn_start(&t, &b, "把灯变绿");
	orch_ck_completed(&t, .executed = "", .failed = "control_light",
	    .errors = "gate unknown");
	ck_assert_ptr_null(tk_find(t.end, "response.exec_mode"));
	ck_assert_ptr_null(tk_find(t.end, "response.exec_probability"));
	ck_assert_ptr_null(orch_peers_last(&b.peers, action));
	orch_turn_close(&t);
	orch_fixture_stop(&b);
}

TEST_T(a_missing_parameter_is_a_question, 60)
{
	struct orch_fixture b;
	struct orch_turn t;

	orch_fixture_start(&b, 1);
	orch_peers_set(&b.peers, filter,
	    INTENT_DECISION("execute_intents",
		INTENT_GREEN
		",{\"intent_id\":\"i_alarm\",\"intent_name\":\"订闹钟\","
		"\"confidence\":0.9,\"status\":\"need_clarification\","
		"\"segment_index\":1,\"span\":{\"text\":\"闹钟\",\"start\":"
		"0,\"end\":2},\"parameters\":{},\"normalized\":{\"skill\":"
		"\"create_alarm\"},\"missing_parameters\":["
		"\"trigger_in_seconds\"],\"evidence\":[]}",
		""));
	orch_turn_start(&t, &b, "把灯变绿再订个闹钟");
	orch_ck_completed(&t,
	    .reply = "好的，控制灯已执行。要订闹钟，请告诉我时间。",
	    .executed = "control_light", .failed = "");
	ck_assert_uint_eq(orch_model_requests(&b.model), 0);
	orch_turn_close(&t);
	orch_fixture_stop(&b);
}

/* A command and a question in one text. */
TEST_T(the_rest_goes_to_the_model, 60)
{
	struct orch_fixture b;
	struct orch_turn t;
	char text[256];

	orch_fixture_start(&b, 1);
	orch_peers_set(&b.peers, filter,
	    INTENT_DECISION(
		"execute_intents", INTENT_GREEN, "\"今天天气怎么样\""));
	orch_model_reply(&b.model, "今天是晴天。", NULL);
	orch_turn_start(&t, &b, "把灯变绿，今天天气怎么样");
	orch_ck_completed(&t, .reply = "好的，控制灯已执行。\n今天是晴天。",
	    .executed = "control_light", .failed = "");
	json_t *q = orch_model_request(&b.model, 0);
	ck_assert_str_eq(orch_model_roles(q, text, sizeof(text)), "suatu");
	ck_assert_str_eq(orch_model_text(q, -1), "今天天气怎么样");
	ck_assert_str_eq(
	    orch_model_tools(q, text, sizeof(text)), "control_light,nod");
	orch_turn_close(&t);

	/* The model is unavailable: the actions are reported nevertheless. */
	orch_model_fail(&b.model, 500);
	orch_turn_start(&t, &b, "把灯变绿，今天天气怎么样");
	orch_ck_completed(&t,
	    .reply = "好的，控制灯已执行。其余的我现在答不上来，"
		     "请稍后再试。",
	    .executed = "control_light", .failed = "");
	orch_turn_close(&t);
	orch_fixture_stop(&b);
}

/* Arguments that violate the skill's schema are not sent. */
#define BLINK         \
	INTENT_READY( \
	    "i_light", "{\"skill\":\"control_light\",\"mode\":\"blink\"}")
#define FLY INTENT_READY("i_fly", "{\"skill\":\"fly\"}")

TEST_T(arguments_of_intents_satisfy_the_schema, 60)
{
	struct orch_fixture b;
	struct orch_turn t;

	orch_fixture_start(&b, 1);
	orch_peers_set(&b.peers, filter,
	    INTENT_DECISION("execute_intents", BLINK "," FLY, ""));
	orch_model_reply(&b.model, "我不会闪灯。", NULL);
	orch_turn_start(&t, &b, "让灯闪，飞起来");
	orch_ck_completed(&t, .reply = "我不会闪灯。\n我不会控制灯。",
	    .executed = "", .failed = "fly", .errors = "unknown skill");
	ck_assert_ptr_null(orch_peers_last(&b.peers, action));
	orch_turn_close(&t);
	orch_fixture_stop(&b);
}

/*
 * A time without a slot: the intent is neither executed nor reported as done.
 */
#define IN_TEN_MINUTES                                              \
	"{\"intent_id\":\"i_light\",\"intent_name\":\"控制灯\"," \
	"\"confidence\":0.9,\"status\":\"rejected\","               \
	"\"segment_index\":0,\"span\":{\"text\":"                   \
	"\"十分钟后把灯变绿\",\"start\":0,\"end\":8},"      \
	"\"parameters\":{},\"normalized\":{\"skill\":"              \
	"\"control_light\",\"mode\":\"on\"},"                       \
	"\"missing_parameters\":[],\"evidence\":[]}"

TEST_T(a_rejected_intent_is_not_executed, 60)
{
	struct orch_fixture b;
	struct orch_turn t;

	orch_fixture_start(&b, 1);
	orch_peers_set(&b.peers, filter,
	    INTENT_DECISION(
		"fallback_reasoning", IN_TEN_MINUTES, "\"十分钟后\""));
	orch_model_reply(&b.model, "我还不会定时开灯。", NULL);
	orch_turn_start(&t, &b, "十分钟后把灯变绿");
	orch_ck_completed(
	    &t, .reply = "我还不会定时开灯。", .executed = "", .failed = "");
	ck_assert_ptr_null(orch_peers_last(&b.peers, action));
	ck_assert_str_eq(orch_model_text(orch_model_request(&b.model, 0), -1),
	    "十分钟后把灯变绿");
	orch_turn_close(&t);

	/* Other ready intents are executed. */
	orch_peers_set(&b.peers, filter,
	    INTENT_DECISION("execute_intents", IN_TEN_MINUTES "," INTENT_GREEN,
		"\"十分钟后\""));
	orch_model_reply(&b.model, "我还不会定时。", NULL);
	orch_turn_start(&t, &b, "十分钟后把灯变绿，把灯变绿");
	orch_ck_completed(&t, .executed = "control_light",
	    .failed = "control_light", .errors = "rejected");
	ck_assert_str_eq(orch_model_text(orch_model_request(&b.model, 1), -1),
	    "十分钟后把灯变绿");
	orch_turn_close(&t);
	orch_fixture_stop(&b);
}

/* Without intents or body there is no request to intent-filter. */
TEST_T(without_intents_the_filter_is_skipped, 60)
{
	struct orch_fixture b;
	struct orch_turn t;
	char text[256];

	orch_fixture_start(&b, 1);
	orch_model_reply(&b.model, "你好！", NULL);
	orch_fixture_set_online(&b, false);
	orch_turn_start(&t, &b, "你好");
	orch_ck_completed(&t,
	    .reply = "你好！\n（我的身体现在不在线，做不了动作。）",
	    .executed = "", .failed = "");
	ck_assert_ptr_null(tk_find(t.end, "response.intent_decision"));
	json_t *q = orch_model_request(&b.model, 0);
	ck_assert_str_eq(orch_model_tools(q, text, sizeof(text)), "");
	ck_assert_ptr_nonnull(strstr(orch_model_text(q, 0), "不在线"));
	orch_turn_close(&t);

	orch_fixture_set_online(&b, true);
	orch_fixture_clear_catalog(&b);
	orch_model_reply(&b.model, "你好！", NULL);
	orch_turn_start(&t, &b, "你好");
	orch_ck_completed(&t, .reply = "你好！", .executed = "", .failed = "");
	ck_assert_ptr_null(tk_find(t.end, "response.intent_decision"));
	ck_assert_uint_eq(orch_peers_count(&b.peers, "filter"), 0);
	orch_turn_close(&t);
	orch_fixture_stop(&b);
}

static void
set_zone(struct orch_fixture *b, const char *user, const char *json)
{
	struct profile_leaf leaf = { STR("/user_profile/timezone"),
		str_of(json) };
	const struct profile_leaves change = { .leaf = &leaf, .n = 1 };

	ck_assert_int_eq(
	    profile_leaves_put(b->state, str_of(user), &change, clock_wall()),
	    RC_OK);
}

/* intent-filter gets the zone of the user, if there is such a zone. */
TEST_T(datetime_expressions_are_of_the_users_zone, 60)
{
	static const struct {
		const char *json, *zone;
	} rows[] = { { "\"Europe/Berlin\"", "Europe/Berlin" },
		{ "\"Mars/Base\"", NULL }, { "7", NULL } };
	struct orch_fixture b;
	struct orch_turn t;

	for (size_t i = 0; i < NELEM(rows); i++) {
		orch_fixture_start(&b, 1);
		set_zone(&b, "u1", rows[i].json);
		orch_peers_set(&b.peers, filter,
		    INTENT_DECISION("execute_intents", INTENT_GREEN, ""));
		orch_turn_start(&t, &b, "把灯变绿");
		orch_ck_completed(
		    &t, .executed = "control_light", .failed = "");
		json_t *zone =
		    tk_find(orch_peers_last(&b.peers, filter), "timezone");
		ck_assert_int_eq(zone != NULL, rows[i].zone != NULL);
		if (zone != NULL)
			ck_assert_str_eq(json_string_value(zone), rows[i].zone);
		orch_turn_close(&t);
		orch_fixture_stop(&b);
	}
}
