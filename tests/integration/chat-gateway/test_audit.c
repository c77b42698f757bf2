/*
 * Audit events: of actions when they are completed, and of rejected callers.
 */
#include <stdio.h>
#include <string.h>

#include "core/mem.h"
#include "testkit/gateway_turn_fixture.h"
#include "testkit/terminal_fixture.h"

/*
 * A request (NULL: none, the event is caused by the previous one) and its audit
 * event (action NULL: none).
 */
struct audit_case {
	const char *token, *method, *path, *body;
	int status;
	const char *action, *role, *caller, *user, *terminal, *reason;
	int count; /* -1: none */
};

static const char *
text_or_empty(json_t *j, const char *path)
{
	json_t *e = tk_find(j, path);

	return e != NULL ? json_string_value(e) : "";
}

static void
check_audit(struct gateway_fixture *b, natsSubscription *sub,
    const struct audit_case *d)
{
	struct tk_response a = { 0 };
	json_t *j;

	if (d->method != NULL) {
		gw_request_as(b, &a, d->token, d->method, d->path, d->body);
		ck_assert_msg(a.status == d->status, "%s %s by %s: %d %s",
		    d->method, d->path, d->token, a.status, a.body.p);
		tk_response_free(&a);
	}
	if (d->action == NULL)
		return;
	j = gw_audit_next(sub, d->action);
	ck_assert_str_eq(text_or_empty(j, "payload.role"), d->role);
	ck_assert_str_eq(text_or_empty(j, "payload.caller_id"), d->caller);
	ck_assert_str_eq(text_or_empty(j, "payload.user_id"), d->user);
	ck_assert_str_eq(text_or_empty(j, "payload.terminal_id"), d->terminal);
	ck_assert_str_eq(text_or_empty(j, "payload.reason"), d->reason);
	ck_assert_str_eq(text_or_empty(j, "payload.address"), "127.0.0.1");
	if (d->count < 0)
		ck_assert_ptr_null(tk_find(j, "payload.count"));
	else
		ck_assert_int_eq(tk_int(j, "payload.count"), d->count);
	json_decref(j);
}

#define DELETED "memories_deleted", "owner", "ann", "ann", "", ""

static const struct audit_case audit_cases[] = {
	{ TOKEN_PROVISIONER, "POST", "/v1/terminals",
	    "{\"terminal_id\":\"lamp\"}", 200, "terminal_minted", "provisioner",
	    "", "", "lamp", "", -1 },
	/* A failed action is not audited. */
	{ TOKEN_PROVISIONER, "POST", "/v1/terminals",
	    "{\"terminal_id\":\"lamp\"}", 409, NULL, NULL, NULL, NULL, NULL,
	    NULL, 0 },
	{ TOKEN_ANN, "POST", "/v1/chat",
	    "{\"terminal_id\":\"lamp\",\"soul_hint\":\"none\"," GW_CHAT_INPUT
	    "}",
	    400, NULL, NULL, NULL, NULL, NULL, NULL, 0 },
	{ TOKEN_ANN, "POST", "/v1/chat",
	    "{\"soul_hint\":\"friendly\",\"terminal_id\":"
	    "\"lamp\"," GW_CHAT_INPUT "}",
	    200, "binding_changed", "owner", "ann", "ann", "lamp", "soul_hint",
	    -1 },
	/* The terminal is already bound. */
	{ TOKEN_ANN, "POST", "/v1/chat",
	    "{\"terminal_id\":\"lamp\"," GW_CHAT_INPUT "}", 200, NULL, NULL,
	    NULL, NULL, NULL, NULL, 0 },
	{ TOKEN_ANN, "DELETE", "/v1/terminals/lamp/soul", NULL, 200,
	    "binding_changed", "owner", "ann", "ann", "lamp", "unbound", -1 },
	{ TOKEN_ANN, "DELETE", "/v1/terminals/lamp/soul", NULL, 404, NULL, NULL,
	    NULL, NULL, NULL, NULL, 0 },
	{ TOKEN_PROVISIONER, "POST", "/v1/terminals/lamp/rotate", NULL, 200,
	    "terminal_rotated", "provisioner", "", "", "lamp", "", -1 },
	{ TOKEN_PROVISIONER, "DELETE", "/v1/terminals/lamp", NULL, 200,
	    "terminal_revoked", "provisioner", "", "", "lamp", "", -1 },
	{ TOKEN_ANN, "PATCH", "/v1/users/ann/profile", "{}", 200,
	    "profile_changed", "owner", "ann", "ann", "", "", -1 },
	{ TOKEN_ANN, "GET", "/v1/memories/export", NULL, 200,
	    "memories_exported", "owner", "ann", "ann", "", "complete", 3 },
	{ TOKEN_OPERATOR, "GET", "/v1/memories/export?user_id=ann", NULL, 200,
	    "memories_exported", "operator", "", "ann", "", "complete", 3 },
	{ TOKEN_ANN, "GET", "/v1/memories", NULL, 200, NULL, NULL, NULL, NULL,
	    NULL, NULL, 0 },
	{ TOKEN_ANN, "DELETE", "/v1/memories/none", NULL, 404, NULL, NULL, NULL,
	    NULL, NULL, NULL, 0 },
	{ TOKEN_ANN, "DELETE", "/v1/memories/m1", NULL, 200, DELETED, 1 },
	{ TOKEN_ANN, "DELETE", "/v1/memories?user_id=ann", NULL, 200, DELETED,
	    2 },
	/* Caused by the previous request. */
	{ NULL, NULL, NULL, NULL, 0, "profile_changed", "owner", "ann", "ann",
	    "", "deleted", -1 },
	{ TOKEN_BOB, "DELETE", "/v1/sessions/s1", NULL, 404, NULL, NULL, NULL,
	    NULL, NULL, NULL, 0 },
};

