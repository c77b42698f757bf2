/* Invokes and their results. */
#include "integration/body-sim/bed.h"

#define ID "terminal-001"

static void
ok(struct bed *b, const char *id, const char *skill, const char *args,
    const char *output)
{
	json_t *j = bed_invoke(b, ID, id, skill, args);

	ck_assert_str_eq(text_of(j, "request_id"), id);
	ck_assert_msg(is_true(j, "ok"), "%s: %s", args, text_of(j, "error"));
	ck_assert_str_eq(text_of(j, "output"), output);
	ck_assert_ptr_null(json_object_get(j, "error"));
	json_decref(j);
}

static void
fails(struct bed *b, const char *id, const char *skill, const char *args,
    const char *error)
{
	json_t *j = bed_invoke(b, ID, id, skill, args);
	char failed[64];

	snprintf(failed, sizeof(failed), "%s failed", skill);
	ck_assert_str_eq(text_of(j, "request_id"), id);
	ck_assert(!is_true(j, "ok"));
	ck_assert_ptr_nonnull(json_object_get(j, "ok"));
	ck_assert_str_eq(text_of(j, "output"), failed);
	ck_assert_msg(strstr(text_of(j, "error"), error) != NULL, "%s: %s",
	    args, text_of(j, "error"));
	json_decref(j);
}

TEST(what_it_can_do_it_does_and_says_so)
{
	struct peer_msg *asked, *answered;
	struct bed b;

	bed_start(&b, NULL);
	ok(&b, "r1", "control_light",
	    "{\"mode\":\"set_color\",\"color\":\"green\"}",
	    "control_light executed: green");
	bed_expect(&b, "color", "\"green\"");
	asked = peer_get(&b.peer, T1 "invoke/r1", 0);
	answered = peer_get(&b.peer, T1 "result/r1", 0);
	ck_assert_int_lt(mono_diff_ms(answered->at, asked->at), 5000);
	ck_assert_int_eq(answered->qos, 1);
	ck_assert(!answered->retain);
	ok(&b, "r2", "set_head_motion",
	    "{\"action\":\"点头\",\"duration_seconds\":2}",
	    "set_head_motion executed: 点头, 2 s");
	bed_expect(&b, "head_motion", "点头");
	bed_expect(&b, "last_action", "点头, 2 s");
	ok(&b, "r3", "control_light", "{\"mode\":\"关灯\"}",
	    "control_light executed: off");
	bed_expect(&b, "color", "\"off\"");
	bed_stop(&b);
}

TEST(what_it_cannot_do_it_says_too)
{
	struct bed b;

	bed_start(&b, NULL);
	fails(&b, "r1", "control_light",
	    "{\"mode\":\"set_color\",\"color\":\"blue\"}",
	    "/color: must be one of white, red, green");
	fails(&b, "r2", "control_light", "{}", "/mode: is required");
	fails(&b, "r3", "fly", "{\"high\":true}", "unknown skill: fly");
	fails(&b, "r4", "create_alarm", "{}",
	    "trigger_at or trigger_in_seconds is required");
	fails(&b, "r5", "set_head_motion",
	    "{\"action\":\"点头\",\"duration_seconds\":60}",
	    "/duration_seconds");
	bed_expect(&b, "color", "\"off\"");
	bed_expect(&b, "last_action", "\"\"");
	bed_stop(&b);
}

static json_t *
raw(struct bed *b, const char *id, const char *body)
{
	char topic[128];

	snprintf(topic, sizeof(topic), T1 "invoke/%s", id);
	peer_send(&b->peer, topic, body, false);
	snprintf(topic, sizeof(topic), T1 "result/%s", id);
	return bed_json(peer_get(&b->peer, topic, 0));
}

TEST(a_broken_invoke_is_answered)
{
	static const struct {
		const char *body, *error;
	} cases[] = {
		{ "", "" },
		{ "{", "" },
		{ "[]", "must be an object" },
		{ "{\"skill\":\"control_light\",\"arguments\":{}}",
		    "/request_id: is missing" },
		{ "{\"request_id\":\"q3\",\"arguments\":{}}",
		    "/skill: is missing" },
		{ "{\"request_id\":\"q5\",\"skill\":\"control_light\","
		  "\"arguments\":[]}",
		    "/arguments" },
		{ "{\"request_id\":\"another\",\"skill\":\"control_light\","
		  "\"arguments\":{\"mode\":\"on\"}}",
		    "/request_id: is not the topic's" },
		{ "{\"request_id\":\"q7\",\"skill\":\"control_light\","
		  "\"arguments\":{\"mode\":\"on\"},\"deadline_ms\":1}",
		    "the deadline has passed" },
	};
	struct bed b;
	char id[8];
	json_t *j;
	size_t i;

	bed_start(&b, NULL);
	for (i = 0; i < NELEM(cases); i++) {
		snprintf(id, sizeof(id), "q%zu", i);
		j = raw(&b, id, cases[i].body);
		ck_assert_str_eq(text_of(j, "request_id"), id);
		ck_assert(!is_true(j, "ok"));
		ck_assert_msg(
		    strstr(text_of(j, "error"), cases[i].error) != NULL &&
			text_of(j, "error")[0] != '\0',
		    "%s: %s", cases[i].body, text_of(j, "error"));
		json_decref(j);
	}
	bed_expect(&b, "color", "\"off\"");
	bed_stop(&b);
}

