/*
 * A body's own catalog in intent-filter, and its intents back at the body: what
 * users say moves it.
 */
#include <stdio.h>
#include <stdlib.h>

#include "core/clock.h"
#include "core/mem.h"
#include "testkit/sim_fixture.h"

struct intents_fixture {
	struct sim_fixture b;
	struct tk_server nats;
	struct tk_service intents_filter;
	json_t *catalog;
	int count;
};

static void
intents_start(struct intents_fixture *w)
{
	struct tk_env e = { 0 };
	json_t *report;

	*w = (struct intents_fixture){ 0 };
	sim_fixture_start(&w->b, NULL);
	tk_server_start(&w->nats, TK_NATS);
	tk_env_put(&e, "NATS_URL=%s", w->nats.url);
	tk_service_start(
	    &w->intents_filter, "intent-filter", "intent-filter", &e);
	report =
	    sim_fixture_json(mqtt_peer_get(&w->b.peer, T1 "intent_catalog", 0));
	w->catalog = json_incref(json_object_get(report, "intent_catalog"));
	json_decref(report);
}

static void
intents_stop(struct intents_fixture *w)
{
	json_decref(w->catalog);
	tk_service_end(&w->intents_filter);
	sim_fixture_stop(&w->b);
}

/* The filter's response, owned by the caller. */
static json_t *
intents_filter(struct intents_fixture *w, const char *command)
{
	json_t *req = json_pack(
	    "{s:s, s:O}", "command", command, "intent_catalog", w->catalog);
	char *text = json_dumps(req, 0);
	struct tk_response a = { 0 };
	json_t *j;

	ck_assert_int_eq(tk_http_request(w->intents_filter.http, &a, "POST",
			     "/v1/intents/filter", text),
	    200);
	j = tk_json(a.body.p, a.body.n);
	tk_response_free(&a);
	free(text);
	json_decref(req);
	return j;
}

/* Filter a command, and send the ready intents to the body. */
static void
intents_send(struct intents_fixture *w, const char *command)
{
	json_t *result = intents_filter(w, command), *action,
	       *intents = json_array();
	json_t *in, *list = json_object_get(result, "intents");
	char id[16], stamp[WALL_FORMAT_MAX], *text;
	size_t i;

	ck_assert_str_eq(
	    tk_find_text(json_object_get(result, "decision"), "action"),
	    "execute_intents");
	json_array_foreach (list, i, in) {
		ck_assert_str_eq(tk_find_text(in, "status"), "ready");
		json_array_append_new(intents,
		    json_pack("{s:O, s:O, s:O}", "intent_id",
			json_object_get(in, "intent_id"), "confidence",
			json_object_get(in, "confidence"), "normalized",
			json_object_get(in, "normalized")));
	}
	snprintf(id, sizeof(id), "ia-%d", ++w->count);
	wall_format(clock_wall(), 0, stamp);
	action = json_pack("{s:s, s:s, s:s, s:s, s:o, s:f, s:s}", "request_id",
	    id, "session_id", "s1", "terminal_id", "terminal-001", "soul_id",
	    "soul", "intents", intents, "exec_probability", 0.9, "ts", stamp);
	ck_assert_ptr_nonnull(action);
	text = json_dumps(action, 0);
	mqtt_peer_send(&w->b.peer, T1 "intent_action", text, false);
	free(text);
	json_decref(action);
	json_decref(result);
}

TEST(texts_control_the_light)
{
	static const struct {
		const char *count, *color;
	} cases[] = {
		{ "把灯变成绿色", "green" },
		{ "关灯", "off" },
		{ "开灯", "white" },
		{ "变红", "red" },
		{ "把灯关掉", "off" },
		{ "打开灯", "white" },
		{ "帮我把灯变成绿色", "green" },
		{ "关闭灯", "off" },
		{ "红灯", "red" },
		{ "灯关了", "off" },
		{ "把灯打开", "white" },
	};
	struct intents_fixture w;
	char color[16];
	size_t i;

	intents_start(&w);
	for (i = 0; i < NELEM(cases); i++) {
		intents_send(&w, cases[i].count);
		snprintf(color, sizeof(color), "\"%s\"", cases[i].color);
		sim_fixture_expect(&w.b, "color", color);
	}
	intents_stop(&w);
}

TEST(the_protocols_example_is_normalized)
{
	struct intents_fixture w;
	json_t *j, *in;
	char *text;

	intents_start(&w);
	j = intents_filter(&w, "把灯变成绿色");
	in = json_array_get(json_object_get(j, "intents"), 0);
	text = json_dumps(
	    json_object_get(in, "normalized"), JSON_COMPACT | JSON_SORT_KEYS);
	ck_assert_str_eq(text,
	    "{\"color\":\"green\",\"mode\":\"set_color\","
	    "\"skill\":\"control_light\"}");
	free(text);
	json_decref(j);
	intents_stop(&w);
}

TEST(texts_move_the_head_and_set_alarms)
{
	struct intents_fixture w;
	json_t *j, *alarm;

	intents_start(&w);
	intents_send(&w, "点头");
	sim_fixture_expect(&w.b, "head_motion", "点头");
	sim_fixture_expect(&w.b, "head_motion_duration_seconds", "1.5");
	intents_send(&w, "摇头3秒");
	sim_fixture_expect(&w.b, "head_motion", "摇头");
	sim_fixture_expect(&w.b, "head_motion_duration_seconds", "3");
	intents_send(&w, "1秒后叫我");
	sim_fixture_expect(&w.b, "alarms", "\"fired\":true");
	intents_send(&w, "10秒后叫我");
	intents_send(&w, "10分钟后叫我");
	sim_fixture_expect(&w.b, "logs", "闹钟 at");
	j = sim_fixture_state(&w.b, NULL);
	ck_assert_uint_eq(json_array_size(json_object_get(j, "alarms")), 3);
	alarm = json_array_get(json_object_get(j, "alarms"), 1);
	ck_assert_str_eq(tk_find_text(alarm, "label"), "闹钟");
	json_decref(j);
	intents_stop(&w);
}

TEST(questions_are_not_intents)
{
	struct intents_fixture w;
	json_t *j;

	intents_start(&w);
	j = intents_filter(&w, "今天上海天气如何？");
	ck_assert_str_eq(tk_find_text(json_object_get(j, "decision"), "action"),
	    "fallback_reasoning");
	json_decref(j);
	intents_stop(&w);
}
