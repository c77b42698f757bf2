/*
 * Changes of a soul: the events that users cause, and its log.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/clock.h"
#include "state/soul.h"
#include "testkit/emotion_fixture.h"

static json_t *
query_history(struct emotion_fixture *b, const char *soul, const char *more)
{
	char body[256], code[64];
	json_t *j;

	snprintf(body, sizeof(body),
	    "{\"user_id\":\"u1\",\"soul_id\":\"%s\"%s}", soul, more);
	j = tk_nats_request(b->nc, "soul.rpc.emotion.history", body, code);
	ck_assert_msg(code[0] == '\0', "%s", code);
	return j;
}

static json_t *
item(json_t *h, size_t i)
{
	json_t *j = json_array_get(tk_at(h, "items"), i);

	ck_assert_ptr_nonnull(j);
	return j;
}

/* Event and log entry have the same delta. */
TEST(a_change_by_a_user_is_published_and_logged)
{
	natsSubscription *events;
	json_t *rep, *ev, *h, *it;
	char subject[256];
	struct emotion_fixture b;

	emotion_fixture_start(&b, 1, NULL);
	emotion_fixture_soul(&b, "soul_a", "INFP");
	emotion_fixture_body(&b, "t-1", "soul_a", false);
	events = tk_nats_listen(b.nc, "soul.event.psyche_update.>");
	rep = emotion_fixture_observe(&b, "soul_a", "t-1", "气死我了！");
	ev = tk_nats_next(events, EMOTION_FIXTURE_MS, subject);
	ck_assert_ptr_nonnull(ev);
	ck_assert_str_eq(subject, "soul.event.psyche_update.soul_a");
	ck_assert_str_eq(tk_text(ev, "source"), "psyche");
	ck_assert_str_eq(tk_text(ev, "payload.reason"), "user_anger");
	ck_assert_str_eq(tk_text(ev, "payload.soul_id"), "soul_a");
	ck_assert_str_eq(tk_text(ev, "payload.session_id"), "s1");
	ck_assert_str_eq(tk_text(ev, "payload.user_id"), "u1");
	ck_assert_int_eq(tk_int(ev, "payload.version"), tk_int(rep, "version"));
	ck_assert_double_lt(tk_number(ev, "payload.delta.p"), -.2);
	ck_assert_double_gt(tk_number(ev, "payload.delta.a"), .2);
	ck_assert(json_equal(
	    tk_at(ev, "meta.psyche_state"), tk_at(rep, "soul_emotion")));

	h = query_history(&b, "soul_a", "");
	ck_assert_uint_eq(json_array_size(tk_at(h, "items")), 1);
	it = item(h, 0);
	ck_assert_str_eq(tk_text(it, "cause"), "user_input");
	ck_assert_str_eq(tk_text(it, "reason"), "user_anger");
	ck_assert_str_eq(tk_text(it, "user_emotion"), "anger");
	ck_assert_str_eq(tk_text(it, "session_id"), "s1");
	ck_assert(json_equal(tk_at(it, "version"), tk_at(rep, "version")));
	ck_assert_double_eq_tol(
	    tk_number(it, "delta.p"), tk_number(ev, "payload.delta.p"), 2e-6);
	ck_assert_double_eq_tol(
	    tk_number(it, "p"), tk_number(rep, "soul_emotion.p"), 2e-6);
	ck_assert_double_eq_tol(tk_number(it, "exec_probability"),
	    tk_number(rep, "exec_probability"), 2e-6);
	json_decref(rep);
	json_decref(ev);
	json_decref(h);

	/* A command changes nothing: it is logged without an event. */
	rep = emotion_fixture_observe(&b, "soul_a", "t-1", "开灯");
	json_decref(rep);
	ck_assert_ptr_null(tk_nats_next(events, 300, subject));
	h = query_history(&b, "soul_a", "");
	ck_assert_uint_eq(json_array_size(tk_at(h, "items")), 2);
	ck_assert_str_eq(tk_text(item(h, 1), "reason"), "user_neutral");
	ck_assert_double_eq(tk_number(item(h, 1), "delta.p"), 0);
	json_decref(h);
	natsSubscription_Destroy(events);
	emotion_fixture_stop(&b);
}

static bool
millisecond_passed(void *arg)
{
	const struct wall *then = arg;

	return clock_wall().ms > then->ms + 1;
}

