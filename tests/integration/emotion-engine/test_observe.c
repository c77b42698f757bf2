/*
 * A user's text changes the soul and updates its body.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "state/soul.h"
#include "testkit/emotion_fixture.h"

TEST(a_text_changes_the_soul_and_updates_the_body)
{
	natsSubscription *sub, *events;
	json_t *rep, *u, *ev, *without;
	char subject[256];
	struct emotion_fixture b;

	emotion_fixture_start(&b, 1, NULL);
	emotion_fixture_soul(&b, "soul_a", "INFP");
	emotion_fixture_body(&b, "t-1", "soul_a", true);
	events = tk_nats_listen(b.nc, "soul.event.emotion_update.>");
	sub = tk_nats_listen(b.nc, "soul.body.>");
	rep = emotion_fixture_observe(&b, "soul_a", "t-1", "气死我了！");
	ck_assert_str_eq(tk_text(rep, "soul_id"), "soul_a");
	ck_assert_str_eq(tk_text(rep, "user_emotion.emotion"), "anger");
	ck_assert_double_eq_tol(tk_number(rep, "user_emotion.p"), -.6, .1);
	ck_assert_double_gt(tk_number(rep, "user_emotion.intensity"), .8);
	ck_assert_double_gt(tk_number(rep, "user_emotion.confidence"), .5);
	ck_assert_double_lt(tk_number(rep, "soul_emotion.p"), -.3);
	ck_assert_double_gt(tk_number(rep, "soul_emotion.a"), .4);
	ck_assert_double_gt(tk_number(rep, "soul_emotion.shock_load"), .2);
	ck_assert_double_lt(tk_number(rep, "exec_probability"), .8);

	/* The tick may be due at the same time. */
	do {
		u = tk_nats_next(sub, EMOTION_FIXTURE_MS, subject);
		ck_assert_ptr_nonnull(u);
	} while (strcmp(tk_text(u, "session_id"), "s1") != 0);
	ck_assert_str_eq(subject, "soul.body.main.t-1.emotion_update");
	ck_assert_str_eq(tk_text(u, "terminal_id"), "t-1");
	ck_assert_str_eq(tk_text(u, "soul_id"), "soul_a");
	ck_assert(
	    json_equal(tk_at(u, "user_emotion"), tk_at(rep, "user_emotion")));
	/* A body gets no drives. */
	without = json_copy(tk_at(rep, "soul_emotion"));
	ck_assert_int_eq(json_object_del(without, "drives"), 0);
	ck_assert(json_equal(tk_at(u, "soul_emotion"), without));
	json_decref(without);
	ck_assert(json_equal(tk_at(u, "version"), tk_at(rep, "version")));
	ck_assert_str_eq(
	    tk_text(u, "ts"), tk_text(u, "soul_emotion.last_updated_at"));
	ck_assert_int_ge(
	    emotion_fixture_version(&b, "soul_a"), tk_int(rep, "version"));

	/* The event is published, too. */
	ev = tk_nats_next(events, EMOTION_FIXTURE_MS, subject);
	ck_assert_ptr_nonnull(ev);
	ck_assert_str_eq(subject, "soul.event.emotion_update.soul_a");
	ck_assert_str_eq(tk_text(ev, "type"), "emotion_update");
	ck_assert_str_eq(tk_text(ev, "source"), "emotion-engine");
	ck_assert(json_equal(tk_at(ev, "payload"), u));
	ck_assert(json_equal(
	    tk_at(ev, "meta.psyche_state"), tk_at(rep, "soul_emotion")));
	json_decref(ev);
	json_decref(u);
	json_decref(rep);
	natsSubscription_Destroy(sub);
	natsSubscription_Destroy(events);
	emotion_fixture_stop(&b);
}

/* Each text acts on the state that the previous ones left. */
TEST(successive_emotions_accumulate)
{
	json_t *a, *z;
	struct emotion_fixture b;
	int i;

	emotion_fixture_start(&b, 1, NULL);
	emotion_fixture_soul(&b, "soul_a", "ENFJ");
	a = emotion_fixture_observe(&b, "soul_a", "t-1", "我今天很开心");
	for (i = 0; i < 3; i++) {
		z = emotion_fixture_observe(
		    &b, "soul_a", "t-1", "真的太开心了！");
		ck_assert_int_eq(
		    tk_int(z, "version"), tk_int(a, "version") + 1);
		ck_assert_double_gt(tk_number(z, "soul_emotion.p"),
		    tk_number(a, "soul_emotion.p"));
		json_decref(a);
		a = z;
	}
	json_decref(a);
	emotion_fixture_stop(&b);
}

