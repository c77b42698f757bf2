/*
 * Servers, services and requests of chat-gateway's tests.
 */
#include "testkit/gateway_fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/clock.h"
#include "core/mem.h"
#include "state/memory.h"
#include "testkit/terminal_fixture.h"
#include "testkit/tokens.h"

static void
gateway_fixture_start_nats(struct tk_server *s)
{
	tk_server_start(s, TK_NATS);
}

static void
gateway_fixture_start_redis(struct tk_server *s)
{
	tk_server_start(s, TK_REDIS);
}

void
gateway_fixture_servers(struct gateway_fixture *b)
{
	gateway_fixture_join(
	    b, gateway_fixture_start_nats, gateway_fixture_start_redis);
}

void
gateway_fixture_join(struct gateway_fixture *b,
    void (*nats)(struct tk_server *s), void (*redis)(struct tk_server *s))
{
	*b = (struct gateway_fixture){ 0 };
	nats(&b->nats);
	redis(&b->redis);
	b->nc = tk_nats_connect(b->nats.url);
	tk_state_open(&b->db, b->redis.url);
	b->writer = (struct terminal_writer){
		.broker = STR("main"), .epoch = 1, .ttl_ms = 60000
	};
}

void
gateway_fixture_spawn(struct gateway_fixture *b, struct tk_service *s,
    const char *name, const char *const more[])
{
	struct tk_env e = { 0 };

	tk_env_put(&e, "NATS_URL=%s", b->nats.url);
	tk_env_put(&e, "REDIS_URL=%s", b->redis.url);
	tk_env_put(&e, "REDIS_TIMEOUT_MS=5000");
	tk_env_list(&e, more);
	tk_service_start(s, name, name, &e);
}

void
gateway_fixture_start_alone(struct gateway_fixture *b, const char *const more[])
{
	gateway_fixture_servers(b);
	gateway_fixture_spawn(b, &b->gateway, "chat-gateway", more);
}

void
gateway_fixture_start(struct gateway_fixture *b, const char *const more[])
{
	gateway_fixture_start_alone(b, more);
	gateway_fixture_spawn(b, &b->engine, "emotion-engine", NULL);
}

void
gateway_fixture_stop(struct gateway_fixture *b)
{
	tk_service_end(&b->gateway);
	tk_service_end(&b->engine);
	natsConnection_Destroy(b->nc);
	tk_state_close(&b->db);
	nats_Close();
}

bool
gw_has_metric(struct gateway_fixture *b, const char *text)
{
	struct tk_response a = { 0 };
	bool is = tk_service_get(&b->gateway, &a, "/metrics") == 200 &&
	    tk_response_has(&a, text);

	tk_response_free(&a);
	return is;
}

void
gw_send(struct gateway_fixture *b, struct tk_http *c, const char *method,
    const char *path, const char *body)
{
	tk_http_begin(c, b->gateway.http, method, path, body);
}

int
gw_request(struct gateway_fixture *b, struct tk_response *a, const char *method,
    const char *path, const char *body)
{
	return tk_http_request(b->gateway.http, a, method, path, body);
}

json_t *
gw_response_json(const struct tk_response *a, int status)
{
	char type[64];

	ck_assert_msg(a->status == status, "%d instead of %d: %s", a->status,
	    status, a->body.p);
	ck_assert_str_eq(
	    tk_response_field(a, "Content-Type", type, sizeof(type)),
	    "application/json");
	return tk_json(a->body.p, a->body.n);
}

json_t *
gw_json(struct gateway_fixture *b, const char *method, const char *path,
    const char *body)
{
	struct tk_response a = { 0 };
	json_t *j;

	gw_request(b, &a, method, path, body);
	j = gw_response_json(&a, 200);
	tk_response_free(&a);
	return j;
}

