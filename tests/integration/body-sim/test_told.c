/* intent_action, emotion_update, status. */
#include "integration/body-sim/bed.h"

#define LIGHT(color)                                           \
	"{\"skill\":\"control_light\",\"mode\":\"set_color\"," \
	"\"color\":\"" color "\"}"

static const char *
now(char dst[WALL_FORMAT_MAX], int64_t ago_ms)
{
	wall_format((struct wall){ clock_wall().ms - ago_ms }, 0, dst);
	return dst;
}

/* An action of one intent, so long ago. */
static void
act(struct bed *b, const char *id, const char *terminal, int64_t ago_ms,
    const char *intent)
{
	char stamp[WALL_FORMAT_MAX], body[1024];

	snprintf(body, sizeof(body),
	    "{\"request_id\":\"%s\",\"session_id\":\"s1\",\"terminal_id\":"
	    "\"%s\",\"soul_id\":\"soul\",\"intents\":[%s],"
	    "\"exec_probability\":0.88,\"ts\":\"%s\"}",
	    id, terminal, intent, now(stamp, ago_ms));
	peer_send(&b->peer, T1 "intent_action", body, false);
}

#define INTENT(normalized) \
	"{\"intent_id\":\"i\",\"confidence\":0.9,\"normalized\":" normalized "}"

/* The result proves that all before it has been taken. */
static void
settle(struct bed *b, const char *id)
{
	json_decref(bed_invoke(b, "terminal-001", id, "nothing", "{}"));
}