/* At most 1.1 calls a change: ticks of the process update its copy. */
TEST(a_soul_is_read_for_its_first_change_only)
{
	struct emotion_fixture b;
	long long hits;
	json_t *rep;
	int i;

	emotion_fixture_start(&b, 1, NULL);
	emotion_fixture_soul(&b, "soul_a", "INFP");
	emotion_fixture_body(&b, "t-1", "soul_a", true);
	for (i = 0; i < 50; i++) {
		rep = emotion_fixture_observe(&b, "soul_a", "t-1", "我很开心");
		json_decref(rep);
	}
	hits = tk_service_metric(&b.engine[0], "soul_emotion_cache_hits_total");
	ck_assert_int_eq(hits, 49);
	ck_assert_int_eq(
	    tk_service_metric(&b.engine[0], "soul_emotion_cache_misses_total"),
	    1);
	/* A tick may win while a change is under way. */
	ck_assert_int_le(
	    tk_service_metric(&b.engine[0], "soul_emotion_cache_stale_total"),
	    5);
	emotion_fixture_stop(&b);
}

/* The soul changes all the same. */
TEST(an_offline_body_gets_no_update)
{
	natsSubscription *sub;
	char subject[256];
	struct emotion_fixture b;
	json_t *rep;

	emotion_fixture_start(&b, 1, NULL);
	emotion_fixture_soul(&b, "soul_a", "INFP");
	emotion_fixture_body(&b, "t-1", "soul_a", true);
	emotion_fixture_online(&b, "t-1", false);
	sub = tk_nats_listen(b.nc, "soul.body.>");
	rep = emotion_fixture_observe(&b, "soul_a", "t-1", "谢谢你");
	ck_assert_str_eq(tk_text(rep, "user_emotion.emotion"), "gratitude");
	json_decref(rep);
	rep = emotion_fixture_observe(&b, "soul_a", "unknown", "谢谢你");
	json_decref(rep);
	ck_assert_ptr_null(tk_nats_next(sub, 300, subject));
	natsSubscription_Destroy(sub);
	emotion_fixture_stop(&b);
}

TEST(ids_of_any_form_are_supported)
{
	natsSubscription *sub;
	char subject[256];
	struct emotion_fixture b;
	json_t *rep, *u;

	emotion_fixture_start(&b, 1, NULL);
	emotion_fixture_soul(&b, "灵魂 1", "ISTJ");
	emotion_fixture_body(&b, "终端.1", "灵魂 1", true);
	sub = tk_nats_listen(b.nc, "soul.body.>");
	rep = emotion_fixture_observe(&b, "灵魂 1", "终端.1", "你好");
	ck_assert_str_eq(tk_text(rep, "user_emotion.emotion"), "neutral");
	u = tk_nats_next(sub, EMOTION_FIXTURE_MS, subject);
	ck_assert_ptr_nonnull(u);
	ck_assert_str_eq(subject, "soul.body.main.~57uI56uvLjE.emotion_update");
	ck_assert_str_eq(tk_text(u, "terminal_id"), "终端.1");
	json_decref(u);
	json_decref(rep);
	natsSubscription_Destroy(sub);
	emotion_fixture_stop(&b);
}

struct gate_query {
	struct emotion_fixture *b;
	json_t *then;
};

static bool
is_calmer(void *arg)
{
	const struct gate_query *a = arg;
	json_t *now =
	    emotion_fixture_query(a->b, "soul.rpc.emotion.gate", "soul_a");
	bool is = tk_number(now, "exec_probability") >
	    tk_number(a->then, "exec_probability") + .005;

	json_decref(now);
	return is;
}

