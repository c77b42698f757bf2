/*
 * Authorization: requests that a role does not permit, and access to the souls,
 * sessions, streams, turns, memories, profiles and terminals of other users.
 * Nothing is disclosed and nothing changes.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "testkit/stack/conversation.h"
#include "testkit/stack/load.h"
#include "testkit/stack/lock.h"
#include "testkit/stack/peer.h"
#include "testkit/stack/probe.h"
#include "wire/iface.h"

/* There are more routes than a token may use in a moment. */
STACK_SHARED({ .locked = true,
    .env = { [STACK_CHAT_GATEWAY] = { "RATE_TOKEN_BURST=100000" } } })

#define GATEWAY (stack.service[STACK_CHAT_GATEWAY].http)

/* ---- roles ---- */

static const struct {
	enum wire_role role;
	enum lock_who who;
} roles[] = {
	{ WIRE_ROLE_OWNER, LOCK_MALLORY },
	{ WIRE_ROLE_OWNER, LOCK_ACME_ADA },
	{ WIRE_ROLE_TERMINAL, LOCK_LAMP },
	{ WIRE_ROLE_PROVISIONER, LOCK_PROVISIONER },
	{ WIRE_ROLE_PROVISIONER, LOCK_ACME_PROVISIONER },
	{ WIRE_ROLE_OPERATOR, LOCK_OPERATOR },
	{ WIRE_ROLE_OPERATOR, LOCK_ACME_OPERATOR },
};

static int
port_of(const char *service)
{
	enum stack_service i;

	for (i = 0; i < STACK_SERVICES; i++)
		if (strcmp(stack_name(i), service) == 0)
			return stack.service[i].http;
	ck_abort_msg("no service %s", service);
	return 0;
}

/* The path with a value for each placeholder. */
static const char *
filled(const char *path)
{
	static char text[256];
	size_t n = 0;

	for (; *path != '\0'; path++) {
		text[n++] = *path == '{' ? 'x' : *path;
		if (*path == '{')
			path = strchr(path, '}');
		ck_assert_uint_lt(n, sizeof(text) - 1);
	}
	text[n] = '\0';
	return text;
}

/* A request that fails for another reason than the role, were it permitted. */
static int
request_route(
    const struct wire_route *r, const char *service, const char *token)
{
	return probe(&(struct probe){ .port = port_of(service),
			 .from = 31,
			 .method = r->method,
			 .path = filled(r->path),
			 .token = token,
			 .body = r->request != NULL ? "{}" : NULL },
	    NULL);
}

static void
check_roles(const struct wire_route *r, const char *service)
{
	int status = request_route(r, service, NULL);
	size_t k;

	ck_assert_msg(status == 401, "%s of %s: %d", r->name, service, status);
	for (k = 0; k < NELEM(roles); k++) {
		if ((r->roles & 1U << roles[k].role) != 0)
			continue;
		status = request_route(r, service, lock_token(roles[k].who));
		ck_assert_msg(status == 403, "%s of %s as %s: %d", r->name,
		    service, lock_token(roles[k].who), status);
	}
}

TEST_T(each_role_may_call_its_routes_only, 60)
{
	struct client o = load_prepare(&stack);
	struct load *n = load_begin(&o);
	const struct wire_route *r;
	size_t i;

	for (i = 0; i < wire_routes_n; i++) {
		r = &wire_routes[i];
		ck_assert_uint_ne(r->roles, 0);
		check_roles(r, r->owner);
		if (r->also != NULL)
			check_roles(r, r->also);
	}
	load_end(n, NULL);
}

/* ---- resources of another user ---- */

#define SECRET "only-ada-knows-this"

/* The resources of ada. */
struct resources {
	char soul[64], memory[128];
	struct terminal body;
	struct client owner;
};

