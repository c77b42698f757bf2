/*
 * Clients that authenticate after they have connected, and tokens that end.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "auth/auth.h"
#include "core/clock.h"
#include "core/mem.h"
#include "state/terminal.h"
#include "testkit/rights.h"
#include "testkit/star_fixture.h"
#include "testkit/state.h"
#include "testkit/tokens.h"

#define ALICE "alice-0123456789abcdef0123456789"
#define NEWER "newer-0123456789abcdef0123456789"
#define CAROL "carol-0123456789abcdef0123456789"
#define OPS   "ops---0123456789abcdef0123456789"
#define BODY  "body--0123456789abcdef0123456789"

#define ENV "environment:demo_world"
#define A   "agent:agent_001"
#define HUB "hub:hub"

/* Within this a closed connection is seen, as docs/access-control.md says. */
#define REVOKED_MS 30000

static const struct tk_token tokens[] = {
	{ ALICE, "\"role\":\"owner\",\"tenant\":\"one\",\"user\":\"alice\"" },
	{ NEWER,
	    "\"role\":\"owner\",\"tenant\":\"one\",\"user\":\"alice\","
	    "\"expires_at\":\"2100-01-01T00:00:00Z\"" },
	{ CAROL, "\"role\":\"owner\",\"tenant\":\"two\",\"user\":\"carol\"" },
	{ OPS, "\"role\":\"operator\",\"tenant\":\"one\"" },
	{ BODY, "\"role\":\"provisioner\",\"tenant\":\"one\"" },
};

static void
auth_start_hubs(struct star_fixture *f, int n)
{
	const char *path = tk_path("tokens.json");
	char setting[600];

	tk_tokens_write(path, tokens, NELEM(tokens));
	(void)snprintf(setting, sizeof(setting), "AUTH_TOKENS=%s", path);
	star_start_hubs(f, n, TK_ENV(setting));
}

static void
auth_start(struct star_fixture *f)
{
	auth_start_hubs(f, 1);
}

/* With a token in its handshake. */
static void
auth_open(struct star_fixture *f, struct tk_ws *c, const char *token,
    const char *path)
{
	char header[512];

	(void)snprintf(
	    header, sizeof(header), "Authorization: Bearer %s\r\n", token);
	ck_assert_int_eq(tk_ws_open(c, f->hub.http, path, header), 101);
	star_expect_has(c, "{\"type\":\"heartbeat\",");
}

static void
auth_send(struct tk_ws *c, const char *from, const char *token)
{
	char text[1024];
	const char *id = strchr(from, ':') + 1;

	(void)snprintf(text, sizeof(text),
	    "{\"type\":\"authenticate\",\"sender\":{\"id\":\"%s\",\"type\":"
	    "\"%.*s\"},\"recipient\":{\"id\":\"hub\",\"type\":\"hub\"},"
	    "\"payload\":{\"token\":\"%s\",\"client_info\":{}}}",
	    id, (int)(id - 1 - from), from, token);
	tk_ws_send(c, text);
}

#define SUCCESS                                                              \
	"\"payload\":{\"status\":\"success\",\"permissions\":[\"action:*\"," \
	"\"event:*\"],\"session_info\":{\"session_id\":\""
#define FAILED "\"payload\":{\"status\":\"failed\",\"message\":\""

TEST(a_client_may_send_its_token_in_a_message)
{
	struct star_fixture f = { 0 };
	struct tk_ws env, a;

	auth_start(&f);
	auth_open(&f, &env, ALICE, "/env/demo_world");
	/* It is nobody until then: only heartbeats are answered. */
	star_open(&f, &a, "/env/demo_world/agent/agent_001");
	star_idle(&a, A);
	star_send(&a, A, ENV, "1");
	star_expect_error(&a, "PERMISSION_DENIED", "permission_denied");
	star_send(&a, A, HUB,
	    "{\"type\":\"stream\",\"id\":\"q\",\"stream\":"
	    "\"get_environments\"}");
	star_expect_error(&a, "PERMISSION_DENIED", "permission_denied");
	star_send(&env, ENV, A, "1");
	star_expect_error(&env, "CONNECTION_ERROR", "target_not_found");
	star_send(&env, ENV, HUB,
	    "{\"type\":\"stream\",\"id\":\"q\",\"stream\":\"get_members\"}");
	star_expect_has(&env, "\"count\":0,\"members\":[]");
	star_idle(&env, ENV);
	auth_send(&a, A, ALICE);
	star_expect_has(&a, "{\"type\":\"auth_result\",\"sender\":{\"id\":");
	ck_assert_ptr_nonnull(strstr(a.msg.p, SUCCESS));
	star_expect_has(&env, "\"event\":\"agent_joined\"");
	star_send(&a, A, ENV, "2");
	star_expect_message(&env, A, ENV, "2");
	star_send(&env, ENV, "agent:*", "3");
	star_expect_message(&a, ENV, "agent:*", "3");
	star_leave(&a);
	star_expect_has(&env, "\"event\":\"agent_left\"");
	tk_ws_close(&env);
	star_stop(&f);
}

