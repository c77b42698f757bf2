/*
 * A body's own catalog in the intent-filter, and the filter's answer back at
 * the body: what people say moves it.
 */
#include "integration/body-sim/bed.h"

struct words {
	struct bed b;
	struct tk_server nats;
	struct tk_service filter;
	json_t *catalog;
	int said;
};

static void
words_start(struct words *w)
{
	struct tk_env e = { 0 };
	json_t *report;

	*w = (struct words){ 0 };
	bed_start(&w->b, NULL);
	tk_server_start(&w->nats, TK_NATS);
	tk_env_put(&e, "NATS_URL=%s", w->nats.url);
	tk_service_start(&w->filter, "intent-filter", "intent-filter", &e);
	report = bed_json(peer_get(&w->b.peer, T1 "intent_catalog", 0));
	w->catalog = json_incref(json_object_get(report, "intent_catalog"));
	json_decref(report);
}

static void
words_end(struct words *w)
{
	json_decref(w->catalog);
	tk_service_end(&w->filter);
	bed_stop(&w->b);
}

/* What the filter makes of a command; released by the caller. */
static json_t *
filter(struct words *w, const char *command)
{
	json_t *req = json_pack(
	    "{s:s, s:O}", "command", command, "intent_catalog", w->catalog);
	char *text = json_dumps(req, 0);
	struct tk_answer a = { 0 };
	json_t *j;

	ck_assert_int_eq(
	    tk_http_ask(w->filter.http, &a, "POST", "/v1/intents/filter", text),
	    200);
	j = tk_json(a.body.p, a.body.n);
	tk_answer_free(&a);
	free(text);
	json_decref(req);
	return j;
}

/* Say it: filter, then the ready intents to the body as an intent_action. */
static void
say(struct words *w, const char *command)
{
	json_t *answer = filter(w, command), *action, *intents = json_array();
	json_t *in, *list = json_object_get(answer, "intents");
	char id[16], stamp[WALL_FORMAT_MAX], *text;
	size_t i;

	ck_assert_str_eq(text_of(json_object_get(answer, "decision"), "action"),
	    "execute_intents");
	json_array_foreach (list, i, in) {
		ck_assert_str_eq(text_of(in, "status"), "ready");
		json_array_append_new(intents,
		    json_pack("{s:O, s:O, s:O}", "intent_id",
			json_object_get(in, "intent_id"), "confidence",
			json_object_get(in, "confidence"), "normalized",
			json_object_get(in, "normalized")));
	}
	snprintf(id, sizeof(id), "ia-%d", ++w->said);
	wall_format(clock_wall(), 0, stamp);
	action = json_pack("{s:s, s:s, s:s, s:s, s:o, s:f, s:s}", "request_id",
	    id, "session_id", "s1", "terminal_id", "terminal-001", "soul_id",
	    "soul", "intents", intents, "exec_probability", 0.9, "ts", stamp);
	ck_assert_ptr_nonnull(action);
	text = json_dumps(action, 0);
	peer_send(&w->b.peer, T1 "intent_action", text, false);
	free(text);
	json_decref(action);
	json_decref(answer);
}

TEST(lights_by_word)
{
	static const struct {
		const char *said, *color;
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
	struct words w;
	char color[16];
	size_t i;

	words_start(&w);
	for (i = 0; i < NELEM(cases); i++) {
		say(&w, cases[i].said);
		snprintf(color, sizeof(color), "\"%s\"", cases[i].color);
		bed_expect(&w.b, "color", color);
	}
	words_end(&w);
}

TEST(the_protocols_sample_by_word)
{
	struct words w;
	json_t *j, *in;
	char *text;

	words_start(&w);
	j = filter(&w, "把灯变成绿色");
	in = json_array_get(json_object_get(j, "intents"), 0);
	text = json_dumps(
	    json_object_get(in, "normalized"), JSON_COMPACT | JSON_SORT_KEYS);
	ck_assert_str_eq(text,
	    "{\"color\":\"green\",\"mode\":\"set_color\","
	    "\"skill\":\"control_light\"}");
	free(text);
	json_decref(j);
	words_end(&w);
}

TEST(heads_and_alarms_by_word)
{
	struct words w;
	json_t *j, *alarm;

	words_start(&w);
	say(&w, "点头");
	bed_expect(&w.b, "head_motion", "点头");
	bed_expect(&w.b, "head_motion_duration_seconds", "1.5");
	say(&w, "摇头3秒");
	bed_expect(&w.b, "head_motion", "摇头");
	bed_expect(&w.b, "head_motion_duration_seconds", "3");
	say(&w, "1秒后叫我");
	bed_expect(&w.b, "alarms", "\"fired\":true");
	say(&w, "10秒后叫我");
	say(&w, "10分钟后叫我");
	bed_expect(&w.b, "logs", "闹钟 at");
	j = bed_state(&w.b, NULL);
	ck_assert_uint_eq(json_array_size(json_object_get(j, "alarms")), 3);
	alarm = json_array_get(json_object_get(j, "alarms"), 1);
	ck_assert_str_eq(text_of(alarm, "label"), "闹钟");
	json_decref(j);
	words_end(&w);
}

TEST(questions_are_not_its_business)
{
	struct words w;
	json_t *j;

	words_start(&w);
	j = filter(&w, "今天上海天气如何？");
	ck_assert_str_eq(text_of(json_object_get(j, "decision"), "action"),
	    "fallback_reasoning");
	json_decref(j);
	words_end(&w);
}
