/*
 * Bodies that chat as themselves; and which bodies may be bound and chatted
 * through at all, where callers are known.
 */
#include "known.h"

#define NO_SOUL "soul selection is required before chat"
#define MISSING "terminal not found"

/* The token of a body, which is minted or rotated. */
static void
body_token(json_t *j, char token[400])
{
	snprintf(token, 400, "%s", tk_text(j, "token"));
	json_decref(j);
}

/* A turn that a body begins is its user's. */
static void
ck_turn_of(struct bed *b, const char *token, const char *user)
{
	static const char text[] = "{\"terminal_id\":\"lamp\"," WORDS "}";
	natsSubscription *sub = turns_listen(b);
	struct tk_answer a = { 0 };
	struct tk_http c;
	char request[1024];
	struct turn t;

	snprintf(request, sizeof(request),
	    "POST /v1/chat HTTP/1.1\r\nHost: localhost\r\n"
	    "Authorization: Bearer %s\r\n"
	    "Content-Length: %zu\r\n\r\n%s",
	    token, strlen(text), text);
	tk_http_open(&c, b->gateway.http);
	ck_assert(tk_http_puts(&c, request));
	turn_take(sub, &t);
	ck_assert_str_eq(tk_text(t.j, "user_id"), user);
	ck_assert_str_eq(tk_text(t.j, "chat.terminal_id"), "lamp");
	turn_complete(b, &t);
	ck_assert(tk_http_read(&c, &a, BED_MS));
	ck_assert_int_eq(a.status, 200);
	turn_end(&t);
	tk_answer_free(&a);
	tk_http_close(&c);
	turns_leave(b, sub);
}

TEST(a_body_chats_as_itself)
{
	char token[400], old[400], soul[SOUL_ID];
	struct bed b;

	known_start(&b);
	body_token(mint_as(&b, ACME_PROVISIONER, "lamp", ""), token);
	soul_as(&b, ACME_ANN, "friendly", soul);
	reported(&b, "lamp", "[]", "friendly");
	/* What it hints at is for users to decide. */
	no_chat_as(&b, token, "lamp", "400 " NO_SOUL);
	select_as(&b, ACME_ANN, "lamp", soul, NULL);
	ck_turn_of(&b, token, "acme/ann");
	/* It is nobody else, and asks nothing else. */
	no_chat_as(&b, token, "desk", "403 /terminal_id: is not");
	refused_as(&b, token, "POST", "/v1/chat",
	    "{\"terminal_id\":\"lamp\",\"user_id\":\"ann\"," WORDS "}",
	    "403 /user_id: must not be there");
	refused_as(&b, token, "GET", "/v1/terminals/lamp", NULL, "403 role");
	refused_as(
	    &b, token, "GET", "/v1/sessions/s1/messages", NULL, "403 role");
	refused_as(
	    &b, token, "POST", "/v1/terminals/lamp/rotate", NULL, "403 role");
	/* Another secret counts at once, and the one before no more. */
	snprintf(old, sizeof(old), "%s", token);
	body_token(take_as(&b, ACME_PROVISIONER, "POST",
		       "/v1/terminals/lamp/rotate", NULL),
	    token);
	no_chat_as(&b, old, "lamp", "401 ");
	ck_turn_of(&b, token, "acme/ann");
	done_as(&b, ACME_PROVISIONER, "DELETE", "/v1/terminals/lamp", NULL);
	no_chat_as(&b, token, "lamp", "401 ");
	ck_assert(!is_bound(&b, "lamp"));
	bed_stop(&b);
}

/* A token of the file is as good, and no better than the body's identity. */
TEST(a_body_with_a_token_of_the_file)
{
	char soul[SOUL_ID];
	struct bed b;

	known_start(&b);
	soul_as(&b, ANN, "friendly", soul);
	no_chat_as(&b, LAMP, "lamp", "400 " NO_SOUL);
	json_decref(mint_as(&b, PROVISIONER, "lamp", ",\"certificate\":true"));
	select_as(&b, ANN, "lamp", soul, NULL);
	ck_turn_of(&b, LAMP, "ann");
	/* That of a tenant is not for users of none. */
	no_chat_as(&b, ACME_LAMP, "lamp", "404 " MISSING);
	done_as(&b, PROVISIONER, "DELETE", "/v1/terminals/lamp", NULL);
	no_chat_as(&b, LAMP, "lamp", "400 " NO_SOUL);
	bed_stop(&b);
}

