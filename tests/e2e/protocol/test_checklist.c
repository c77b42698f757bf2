/*
 * Protocol §6, the checklist of 2026-02-22, line by line.
 *
 * Each test has a device and a user of its own.
 */
#include <stdio.h>
#include <string.h>

#include "testkit/cases.h"
#include "testkit/stack/client.h"
#include "testkit/stack/peer.h"
#include "testkit/stack/subscriber.h"

STACK_SHARED(
    { .env = {
	  [STACK_BODY_SIM] = { "BODY_COUNT=9" },
	  [STACK_LLM_ORCHESTRATOR] = { "USER_IDLE_TIMEOUT_SECONDS=2" },
	  [STACK_MEMORY_WORKER] = { "IDLE_SUMMARY_SCAN_INTERVAL_SECONDS=0.2" },
      } })

static struct client
bound_client(const char *user, const char *terminal)
{
	struct client o = { &stack, user, "s1", terminal };

	client_select_soul(&stack, user, terminal,
	    client_create_soul(&stack, user, "小元", "ENFP"));
	return o;
}

/* The reports of a connect arrive in the order of the protocol. */
static void
assert_announces(struct peer *w)
{
	static const char *const order[] = { "/online", "/skills",
		"/intent_catalog", "/heartbeat" };
	json_t *m;
	size_t i;

	for (i = 0; i < 4; i++) {
		m = peer_next(w, "", STACK_MS);
		ck_assert_msg(m != NULL, "no %s", order[i]);
		ck_assert_msg(tk_text_has(m, "topic", order[i]), "%s, not %s",
		    tk_text(m, "topic"), order[i]);
		if (i == 0)
			ck_assert_str_eq(tk_text(m, "payload"), "online");
		json_decref(m);
	}
}

/* Start another body-sim with variables of its own. */
static void
spawn_body(struct stack_proc *p, const char *const env[])
{
	static struct stack_opts o;
	struct stack st = stack;
	size_t i;

	for (i = 0; env[i] != NULL; i++)
		o.env[STACK_BODY_SIM][i] = env[i];
	o.env[STACK_BODY_SIM][i] = NULL;
	st.opts = &o;
	stack_spawn(&st, STACK_BODY_SIM, p, "another-body");
	stack_wait_ready(p);
}

TEST(s6_01_announces_online_skills_intent_catalog_heartbeat)
{
	static const char *const env[] = { "TERMINAL_ID=fresh", NULL };
	struct peer *w = peer_watch(&stack, "fresh");
	struct stack_proc p = { 0 };

	spawn_body(&p, env);
	assert_announces(w);
	peer_free(w);
}

TEST(s6_02_terminal_id_of_the_skills_is_that_of_the_topic)
{
	struct peer *w = peer_watch(&stack, "terminal-001");
	json_t *m = peer_next(w, "/skills", STACK_MS);
	json_t *j;
	struct terminal b = { 0 };

	ck_assert_str_eq(tk_text(m, "payload.terminal_id"), "terminal-001");
	json_decref(m);
	peer_free(w);
	/*
	 * A report with the id of another terminal is rejected, with a reason,
	 * and changes nothing.
	 */
	terminal_connect(&b, &stack, "hostile-id", TERMINAL_0222);
	m = tk_case_data("skills_report", "protocol 02-22, 3.3");
	json_object_set_new(m, "terminal_id", json_string("terminal-001"));
	json_object_set_new(m, "skill_version", json_integer(9));
	terminal_report(&b, "skills", m);
	client_wait_report_outcome(&stack, STACK_USER, "hostile-id", "refused");
	j = client_ok(&stack, "GET", "/v1/terminals/hostile-id", NULL);
	ck_assert_str_eq(tk_text(j, "last_refused.path"), "/terminal_id");
	ck_assert_int_eq(json_integer_value(tk_at(j, "skill_version")), 3);
	json_decref(j);
	j = client_ok(&stack, "GET", "/v1/terminals/terminal-001", NULL);
	ck_assert_int_eq(json_integer_value(tk_at(j, "skill_version")), 1);
	json_decref(j);
	terminal_free(&b);
}

static json_t *
skills_of(const char *terminal, int version, const char *name)
{
	return json_pack("{sssis[{ss}]}", "terminal_id", terminal,
	    "skill_version", version, "skills", "name", name);
}

static const char *
only_skill(const char *terminal, int version)
{
	static char name[64];
	char path[128];
	json_t *j;

	snprintf(path, sizeof(path), "/v1/terminals/%s", terminal);
	j = client_ok(&stack, "GET", path, NULL);
	ck_assert_int_eq(
	    json_integer_value(tk_at(j, "skill_version")), version);
	ck_assert_uint_eq(json_array_size(tk_at(j, "skills")), 1);
	snprintf(name, sizeof(name), "%s", tk_text(j, "skills.0"));
	json_decref(j);
	return name;
}

struct has_skill {
	const char *terminal, *name;
	int version;
};

