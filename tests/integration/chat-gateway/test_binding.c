/*
 * Bindings of terminals by selection and by hint.
 */
#include <stdio.h>

#include "core/mem.h"
#include "testkit/gateway_turn_fixture.h"

#define SELECT    "POST", "/v1/souls/select"
#define REQUIRED  "terminal_id and soul_id are required"
#define NO_SOUL   "soul selection is required before chat"
#define NOT_FOUND "soul not found"

static const struct {
	const char *body, *text;
} bad_selections[] = {
	{ "", "invalid json" },
	{ "nul", "invalid json" },
	{ "\"x\"", "invalid json" },
	{ "{}", REQUIRED },
	{ "{\"terminal_id\":\"t1\"}", REQUIRED },
	{ "{\"soul_id\":\"soul_x\"}", REQUIRED },
	{ "{\"terminal_id\":\"\",\"soul_id\":\"soul_x\"}", REQUIRED },
	{ "{\"soul_id\":\"\",\"terminal_id\":\"t1\"}", REQUIRED },
	{ "{\"terminal_id\":\"t1\",\"soul_id\":\"soul_x\"}", NOT_FOUND },
	{ "{\"terminal_id\":\"a/b\",\"soul_id\":\"soul_x\"}",
	    "/terminal_id: must not have control characters, /, + or #" },
	{ "{\"terminal_id\":7,\"soul_id\":\"soul_x\"}",
	    "/terminal_id: must be a string" },
};

TEST(invalid_selections_are_rejected)
{
	char mine[GW_SOUL_ID], body[256];
	struct gateway_fixture b;
	size_t i;

	gateway_fixture_start(&b, NULL);
	for (i = 0; i < NELEM(bad_selections); i++)
		gw_rejects(&b, SELECT, bad_selections[i].body, 400,
		    bad_selections[i].text);
	gw_soul(&b, "ann", "friendly", mine);
	snprintf(body, sizeof(body),
	    "{\"terminal_id\":\"t1\",\"soul_id\":\"%s\"}", mine);
	/* Another user's is none. */
	gw_rejects(&b, SELECT, body, 400, "soul not found");
	ck_assert(!gw_is_bound(&b, "t1"));
	gateway_fixture_stop(&b);
}

TEST(a_user_can_change_the_selection)
{
	char one[GW_SOUL_ID], two[GW_SOUL_ID], body[256];
	struct gateway_fixture b;
	json_t *j;

	gateway_fixture_start(&b, NULL);
	gw_soul(&b, NULL, "one", one);
	gw_soul(&b, NULL, "two", two);
	snprintf(body, sizeof(body),
	    "{\"terminal_id\":\"灯 1\",\"soul_id\":\"%s\"}", one);
	j = gw_json(&b, SELECT, body);
	ck_assert(json_is_true(tk_at(j, "ok")));
	ck_assert_str_eq(tk_text(j, "user_id"), "demo-user");
	ck_assert_str_eq(tk_text(j, "terminal_id"), "灯 1");
	ck_assert_str_eq(tk_text(j, "soul_id"), one);
	json_decref(j);
	gw_bind_ok(&b, "demo-user", "t1", one);
	gw_check_binding(&b, "demo-user", "t1", one);
	gw_bind_ok(&b, "demo-user", "t1", two);
	gw_check_binding(&b, "demo-user", "t1", two);
	gw_bind_ok(&b, "demo-user", "t1", two);
	gw_check_binding(&b, "demo-user", "t1", two);
	gateway_fixture_stop(&b);
}

TEST(another_users_terminal_must_be_unbound_first)
{
	static const char taken[] = "terminal t1 is bound by another user";
	char ann[GW_SOUL_ID], bob[GW_SOUL_ID];
	struct tk_response a = { 0 };
	struct gw_peer p;
	struct gateway_fixture b;

	gateway_fixture_start(&b, NULL);
	gw_peer_start(&b, &p);
	gw_soul(&b, "ann", "friendly", ann);
	gw_soul(&b, "bob", "friendly", bob);
	gw_bind_ok(&b, "ann", "t1", ann);
	gw_bind(&b, &a, "bob", "t1", bob);
	gw_check_error(&a, 409, taken);
	gw_rejects(&b, "DELETE", "/v1/terminals/t1/soul?user_id=bob", NULL, 409,
	    taken);
	gw_chat_rejects(&b, "t1", "\"user_id\":\"bob\"", 409, taken);
	gw_chat_rejects(&b, "t1",
	    "\"user_id\":\"bob\",\"soul_hint\":\"friendly\"", 409, taken);
	gw_check_binding(&b, "ann", "t1", ann);
	gw_ok(&b, "DELETE", "/v1/terminals/t1/soul?user_id=ann", NULL);
	gw_bind_ok(&b, "bob", "t1", bob);
	gw_check_binding(&b, "bob", "t1", bob);
	gw_chat_ok(&b, "t1", "\"user_id\":\"bob\"");
	tk_response_free(&a);
	gw_peer_stop(&p);
	gateway_fixture_stop(&b);
}