TEST(state_and_gate_requests_store_nothing)
{
	json_t *observed, *s, *g, *second;
	struct emotion_fixture b;

	emotion_fixture_start(&b, 1, NULL);
	emotion_fixture_soul(&b, "soul_a", "INFJ");
	observed = emotion_fixture_observe(&b, "soul_a", "t-1", "我很难过");
	s = emotion_fixture_query(&b, "soul.rpc.emotion.state", "soul_a");
	g = emotion_fixture_query(&b, "soul.rpc.emotion.gate", "soul_a");
	second = emotion_fixture_query(&b, "soul.rpc.emotion.state", "soul_a");
	ck_assert(json_equal(tk_at(observed, "version"), tk_at(s, "version")));
	ck_assert(json_equal(tk_at(observed, "version"), tk_at(g, "version")));
	ck_assert(
	    json_equal(tk_at(observed, "version"), tk_at(second, "version")));
	ck_assert_int_eq(
	    emotion_fixture_version(&b, "soul_a"), tk_int(observed, "version"));
	ck_assert_double_eq(tk_number(s, "personality_vector.empathy"), .67);
	ck_assert_double_eq(tk_number(s, "personality_vector.dominance"), .33);
	/* Both are current. */
	ck_assert_double_eq_tol(tk_number(s, "soul_emotion.p"),
	    tk_number(observed, "soul_emotion.p"), .1);
	ck_assert_int_ge(strcmp(tk_text(second, "soul_emotion.last_updated_at"),
			     tk_text(observed, "soul_emotion.last_updated_at")),
	    0);
	ck_assert_double_eq_tol(tk_number(g, "exec_probability"),
	    tk_number(observed, "exec_probability"), .02);
	ck_assert_double_ge(tk_number(g, "exec_probability"),
	    tk_number(observed, "exec_probability"));
	ck_assert_str_eq(tk_text(g, "exec_mode"), "auto_execute");
	json_decref(observed);
	json_decref(s);
	json_decref(g);
	json_decref(second);
	emotion_fixture_stop(&b);
}

/* The gate is computed for the time of the request, ticks or not. */
TEST(the_gate_is_that_of_the_request_time)
{
	json_t *observed, *then, *now;
	struct emotion_fixture b;

	emotion_fixture_start(&b, 1, NULL);
	emotion_fixture_soul(&b, "soul_a", "INFP");
	observed = emotion_fixture_observe(&b, "soul_a", "t-1", "我好害怕！！");
	then = emotion_fixture_query(&b, "soul.rpc.emotion.gate", "soul_a");
	tk_until(
	    is_calmer, &(struct gate_query){ &b, then }, EMOTION_FIXTURE_MS);
	now = emotion_fixture_query(&b, "soul.rpc.emotion.gate", "soul_a");
	ck_assert(
	    json_equal(tk_at(now, "version"), tk_at(observed, "version")));
	ck_assert_double_gt(tk_number(now, "exec_probability"),
	    tk_number(then, "exec_probability") + .005);
	json_decref(observed);
	json_decref(then);
	json_decref(now);
	emotion_fixture_stop(&b);
}

static void
enrage(struct emotion_fixture *b, const char *soul)
{
	json_t *j;
	int i;

	for (i = 0; i < 6; i++) {
		j = emotion_fixture_observe(
		    b, soul, "t-1", "气死我了！太可恶了！！滚开！！！");
		json_decref(j);
	}
}

TEST(a_furious_soul_is_blocked)
{
	json_t *g, *s;
	struct emotion_fixture b;

	emotion_fixture_start(&b, 1, NULL);
	emotion_fixture_soul(&b, "soul_a", "INFP");
	g = emotion_fixture_query(&b, "soul.rpc.emotion.gate", "soul_a");
	ck_assert_str_eq(tk_text(g, "exec_mode"), "auto_execute");
	ck_assert_double_gt(tk_number(g, "exec_probability"), .9);
	json_decref(g);
	enrage(&b, "soul_a");
	g = emotion_fixture_query(&b, "soul.rpc.emotion.gate", "soul_a");
	ck_assert_str_eq(tk_text(g, "exec_mode"), "blocked");
	ck_assert_double_lt(tk_number(g, "exec_probability"), .01);
	ck_assert_double_gt(tk_number(g, "exec_probability"), 0);
	s = emotion_fixture_query(&b, "soul.rpc.emotion.state", "soul_a");
	ck_assert_ptr_nonnull(tk_text(s, "soul_emotion.lock_until"));
	ck_assert_ptr_null(
	    json_object_get(tk_at(s, "soul_emotion"), "stable_since"));
	json_decref(s);
	json_decref(g);
	emotion_fixture_stop(&b);
}

