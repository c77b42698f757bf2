/*
 * Commands that need no language model.
 */
#include "talk.h"

TEST_T(a_command_is_done_without_a_model, 60)
{
	struct bed b;
	struct talk t;
	char diary[1024];

	bed_start(&b, 1);
	peers_set(&b.peers, filter, DECIDES("execute_intents", GREEN, ""));
	talk_start(&t, &b, "把灯变绿");
	talk_want(&t, .reply = "好的，控制灯已执行。",
	    .executed = "control_light", .failed = "");
	ck_assert(t.accepted);
	ck_assert_str_eq(
	    text_at(t.end, "response.intent_decision"), "execute_intents");
	ck_assert_str_eq(text_at(t.end, "response.exec_mode"), "auto_execute");
	ck_assert_double_eq_tol(
	    json_number_value(at(t.end, "response.exec_probability")), 0.88,
	    1e-9);
	ck_assert_str_eq(text_at(t.end, "response.soul_id"), "soul_1");
	ck_assert_str_eq(text_at(t.end, "response.turn_id"), t.turn_id);
	ck_assert_ptr_null(at(t.end, "response.failed_skills"));
	ck_assert_uint_eq(model_asked(&b.model), 0);
	/* What the body got. */
	json_t *a = peers_last(&b.peers, action);
	ck_assert_int_eq(strncmp(text_at(a, "request_id"), "ia-", 3), 0);
	ck_assert_str_eq(text_at(a, "session_id"), "s1");
	json_t *i = json_array_get(at(a, "intents"), 0);
	ck_assert_str_eq(text_at(i, "intent_id"), "i_light");
	char *normalized = json_dumps(at(i, "normalized"), JSON_COMPACT);
	ck_assert_str_eq(normalized,
	    "{\"skill\":\"control_light\",\"mode\":\"set_color\","
	    "\"color\":\"green\"}");
	free(normalized);
	/* What the others were asked. */
	ck_assert_str_eq(
	    text_at(peers_last(&b.peers, observe), "text"), "把灯变绿");
	ck_assert_str_eq(
	    text_at(peers_last(&b.peers, observe), "turn_id"), t.turn_id);
	ck_assert_str_eq(
	    text_at(peers_last(&b.peers, filter), "command"), "把灯变绿");
	ck_assert_uint_eq(
	    json_array_size(at(peers_last(&b.peers, filter), "skills")), 2);
	ck_assert_str_eq(
	    text_at(peers_last(&b.peers, filter), "catalog_ref.terminal_id"),
	    "t1");
	ck_assert_str_eq(
	    text_at(peers_last(&b.peers, filter), "catalog_ref.hash"), "h");
	ck_assert_ptr_null(at(peers_last(&b.peers, filter), "intent_catalog"));
	peers_diary(&b.peers, diary, sizeof(diary));
	ck_assert_ptr_nonnull(strstr(diary, "intent_action"));
	talk_close(&t);
	bed_stop(&b);
}

/* An intent-filter that cannot have the catalog by name gets it itself. */
TEST_T(a_catalog_that_is_not_found_by_name_is_sent, 60)
{
	static const char *const errors[] = { "conflict", "not_found",
		"unavailable", "invalid_request" };
	struct bed b;
	struct talk t;

	bed_start(&b, 1);
	peers_set(&b.peers, filter, DECIDES("execute_intents", GREEN, ""));
	for (size_t i = 0; i < NELEM(errors); i++) {
		peers_set(&b.peers, names, errors[i]);
		talk_start(&t, &b, "把灯变绿");
		talk_want(&t, .executed = "control_light", .failed = "");
		ck_assert_uint_eq(peers_count(&b.peers, "filter"), 2 * (i + 1));
		json_t *asked = peers_last(&b.peers, filter);
		ck_assert_uint_eq(
		    json_array_size(at(asked, "intent_catalog")), 1);
		ck_assert_uint_eq(json_array_size(at(asked, "skills")), 2);
		ck_assert_str_eq(text_at(asked, "command"), "把灯变绿");
		talk_close(&t);
	}
	/* Once only. */
	peers_set(&b.peers, filter, NULL);
	model_will_say(&b.model, "好。", NULL);
	talk_start(&t, &b, "把灯变绿");
	talk_want(&t, .reply = "好。", .executed = "", .failed = "");
	ck_assert_uint_eq(
	    peers_count(&b.peers, "filter"), 2 * NELEM(errors) + 2);
	talk_close(&t);
	bed_stop(&b);
}