/* The event of Ann's terminal being bound to this soul; "": unbound. */
static void
check_binding_event(natsSubscription *sub, const char *terminal,
    const char *reason, const char *soul)
{
	json_t *j = gw_audit_next(sub, "binding_changed");

	ck_assert_str_eq(text_or_empty(j, "payload.terminal_id"), terminal);
	ck_assert_str_eq(text_or_empty(j, "payload.user_id"), "ann");
	ck_assert_str_eq(text_or_empty(j, "payload.reason"), reason);
	ck_assert_str_eq(text_or_empty(j, "payload.soul_id"), soul);
	json_decref(j);
}

TEST(completed_actions_publish_audit_events)
{
	char soul[GW_SOUL_ID], path[128];
	struct gateway_memory_fixture r = { 0 };
	natsSubscription *sub;
	struct gateway_fixture *b = &r.b;
	struct gw_peer p;
	json_t *j;
	size_t i;

	gw_start_with_tokens(b);
	gw_memory_worker(&r);
	gw_peer_start(b, &p);
	sub = gw_audit_subscribe(b);
	gw_soul_as(b, TOKEN_ANN, "friendly", soul);
	gw_put_memory(&r, "ann", soul, "m1", "x", 1000);
	gw_put_memory(&r, "ann", soul, "m2", "x", 1000);
	gw_put_memory(&r, "ann", soul, "m3", "x", 1000);
	for (i = 0; i < NELEM(audit_cases); i++)
		check_audit(b, sub, &audit_cases[i]);
	gw_mint_ok_as(b, TOKEN_ACME_PROVISIONER, "lamp2");
	j = gw_audit_next(sub, "terminal_minted");
	ck_assert_str_eq(tk_text(j, "payload.tenant"), "acme");
	json_decref(j);
	/* What the deletion of a soul removes. */
	gw_mint_ok_as(b, TOKEN_PROVISIONER, "desk");
	json_decref(gw_audit_next(sub, "terminal_minted"));
	gw_bind_as(b, TOKEN_ANN, "desk", soul, NULL);
	check_binding_event(sub, "desk", "selected", soul);
	gw_put_memory(&r, "ann", soul, "m4", "x", 1000);
	snprintf(path, sizeof(path), "/v1/souls/%s", soul);
	gw_rejects_as(b, TOKEN_BOB, "DELETE", path, NULL, "404 soul not found");
	gw_ok_as(b, TOKEN_ANN, "DELETE", path, NULL);
	j = gw_audit_next(sub, "memories_deleted");
	ck_assert_str_eq(tk_text(j, "payload.soul_id"), soul);
	ck_assert_int_eq(tk_int(j, "payload.count"), 1);
	json_decref(j);
	j = gw_audit_next(sub, "soul_deleted");
	ck_assert_str_eq(tk_text(j, "payload.soul_id"), soul);
	json_decref(j);
	check_binding_event(sub, "desk", "soul_deleted", "");
	natsSubscription_Destroy(sub);
	gw_peer_stop(&p);
	gw_memory_stop(&r);
}