static bool
knows_skill(void *arg)
{
	const struct has_skill *h = arg;
	char path[128];
	json_t *j;
	bool is;

	snprintf(path, sizeof(path), "/v1/terminals/%s", h->terminal);
	j = client_ok(&stack, "GET", path, NULL);
	is = json_array_size(tk_at(j, "skills")) == 1 &&
	    strcmp(tk_text(j, "skills.0"), h->name) == 0;
	json_decref(j);
	return is;
}

TEST(s6_03_skill_version_does_not_go_back)
{
	const char *id = "versions";
	struct has_skill h = { id, "two", 4 };
	struct terminal b = { 0 };

	terminal_connect(&b, &stack, id, TERMINAL_0222);
	/* The sample has version 3; a higher or equal one is accepted. */
	terminal_report(&b, "skills", skills_of(id, 4, "one"));
	terminal_report(&b, "skills", skills_of(id, 4, "two"));
	ck_assert(tk_until(knows_skill, &h, STACK_MS));
	/* A lower version, or none, is rejected. */
	terminal_report(&b, "skills", skills_of(id, 3, "three"));
	client_wait_report_outcome(&stack, STACK_USER, id, "ignored");
	ck_assert_str_eq(only_skill(id, 4), "two");
	terminal_report(&b, "skills", skills_of(id, 0, "four"));
	terminal_report(&b, "skills", skills_of(id, 5, "five"));
	h.name = "five";
	ck_assert(tk_until(knows_skill, &h, STACK_MS));
	ck_assert_str_eq(only_skill(id, 5), "five");
	terminal_free(&b);
}

TEST(s6_04_an_invoke_gets_the_result_of_its_request_id)
{
	struct client o = bound_client("u-604", "terminal-004");
	struct peer *w = peer_watch(&stack, o.terminal);
	json_t *r = client_chat(&o, "动一动你的脑袋吧");
	json_t *invoke = peer_await(w, "", "topic", "/invoke/");
	json_t *result = peer_await(w, "", "topic", "/result/");
	const char *id = tk_text(invoke, "payload.request_id");

	ck_assert_str_eq(strrchr(tk_text(invoke, "topic"), '/') + 1, id);
	ck_assert_str_eq(strrchr(tk_text(result, "topic"), '/') + 1, id);
	ck_assert_str_eq(tk_text(result, "payload.request_id"), id);
	ck_assert(json_is_true(tk_at(result, "payload.ok")));
	json_decref(invoke);
	json_decref(result);
	json_decref(r);
	peer_free(w);
}

TEST(s6_05_a_chat_always_has_inputs_with_a_text)
{
	static const char only_text[] =
	    "currently only input.type=keyboard_text|speech_text with "
	    "non-empty text is supported";
	struct client o = bound_client("u-605", "terminal-005");
	json_t *req;

	req = client_chat_request(&o, "x");
	json_object_del(req, "inputs");
	ck_assert_str_eq(client_rejected(&stack, "POST", "/v1/chat", req, 400),
	    "inputs is required");
	req = client_chat_request(&o, "x");
	json_object_set_new(req, "inputs", json_array());
	ck_assert_str_eq(client_rejected(&stack, "POST", "/v1/chat", req, 400),
	    "inputs is required");
	ck_assert_str_eq(client_rejected(&stack, "POST", "/v1/chat",
			     client_chat_request(&o, " \t "), 400),
	    only_text);
	req = client_chat_request(&o, "下雨了");
	json_object_set_new(
	    tk_at(req, "inputs.0"), "type", json_string("event_note"));
	ck_assert_str_eq(
	    client_rejected(&stack, "POST", "/v1/chat", req, 400), only_text);
	/*
	 * Speech is equivalent to a keyboard, and may be combined with other
	 * inputs.
	 */
	req = client_chat_request(&o, "你好");
	json_object_set_new(
	    tk_at(req, "inputs.0"), "type", json_string("speech_text"));
	json_array_append_new(tk_at(req, "inputs"),
	    json_pack("{ssss}", "type", "event_note", "text", "门开了"));
	json_decref(client_ok(&stack, "POST", "/v1/chat", req));
}

TEST_T(s6_06_an_idle_session_is_summarised, 60)
{
	struct client o = bound_client("u-606", "terminal-006");
	struct subscriber *e =
	    subscriber_new(&stack, "soul.event.session_idle.>", NULL);
	struct subscriber *stored =
	    subscriber_new(&stack, "soul.event.memory_stored.>", NULL);
	json_t *ev, *r;

	json_decref(client_chat(&o, "我最喜欢的颜色是靛蓝"));
	ev = subscriber_await(e, "payload.user_id", o.user);
	ck_assert_str_eq(tk_text(ev, "payload.session_id"), "s1");
	json_decref(ev);
	/* The session becomes a memory, and the next turn gets the summary. */
	ev = subscriber_await(stored, "payload.user_id", o.user);
	json_decref(ev);
	r = client_chat(&o, "你好");
	ck_assert_ptr_nonnull(strstr(tk_text(r, "context_summary"), "靛蓝"));
	json_decref(r);
	subscriber_free(e);
	subscriber_free(stored);
}

