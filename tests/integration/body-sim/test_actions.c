/* intent_action, emotion_update, status. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/buf.h"
#include "core/clock.h"
#include "core/mem.h"
#include "testkit/sim_fixture.h"

#define LIGHT(color)                                           \
	"{\"skill\":\"control_light\",\"mode\":\"set_color\"," \
	"\"color\":\"" color "\"}"

static const char *
action_ts(char dst[WALL_FORMAT_MAX], int64_t ago_ms)
{
	wall_format((struct wall){ clock_wall().ms - ago_ms }, 0, dst);
	return dst;
}

/* Send an action with one intent and a ts that is ago_ms old. */
static void
action_send(struct sim_fixture *b, const char *id, const char *terminal,
    int64_t ago_ms, const char *intent)
{
	char stamp[WALL_FORMAT_MAX], body[1024];

	snprintf(body, sizeof(body),
	    "{\"request_id\":\"%s\",\"session_id\":\"s1\",\"terminal_id\":"
	    "\"%s\",\"soul_id\":\"soul\",\"intents\":[%s],"
	    "\"exec_probability\":0.88,\"ts\":\"%s\"}",
	    id, terminal, intent, action_ts(stamp, ago_ms));
	mqtt_peer_send(&b->peer, T1 "intent_action", body, false);
}

#define INTENT(normalized) \
	"{\"intent_id\":\"i\",\"confidence\":0.9,\"normalized\":" normalized "}"

/* Wait for a result, which shows that all earlier messages were handled. */
static void
action_barrier(struct sim_fixture *b, const char *id)
{
	json_decref(sim_fixture_invoke(b, "terminal-001", id, "nothing", "{}"));
}

/* Valid ones, unnormalized values, missing and unknown skills. */
static const char *const action_intents[] = {
	INTENT(LIGHT("red")),
	INTENT("{\"skill\":\"fly\"}"),
	INTENT("{}"),
	"{\"intent_id\":\"i\",\"confidence\":0.9,\"normalized\":"
	"{\"skill\":\"set_head_motion\"},\"parameters\":"
	"{\"action\":\"摇头\",\"duration_seconds\":\"3\"}}",
	INTENT("{\"skill\":\"create_alarm\",\"trigger_in_seconds\":99}"),
	INTENT("{\"skill\":\"control_light\",\"mode\":\"变绿色\","
	       "\"color\":\"绿色\"}"),
};

static void
action_send_all(struct sim_fixture *b)
{
	struct buf all = BUF_INIT(4096);
	size_t i;

	for (i = 0; i < NELEM(action_intents); i++)
		buf_printf(&all, "%s%s", i > 0 ? "," : "", action_intents[i]);
	action_send(b, "ia-2", "terminal-001", 0, all.p);
	buf_free(&all);
}

TEST(intents_are_executed_by_skill)
{
	struct sim_fixture b;
	json_t *j;

	sim_fixture_start(&b, NULL);
	action_send(&b, "ia-1", "terminal-001", 0, INTENT(LIGHT("green")));
	sim_fixture_expect(&b, "color", "\"green\"");
	sim_fixture_expect(&b, "active_session_id", "s1");
	action_send_all(&b);
	action_barrier(&b, "s-1");
	j = sim_fixture_state(&b, NULL);
	ck_assert_str_eq(tk_find_text(j, "color"), "green");
	ck_assert_str_eq(tk_find_text(j, "head_motion"), "摇头");
	ck_assert_double_eq(json_number_value(json_object_get(
				j, "head_motion_duration_seconds")),
	    3);
	ck_assert_uint_eq(json_array_size(json_object_get(j, "alarms")), 1);
	json_decref(j);
	sim_fixture_expect(&b, "logs", "unknown skill: fly");
	sim_fixture_expect(&b, "logs", "normalized names no skill");
	sim_fixture_stop(&b);
}