TEST(who_authenticates_in_a_message_is_known_to_all_hubs)
{
	struct star_fixture f = { 0 };
	struct tk_ws env, a, b, other;

	auth_start_hubs(&f, 2);
	auth_open(&f, &env, ALICE, "/env/demo_world");
	star_open_at(&f, 1, &a, "/env/demo_world/agent/agent_001");
	/* Until then it is nobody at the other hub, too. */
	star_send(&env, ENV, A, "1");
	star_expect_error(&env, "CONNECTION_ERROR", "target_not_found");
	star_idle(&env, ENV);
	auth_send(&a, A, ALICE);
	star_expect_has(&a, SUCCESS);
	star_expect_has(&env, "\"event\":\"agent_joined\"");
	star_send(&env, ENV, A, "2");
	star_expect_message(&a, ENV, A, "2");
	star_send(&a, A, ENV, "3");
	star_expect_message(&env, A, ENV, "3");
	star_send(&env, ENV, "agent:*", "4");
	star_expect_message(&a, ENV, "agent:*", "4");
	/* The id is its user's, at every hub. */
	star_open_at(&f, 0, &other, "/env/demo_world/agent/agent_001");
	auth_send(&other, A, CAROL);
	star_expect_has(&other, "\"status\":\"success\"");
	star_send(&env, ENV, A, "5");
	star_expect_message(&a, ENV, A, "5");
	star_idle(&a, A);
	/* A newer connection of the same user replaces it there. */
	star_open_at(&f, 0, &b, "/env/demo_world/agent/agent_001");
	auth_send(&b, A, ALICE);
	star_expect_has(&b, SUCCESS);
	ck_assert_uint_eq(tk_ws_end(&a), 4409);
	star_expect_has(&env, "\"reason\":\"replaced\"");
	star_expect_has(&env, "\"event\":\"agent_joined\"");
	star_send(&env, ENV, A, "6");
	star_expect_message(&b, ENV, A, "6");
	star_leave(&b);
	star_expect_has(&env, "\"event\":\"agent_left\"");
	star_idle(&other, A);
	tk_ws_close(&other);
	tk_ws_close(&a);
	tk_ws_close(&env);
	star_stop(&f);
}

TEST(the_stream_of_the_sdk_authenticates_as_well)
{
	static const char stream[] =
	    "{\"type\":\"stream\",\"id\":\"s\",\"stream\":\"authentication\","
	    "\"data\":{\"token\":\"" OPS "\"}}";
	struct star_fixture f = { 0 };
	struct tk_ws a, other;

	auth_start(&f);
	star_open(&f, &a, "/human/ops");
	star_send(&a, "human:ops", HUB, stream);
	star_expect_has(
	    &a, "\"permissions\":[\"action:*\",\"event:*\",\"admin:*\"]");
	/* To another recipient it is a message, which may not be sent yet, be
	 * it one of those that mean many. */
	star_open(&f, &other, "/env/demo_world");
	star_send(&other, ENV, "agent:*", stream);
	star_expect_error(&other, "PERMISSION_DENIED", "permission_denied");
	star_send(&other, ENV, "hub:*", "{\"type\":\"stream\"}");
	star_expect_error(&other, "PERMISSION_DENIED", "permission_denied");
	tk_ws_close(&other);
	tk_ws_close(&a);
	star_stop(&f);
}

static void
expect_failed(struct star_fixture *f, const char *path, const char *from,
    const char *token, const char *why)
{
	struct tk_ws c;

	star_open(f, &c, path);
	auth_send(&c, from, token);
	star_expect_has(&c, FAILED);
	ck_assert_msg(strstr(c.msg.p, why) != NULL, "%s", c.msg.p);
	ck_assert_uint_eq(tk_ws_end(&c), 1008);
	ck_assert_str_eq(c.reason, why);
	tk_ws_close(&c);
}

