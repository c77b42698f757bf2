/* Invokes and their results. */
#include <stdio.h>
#include <string.h>

#include "core/clock.h"
#include "core/mem.h"
#include "core/str.h"
#include "testkit/sim_fixture.h"

#define ID "terminal-001"

static void
invoke_ok(struct sim_fixture *b, const char *id, const char *skill,
    const char *args, const char *output)
{
	json_t *j = sim_fixture_invoke(b, ID, id, skill, args);

	ck_assert_str_eq(tk_find_text(j, "request_id"), id);
	ck_assert_msg(json_is_true(tk_find(j, "ok")), "%s: %s", args,
	    tk_find_text(j, "error"));
	ck_assert_str_eq(tk_find_text(j, "output"), output);
	ck_assert_ptr_null(json_object_get(j, "error"));
	json_decref(j);
}

static void
invoke_fails(struct sim_fixture *b, const char *id, const char *skill,
    const char *args, const char *error)
{
	json_t *j = sim_fixture_invoke(b, ID, id, skill, args);
	char failed[64];

	snprintf(failed, sizeof(failed), "%s failed", skill);
	ck_assert_str_eq(tk_find_text(j, "request_id"), id);
	ck_assert(!json_is_true(tk_find(j, "ok")));
	ck_assert_ptr_nonnull(json_object_get(j, "ok"));
	ck_assert_str_eq(tk_find_text(j, "output"), failed);
	ck_assert_msg(strstr(tk_find_text(j, "error"), error) != NULL, "%s: %s",
	    args, tk_find_text(j, "error"));
	json_decref(j);
}

TEST(a_skill_is_executed_and_confirmed)
{
	struct mqtt_peer_msg *invoke, *result;
	struct sim_fixture b;

	sim_fixture_start(&b, NULL);
	invoke_ok(&b, "r1", "control_light",
	    "{\"mode\":\"set_color\",\"color\":\"green\"}",
	    "control_light executed: green");
	sim_fixture_expect(&b, "color", "\"green\"");
	invoke = mqtt_peer_get(&b.peer, T1 "invoke/r1", 0);
	result = mqtt_peer_get(&b.peer, T1 "result/r1", 0);
	ck_assert_int_lt(mono_diff_ms(result->at, invoke->at), 5000);
	ck_assert_int_eq(result->qos, 1);
	ck_assert(!result->retain);
	invoke_ok(&b, "r2", "set_head_motion",
	    "{\"action\":\"点头\",\"duration_seconds\":2}",
	    "set_head_motion executed: 点头, 2 s");
	sim_fixture_expect(&b, "head_motion", "点头");
	sim_fixture_expect(&b, "last_action", "点头, 2 s");
	invoke_ok(&b, "r3", "control_light", "{\"mode\":\"关灯\"}",
	    "control_light executed: off");
	sim_fixture_expect(&b, "color", "\"off\"");
	sim_fixture_stop(&b);
}

TEST(an_invalid_call_is_an_error)
{
	struct sim_fixture b;

	sim_fixture_start(&b, NULL);
	invoke_fails(&b, "r1", "control_light",
	    "{\"mode\":\"set_color\",\"color\":\"blue\"}",
	    "/color: must be one of white, red, green");
	invoke_fails(&b, "r2", "control_light", "{}", "/mode: is required");
	invoke_fails(&b, "r3", "fly", "{\"high\":true}", "unknown skill: fly");
	invoke_fails(&b, "r4", "create_alarm", "{}",
	    "trigger_at or trigger_in_seconds is required");
	invoke_fails(&b, "r5", "set_head_motion",
	    "{\"action\":\"点头\",\"duration_seconds\":60}",
	    "/duration_seconds");
	sim_fixture_expect(&b, "color", "\"off\"");
	sim_fixture_expect(&b, "last_action", "\"\"");
	sim_fixture_stop(&b);
}

static json_t *
invoke_raw(struct sim_fixture *b, const char *id, const char *body)
{
	char topic[128];

	snprintf(topic, sizeof(topic), T1 "invoke/%s", id);
	mqtt_peer_send(&b->peer, topic, body, false);
	snprintf(topic, sizeof(topic), T1 "result/%s", id);
	return sim_fixture_json(mqtt_peer_get(&b->peer, topic, 0));
}

