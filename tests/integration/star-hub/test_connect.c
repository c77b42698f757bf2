/*
 * Who may connect, and what happens to those who were connected before.
 */
#include <signal.h>
#include <string.h>

#include "core/mem.h"
#include "testkit/star_fixture.h"

static void
connect_check(struct star_fixture *f, const char *path, int status)
{
	struct tk_ws c;
	int is = tk_ws_open(&c, f->hub.http, path, NULL);

	ck_assert_msg(is == status, "%s: %d", path, is);
	tk_ws_close(&c);
}

#define X50 "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"

TEST(paths_and_ids_are_checked_before_the_upgrade)
{
	static const struct {
		const char *path;
		int status;
	} rows[] = {
		{ "/env/demo_world", 101 },
		{ "/env/demo_world?x=1", 101 },
		{ "/env/demo_world/agent/agent_001", 101 },
		{ "/env/ghost_env/agent/agent_009", 101 },
		{ "/env/demo_world/agent/demo_world", 101 },
		{ "/human/bob", 101 },
		{ "/env/abc", 101 },
		{ "/env/" X50, 101 },
		{ "/env/%20%E4%B8%AD/agent/zz%2Fq", 400 },
		{ "/env/%E4%B8%AD%E6%96%87%E7%8E%AF", 101 },
		{ "/env/demo_world/foo/bar", 404 },
		{ "/env/demo_world/", 404 },
		{ "/env", 404 },
		{ "/ws/metaverse", 404 },
		{ "/nope", 404 },
		{ "/", 404 },
		{ "/env/ab", 400 },
		{ "/env/" X50 "x", 400 },
		{ "/env/demo_world/agent/a", 400 },
		{ "/env/a%0Ab", 400 },
		{ "/env/a%00b", 400 },
		{ "/env/a%23bc", 400 },
		{ "/env/a*bc", 400 },
		{ "/env/%FF%FF%FF", 400 },
		{ "/env/%zz", 400 },
		{ "/human/all", 400 },
		{ "/human/hub", 400 },
		{ "/human/server", 400 },
		{ "/human/broadcast", 400 },
		{ "/env/demo_all", 400 },
	};
	struct star_fixture f = { 0 };
	size_t i;

	star_start(&f, STAR_QUIET);
	for (i = 0; i < NELEM(rows); i++)
		connect_check(&f, rows[i].path, rows[i].status);
	star_stop(&f);
}

TEST(the_error_names_the_rule)
{
	struct star_fixture f = { 0 };
	struct tk_ws c;

	star_start(&f, STAR_QUIET);
	ck_assert_int_eq(tk_ws_open(&c, f.hub.http, "/env/ab", NULL), 400);
	ck_assert_str_eq(
	    c.msg.p, "{\"error\":\"an id must have 3 to 50 characters\"}");
	tk_ws_close(&c);
	star_stop(&f);
}

TEST(the_first_frame_is_a_heartbeat)
{
	static const char *const members[] = {
		"{\"type\":\"heartbeat\",\"sender\":{\"id\":\"hub\",\"type\":"
		"\"hub\"},\"recipient\":{\"id\":\"agent_001\",\"type\":"
		"\"agent\"},\"payload\":{\"timestamp\":\"20",
		"\"server_status\":\"running\"",
		"\"ping\":\"pong\"",
		"\"pong\":true",
		"\"status\":\"connected\"",
		"\"server_time\":\"20",
		"\"client_id\":\"agent_001\"",
		"\"client_type\":\"agent\"",
		"\"hub\":\"",
	};
	struct star_fixture f = { 0 };
	const char *msg;
	struct tk_ws c;
	size_t i;

	star_start(&f, STAR_QUIET);
	ck_assert_int_eq(
	    tk_ws_open(&c, f.hub.http, "/env/demo_world/agent/agent_001", NULL),
	    101);
	msg = star_next(&c);
	for (i = 0; i < NELEM(members); i++)
		ck_assert_msg(
		    strstr(msg, members[i]) != NULL, "%s: %s", members[i], msg);
	star_idle(&c, "agent:agent_001");
	tk_ws_close(&c);
	star_stop(&f);
}

TEST(the_subprotocol_is_selected_if_it_is_offered)
{
	struct star_fixture f = { 0 };
	struct tk_ws c;

	star_start(&f, STAR_QUIET);
	ck_assert_int_eq(tk_ws_open(&c, f.hub.http, "/human/bob",
			     "Sec-WebSocket-Protocol: x, star.v1\r\n"),
	    101);
	tk_ws_close(&c);
	star_stop(&f);
}

TEST(the_newest_connection_holds_an_identity)
{
	struct star_fixture f = { 0 };
	struct tk_ws env, old, new;

	star_start(&f, STAR_QUIET);
	star_open(&f, &env, "/env/demo_world");
	star_open(&f, &old, "/env/demo_world/agent/agent_001");
	star_open(&f, &new, "/env/demo_world/agent/agent_001");
	ck_assert_uint_eq(tk_ws_end(&old), 4409);
	ck_assert_str_eq(old.reason, "replaced by a newer connection");
	/* The end of the old one changes nothing. */
	star_send(&env, "environment:demo_world", "agent:agent_001", "1");
	star_expect_message(
	    &new, "environment:demo_world", "agent:agent_001", "1");
	star_send(&new, "agent:agent_001", "environment:demo_world", "2");
	star_expect_message(
	    &env, "agent:agent_001", "environment:demo_world", "2");
	tk_ws_close(&old);
	tk_ws_close(&new);
	tk_ws_close(&env);
	star_stop(&f);
}

