/*
 * A soul in an environment: its terminal, its skills, commands and outcomes.
 */
#include <stdio.h>
#include <string.h>

#include "core/mem.h"
#include "testkit/star_body.h"

#define INVOKE(id)                                                     \
	"{\"request_id\":\"" id "\",\"skill\":\"move\",\"arguments\":" \
	"{\"direction\":\"north\"}}"
#define ACTION                                                       \
	"\"payload\":{\"type\":\"action\",\"id\":\"r1\",\"action\":" \
	"\"move\",\"parameters\":{\"direction\":\"north\"}}"
#define OUTCOME(id, status)                                                \
	"{\"type\":\"outcome\",\"id\":\"" id "\",\"outcome\":{\"status\":" \
	"\"" status "\",\"message\":\"m\",\"data\":{\"x\":5}},"            \
	"\"outcome_type\":\"dict\"}"

static void
send_outcome(struct star_body *b, const char *payload)
{
	star_send(
	    &b->env, "environment:demo_world", "agent:agent_001", payload);
}

static json_t *
next_result(natsSubscription *sub)
{
	json_t *j = tk_nats_next(sub, STAR_BODY_MS, NULL);

	ck_assert_ptr_nonnull(j);
	return j;
}

TEST(the_environments_skills_are_the_terminals)
{
	struct star_body b;
	struct terminal t;

	star_body_start(&b);
	star_body_live(&b);
	t = star_body_terminal(&b);
	ck_assert(str_eq(t.broker, STR("star")));
	ck_assert(str_eq(t.user_id, STR("ann")));
	ck_assert(str_eq(t.soul_id, STR("s1")));
	ck_assert_int_eq(t.skill_version, 1);
	ck_assert_ptr_nonnull(strstr(t.skills.p, "\"name\":\"move\""));
	ck_assert_ptr_null(t.catalog.p);
	ck_assert_ptr_nonnull(strstr(
	    star_body_report(&b.env, "intent_catalog_report",
		"{\"catalog_version\":3,\"intent_catalog\":[{\"id\":\"go\","
		"\"name\":\"go\",\"match\":{\"keywords_any\":[\"go\"]}}]}"),
	    "\"status\":\"success\""));
	t = star_body_terminal(&b);
	ck_assert_int_eq(t.catalog_version, 3);
	ck_assert_ptr_nonnull(t.catalog.p);
	/* It is an agent of the environment. */
	star_send(&b.env, "environment:demo_world", "hub:hub",
	    "{\"type\":\"stream\",\"id\":\"m\",\"stream\":\"get_members\","
	    "\"data\":{}}");
	star_expect_has(
	    &b.env, "\"members\":[{\"id\":\"agent_001\",\"type\":\"agent\"}]");
	tk_ws_close(&b.env);
	star_body_wait_present(&b, false);
	star_body_open(&b);
	star_body_wait_present(&b, true);
	star_body_stop(&b);
}

TEST(reports_are_checked_as_over_mqtt)
{
	static const struct {
		const char *name, *data, *text;
	} rows[] = {
		{ "skills", "{\"skill_version\":2,\"skills\":[]}",
		    "\"status\":\"success\"" },
		{ "skills", "{\"skill_version\":1,\"skills\":[]}",
		    "the version 1 is ignored: 2 is known" },
		{ "skills", "{\"skill_version\":2,\"skills\":7}", "/skills" },
		{ "skills", "[]", "the version 0 is ignored" },
		{ "skills",
		    "{\"terminal_id\":\"t1\",\"skill_version\":3,"
		    "\"skills\":[]}",
		    "terminal_id" },
		{ "intent_catalog_report",
		    "{\"intent_catalog\":[{\"id\":\"a\",\"match\":"
		    "{\"regex_any\":[\"(\"]}}]}",
		    "regex_any" },
	};
	struct star_body b;
	struct tk_ws a;
	size_t i;

	star_body_start(&b);
	star_body_open(&b);
	for (i = 0; i < NELEM(rows); i++) {
		const char *m =
		    star_body_report(&b.env, rows[i].name, rows[i].data);

		ck_assert_msg(
		    strstr(m, rows[i].text) != NULL, "%s: %s", rows[i].data, m);
	}
	star_open(&b.f, &a, "/env/demo_world/agent/agent_002");
	star_send(&a, "agent:agent_002", "hub:hub",
	    "{\"type\":\"stream\",\"id\":\"m\",\"stream\":\"skills\","
	    "\"data\":{\"skills\":[]}}");
	star_expect_error(&a, "PERMISSION_DENIED", "permission_denied");
	tk_ws_close(&a);
	star_body_stop(&b);
}

