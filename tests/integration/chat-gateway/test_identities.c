/*
 * Identities of terminals: created, rotated, revoked and listed, per tenant.
 */
#include <stdio.h>
#include <string.h>

#include "auth/auth.h"
#include "core/mem.h"
#include "testkit/gateway_turn_fixture.h"
#include "testkit/rights.h"

#define MINT    "POST", "/v1/terminals"
#define ROTATE  "POST", "/v1/terminals/lamp/rotate"
#define REVOKE  "DELETE", "/v1/terminals/lamp"
#define MISSING "terminal not found"

static const struct str none = { NULL, 0 };

/* The stored identity of a terminal. */
static struct credential
stored_credential(struct gateway_fixture *b, const char *terminal)
{
	struct credential c;

	arena_reset(b->db.arena);
	ck_assert_int_eq(
	    credential_read(b->db.s, str_of(terminal), b->db.arena, &c), RC_OK);
	return c;
}

/* A response has a secret whose hash is stored. */
static void
check_secret(struct gateway_fixture *b, json_t *j)
{
	struct str secret = str_of(tk_text(j, "password"));
	char token[AUTH_TERMINAL_TOKEN_MAX];
	struct credential c;

	ck_assert_str_eq(tk_text(j, "terminal_id"), "lamp");
	ck_assert_str_eq(tk_text(j, "username"), "lamp");
	ck_assert_uint_ge(secret.n, 32);
	auth_terminal_token(STR("lamp"), secret, token);
	ck_assert_str_eq(tk_text(j, "token"), token);
	c = stored_credential(b, "lamp");
	ck_assert(auth_secret_is(secret, c.hash));
	ck_assert_ptr_null(strstr(c.hash.p, secret.p));
	ck_assert(!tk_log_has(&b->gateway.proc, secret.p));
}

TEST(a_secret_is_returned_by_minting_only)
{
	struct tk_response a = { 0 };
	char field[64];
	struct gateway_fixture b;
	json_t *j, *second;

	gw_start_with_tokens(&b);
	ck_assert_int_eq(gw_request_as(&b, &a, TOKEN_PROVISIONER, MINT,
			     "{\"terminal_id\":\"lamp\",\"user_id\":\"ann\"}"),
	    200);
	ck_assert_str_eq(
	    tk_response_field(&a, "Cache-Control", field, sizeof(field)),
	    "no-store");
	j = gw_response_json(&a, 200);
	tk_response_free(&a);
	check_secret(&b, j);
	ck_assert_str_eq(tk_text(j, "user_id"), "ann");
	ck_assert_ptr_null(json_object_get(j, "tenant"));
	ck_assert_str_eq(tk_text(j, "created_at"), tk_text(j, "changed_at"));
	gw_rejects_as(&b, TOKEN_PROVISIONER, MINT, "{\"terminal_id\":\"lamp\"}",
	    "409 terminal lamp has an identity; rotate or revoke that");

	second = gw_json_as(&b, TOKEN_OPERATOR, ROTATE, NULL);
	check_secret(&b, second);
	ck_assert_str_ne(tk_text(j, "password"), tk_text(second, "password"));
	ck_assert_str_eq(tk_text(second, "user_id"), "ann");
	json_decref(second);
	/* A certificate has no secret; the identity can change back to one. */
	second =
	    gw_json_as(&b, TOKEN_PROVISIONER, ROTATE, "{\"certificate\":true}");
	ck_assert_ptr_null(json_object_get(second, "password"));
	ck_assert_ptr_null(json_object_get(second, "token"));
	ck_assert_ptr_null(stored_credential(&b, "lamp").hash.p);
	json_decref(second);
	second = gw_json_as(&b, TOKEN_PROVISIONER, ROTATE, "{}");
	check_secret(&b, second);
	json_decref(second);

	gw_ok_as(&b, TOKEN_PROVISIONER, REVOKE, NULL);
	gw_rejects_as(&b, TOKEN_PROVISIONER, REVOKE, NULL, "404 " MISSING);
	gw_rejects_as(&b, TOKEN_PROVISIONER, ROTATE, NULL, "404 " MISSING);
	ck_assert(stored_credential(&b, "lamp").revoked);
	second = gw_mint_as(&b, TOKEN_PROVISIONER, "lamp", "");
	check_secret(&b, second);
	ck_assert_ptr_null(json_object_get(second, "user_id"));
	json_decref(second);
	json_decref(j);
	gateway_fixture_stop(&b);
}