/* soul_id is an expectation: it neither binds nor rebinds. */
TEST(a_chat_naming_another_soul_is_rejected)
{
	char mine[GW_SOUL_ID], other[GW_SOUL_ID], bobs[GW_SOUL_ID];
	char more[256], text[256];
	struct gw_peer p;
	struct gateway_fixture b;

	gateway_fixture_start(&b, NULL);
	gw_peer_start(&b, &p);
	gw_soul(&b, "ann", "mine", mine);
	gw_soul(&b, "ann", "other", other);
	gw_soul(&b, "bob", "bobs", bobs);
	snprintf(
	    more, sizeof(more), "\"user_id\":\"ann\",\"soul_id\":\"%s\"", mine);
	gw_chat_rejects(&b, "t1", more, 400, NO_SOUL);
	gw_bind_ok(&b, "ann", "t1", mine);
	gw_chat_ok(&b, "t1", more);
	snprintf(more, sizeof(more), "\"user_id\":\"ann\",\"soul_id\":\"%s\"",
	    other);
	snprintf(
	    text, sizeof(text), "terminal t1 has another soul than %s", other);
	gw_chat_rejects(&b, "t1", more, 400, text);
	snprintf(
	    more, sizeof(more), "\"user_id\":\"ann\",\"soul_id\":\"%s\"", bobs);
	gw_chat_rejects(&b, "t1", more, 400, NOT_FOUND);
	gw_chat_rejects(&b, "t1", "\"user_id\":\"ann\",\"soul_id\":\"soul_x\"",
	    400, NOT_FOUND);
	gw_check_binding(&b, "ann", "t1", mine);
	/* A hint to one soul with another soul_id binds neither. */
	snprintf(more, sizeof(more),
	    "\"user_id\":\"ann\",\"soul_hint\":\"mine\",\"soul_id\":\"%s\"",
	    other);
	snprintf(
	    text, sizeof(text), "terminal t2 has another soul than %s", other);
	gw_chat_rejects(&b, "t2", more, 400, text);
	ck_assert(!gw_is_bound(&b, "t2"));
	ck_assert_int_eq(atomic_load(&p.turns), 1);
	gw_peer_stop(&p);
	gateway_fixture_stop(&b);
}

TEST(a_hint_binds_to_its_only_match)
{
	char one[GW_SOUL_ID], two[GW_SOUL_ID], more[256];
	struct gw_peer p;
	struct gateway_fixture b;

	gateway_fixture_start(&b, NULL);
	gw_peer_start(&b, &p);
	gw_soul(&b, NULL, "friendly", one);
	/* An only soul is not selected by default. */
	gw_chat_rejects(&b, "t1", "", 400, NO_SOUL);
	gw_chat_rejects(&b, "t1", "\"soul_hint\":\"\"", 400, NO_SOUL);
	gw_soul(&b, NULL, "stern", two);
	gw_chat_rejects(&b, "t1", "\"soul_hint\":\"missing\"", 400, NO_SOUL);
	gw_chat_rejects(&b, "t1", "\"soul_hint\":\"FRIENDLY\"", 400, NO_SOUL);
	ck_assert(!gw_is_bound(&b, "t1"));
	gw_chat_ok(&b, "t1", "\"soul_hint\":\" friendly \"");
	gw_check_binding(&b, "demo-user", "t1", one);
	snprintf(more, sizeof(more), "\"soul_hint\":\"%s\"", two);
	gw_chat_ok(&b, "t2", more);
	gw_check_binding(&b, "demo-user", "t2", two);
	/* A bound terminal ignores hints. */
	gw_chat_ok(&b, "t2", "\"soul_hint\":\"friendly\"");
	gw_chat_ok(&b, "t2", "\"soul_hint\":\"missing\"");
	gw_chat_ok(&b, "t2", "");
	gw_check_binding(&b, "demo-user", "t2", two);
	/* Souls of other users do not match. */
	gw_chat_rejects(&b, "t3",
	    "\"user_id\":\"bob\",\"soul_hint\":\"friendly\"", 400, NO_SOUL);
	snprintf(more, sizeof(more), "\"user_id\":\"bob\",\"soul_hint\":\"%s\"",
	    one);
	gw_chat_rejects(&b, "t3", more, 400, NO_SOUL);
	ck_assert_int_eq(atomic_load(&p.turns), 5);
	gw_peer_stop(&p);
	gateway_fixture_stop(&b);
}