TEST(a_stored_version_is_not_rolled_back)
{
	struct star_body b;
	const char *m;

	star_body_start(&b);
	star_body_live(&b);
	star_body_report(
	    &b.env, "skills", "{\"skill_version\":5,\"skills\":[]}");
	tk_ws_close(&b.env);
	star_body_wait_present(&b, false);
	/* A hub that has not seen it. */
	star_stop(&b.f);
	star_start(&b.f, STAR_QUIET);
	star_body_open(&b);
	star_body_wait_present(&b, true);
	m = star_body_report(
	    &b.env, "skills", "{\"skill_version\":4,\"skills\":[]}");
	ck_assert_msg(
	    strstr(m, "the version 4 is ignored: 5 is known"), "%s", m);
	star_body_stop(&b);
}

TEST(an_invoke_is_an_action_and_its_outcome_the_result)
{
	natsSubscription *reply, *results;
	struct star_body b;
	json_t *j;

	star_body_start(&b);
	star_body_live(&b);
	results = tk_nats_listen(b.nc, "soul.result.*.*");
	reply = star_body_command(&b, "invoke", INVOKE("r1"));
	star_wait_for(&b.env, ACTION);
	ck_assert_str_eq(star_body_state(reply), "delivered");
	send_outcome(&b, OUTCOME("r1", "success"));
	j = next_result(results);
	ck_assert_str_eq(tk_text(j, "request_id"), "r1");
	ck_assert(json_is_true(tk_at(j, "ok")));
	ck_assert(tk_json_equals(
	    tk_at(j, "output"), "{\"message\":\"m\",\"data\":{\"x\":5}}"));
	json_decref(j);
	/* The first outcome counts, and of others nothing is known. */
	send_outcome(&b, OUTCOME("r1", "error"));
	send_outcome(&b, OUTCOME("r9", "success"));
	reply = star_body_command(&b, "invoke", INVOKE("r2"));
	star_wait_for(&b.env, "\"id\":\"r2\",\"action\"");
	ck_assert_str_eq(star_body_state(reply), "delivered");
	send_outcome(&b, OUTCOME("r2", "pending"));
	j = next_result(results);
	ck_assert_str_eq(tk_text(j, "request_id"), "r2");
	ck_assert(json_is_false(tk_at(j, "ok")));
	ck_assert_str_eq(tk_text(j, "error"), "m");
	json_decref(j);
	natsSubscription_Destroy(results);
	star_body_stop(&b);
}

TEST(only_the_environment_has_outcomes)
{
	natsSubscription *reply, *results;
	struct star_body b;
	struct tk_ws a;

	star_body_start(&b);
	star_body_live(&b);
	results = tk_nats_listen(b.nc, "soul.result.*.*");
	star_open(&b.f, &a, "/env/demo_world/agent/agent_002");
	reply = star_body_command(&b, "invoke", INVOKE("r1"));
	star_wait_for(&b.env, ACTION);
	ck_assert_str_eq(star_body_state(reply), "delivered");
	star_send(&a, "environment:demo_world", "agent:agent_001",
	    OUTCOME("r1", "success"));
	send_outcome(&b, OUTCOME("r1", "error"));
	json_t *j = next_result(results);
	ck_assert(json_is_false(tk_at(j, "ok")));
	json_decref(j);
	tk_ws_close(&a);
	natsSubscription_Destroy(results);
	star_body_stop(&b);
}

TEST(what_cannot_be_sent_is_not_delivered)
{
	natsSubscription *reply;
	struct star_body b;

	star_body_start(&b);
	star_body_live(&b);
	ck_assert_str_eq(star_body_state(star_body_command(&b, "invoke", "{}")),
	    "error invalid_request");
	reply = star_body_command(&b, "invoke",
	    "{\"request_id\":\"r1\",\"skill\":\"move\",\"arguments\":{},"
	    "\"deadline_ms\":1}");
	ck_assert_str_eq(star_body_state(reply), "late");
	tk_ws_close(&b.env);
	star_body_wait_present(&b, false);
	reply = star_body_command(&b, "invoke", INVOKE("r1"));
	ck_assert_str_eq(star_body_state(reply), "offline");
	reply = star_body_command(&b, "intent_action",
	    "{\"request_id\":\"i1\",\"session_id\":\"s\",\"terminal_id\":"
	    "\"x\",\"soul_id\":\"s1\",\"intents\":[],\"exec_probability\":1,"
	    "\"ts\":\"2026-02-22T10:20:30Z\"}");
	ck_assert_str_eq(star_body_state(reply), "error invalid_request");
	star_body_stop(&b);
}