TEST(whose_bodies_may_be_bound)
{
	char mine[SOUL_ID], his[SOUL_ID], eves[SOUL_ID];
	struct peer p;
	struct bed b;

	known_start(&b);
	peer_start(&b, &p);
	soul_as(&b, ANN, "friendly", mine);
	soul_as(&b, ACME_ANN, "friendly", his);
	soul_as(&b, ACME_EVE, "friendly", eves);
	/* One that has no identity: by selection, by a hint, by a chat. */
	select_as(&b, ANN, "lamp", mine, "404 " MISSING);
	no_chat_as(&b, ANN, "lamp", "404 " MISSING);
	reported(&b, "lamp", "[]", "friendly");
	no_chat_as(&b, ANN, "lamp", "404 " MISSING);
	refused_as(&b, ANN, "GET", "/v1/terminals/lamp", NULL, "404 " MISSING);
	refused_as(
	    &b, ANN, "DELETE", "/v1/terminals/lamp/soul", NULL, "404 " MISSING);
	/* One of another tenant. */
	minted(&b, ACME_PROVISIONER, "lamp");
	select_as(&b, ANN, "lamp", mine, "404 " MISSING);
	no_chat_as(&b, ANN, "lamp", "404 " MISSING);
	refused_as(&b, ANN, "GET", "/v1/terminals/lamp", NULL, "404 " MISSING);
	/* Anybody of its own: he sees it, and may bind it. */
	done_as(&b, ACME_EVE, "GET", "/v1/terminals/lamp", NULL);
	done_as(&b, ACME_EVE, "DELETE", "/v1/terminals/lamp/soul", NULL);
	chat_as(&b, ACME_ANN, "lamp");
	select_as(&b, ACME_EVE, "lamp", eves, "409 is bound by another user");
	/* One that is meant for somebody. */
	json_decref(
	    mint_as(&b, ACME_PROVISIONER, "desk", ",\"user_id\":\"ann\""));
	select_as(&b, ACME_EVE, "desk", eves, "404 " MISSING);
	refused_as(
	    &b, ACME_EVE, "GET", "/v1/terminals/desk", NULL, "404 " MISSING);
	select_as(&b, ACME_ANN, "desk", his, NULL);
	/* One that was revoked. */
	done_as(&b, ACME_PROVISIONER, "DELETE", "/v1/terminals/desk", NULL);
	no_chat_as(&b, ACME_ANN, "desk", "404 " MISSING);
	select_as(&b, ACME_ANN, "desk", his, "404 " MISSING);
	/* An operator is as the user whom he names. */
	refused_as(&b, ROOT, "POST", "/v1/chat",
	    "{\"terminal_id\":\"lamp\",\"user_id\":\"ann\"," WORDS "}",
	    "404 " MISSING);
	done_as(&b, ROOT, "POST", "/v1/chat",
	    "{\"terminal_id\":\"lamp\",\"user_id\":\"acme/ann\"," WORDS "}");
	peer_stop(&p);
	bed_stop(&b);
}

/* Bindings that were made while anybody might ask. */
TEST(a_binding_from_before)
{
	char mine[SOUL_ID], token[400];
	struct bed b;

	known_start(&b);
	soul_as(&b, ANN, "friendly", mine);
	ck_assert_int_eq(
	    terminal_bind(b.db.s, STR("lamp"), STR("ann"), str_of(mine)),
	    RC_OK);
	/* It needs an identity to be of use. */
	no_chat_as(&b, ANN, "lamp", "404 " MISSING);
	done_as(&b, ANN, "GET", "/v1/terminals/lamp", NULL);
	body_token(mint_as(&b, PROVISIONER, "lamp", ""), token);
	ck_turn_of(&b, token, "ann");
	/* Of a tenant it serves nobody outside. */
	ck_assert_int_eq(
	    terminal_bind(b.db.s, STR("desk"), STR("ann"), str_of(mine)),
	    RC_OK);
	body_token(mint_as(&b, ACME_PROVISIONER, "desk", ""), token);
	no_chat_as(&b, token, "desk", "404 " MISSING);
	no_chat_as(&b, ANN, "desk", "404 " MISSING);
	/* He may still let go of it. */
	done_as(&b, ANN, "DELETE", "/v1/terminals/desk/soul", NULL);
	bed_stop(&b);
}