TEST(a_duplicate_action_is_ignored)
{
	const char *alarm =
	    INTENT("{\"skill\":\"create_alarm\",\"trigger_in_seconds\":99}");
	struct sim_fixture b;
	json_t *j;

	sim_fixture_start(&b, NULL);
	action_send(&b, "ia-1", "terminal-001", 0, alarm);
	action_send(&b, "ia-1", "terminal-001", 0, alarm);
	action_send(&b, "ia-2", "terminal-001", 0, alarm);
	action_barrier(&b, "s-1");
	j = sim_fixture_state(&b, NULL);
	ck_assert_uint_eq(json_array_size(json_object_get(j, "alarms")), 2);
	json_decref(j);
	sim_fixture_expect(&b, "logs", "is a duplicate");
	sim_fixture_stop(&b);
}

TEST(foreign_and_old_actions_are_ignored)
{
	static const char *const env[] = { "TERMINAL_ACTION_MAX_AGE_SECONDS=60",
		NULL };
	struct sim_fixture b;

	sim_fixture_start(&b, env);
	action_send(&b, "ia-1", "terminal-002", 0, INTENT(LIGHT("green")));
	action_send(&b, "ia-2", "terminal-001", 61000, INTENT(LIGHT("green")));
	mqtt_peer_send(&b.peer, T1 "intent_action", "{\"intents\":", false);
	mqtt_peer_send(&b.peer, T1 "intent_action", "{}", false);
	action_barrier(&b, "s-1");
	sim_fixture_expect(&b, "color", "\"off\"");
	sim_fixture_expect(&b, "logs", "is for another body");
	sim_fixture_expect(&b, "logs", "is too old");
	sim_fixture_expect(&b, "logs", "/request_id: is missing");
	action_send(&b, "ia-3", "terminal-001", 30000, INTENT(LIGHT("green")));
	sim_fixture_expect(&b, "color", "\"green\"");
	sim_fixture_stop(&b);
}

/* ---- emotion_update ---- */

struct emotion {
	const char *session, *emotion, *mode;
	double intensity, p;
	int version;
};

static void
emotion_send(struct sim_fixture *b, const struct emotion *f)
{
	char stamp[WALL_FORMAT_MAX], body[1024];

	snprintf(body, sizeof(body),
	    "{\"session_id\":\"%s\",\"terminal_id\":\"terminal-001\","
	    "\"soul_id\":\"soul\",\"user_emotion\":{\"emotion\":\"%s\",\"p\":"
	    "0,\"a\":0,\"d\":0,\"intensity\":%g},\"soul_emotion\":{\"p\":%g,"
	    "\"a\":0.08,\"d\":-0.05,\"boredom\":0.5},\"exec_probability\":"
	    "0.41,\"exec_mode\":\"%s\",\"version\":%d,\"ts\":\"%s\"}",
	    f->session, f->emotion, f->intensity, f->p, f->mode, f->version,
	    action_ts(stamp, 0));
	mqtt_peer_send(&b->peer, T1 "emotion_update", body, false);
}

TEST(emotions_change_the_face_and_ticks_do_not)
{
	const struct emotion sad = { "s1", "sadness", "auto_execute", .9, -.5,
		1 };
	const struct emotion tick = { "system_decay_tick", "neutral",
		"auto_execute", 0, -.23, 2 };
	const struct emotion old = { "s1", "joy", "auto_execute", .9, .9, 1 };
	const struct emotion glad = { "s2", "gratitude", "auto_execute", .2, .1,
		3 };
	struct sim_fixture b;

	sim_fixture_start(&b, NULL);
	emotion_send(&b, &sad);
	sim_fixture_expect(&b, "expression", "哭");
	sim_fixture_expect(&b, "head_motion", "摇头");
	sim_fixture_expect(&b, "emotion_p", "-0.5");
	emotion_send(&b, &tick);
	sim_fixture_expect(&b, "emotion_p", "-0.23");
	sim_fixture_expect(&b, "exec_probability", "0.41");
	sim_fixture_expect(&b, "expression", "哭");
	sim_fixture_expect(&b, "conversation_turns", "1");
	emotion_send(&b, &old);
	action_barrier(&b, "s-1");
	sim_fixture_expect(&b, "emotion_p", "-0.23");
	sim_fixture_expect(&b, "expression", "哭");
	emotion_send(&b, &glad);
	sim_fixture_expect(&b, "expression", "微笑");
	sim_fixture_expect(&b, "head_motion", "摇头");
	sim_fixture_expect(&b, "sessions", "[\"s2\",\"s1\"]");
	sim_fixture_expect(&b, "conversation_turns", "2");
	sim_fixture_stop(&b);
}