TEST(an_environment_is_replaced_too)
{
	struct star_fixture f = { 0 };
	struct tk_ws old, new, agent;

	star_start(&f, STAR_QUIET);
	star_open(&f, &old, "/env/demo_world");
	star_open(&f, &agent, "/env/demo_world/agent/agent_001");
	star_open(&f, &new, "/env/demo_world");
	ck_assert_uint_eq(tk_ws_end(&old), 4409);
	star_send(&agent, "agent:agent_001", "environment:demo_world", "1");
	star_expect_message(
	    &new, "agent:agent_001", "environment:demo_world", "1");
	tk_ws_close(&old);
	tk_ws_close(&new);
	tk_ws_close(&agent);
	star_stop(&f);
}

TEST(classes_are_separate_name_spaces)
{
	struct star_fixture f = { 0 };
	struct tk_ws env, same, agent, other;

	star_start(&f, STAR_QUIET);
	star_open(&f, &env, "/env/demo_world");
	star_open(&f, &same, "/env/demo_world/agent/demo_world");
	star_open(&f, &agent, "/env/demo_world/agent/agent_001");
	/* An agent's identity includes its environment. */
	star_open(&f, &other, "/env/other_world/agent/agent_001");
	star_send(&agent, "agent:agent_001", "environment:demo_world", "1");
	star_expect_message(
	    &env, "agent:agent_001", "environment:demo_world", "1");
	star_idle(&same, "agent:demo_world");
	star_idle(&other, "agent:agent_001");
	tk_ws_close(&env);
	tk_ws_close(&same);
	tk_ws_close(&agent);
	tk_ws_close(&other);
	star_stop(&f);
}

TEST(environments_are_notified_of_presence)
{
	struct star_fixture f = { 0 };
	struct tk_ws env, agent, new;

	star_start(&f, NULL);
	star_open(&f, &env, "/env/demo_world");
	star_open(&f, &agent, "/env/demo_world/agent/agent_001");
	star_expect_has(&env,
	    "\"event\":\"agent_joined\",\"data\":{\"agent_id\":\"agent_001\"}");
	star_open(&f, &new, "/env/demo_world/agent/agent_001");
	star_expect_has(&env,
	    "\"event\":\"agent_left\",\"data\":{\"agent_id\":\"agent_001\","
	    "\"reason\":\"replaced\"}");
	star_expect_has(&env, "\"event\":\"agent_joined\"");
	ck_assert_uint_eq(tk_ws_end(&agent), 4409);
	tk_ws_close(&agent);
	tk_ws_send_close(&new, 1000);
	ck_assert_uint_eq(tk_ws_end(&new), 1000);
	star_expect_has(&env,
	    "\"event\":\"agent_left\",\"data\":{\"agent_id\":\"agent_001\","
	    "\"reason\":\"closed\"}");
	tk_ws_close(&new);
	star_idle(&env, "environment:demo_world");
	tk_ws_close(&env);
	star_stop(&f);
}

TEST(members_are_notified_of_their_environment)
{
	struct star_fixture f = { 0 };
	struct tk_ws env, agent;

	star_start(&f, NULL);
	star_open(&f, &agent, "/env/demo_world/agent/agent_001");
	star_open(&f, &env, "/env/demo_world");
	star_expect_has(&agent,
	    "\"event\":\"environment_up\",\"data\":{\"env_id\":"
	    "\"demo_world\"}");
	star_leave(&env);
	star_expect_has(&agent,
	    "\"event\":\"environment_down\",\"data\":{\"env_id\":"
	    "\"demo_world\",\"reason\":\"closed\"}");
	tk_ws_close(&agent);
	star_stop(&f);
}

TEST(heartbeats_come_by_themselves_and_silence_is_closed)
{
	struct star_fixture f = { 0 };
	struct tk_ws c, dead;

	star_start(&f, TK_ENV("STAR_HEARTBEAT_MS=200", "STAR_TIMEOUT_MS=1500"));
	star_open(&f, &c, "/human/bob");
	star_open(&f, &dead, "/human/eve");
	dead.deaf = true;
	star_expect_has(&c, "{\"type\":\"heartbeat\",");
	star_expect_has(&c, "{\"type\":\"heartbeat\",");
	ck_assert_uint_eq(tk_ws_end(&dead), 1001);
	ck_assert_uint_gt(dead.pings, 0);
	tk_ws_close(&c);
	tk_ws_close(&dead);
	star_stop(&f);
}

TEST(a_drain_closes_with_1001)
{
	struct star_fixture f = { 0 };
	struct tk_ws c;

	star_start(&f, NULL);
	star_open(&f, &c, "/human/bob");
	ck_assert_int_eq(kill(f.hub.proc.pid, SIGTERM), 0);
	ck_assert_uint_eq(tk_ws_end(&c), 1001);
	ck_assert_str_eq(c.reason, "restart, resume at once");
	tk_ws_close(&c);
	ck_assert_int_eq(tk_wait(&f.hub.proc, TK_WS_MS), 0);
}

TEST(connections_over_the_limit_get_503)
{
	struct star_fixture f = { 0 };
	struct tk_ws c;

	star_start(&f, TK_ENV("STAR_CONNECTIONS=1"));
	star_open(&f, &c, "/human/bob");
	connect_check(&f, "/human/eve", 503);
	tk_ws_close(&c);
	star_stop(&f);
}
