/*
 * With access tokens: tenants are isolated, ids belong to users.
 */
#include <stdio.h>
#include <string.h>

#include "core/arena.h"
#include "core/mem.h"
#include "state/star_home.h"
#include "testkit/star_fixture.h"
#include "testkit/state.h"
#include "testkit/tokens.h"

#define ALICE "alice-0123456789abcdef0123456789"
#define ADAM  "adam--0123456789abcdef0123456789"
#define CAROL "carol-0123456789abcdef0123456789"
#define OPS   "ops---0123456789abcdef0123456789"
#define BODY  "body--0123456789abcdef0123456789"
#define LAMP  "lamp--0123456789abcdef0123456789"

static const struct tk_token tokens[] = {
	{ ALICE, "\"role\":\"owner\",\"tenant\":\"one\",\"user\":\"alice\"" },
	{ ADAM, "\"role\":\"owner\",\"tenant\":\"one\",\"user\":\"adam\"" },
	{ CAROL, "\"role\":\"owner\",\"tenant\":\"two\",\"user\":\"carol\"" },
	{ OPS, "\"role\":\"operator\",\"tenant\":\"one\"" },
	{ BODY, "\"role\":\"provisioner\",\"tenant\":\"one\"" },
	{ LAMP,
	    "\"role\":\"terminal\",\"tenant\":\"one\","
	    "\"terminal_id\":\"lamp-1\"" },
};

static void
access_start(struct star_fixture *f)
{
	const char *path = tk_path("tokens.json");
	char setting[600];

	tk_tokens_write(path, tokens, NELEM(tokens));
	(void)snprintf(setting, sizeof(setting), "AUTH_TOKENS=%s", path);
	star_start(f, TK_ENV("STAR_PRESENCE=off", setting));
}

/* The status; of 101 the first heartbeat is read. */
static int
access_open(struct star_fixture *f, struct tk_ws *c, const char *token,
    const char *path)
{
	char header[256];
	int status;

	(void)snprintf(
	    header, sizeof(header), "Authorization: Bearer %s\r\n", token);
	status = tk_ws_open(c, f->hub.http, path, header);
	if (status == 101)
		star_next(c);
	else
		tk_ws_close(c);
	return status;
}

TEST(a_tenant_sees_its_own_clients_only)
{
	struct star_fixture f = { 0 };
	struct tk_ws env, other, a;

	access_start(&f);
	ck_assert_int_eq(access_open(&f, &env, ALICE, "/env/demo_world"), 101);
	ck_assert_int_eq(
	    access_open(&f, &other, CAROL, "/env/demo_world"), 101);
	ck_assert_int_eq(
	    access_open(&f, &a, CAROL, "/env/demo_world/agent/agent_001"), 101);
	star_send(&a, "agent:agent_001", "environment:demo_world", "1");
	star_expect_message(
	    &other, "agent:agent_001", "environment:demo_world", "1");
	star_send(&env, "environment:demo_world", "agent:agent_001", "1");
	star_expect_error(&env, "CONNECTION_ERROR", "target_not_found");
	/* Global broadcast is off with authentication. */
	star_send(&env, "environment:demo_world", "hub:all", "1");
	star_idle(&env, "environment:demo_world");
	star_send(&env, "environment:demo_world", "hub:hub",
	    "{\"type\":\"stream\",\"id\":\"q\",\"stream\":"
	    "\"get_environments\"}");
	star_expect_has(&env,
	    "{\"environments\":[{\"id\":\"demo_world\",\"client_count\":0,"
	    "\"up\":true}]}");
	star_send(&env, "environment:demo_world", "hub:hub",
	    "{\"type\":\"stream\",\"id\":\"q\",\"stream\":"
	    "\"get_server_stats\"}");
	star_expect_has(&env,
	    "\"active_connections\":1,\"active_agents\":0,"
	    "\"active_environments\":1,");
	star_idle(&a, "agent:agent_001");
	tk_ws_close(&env);
	tk_ws_close(&other);
	tk_ws_close(&a);
	star_stop(&f);
}

TEST(an_id_that_is_held_is_its_users)
{
	struct star_fixture f = { 0 };
	struct tk_ws a, b, c;

	access_start(&f);
	ck_assert_int_eq(access_open(&f, &a, ALICE, "/human/alice"), 101);
	ck_assert_int_eq(access_open(&f, &b, ADAM, "/human/alice"), 403);
	star_idle(&a, "human:alice");
	ck_assert_int_eq(access_open(&f, &b, ALICE, "/human/alice"), 101);
	ck_assert_uint_eq(tk_ws_end(&a), 4409);
	/* An operator may take it over. */
	ck_assert_int_eq(access_open(&f, &c, OPS, "/human/alice"), 101);
	ck_assert_uint_eq(tk_ws_end(&b), 4409);
	tk_ws_close(&a);
	tk_ws_close(&b);
	tk_ws_close(&c);
	star_stop(&f);
}

/* By which they are exported, and deleted. */
TEST(a_users_ids_are_found_by_the_user)
{
	struct arena *a = arena_new(65536);
	struct star_fixture f = { 0 };
	struct star_identity *list;
	struct tk_state db;
	struct tk_ws c;
	size_t n;

	access_start(&f);
	ck_assert_int_eq(access_open(&f, &c, ALICE, "/human/alice"), 101);
	tk_state_open(&db, f.redis.url);
	ck_assert_int_eq(
	    star_user_read(db.s, STR("one/alice"), a, &list, &n), RC_OK);
	ck_assert_uint_eq(n, 1);
	ck_assert(str_eq(list[0].name, STR("alice")));
	ck_assert(str_eq(list[0].class, STR("human")));
	tk_state_close(&db);
	tk_ws_close(&c);
	star_stop(&f);
	arena_free(a);
}

TEST(a_terminal_is_an_agent_of_its_own_id)
{
	struct star_fixture f = { 0 };
	struct tk_ws lamp, c;

	access_start(&f);
	ck_assert_int_eq(
	    access_open(&f, &lamp, LAMP, "/env/demo_world/agent/lamp-1"), 101);
	/* Nobody else's, not even that of a user. */
	ck_assert_int_eq(
	    access_open(&f, &c, ALICE, "/env/demo_world/agent/lamp-1"), 403);
	ck_assert_int_eq(
	    access_open(&f, &c, LAMP, "/env/demo_world/agent/lamp-2"), 403);
	ck_assert_int_eq(access_open(&f, &c, LAMP, "/env/lamp-1"), 403);
	ck_assert_int_eq(access_open(&f, &c, LAMP, "/human/lamp-1"), 403);
	tk_ws_close(&lamp);
	star_stop(&f);
}

TEST(roles_that_do_not_connect_get_403)
{
	struct star_fixture f = { 0 };
	struct tk_ws c;

	access_start(&f);
	ck_assert_int_eq(access_open(&f, &c, BODY, "/human/alice"), 403);
	ck_assert_int_eq(access_open(&f, &c, "wrong", "/human/alice"), 401);
	star_stop(&f);
}