/* A question that died with an intent-filter is asked again. */
TEST_T(a_silent_filter_is_asked_again, 60)
{
	struct bed b;
	struct talk t;

	bed_start(&b, 1);
	peers_set(&b.peers, filter, DECIDES("execute_intents", GREEN, ""));
	peers_set(&b.peers, filter_mute, 1);
	talk_start(&t, &b, "把灯变绿");
	talk_want(&t, .executed = "control_light", .failed = "");
	ck_assert_uint_eq(peers_count(&b.peers, "filter"), 2);
	talk_close(&t);

	/* But not for ever. */
	peers_set(&b.peers, filter_mute, 100);
	model_will_say(&b.model, "好。", NULL);
	talk_start(&t, &b, "把灯变绿");
	talk_want(&t, .reply = "好。", .executed = "", .failed = "");
	ck_assert_uint_eq(peers_count(&b.peers, "filter"), 4);
	talk_close(&t);
	bed_stop(&b);
}

/* What delivery says is what is told. */
TEST_T(what_was_not_delivered_was_not_done, 90)
{
	static const struct {
		const char *delivery, *error, *reply;
	} rows[] = {
		{ "no_subscriber", "no subscriber",
		    "我的身体现在没有响应，控制灯没有执行。" },
		{ "offline", "offline",
		    "我的身体现在不在线，控制灯没有执行。" },
		{ "late", "late", "控制灯没有来得及执行。" },
		{ NULL, "not confirmed", "控制灯已经发出，但没有得到确认。" },
	};
	struct bed b;
	struct talk t;

	bed_start(&b, 1);
	peers_set(&b.peers, filter, DECIDES("execute_intents", GREEN, ""));
	for (size_t i = 0; i < NELEM(rows); i++) {
		peers_set(&b.peers, delivery, rows[i].delivery);
		talk_start(&t, &b, "把灯变绿");
		talk_want(&t, .reply = rows[i].reply, .executed = "",
		    .failed = "control_light", .errors = rows[i].error);
		talk_close(&t);
	}
	/* No bridge at all. */
	natsSubscription_Destroy(b.peers.subs[--b.peers.n_subs]);
	natsConnection_Flush(b.peers.nc);
	talk_start(&t, &b, "把灯变绿");
	talk_want(
	    &t, .executed = "", .failed = "control_light", .errors = "offline");
	talk_close(&t);
	bed_stop(&b);
}

TEST_T(a_blocked_soul_sends_nothing, 60)
{
	struct bed b;
	struct talk t;

	bed_start(&b, 1);
	peers_set(&b.peers, exec_mode, "blocked");
	peers_set(&b.peers, filter, DECIDES("execute_intents", GREEN, ""));
	talk_start(&t, &b, "把灯变绿");
	talk_want(&t, .reply = "我现在心情还没平复，控制灯这次先不做。",
	    .executed = "", .failed = "control_light", .errors = "blocked");
	ck_assert_str_eq(text_at(t.end, "response.exec_mode"), "blocked");
	ck_assert_ptr_null(peers_last(&b.peers, action));
	talk_close(&t);

	/* Nor does a model move it. */
	peers_set(&b.peers, filter, FALLBACK);
	model_will_say(&b.model, "好", "[[\"nod\",\"{}\"]]");
	model_will_say(&b.model, "现在不想动。", NULL);
	talk_start(&t, &b, "动一动");
	talk_want(&t,
	    .reply = "现在不想动。\n我现在心情还没平复，点头这次先不做。",
	    .executed = "", .failed = "nod", .errors = "blocked");
	ck_assert_str_eq(
	    text_at(model_request(&b.model, 1), "tool_choice"), "none");
	ck_assert_uint_eq(peers_invokes(&b.peers), 0);
	talk_close(&t);
	bed_stop(&b);
}

