/*
 * Where a turn's time went, while it runs and after it.
 */
#include "story.h"

/* A stage of a list, or NULL. */
static json_t *
stage(json_t *list, const char *name, size_t nth)
{
	json_t *s;
	size_t i;

	json_array_foreach (list, i, s) {
		if (strcmp(text_at(s, "stage"), name) == 0 && nth-- == 0)
			return s;
	}
	return NULL;
}

static double
ms_of(json_t *s, const char *member)
{
	ck_assert_ptr_nonnull(s);
	ck_assert(json_is_number(json_object_get(s, member)));
	return json_number_value(json_object_get(s, member));
}

static json_t *
kept(struct bed *b, const char *turn)
{
	struct turn_record t = story_record(b, turn);

	ck_assert_int_eq(t.state, TURN_STATE_ENDED);
	json_t *list = json_loadb(t.timeline.p, t.timeline.n, 0, NULL);
	ck_assert(json_is_array(list));
	return list;
}

/* With a skill that takes its time, and two thoughts. */
TEST_T(an_ended_turn, 60)
{
	struct bed b;
	struct talk t;
	char names[256];

	bed_start(&b, 1);
	peers_set(&b.peers, filter, FALLBACK);
	peers_set(&b.peers, body, BODY_MUTE);
	model_will_say_late(&b.model, NULL, "[[\"nod\",\"{}\"]]", 120);
	model_will_stream(&b.model, "没有|点头", NULL, 60);
	talk_start_with(&t, &b, "点头", &(struct talk_opts){ .stream = true });
	talk_end(&t);
	json_t *list = kept(&b, t.turn_id);
	json_t *all = json_pack("{s:O}", "l", list);
	ck_assert_str_eq(list_at(all, "l", "stage", names, sizeof(names)),
	    "queue,load,emotion,intent,memory,think,invoke,think,store");
	ck_assert_double_ge(ms_of(stage(list, "think", 0), "ms"), 115);
	ck_assert_str_eq(text_at(stage(list, "think", 0), "what"), "1");
	ck_assert_str_eq(text_at(stage(list, "think", 1), "what"), "2");
	double first = ms_of(stage(list, "think", 1), "first_ms");
	ck_assert_double_le(first + 55, ms_of(stage(list, "think", 1), "ms"));
	json_t *invoke = stage(list, "invoke", 0);
	ck_assert_str_eq(text_at(invoke, "what"), "nod");
	ck_assert_str_eq(text_at(invoke, "outcome"), "not_confirmed");
	ck_assert_double_ge(ms_of(invoke, "ms"), 1500);
	/* Asked at one time. */
	ck_assert_double_le(ms_of(stage(list, "intent", 0), "start_ms"),
	    ms_of(stage(list, "emotion", 0), "start_ms") +
		ms_of(stage(list, "emotion", 0), "ms"));
	struct turn_record rec = story_record(&b, t.turn_id);
	json_t *reply = json_loadb(rec.reply.p, rec.reply.n, 0, NULL);
	ck_assert(json_equal(reply, t.end));
	json_decref(reply);
	json_decref(all);
	json_decref(list);
	talk_close(&t);
	bed_stop(&b);
}

TEST_T(a_running_turn, 60)
{
	struct bed b;
	struct talk t, next;

	bed_start(&b, 1);
	peers_set(&b.peers, filter, FALLBACK);
	model_hold(&b.model, true);
	model_will_stream(&b.model, "慢|慢", NULL, 1);
	model_will_say(&b.model, "好", NULL);
	talk_start_with(&t, &b, "一", &(struct talk_opts){ .stream = true });
	while (model_asked(&b.model) < 1)
		talk_next(&t, 20);
	talk_start(&next, &b, "二");
	while (!next.accepted)
		ck_assert(talk_next(&next, BED_MS));
	json_t *j = story_ask(&b, "show", t.turn_id);
	ck_assert_str_eq(text_at(j, "state"), "running");
	ck_assert_str_eq(text_at(j, "stage"), "thinking");
	ck_assert_str_eq(text_at(j, "user_id"), "u1");
	ck_assert_str_eq(text_at(j, "session_id"), "s1");
	json_t *think = stage(at(j, "timeline"), "think", 0);
	ck_assert_ptr_nonnull(think);
	ck_assert_ptr_null(json_object_get(think, "ms"));
	ck_assert_double_ge(
	    json_number_value(at(j, "total_ms")), ms_of(think, "start_ms"));
	json_decref(j);
	j = story_ask(&b, "show", next.turn_id);
	ck_assert_str_eq(text_at(j, "stage"), "queued");
	ck_assert_uint_eq(json_array_size(at(j, "timeline")), 1);
	json_decref(j);
	model_hold(&b.model, false);
	talk_want(&t, .reply = "慢慢", .executed = "", .failed = "");
	talk_want(&next, .reply = "好", .executed = "", .failed = "");
	/* Nobody answers for a turn that has ended. */
	ck_assert_ptr_null(story_ask(&b, "show", t.turn_id));
	talk_close(&t);
	talk_close(&next);
	bed_stop(&b);
}

