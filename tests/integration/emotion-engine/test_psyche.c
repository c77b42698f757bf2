/*
 * Requests that move a soul's drives and emotion.
 */
#include <stdio.h>
#include <string.h>

#include "testkit/emotion_fixture.h"

static struct emotion_fixture b;

static json_t *
apply(const char *delta, const char *request, char code[TK_CODE])
{
	char body[512];

	snprintf(body, sizeof(body),
	    "{\"user_id\":\"u1\",\"soul_id\":\"soul_a\",\"delta\":%s,"
	    "\"reason\":\"navigator_comfort\",\"request_id\":\"%s\"}",
	    delta, request);
	return tk_nats_request(b.nc, "soul.rpc.psyche.apply", body, code);
}

static json_t *
apply_ok(const char *delta, const char *request)
{
	char code[TK_CODE];
	json_t *j = apply(delta, request, code);

	ck_assert_msg(code[0] == '\0', "%s", code);
	return j;
}

static json_t *
state_of(const char *soul)
{
	char body[128], code[TK_CODE];
	json_t *j;

	snprintf(body, sizeof(body), "{\"user_id\":\"u1\",\"soul_id\":\"%s\"}",
	    soul);
	j = tk_nats_request(b.nc, "soul.rpc.emotion.state", body, code);
	ck_assert_msg(code[0] == '\0', "%s", code);
	return j;
}

TEST(a_delta_moves_a_soul_and_its_event_has_the_effect)
{
	natsSubscription *events;
	json_t *rep, *ev, *st;
	char subject[256];

	emotion_fixture_start(&b, 1, NULL);
	emotion_fixture_soul(&b, "soul_a", "INFP");
	events = tk_nats_listen(b.nc, "soul.event.psyche_update.>");
	rep = apply_ok("{\"curiosity\":0.2,\"joy\":0.9,\"laziness\":0}", "c1");
	ck_assert(json_is_true(tk_at(rep, "applied")));
	ck_assert_double_eq_tol(
	    tk_number(rep, "soul_emotion.drives.curiosity"), .62, 1e-6);
	ck_assert_double_gt(tk_number(rep, "soul_emotion.p"), .29);
	ev = tk_nats_next(events, EMOTION_FIXTURE_MS, subject);
	ck_assert_ptr_nonnull(ev);
	ck_assert_str_eq(subject, "soul.event.psyche_update.soul_a");
	ck_assert_str_eq(tk_text(ev, "payload.reason"), "navigator_comfort");
	ck_assert_uint_eq(json_object_size(tk_at(ev, "payload.delta")), 2);
	ck_assert_double_eq_tol(
	    tk_number(ev, "payload.delta.curiosity"), .12, 1e-6);
	ck_assert_double_eq_tol(tk_number(ev, "payload.delta.p"), .3, 1e-6);
	ck_assert(json_equal(
	    tk_at(ev, "meta.psyche_state"), tk_at(rep, "soul_emotion")));
	st = state_of("soul_a");
	ck_assert(json_equal(tk_at(st, "version"), tk_at(rep, "version")));
	ck_assert_double_eq_tol(
	    tk_number(st, "soul_emotion.drives.curiosity"), .62, .01);
	json_decref(st);
	json_decref(ev);
	json_decref(rep);
	natsSubscription_Destroy(events);
	emotion_fixture_stop(&b);
}

/* By whichever replica. */
TEST(a_repeated_request_is_not_applied)
{
	json_t *first, *rep;

	emotion_fixture_start(&b, 2, NULL);
	emotion_fixture_soul(&b, "soul_a", "INFP");
	first = apply_ok("{\"fear\":0.3}", "c1");
	for (int i = 0; i < 8; i++) {
		rep = apply_ok("{\"fear\":0.3}", "c1");
		ck_assert(json_is_false(tk_at(rep, "applied")));
		ck_assert(
		    json_equal(tk_at(rep, "version"), tk_at(first, "version")));
		ck_assert_double_le(
		    tk_number(rep, "soul_emotion.drives.fear"), .34);
		json_decref(rep);
	}
	/* A turn between does not forget it. */
	json_decref(emotion_fixture_observe(&b, "soul_a", "t-1", "谢谢你"));
	rep = apply_ok("{\"fear\":0.3}", "c1");
	ck_assert(json_is_false(tk_at(rep, "applied")));
	json_decref(rep);
	rep = apply_ok("{\"fear\":0.3}", "c2");
	ck_assert(json_is_true(tk_at(rep, "applied")));
	ck_assert_double_gt(tk_number(rep, "soul_emotion.drives.fear"), .5);
	json_decref(rep);
	json_decref(first);
	emotion_fixture_stop(&b);
}

TEST(a_turn_adds_to_intimacy)
{
	json_t *rep;

	emotion_fixture_start(&b, 1, NULL);
	emotion_fixture_soul(&b, "soul_a", "INFP");
	rep = emotion_fixture_observe(&b, "soul_a", "t-1", "你好");
	ck_assert_double_eq_tol(
	    tk_number(rep, "soul_emotion.drives.intimacy"), .103, .001);
	json_decref(rep);
	emotion_fixture_stop(&b);
}

TEST(bad_deltas_are_rejected_by_name)
{
	static const struct {
		const char *delta, *text;
	} rows[] = {
		{ "{\"mood\":0.1}", "/delta/mood: is neither drive nor " },
		{ "{\"fear\":2}", "/delta/fear: must be a number from -1 to" },
		{ "{\"fear\":\"0.1\"}", "/delta/fear: must be a number from" },
		{ "{\"fear\":0.1,\"x\":1}", "/delta/x: is neither drive" },
		{ "{\"123456789012345678901234567890123\":0}",
		    "/delta: a name has more than 32 bytes" },
		{ "[]", "/delta: " },
	};
	char code[TK_CODE];

	emotion_fixture_start(&b, 1, NULL);
	emotion_fixture_soul(&b, "soul_a", "INFP");
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		json_t *j = apply(rows[i].delta, "c1", code);
		ck_assert_str_eq(code, "invalid_request");
		ck_assert_msg(strncmp(tk_text(j, "error"), rows[i].text,
				  strlen(rows[i].text)) == 0,
		    "%s", tk_text(j, "error"));
		json_decref(j);
	}
	ck_assert_int_eq(emotion_fixture_version(&b, "soul_a"), 1);
	emotion_fixture_stop(&b);
}