/* Without emotion-engine nobody knows the gate, and nothing is sent. */
TEST_T(an_unknown_gate_is_closed, 60)
{
	struct bed b;
	struct talk t;

	bed_start(&b, 1);
	peers_set(&b.peers, exec_mode, NULL);
	peers_set(&b.peers, filter, DECIDES("execute_intents", GREEN, ""));
	talk_start(&t, &b, "把灯变绿");
	talk_want(&t, .executed = "", .failed = "control_light",
	    .errors = "gate unknown");
	ck_assert_ptr_null(at(t.end, "response.exec_mode"));
	ck_assert_ptr_null(at(t.end, "response.exec_probability"));
	ck_assert_ptr_null(peers_last(&b.peers, action));
	talk_close(&t);
	bed_stop(&b);
}

TEST_T(what_is_missing_is_asked_for, 60)
{
	struct bed b;
	struct talk t;

	bed_start(&b, 1);
	peers_set(&b.peers, filter,
	    DECIDES("execute_intents",
		GREEN
		",{\"intent_id\":\"i_alarm\",\"intent_name\":\"订闹钟\","
		"\"confidence\":0.9,\"status\":\"need_clarification\","
		"\"segment_index\":1,\"span\":{\"text\":\"闹钟\",\"start\":"
		"0,\"end\":2},\"parameters\":{},\"normalized\":{\"skill\":"
		"\"create_alarm\"},\"missing_parameters\":["
		"\"trigger_in_seconds\"],\"evidence\":[]}",
		""));
	talk_start(&t, &b, "把灯变绿再订个闹钟");
	talk_want(&t, .reply = "好的，控制灯已执行。要订闹钟，请告诉我时间。",
	    .executed = "control_light", .failed = "");
	ck_assert_uint_eq(model_asked(&b.model), 0);
	talk_close(&t);
	bed_stop(&b);
}

/* A command and a question in one breath. */
TEST_T(the_rest_goes_to_the_model, 60)
{
	struct bed b;
	struct talk t;
	char text[256];

	bed_start(&b, 1);
	peers_set(&b.peers, filter,
	    DECIDES("execute_intents", GREEN, "\"今天天气怎么样\""));
	model_will_say(&b.model, "今天是晴天。", NULL);
	talk_start(&t, &b, "把灯变绿，今天天气怎么样");
	talk_want(&t, .reply = "好的，控制灯已执行。\n今天是晴天。",
	    .executed = "control_light", .failed = "");
	json_t *q = model_request(&b.model, 0);
	ck_assert_str_eq(model_roles(q, text, sizeof(text)), "suatu");
	ck_assert_str_eq(model_text(q, -1), "今天天气怎么样");
	ck_assert_str_eq(
	    model_tools(q, text, sizeof(text)), "control_light,nod");
	talk_close(&t);

	/* The model is away: what was done is told all the same. */
	model_will_fail(&b.model, 500);
	talk_start(&t, &b, "把灯变绿，今天天气怎么样");
	talk_want(&t,
	    .reply = "好的，控制灯已执行。其余的我现在答不上来，"
		     "请稍后再试。",
	    .executed = "control_light", .failed = "");
	talk_close(&t);
	bed_stop(&b);
}

/* Arguments of an intent that break the skill's schema are not sent. */
#define BLINK \
	READY("i_light", "{\"skill\":\"control_light\",\"mode\":\"blink\"}")
#define FLY READY("i_fly", "{\"skill\":\"fly\"}")