/* A signal lets a turn under way end, and takes no other. */
TEST_T(a_drain_ends_what_runs, 60)
{
	struct bed b;
	struct talk t;

	bed_start(&b, 1);
	peers_set(&b.peers, filter, FALLBACK);
	model_hold(&b.model, true);
	model_will_stream(&b.model, "再|见", NULL, 1);
	talk_start_with(&t, &b, "一", &(struct talk_opts){ .stream = true });
	while (model_asked(&b.model) < 1)
		talk_next(&t, 20);
	tk_signal(&b.orch[0].proc, SIGTERM);
	while (!tk_log_has(&b.orch[0].proc, "svc.draining"))
		talk_next(&t, 20);
	model_hold(&b.model, false);
	talk_want(&t, .reply = "再见", .executed = "", .failed = "");
	ck_assert_int_eq(tk_wait(&b.orch[0].proc, BED_MS), 0);
	b.orch[0].proc.pid = 0;
	json_decref(story_of(&b));
	talk_close(&t);
	bed_stop(&b);
}

/* ---- spans ------------------------------------------------------------- */

/* All spans that a collector was sent. */
static json_t *
collected(struct model *m)
{
	json_t *out = json_array(), *rs, *ss;
	size_t i, k;

	for (size_t n = 0; n < model_asked(m); n++) {
		json_t *list = at(model_request(m, n), "resourceSpans");
		json_array_foreach (list, i, rs) {
			json_array_foreach (at(rs, "scopeSpans"), k, ss)
				json_array_extend(out, at(ss, "spans"));
		}
	}
	return out;
}

static json_t *
span_named(json_t *list, const char *name)
{
	json_t *s;
	size_t i;

	json_array_foreach (list, i, s) {
		if (strcmp(text_at(s, "name"), name) == 0)
			return s;
	}
	return NULL;
}

/* Each stage is a part of the turn. */
TEST_T(stages_as_spans, 60)
{
	struct bed b;
	struct talk t;
	struct model collector;
	char url[64];

	model_start(&collector);
	for (int i = 0; i < 4; i++)
		model_will(&collector, 200, 0, mem_strdup("{}"));
	snprintf(url, sizeof(url), "http://127.0.0.1:%d", collector.port);
	ck_assert_int_eq(setenv("OTEL_EXPORTER_OTLP_ENDPOINT", url, 1), 0);
	bed_start(&b, 1);
	peers_set(&b.peers, filter, FALLBACK);
	model_will_say(&b.model, "好", NULL);
	talk_start(&t, &b, "你好");
	talk_want(&t, .reply = "好", .executed = "", .failed = "");
	talk_close(&t);
	bed_stop(&b);
	json_t *spans = collected(&collector);
	json_t *turn = span_named(spans, "turn");
	json_t *think = span_named(spans, "think");
	ck_assert_ptr_nonnull(turn);
	ck_assert_ptr_nonnull(think);
	ck_assert_str_eq(text_at(think, "traceId"), text_at(turn, "traceId"));
	ck_assert_str_eq(
	    text_at(think, "parentSpanId"), text_at(turn, "spanId"));
	ck_assert_ptr_nonnull(span_named(spans, "load"));
	ck_assert_ptr_nonnull(span_named(spans, "store"));
	json_decref(spans);
	model_stop(&collector);
}