static void
prepare_ada(struct resources *t, const char *name)
{
	client_set_identity(lock_token(LOCK_ADA), NULL);
	snprintf(t->soul, sizeof(t->soul), "%s",
	    client_create_soul(&stack, "ada", name, "INTJ"));
	t->owner = (struct client){ &stack, "ada", "s1", LOCK_VICTIM };
	t->body = (struct terminal){ .user = "ada" };
	terminal_connect(&t->body, &stack, LOCK_VICTIM, TERMINAL_0222);
	client_select_soul(&stack, "ada", LOCK_VICTIM, t->soul);
	json_decref(client_chat(&t->owner, "我记得 " SECRET));
	json_decref(client_ok(&stack, "PATCH", "/v1/users/ada/profile",
	    json_pack("{s{ss}}", "user_profile", "tea", SECRET)));
}

/*
 * Everything that ada can see of these resources, without members that change
 * by themselves.
 */
static json_t *
check_all_routes(void)
{
	static const char *const paths[] = { "/v1/souls", "/v1/terminals",
		"/v1/sessions/s1/messages", "/v1/users/ada/profile",
		"/v1/memories" };
	static const char *const changing[] = { "emotion_state", "updated_at",
		"last_seen" };
	json_t *all = json_array(), *j, *item;
	size_t i, k, m;

	client_set_identity(lock_token(LOCK_ADA), NULL);
	for (i = 0; i < NELEM(paths); i++) {
		j = client_ok(&stack, "GET", paths[i], NULL);
		json_array_foreach (json_object_get(j, "items"), k, item)
			for (m = 0; m < NELEM(changing); m++)
				json_object_del(item, changing[m]);
		json_array_append_new(all, j);
	}
	return all;
}

/* "@" stands for the soul. */
struct wanted {
	const char *method, *path, *body;
};

static const struct wanted foreign[] = {
	{ "GET", "/v1/souls?user_id=ada", NULL },
	{ "POST", "/v1/souls",
	    "{\"user_id\":\"ada\",\"name\":\"x\",\"mbti_type\":\"INTJ\"}" },
	{ "DELETE", "/v1/souls/@", NULL },
	{ "DELETE", "/v1/souls/@?user_id=ada", NULL },
	{ "DELETE", "/v1/souls/@?user_id=mallory", NULL },
	{ "GET", "/v1/souls/@/emotion", NULL },
	{ "GET", "/v1/souls/@/emotion?user_id=ada", NULL },
	{ "GET", "/v1/souls/@/emotion/history", NULL },
	{ "GET", "/v1/souls/@/emotion/history?user_id=ada", NULL },
	{ "GET", "/v1/sessions/s1/messages", NULL },
	{ "GET", "/v1/sessions/s1/messages?user_id=ada", NULL },
	{ "GET", "/v1/sessions/s1/events?user_id=ada", NULL },
	{ "DELETE", "/v1/sessions/s1", NULL },
	{ "DELETE", "/v1/sessions/s1?user_id=ada", NULL },
	{ "GET", "/v1/memories?user_id=ada", NULL },
	{ "GET", "/v1/memories?user_id=ada&soul_id=@&query=tea", NULL },
	{ "GET", "/v1/memories/export?user_id=ada", NULL },
	{ "DELETE", "/v1/memories?user_id=ada", NULL },
	{ "DELETE", "/v1/memories?user_id=ada&soul_id=@", NULL },
	{ "DELETE", "/v1/memories/m1?user_id=ada&soul_id=@", NULL },
	{ "GET", "/v1/users/ada/profile", NULL },
	{ "GET", "/v1/users/ADA/profile", NULL },
	{ "GET", "/v1/users/%61da/profile", NULL },
	{ "GET", "/v1/users/mallory%2f..%2fada/profile", NULL },
	{ "GET", "/v1/users/ada%00/profile", NULL },
	{ "PATCH", "/v1/users/ada/profile",
	    "{\"user_profile\":{\"name\":\"mallory\"}}" },
	{ "GET", "/v1/terminals?user_id=ada", NULL },
	{ "GET", "/v1/terminals/" LOCK_VICTIM, NULL },
	{ "GET", "/v1/terminals/" LOCK_VICTIM "?user_id=ada", NULL },
	{ "GET", "/v1/terminals/victim%2d1", NULL },
	{ "DELETE", "/v1/terminals/" LOCK_VICTIM "/soul", NULL },
	{ "DELETE", "/v1/terminals/" LOCK_VICTIM "/soul?user_id=ada", NULL },
	{ "POST", "/v1/souls/select",
	    "{\"terminal_id\":\"" LOCK_VICTIM "\",\"soul_id\":\"@\"}" },
	{ "POST", "/v1/souls/select",
	    "{\"user_id\":\"ada\",\"terminal_id\":\"" LOCK_VICTIM
	    "\",\"soul_id\":\"@\"}" },
	{ "POST", "/v1/souls/select",
	    "{\"user_id\":\"mallory\",\"terminal_id\":\"" LOCK_EVIL
	    "\",\"soul_id\":\"@\"}" },
	{ "POST", "/v1/chat",
	    "{\"session_id\":\"s1\",\"terminal_id\":\"" LOCK_VICTIM
	    "\",\"inputs\":[{\"type\":\"keyboard_text\",\"text\":\"hi\"}]}" },
	{ "POST", "/v1/chat",
	    "{\"user_id\":\"ada\",\"session_id\":\"s1\","
	    "\"terminal_id\":\"" LOCK_VICTIM
	    "\",\"inputs\":[{\"type\":\"keyboard_text\",\"text\":\"hi\"}]}" },
	{ "POST", "/v1/chat",
	    "{\"user_id\":\"mallory\",\"session_id\":\"s1\","
	    "\"terminal_id\":\"" LOCK_VICTIM
	    "\",\"soul_id\":\"@\",\"inputs\":[{\"type\":"
	    "\"keyboard_text\",\"text\":\"hi\"}]}" },
};