TEST(a_malformed_invoke_gets_a_result)
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
	struct sim_fixture b;
	char id[8];
	json_t *j;
	size_t i;

	sim_fixture_start(&b, NULL);
	for (i = 0; i < NELEM(cases); i++) {
		snprintf(id, sizeof(id), "q%zu", i);
		j = invoke_raw(&b, id, cases[i].body);
		ck_assert_str_eq(tk_find_text(j, "request_id"), id);
		ck_assert(!json_is_true(tk_find(j, "ok")));
		ck_assert_msg(
		    strstr(tk_find_text(j, "error"), cases[i].error) != NULL &&
			tk_find_text(j, "error")[0] != '\0',
		    "%s: %s", cases[i].body, tk_find_text(j, "error"));
		json_decref(j);
	}
	sim_fixture_expect(&b, "color", "\"off\"");
	sim_fixture_stop(&b);
}

TEST(a_duplicate_invoke_acts_one_time)
{
	static const char on[] =
	    "{\"request_id\":\"r1\",\"skill\":\"create_alarm\","
	    "\"arguments\":{\"trigger_in_seconds\":3600}}";
	struct sim_fixture b;
	json_t *j;

	sim_fixture_start(&b, NULL);
	mqtt_peer_send(&b.peer, T1 "invoke/r1", on, false);
	mqtt_peer_send(&b.peer, T1 "invoke/r1", on, false);
	ck_assert_str_eq(mqtt_peer_get(&b.peer, T1 "result/r1", 0)->payload,
	    mqtt_peer_get(&b.peer, T1 "result/r1", 1)->payload);
	j = sim_fixture_state(&b, NULL);
	ck_assert_uint_eq(json_array_size(json_object_get(j, "alarms")), 1);
	json_decref(j);
	sim_fixture_stop(&b);
}

static size_t
invoke_spoken(struct sim_fixture *b, const char *last)
{
	json_t *j = sim_fixture_state(b, NULL);
	json_t *list = json_object_get(j, "spoken");
	size_t n = json_array_size(list);

	ck_assert_str_eq(tk_find_text(json_array_get(list, 0), "text"), last);
	json_decref(j);
	return n;
}

/* Each attempt of the server has the same id. */
TEST(a_text_is_spoken_one_time)
{
	static const char drink[] =
	    "{\"request_id\":\"s1\",\"skill\":\"speak\","
	    "\"arguments\":{\"text\":\"该喝水了。\"}}";
	struct sim_fixture b;

	sim_fixture_start(&b, NULL);
	mqtt_peer_send(&b.peer, T1 "invoke/s1", drink, false);
	mqtt_peer_send(&b.peer, T1 "invoke/s1", drink, false);
	ck_assert_str_eq(mqtt_peer_get(&b.peer, T1 "result/s1", 0)->payload,
	    mqtt_peer_get(&b.peer, T1 "result/s1", 1)->payload);
	ck_assert_uint_eq(invoke_spoken(&b, "该喝水了。"), 1);
	invoke_ok(&b, "s2", "speak", "{\"text\":\"水喝了吗？\"}",
	    "speak executed: 水喝了吗？");
	ck_assert_uint_eq(invoke_spoken(&b, "水喝了吗？"), 2);
	sim_fixture_expect(&b, "logs", "speak executed: 水喝了吗？");
	invoke_fails(&b, "s3", "speak", "{\"text\":\"\"}", "/text");
	invoke_fails(&b, "s4", "speak", "{}", "/text: is required");
	sim_fixture_stop(&b);
}

/* A body that only speaks. */
TEST(a_skill_that_is_not_selected_is_unknown)
{
	static const char *const env[] = { "TERMINAL_SKILLS=speak", NULL };
	struct sim_fixture b;
	json_t *j;

	sim_fixture_start(&b, env);
	j = sim_fixture_json(mqtt_peer_get(&b.peer, T1 "skills", 0));
	ck_assert_uint_eq(json_array_size(json_object_get(j, "skills")), 1);
	json_decref(j);
	j = sim_fixture_json(mqtt_peer_get(&b.peer, T1 "intent_catalog", 0));
	ck_assert_uint_eq(
	    json_array_size(json_object_get(j, "intent_catalog")), 0);
	json_decref(j);
	invoke_fails(&b, "r1", "create_alarm", "{\"trigger_in_seconds\":1}",
	    "unknown skill: create_alarm");
	invoke_ok(&b, "r2", "speak", "{\"text\":\"好\"}", "speak executed: 好");
	sim_fixture_stop(&b);
}