/* Revoking or reassigning an identity unbinds its terminal. */
TEST(revoked_and_reassigned_identities_publish_unbindings)
{
	char soul[GW_SOUL_ID];
	natsSubscription *sub;
	struct gateway_fixture b;

	gw_start_with_tokens(&b);
	sub = gw_audit_subscribe(&b);
	gw_soul_as(&b, TOKEN_ANN, "friendly", soul);
	gw_mint_ok_as(&b, TOKEN_PROVISIONER, "lamp");
	json_decref(gw_audit_next(sub, "terminal_minted"));
	gw_bind_as(&b, TOKEN_ANN, "lamp", soul, NULL);
	check_binding_event(sub, "lamp", "selected", soul);
	gw_ok_as(&b, TOKEN_PROVISIONER, "DELETE", "/v1/terminals/lamp", NULL);
	json_decref(gw_audit_next(sub, "terminal_revoked"));
	check_binding_event(sub, "lamp", "revoked", "");
	/* A binding from before authentication. */
	ck_assert_int_eq(terminal_fixture_bind(
			     b.db.s, STR("desk"), STR("ann"), str_of(soul)),
	    RC_OK);
	gw_ok_as(&b, TOKEN_PROVISIONER, "POST", "/v1/terminals",
	    "{\"terminal_id\":\"desk\",\"user_id\":\"bob\"}");
	json_decref(gw_audit_next(sub, "terminal_minted"));
	check_binding_event(sub, "desk", "minted", "");
	natsSubscription_Destroy(sub);
	gateway_fixture_stop(&b);
}

/* A soul with many terminals: not all are audited one by one. */
TEST(unbindings_over_the_limit_are_counted)
{
	char soul[GW_SOUL_ID], path[128], id[16];
	natsSubscription *sub;
	struct gateway_fixture b;
	json_t *j;
	int i;

	gw_start_with_tokens(&b);
	gw_soul_as(&b, TOKEN_ANN, "friendly", soul);
	for (i = 0; i < 100; i++) {
		snprintf(id, sizeof(id), "t%d", i);
		ck_assert_int_eq(terminal_fixture_bind(b.db.s, str_of(id),
				     STR("ann"), str_of(soul)),
		    RC_OK);
	}
	sub = gw_audit_subscribe(&b);
	snprintf(path, sizeof(path), "/v1/souls/%s", soul);
	gw_ok_as(&b, TOKEN_ANN, "DELETE", path, NULL);
	json_decref(gw_audit_next(sub, "soul_deleted"));
	for (i = 0; i < 64; i++) {
		j = gw_audit_next(sub, "binding_changed");
		ck_assert_str_ne(text_or_empty(j, "payload.terminal_id"), "");
		json_decref(j);
	}
	j = gw_audit_next(sub, "binding_changed");
	ck_assert_ptr_null(tk_find(j, "payload.terminal_id"));
	ck_assert_int_eq(tk_int(j, "payload.count"), 36);
	json_decref(j);
	natsSubscription_Destroy(sub);
	gateway_fixture_stop(&b);
}

/* The newest event of a subject can be read later. */
static bool
second_event_is_newest(void *arg)
{
	struct gateway_fixture *b = arg;
	char code[TK_CODE];
	json_t *j = tk_nats_request(b->nc, "$JS.API.STREAM.MSG.GET.SOUL_EVENTS",
	    "{\"last_by_subj\":\"soul.event.audit.~5qGM\"}", code);
	bool is =
	    tk_find(j, "message.seq") != NULL && tk_int(j, "message.seq") == 2;

	json_decref(j);
	return is;
}