/* The caller's own resources: they are empty, and the request succeeds. */
static const struct wanted own[] = {
	{ "GET", "/v1/memories?soul_id=@", NULL },
	{ "GET", "/v1/memories?soul_id=@&query=tea", NULL },
	{ "GET", "/v1/memories/export?soul_id=@", NULL },
	{ "DELETE", "/v1/memories?soul_id=@", NULL },
	{ "DELETE", "/v1/memories/m1?soul_id=@", NULL },
};

static void
fill(char dst[512], const char *text, const char *soul)
{
	struct buf b = BUF_INIT(511);

	for (; text != NULL && *text != '\0'; text++) {
		if (*text == '@')
			buf_puts(&b, soul);
		else
			buf_putc(&b, *text);
	}
	snprintf(dst, 512, "%.*s", (int)b.n, b.n > 0 ? b.p : "");
	buf_free(&b);
}

static int
probe_one(const struct resources *t, const char *token, const struct wanted *w)
{
	struct tk_response a = { 0 };
	char path[512], body[512];
	int status;

	fill(path, w->path, t->soul);
	fill(body, w->body, t->soul);
	status = probe(&(struct probe){ .port = GATEWAY,
			   .from = 32,
			   .method = w->method,
			   .path = path,
			   .token = token,
			   .body = w->body != NULL ? body : NULL },
	    &a);
	ck_assert_msg(!tk_response_has(&a, SECRET), "%s: %s %s discloses",
	    token, w->method, path);
	tk_response_free(&a);
	return status;
}

/*
 * Try all of it with that token. ada: the user id by which the token's tenant
 * would name ada; that user has no resources.
 */
static void
probe_all(const struct resources *t, const char *token, bool ada)
{
	size_t i;
	int status;

	for (i = 0; i < NELEM(foreign); i++) {
		status = probe_one(t, token, &foreign[i]);
		ck_assert_msg(status == 403 || status == 404 || status == 400 ||
			(ada && status == 200),
		    "%s: %s %s: %d", token, foreign[i].method, foreign[i].path,
		    status);
	}
	for (i = 0; i < NELEM(own); i++)
		ck_assert_int_ne(probe_one(t, token, &own[i]), 0);
}