TEST(an_invoke_that_comes_twice_acts_once)
{
	static const char on[] =
	    "{\"request_id\":\"r1\",\"skill\":\"create_alarm\","
	    "\"arguments\":{\"trigger_in_seconds\":3600}}";
	struct bed b;
	json_t *j;

	bed_start(&b, NULL);
	peer_send(&b.peer, T1 "invoke/r1", on, false);
	peer_send(&b.peer, T1 "invoke/r1", on, false);
	ck_assert_str_eq(peer_get(&b.peer, T1 "result/r1", 0)->payload,
	    peer_get(&b.peer, T1 "result/r1", 1)->payload);
	j = bed_state(&b, NULL);
	ck_assert_uint_eq(json_array_size(json_object_get(j, "alarms")), 1);
	json_decref(j);
	bed_stop(&b);
}

/* What a broker has kept is long past. */
TEST(retained_commands_do_nothing)
{
	struct bed b = { 0 };
	json_t *j;

	tk_server_start(&b.broker, TK_MOSQUITTO);
	peer_open(&b.peer, b.broker.port, "#");
	peer_send(&b.peer, T1 "invoke/r1",
	    "{\"request_id\":\"r1\",\"skill\":\"control_light\","
	    "\"arguments\":{\"mode\":\"on\"}}",
	    true);
	bed_sim(&b, NULL);
	tk_service_wait(&b.sim);
	j = bed_invoke(
	    &b, ID, "r2", "set_head_motion", "{\"action\":\"摇头\"}");
	ck_assert(is_true(j, "ok"));
	json_decref(j);
	bed_expect(&b, "color", "\"off\"");
	bed_expect(&b, "logs", "is a retained one");
	ck_assert_ptr_null(peer_nth(&b.peer, T1 "result/r1", 0));
	bed_stop(&b);
}

static const char *
alarm_text(struct bed *b, size_t i, const char *key, char dst[64])
{
	json_t *j = bed_state(b, NULL);

	snprintf(dst, 64, "%s",
	    text_of(json_array_get(json_object_get(j, "alarms"), i), key));
	json_decref(j);
	return dst;
}

TEST(alarms_ring_and_show)
{
	char at[64], fired[64];
	struct wall t_at, t_fired;
	struct bed b;
	json_t *j;

	bed_start(&b, NULL);
	j = bed_invoke(&b, ID, "r1", "create_alarm",
	    "{\"trigger_in_seconds\":3600,\"label\":\"later\"}");
	json_decref(j);
	j = bed_invoke(&b, ID, "r2", "create_alarm",
	    "{\"trigger_in_seconds\":1,\"label\":\"取快递\"}");
	ck_assert_ptr_nonnull(strstr(text_of(j, "output"), "取快递 at 20"));
	json_decref(j);
	bed_expect(&b, "alarms", "取快递");
	bed_expect(&b, "alarms", "\"fired\":true");
	bed_expect(&b, "last_action", "alarm rings: 取快递");
	ck_assert_str_eq(alarm_text(&b, 0, "fired_at", fired), "");
	(void)alarm_text(&b, 1, "trigger_at", at);
	(void)alarm_text(&b, 1, "fired_at", fired);
	ck_assert_int_eq(wall_parse(str_of(at), &t_at), RC_OK);
	ck_assert_int_eq(wall_parse(str_of(fired), &t_fired), RC_OK);
	ck_assert_int_ge(t_fired.ms, t_at.ms);
	bed_stop(&b);
}

TEST(alarms_have_a_time_of_day_too)
{
	char stamp[WALL_FORMAT_MAX], args[128];
	struct wall soon;
	struct bed b;
	json_t *j;

	bed_start(&b, NULL);
	soon.ms = clock_wall().ms + 1200;
	wall_format(soon, 480, stamp);
	snprintf(args, sizeof(args), "{\"trigger_at\":\"%s\"}", stamp);
	j = bed_invoke(&b, ID, "r1", "create_alarm", args);
	ck_assert(is_true(j, "ok"));
	json_decref(j);
	bed_expect(&b, "alarms", "\"label\":\"闹钟\"");
	bed_expect(&b, "alarms", "\"fired\":true");
	fails(&b, "r2", "create_alarm",
	    "{\"trigger_at\":\"2020-01-01T00:00:00Z\"}", "in the past");
	bed_stop(&b);
}
