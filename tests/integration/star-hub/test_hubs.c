/*
 * Several hubs are one: messages, presence, identities and requests between
 * them.
 */
#include "testkit/star_fixture.h"

#define A   "agent:agent_001"
#define B   "agent:agent_002"
#define BOB "human:bob"
#define ENV "environment:demo_world"

#define MOVE                                                      \
	"{\"type\":\"action\",\"action\":\"move\",\"id\":\"m1\"," \
	"\"parameters\":{\"distance\":2.5}}"
#define EVENT "{\"type\":\"event\",\"id\":\"e1\",\"event\":\"seen\"}"
#define REQUEST(name, data)                                     \
	"{\"type\":\"stream\",\"id\":\"q1\",\"stream\":\"" name \
	"\",\"data\":{" data "}}"

#define AGENT_A "/env/demo_world/agent/agent_001"
#define AGENT_B "/env/demo_world/agent/agent_002"

TEST(messages_reach_clients_of_other_hubs)
{
	struct star_fixture f = { 0 };
	struct tk_ws env, a, b;

	star_start_hubs(&f, 3, STAR_QUIET);
	star_open_at(&f, 0, &env, "/env/demo_world");
	star_open_at(&f, 1, &a, AGENT_A);
	star_open_at(&f, 2, &b, AGENT_B);
	star_send(&a, A, ENV, MOVE);
	star_expect_message(&env, A, ENV, MOVE);
	star_send(&env, ENV, A, EVENT);
	star_expect_message(&a, ENV, A, EVENT);
	star_send(&a, A, B, EVENT);
	star_expect_message(&b, A, B, EVENT);
	star_send(&env, ENV, "agent:*", EVENT);
	star_expect_message(&a, ENV, "agent:*", EVENT);
	star_expect_message(&b, ENV, "agent:*", EVENT);
	star_send(&a, A, "agent:agent_003", EVENT);
	star_expect_error(&a, "CONNECTION_ERROR", "target_not_found");
	star_leave(&env);
	star_send(&a, A, ENV, MOVE);
	star_expect_error(&a, "CONNECTION_ERROR", "env_not_found");
	tk_ws_close(&a);
	tk_ws_close(&b);
	star_stop(&f);
}

TEST(a_message_of_the_largest_size_reaches_another_hub)
{
	enum { SIZE = 1024 * 1024 };
	struct star_fixture f = { 0 };
	struct buf text = BUF_INIT(2UL * SIZE);
	struct tk_ws env, a;
	const char *msg;

	star_start_hubs(&f, 2, STAR_QUIET);
	star_open_at(&f, 0, &env, "/env/demo_world");
	star_open_at(&f, 1, &a, AGENT_A);
	buf_puts(&text,
	    "{\"type\":\"message\",\"sender\":{\"id\":\"agent_001\","
	    "\"type\":\"agent\"},\"recipient\":{\"id\":\"demo_world\","
	    "\"type\":\"environment\"},\"payload\":\"");
	while (text.n < SIZE - 2)
		buf_putc(&text, 'x');
	buf_puts(&text, "\"}");
	ck_assert_uint_eq(text.n, SIZE);
	tk_ws_send(&a, text.p);
	msg = tk_ws_next(&env, TK_WS_MS);
	ck_assert_ptr_nonnull(msg);
	ck_assert_str_eq(msg, text.p);
	/* What follows it is not disturbed. */
	star_send(&a, A, ENV, MOVE);
	star_expect_message(&env, A, ENV, MOVE);
	buf_free(&text);
	tk_ws_close(&a);
	tk_ws_close(&env);
	star_stop(&f);
}

TEST(an_identity_has_one_holder_in_all_hubs)
{
	struct star_fixture f = { 0 };
	struct tk_ws one, two, env;

	star_start_hubs(&f, 2, STAR_QUIET);
	star_open_at(&f, 0, &env, "/env/demo_world");
	star_open_at(&f, 0, &one, AGENT_A);
	star_open_at(&f, 1, &two, AGENT_A);
	ck_assert_uint_eq(tk_ws_end(&one), 4409);
	star_send(&env, ENV, A, EVENT);
	star_expect_message(&two, ENV, A, EVENT);
	tk_ws_close(&one);
	/* And back: the end of an older one changes nothing. */
	star_open_at(&f, 0, &one, AGENT_A);
	ck_assert_uint_eq(tk_ws_end(&two), 4409);
	star_send(&env, ENV, A, EVENT);
	star_expect_message(&one, ENV, A, EVENT);
	tk_ws_close(&one);
	tk_ws_close(&two);
	tk_ws_close(&env);
	star_stop(&f);
}

TEST(an_environment_hears_of_members_at_all_hubs)
{
	struct star_fixture f = { 0 };
	struct tk_ws env, a, b, newer;

	star_start_hubs(&f, 2, NULL);
	star_open_at(&f, 1, &a, AGENT_A);
	star_open_at(&f, 0, &env, "/env/demo_world");
	/* Who is there already, too. */
	star_expect_has(
	    &env, "\"agent_joined\",\"data\":{\"agent_id\":\"agent_001\"}");
	star_expect_has(&a, "\"environment_up\"");
	star_open_at(&f, 1, &b, AGENT_B);
	star_expect_has(
	    &env, "\"agent_joined\",\"data\":{\"agent_id\":\"agent_002\"}");
	star_leave(&b);
	star_expect_has(&env,
	    "\"agent_left\",\"data\":{\"agent_id\":\"agent_002\","
	    "\"reason\":\"closed\"}");
	star_open_at(&f, 0, &newer, AGENT_A);
	star_expect_has(&env,
	    "\"agent_left\",\"data\":{\"agent_id\":\"agent_001\","
	    "\"reason\":\"replaced\"}");
	star_expect_has(
	    &env, "\"agent_joined\",\"data\":{\"agent_id\":\"agent_001\"}");
	tk_ws_close(&a);
	star_open_at(&f, 1, &a, AGENT_B);
	star_expect_has(&env, "\"agent_joined\"");
	star_leave(&env);
	star_expect_has(&a,
	    "\"environment_down\",\"data\":{\"env_id\":\"demo_world\","
	    "\"reason\":\"closed\"}");
	star_expect_has(&newer, "\"environment_down\"");
	tk_ws_close(&a);
	tk_ws_close(&newer);
	star_stop(&f);
}