TEST(a_history_is_limited_and_starts_at_since)
{
	char since[128], code[64];
	struct emotion_fixture b;
	json_t *h, *j;
	int i;

	emotion_fixture_start(&b, 1, NULL);
	emotion_fixture_soul(&b, "soul_a", "INFP");
	h = query_history(&b, "soul_a", "");
	ck_assert_uint_eq(json_array_size(tk_at(h, "items")), 0);
	json_decref(h);
	for (i = 0; i < 4; i++) {
		json_decref(
		    emotion_fixture_observe(&b, "soul_a", "t-1", "谢谢你"));
		/* Each entry has a time of its own. */
		tk_until(
		    millisecond_passed, &(struct wall){ clock_wall().ms }, 100);
	}
	h = query_history(&b, "soul_a", ",\"limit\":2");
	ck_assert_uint_eq(json_array_size(tk_at(h, "items")), 2);
	ck_assert_int_lt(
	    tk_int(item(h, 0), "version"), tk_int(item(h, 1), "version"));
	ck_assert_int_eq(tk_int(item(h, 1), "version"),
	    emotion_fixture_version(&b, "soul_a"));
	snprintf(since, sizeof(since), ",\"since\":\"%s\"",
	    tk_text(item(h, 0), "time"));
	json_decref(h);
	h = query_history(&b, "soul_a", since);
	ck_assert_uint_eq(json_array_size(tk_at(h, "items")), 1);
	json_decref(h);
	j = tk_nats_request(b.nc, "soul.rpc.emotion.history",
	    "{\"user_id\":\"u1\",\"soul_id\":\"soul_a\","
	    "\"since\":\"yesterday\"}",
	    code);
	ck_assert_str_eq(code, "invalid_request");
	json_decref(j);
	j = tk_nats_request(b.nc, "soul.rpc.emotion.history",
	    "{\"user_id\":\"u1\",\"soul_id\":\"missing\"}", code);
	ck_assert_str_eq(code, "not_found");
	json_decref(j);
	emotion_fixture_stop(&b);
}

/* Ticks do not fill the log: one sample in the first half minute. */
TEST_T(ticks_log_samples_only, 60)
{
	natsSubscription *sub;
	char subject[256];
	size_t i, n = 0;
	struct emotion_fixture b;
	json_t *h, *u;
	int ticks;

	emotion_fixture_start(&b, 1, NULL);
	emotion_fixture_soul(&b, "soul_a", "INFP");
	emotion_fixture_body(&b, "t-1", "soul_a", true);
	sub = tk_nats_listen(b.nc, "soul.body.>");
	json_decref(emotion_fixture_observe(&b, "soul_a", "t-1", "我很开心"));
	/* Past 10 s; at most one tick precedes the input. */
	for (ticks = 0; ticks < 9; ticks++) {
		u = tk_nats_next(sub, EMOTION_FIXTURE_MS, subject);
		ck_assert_ptr_nonnull(u);
		json_decref(u);
	}
	h = query_history(&b, "soul_a", "");
	for (i = 0; i < json_array_size(tk_at(h, "items")); i++)
		if (strcmp(tk_text(item(h, i), "cause"), "silence") == 0) {
			ck_assert_double_eq(
			    tk_number(item(h, i), "delta.p"), 0);
			n++;
		}
	ck_assert_uint_eq(n, 1);
	ck_assert_uint_eq(json_array_size(tk_at(h, "items")), 2);
	json_decref(h);
	natsSubscription_Destroy(sub);
	emotion_fixture_stop(&b);
}

/* Souls of the older model keep it, unless they are migrated. */
TEST(older_souls_are_migrated_only_if_configured)
{
	struct soul soul = { .id = STR("old"),
		.user_id = STR("u1"),
		.name = STR("old"),
		.mbti_type = STR("INFP"),
		.model = STR("persona-pad-v2"),
		.created = clock_wall() };
	struct emotion_fixture b;
	json_t *j;

	emotion_fixture_start(&b, 1, NULL);
	ck_assert_int_eq(soul_create(b.db.s, &soul, STR("")), RC_OK);
	emotion_fixture_soul(&b, "new", "INFP");
	json_decref(emotion_fixture_observe(&b, "old", "t-1", "我很开心"));
	j = emotion_fixture_query(&b, "soul.rpc.emotion.state", "old");
	ck_assert_str_eq(tk_text(j, "model_version"), "persona-pad-v2");
	json_decref(j);
	j = emotion_fixture_query(&b, "soul.rpc.emotion.state", "new");
	ck_assert_str_eq(tk_text(j, "model_version"), "persona-pad-v3");
	json_decref(j);
	emotion_fixture_spawn(&b, 1, "EMOTION_MIGRATE_V2=on");
	tk_service_wait(&b.engine[1]);
	tk_service_end(&b.engine[0]);
	j = emotion_fixture_query(&b, "soul.rpc.emotion.state", "old");
	ck_assert_str_eq(tk_text(j, "model_version"), "persona-pad-v3");
	/* The state is unchanged. */
	ck_assert_double_gt(tk_number(j, "soul_emotion.p"), .1);
	json_decref(j);
	emotion_fixture_stop(&b);
}
