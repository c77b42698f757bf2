/*
 * Messages and their recipients: what a client of version 1 sends, and what the
 * protocol's document asks for.
 */
#include <string.h>
#include <sys/socket.h>

#include "core/mem.h"
#include "testkit/star_fixture.h"
#include "testkit/testkit.h"
#include "testkit/ws_frames.h"

/* An environment with two agents, and a human that is in none. */
struct world {
	struct star_fixture f;
	struct tk_ws env, a, b, bob;
};

static void
world_start(struct world *w, const char *const more[])
{
	memset(w, 0, sizeof(*w));
	star_start(&w->f, more);
	star_open(&w->f, &w->env, "/env/demo_world");
	star_open(&w->f, &w->a, "/env/demo_world/agent/agent_001");
	star_open(&w->f, &w->b, "/env/demo_world/agent/agent_002");
	star_open(&w->f, &w->bob, "/human/bob");
}

/* Frames of its environment, as ws_frames_put() has them, with one write. */
static void
world_send_frames(const struct world *w, const char *frames)
{
	struct buf b = BUF_INIT(16384);

	ws_frames_put(&b, frames);
	ck_assert_int_eq(send(w->env.fd, b.p, b.n, MSG_NOSIGNAL), (ssize_t)b.n);
	buf_free(&b);
}

static void
world_stop(struct world *w)
{
	tk_ws_close(&w->env);
	tk_ws_close(&w->a);
	tk_ws_close(&w->b);
	tk_ws_close(&w->bob);
	star_stop(&w->f);
}

/* Nothing waits for any of them. */
static void
world_idle(struct world *w)
{
	star_idle(&w->env, "environment:demo_world");
	star_idle(&w->a, "agent:agent_001");
	star_idle(&w->b, "agent:agent_002");
	star_idle(&w->bob, "human:bob");
}

#define MOVE                                                                \
	"{\"type\":\"action\",\"action\":\"move\",\"id\":\"action_12345\"," \
	"\"parameters\":{\"direction\":\"north\",\"distance\":2.5}}"
#define EVENT                                                               \
	"{\"type\":\"event\",\"id\":\"event_1\",\"event\":\"agent_moved\"," \
	"\"data\":{\"agent_id\":\"agent_001\"}}"
#define ENV "environment:demo_world"
#define A   "agent:agent_001"
#define B   "agent:agent_002"
#define BOB "human:bob"

TEST(payloads_arrive_byte_for_byte)
{
	static const char *const payloads[] = { MOVE, EVENT,
		"{\"type\":\"action\",\"action\":\"dance\",\"id\":\"1\"}",
		"{\"type\":\"outcome\",\"id\":\"1\",\"outcome\":{}}",
		"{\"type\":\"stream\",\"stream_type\":\"sensor_data\","
		"\"sequence\":12345,\"data\":{\"t\":1}}",
		"{\"type\":\"stream\",\"id\":\"s1\",\"stream\":\"x\"}",
		"{\"x\":1}", "[1, 2]", "null", "-0.10e+5", "\"text\"", "true",
		"{ \"a\" :\t1e300,\n \"b\":\"\\u4e2d\\/\" }" };
	struct world w;
	size_t i;

	world_start(&w, STAR_QUIET);
	for (i = 0; i < NELEM(payloads); i++) {
		star_send(&w.a, A, ENV, payloads[i]);
		star_expect_message(&w.env, A, ENV, payloads[i]);
		star_send(&w.env, ENV, A, payloads[i]);
		star_expect_message(&w.a, ENV, A, payloads[i]);
	}
	star_send(&w.a, A, B, EVENT);
	star_expect_message(&w.b, A, B, EVENT);
	world_idle(&w);
	world_stop(&w);
}

TEST(all_members_of_an_envelope_are_forwarded)
{
	static const char text[] =
	    "{\"x\":[1,{}],\"type\":\"message\",\"id\":\"m1\",\"recipient\":"
	    "{\"id\":\"demo_world\",\"type\":\"environment\",\"y\":2},"
	    "\"sender\":{\"id\":\"agent_001\",\"type\":\"agent\"},"
	    "\"message_id\":7,\"payload\":1,\"timestamp\":\"mine\"}";
	struct world w;

	world_start(&w, STAR_QUIET);
	tk_ws_send(&w.a, text);
	ck_assert_str_eq(star_next(&w.env), text);
	/* A binary frame becomes text. */
	tk_ws_send_frame(&w.a, 0x82, str_of(text));
	ck_assert_str_eq(star_next(&w.env), text);
	/* A client's error is routed. */
	tk_ws_send(&w.a,
	    "{\"type\":\"error\",\"sender\":{\"id\":\"agent_001\",\"type\":"
	    "\"agent\"},\"recipient\":{\"id\":\"demo_world\",\"type\":"
	    "\"environment\"},\"payload\":{\"error_code\":\"X\"}}");
	star_expect_has(&w.env, "{\"type\":\"error\",");
	world_stop(&w);
}

