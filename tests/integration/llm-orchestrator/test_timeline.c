/*
 * Where a turn's time went, while it runs and after it.
 */
#include "testkit/orch_fixture.h"
#include "testkit/redis_meter.h"
#include "wire/wire.h"

/* A phase of a list, or NULL. */
static json_t *
stage(json_t *list, const char *name, size_t nth)
{
	json_t *s;
	size_t i;

	json_array_foreach (list, i, s) {
		if (strcmp(orch_text(s, "stage"), name) == 0 && nth-- == 0)
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
stored(struct orch_fixture *b, const char *turn)
{
	struct turn_record t = orch_turn_stored(b, turn);

	ck_assert_int_eq(t.state, TURN_STATE_ENDED);
	json_t *list = json_loadb(t.timeline.p, t.timeline.n, 0, NULL);
	ck_assert(json_is_array(list));
	return list;
}

/* A turn with a slow skill and two completions. */
TEST_T(the_timeline_of_an_ended_turn, 60)
{
	struct orch_fixture b;
	struct orch_turn t;
	char names[256];

	orch_fixture_start(&b, 1);
	orch_peers_set(&b.peers, filter, INTENT_FALLBACK);
	orch_peers_set(&b.peers, body, BODY_MUTE);
	orch_model_reply_after(&b.model, NULL, "[[\"nod\",\"{}\"]]", 120);
	orch_model_stream(&b.model, "没有|点头", NULL, 60);
	orch_turn_start_with(
	    &t, &b, "点头", &(struct orch_turn_opts){ .stream = true });
	orch_turn_end(&t);
	json_t *list = stored(&b, t.turn_id);
	json_t *all = json_pack("{s:O}", "l", list);
	ck_assert_str_eq(orch_list(all, "l", "stage", names, sizeof(names)),
	    "begin,load,emotion,intent,memory,think,invoke,think,commit");
	ck_assert_double_ge(ms_of(stage(list, "think", 0), "ms"), 115);
	ck_assert_str_eq(orch_text(stage(list, "think", 0), "what"), "1");
	ck_assert_str_eq(orch_text(stage(list, "think", 1), "what"), "2");
	double first = ms_of(stage(list, "think", 1), "first_ms");
	ck_assert_double_le(first + 55, ms_of(stage(list, "think", 1), "ms"));
	json_t *invoke = stage(list, "invoke", 0);
	ck_assert_str_eq(orch_text(invoke, "what"), "nod");
	ck_assert_str_eq(orch_text(invoke, "outcome"), "not_confirmed");
	ck_assert_double_ge(ms_of(invoke, "ms"), 1500);
	/* Requested in parallel. */
	ck_assert_double_le(ms_of(stage(list, "intent", 0), "start_ms"),
	    ms_of(stage(list, "emotion", 0), "start_ms") +
		ms_of(stage(list, "emotion", 0), "ms"));
	struct turn_record rec = orch_turn_stored(&b, t.turn_id);
	json_t *reply = json_loadb(rec.reply.p, rec.reply.n, 0, NULL);
	ck_assert(json_equal(reply, t.end));
	json_decref(reply);
	json_decref(all);
	json_decref(list);
	orch_turn_close(&t);
	orch_fixture_stop(&b);
}

TEST_T(what_went_into_the_phases_and_came_out, 60)
{
	struct orch_fixture b;
	struct orch_turn t;

	orch_fixture_start(&b, 1);
	orch_peers_set(&b.peers, filter, INTENT_FALLBACK);
	orch_model_reply_after(&b.model, NULL, "[[\"nod\",\"{}\"]]", 1);
	orch_model_stream(&b.model, "点头了", NULL, 1);
	orch_turn_start(&t, &b, "点头");
	orch_turn_end(&t);
	json_t *all = orch_turn_detail(&b, t.turn_id);
	json_t *list = json_object_get(all, "timeline");
	ck_assert_str_eq(orch_text(all, "user_text"), "点头");
	ck_assert_str_eq(orch_text(all, "state"), "completed");
	ck_assert_str_eq(orch_text(stage(list, "emotion", 0), "in"), "点头");
	ck_assert_str_eq(orch_text(stage(list, "invoke", 0), "in"), "{}");
	json_t *think = stage(list, "think", 0);
	ck_assert_ptr_nonnull(strstr(orch_text(think, "in"), "[user] 点头"));
	ck_assert_ptr_nonnull(strstr(orch_text(think, "out"), "[call] nod {}"));
	ck_assert_int_eq(
	    json_integer_value(json_object_get(think, "attempts")), 1);
	json_decref(all);
	orch_turn_close(&t);
	orch_fixture_stop(&b);
}

TEST_T(the_timeline_of_a_running_turn, 60)
{
	struct orch_fixture b;
	struct orch_turn t, next;

	orch_fixture_start(&b, 1);
	orch_peers_set(&b.peers, filter, INTENT_FALLBACK);
	orch_model_hold(&b.model, true);
	orch_model_stream(&b.model, "慢|慢", NULL, 1);
	orch_model_reply(&b.model, "好", NULL);
	orch_turn_start_with(
	    &t, &b, "一", &(struct orch_turn_opts){ .stream = true });
	while (orch_model_requests(&b.model) < 1)
		orch_turn_next(&t, 20);
	orch_turn_start(&next, &b, "二");
	while (!next.accepted)
		ck_assert(orch_turn_next(&next, ORCH_WAIT_MS));
	json_t *j = orch_turn_query(&b, "show", t.turn_id);
	ck_assert_str_eq(orch_text(j, "state"), "running");
	ck_assert_str_eq(orch_text(j, "stage"), "thinking");
	ck_assert_str_eq(orch_text(j, "user_id"), "u1");
	ck_assert_str_eq(orch_text(j, "session_id"), "s1");
	json_t *think = stage(tk_find(j, "timeline"), "think", 0);
	ck_assert_ptr_nonnull(think);
	ck_assert_ptr_null(json_object_get(think, "ms"));
	ck_assert_double_ge(json_number_value(tk_find(j, "total_ms")),
	    ms_of(think, "start_ms"));
	json_decref(j);
	j = orch_turn_query(&b, "show", next.turn_id);
	ck_assert_str_eq(orch_text(j, "stage"), "queued");
	ck_assert_ptr_nonnull(stage(tk_find(j, "timeline"), "queue", 0));
	ck_assert_uint_eq(json_array_size(tk_find(j, "timeline")), 2);
	json_decref(j);
	orch_model_hold(&b.model, false);
	orch_ck_completed(&t, .reply = "慢慢", .executed = "", .failed = "");
	orch_ck_completed(&next, .reply = "好", .executed = "", .failed = "");
	/* Its process does not know a turn that has ended. */
	j = orch_turn_query(&b, "show", t.turn_id);
	ck_assert_str_eq(orch_text(j, "code"), "not_found");
	json_decref(j);
	orch_turn_close(&t);
	orch_turn_close(&next);
	orch_fixture_stop(&b);
}

#define FSYNC_MS 40

static bool
commit_is_timed(void *arg)
{
	struct orch_turn *t = arg;

	return orch_turn_stored(t->b, t->turn_id).commit_us >= FSYNC_MS * 1000;
}

/* What a turn waits for the disk of Redis, at its begin and its end. */
TEST_T(begin_and_commit_have_the_time_of_their_writes, 60)
{
	struct tk_meter *meter = tk_meter_begin();
	struct orch_fixture b;
	struct orch_turn t;

	orch_fixture_start(&b, 1);
	orch_peers_set(&b.peers, filter,
	    INTENT_DECISION("execute_intents", INTENT_GREEN, ""));
	atomic_store(&meter->fsync_us, FSYNC_MS * 1000);
	orch_turn_start(&t, &b, "把灯变绿");
	orch_ck_completed(&t, .executed = "control_light", .failed = "");
	atomic_store(&meter->fsync_us, 0);
	json_t *list = stored(&b, t.turn_id);
	ck_assert_double_ge(ms_of(stage(list, "begin", 0), "ms"), FSYNC_MS);
	ck_assert_ptr_null(stage(list, "queue", 0));
	/* It was stored before its end was known. */
	ck_assert_ptr_nonnull(stage(list, "commit", 0));
	ck_assert_ptr_null(json_object_get(stage(list, "commit", 0), "ms"));
	ck_assert(tk_until(commit_is_timed, &t, ORCH_WAIT_MS));
	json_decref(list);
	orch_turn_close(&t);
	orch_fixture_stop(&b);
}

/* After SIGTERM the running turn ends, and no other is accepted. */
TEST_T(a_drain_ends_running_turns, 60)
{
	struct orch_fixture b;
	struct orch_turn t;

	orch_fixture_start(&b, 1);
	orch_peers_set(&b.peers, filter, INTENT_FALLBACK);
	orch_model_hold(&b.model, true);
	orch_model_stream(&b.model, "再|见", NULL, 1);
	orch_turn_start_with(
	    &t, &b, "一", &(struct orch_turn_opts){ .stream = true });
	while (orch_model_requests(&b.model) < 1)
		orch_turn_next(&t, 20);
	tk_signal(&b.orch[0].proc, SIGTERM);
	while (!tk_log_has(&b.orch[0].proc, "svc.draining"))
		orch_turn_next(&t, 20);
	orch_model_hold(&b.model, false);
	orch_ck_completed(&t, .reply = "再见", .executed = "", .failed = "");
	ck_assert_int_eq(tk_wait(&b.orch[0].proc, ORCH_WAIT_MS), 0);
	b.orch[0].proc.pid = 0;
	json_decref(orch_events(&b));
	orch_turn_close(&t);
	orch_fixture_stop(&b);
}

/* ---- spans ---- */

/* All spans that the collector received. */
static json_t *
collected(struct orch_model *m)
{
	json_t *out = json_array(), *rs, *ss;
	size_t i, k;

	for (size_t n = 0; n < orch_model_requests(m); n++) {
		json_t *list =
		    tk_find(orch_model_request(m, n), "resourceSpans");
		json_array_foreach (list, i, rs) {
			json_array_foreach (tk_find(rs, "scopeSpans"), k, ss)
				json_array_extend(out, tk_find(ss, "spans"));
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
		if (strcmp(orch_text(s, "name"), name) == 0)
			return s;
	}
	return NULL;
}

static int64_t
span_ns(json_t *span, const char *member)
{
	return strtoll(orch_text(span, member), NULL, 10);
}

/* The span of that name has this parent, and lies within it. */
static void
ck_child(json_t *spans, const char *name, json_t *parent)
{
	json_t *s = span_named(spans, name);

	ck_assert_msg(s != NULL, "%s", name);
	ck_assert_str_eq(orch_text(s, "traceId"), orch_text(parent, "traceId"));
	ck_assert_str_eq(
	    orch_text(s, "parentSpanId"), orch_text(parent, "spanId"));
	ck_assert_int_ge(span_ns(s, "startTimeUnixNano"),
	    span_ns(parent, "startTimeUnixNano"));
	ck_assert_int_le(
	    span_ns(s, "endTimeUnixNano"), span_ns(parent, "endTimeUnixNano"));
}

/* The turn is a child of its caller's span, each phase of the turn's. */
TEST_T(phases_are_exported_as_spans, 60)
{
	static const char *const phases[] = { "begin", "load", "emotion",
		"intent", "memory", "think", "commit" };
	static const struct orch_turn_opts traced = {
		.trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-"
			 "01"
	};
	struct orch_fixture b;
	struct orch_turn t;
	struct orch_model collector;
	char url[64];

	orch_model_start(&collector);
	for (int i = 0; i < 4; i++)
		orch_model_respond(&collector, 200, 0, mem_strdup("{}"));
	snprintf(url, sizeof(url), "http://127.0.0.1:%d", collector.port);
	ck_assert_int_eq(setenv("OTEL_EXPORTER_OTLP_ENDPOINT", url, 1), 0);
	orch_fixture_start(&b, 1);
	orch_peers_set(&b.peers, filter, INTENT_FALLBACK);
	orch_model_reply(&b.model, "好", NULL);
	orch_turn_start_with(&t, &b, "你好", &traced);
	orch_ck_completed(&t, .reply = "好", .executed = "", .failed = "");
	orch_turn_close(&t);
	orch_fixture_stop(&b);
	json_t *spans = collected(&collector);
	json_t *turn = span_named(spans, "turn");
	ck_assert_ptr_nonnull(turn);
	ck_assert_str_eq(
	    orch_text(turn, "traceId"), "0af7651916cd43dd8448eb211c80319c");
	ck_assert_str_eq(orch_text(turn, "parentSpanId"), "b7ad6b7169203331");
	for (size_t i = 0; i < NELEM(phases); i++)
		ck_child(spans, phases[i], turn);
	json_decref(spans);
	orch_model_stop(&collector);
}