TEST(an_ambiguous_hint_is_rejected)
{
	char one[GW_SOUL_ID], two[GW_SOUL_ID], more[256];
	struct gw_peer p;
	struct gateway_fixture b;

	gateway_fixture_start(&b, TK_ENV("SOUL_AUTO_CREATE=on"));
	gw_peer_start(&b, &p);
	gw_soul(&b, NULL, "friendly", one);
	/* Its name is the id of the other. */
	gw_soul(&b, NULL, one, two);
	snprintf(more, sizeof(more), "\"soul_hint\":\"%s\"", one);
	gw_chat_rejects(&b, "t1", more, 400, NO_SOUL);
	ck_assert(!gw_is_bound(&b, "t1"));
	snprintf(more, sizeof(more), "\"soul_hint\":\"%s\"", two);
	gw_chat_ok(&b, "t1", more);
	gw_check_binding(&b, "demo-user", "t1", two);
	gw_peer_stop(&p);
	gateway_fixture_stop(&b);
}

TEST(without_a_hint_the_reported_one_is_used)
{
	char one[GW_SOUL_ID], two[GW_SOUL_ID];
	struct gw_peer p;
	struct gateway_fixture b;

	gateway_fixture_start(&b, NULL);
	gw_peer_start(&b, &p);
	gw_soul(&b, NULL, "friendly", one);
	gw_soul(&b, NULL, "stern", two);
	gw_report_skills(&b, "t1", "[]", "stern");
	gw_report_skills(&b, "t2", "[]", "stern");
	gw_report_skills(&b, "t3", "[]", "stern");
	gw_chat_ok(&b, "t1", "");
	gw_check_binding(&b, "demo-user", "t1", two);
	gw_chat_ok(&b, "t2", "\"soul_hint\":\"friendly\"");
	gw_check_binding(&b, "demo-user", "t2", one);
	gw_chat_rejects(&b, "t3", "\"soul_hint\":\"missing\"", 400, NO_SOUL);
	gw_chat_ok(&b, "t3", "\"soul_hint\":\"  \"");
	gw_check_binding(&b, "demo-user", "t3", two);
	gw_peer_stop(&p);
	gateway_fixture_stop(&b);
}

#define RACES 60

/*
 * An acknowledged selection stays, whatever hints other replicas follow at the
 * same time.
 */
TEST(a_hint_never_replaces_a_selection)
{
	char one[GW_SOUL_ID], two[GW_SOUL_ID], terminal[16], body[256];
	struct tk_http hint = { 0 }, select = { 0 };
	struct tk_response a = { 0 };
	struct gateway_fixture b, other;
	struct gw_peer p;
	int i;

	gateway_fixture_start(&b, NULL);
	gw_peer_start(&b, &p);
	gw_soul(&b, NULL, "one", one);
	gw_soul(&b, NULL, "two", two);
	other = b;
	other.gateway = (struct tk_service){ 0 };
	gateway_fixture_spawn(&other, &other.gateway, "chat-gateway", NULL);
	for (i = 0; i < RACES; i++) {
		snprintf(terminal, sizeof(terminal), "t%d", i);
		snprintf(body, sizeof(body),
		    "{\"session_id\":\"s\",\"terminal_id\":\"%s\","
		    "\"soul_hint\":\"two\",\"inputs\":"
		    "[{\"type\":\"keyboard_text\",\"text\":\"x\"}]}",
		    terminal);
		gw_send(&other, &hint, "POST", "/v1/chat", body);
		snprintf(body, sizeof(body),
		    "{\"terminal_id\":\"%s\",\"soul_id\":\"%s\"}", terminal,
		    one);
		gw_send(&b, &select, "POST", "/v1/souls/select", body);
		ck_assert(tk_http_read(&hint, &a, GW_MS));
		ck_assert_int_eq(a.status, 200);
		ck_assert(tk_http_read(&select, &a, GW_MS));
		ck_assert_int_eq(a.status, 200);
		tk_http_close(&hint);
		tk_http_close(&select);
		gw_check_binding(&b, "demo-user", terminal, one);
	}
	tk_service_end(&other.gateway);
	tk_response_free(&a);
	gw_peer_stop(&p);
	gateway_fixture_stop(&b);
}