TEST(a_wrong_sender_is_rewritten)
{
	struct world w;

	world_start(&w, STAR_QUIET);
	star_send(&w.a, B, ENV, MOVE);
	star_expect_message(&w.env, A, ENV, MOVE);
	star_send(&w.a, "human:agent_001", ENV, MOVE);
	star_expect_message(&w.env, A, ENV, MOVE);
	world_idle(&w);
	world_stop(&w);
}

TEST(a_wrong_sender_is_rejected_if_that_is_set)
{
	struct world w;

	world_start(&w, TK_ENV("STAR_PRESENCE=off", "STAR_SENDER=refuse"));
	star_send(&w.a, B, ENV, MOVE);
	star_expect_error(&w.a, "PERMISSION_DENIED", "permission_denied");
	star_send(&w.a, A, ENV, MOVE);
	star_expect_message(&w.env, A, ENV, MOVE);
	world_idle(&w);
	world_stop(&w);
}

/* A message of a sender, and the error that it gets; NULL: of nobody. */
static const struct denied_row {
	const char *from, *to, *code, *type;
} denied_rows[] = {
	{ A, "environment:nowhere", "CONNECTION_ERROR", "target_not_found" },
	{ A, "agent:nobody", "CONNECTION_ERROR", "target_not_found" },
	{ A, "environment:agent_002", "CONNECTION_ERROR", "target_not_found" },
	{ A, "hub:agent_002", "CONNECTION_ERROR", "target_not_found" },
	{ A, "agent:hub", "CONNECTION_ERROR", "target_not_found" },
	{ A, "alien:demo_world", "INVALID_CLIENT_TYPE", "validation_error" },
	{ A, "hub:all", "PERMISSION_DENIED", "permission_denied" },
	{ A, "agent:*", "PERMISSION_DENIED", "permission_denied" },
	{ A, "hub:env_demo_world_all", "PERMISSION_DENIED",
	    "permission_denied" },
	{ A, BOB, "PERMISSION_DENIED", "permission_denied" },
	{ A, "human:nobody", "CONNECTION_ERROR", "target_not_found" },
	{ ENV, BOB, "PERMISSION_DENIED", "permission_denied" },
	{ ENV, "hub:foo_all", "CONNECTION_ERROR", "target_not_found" },
	{ ENV, "hub:env_ghost_all", "CONNECTION_ERROR", "env_not_found" },
	{ ENV, "environment:*", "VALIDATION_ERROR", "validation_error" },
	{ BOB, A, "CONNECTION_ERROR", "target_not_found" },
	{ BOB, BOB, "PERMISSION_DENIED", "permission_denied" },
	{ BOB, "hub:all", "PERMISSION_DENIED", "permission_denied" },
	{ BOB, "environment:nowhere", "CONNECTION_ERROR", "target_not_found" },
};

TEST(who_may_not_send_to_whom)
{
	struct world w;
	size_t i;

	world_start(&w, STAR_QUIET);
	for (i = 0; i < NELEM(denied_rows); i++) {
		const struct denied_row *r = &denied_rows[i];
		struct tk_ws *c = strcmp(r->from, A) == 0 ? &w.a
		    : strcmp(r->from, ENV) == 0           ? &w.env
							  : &w.bob;
		const char *msg;

		star_send(c, r->from, r->to, EVENT);
		msg = star_expect_error(c, r->code, r->type);
		ck_assert_ptr_nonnull(strstr(msg, "\"suggested_action\":\""));
	}
	world_idle(&w);
	world_stop(&w);
}

