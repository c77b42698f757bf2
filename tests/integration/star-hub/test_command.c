/*
 * Requests to the hub.
 */
#include <stdio.h>
#include <string.h>

#include "core/mem.h"
#include "testkit/star_fixture.h"

#define REQUEST(id, name, data)                                     \
	"{\"type\":\"stream\",\"id\":\"" id "\",\"stream\":\"" name \
	"\",\"stream_type\":\"" name "\",\"data\":" data "}"
#define OUTCOME(id) \
	"\"payload\":{\"type\":\"outcome\",\"id\":\"" id "\",\"outcome\":{"

struct world {
	struct star_fixture f;
	struct tk_ws env, a, bob;
};

static void
world_start(struct world *w)
{
	memset(w, 0, sizeof(*w));
	star_start(&w->f, STAR_QUIET);
	star_open(&w->f, &w->env, "/env/demo_world");
	star_open(&w->f, &w->a, "/env/demo_world/agent/agent_001");
	star_open(&w->f, &w->bob, "/human/bob");
}

static void
world_stop(struct world *w)
{
	tk_ws_close(&w->env);
	tk_ws_close(&w->a);
	tk_ws_close(&w->bob);
	star_stop(&w->f);
}

TEST(requests_have_outcomes)
{
	static const char *const rows[][2] = {
		{ REQUEST("q1", "get_environments", "{}"),
		    OUTCOME("q1") "\"environments\":[{\"id\":\"demo_world\","
				  "\"client_count\":1,\"up\":true}]},"
				  "\"outcome_type\":\"dict\"}" },
		{ REQUEST("q2", "get_server_stats", "{}"),
		    OUTCOME("q2") "\"active_connections\":3,"
				  "\"active_agents\":1,"
				  "\"active_environments\":1,"
				  "\"active_humans\":1,"
				  "\"active_env_count\":1," },
		{ "{\"type\":\"stream\",\"id\":\"q3\",\"stream\":\"v\","
		  "\"stream_type\":\"version_negotiate\",\"data\":{"
		  "\"supported_versions\":[\"2.0\",\"1.0\"]}}",
		    OUTCOME("q3") "\"selected_version\":\"1.0\","
				  "\"server_version\":\"1.0\"}" },
		{ REQUEST("q3", "version_negotiate",
		      "{\"supported_versions\":[\"1.9.7\"]}"),
		    "\"selected_version\":\"1.0\"" },
		{ "{\"type\":\"stream\",\"stream\":\"get_environments\"}",
		    "\"payload\":{\"type\":\"outcome\",\"id\":\"hub-" },
		{ "{\"type\":\"stream\",\"id\":{\"x\":1},"
		  "\"stream\":\"get_environments\"}",
		    "\"id\":{\"x\":1},\"outcome\":{" },
		{ "{\"type\":\"action\",\"action\":\"ping\",\"id\":\"p\"}",
		    OUTCOME("p") "\"status\":\"success\",\"message\":\"pong\","
				 "\"data\":{}}" },
	};
	struct world w;
	size_t i;

	world_start(&w);
	for (i = 0; i < NELEM(rows); i++) {
		star_send(&w.bob, "human:bob", i % 2 ? "hub:hub" : "hub:server",
		    rows[i][0]);
		star_expect_has(&w.bob, rows[i][1]);
	}
	world_stop(&w);
}

TEST(members_are_listed_for_those_in_an_environment)
{
	struct world w;

	world_start(&w);
	star_send(&w.a, "agent:agent_001", "hub:hub",
	    REQUEST("q", "get_members", "{}"));
	star_expect_has(&w.a,
	    OUTCOME("q") "\"env_id\":\"demo_world\",\"up\":true,\"count\":1,"
			 "\"members\":[{\"id\":\"agent_001\",\"type\":"
			 "\"agent\"}]}");
	star_send(&w.env, "environment:demo_world", "hub:hub",
	    REQUEST("q", "get_members", "{}"));
	star_expect_has(&w.env, "\"count\":1,");
	star_send(&w.bob, "human:bob", "hub:hub",
	    REQUEST("q", "get_members", "{\"env_id\":\"demo_world\"}"));
	star_expect_error(&w.bob, "PERMISSION_DENIED", "permission_denied");
	star_send(&w.bob, "human:bob", "hub:hub",
	    REQUEST("q", "join_environment", "{\"env_id\":\"demo_world\"}"));
	star_expect_has(&w.bob, "joined");
	star_send(
	    &w.bob, "human:bob", "hub:hub", REQUEST("q", "get_members", "{}"));
	star_expect_has(&w.bob, "\"count\":2,");
	world_stop(&w);
}

TEST(other_requests_are_errors)
{
	static const char *const rows[][2] = {
		{ REQUEST("q", "unknown", "{}"), "VALIDATION_ERROR" },
		{ "{\"type\":\"stream\",\"id\":\"q\"}", "VALIDATION_ERROR" },
		{ "{\"type\":\"event\",\"id\":\"q\",\"event\":\"x\"}",
		    "VALIDATION_ERROR" },
		{ "{\"type\":\"action\",\"action\":\"move\",\"id\":\"q\"}",
		    "VALIDATION_ERROR" },
		{ "[1]", "VALIDATION_ERROR" },
		{ "{}", "VALIDATION_ERROR" },
		{ REQUEST("q", "version_negotiate", "{}"), "VALIDATION_ERROR" },
		{ REQUEST("q", "version_negotiate",
		      "{\"supported_versions\":[\"2.0\",10,\"10.1\"]}"),
		    "VALIDATION_ERROR" },
		{ REQUEST("q", "join_environment", "{}"), "VALIDATION_ERROR" },
		{ REQUEST("q", "join_environment", "{\"env_id\":\"x\"}"),
		    "VALIDATION_ERROR" },
		{ REQUEST("q", "admin_command", "{}"), "PERMISSION_DENIED" },
	};
	struct world w;
	char text[100];
	size_t i;

	world_start(&w);
	for (i = 0; i < NELEM(rows); i++) {
		star_send(&w.bob, "human:bob", "hub:hub", rows[i][0]);
		(void)snprintf(text, sizeof(text),
		    "\"payload\":{\"error_code\":\"%s\"", rows[i][1]);
		star_expect_has(&w.bob, text);
	}
	star_idle(&w.bob, "human:bob");
	world_stop(&w);
}

TEST(a_human_is_in_16_environments_at_most)
{
	struct star_fixture f = { 0 };
	struct tk_ws env[17], bob;
	char text[256];
	size_t i;

	star_start(&f, STAR_QUIET);
	star_open(&f, &bob, "/human/bob");
	for (i = 0; i < NELEM(env); i++) {
		(void)snprintf(text, sizeof(text), "/env/world_%zu", i);
		star_open(&f, &env[i], text);
		(void)snprintf(text, sizeof(text),
		    REQUEST(
			"q", "join_environment", "{\"env_id\":\"world_%zu\"}"),
		    i);
		star_send(&bob, "human:bob", "hub:hub", text);
		star_expect_has(&bob,
		    i < 16 ? "\"message\":\"joined\"" : "PERMISSION_DENIED");
	}
	for (i = 0; i < NELEM(env); i++)
		tk_ws_close(&env[i]);
	tk_ws_close(&bob);
	star_stop(&f);
}