TEST_T(resources_of_other_users_are_not_accessible, 60)
{
	static const enum lock_who others[] = { LOCK_MALLORY,
		LOCK_ACME_PROVISIONER, LOCK_LAMP };
	struct client o = load_prepare(&stack);
	struct load *n;
	struct resources t;
	json_t *before, *after;
	size_t i;

	prepare_ada(&t, SECRET);
	before = check_all_routes();
	n = load_begin(&o);
	for (i = 0; i < NELEM(others); i++)
		probe_all(&t, lock_token(others[i]), false);
	probe_all(&t, lock_body_token(LOCK_EVIL), false);
	probe_all(&t, lock_token(LOCK_ACME_ADA), true);
	probe_all(&t, lock_token(LOCK_GLOBEX_OPERATOR), true);
	after = check_all_routes();
	for (i = 0; i < json_array_size(before); i++)
		ck_assert_msg(json_equal(json_array_get(before, i),
				  json_array_get(after, i)),
		    "%.1500s\n%.1500s",
		    json_dumps(json_array_get(before, i), 0),
		    json_dumps(json_array_get(after, i), 0));
	json_decref(client_chat(&t.owner, "把灯变成绿色"));
	load_end(n, NULL);
	json_decref(before);
	json_decref(after);
	terminal_free(&t.body);
}

/* ---- identities of another tenant ---- */

static int
as_acme(const char *method, const char *path, const char *body)
{
	return probe(&(struct probe){ .port = GATEWAY,
			 .from = 33,
			 .method = method,
			 .path = path,
			 .token = lock_token(LOCK_ACME_PROVISIONER),
			 .body = body },
	    NULL);
}

TEST_T(provisioners_add_terminals_of_their_tenant, 60)
{
	struct tk_response a = { 0 };

	ck_assert_int_eq(
	    as_acme("POST", "/v1/terminals/" LOCK_VICTIM "/rotate", "{}"), 404);
	ck_assert_int_eq(
	    as_acme("DELETE", "/v1/terminals/" LOCK_VICTIM, NULL), 404);
	ck_assert_int_eq(as_acme("POST", "/v1/terminals",
			     "{\"terminal_id\":\"" LOCK_VICTIM "\"}"),
	    409);
	/* A user of another tenant, by qualified id. */
	ck_assert_int_eq(as_acme("POST", "/v1/terminals",
			     "{\"terminal_id\":\"new-1\",\"user_id\":"
			     "\"globex/ada\"}"),
	    403);
	ck_assert_int_eq(probe(&(struct probe){ .port = GATEWAY,
				   .path = "/v1/identities",
				   .token = lock_token(LOCK_ACME_PROVISIONER) },
			     &a),
	    200);
	ck_assert(tk_response_has(&a, LOCK_ACME));
	ck_assert(!tk_response_has(&a, LOCK_VICTIM));
	ck_assert(!tk_response_has(&a, "$7$"));
	tk_response_free(&a);
	ck_assert(
	    lock_lets_in(&stack, LOCK_VICTIM, lock_password(LOCK_VICTIM)));
}

/* Names that are special to the broker or its password file. */
TEST_T(no_terminal_has_the_name_of_a_service, 60)
{
	static const char *const names[] = { "mqtt-bridge", "health", "$SYS",
		"$share", "a:b", " a", "a ", "a/b", "+", "#", "a\\nb:c",
		"a\\u0000", "" };
	char body[128];
	size_t i;
	int status;

	for (i = 0; i < NELEM(names); i++) {
		snprintf(
		    body, sizeof(body), "{\"terminal_id\":\"%s\"}", names[i]);
		status = as_acme("POST", "/v1/terminals", body);
		ck_assert_msg(status == 400, "%s: %d", body, status);
	}
}