TEST(a_human_joins_an_environment_of_another_hub)
{
	struct star_fixture f = { 0 };
	struct tk_ws env, bob, a;

	star_start_hubs(&f, 2, NULL);
	star_open_at(&f, 0, &env, "/env/demo_world");
	star_open_at(&f, 0, &a, AGENT_A);
	star_expect_has(&env, "\"agent_joined\"");
	star_open_at(&f, 1, &bob, "/human/bob");
	/* Whether it may be written to is known at its hub only. */
	star_send(&env, ENV, BOB, EVENT);
	star_expect_error(&env, "PERMISSION_DENIED", "permission_denied");
	star_send(&bob, BOB, ENV, MOVE);
	star_expect_message(&env, BOB, ENV, MOVE);
	star_send(&env, ENV, BOB, EVENT);
	star_expect_message(&bob, ENV, BOB, EVENT);
	star_send(&bob, BOB, A, EVENT);
	star_expect_error(&bob, "CONNECTION_ERROR", "target_not_found");
	/* Who is there, and who may be written to, are two questions. */
	star_send(&bob, BOB, BOB, EVENT);
	star_expect_error(&bob, "PERMISSION_DENIED", "permission_denied");
	star_send(&env, ENV, "human:nobody", EVENT);
	star_expect_error(&env, "CONNECTION_ERROR", "target_not_found");
	star_send(&bob, BOB, "hub:hub",
	    REQUEST("join_environment", "\"env_id\":\"demo_world\""));
	star_expect_has(&bob, "\"status\":\"success\"");
	star_expect_has(
	    &env, "\"human_joined\",\"data\":{\"human_id\":\"bob\"}");
	star_send(&bob, BOB, A, EVENT);
	star_expect_message(&a, BOB, A, EVENT);
	star_send(&a, A, BOB, EVENT);
	star_expect_message(&bob, A, BOB, EVENT);
	star_send(&env, ENV, "human:*", EVENT);
	star_expect_message(&bob, ENV, "human:*", EVENT);
	star_send(&bob, BOB, "hub:hub",
	    REQUEST("leave_environment", "\"env_id\":\"demo_world\""));
	star_expect_has(&bob, "\"status\":\"success\"");
	star_expect_has(&env, "\"human_left\"");
	tk_ws_close(&bob);
	tk_ws_close(&env);
	tk_ws_close(&a);
	star_stop(&f);
}

TEST(requests_are_about_all_hubs)
{
	struct star_fixture f = { 0 };
	struct tk_ws env, a, b, mars;

	star_start_hubs(&f, 3, STAR_QUIET);
	star_open_at(&f, 0, &env, "/env/demo_world");
	star_open_at(&f, 1, &a, AGENT_A);
	star_open_at(&f, 2, &b, AGENT_B);
	star_open_at(&f, 2, &mars, "/env/mars");
	star_send(&a, A, "hub:hub", REQUEST("get_environments", ""));
	star_expect_has(&a,
	    "{\"id\":\"demo_world\",\"client_count\":2,"
	    "\"up\":true}");
	star_send(&a, A, "hub:hub", REQUEST("get_environments", ""));
	star_expect_has(&a, "{\"id\":\"mars\",\"client_count\":0,\"up\":true}");
	star_send(&a, A, "hub:hub", REQUEST("get_members", ""));
	star_expect_has(&a, "\"up\":true,\"count\":2,\"members\":[");
	star_send(&a, A, "hub:hub", REQUEST("get_server_stats", ""));
	star_expect_has(&a,
	    "\"active_connections\":4,\"active_agents\":2,"
	    "\"active_environments\":2,\"active_humans\":0,");
	tk_ws_close(&env);
	tk_ws_close(&a);
	tk_ws_close(&b);
	tk_ws_close(&mars);
	star_stop(&f);
}

TEST(global_broadcasts_reach_all_hubs)
{
	struct star_fixture f = { 0 };
	struct tk_ws env, a, bob;

	star_start_hubs(&f, 2, STAR_QUIET);
	star_open_at(&f, 0, &env, "/env/demo_world");
	star_open_at(&f, 1, &a, "/env/mars/agent/agent_001");
	star_open_at(&f, 1, &bob, "/human/bob");
	star_send(&env, ENV, "hub:all", EVENT);
	star_expect_message(&a, ENV, "hub:all", EVENT);
	star_expect_message(&bob, ENV, "hub:all", EVENT);
	/* Members of an environment that is not there, of another hub. */
	star_send(&env, ENV, "hub:env_mars_all", EVENT);
	star_expect_message(&a, ENV, "hub:env_mars_all", EVENT);
	tk_ws_close(&env);
	tk_ws_close(&a);
	tk_ws_close(&bob);
	star_stop(&f);
}