static natsSubscription *
send_intents(struct star_body *b, const char *id, const char *intents)
{
	char body[1024];

	snprintf(body, sizeof(body),
	    "{\"request_id\":\"%s\",\"session_id\":\"s\",\"terminal_id\":"
	    "\"%s\",\"soul_id\":\"s1\",\"intents\":[%s],"
	    "\"exec_probability\":1,\"ts\":\"2026-02-22T10:20:30Z\"}",
	    id, b->terminal, intents);
	return star_body_command(b, "intent_action", body);
}

#define INTENT(skill)                                                      \
	"{\"intent_id\":\"a\",\"confidence\":1,\"normalized\":{\"skill\":" \
	"\"" skill "\",\"mode\":\"on\"}}"

/* Waits for the time to pass, which is the subject. */
static bool
time_is_over(void *arg)
{
	return clock_wall().ms > *(int64_t *)arg;
}

TEST(an_action_does_not_come_after_its_time)
{
	char session[64], text[256];
	natsSubscription *reply;
	struct star_body b;
	const char *at;
	int64_t by;

	star_body_start(&b);
	json_decref(
	    star_body_enter(&b, "ann", "s1", "demo_world", "agent_001", NULL));
	at = star_open(&b.f, &b.env, "/env/demo_world");
	at = strstr(at, "\"session\":\"") + strlen("\"session\":\"");
	(void)snprintf(session, sizeof(session), "%.32s", at);
	star_body_report(&b.env, "skills", STAR_SKILLS);
	star_body_wait_present(&b, true);
	by = clock_wall().ms + 1000;
	(void)snprintf(text, sizeof(text),
	    "{\"request_id\":\"r1\",\"skill\":\"move\",\"arguments\":{},"
	    "\"deadline_ms\":%lld}",
	    (long long)by);
	reply = star_body_command(&b, "invoke", text);
	ck_assert_str_eq(star_body_state(reply), "delivered");
	/* Its connection breaks, and as far as it knows it got nothing. */
	tk_ws_close(&b.env);
	ck_assert(tk_until(time_is_over, &by, 20000));
	(void)snprintf(
	    text, sizeof(text), "/env/demo_world?session=%s&last=0", session);
	ck_assert_ptr_nonnull(
	    strstr(star_open(&b.f, &b.env, text), "\"resumed\":true"));
	do {
		at = star_next(&b.env);
		ck_assert_ptr_null(strstr(at, "\"id\":\"r1\""));
	} while (strstr(at, "\"messages_dropped\"") == NULL);
	star_body_stop(&b);
}

TEST(intents_are_delivered_when_all_outcomes_are_success)
{
	natsSubscription *reply;
	struct star_body b;

	star_body_start(&b);
	star_body_live(&b);
	reply = send_intents(&b, "i1", INTENT("light"));
	star_wait_for(&b.env,
	    "\"id\":\"i1\",\"action\":\"light\",\"parameters\":{\"mode\":"
	    "\"on\"}");
	send_outcome(&b, OUTCOME("i1", "success"));
	ck_assert_str_eq(star_body_state(reply), "delivered");
	reply = send_intents(&b, "i2", INTENT("light") "," INTENT("fan"));
	star_wait_for(&b.env, "\"id\":\"i2-1\",\"action\":\"light\"");
	star_wait_for(&b.env, "\"id\":\"i2-2\",\"action\":\"fan\"");
	send_outcome(&b, OUTCOME("i2-2", "success"));
	send_outcome(&b, OUTCOME("i2-1", "error"));
	ck_assert_str_eq(star_body_state(reply), "failed: m");
	reply = send_intents(&b, "i3",
	    "{\"intent_id\":\"a\",\"confidence\":1,\"normalized\":{}}");
	ck_assert_str_eq(star_body_state(reply), "offline");
	star_body_stop(&b);
}

TEST(what_is_published_to_the_terminal_is_an_event)
{
	struct star_body b;
	char subject[128];

	star_body_start(&b);
	star_body_live(&b);
	snprintf(
	    subject, sizeof(subject), "soul.body.star.%s.status", b.terminal);
	tk_nats_send(b.nc, subject,
	    "{\"status\":\"mem0_searching\",\"message\":\"m\",\"session_id\":"
	    "\"s\",\"ts\":\"2026-02-22T10:20:30Z\"}");
	star_wait_for(&b.env,
	    "\"event\":\"status\",\"data\":{\"status\":\"mem0_searching\"");
	star_body_stop(&b);
}