void
gw_check_error(const struct tk_response *a, int status, const char *text)
{
	json_t *j = gw_response_json(a, status);

	ck_assert_str_eq(tk_text(j, "error"), text);
	ck_assert_uint_gt(strlen(tk_text(j, "code")), 0);
	ck_assert_uint_eq(strlen(tk_text(j, "trace_id")), 32);
	json_decref(j);
}

void
gw_rejects(struct gateway_fixture *b, const char *method, const char *path,
    const char *body, int status, const char *text)
{
	struct tk_response a = { 0 };

	gw_request(b, &a, method, path, body);
	gw_check_error(&a, status, text);
	tk_response_free(&a);
}

void
gw_ok(struct gateway_fixture *b, const char *method, const char *path,
    const char *body)
{
	json_decref(gw_json(b, method, path, body));
}

void
gw_soul(struct gateway_fixture *b, const char *user, const char *name,
    char id[GW_SOUL_ID])
{
	json_t *req = json_pack("{ssss}", "name", name, "mbti_type", "INFP");
	char *body;
	json_t *j;

	if (user != NULL)
		json_object_set_new(req, "user_id", json_string(user));
	body = json_dumps(req, 0);
	j = gw_json(b, "POST", "/v1/souls", body);
	snprintf(id, GW_SOUL_ID, "%s", tk_text(j, "soul_id"));
	json_decref(j);
	json_decref(req);
	free(body);
}

int
gw_bind(struct gateway_fixture *b, struct tk_response *a, const char *user,
    const char *terminal, const char *soul)
{
	char body[512];

	snprintf(body, sizeof(body),
	    "{\"user_id\":\"%s\",\"terminal_id\":\"%s\",\"soul_id\":\"%s\"}",
	    user, terminal, soul);
	return gw_request(b, a, "POST", "/v1/souls/select", body);
}

void
gw_bind_ok(struct gateway_fixture *b, const char *user, const char *terminal,
    const char *soul)
{
	struct tk_response a = { 0 };

	ck_assert_int_eq(gw_bind(b, &a, user, terminal, soul), 200);
	tk_response_free(&a);
}

void
gw_online(struct gateway_fixture *b, const char *terminal, bool is)
{
	ck_assert_int_eq(terminal_fixture_put_online(
			     b->db.s, &b->writer, str_of(terminal), is, NULL),
	    RC_OK);
}

void
gw_report_skills(struct gateway_fixture *b, const char *terminal,
    const char *skills, const char *hint)
{
	struct terminal_snapshot snap = {
		.version = 1, .json = str_of(skills), .soul_hint = str_of(hint)
	};
	int64_t current;

	ck_assert_int_eq(terminal_fixture_put_skills(b->db.s, &b->writer,
			     str_of(terminal), &snap, &current),
	    RC_OK);
}

/* ---- authentication ---- */

static const struct tk_token known_tokens[] = {
	{ TOKEN_DEMO, "\"role\":\"owner\",\"user\":\"demo-user\"" },
	{ TOKEN_TENANT_DEMO,
	    "\"role\":\"owner\",\"user\":\"demo-user\",\"tenant\":\"acme\"" },
	{ TOKEN_ANN, "\"role\":\"owner\",\"user\":\"ann\"" },
	{ TOKEN_BOB, "\"role\":\"owner\",\"user\":\"bob\"" },
	{ TOKEN_ACME_ANN,
	    "\"role\":\"owner\",\"user\":\"ann\",\"tenant\":\"acme\"" },
	{ TOKEN_ACME_EVE,
	    "\"role\":\"owner\",\"user\":\"eve\",\"tenant\":\"acme\"" },
	{ TOKEN_LAMP, "\"role\":\"terminal\",\"terminal_id\":\"lamp\"" },
	{ TOKEN_ACME_LAMP,
	    "\"role\":\"terminal\",\"terminal_id\":\"lamp\","
	    "\"tenant\":\"acme\"" },
	{ TOKEN_PROVISIONER, "\"role\":\"provisioner\"" },
	{ TOKEN_ACME_PROVISIONER,
	    "\"role\":\"provisioner\",\"tenant\":\"acme\"" },
	{ TOKEN_NOTIFIER, "\"role\":\"notifier\",\"users\":[\"ann\"]" },
	{ TOKEN_OPERATOR, "\"role\":\"operator\"" },
	{ TOKEN_ACME_OPERATOR, "\"role\":\"operator\",\"tenant\":\"acme\"" },
};

