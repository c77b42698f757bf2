/*
 * What programs on the published SDK of version 1 do, in the frames that it
 * sends: a heartbeat first, pretty-printed JSON, its spellings of broadcasts.
 */
#include <stdio.h>
#include <string.h>

#include "core/mem.h"
#include "testkit/star_fixture.h"

#define ENV "\"id\": \"demo_world\",\n    \"type\": \"environment\""
#define A   "\"id\": \"agent_001\",\n    \"type\": \"agent\""
#define BOB "\"id\": \"bob\",\n    \"type\": \"human\""

/* Each on one hub, and on two, with clients at both. */
static int hubs, next_hub;

#define SDK_TEST(name)                \
	static void name##_run(void); \
	TEST(name)                    \
	{                             \
		hubs = 1;             \
		name##_run();         \
	}                             \
	TEST(name##_on_two_hubs)      \
	{                             \
		hubs = 2;             \
		name##_run();         \
	}                             \
	static void name##_run(void)

/* A message, as the SDK writes one. */
static void
sdk_send(struct tk_ws *c, const char *from, const char *to, const char *payload)
{
	char text[4096];

	(void)snprintf(text, sizeof(text),
	    "{\n  \"type\": \"message\",\n  \"sender\": {\n    %s\n  },\n"
	    "  \"recipient\": {\n    %s\n  },\n  \"payload\": %s,\n"
	    "  \"timestamp\": \"2026-11-20T11:32:09.224349\"\n}",
	    from, to, payload);
	tk_ws_send(c, text);
}

/* Connect and send the SDK's heartbeat. */
static void
sdk_open(
    struct star_fixture *f, struct tk_ws *c, const char *path, const char *me)
{
	char text[512];

	star_open_at(f, next_hub++ % hubs, c, path);
	(void)snprintf(text, sizeof(text),
	    "{\"type\": \"heartbeat\", \"sender\": {%s}, \"recipient\": "
	    "{\"id\": \"hub\", \"type\": \"hub\"}, \"payload\": {}}",
	    me);
	tk_ws_send(c, text);
	star_expect_has(c, "\"pong\":true");
}

struct sdk {
	struct star_fixture f;
	struct tk_ws env, a, bob;
};

static void
sdk_start_with(struct sdk *s, const char *const settings[])
{
	memset(s, 0, sizeof(*s));
	next_hub = 0;
	star_start_hubs(&s->f, hubs, settings);
	sdk_open(&s->f, &s->env, "/env/demo_world", ENV);
	sdk_open(&s->f, &s->a, "/env/demo_world/agent/agent_001", A);
	star_expect_has(&s->env, "agent_joined");
	sdk_open(&s->f, &s->bob, "/human/bob", BOB);
}

static void
sdk_start(struct sdk *s)
{
	sdk_start_with(s, NULL);
}

static void
sdk_stop(struct sdk *s)
{
	tk_ws_close(&s->env);
	tk_ws_close(&s->a);
	tk_ws_close(&s->bob);
	star_stop(&s->f);
}

SDK_TEST(an_action_has_its_outcome)
{
	struct sdk s;

	sdk_start(&s);
	sdk_send(&s.a, A, ENV,
	    "{\"type\": \"action\", \"action\": \"pick_berries\", \"id\": "
	    "\"action_1\", \"parameters\": {\"n\": 2}}");
	star_expect_has(&s.env, "\"action\": \"pick_berries\"");
	sdk_send(&s.env, ENV, A,
	    "{\"type\": \"outcome\", \"id\": \"action_1\", \"outcome\": "
	    "{\"status\": \"success\"}, \"outcome_type\": \"dict\"}");
	star_expect_has(&s.a, "\"outcome\": {\"status\": \"success\"}");
	sdk_stop(&s);
}

SDK_TEST(a_ping_has_its_pong)
{
	struct sdk s;

	sdk_start(&s);
	sdk_send(&s.a, A, "\"id\": \"server\",\n    \"type\": \"hub\"",
	    "{\"type\": \"action\", \"action\": \"ping\", \"id\": \"p1\", "
	    "\"parameters\": {}}");
	star_expect_has(&s.a,
	    "\"id\":\"p1\",\"outcome\":{\"status\":\"success\","
	    "\"message\":\"pong\"");
	sdk_stop(&s);
}

SDK_TEST(an_event_reaches_all_agents)
{
	static const char *const to[] = {
		"\"id\": \"*\",\n    \"type\": \"agent\"",
		"\"id\": \"env_demo_world_all\",\n    \"type\": \"hub\"",
		"\"id\": \"all\",\n    \"type\": \"hub\"",
	};
	struct tk_ws b;
	struct sdk s;
	size_t i;

	sdk_start(&s);
	sdk_open(&s.f, &b, "/env/demo_world/agent/agent_002",
	    "\"id\": \"agent_002\", \"type\": \"agent\"");
	for (i = 0; i < NELEM(to); i++) {
		sdk_send(&s.env, ENV, to[i],
		    "{\"type\": \"event\", \"id\": \"e1\", \"event\": "
		    "\"world_update\", \"data\": {}}");
		star_expect_has(&s.a, "\"event\": \"world_update\"");
		star_expect_has(&b, "\"event\": \"world_update\"");
	}
	tk_ws_close(&b);
	sdk_stop(&s);
}

SDK_TEST(agents_have_a_dialogue)
{
	static const char b_is[] = "\"id\": \"agent_002\", \"type\": \"agent\"";
	struct tk_ws b;
	struct sdk s;

	sdk_start(&s);
	sdk_open(&s.f, &b, "/env/demo_world/agent/agent_002", b_is);
	sdk_send(&s.a, A, b_is,
	    "{\"type\": \"event\", \"id\": \"d1\", \"event\": \"dialogue\", "
	    "\"data\": {\"message\": \"\\u4f60\\u597d\"}}");
	star_expect_has(&b, "\"message\": \"\\u4f60\\u597d\"");
	sdk_send(&b, b_is, A,
	    "{\"type\": \"event\", \"id\": \"d2\", \"event\": \"dialogue\", "
	    "\"data\": {\"message\": \"hello\"}}");
	star_expect_has(&s.a, "\"message\": \"hello\"");
	tk_ws_close(&b);
	sdk_stop(&s);
}

SDK_TEST(a_human_joins_by_an_action_to_the_environment)
{
	struct sdk s;

	sdk_start(&s);
	sdk_send(&s.bob, BOB, ENV,
	    "{\"type\": \"action\", \"action\": \"join_environment\", \"id\": "
	    "\"j1\", \"parameters\": {\"env_id\": \"demo_world\"}}");
	star_expect_has(&s.env, "\"action\": \"join_environment\"");
	sdk_send(&s.env, ENV, BOB,
	    "{\"type\": \"outcome\", \"id\": \"j1\", \"outcome\": {\"status\": "
	    "\"success\"}, \"outcome_type\": \"dict\"}");
	star_expect_has(&s.bob, "\"id\": \"j1\"");
	sdk_stop(&s);
}

/* The SDK's join; the environment sees it, and answers or not. */
static void
sdk_join(struct sdk *s)
{
	sdk_send(&s->bob, BOB, ENV,
	    "{\"type\": \"action\", \"action\": \"join_environment\", \"id\": "
	    "\"j1\", \"parameters\": {\"env_id\": \"demo_world\"}}");
	star_expect_has(&s->env, "\"action\": \"join_environment\"");
}

static void
sdk_broadcast(struct sdk *s)
{
	sdk_send(&s->env, ENV, "\"id\": \"*\",\n    \"type\": \"hub\"",
	    "{\"type\": \"event\", \"id\": \"e1\", \"event\": "
	    "\"world_update\", \"data\": {}}");
	star_expect_has(&s->a, "world_update");
}

SDK_TEST(that_action_joins_the_environment_if_it_is_set)
{
	struct sdk s;

	sdk_start_with(&s, TK_ENV("STAR_HUMAN_AUTOJOIN=on"));
	/* Other actions do not. */
	sdk_send(&s.bob, BOB, ENV,
	    "{\"type\": \"action\", \"action\": \"observe\", \"id\": \"o1\", "
	    "\"parameters\": {}}");
	star_expect_has(&s.env, "\"action\": \"observe\"");
	sdk_send(&s.bob, BOB, ENV, "\"join_environment\"");
	star_expect_has(&s.env, "\"payload\": \"join_environment\"");
	sdk_broadcast(&s);
	star_idle(&s.bob, "human:bob");
	sdk_join(&s);
	star_expect_has(&s.env, "\"event\":\"human_joined\"");
	sdk_broadcast(&s);
	star_expect_has(&s.bob, "world_update");
	/* Joined it is already. */
	sdk_join(&s);
	star_idle(&s.env, "environment:demo_world");
	sdk_stop(&s);
}

SDK_TEST(that_action_is_only_forwarded_by_default)
{
	struct sdk s;

	sdk_start(&s);
	sdk_join(&s);
	sdk_broadcast(&s);
	star_idle(&s.bob, "human:bob");
	star_idle(&s.env, "environment:demo_world");
	sdk_stop(&s);
}