TEST(s6_06_the_idle_time_is_three_minutes_by_default)
{
	const char *argv[] = { tk_bin("llm-orchestrator"), "--print-config",
		NULL };
	struct tk_proc p;

	tk_spawn(&p, "config", argv, NULL);
	ck_assert_int_eq(tk_wait(&p, STACK_MS), 0);
	ck_assert(tk_log_has(&p, "USER_IDLE_TIMEOUT_SECONDS=180"));
}

TEST(s6_07_every_reconnect_repeats_the_announcement)
{
	static const char *const env[] = { "TERMINAL_ID=dropping",
		"BODY_FAULTS=drop=0.5", NULL };
	struct peer *w = peer_watch(&stack, "dropping");
	struct stack_proc p = { 0 };
	json_t *m;
	int i;

	spawn_body(&p, env);
	for (i = 0; i < 3; i++) {
		/* After its will, except for the first. */
		if (i > 0) {
			m = peer_next(w, "/online", STACK_MS);
			ck_assert_str_eq(tk_text(m, "payload"), "offline");
			json_decref(m);
		}
		assert_announces(w);
	}
	peer_free(w);
}

/* The reply of intent-filter to the same request with another command. */
static json_t *
filter_response(const json_t *request, const char *command)
{
	json_t *req = json_deep_copy(request);
	int status;

	json_object_set_new(req, "command", json_string(command));
	json_t *r = client_call(stack.service[STACK_INTENT_FILTER].http, "POST",
	    "/v1/intents/filter", req, &status);
	ck_assert_int_eq(status, 200);
	return r;
}

TEST(s6_08_only_the_terminals_own_intents_are_used)
{
	struct client o = bound_client("u-608", "own-intents");
	struct subscriber *e =
	    subscriber_new(&stack, "soul.rpc.intent.filter", NULL);
	json_t *intents =
	    tk_case_data("intent_catalog_report", "protocol 02-22, 3.10");
	struct terminal b = { .user = o.user };
	json_t *req, *r;

	/* A device with a lamp only. */
	terminal_connect(&b, &stack, o.terminal, TERMINAL_0222);
	json_object_set_new(intents, "terminal_id", json_string(o.terminal));
	json_object_set_new(intents, "catalog_version", json_integer(13));
	json_array_remove(tk_at(intents, "intent_catalog"), 2);
	json_array_remove(tk_at(intents, "intent_catalog"), 1);
	terminal_report(&b, "intent_catalog", intents);
	client_wait_intents(&stack, o.user, o.terminal, 1);
	json_decref(client_chat(&o, "点头"));
	req = subscriber_await(e, "command", "点头");
	ck_assert_str_eq(
	    tk_text(req, "catalog_ref.terminal_id"), "own-intents");
	/* The catalog of that name has the lamp only. */
	r = filter_response(req, "点头");
	ck_assert_str_eq(tk_text(r, "decision.action"), "fallback_reasoning");
	json_decref(r);
	r = filter_response(req, "把灯变成绿色");
	ck_assert_str_eq(
	    tk_text(r, "intents.0.intent_id"), "intent_light_control");
	json_decref(r);
	json_decref(req);
	terminal_free(&b);
	subscriber_free(e);
}

TEST(s6_09_what_matches_nothing_is_a_system_intent)
{
	static const struct {
		const char *texts, *intent, *action;
	} cases[] = {
		{ "今天上海天气如何？", "sys.fallback_reasoning",
		    "fallback_reasoning" },
		{ "你怎么看人工智能", "sys.fallback_reasoning",
		    "fallback_reasoning" },
		{ "吓我一跳", "sys.no_action", "no_action" },
		{ "哎呀", "sys.no_action", "no_action" },
	};
	struct client o = bound_client("u-609", "terminal-009");
	json_t *catalog =
	    tk_case_data("intent_catalog_report", "protocol 02-22, 3.10");
	json_t *r;
	int status;
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		r = client_call(stack.service[STACK_INTENT_FILTER].http, "POST",
		    "/v1/intents/filter",
		    json_pack("{sssO}", "command", cases[i].texts,
			"intent_catalog", tk_at(catalog, "intent_catalog")),
		    &status);
		ck_assert_int_eq(status, 200);
		ck_assert_str_eq(
		    tk_text(r, "intents.0.intent_id"), cases[i].intent);
		ck_assert_str_eq(tk_text(r, "intents.0.status"), "system");
		ck_assert_str_eq(
		    tk_text(r, "decision.action"), cases[i].action);
		json_decref(r);
		r = client_chat(&o, cases[i].texts);
		ck_assert_str_eq(
		    tk_text(r, "intent_decision"), cases[i].action);
		json_decref(r);
	}
	json_decref(catalog);
}
