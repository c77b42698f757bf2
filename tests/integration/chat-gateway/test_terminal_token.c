/*
 * Terminals that chat with their own token, and which terminals may be bound
 * and used with authentication.
 */
#include <stdio.h>
#include <string.h>

#include "testkit/gateway_turn_fixture.h"
#include "testkit/terminal_fixture.h"

#define NO_SOUL "soul selection is required before chat"
#define MISSING "terminal not found"

/* The token in a response to minting or rotating. */
static void
body_token(json_t *j, char token[400])
{
	snprintf(token, 400, "%s", tk_text(j, "token"));
	json_decref(j);
}

/* A turn started by a terminal belongs to its binding user. */
static void
check_turn_user(struct gateway_fixture *b, const char *token, const char *user)
{
	static const char text[] =
	    "{\"terminal_id\":\"lamp\"," GW_CHAT_INPUT "}";
	natsSubscription *sub = gw_turns_subscribe(b);
	struct tk_response a = { 0 };
	struct tk_http c;
	char request[1024];
	struct gw_turn t;

	snprintf(request, sizeof(request),
	    "POST /v1/chat HTTP/1.1\r\nHost: localhost\r\n"
	    "Authorization: Bearer %s\r\n"
	    "Content-Length: %zu\r\n\r\n%s",
	    token, strlen(text), text);
	tk_http_open(&c, b->gateway.http);
	ck_assert(tk_http_puts(&c, request));
	gw_turn_next(sub, &t);
	ck_assert_str_eq(tk_text(t.j, "user_id"), user);
	ck_assert_str_eq(tk_text(t.j, "chat.terminal_id"), "lamp");
	gw_turn_complete(b, &t);
	ck_assert(tk_http_read(&c, &a, GW_MS));
	ck_assert_int_eq(a.status, 200);
	gw_turn_free(&t);
	tk_response_free(&a);
	tk_http_close(&c);
	gw_turns_unsubscribe(b, sub);
}

TEST(a_terminal_token_chats_for_its_binding_user)
{
	char token[400], previous[400], soul[GW_SOUL_ID];
	struct gateway_fixture b;

	gw_start_with_tokens(&b);
	body_token(gw_mint_as(&b, TOKEN_ACME_PROVISIONER, "lamp", ""), token);
	gw_soul_as(&b, TOKEN_ACME_ANN, "friendly", soul);
	gw_report_skills(&b, "lamp", "[]", "friendly");
	/* A terminal's own hint does not bind it. */
	gw_chat_rejects_as(&b, token, "lamp", "400 " NO_SOUL);
	gw_bind_as(&b, TOKEN_ACME_ANN, "lamp", soul, NULL);
	check_turn_user(&b, token, "acme/ann");
	/* It may not use other terminals or other routes. */
	gw_chat_rejects_as(&b, token, "desk", "403 /terminal_id: is not");
	gw_rejects_as(&b, token, "POST", "/v1/chat",
	    "{\"terminal_id\":\"lamp\",\"user_id\":\"ann\"," GW_CHAT_INPUT "}",
	    "403 /user_id: must not be there");
	gw_rejects_as(&b, token, "GET", "/v1/terminals/lamp", NULL, "403 role");
	gw_rejects_as(
	    &b, token, "GET", "/v1/sessions/s1/messages", NULL, "403 role");
	gw_rejects_as(
	    &b, token, "POST", "/v1/terminals/lamp/rotate", NULL, "403 role");
	/* A new secret is valid immediately and replaces the previous one. */
	snprintf(previous, sizeof(previous), "%s", token);
	body_token(gw_json_as(&b, TOKEN_ACME_PROVISIONER, "POST",
		       "/v1/terminals/lamp/rotate", NULL),
	    token);
	gw_chat_rejects_as(&b, previous, "lamp", "401 ");
	check_turn_user(&b, token, "acme/ann");
	gw_ok_as(
	    &b, TOKEN_ACME_PROVISIONER, "DELETE", "/v1/terminals/lamp", NULL);
	gw_chat_rejects_as(&b, token, "lamp", "401 ");
	ck_assert(!gw_is_bound(&b, "lamp"));
	gateway_fixture_stop(&b);
}