/* ---- a turn and a stream of another user ---- */

static void
model_will_wait(int ms)
{
	int status;

	json_decref(client_call(stack.service[STACK_LLM_SIM].http, "POST",
	    "/sim/script",
	    json_pack("{s[{sssssi}]}", "faults", "kind", "slow", "when",
		"slowly", "delay_ms", ms),
	    &status));
	ck_assert_int_eq(status, 200);
}

/* An open event stream of session s1. */
static void
follow(struct tk_http *c, const char *token)
{
	char q[512];

	snprintf(q, sizeof(q),
	    "GET /v1/sessions/s1/events HTTP/1.0\r\n"
	    "Authorization: Bearer %s\r\n\r\n",
	    token);
	tk_http_open_from(c, probe_address(34), GATEWAY);
	ck_assert(tk_http_puts(c, q));
}

/* The id of the turn whose start the stream reports. */
static const char *
turn_of(struct tk_http *c)
{
	static char id[64];
	const char *at;

	ck_assert_msg(tk_http_has(c, "\"run_id\":\"", STACK_MS), "%.*s",
	    (int)c->in.n, c->in.p);
	at = (const char *)memmem(c->in.p, c->in.n, "\"run_id\":\"", 10) + 10;
	ck_assert(tk_http_has(c, "\",", STACK_MS));
	snprintf(id, sizeof(id), "%.*s", (int)strcspn(at, "\""), at);
	return id;
}

static void
access_turn(const char *id)
{
	static const char *const users[] = { "", "?user_id=ada",
		"?user_id=mallory" };
	char path[256], body[128];
	size_t i;
	int status;

	for (i = 0; i < NELEM(users); i++) {
		snprintf(path, sizeof(path), "/v1/turns/%s%s", id, users[i]);
		status = probe(&(struct probe){ .port = GATEWAY,
				   .path = path,
				   .token = lock_token(LOCK_MALLORY) },
		    NULL);
		ck_assert_msg(
		    status == (i == 1 ? 403 : 404), "%s: %d", path, status);
		snprintf(path, sizeof(path), "/v1/turns/%s/cancel", id);
		snprintf(body, sizeof(body),
		    i == 0       ? "{}"
			: i == 1 ? "{\"user_id\":\"ada\"}"
				 : "{\"user_id\":\"mallory\"}");
		status = probe(&(struct probe){ .port = GATEWAY,
				   .path = path,
				   .token = lock_token(LOCK_MALLORY),
				   .body = body },
		    NULL);
		ck_assert_msg(status == (i == 1 ? 403 : 404), "%s %s: %d", path,
		    body, status);
	}
}

TEST_T(a_turn_is_visible_to_its_user_only, 60)
{
	struct tk_http own_stream = { 0 }, other = { 0 };
	struct resources t;
	struct conversation *conversation;
	json_t *j;
	int status;

	prepare_ada(&t, "second");
	follow(&own_stream, lock_token(LOCK_ADA));
	follow(&other, lock_token(LOCK_MALLORY));
	model_will_wait(700);
	conversation = conversation_begin(&t.owner, "tell it slowly, " SECRET);
	access_turn(turn_of(&own_stream));
	j = conversation_end(conversation, &status);
	ck_assert_int_eq(status, 200);
	ck_assert(tk_text_has(j, "reply", SECRET));
	ck_assert(tk_http_has(&own_stream, "conversation.completed", STACK_MS));
	/* The other user's session of the same name received nothing. */
	(void)tk_http_fill(&other, 0);
	ck_assert_ptr_null(memmem(other.in.p != NULL ? other.in.p : "",
	    other.in.n, SECRET, strlen(SECRET)));
	json_decref(j);
	tk_http_close(&own_stream);
	tk_http_close(&other);
	terminal_free(&t.body);
}
