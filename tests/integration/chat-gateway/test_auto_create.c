/*
 * SOUL_AUTO_CREATE: bodies whose firmware does not select souls.
 */
#include <stdio.h>
#include <string.h>

#include "testkit/gateway_turn_fixture.h"

#define NO_SOUL "soul selection is required before chat"

/* The names of a user's souls, oldest first, each followed by a comma. */
static void
soul_names(struct gateway_fixture *b, const char *user, char dst[1024])
{
	char path[128];
	size_t i, n = 0;
	json_t *j, *soul;

	dst[0] = '\0';
	snprintf(path, sizeof(path), "/v1/souls?user_id=%s", user);
	j = gw_json(b, "GET", path, NULL);
	json_array_foreach (tk_at(j, "items"), i, soul)
		n += (size_t)snprintf(
		    dst + n, 1024 - n, "%s,", tk_text(soul, "name"));
	json_decref(j);
}

static void
check_souls(struct gateway_fixture *b, const char *user, const char *want)
{
	char have[1024];

	soul_names(b, user, have);
	ck_assert_str_eq(have, want);
}

TEST(a_first_version_body_chats_without_a_selection)
{
	struct tk_response a = { 0 };
	struct gw_peer p;
	struct gateway_fixture b;

	gateway_fixture_start(
	    &b, TK_ENV("SOUL_AUTO_CREATE=on", "SOUL_DEFAULT_MBTI=enfp"));
	gw_peer_start(&b, &p);
	gw_chat_ok(&b, "terminal-001", "");
	check_souls(&b, "demo-user", "terminal-001,");
	gw_chat_ok(&b, "terminal-001", "");
	check_souls(&b, "demo-user", "terminal-001,");
	ck_assert_int_eq(gw_request(&b, &a, "GET", "/v1/souls", NULL), 200);
	ck_assert(tk_response_has(&a, "\"mbti_type\":\"ENFP\""));
	/* The protocol's own example of that version. */
	gw_ok(&b, "POST", "/v1/chat",
	    "{\"user_id\":\"demo-user\",\"session_id\":\"s1\","
	    "\"terminal_id\":\"terminal-002\",\"soul_hint\":\"friendly\","
	    "\"inputs\":[{\"input_id\":\"in-001\",\"type\":\"keyboard_text\","
	    "\"source\":\"keyboard\",\"ts\":\"2026-02-20T12:00:01Z\","
	    "\"text\":\"今天上海天气如何？\"}]}");
	check_souls(&b, "demo-user", "terminal-001,friendly,");
	/* Two terminals with the same hint share a soul. */
	gw_chat_ok(&b, "terminal-003", "\"soul_hint\":\"friendly\"");
	check_souls(&b, "demo-user", "terminal-001,friendly,");
	/* An unbound terminal is bound to its soul again. */
	gw_ok(&b, "DELETE", "/v1/terminals/terminal-001/soul", NULL);
	gw_chat_ok(&b, "terminal-001", "");
	check_souls(&b, "demo-user", "terminal-001,friendly,");
	tk_response_free(&a);
	gw_peer_stop(&p);
	gateway_fixture_stop(&b);
}

TEST(the_hint_of_a_report_names_the_created_soul)
{
	struct gw_peer p;
	struct gateway_fixture b;

	gateway_fixture_start(&b, TK_ENV("SOUL_AUTO_CREATE=on"));
	gw_peer_start(&b, &p);
	gw_report_skills(&b, "t1", "[]", "小灵");
	gw_chat_ok(&b, "t1", "\"user_id\":\"ann\"");
	check_souls(&b, "ann", "小灵,");
	check_souls(&b, "demo-user", "");
	/* A chat of another user creates nothing: the terminal is bound. */
	gw_chat_rejects(&b, "t1", "\"user_id\":\"bob\"", 409,
	    "terminal t1 is bound by another user");
	check_souls(&b, "bob", "");
	gw_peer_stop(&p);
	gateway_fixture_stop(&b);
}