/* A retained command may be arbitrarily old. */
TEST(retained_commands_are_ignored)
{
	struct sim_fixture b = { 0 };
	json_t *j;

	tk_server_start(&b.broker, TK_MOSQUITTO);
	mqtt_peer_open(&b.peer, b.broker.port, "#");
	mqtt_peer_send(&b.peer, T1 "invoke/r1",
	    "{\"request_id\":\"r1\",\"skill\":\"control_light\","
	    "\"arguments\":{\"mode\":\"on\"}}",
	    true);
	sim_fixture_spawn(&b, NULL);
	tk_service_wait(&b.sim);
	j = sim_fixture_invoke(
	    &b, ID, "r2", "set_head_motion", "{\"action\":\"摇头\"}");
	ck_assert(json_is_true(tk_find(j, "ok")));
	json_decref(j);
	sim_fixture_expect(&b, "color", "\"off\"");
	sim_fixture_expect(&b, "logs", "is a retained one");
	ck_assert_ptr_null(mqtt_peer_nth(&b.peer, T1 "result/r1", 0));
	sim_fixture_stop(&b);
}

static const char *
invoke_alarm_text(
    struct sim_fixture *b, size_t i, const char *key, char dst[64])
{
	json_t *j = sim_fixture_state(b, NULL);

	snprintf(dst, 64, "%s",
	    tk_find_text(json_array_get(json_object_get(j, "alarms"), i), key));
	json_decref(j);
	return dst;
}

TEST(alarms_fire_and_are_shown)
{
	char at[64], fired[64];
	struct wall t_at, t_fired;
	struct sim_fixture b;
	json_t *j;

	sim_fixture_start(&b, NULL);
	j = sim_fixture_invoke(&b, ID, "r1", "create_alarm",
	    "{\"trigger_in_seconds\":3600,\"label\":\"later\"}");
	json_decref(j);
	j = sim_fixture_invoke(&b, ID, "r2", "create_alarm",
	    "{\"trigger_in_seconds\":1,\"label\":\"取快递\"}");
	ck_assert_ptr_nonnull(
	    strstr(tk_find_text(j, "output"), "取快递 at 20"));
	json_decref(j);
	sim_fixture_expect(&b, "alarms", "取快递");
	sim_fixture_expect(&b, "alarms", "\"fired\":true");
	sim_fixture_expect(&b, "last_action", "alarm rings: 取快递");
	ck_assert_str_eq(invoke_alarm_text(&b, 0, "fired_at", fired), "");
	(void)invoke_alarm_text(&b, 1, "trigger_at", at);
	(void)invoke_alarm_text(&b, 1, "fired_at", fired);
	ck_assert_int_eq(wall_parse(str_of(at), &t_at), RC_OK);
	ck_assert_int_eq(wall_parse(str_of(fired), &t_fired), RC_OK);
	ck_assert_int_ge(t_fired.ms, t_at.ms);
	sim_fixture_stop(&b);
}

TEST(alarms_accept_a_time_of_day)
{
	char stamp[WALL_FORMAT_MAX], args[128];
	struct wall soon;
	struct sim_fixture b;
	json_t *j;

	sim_fixture_start(&b, NULL);
	soon.ms = clock_wall().ms + 1200;
	wall_format(soon, 480, stamp);
	snprintf(args, sizeof(args), "{\"trigger_at\":\"%s\"}", stamp);
	j = sim_fixture_invoke(&b, ID, "r1", "create_alarm", args);
	ck_assert(json_is_true(tk_find(j, "ok")));
	json_decref(j);
	sim_fixture_expect(&b, "alarms", "\"label\":\"闹钟\"");
	sim_fixture_expect(&b, "alarms", "\"fired\":true");
	invoke_fails(&b, "r2", "create_alarm",
	    "{\"trigger_at\":\"2020-01-01T00:00:00Z\"}", "in the past");
	sim_fixture_stop(&b);
}