/* The subject is the affected object; the trace is that of the request. */
TEST(an_audit_event_is_stored_with_its_trace)
{
	natsSubscription *sub;
	struct gateway_fixture b;
	json_t *j;

	gw_start_with_tokens(&b);
	sub = gw_audit_subscribe(&b);
	gw_mint_ok_as(&b,
	    TOKEN_PROVISIONER
	    "\r\ntraceparent: "
	    "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
	    "桌");
	j = gw_audit_next(sub, "terminal_minted");
	ck_assert_str_eq(
	    tk_text(j, "trace_id"), "0af76519-16cd-43dd-8448-eb211c80319c");
	json_decref(j);
	gw_ok_as(
	    &b, TOKEN_PROVISIONER, "DELETE", "/v1/terminals/%E6%A1%8C", NULL);
	json_decref(gw_audit_next(sub, "terminal_revoked"));
	ck_assert(tk_until(second_event_is_newest, &b, GW_MS));
	ck_assert(tk_log_has(&b.gateway.proc, "ev=audit"));
	ck_assert(tk_log_has(&b.gateway.proc, "action=terminal_revoked"));
	natsSubscription_Destroy(sub);
	gateway_fixture_stop(&b);
}

/* Check the status of a request from another address. */
static void
request_from(struct gateway_fixture *b, uint32_t from, const char *token,
    const char *path, int status)
{
	struct tk_response a = { 0 };
	struct tk_http c;
	char text[512];

	snprintf(text, sizeof(text),
	    "GET %s HTTP/1.1\r\nHost: localhost\r\n%s%s\r\n\r\n", path,
	    token != NULL ? "Authorization: Bearer " : "X: ",
	    token != NULL ? token : "x");
	tk_http_open_from(&c, from, b->gateway.http);
	ck_assert(tk_http_puts(&c, text));
	ck_assert(tk_http_read(&c, &a, GW_MS));
	ck_assert_int_eq(a.status, status);
	tk_response_free(&a);
	tk_http_close(&c);
}

TEST(rejected_callers_publish_audit_events)
{
	natsSubscription *sub;
	struct gateway_fixture b;
	json_t *j;
	int i;

	gw_start_with_tokens(&b);
	sub = gw_audit_subscribe(&b);
	request_from(&b, 0x7f000002, NULL, "/v1/souls", 401);
	j = gw_audit_next(sub, "login_refused");
	ck_assert_str_eq(tk_text(j, "payload.address"), "127.0.0.2");
	ck_assert_str_eq(tk_text(j, "payload.route"), "souls_list");
	ck_assert_uint_gt(strlen(tk_text(j, "payload.reason")), 0);
	ck_assert_int_eq(tk_int(j, "payload.count"), 1);
	ck_assert_ptr_null(tk_find(j, "payload.role"));
	json_decref(j);
	request_from(
	    &b, 0x7f000003, TOKEN_ACME_ANN, "/v1/souls?user_id=eve", 403);
	j = gw_audit_next(sub, "access_denied");
	ck_assert_str_eq(tk_text(j, "payload.address"), "127.0.0.3");
	ck_assert_str_eq(tk_text(j, "payload.role"), "owner");
	ck_assert_str_eq(tk_text(j, "payload.tenant"), "acme");
	ck_assert_str_eq(tk_text(j, "payload.caller_id"), "acme/ann");
	json_decref(j);
	request_from(&b, 0x7f000004, TOKEN_LAMP, "/v1/terminals/lamp", 403);
	j = gw_audit_next(sub, "access_denied");
	ck_assert_str_eq(tk_text(j, "payload.role"), "terminal");
	ck_assert_str_eq(tk_text(j, "payload.caller_id"), "lamp");
	json_decref(j);
	/* A flood is aggregated. */
	for (i = 0; i < 50; i++)
		request_from(&b, 0x7f000005, "t-guess", "/v1/souls", 401);
	json_decref(gw_audit_next(sub, "login_refused"));
	ck_assert(!tk_log_has(&b.gateway.proc, "t-guess"));
	natsSubscription_Destroy(sub);
	gateway_fixture_stop(&b);
}