TEST(a_chat_that_names_a_soul_creates_none)
{
	char hint[600], name[129];
	struct gw_peer p;
	struct gateway_fixture b;

	gateway_fixture_start(&b, TK_ENV("SOUL_AUTO_CREATE=on"));
	gw_peer_start(&b, &p);
	gw_chat_rejects(&b, "t1", "\"soul_id\":\"soul_x\"", 400, NO_SOUL);
	gw_chat_rejects(&b, "t1",
	    "\"soul_id\":\"soul_x\",\"soul_hint\":\"friendly\"", 400, NO_SOUL);
	/* A hint that is not a valid name creates nothing. */
	memset(name, 'x', 128);
	name[128] = '\0';
	snprintf(hint, sizeof(hint), "\"soul_hint\":\"%sx\"", name);
	gw_chat_rejects(&b, "t1", hint, 400, NO_SOUL);
	check_souls(&b, "demo-user", "");
	snprintf(hint, sizeof(hint), "\"soul_hint\":\"%s\"", name);
	gw_chat_ok(&b, "t1", hint);
	snprintf(hint, sizeof(hint), "%s,", name);
	check_souls(&b, "demo-user", hint);
	gw_peer_stop(&p);
	gateway_fixture_stop(&b);
}

TEST(without_auto_create_no_soul_is_created)
{
	struct gw_peer p;
	struct gateway_fixture b;

	gateway_fixture_start(&b, NULL);
	gw_peer_start(&b, &p);
	gw_chat_rejects(&b, "t1", "", 400, NO_SOUL);
	gw_chat_rejects(&b, "t1", "\"soul_hint\":\"friendly\"", 400, NO_SOUL);
	gw_report_skills(&b, "t1", "[]", "friendly");
	gw_chat_rejects(&b, "t1", "", 400, NO_SOUL);
	check_souls(&b, "demo-user", "");
	ck_assert_int_eq(atomic_load(&p.turns), 0);
	gw_peer_stop(&p);
	gateway_fixture_stop(&b);
}

#define CHATS 32

/* Concurrent first chats share one new soul. */
TEST(concurrent_first_chats_create_one_soul)
{
	struct tk_http c[CHATS] = { 0 };
	struct tk_response a = { 0 };
	struct gw_peer p;
	struct gateway_fixture b;
	int i;

	gateway_fixture_start(&b, TK_ENV("SOUL_AUTO_CREATE=on"));
	gw_peer_start(&b, &p);
	for (i = 0; i < CHATS; i++)
		gw_send(&b, &c[i], "POST", "/v1/chat",
		    "{\"session_id\":\"s1\",\"terminal_id\":\"t1\","
		    "\"inputs\":[{\"type\":\"speech_text\",\"text\":\"hi\"}]}");
	for (i = 0; i < CHATS; i++) {
		ck_assert(tk_http_read(&c[i], &a, GW_MS));
		json_decref(gw_response_json(&a, 200));
		tk_http_close(&c[i]);
	}
	check_souls(&b, "demo-user", "t1,");
	tk_response_free(&a);
	gw_peer_stop(&p);
	gateway_fixture_stop(&b);
}

static int
start_exit_code(const char *variable)
{
	struct tk_proc p;
	const char *argv[] = { tk_bin("chat-gateway"), NULL };
	const char *env[] = { "HTTP_ADDR=127.0.0.1:0", "ADMIN_ADDR=127.0.0.1:0",
		variable, NULL };

	tk_spawn(&p, "gateway", argv, env);
	return tk_wait(&p, GW_MS);
}

TEST(the_options_of_new_souls_are_checked_at_start)
{
	ck_assert_int_eq(start_exit_code("SOUL_DEFAULT_MBTI=XXXX"), 78);
	ck_assert_int_eq(start_exit_code("SOUL_MODEL=persona-pad-v1"), 78);
	ck_assert_int_eq(start_exit_code("USER_ID=a\tb"), 78);
	ck_assert_int_eq(start_exit_code("REDIS_URL=http://127.0.0.1"), 78);
	ck_assert_int_eq(start_exit_code("SOUL_AUTO_CREATE=perhaps"), 78);
}