TEST(an_environment_broadcasts)
{
	static const char *const agents[] = { "agent:*", "agent:all" };
	static const char *const members[] = { "hub:*",
		"hub:env_demo_world_all" };
	static const char *const all[] = { "hub:all", "hub:broadcast" };
	struct world w;
	struct tk_ws c;
	size_t i;

	world_start(&w, STAR_QUIET);
	star_open(&w.f, &c, "/env/other_world/agent/agent_003");
	for (i = 0; i < NELEM(agents); i++) {
		star_send(&w.env, ENV, agents[i], EVENT);
		star_expect_message(&w.a, ENV, agents[i], EVENT);
		star_expect_message(&w.b, ENV, agents[i], EVENT);
		if (strcmp(agents[i], "agent:all") == 0)
			star_expect_message(&c, ENV, agents[i], EVENT);
		world_idle(&w);
	}
	for (i = 0; i < NELEM(members); i++) {
		star_send(&w.env, ENV, members[i], EVENT);
		star_expect_message(&w.a, ENV, members[i], EVENT);
		star_expect_message(&w.b, ENV, members[i], EVENT);
		world_idle(&w);
	}
	for (i = 0; i < NELEM(all); i++) {
		star_send(&w.env, ENV, all[i], EVENT);
		star_expect_message(&w.a, ENV, all[i], EVENT);
		star_expect_message(&w.b, ENV, all[i], EVENT);
		star_expect_message(&w.bob, ENV, all[i], EVENT);
		star_expect_message(&c, ENV, all[i], EVENT);
		world_idle(&w);
	}
	star_idle(&c, "agent:agent_003");
	tk_ws_close(&c);
	world_stop(&w);
}

/* All that the environment sends comes with one read of the hub. */
TEST(broadcasts_are_in_order_with_what_follows_them)
{
	struct buf frames = BUF_INIT(8192);
	char text[512];
	struct world w;
	int i;

	world_start(&w, STAR_QUIET);
	for (i = 0; i < 5; i++) {
		buf_puts(&frames, i > 0 ? " | 81 " : "81 ");
		buf_puts(&frames,
		    star_envelope(text, sizeof(text), ENV,
			i % 3 < 2 ? "agent:*" : "agent:agent_001",
			star_numbered(i)));
	}
	/* A text that is not UTF-8 ends the connection. */
	buf_puts(&frames, " | 81 \\ff");
	world_send_frames(&w, frames.p);
	for (i = 0; i < 5; i++)
		star_expect_message(&w.a, ENV,
		    i % 3 < 2 ? "agent:*" : "agent:agent_001",
		    star_numbered(i));
	for (i = 0; i < 5; i += i % 3 < 1 ? 1 : 2)
		star_expect_message(&w.b, ENV, "agent:*", star_numbered(i));
	ck_assert_uint_eq(tk_ws_end(&w.env), 1007);
	buf_free(&frames);
	world_stop(&w);
}

TEST(without_global_broadcast_all_are_the_members)
{
	struct world w;
	struct tk_ws c;

	world_start(
	    &w, TK_ENV("STAR_PRESENCE=off", "STAR_GLOBAL_BROADCAST=off"));
	star_open(&w.f, &c, "/env/other_world");
	star_send(&w.env, ENV, "hub:all", EVENT);
	star_expect_message(&w.a, ENV, "hub:all", EVENT);
	star_expect_message(&w.b, ENV, "hub:all", EVENT);
	star_send(&w.env, ENV, "environment:other_world", EVENT);
	star_expect_error(&w.env, "PERMISSION_DENIED", "permission_denied");
	star_send(
	    &c, "environment:other_world", "hub:env_demo_world_all", EVENT);
	star_expect_error(&c, "PERMISSION_DENIED", "permission_denied");
	star_idle(&c, "environment:other_world");
	world_idle(&w);
	tk_ws_close(&c);
	world_stop(&w);
}

TEST(an_environment_may_be_missing)
{
	struct star_fixture f = { 0 };
	struct tk_ws a, env;

	star_start(&f, STAR_QUIET);
	star_open(&f, &a, "/env/demo_world/agent/agent_001");
	star_send(&a, A, ENV, MOVE);
	star_expect_error(&a, "CONNECTION_ERROR", "env_not_found");
	star_open(&f, &env, "/env/demo_world");
	star_send(&a, A, ENV, MOVE);
	star_expect_message(&env, A, ENV, MOVE);
	tk_ws_close(&a);
	tk_ws_close(&env);
	star_stop(&f);
}

#define HUMAN_REQUEST(name, env)                                \
	"{\"type\":\"stream\",\"id\":\"q1\",\"stream\":\"" name \
	"\",\"data\":{\"env_id\":\"" env "\"}}"