TEST(a_token_that_is_not_accepted_ends_the_connection)
{
	struct star_fixture f = { 0 };
	struct tk_ws a;

	auth_start(&f);
	expect_failed(&f, "/human/alice", "human:alice", "wrong",
	    "the token is not known");
	expect_failed(&f, "/human/alice", "human:alice", BODY,
	    "the role of the access token may not do this");
	auth_open(&f, &a, ALICE, "/human/alice");
	expect_failed(
	    &f, "/human/alice", "human:alice", "", "the token is empty");
	star_idle(&a, "human:alice");
	/* Without a token nothing is tried. */
	tk_ws_send(&a,
	    "{\"type\":\"authenticate\",\"sender\":{\"id\":\"alice\",\"type\":"
	    "\"human\"},\"recipient\":{\"id\":\"hub\",\"type\":\"hub\"},"
	    "\"payload\":{\"token\":7}}");
	star_expect_has(&a, "[\"/payload/token: must be an access token\"]");
	tk_ws_close(&a);
	star_stop(&f);
}

TEST(an_id_of_another_user_is_not_taken_by_a_message)
{
	static const struct tk_token list[] = {
		{ ALICE, "\"role\":\"owner\",\"user\":\"alice\"" },
		{ CAROL, "\"role\":\"owner\",\"user\":\"carol\"" },
	};
	const char *path = tk_path("tokens.json");
	struct star_fixture f = { 0 };
	char setting[600];
	struct tk_ws a;

	tk_tokens_write(path, list, NELEM(list));
	(void)snprintf(setting, sizeof(setting), "AUTH_TOKENS=%s", path);
	star_start(&f, TK_ENV(setting));
	auth_open(&f, &a, ALICE, "/human/alice");
	expect_failed(&f, "/human/alice", "human:alice", CAROL,
	    "the id is of another user");
	star_idle(&a, "human:alice");
	tk_ws_close(&a);
	star_stop(&f);
}

TEST(who_sends_no_token_in_time_is_closed_with_1008)
{
	struct star_fixture f = { 0 };
	struct mono start;
	struct tk_ws c;

	auth_start(&f);
	start = clock_mono();
	star_open(&f, &c, "/human/alice");
	ck_assert_uint_eq(tk_ws_end(&c), 1008);
	ck_assert_int_ge(mono_diff_ms(clock_mono(), start), 5000);
	tk_ws_close(&c);
	star_stop(&f);
}

TEST(until_then_messages_are_short)
{
	static char payload[20000];
	struct star_fixture f = { 0 };
	struct tk_ws a, b;

	memset(payload, 'x', sizeof(payload) - 1);
	payload[0] = payload[sizeof(payload) - 2] = '"';
	auth_start(&f);
	star_open(&f, &a, "/human/alice");
	star_send(&a, "human:alice", ENV, payload);
	ck_assert_uint_eq(tk_ws_end(&a), 1009);
	star_open(&f, &b, "/human/alice");
	auth_send(&b, "human:alice", ALICE);
	star_expect_has(&b, SUCCESS);
	star_send(&b, "human:alice", ENV, payload);
	star_expect_error(&b, "CONNECTION_ERROR", "target_not_found");
	tk_ws_close(&a);
	tk_ws_close(&b);
	star_stop(&f);
}

TEST(an_open_connection_renews_its_token)
{
	struct star_fixture f = { 0 };
	struct tk_ws a, b;

	auth_start(&f);
	auth_open(&f, &a, ALICE, "/human/alice");
	auth_send(&a, "human:alice", NEWER);
	star_expect_has(&a,
	    "\"session_info\":{\"expires_at\":\"2100-01-01T00:00:00.000Z\","
	    "\"session_id\":\"");
	star_idle(&a, "human:alice");
	/* Not to that of another user. */
	auth_open(&f, &b, ALICE, "/human/bob");
	auth_send(&b, "human:bob", OPS);
	star_expect_has(&b, FAILED "the access token is of another user\"");
	ck_assert_uint_eq(tk_ws_end(&b), 1008);
	star_idle(&a, "human:alice");
	tk_ws_close(&a);
	tk_ws_close(&b);
	star_stop(&f);
}

TEST(without_authentication_all_tokens_are_good)
{
	struct star_fixture f = { 0 };
	struct tk_ws a;

	star_start(&f, NULL);
	star_open(&f, &a, "/human/alice");
	auth_send(&a, "human:alice", "whatever");
	star_expect_has(&a, SUCCESS);
	star_idle(&a, "human:alice");
	tk_ws_close(&a);
	star_stop(&f);
}

/* ---- tokens that end ---- */