TEST(a_blocked_body_does_not_act)
{
	const struct emotion angry = { "s1", "anger", "blocked", .9, -.9, 1 };
	const struct emotion calm = { "system_decay_tick", "neutral",
		"auto_execute", 0, -.8, 2 };
	struct sim_fixture b;
	json_t *j;

	sim_fixture_start(&b, NULL);
	emotion_send(&b, &angry);
	sim_fixture_expect(&b, "exec_mode", "blocked");
	sim_fixture_expect(&b, "holding_back", "true");
	sim_fixture_expect(&b, "expression", "生气");
	sim_fixture_expect(&b, "head_motion", "\"\"");
	action_send(&b, "ia-1", "terminal-001", 0, INTENT(LIGHT("green")));
	j = sim_fixture_invoke(
	    &b, "terminal-001", "r1", "control_light", "{\"mode\":\"on\"}");
	ck_assert(!json_is_true(tk_find(j, "ok")));
	ck_assert_ptr_nonnull(strstr(tk_find_text(j, "error"), "blocked"));
	json_decref(j);
	sim_fixture_expect(&b, "color", "\"off\"");
	emotion_send(&b, &calm);
	sim_fixture_expect(&b, "holding_back", "false");
	/* Dropped, not deferred. */
	action_barrier(&b, "s-1");
	sim_fixture_expect(&b, "color", "\"off\"");
	action_send(&b, "ia-2", "terminal-001", 0, INTENT(LIGHT("green")));
	sim_fixture_expect(&b, "color", "\"green\"");
	sim_fixture_stop(&b);
}

TEST(status_messages_are_shown)
{
	struct sim_fixture b;

	sim_fixture_start(&b, NULL);
	mqtt_peer_send(&b.peer, T1 "status",
	    "{\"status\":\"mem0_searching\",\"message\":\"请稍候。\","
	    "\"session_id\":\"s1\",\"ts\":\"2026-02-20T16:20:00Z\"}",
	    false);
	sim_fixture_expect(&b, "status", "mem0_searching");
	sim_fixture_expect(&b, "status_message", "请稍候。");
	mqtt_peer_send(&b.peer, T1 "status", "{\"status\":\"dancing\"}", false);
	sim_fixture_expect(&b, "logs", "/status: ");
	mqtt_peer_send(&b.peer, T1 "status",
	    "{\"status\":\"mem0_search_done\",\"ts\":\"2026-02-20T16:20:01Z\"}",
	    false);
	sim_fixture_expect(&b, "status", "mem0_search_done");
	sim_fixture_expect(&b, "active_session_id", "s1");
	sim_fixture_stop(&b);
}

TEST(malformed_commands_are_ignored)
{
	static const char *const leaves[] = { "invoke/r", "status",
		"emotion_update", "intent_action" };
	char topic[128], *big = mem_zalloc(900001);
	struct sim_fixture b;
	size_t i;

	memset(big, '[', 900000);
	sim_fixture_start(&b, NULL);
	for (i = 0; i < NELEM(leaves); i++) {
		snprintf(topic, sizeof(topic), T1 "%s", leaves[i]);
		mqtt_peer_send(&b.peer, topic, big, false);
		mqtt_peer_send(&b.peer, topic, "\xff\xfe\x80{", false);
		mqtt_peer_send(&b.peer, topic, "null", false);
		mqtt_peer_send(&b.peer, topic, "", false);
	}
	action_barrier(&b, "s-1");
	sim_fixture_expect(&b, "color", "\"off\"");
	free(big);
	sim_fixture_stop(&b);
}