void
gw_start_with_tokens(struct gateway_fixture *b)
{
	const char *path = tk_path("tokens.json");
	char file[300];

	tk_tokens_write(path, known_tokens, NELEM(known_tokens));
	snprintf(file, sizeof(file), "AUTH_TOKENS=%s", path);
	gateway_fixture_start(b,
	    TK_ENV(file, "RATE_TOKEN_PER_S=100000", "RATE_TOKEN_BURST=100000",
		"RATE_ADDRESS_PER_S=100000", "RATE_ADDRESS_BURST=100000"));
}

int
gw_request_as(struct gateway_fixture *b, struct tk_response *a,
    const char *token, const char *method, const char *path, const char *body)
{
	const char *text = body != NULL ? body : "";

	return tk_http_call(b->gateway.http, a,
	    "%s %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n%s%s%s"
	    "Content-Length: %zu\r\n\r\n%s",
	    method, path, token != NULL ? "Authorization: Bearer " : "",
	    token != NULL ? token : "", token != NULL ? "\r\n" : "",
	    strlen(text), text);
}

json_t *
gw_json_as(struct gateway_fixture *b, const char *token, const char *method,
    const char *path, const char *body)
{
	struct tk_response a = { 0 };
	json_t *j;

	gw_request_as(b, &a, token, method, path, body);
	ck_assert_msg(a.status == 200, "%s %s %s by %s: %d %s", method, path,
	    body != NULL ? body : "", token, a.status, a.body.p);
	j = gw_response_json(&a, 200);
	tk_response_free(&a);
	return j;
}

void
gw_ok_as(struct gateway_fixture *b, const char *token, const char *method,
    const char *path, const char *body)
{
	json_decref(gw_json_as(b, token, method, path, body));
}

void
gw_rejects_as(struct gateway_fixture *b, const char *token, const char *method,
    const char *path, const char *body, const char *want)
{
	struct tk_response a = { 0 };
	char *text;
	int status = (int)strtol(want, &text, 10);
	json_t *j;

	text++;
	gw_request_as(b, &a, token, method, path, body);
	ck_assert_msg(a.status == status, "%s %s %s by %s: %d %s", method, path,
	    body != NULL ? body : "", token != NULL ? token : "no user",
	    a.status, a.body.p);
	j = gw_response_json(&a, status);
	/* Errors in the forms of other protocols are an object. */
	ck_assert_msg(
	    strstr(tk_text(j,
		       json_is_object(tk_at(j, "error")) ? "error.message"
							 : "error"),
		text) != NULL,
	    "%s %s by %s: %s", method, path, token != NULL ? token : "no user",
	    a.body.p);
	json_decref(j);
	tk_response_free(&a);
}

void
gw_soul_as(struct gateway_fixture *b, const char *token, const char *name,
    char id[GW_SOUL_ID])
{
	char body[128];
	json_t *j;

	snprintf(body, sizeof(body), "{\"name\":\"%s\",\"mbti_type\":\"INFP\"}",
	    name);
	j = gw_json_as(b, token, "POST", "/v1/souls", body);
	snprintf(id, GW_SOUL_ID, "%s", tk_text(j, "soul_id"));
	json_decref(j);
}

json_t *
gw_mint_as(struct gateway_fixture *b, const char *token, const char *terminal,
    const char *more)
{
	char body[512];

	snprintf(
	    body, sizeof(body), "{\"terminal_id\":\"%s\"%s}", terminal, more);
	return gw_json_as(b, token, "POST", "/v1/terminals", body);
}