static const struct {
	const char *body, *want;
} bad[] = {
	{ "", "400 ends too early" },
	{ "{}", "400 /terminal_id: is missing" },
	{ "{\"terminal_id\":\"\"}", "400 /terminal_id: must not be empty" },
	{ "{\"terminal_id\":\"a/b\"}", "400 /terminal_id: must not have" },
	{ "{\"terminal_id\":\"+\"}", "400 /terminal_id: must not have" },
	{ "{\"terminal_id\":\"#\"}", "400 /terminal_id: must not have" },
	{ "{\"terminal_id\":\"a\\nb\"}", "400 /terminal_id: must not have" },
	{ "{\"terminal_id\":\"a\\u0000b\"}", "400 must not have U+0000" },
	{ "{\"terminal_id\":\"$SYS\"}", "400 terminal_id: must not have" },
	{ "{\"terminal_id\":\"a:b\"}", "400 terminal_id: must not have" },
	{ "{\"terminal_id\":\" a\"}", "400 terminal_id: must not have" },
	{ "{\"terminal_id\":\"a \"}", "400 terminal_id: must not have" },
	{ "{\"terminal_id\":\" \"}", "400 terminal_id: must not have" },
	{ "{\"terminal_id\":\"mqtt-bridge\"}",
	    "400 terminal_id: a service has" },
	{ "{\"terminal_id\":\"health\"}", "400 terminal_id: a service has" },
	{ "{\"terminal_id\":\"t\",\"user_id\":\"\"}", "400 /user_id: must" },
	{ "{\"terminal_id\":\"t\",\"certificate\":1}",
	    "400 /certificate: must" },
};

TEST(reserved_and_unusable_terminal_ids_are_rejected)
{
	struct credential *list;
	struct str next;
	struct gateway_fixture b;
	size_t i, n;

	gw_start_with_tokens(&b);
	for (i = 0; i < NELEM(bad); i++)
		gw_rejects_as(
		    &b, TOKEN_PROVISIONER, MINT, bad[i].body, bad[i].want);
	ck_assert_int_eq(credential_list(b.db.s, none, none, 10, b.db.arena,
			     &list, &n, &next),
	    RC_OK);
	ck_assert_uint_eq(n, 0);
	gw_mint_ok_as(&b, TOKEN_PROVISIONER, "桌面 机器人");
	gateway_fixture_stop(&b);
}

/* The terminals of a page, each followed by a comma. */
static void
check_page(struct gateway_fixture *b, const char *token, const char *query,
    const char *want, char next[256])
{
	char path[400], have[256] = "";
	json_t *j, *e;
	size_t i, n = 0;

	snprintf(path, sizeof(path), "/v1/identities%s", query);
	j = gw_json_as(b, token, "GET", path, NULL);
	json_array_foreach (tk_at(j, "items"), i, e) {
		n += (size_t)snprintf(have + n, sizeof(have) - n, "%s%s,",
		    tk_text(e, "terminal_id"),
		    json_is_true(tk_at(e, "revoked")) ? "-" : "");
		ck_assert_ptr_null(json_object_get(e, "hash"));
		ck_assert_ptr_null(json_object_get(e, "password"));
	}
	ck_assert_str_eq(have, want);
	e = json_object_get(j, "next");
	snprintf(next, 256, "%s", e != NULL ? json_string_value(e) : "");
	json_decref(j);
}