TEST_T(a_token_that_is_removed_ends_its_connections, 90)
{
	const char *path = tk_path("tokens.json");
	struct star_fixture f = { 0 };
	struct mono start;
	struct tk_ws a, b;

	auth_start(&f);
	auth_open(&f, &a, ALICE, "/human/alice");
	auth_open(&f, &b, CAROL, "/human/carol");
	start = clock_mono();
	tk_tokens_write(path, tokens + 1, NELEM(tokens) - 1);
	ck_assert_uint_eq(tk_ws_end_within(&a, REVOKED_MS), 1008);
	ck_assert_int_lt(mono_diff_ms(clock_mono(), start), REVOKED_MS);
	ck_assert_str_eq(a.reason, "the token is not valid any more");
	star_idle(&b, "human:carol");
	tk_ws_close(&a);
	tk_ws_close(&b);
	star_stop(&f);
}

TEST_T(a_token_that_expires_ends_its_connections, 90)
{
	const char *path = tk_path("tokens.json");
	char until[WALL_FORMAT_MAX], rest[256], setting[600];
	struct tk_token list[] = { tokens[2], { ALICE, rest } };
	struct star_fixture f = { 0 };
	struct tk_ws a, b;

	wall_format((struct wall){ clock_wall().ms + 10000 }, 0, until);
	(void)snprintf(rest, sizeof(rest),
	    "\"role\":\"owner\",\"user\":\"alice\",\"expires_at\":\"%s\"",
	    until);
	tk_tokens_write(path, list, NELEM(list));
	(void)snprintf(setting, sizeof(setting), "AUTH_TOKENS=%s", path);
	star_start(&f, TK_ENV(setting));
	auth_open(&f, &a, ALICE, "/human/alice");
	auth_open(&f, &b, CAROL, "/human/carol");
	ck_assert_uint_eq(tk_ws_end_within(&a, 10000 + REVOKED_MS), 1008);
	ck_assert_str_eq(a.reason, "the token has expired");
	star_idle(&b, "human:carol");
	tk_ws_close(&a);
	tk_ws_close(&b);
	star_stop(&f);
}

/* The hub has no more than its own permissions. */
static void
auth_start_with_rights(struct star_fixture *f, char plain[64])
{
	const char *path = tk_path("tokens.json");
	char setting[600];

	tk_rights_nats(&f->nats);
	tk_rights_redis(&f->redis);
	str_copy(str_of(f->redis.url), plain, sizeof(f->redis.url));
	(void)snprintf(f->redis.url, sizeof(f->redis.url),
	    "redis://star-hub:" TK_PASSWORD "star-hub@127.0.0.1:%d",
	    f->redis.port);
	tk_tokens_write(path, tokens, NELEM(tokens));
	(void)snprintf(setting, sizeof(setting), "AUTH_TOKENS=%s", path);
	star_start(f,
	    TK_ENV(setting, "NATS_USER=star-hub",
		"NATS_PASSWORD=" TK_PASSWORD "star-hub"));
}

TEST_T(a_terminal_that_is_revoked_is_disconnected, 90)
{
	char secret[AUTH_SECRET_MAX], hash[AUTH_HASH_MAX];
	char token[AUTH_TERMINAL_TOKEN_MAX];
	struct star_fixture f = { 0 };
	struct tk_state k;
	struct mono start;
	struct tk_ws a, b;
	char plain[64];

	auth_start_with_rights(&f, plain);
	tk_state_open(&k, plain);
	auth_secret_new(secret);
	auth_secret_hash(str_of(secret), hash);
	auth_terminal_token(STR("lamp-1"), str_of(secret), token);
	ck_assert_int_eq(credential_mint(k.s,
			     &(struct credential){ .terminal_id = STR("lamp-1"),
				 .tenant = STR("one"),
				 .hash = str_of(hash),
				 .created = clock_wall() },
			     k.arena, NULL),
	    RC_OK);
	auth_open(&f, &a, token, "/env/demo_world/agent/lamp-1");
	auth_open(&f, &b, ALICE, "/human/alice");
	start = clock_mono();
	ck_assert_int_eq(
	    credential_revoke(k.s, STR("lamp-1"), k.arena, NULL), RC_OK);
	ck_assert_uint_eq(tk_ws_end_within(&a, REVOKED_MS), 1008);
	ck_assert_int_lt(mono_diff_ms(clock_mono(), start), REVOKED_MS);
	ck_assert_str_eq(a.reason, "the identity of the terminal was revoked");
	star_idle(&b, "human:alice");
	tk_ws_close(&a);
	tk_ws_close(&b);
	tk_state_close(&k);
	ck_assert_str_eq(tk_rights_denied(&f.nats, &f.redis), "");
	star_stop(&f);
}