/* In order; words as the user said them; what is missing or unknown. */
static const char *const several[] = {
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
act_several(struct bed *b)
{
	struct buf all = BUF_INIT(4096);
	size_t i;

	for (i = 0; i < NELEM(several); i++)
		buf_printf(&all, "%s%s", i > 0 ? "," : "", several[i]);
	act(b, "ia-2", "terminal-001", 0, all.p);
	buf_free(&all);
}

TEST(actions_are_carried_out_by_their_skill)
{
	struct bed b;
	json_t *j;

	bed_start(&b, NULL);
	act(&b, "ia-1", "terminal-001", 0, INTENT(LIGHT("green")));
	bed_expect(&b, "color", "\"green\"");
	bed_expect(&b, "active_session_id", "s1");
	act_several(&b);
	settle(&b, "s-1");
	j = bed_state(&b, NULL);
	ck_assert_str_eq(text_of(j, "color"), "green");
	ck_assert_str_eq(text_of(j, "head_motion"), "摇头");
	ck_assert_double_eq(json_number_value(json_object_get(
				j, "head_motion_duration_seconds")),
	    3);
	ck_assert_uint_eq(json_array_size(json_object_get(j, "alarms")), 1);
	json_decref(j);
	bed_expect(&b, "logs", "unknown skill: fly");
	bed_expect(&b, "logs", "normalized names no skill");
	bed_stop(&b);
}

TEST(an_action_acts_once)
{
	const char *alarm =
	    INTENT("{\"skill\":\"create_alarm\",\"trigger_in_seconds\":99}");
	struct bed b;
	json_t *j;

	bed_start(&b, NULL);
	act(&b, "ia-1", "terminal-001", 0, alarm);
	act(&b, "ia-1", "terminal-001", 0, alarm);
	act(&b, "ia-2", "terminal-001", 0, alarm);
	settle(&b, "s-1");
	j = bed_state(&b, NULL);
	ck_assert_uint_eq(json_array_size(json_object_get(j, "alarms")), 2);
	json_decref(j);
	bed_expect(&b, "logs", "came twice");
	bed_stop(&b);
}

TEST(what_is_not_for_it_or_too_old_does_nothing)
{
	static const char *const env[] = { "TERMINAL_ACTION_MAX_AGE_SECONDS=60",
		NULL };
	struct bed b;

	bed_start(&b, env);
	act(&b, "ia-1", "terminal-002", 0, INTENT(LIGHT("green")));
	act(&b, "ia-2", "terminal-001", 61000, INTENT(LIGHT("green")));
	peer_send(&b.peer, T1 "intent_action", "{\"intents\":", false);
	peer_send(&b.peer, T1 "intent_action", "{}", false);
	settle(&b, "s-1");
	bed_expect(&b, "color", "\"off\"");
	bed_expect(&b, "logs", "is for another body");
	bed_expect(&b, "logs", "is too old");
	bed_expect(&b, "logs", "/request_id: is missing");
	act(&b, "ia-3", "terminal-001", 30000, INTENT(LIGHT("green")));
	bed_expect(&b, "color", "\"green\"");
	bed_stop(&b);
}

/* ---- emotion_update ------------------------------------------------------ */

struct feeling {
	const char *session, *emotion, *mode;
	double intensity, p;
	int version;
};

static void
feel(struct bed *b, const struct feeling *f)
{
	char stamp[WALL_FORMAT_MAX], body[1024];

	snprintf(body, sizeof(body),
	    "{\"session_id\":\"%s\",\"terminal_id\":\"terminal-001\","
	    "\"soul_id\":\"soul\",\"user_emotion\":{\"emotion\":\"%s\",\"p\":"
	    "0,\"a\":0,\"d\":0,\"intensity\":%g},\"soul_emotion\":{\"p\":%g,"
	    "\"a\":0.08,\"d\":-0.05,\"boredom\":0.5},\"exec_probability\":"
	    "0.41,\"exec_mode\":\"%s\",\"version\":%d,\"ts\":\"%s\"}",
	    f->session, f->emotion, f->intensity, f->p, f->mode, f->version,
	    now(stamp, 0));
	peer_send(&b->peer, T1 "emotion_update", body, false);
}

TEST(feelings_show_and_ticks_do_not)
{
	const struct feeling sad = { "s1", "sadness", "auto_execute", .9, -.5,
		1 };
	const struct feeling tick = { "system_decay_tick", "neutral",
		"auto_execute", 0, -.23, 2 };
	const struct feeling old = { "s1", "joy", "auto_execute", .9, .9, 1 };
	const struct feeling glad = { "s2", "gratitude", "auto_execute", .2, .1,
		3 };
	struct bed b;

	bed_start(&b, NULL);
	feel(&b, &sad);
	bed_expect(&b, "expression", "哭");
	bed_expect(&b, "head_motion", "摇头");
	bed_expect(&b, "emotion_p", "-0.5");
	feel(&b, &tick);
	bed_expect(&b, "emotion_p", "-0.23");
	bed_expect(&b, "exec_probability", "0.41");
	bed_expect(&b, "expression", "哭");
	bed_expect(&b, "conversation_turns", "1");
	feel(&b, &old);
	settle(&b, "s-1");
	bed_expect(&b, "emotion_p", "-0.23");
	bed_expect(&b, "expression", "哭");
	feel(&b, &glad);
	bed_expect(&b, "expression", "微笑");
	bed_expect(&b, "head_motion", "摇头");
	bed_expect(&b, "sessions", "[\"s2\",\"s1\"]");
	bed_expect(&b, "conversation_turns", "2");
	bed_stop(&b);
}

TEST(blocked_it_does_not_act)
{
	const struct feeling angry = { "s1", "anger", "blocked", .9, -.9, 1 };
	const struct feeling calm = { "system_decay_tick", "neutral",
		"auto_execute", 0, -.8, 2 };
	struct bed b;
	json_t *j;

	bed_start(&b, NULL);
	feel(&b, &angry);
	bed_expect(&b, "exec_mode", "blocked");
	bed_expect(&b, "holding_back", "true");
	bed_expect(&b, "expression", "生气");
	bed_expect(&b, "head_motion", "\"\"");
	act(&b, "ia-1", "terminal-001", 0, INTENT(LIGHT("green")));
	j = bed_invoke(
	    &b, "terminal-001", "r1", "control_light", "{\"mode\":\"on\"}");
	ck_assert(!is_true(j, "ok"));
	ck_assert_ptr_nonnull(strstr(text_of(j, "error"), "blocked"));
	json_decref(j);
	bed_expect(&b, "color", "\"off\"");
	feel(&b, &calm);
	bed_expect(&b, "holding_back", "false");
	/* Dropped, not kept for later. */
	settle(&b, "s-1");
	bed_expect(&b, "color", "\"off\"");
	act(&b, "ia-2", "terminal-001", 0, INTENT(LIGHT("green")));
	bed_expect(&b, "color", "\"green\"");
	bed_stop(&b);
}

TEST(phases_of_a_turn_show)
{
	struct bed b;

	bed_start(&b, NULL);
	peer_send(&b.peer, T1 "status",
	    "{\"status\":\"mem0_searching\",\"message\":\"请稍候。\","
	    "\"session_id\":\"s1\",\"ts\":\"2026-02-20T16:20:00Z\"}",
	    false);
	bed_expect(&b, "status", "mem0_searching");
	bed_expect(&b, "status_message", "请稍候。");
	peer_send(&b.peer, T1 "status", "{\"status\":\"dancing\"}", false);
	bed_expect(&b, "logs", "/status: ");
	peer_send(&b.peer, T1 "status",
	    "{\"status\":\"mem0_search_done\",\"ts\":\"2026-02-20T16:20:01Z\"}",
	    false);
	bed_expect(&b, "status", "mem0_search_done");
	bed_expect(&b, "active_session_id", "s1");
	bed_stop(&b);
}

/* Anybody may publish anything. */
TEST(rubbish_hurts_nobody)
{
	static const char *const leaves[] = { "invoke/r", "status",
		"emotion_update", "intent_action" };
	char topic[128], *big = mem_zalloc(900001);
	struct bed b;
	size_t i;

	memset(big, '[', 900000);
	bed_start(&b, NULL);
	for (i = 0; i < NELEM(leaves); i++) {
		snprintf(topic, sizeof(topic), T1 "%s", leaves[i]);
		peer_send(&b.peer, topic, big, false);
		peer_send(&b.peer, topic, "\xff\xfe\x80{", false);
		peer_send(&b.peer, topic, "null", false);
		peer_send(&b.peer, topic, "", false);
	}
	settle(&b, "s-1");
	bed_expect(&b, "color", "\"off\"");
	free(big);
	bed_stop(&b);
}