TEST(tenants_manage_their_own_identities_only)
{
	char next[256], query[300];
	struct gateway_fixture b;
	json_t *j;

	gw_start_with_tokens(&b);
	j = gw_mint_as(
	    &b, TOKEN_ACME_PROVISIONER, "lamp", ",\"user_id\":\"ann\"");
	ck_assert_str_eq(tk_text(j, "tenant"), "acme");
	ck_assert_str_eq(tk_text(j, "user_id"), "acme/ann");
	json_decref(j);
	/* A caller without a tenant may name one. */
	j = gw_mint_as(
	    &b, TOKEN_PROVISIONER, "desk", ",\"user_id\":\"zeta/zoe\"");
	ck_assert_str_eq(tk_text(j, "tenant"), "zeta");
	ck_assert_str_eq(tk_text(j, "user_id"), "zeta/zoe");
	json_decref(j);
	gw_mint_ok_as(&b, TOKEN_PROVISIONER, "toy");
	gw_rejects_as(&b, TOKEN_ACME_PROVISIONER, MINT,
	    "{\"terminal_id\":\"x\",\"user_id\":\"zeta/zoe\"}",
	    "403 another tenant");
	/* Other tenants learn only that the id is taken. */
	gw_rejects_as(&b, TOKEN_ACME_PROVISIONER, MINT,
	    "{\"terminal_id\":\"desk\"}", "409 terminal desk has an identity");
	gw_rejects_as(&b, TOKEN_ACME_PROVISIONER, "POST",
	    "/v1/terminals/desk/rotate", NULL, "404 " MISSING);
	gw_rejects_as(&b, TOKEN_ACME_OPERATOR, "DELETE", "/v1/terminals/toy",
	    NULL, "404 " MISSING);
	gw_rejects_as(&b, TOKEN_ACME_PROVISIONER, "GET", "/v1/terminals/desk",
	    NULL, "404 " MISSING);
	check_page(&b, TOKEN_ACME_PROVISIONER, "", "lamp,", next);
	check_page(&b, TOKEN_ACME_OPERATOR, "", "lamp,", next);
	check_page(&b, TOKEN_PROVISIONER, "", "desk,lamp,toy,", next);
	/* A revoked id cannot be taken by another tenant. */
	gw_ok_as(&b, TOKEN_PROVISIONER, "DELETE", "/v1/terminals/desk", NULL);
	gw_rejects_as(&b, TOKEN_ACME_PROVISIONER, MINT,
	    "{\"terminal_id\":\"desk\"}", "409 terminal desk has an identity");
	check_page(&b, TOKEN_OPERATOR, "?limit=2", "desk-,lamp,", next);
	snprintf(query, sizeof(query), "?limit=2&cursor=%s", next);
	check_page(&b, TOKEN_OPERATOR, query, "toy,", next);
	ck_assert_str_eq(next, "");
	gw_rejects_as(&b, TOKEN_OPERATOR, "GET", "/v1/identities?limit=0", NULL,
	    "400 limit: must be 1 to 1000");
	gw_rejects_as(&b, TOKEN_OPERATOR, "GET", "/v1/identities?limit=1001",
	    NULL, "400 limit: must be 1 to 1000");
	gw_rejects_as(&b, TOKEN_OPERATOR, "GET", "/v1/identities?cursor=~",
	    NULL, "400 cursor: must be the next of the page before");
	gateway_fixture_stop(&b);
}

/* The terminal's state is visible to its provisioner, its owner is not. */
TEST(a_provisioner_sees_a_terminal_without_its_owner)
{
	char soul[GW_SOUL_ID];
	struct gateway_fixture b;
	json_t *j;

	gw_start_with_tokens(&b);
	gw_mint_ok_as(&b, TOKEN_ACME_PROVISIONER, "lamp");
	gw_soul_as(&b, TOKEN_ACME_ANN, "friendly", soul);
	gw_bind_as(&b, TOKEN_ACME_ANN, "lamp", soul, NULL);
	gw_online(&b, "lamp", true);
	j = gw_json_as(
	    &b, TOKEN_ACME_PROVISIONER, "GET", "/v1/terminals/lamp", NULL);
	ck_assert(json_is_true(tk_at(j, "online")));
	ck_assert_ptr_null(json_object_get(j, "user_id"));
	ck_assert_ptr_null(json_object_get(j, "soul_id"));
	json_decref(j);
	j = gw_json_as(&b, TOKEN_ACME_ANN, "GET", "/v1/terminals/lamp", NULL);
	ck_assert_str_eq(tk_text(j, "user_id"), "acme/ann");
	json_decref(j);
	/* So is a terminal that was never online. */
	gw_mint_ok_as(&b, TOKEN_ACME_PROVISIONER, "desk");
	gw_ok_as(&b, TOKEN_ACME_PROVISIONER, "GET", "/v1/terminals/desk", NULL);
	gateway_fixture_stop(&b);
}