void
gw_mint_ok_as(
    struct gateway_fixture *b, const char *token, const char *terminal)
{
	json_decref(gw_mint_as(b, token, terminal, ""));
}

void
gw_bind_as(struct gateway_fixture *b, const char *token, const char *terminal,
    const char *soul, const char *want)
{
	char body[256];

	snprintf(body, sizeof(body),
	    "{\"terminal_id\":\"%s\",\"soul_id\":\"%s\"}", terminal, soul);
	if (want == NULL)
		gw_ok_as(b, token, "POST", "/v1/souls/select", body);
	else
		gw_rejects_as(b, token, "POST", "/v1/souls/select", body, want);
}

void
gw_chat_rejects_as(struct gateway_fixture *b, const char *token,
    const char *terminal, const char *want)
{
	char body[512];

	snprintf(body, sizeof(body),
	    "{\"terminal_id\":\"%s\"," GW_CHAT_INPUT "}", terminal);
	gw_rejects_as(b, token, "POST", "/v1/chat", body, want);
}

void
gw_chat_ok_as(
    struct gateway_fixture *b, const char *token, const char *terminal)
{
	char body[512];

	snprintf(body, sizeof(body),
	    "{\"terminal_id\":\"%s\"," GW_CHAT_INPUT "}", terminal);
	gw_ok_as(b, token, "POST", "/v1/chat", body);
}

/* ---- audit events ---- */

natsSubscription *
gw_audit_subscribe(struct gateway_fixture *b)
{
	tk_nats_events(b->nc);
	return tk_nats_listen(b->nc, "soul.event.audit.*");
}

json_t *
gw_audit_next(natsSubscription *sub, const char *action)
{
	json_t *j = tk_nats_next(sub, GW_MS, NULL);

	ck_assert_msg(j != NULL, "no audit event %s", action);
	ck_assert_str_eq(tk_text(j, "type"), "audit");
	ck_assert_str_eq(tk_text(j, "source"), "chat-gateway");
	ck_assert_str_eq(tk_text(j, "payload.action"), action);
	return j;
}

/* ---- memories ---- */

void
gw_memory_worker(struct gateway_memory_fixture *r)
{
	gateway_fixture_spawn(&r->b, &r->worker, "memory-worker",
	    TK_ENV("IDLE_SUMMARY_SCAN_INTERVAL_SECONDS=60"));
}

void
gw_memory_start(struct gateway_memory_fixture *r)
{
	*r = (struct gateway_memory_fixture){ 0 };
	gateway_fixture_start(&r->b, NULL);
	gw_memory_worker(r);
}

void
gw_memory_stop(struct gateway_memory_fixture *r)
{
	tk_service_end(&r->worker);
	gateway_fixture_stop(&r->b);
}

void
gw_put_memory(struct gateway_memory_fixture *r, const char *user,
    const char *soul, const char *id, const char *text, int64_t ms)
{
	const struct memory_scope scope = { str_of(user), str_of(soul) };
	struct memory_item item = { .id = str_of(id), .json = { NULL, 0 } };
	char made[WALL_FORMAT_MAX], *json;
	json_t *j;

	wall_format((struct wall){ ms }, 0, made);
	j = json_pack(
	    "{ssssss}", "text", text, "type", "fact", "created_at", made);
	json = json_dumps(j, 0);
	item.json = str_of(json);
	ck_assert_int_eq(
	    memory_put(r->b.db.s, &scope, &item, clock_wall()), RC_OK);
	free(json);
	json_decref(j);
}

size_t
gw_items_n(json_t *j)
{
	return json_array_size(tk_at(j, "items"));
}

const char *
gw_item_text(json_t *j, size_t i)
{
	return tk_text(json_array_get(tk_at(j, "items"), i), "text");
}
