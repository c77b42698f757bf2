/*
 * The emotional state of a soul and its history over HTTP, for its owner only.
 */
#include <stdio.h>

#include "core/mem.h"
#include "testkit/gateway_fixture.h"

/* Send a user's text to a soul, as an orchestrator does. */
static void
observe(struct gateway_fixture *b, const char *soul, const char *text)
{
	char body[512];
	natsMsg *m;

	snprintf(body, sizeof(body),
	    "{\"soul_id\":\"%s\",\"session_id\":\"s1\",\"terminal_id\":\"t1\","
	    "\"user_id\":\"ann\",\"turn_id\":\"turn_9\",\"text\":\"%s\"}",
	    soul, text);
	ck_assert_int_eq(natsConnection_RequestString(&m, b->nc,
			     "soul.rpc.emotion.observe", body, GW_MS),
	    NATS_OK);
	natsMsg_Destroy(m);
}

static const char *
emotion_path(const char *soul, const char *rest)
{
	static char text[512];

	snprintf(text, sizeof(text), "/v1/souls/%s/emotion%s", soul, rest);
	return text;
}

TEST(an_owner_gets_the_emotional_state)
{
	char id[GW_SOUL_ID];
	struct gateway_fixture b;
	json_t *j;

	gateway_fixture_start(&b, NULL);
	gw_soul(&b, "ann", "friendly", id);
	j = gw_json(&b, "GET", emotion_path(id, "?user_id=ann"), NULL);
	ck_assert_str_eq(tk_text(j, "soul_id"), id);
	ck_assert_str_eq(tk_text(j, "model_version"), "persona-pad-v3");
	ck_assert_str_eq(tk_text(j, "exec_mode"), "auto_execute");
	ck_assert_int_eq(tk_int(j, "version"), 1);
	json_decref(j);
	observe(&b, id, "气死我了！");
	j = gw_json(&b, "GET", emotion_path(id, "?user_id=ann"), NULL);
	ck_assert_int_eq(tk_int(j, "version"), 2);
	ck_assert_double_lt(tk_number(j, "soul_emotion.p"), -.1);
	ck_assert_double_lt(tk_number(j, "exec_probability"), .9);
	json_decref(j);
	gw_rejects(&b, "GET", emotion_path(id, "?user_id=bob"), NULL, 404,
	    "soul not found");
	gw_rejects(
	    &b, "GET", emotion_path(id, ""), NULL, 404, "soul not found");
	gw_rejects(&b, "GET", emotion_path("missing", "?user_id=ann"), NULL,
	    404, "soul not found");
	gateway_fixture_stop(&b);
}

TEST(an_owner_gets_the_history)
{
	char id[GW_SOUL_ID], since[128];
	struct gateway_fixture b;
	json_t *j, *it;

	gateway_fixture_start(&b, NULL);
	gw_soul(&b, "ann", "friendly", id);
	j = gw_json(&b, "GET", emotion_path(id, "/history?user_id=ann"), NULL);
	ck_assert_uint_eq(json_array_size(tk_at(j, "items")), 0);
	json_decref(j);
	observe(&b, id, "气死我了！");
	observe(&b, id, "谢谢你");
	j = gw_json(&b, "GET", emotion_path(id, "/history?user_id=ann"), NULL);
	ck_assert_uint_eq(json_array_size(tk_at(j, "items")), 2);
	it = json_array_get(tk_at(j, "items"), 0);
	ck_assert_str_eq(tk_text(it, "cause"), "user_input");
	ck_assert_str_eq(tk_text(it, "reason"), "user_anger");
	ck_assert_str_eq(tk_text(it, "turn_id"), "turn_9");
	ck_assert_double_lt(tk_number(it, "delta.p"), -.1);
	it = json_array_get(tk_at(j, "items"), 1);
	ck_assert_str_eq(tk_text(it, "reason"), "user_gratitude");
	ck_assert_double_gt(tk_number(it, "delta.p"), .1);
	snprintf(since, sizeof(since), "/history?user_id=ann&since=%s",
	    tk_text(it, "time"));
	json_decref(j);
	j = gw_json(&b, "GET", emotion_path(id, since), NULL);
	ck_assert_uint_eq(json_array_size(tk_at(j, "items")), 0);
	json_decref(j);
	j = gw_json(
	    &b, "GET", emotion_path(id, "/history?user_id=ann&limit=1"), NULL);
	ck_assert_uint_eq(json_array_size(tk_at(j, "items")), 1);
	ck_assert_str_eq(
	    tk_text(json_array_get(tk_at(j, "items"), 0), "reason"),
	    "user_gratitude");
	json_decref(j);
	gateway_fixture_stop(&b);
}

TEST(invalid_requests_are_rejected)
{
	static const char *const limits[] = { "0", "257", "-1", "x", "" };
	char id[GW_SOUL_ID], rest[64];
	struct gateway_fixture b;
	size_t i;

	gateway_fixture_start(&b, NULL);
	gw_soul(&b, "ann", "friendly", id);
	for (i = 0; i < NELEM(limits); i++) {
		snprintf(rest, sizeof(rest), "/history?user_id=ann&limit=%s",
		    limits[i]);
		gw_rejects(&b, "GET", emotion_path(id, rest), NULL, 400,
		    "limit: must be 1 to 256");
	}
	gw_rejects(&b, "GET",
	    emotion_path(id, "/history?user_id=ann&since=today"), NULL, 400,
	    "since: must be a time as 2026-02-22T10:20:30Z");
	gw_rejects(&b, "GET", emotion_path(id, "/history?user_id=bob"), NULL,
	    404, "soul not found");
	/* emotion-engine does not run. */
	tk_service_end(&b.engine);
	gw_rejects(&b, "GET", emotion_path(id, "?user_id=ann"), NULL, 503,
	    "emotion-engine does not answer");
	gw_rejects(&b, "GET", emotion_path(id, "/history?user_id=ann"), NULL,
	    503, "emotion-engine does not answer");
	gateway_fixture_stop(&b);
}