/* A token of the file has the same rights, if the terminal has an identity. */
TEST(a_terminal_token_of_the_file_needs_an_identity)
{
	char soul[GW_SOUL_ID];
	struct gateway_fixture b;

	gw_start_with_tokens(&b);
	gw_soul_as(&b, TOKEN_ANN, "friendly", soul);
	gw_chat_rejects_as(&b, TOKEN_LAMP, "lamp", "400 " NO_SOUL);
	json_decref(
	    gw_mint_as(&b, TOKEN_PROVISIONER, "lamp", ",\"certificate\":true"));
	gw_bind_as(&b, TOKEN_ANN, "lamp", soul, NULL);
	check_turn_user(&b, TOKEN_LAMP, "ann");
	/* A tenant's terminal is not available to users without a tenant. */
	gw_chat_rejects_as(&b, TOKEN_ACME_LAMP, "lamp", "404 " MISSING);
	gw_ok_as(&b, TOKEN_PROVISIONER, "DELETE", "/v1/terminals/lamp", NULL);
	gw_chat_rejects_as(&b, TOKEN_LAMP, "lamp", "400 " NO_SOUL);
	gateway_fixture_stop(&b);
}

TEST(only_terminals_of_the_users_tenant_can_be_bound)
{
	char mine[GW_SOUL_ID], acme_soul[GW_SOUL_ID], eve_soul[GW_SOUL_ID];
	struct gw_peer p;
	struct gateway_fixture b;

	gw_start_with_tokens(&b);
	gw_peer_start(&b, &p);
	gw_soul_as(&b, TOKEN_ANN, "friendly", mine);
	gw_soul_as(&b, TOKEN_ACME_ANN, "friendly", acme_soul);
	gw_soul_as(&b, TOKEN_ACME_EVE, "friendly", eve_soul);
	/* A terminal without an identity: by selection, hint and chat. */
	gw_bind_as(&b, TOKEN_ANN, "lamp", mine, "404 " MISSING);
	gw_chat_rejects_as(&b, TOKEN_ANN, "lamp", "404 " MISSING);
	gw_report_skills(&b, "lamp", "[]", "friendly");
	gw_chat_rejects_as(&b, TOKEN_ANN, "lamp", "404 " MISSING);
	gw_rejects_as(
	    &b, TOKEN_ANN, "GET", "/v1/terminals/lamp", NULL, "404 " MISSING);
	gw_rejects_as(&b, TOKEN_ANN, "DELETE", "/v1/terminals/lamp/soul", NULL,
	    "404 " MISSING);
	/* A terminal of another tenant. */
	gw_mint_ok_as(&b, TOKEN_ACME_PROVISIONER, "lamp");
	gw_bind_as(&b, TOKEN_ANN, "lamp", mine, "404 " MISSING);
	gw_chat_rejects_as(&b, TOKEN_ANN, "lamp", "404 " MISSING);
	gw_rejects_as(
	    &b, TOKEN_ANN, "GET", "/v1/terminals/lamp", NULL, "404 " MISSING);
	/* Any user of its tenant may see and bind it. */
	gw_ok_as(&b, TOKEN_ACME_EVE, "GET", "/v1/terminals/lamp", NULL);
	gw_ok_as(&b, TOKEN_ACME_EVE, "DELETE", "/v1/terminals/lamp/soul", NULL);
	gw_chat_ok_as(&b, TOKEN_ACME_ANN, "lamp");
	gw_bind_as(&b, TOKEN_ACME_EVE, "lamp", eve_soul,
	    "409 is bound by another user");
	/* A terminal reserved for a user. */
	json_decref(gw_mint_as(
	    &b, TOKEN_ACME_PROVISIONER, "desk", ",\"user_id\":\"ann\""));
	gw_bind_as(&b, TOKEN_ACME_EVE, "desk", eve_soul, "404 " MISSING);
	gw_rejects_as(&b, TOKEN_ACME_EVE, "GET", "/v1/terminals/desk", NULL,
	    "404 " MISSING);
	gw_bind_as(&b, TOKEN_ACME_ANN, "desk", acme_soul, NULL);
	/* A revoked terminal. */
	gw_ok_as(
	    &b, TOKEN_ACME_PROVISIONER, "DELETE", "/v1/terminals/desk", NULL);
	gw_chat_rejects_as(&b, TOKEN_ACME_ANN, "desk", "404 " MISSING);
	gw_bind_as(&b, TOKEN_ACME_ANN, "desk", acme_soul, "404 " MISSING);
	/* An operator has the rights of the named user. */
	gw_rejects_as(&b, TOKEN_OPERATOR, "POST", "/v1/chat",
	    "{\"terminal_id\":\"lamp\",\"user_id\":\"ann\"," GW_CHAT_INPUT "}",
	    "404 " MISSING);
	gw_ok_as(&b, TOKEN_OPERATOR, "POST", "/v1/chat",
	    "{\"terminal_id\":\"lamp\",\"user_id\":\"acme/ann\"," GW_CHAT_INPUT
	    "}");
	gw_peer_stop(&p);
	gateway_fixture_stop(&b);
}