TEST(a_human_joins_an_environment)
{
	struct world w;

	world_start(&w, NULL);
	star_expect_has(&w.env, "agent_joined");
	star_expect_has(&w.env, "agent_joined");
	star_send(&w.bob, BOB, A, EVENT);
	star_expect_error(&w.bob, "CONNECTION_ERROR", "target_not_found");
	star_send(&w.bob, BOB, "hub:hub",
	    HUMAN_REQUEST("join_environment", "nowhere"));
	star_expect_error(&w.bob, "CONNECTION_ERROR", "env_not_found");
	star_send(&w.bob, BOB, "hub:hub",
	    HUMAN_REQUEST("join_environment", "demo_world"));
	star_expect_has(&w.bob,
	    "\"payload\":{\"type\":\"outcome\",\"id\":\"q1\",\"outcome\":{"
	    "\"status\":\"success\",\"message\":\"joined\",\"env_id\":"
	    "\"demo_world\"},\"outcome_type\":\"dict\"}");
	star_expect_has(&w.env,
	    "\"event\":\"human_joined\",\"data\":{\"human_id\":\"bob\"}");
	/* Its one environment is meant. */
	star_send(&w.bob, BOB, A, EVENT);
	star_expect_message(&w.a, BOB, A, EVENT);
	star_send(&w.a, A, BOB, EVENT);
	star_expect_message(&w.bob, A, BOB, EVENT);
	star_send(&w.env, ENV, "human:*", EVENT);
	star_expect_message(&w.bob, ENV, "human:*", EVENT);
	star_send(&w.bob, BOB, "hub:hub",
	    HUMAN_REQUEST("leave_environment", "demo_world"));
	star_expect_has(&w.bob, "\"message\":\"left\"");
	star_expect_has(&w.env,
	    "\"event\":\"human_left\",\"data\":{\"human_id\":\"bob\","
	    "\"reason\":\"closed\"}");
	star_send(&w.a, A, BOB, EVENT);
	star_expect_error(&w.a, "PERMISSION_DENIED", "permission_denied");
	star_send(&w.a, A, "hub:hub",
	    HUMAN_REQUEST("join_environment", "demo_world"));
	star_expect_error(&w.a, "PERMISSION_DENIED", "permission_denied");
	world_idle(&w);
	world_stop(&w);
}

TEST(a_human_in_several_environments_names_one)
{
	struct world w;
	struct tk_ws env;

	world_start(&w, STAR_QUIET);
	star_open(&w.f, &env, "/env/other_world");
	star_send(&w.bob, BOB, "hub:hub",
	    HUMAN_REQUEST("join_environment", "demo_world"));
	star_expect_has(&w.bob, "joined");
	star_send(&w.bob, BOB, "hub:hub",
	    HUMAN_REQUEST("join_environment", "other_world"));
	star_expect_has(&w.bob, "joined");
	star_send(&w.bob, BOB, A, EVENT);
	ck_assert_ptr_nonnull(strstr(
	    star_expect_error(&w.bob, "VALIDATION_ERROR", "validation_error"),
	    "\"validation_errors\":[\"/recipient/env: is missing, "));
	tk_ws_send(&w.bob,
	    "{\"type\":\"message\",\"sender\":{\"id\":\"bob\",\"type\":"
	    "\"human\"},\"recipient\":{\"id\":\"agent_001\",\"type\":"
	    "\"agent\",\"env\":\"demo_world\"},\"payload\":1}");
	star_expect_has(&w.a, "\"env\":\"demo_world\"},\"payload\":1");
	tk_ws_close(&env);
	world_stop(&w);
}

TEST(an_environment_replies_to_a_human_that_wrote_to_it)
{
	struct world w;

	world_start(&w, STAR_QUIET);
	star_send(&w.env, ENV, BOB, EVENT);
	star_expect_error(&w.env, "PERMISSION_DENIED", "permission_denied");
	star_send(&w.bob, BOB, ENV, MOVE);
	star_expect_message(&w.env, BOB, ENV, MOVE);
	star_send(&w.env, ENV, BOB, EVENT);
	star_expect_message(&w.bob, ENV, BOB, EVENT);
	world_stop(&w);
}

TEST(ids_may_be_written_with_escapes)
{
	struct star_fixture f = { 0 };
	struct tk_ws env, a;

	star_start(&f, STAR_QUIET);
	star_open(&f, &env, "/env/%E4%B8%AD%E6%96%87%E7%8E%AF");
	star_open(&f, &a, "/env/%E4%B8%AD%E6%96%87%E7%8E%AF/agent/abc");
	tk_ws_send(&a,
	    "{\"type\":\"message\",\"sender\":{\"id\":\"\\u0061bc\",\"type\":"
	    "\"agent\"},\"recipient\":{\"id\":\"\\u4e2d\\u6587\\u73af\","
	    "\"type\":\"environment\"},\"payload\":1}");
	star_expect_has(&env,
	    "{\"type\":\"message\",\"sender\":{\"id\":\"\\u0061bc\",\"type\":"
	    "\"agent\"},\"recipient\":{\"id\":\"\\u4e2d\\u6587\\u73af\",");
	tk_ws_close(&env);
	tk_ws_close(&a);
	star_stop(&f);
}