/* With no more than the service's own permissions in Redis and NATS. */
TEST(the_services_own_permissions_suffice)
{
	char id[GW_SOUL_ID];
	struct gateway_fixture b = { 0 };
	struct tk_env e = { 0 };
	natsSubscription *sub;
	json_t *j;

	tk_rights_nats(&b.nats);
	tk_rights_redis(&b.redis);
	b.nc = tk_nats_connect(b.nats.url);
	tk_state_open(&b.db, b.redis.url);
	tk_env_put(&e, "NATS_URL=%s", b.nats.url);
	tk_env_put(&e, "NATS_USER=chat-gateway");
	tk_env_put(&e, "NATS_PASSWORD=" TK_PASSWORD "chat-gateway");
	tk_env_put(&e,
	    "REDIS_URL=redis://chat-gateway:" TK_PASSWORD
	    "chat-gateway@127.0.0.1:%d",
	    b.redis.port);
	tk_service_start(&b.gateway, "chat-gateway", "chat-gateway", &e);
	sub = gw_audit_subscribe(&b);
	gw_ok(&b, MINT, "{\"terminal_id\":\"lamp\"}");
	gw_soul(&b, "bob", "friendly", id);
	gw_bind_ok(&b, "bob", "lamp", id);
	gw_ok(&b, ROTATE, NULL);
	gw_ok(&b, REVOKE, NULL);
	gw_ok(&b, MINT, "{\"terminal_id\":\"lamp\"}");
	j = gw_json(&b, "GET", "/v1/identities", NULL);
	ck_assert_uint_eq(json_array_size(tk_at(j, "items")), 1);
	json_decref(j);
	json_decref(gw_audit_next(sub, "terminal_minted"));
	json_decref(gw_audit_next(sub, "binding_changed"));
	ck_assert_str_eq(tk_rights_denied(&b.nats, &b.redis), "");
	natsSubscription_Destroy(sub);
	gateway_fixture_stop(&b);
}

/* Without authentication, identities are for the broker only. */
TEST(without_authentication_identities_do_not_restrict_bindings)
{
	char id[GW_SOUL_ID];
	struct gw_peer p;
	struct gateway_fixture b;
	json_t *j;

	gateway_fixture_start(&b, NULL);
	gw_peer_start(&b, &p);
	j = gw_json(&b, MINT, "{\"terminal_id\":\"lamp\",\"user_id\":\"a/b\"}");
	check_secret(&b, j);
	ck_assert_str_eq(tk_text(j, "user_id"), "a/b");
	ck_assert_ptr_null(json_object_get(j, "tenant"));
	json_decref(j);
	gw_soul(&b, "bob", "friendly", id);
	gw_bind_ok(&b, "bob", "lamp", id);
	gw_bind_ok(&b, "bob", "other", id);
	gw_chat_ok(&b, "lamp", "\"user_id\":\"bob\"");
	gw_ok(&b, REVOKE, NULL);
	ck_assert(!gw_is_bound(&b, "lamp"));
	ck_assert(gw_is_bound(&b, "other"));
	j = gw_json(&b, "GET", "/v1/identities", NULL);
	ck_assert(json_is_true(
	    tk_at(json_array_get(tk_at(j, "items"), 0), "revoked")));
	json_decref(j);
	gw_peer_stop(&p);
	gateway_fixture_stop(&b);
}
