/*
 * The protocol as of 2026-02-20, without later additions: a device without an
 * intent catalog, a client that never creates or binds a soul.
 */
#include <string.h>

#include "testkit/cases.h"
#include "testkit/stack/client.h"
#include "testkit/stack/peer.h"
#include "testkit/stack/subscriber.h"

STACK_SHARED({ .without = { [STACK_BODY_SIM] = true },
    .env = { [STACK_CHAT_GATEWAY] = { "SOUL_AUTO_CREATE=on" } } })

/* The sample of §4.1, with another text. */
static json_t *
request(const char *terminal, const char *text)
{
	json_t *req = tk_case_data("chat_request", "protocol 02-20, 4.1");

	json_object_set_new(req, "terminal_id", json_string(terminal));
	json_object_set_new(tk_at(req, "inputs.0"), "text", json_string(text));
	return req;
}

TEST(a_body_and_a_client_of_0220)
{
	struct terminal b = { .manner = TERMINAL_OBEYS };
	struct subscriber *e;
	json_t *r, *j, *m;

	terminal_connect(&b, &stack, "terminal-001", TERMINAL_0220);
	e = subscriber_new(&stack, "soul.rpc.intent.filter", NULL);
	r = client_ok(&stack, "POST", "/v1/chat",
	    request("terminal-001", "今天上海天气如何？"));
	ck_assert_str_eq(tk_text(r, "session_id"), "s1");
	ck_assert_str_eq(tk_text(r, "terminal_id"), "terminal-001");
	ck_assert_str_eq(tk_text(r, "reply"), "我听到你说：今天上海天气如何？");
	ck_assert(tk_json_equals(tk_at(r, "executed_skills"), "[]"));
	ck_assert_ptr_null(json_object_get(r, "intent_decision"));
	/* The soul has the name of the hint. */
	j = client_ok(&stack, "GET", "/v1/souls?user_id=demo-user", NULL);
	ck_assert_uint_eq(json_array_size(tk_at(j, "items")), 1);
	ck_assert_str_eq(tk_text(j, "items.0.name"), "friendly");
	ck_assert_str_eq(tk_text(j, "items.0.soul_id"), tk_text(r, "soul_id"));
	json_decref(j);
	json_decref(r);
	/* Its skill is used. */
	r = client_ok(&stack, "POST", "/v1/chat",
	    request("terminal-001", "请抬头看看我"));
	ck_assert(tk_json_equals(tk_at(r, "executed_skills"), "[\"head_up\"]"));
	ck_assert_msg(tk_text_has(r, "reply", "head_up executed"), "%s",
	    tk_text(r, "reply"));
	m = peer_next(b.peer, "", STACK_MS);
	ck_assert(tk_json_equals(tk_at(m, "payload.arguments"),
	    "{\"angle\":15,\"duration_seconds\":3}"));
	json_decref(m);
	json_decref(r);
	/* Without intents the filter is not called; one soul, not two. */
	ck_assert_ptr_null(subscriber_next(e, 1));
	j = client_ok(&stack, "GET", "/v1/souls?user_id=demo-user", NULL);
	ck_assert_uint_eq(json_array_size(tk_at(j, "items")), 1);
	json_decref(j);
	subscriber_free(e);
	terminal_free(&b);
}

TEST(a_body_without_a_hint_gets_a_soul_of_its_own)
{
	struct terminal b = { .manner = TERMINAL_OBEYS };
	json_t *skills, *req, *r;

	terminal_connect(&b, &stack, "no-hint", TERMINAL_0220);
	skills = tk_case_data("skills_report", "protocol 02-20, 3.3");
	json_object_set_new(skills, "terminal_id", json_string("no-hint"));
	json_object_set_new(skills, "skill_version", json_integer(4));
	json_object_del(skills, "soul_hint");
	terminal_report(&b, "skills", skills);
	req = request("no-hint", "你好");
	json_object_set_new(req, "user_id", json_string("u-2"));
	json_object_del(req, "soul_hint");
	r = client_ok(&stack, "POST", "/v1/chat", req);
	ck_assert_str_eq(tk_text(r, "reply"), "我听到你说：你好");
	json_decref(r);
	terminal_free(&b);
}

TEST(a_bare_array_of_skills_is_enough)
{
	struct terminal b = { .manner = TERMINAL_OBEYS };
	json_t *r, *req;

	terminal_connect(&b, &stack, "terse", TERMINAL_0220_BARE);
	req = request("terse", "请抬头看看我");
	json_object_set_new(req, "user_id", json_string("u-3"));
	r = client_ok(&stack, "POST", "/v1/chat", req);
	ck_assert(tk_json_equals(tk_at(r, "executed_skills"), "[\"head_up\"]"));
	json_decref(r);
	terminal_free(&b);
}