TEST(a_soul_moves_and_leaves)
{
	char body[128], code[TK_CODE];
	struct star_body b;
	struct tk_ws moon;
	json_t *j;

	star_body_start(&b);
	star_body_live(&b);
	star_open(&b.f, &moon, "/env/moon_base");
	j = star_body_enter(&b, "ann", "s1", "moon_base", "agent_001", NULL);
	json_decref(j);
	star_body_wait_present(&b, true);
	star_send(&b.env, "environment:demo_world", "agent:agent_001",
	    "{\"type\":\"event\",\"event\":\"x\"}");
	star_expect_error(&b.env, "CONNECTION_ERROR", "target_not_found");
	snprintf(
	    body, sizeof(body), "{\"user_id\":\"ann\",\"soul_id\":\"s1\"}");
	j = tk_nats_request(b.nc, "soul.rpc.star.leave", body, code);
	ck_assert(json_is_true(tk_at(j, "ok")));
	json_decref(j);
	star_body_wait_present(&b, false);
	ck_assert_ptr_null(star_body_terminal(&b).user_id.p);
	j = tk_nats_request(b.nc, "soul.rpc.star.leave", body, code);
	ck_assert_str_eq(tk_text(j, "code"), "not_found");
	json_decref(j);
	tk_ws_close(&moon);
	star_body_stop(&b);
}

TEST(entering_is_checked)
{
	struct star_body b;

	star_body_start(&b);
	tk_state_soul(&b.db, "s2", "INFJ", "eve");
	json_decref(star_body_enter(
	    &b, "ann", "s9", "demo_world", "agent_001", "not_found"));
	json_decref(star_body_enter(
	    &b, "eve", "s1", "demo_world", "agent_001", "not_found"));
	json_decref(star_body_enter(
	    &b, "ann", "s1", "demo*world", "agent_001", "invalid_request"));
	json_decref(
	    star_body_enter(&b, "ann", "s1", "demo_world", "agent_001", NULL));
	json_decref(star_body_enter(
	    &b, "eve", "s2", "demo_world", "agent_001", "conflict"));
	json_decref(
	    star_body_enter(&b, "eve", "s2", "demo_world", "agent_002", NULL));
	star_body_stop(&b);
}

static bool
lease_is_over(void *arg)
{
	struct star_body *b = arg;
	int64_t epoch;
	enum rc rc =
	    lease_acquire(b->db.s, str_of(b->terminal), STR("test"), 1, &epoch);

	return rc == RC_OK && epoch > 0;
}

/* The environment reconnects to the other hub, which then has the soul. */
TEST(another_hub_takes_over_when_a_hub_dies)
{
	natsSubscription *reply;
	struct star_body b;
	struct tk_env e = { 0 };
	struct mono from;
	bool delivered;

	star_body_start(&b);
	star_body_live(&b);
	ck_assert(!lease_is_over(&b));
	tk_env_list(&e, STAR_QUIET);
	tk_env_put(&e, "NATS_URL=%s", b.f.nats.url);
	tk_env_put(&e, "REDIS_URL=%s", b.f.redis.url);
	tk_service_start(&b.other, "star-hub", "other-hub", &e);
	tk_service_kill(&b.f.hub);
	tk_ws_close(&b.env);
	from = clock_mono();
	ck_assert_int_eq(
	    tk_ws_open(&b.env, b.other.http, "/env/demo_world", NULL), 101);
	do {
		natsMsg *m = NULL;

		reply = star_body_command(&b, "invoke", INVOKE("r1"));
		delivered =
		    natsSubscription_NextMsg(&m, reply, 200) == NATS_OK &&
		    natsMsg_GetDataLength(m) > 0 &&
		    strstr(natsMsg_GetData(m), "delivered") != NULL;
		natsMsg_Destroy(m);
		natsSubscription_Destroy(reply);
		ck_assert_int_lt(mono_diff_ms(clock_mono(), from), 10000);
	} while (!delivered);
	star_wait_for(&b.env, ACTION);
	ck_assert_int_lt(mono_diff_ms(clock_mono(), from), 8000);
	b.f.hub = b.other;
	b.other.http = 0;
	star_body_stop(&b);
}

TEST(a_hub_that_drains_lets_go_of_its_souls)
{
	struct star_body b;

	star_body_start(&b);
	star_body_live(&b);
	star_stop(&b.f);
	ck_assert(!star_body_terminal(&b).present);
	ck_assert(lease_is_over(&b));
	star_start(&b.f, STAR_QUIET);
	tk_ws_close(&b.env);
	star_body_open(&b);
	star_body_wait_present(&b, true);
	star_body_stop(&b);
}