TEST(the_binary_gate_is_open_or_closed)
{
	json_t *g;
	struct emotion_fixture b;

	emotion_fixture_start(&b, 1, "EXEC_GATE=binary");
	emotion_fixture_soul(&b, "soul_a", "INFP");
	g = emotion_fixture_query(&b, "soul.rpc.emotion.gate", "soul_a");
	ck_assert_str_eq(tk_text(g, "exec_mode"), "auto_execute");
	ck_assert_double_eq(tk_number(g, "exec_probability"), 1);
	json_decref(g);
	enrage(&b, "soul_a");
	g = emotion_fixture_query(&b, "soul.rpc.emotion.gate", "soul_a");
	ck_assert_str_eq(tk_text(g, "exec_mode"), "blocked");
	ck_assert_double_eq(tk_number(g, "exec_probability"), 0);
	json_decref(g);
	emotion_fixture_stop(&b);
}

static const struct {
	const char *subject, *body, *code, *error;
} bad[] = {
	{ "observe",
	    "{\"user_id\":\"u1\",\"soul_id\":\"missing\",\"session_id\":\"s\","
	    "\"terminal_id\":\"t\",\"text\":\"x\"}",
	    "not_found", "soul not found" },
	{ "state", "{\"user_id\":\"u1\",\"soul_id\":\"missing\"}", "not_found",
	    "soul not found" },
	{ "gate", "{\"user_id\":\"u1\",\"soul_id\":\"missing\"}", "not_found",
	    "soul not found" },
	{ "gate", "{}", "invalid_request", "/user_id: is missing" },
	/* Another user's soul is none of this one's. */
	{ "gate", "{\"user_id\":\"u2\",\"soul_id\":\"mine\"}", "not_found",
	    "soul not found" },
	{ "state", "{\"user_id\":\"u2\",\"soul_id\":\"mine\"}", "not_found",
	    "soul not found" },
	{ "history", "{\"user_id\":\"u2\",\"soul_id\":\"mine\"}", "not_found",
	    "soul not found" },
	{ "observe",
	    "{\"user_id\":\"u1\",\"soul_id\":\"a\",\"session_id\":\"s\","
	    "\"text\":\"x\"}",
	    "invalid_request", "/terminal_id: is missing" },
};

TEST(invalid_requests_are_rejected)
{
	struct emotion_fixture b;
	size_t i;

	emotion_fixture_start(&b, 1, NULL);
	emotion_fixture_soul(&b, "mine", "INFP");
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		char subject[64], code[64];
		json_t *j;

		snprintf(subject, sizeof(subject), "soul.rpc.emotion.%s",
		    bad[i].subject);
		j = tk_nats_request(b.nc, subject, bad[i].body, code);
		ck_assert_str_eq(code, bad[i].code);
		ck_assert_str_eq(tk_text(j, "error"), bad[i].error);
		ck_assert_str_eq(tk_text(j, "code"), bad[i].code);
		json_decref(j);
	}
	emotion_fixture_stop(&b);
}

/* An unreadable record is reported, never overwritten. */
TEST(an_unreadable_soul_is_reported_and_not_overwritten)
{
	struct soul soul = { .id = STR("soul_x"),
		.user_id = STR("u1"),
		.name = STR("x"),
		.mbti_type = STR("INFP"),
		.model = STR("persona-pad-v2"),
		.created = { 1 } };
	struct soul_state st = { .user_id = STR("u1"),
		.soul_id = STR("soul_x") };
	char code[64];
	struct emotion_fixture b;
	json_t *j;

	emotion_fixture_start(&b, 1, NULL);
	ck_assert_int_eq(
	    soul_create(b.db.s, &soul, STR("from the future")), RC_OK);
	emotion_fixture_body(&b, "t-x", "soul_x", true);
	j = tk_nats_request(b.nc, "soul.rpc.emotion.gate",
	    "{\"user_id\":\"u1\",\"soul_id\":\"soul_x\"}", code);
	ck_assert_str_eq(
	    tk_text(j, "error"), "the soul's state is not readable");
	json_decref(j);
	ck_assert_int_eq(soul_state_get(b.db.s, &st, 1, b.db.arena), RC_OK);
	ck_assert(str_eq(st.bytes, STR("from the future")));
	ck_assert(tk_log_has(&b.engine[0].proc, "ev=soul.unreadable"));
	emotion_fixture_stop(&b);
}