TEST_T(intents_are_checked_against_the_skill, 60)
{
	struct bed b;
	struct talk t;

	bed_start(&b, 1);
	peers_set(
	    &b.peers, filter, DECIDES("execute_intents", BLINK "," FLY, ""));
	model_will_say(&b.model, "我不会闪灯。", NULL);
	talk_start(&t, &b, "让灯闪，飞起来");
	talk_want(&t, .reply = "我不会闪灯。\n我不会控制灯。", .executed = "",
	    .failed = "fly", .errors = "unknown skill");
	ck_assert_ptr_null(peers_last(&b.peers, action));
	talk_close(&t);
	bed_stop(&b);
}

/* A time that no slot takes: the intent is not done, and nobody says it is. */
#define IN_TEN_MINUTES                                              \
	"{\"intent_id\":\"i_light\",\"intent_name\":\"控制灯\"," \
	"\"confidence\":0.9,\"status\":\"rejected\","               \
	"\"segment_index\":0,\"span\":{\"text\":"                   \
	"\"十分钟后把灯变绿\",\"start\":0,\"end\":8},"      \
	"\"parameters\":{},\"normalized\":{\"skill\":"              \
	"\"control_light\",\"mode\":\"on\"},"                       \
	"\"missing_parameters\":[],\"evidence\":[]}"

TEST_T(a_rejected_intent_is_not_done, 60)
{
	struct bed b;
	struct talk t;

	bed_start(&b, 1);
	peers_set(&b.peers, filter,
	    DECIDES("fallback_reasoning", IN_TEN_MINUTES, "\"十分钟后\""));
	model_will_say(&b.model, "我还不会定时开灯。", NULL);
	talk_start(&t, &b, "十分钟后把灯变绿");
	talk_want(
	    &t, .reply = "我还不会定时开灯。", .executed = "", .failed = "");
	ck_assert_ptr_null(peers_last(&b.peers, action));
	ck_assert_str_eq(
	    model_text(model_request(&b.model, 0), -1), "十分钟后把灯变绿");
	talk_close(&t);

	/* What else is ready is done. */
	peers_set(&b.peers, filter,
	    DECIDES(
		"execute_intents", IN_TEN_MINUTES "," GREEN, "\"十分钟后\""));
	model_will_say(&b.model, "我还不会定时。", NULL);
	talk_start(&t, &b, "十分钟后把灯变绿，把灯变绿");
	talk_want(&t, .executed = "control_light", .failed = "control_light",
	    .errors = "rejected");
	ck_assert_str_eq(
	    model_text(model_request(&b.model, 1), -1), "十分钟后把灯变绿");
	talk_close(&t);
	bed_stop(&b);
}

/* No intents, or no body: intent-filter is not asked. */
TEST_T(without_intents_nobody_filters, 60)
{
	struct bed b;
	struct talk t;
	char text[256];

	bed_start(&b, 1);
	model_will_say(&b.model, "你好！", NULL);
	bed_online(&b, false);
	talk_start(&t, &b, "你好");
	talk_want(&t, .reply = "你好！\n（我的身体现在不在线，做不了动作。）",
	    .executed = "", .failed = "");
	ck_assert_ptr_null(at(t.end, "response.intent_decision"));
	json_t *q = model_request(&b.model, 0);
	ck_assert_str_eq(model_tools(q, text, sizeof(text)), "");
	ck_assert_ptr_nonnull(strstr(model_text(q, 0), "不在线"));
	talk_close(&t);

	bed_online(&b, true);
	bed_no_catalog(&b);
	model_will_say(&b.model, "你好！", NULL);
	talk_start(&t, &b, "你好");
	talk_want(&t, .reply = "你好！", .executed = "", .failed = "");
	ck_assert_ptr_null(at(t.end, "response.intent_decision"));
	ck_assert_uint_eq(peers_count(&b.peers, "filter"), 0);
	talk_close(&t);
	bed_stop(&b);
}