/* Bindings made before authentication was enabled. */
TEST(earlier_bindings_need_an_identity)
{
	char mine[GW_SOUL_ID], token[400];
	struct gateway_fixture b;

	gw_start_with_tokens(&b);
	gw_soul_as(&b, TOKEN_ANN, "friendly", mine);
	ck_assert_int_eq(terminal_fixture_bind(
			     b.db.s, STR("lamp"), STR("ann"), str_of(mine)),
	    RC_OK);
	/* The terminal needs an identity first. */
	gw_chat_rejects_as(&b, TOKEN_ANN, "lamp", "404 " MISSING);
	gw_ok_as(&b, TOKEN_ANN, "GET", "/v1/terminals/lamp", NULL);
	body_token(gw_mint_as(&b, TOKEN_PROVISIONER, "lamp", ""), token);
	check_turn_user(&b, token, "ann");
	/* An identity of another tenant does not help. */
	ck_assert_int_eq(terminal_fixture_bind(
			     b.db.s, STR("desk"), STR("ann"), str_of(mine)),
	    RC_OK);
	body_token(gw_mint_as(&b, TOKEN_ACME_PROVISIONER, "desk", ""), token);
	gw_chat_rejects_as(&b, token, "desk", "404 " MISSING);
	gw_chat_rejects_as(&b, TOKEN_ANN, "desk", "404 " MISSING);
	/* The user may still unbind it. */
	gw_ok_as(&b, TOKEN_ANN, "DELETE", "/v1/terminals/desk/soul", NULL);
	gateway_fixture_stop(&b);
}

/* Sent with the token, for a stream of its events. */
static void
open_stream(struct gateway_fixture *b, struct tk_http *c, const char *token)
{
	static const char text[] =
	    "{\"terminal_id\":\"lamp\",\"stream\":true," GW_CHAT_INPUT "}";
	char request[1024];

	snprintf(request, sizeof(request),
	    "POST /v1/chat HTTP/1.1\r\nHost: localhost\r\n"
	    "Authorization: Bearer %s\r\n"
	    "Content-Length: %zu\r\n\r\n%s",
	    token, strlen(text), text);
	tk_http_open(c, b->gateway.http);
	ck_assert(tk_http_puts(c, request));
}

/* Credentials of terminals are in Redis, for which the loop does not wait. */
TEST_T(a_revoked_terminal_loses_its_stream, 60)
{
	char token[400], soul[GW_SOUL_ID];
	struct gateway_fixture b;
	natsSubscription *sub;
	struct tk_http c;
	struct gw_turn t;
	struct gw_run r;

	gw_start_with_tokens(&b);
	sub = gw_turns_subscribe(&b);
	body_token(gw_mint_as(&b, TOKEN_PROVISIONER, "lamp", ""), token);
	gw_soul_as(&b, TOKEN_DEMO, "friendly", soul);
	gw_report_skills(&b, "lamp", "[]", "friendly");
	gw_bind_as(&b, TOKEN_DEMO, "lamp", soul, NULL);
	open_stream(&b, &c, token);
	gw_turn_next(sub, &t);
	gw_run_begin(&r, &b, "s1", tk_text(t.j, "turn_id"));
	gw_turn_reply(&b, &t, "accepted", NULL);
	ck_assert(tk_http_has(&c, STARTED, GW_MS));
	gw_ok_as(&b, TOKEN_PROVISIONER, "DELETE", "/v1/terminals/lamp", NULL);
	ck_assert(tk_http_closed(&c, 3 * GW_MS));
	ck_assert(
	    tk_log_has(&b.gateway.proc, "why=\"the token is not known\""));
	tk_http_close(&c);
	gw_turn_free(&t);
	gw_turns_unsubscribe(&b, sub);
	gateway_fixture_stop(&b);
}
