/*
 * What programs sent to version 1 of the hub, in its order, and what they get
 * here.  What differs from version 1 is in the README.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "testkit/star_fixture.h"

#define A            "{\"id\":\"agent_001\",\"type\":\"agent\"}"
#define B            "{\"id\":\"agent_002\",\"type\":\"agent\"}"
#define ENV          "{\"id\":\"demo_world\",\"type\":\"environment\"}"
#define BOB          "{\"id\":\"bob\",\"type\":\"human\"}"
#define HUB          "{\"id\":\"hub\",\"type\":\"hub\"}"
#define TO(id, type) "{\"id\":\"" id "\",\"type\":\"" type "\"}"

#define TYPED(type, from, to, payload)                                 \
	"{\"type\":\"" type "\",\"sender\":" from ",\"recipient\":" to \
	",\"payload\":" payload "}"
#define MSG(from, to, payload) TYPED("message", from, to, payload)

#define MOVE                                                      \
	"{\"type\":\"action\",\"action\":\"move\",\"id\":\"a1\"," \
	"\"parameters\":{\"distance\":2.5}}"
#define SEEN "{\"type\":\"event\",\"id\":\"e1\",\"event\":\"agent_moved\"}"
#define QUERY(name, data)                                      \
	"{\"type\":\"stream\",\"id\":\"q1\",\"stream\":\"s\"," \
	"\"stream_type\":\"" name "\",\"data\":{" data "}}"

#define ERROR(code, type) \
	"\"error_code\":\"" code "\",\"error_type\":\"" type "\""
#define INVALID   ERROR("VALIDATION_ERROR", "validation_error")
#define DENIED    ERROR("PERMISSION_DENIED", "permission_denied")
#define NOT_FOUND ERROR("CONNECTION_ERROR", "target_not_found")

enum { CLIENT_ENV, CLIENT_A, CLIENT_B, CLIENT_BOB, CLIENTS };
static const char *const paths[CLIENTS] = { "/env/demo_world",
	"/env/demo_world/agent/agent_001", "/env/demo_world/agent/agent_002",
	"/human/bob" };
static const char *const parties[CLIENTS] = { "environment:demo_world",
	"agent:agent_001", "agent:agent_002", "human:bob" };

#define TO_ENV (1U << CLIENT_ENV)
#define TO_A   (1U << CLIENT_A)
#define TO_B   (1U << CLIENT_B)
#define TO_BOB (1U << CLIENT_BOB)

/* A frame of a client, and text of what these get; all others get nothing. */
static const struct trace_row {
	const char *what;
	int from;
	const char *frame;
	unsigned to;
	const char *text;
} rows[] = {
	{ "heartbeat", CLIENT_A, TYPED("heartbeat", A, HUB, "{}"), TO_A,
	    "\"ping\":\"pong\",\"pong\":true,\"status\":\"connected\"" },
	{ "action", CLIENT_A, MSG(A, ENV, MOVE), TO_ENV, MOVE },
	{ "outcome", CLIENT_ENV,
	    MSG(ENV, A, "{\"type\":\"outcome\",\"id\":\"a1\"}"), TO_A,
	    "\"payload\":{\"type\":\"outcome\",\"id\":\"a1\"}" },
	{ "event to *", CLIENT_ENV, MSG(ENV, TO("*", "agent"), SEEN),
	    TO_A | TO_B, SEEN },
	{ "event to the room", CLIENT_ENV,
	    MSG(ENV, TO("env_demo_world_all", "hub"), SEEN), TO_A | TO_B,
	    SEEN },
	{ "event to all", CLIENT_ENV, MSG(ENV, TO("all", "hub"), SEEN),
	    TO_A | TO_B | TO_BOB, SEEN },
	{ "broadcast", CLIENT_ENV, MSG(ENV, TO("broadcast", "hub"), SEEN),
	    TO_A | TO_B | TO_BOB, SEEN },
	{ "event to no room", CLIENT_ENV, MSG(ENV, TO("foo_all", "hub"), SEEN),
	    TO_ENV, NOT_FOUND },
	{ "an agent broadcasts", CLIENT_A, MSG(A, TO("all", "hub"), SEEN), TO_A,
	    DENIED },
	{ "stream of the document", CLIENT_A,
	    MSG(A, ENV, "{\"type\":\"stream\",\"stream_type\":\"sensor\"}"),
	    TO_ENV, "\"stream_type\":\"sensor\"" },
	{ "stream of the SDK", CLIENT_A,
	    MSG(A, ENV, "{\"type\":\"stream\",\"stream\":\"sensor\"}"), TO_ENV,
	    "\"stream\":\"sensor\"" },
	{ "another's sender", CLIENT_A, MSG(B, ENV, MOVE), TO_ENV,
	    "\"sender\":" A },
	{ "unknown target", CLIENT_A,
	    MSG(A, TO("nowhere", "environment"), MOVE), TO_A, NOT_FOUND },
	{ "no JSON", CLIENT_A, "{not json", TO_A, INVALID },
	{ "missing members", CLIENT_A, "{\"type\":\"message\"}", TO_A,
	    "\"/sender: is missing\"" },
	{ "wrong type", CLIENT_A, TYPED("bogus", A, ENV, MOVE), TO_A, INVALID },
	{ "wrong recipient type", CLIENT_A,
	    MSG(A, TO("demo_world", "alien"), MOVE), TO_A,
	    ERROR("INVALID_CLIENT_TYPE", "validation_error") },
	{ "unlisted action", CLIENT_A,
	    MSG(A, ENV, "{\"type\":\"action\",\"action\":\"dance\"}"), TO_ENV,
	    "\"dance\"" },
	{ "agent to human", CLIENT_A, MSG(A, BOB, SEEN), TO_A, DENIED },
	{ "agent to agent", CLIENT_A, MSG(A, B, SEEN), TO_B, SEEN },
	{ "not the target's type", CLIENT_A,
	    MSG(A, TO("agent_002", "environment"), SEEN), TO_A, NOT_FOUND },
	{ "payload without type", CLIENT_A, MSG(A, ENV, "{\"x\":1}"), TO_ENV,
	    "\"payload\":{\"x\":1}" },
	{ "payload an array", CLIENT_A, MSG(A, ENV, "[1,2]"), TO_ENV,
	    "\"payload\":[1,2]" },
	{ "environments", CLIENT_BOB,
	    MSG(BOB, HUB, QUERY("get_environments", "")), TO_BOB,
	    "\"environments\":[{\"id\":\"demo_world\",\"client_count\":2," },
	{ "statistics", CLIENT_BOB,
	    MSG(BOB, HUB, QUERY("get_server_stats", "")), TO_BOB,
	    "\"active_connections\":4,\"active_agents\":2," },
	{ "version", CLIENT_BOB,
	    MSG(BOB, HUB,
		QUERY("version_negotiate", "\"supported_versions\":[\"1.0\"]")),
	    TO_BOB, "\"selected_version\":\"1.0\"" },
	{ "admin command", CLIENT_BOB,
	    MSG(BOB, HUB, QUERY("admin_command", "")), TO_BOB, DENIED },
	{ "no request", CLIENT_BOB, MSG(BOB, HUB, SEEN), TO_BOB, INVALID },
	{ "a client's error", CLIENT_A,
	    TYPED("error", A, ENV, "{\"error_code\":\"X\"}"), TO_ENV,
	    "\"payload\":{\"error_code\":\"X\"}" },
	{ "an event to the hub by the name server", CLIENT_A,
	    MSG(A, TO("server", "hub"),
		"{\"type\":\"action\",\"action\":\"ping\",\"id\":\"p\"}"),
	    TO_A, "\"message\":\"pong\"" },
};

static void
row_check(struct tk_ws c[CLIENTS], const struct trace_row *row, bool binary)
{
	const char *msg;
	int i;

	if (binary)
		tk_ws_send_frame(&c[row->from], 0x82, str_of(row->frame));
	else
		tk_ws_send(&c[row->from], row->frame);
	for (i = 0; i < CLIENTS; i++) {
		if ((row->to & 1U << i) != 0) {
			msg = star_next(&c[i]);
			ck_assert_msg(strstr(msg, row->text) != NULL,
			    "%s: %s\nhas no %s", row->what, msg, row->text);
		}
		star_idle(&c[i], parties[i]);
	}
}

/* Binary frames have the same meaning. */
static void
check_trace(bool binary)
{
	struct star_fixture f = { 0 };
	struct tk_ws c[CLIENTS];
	size_t i;

	star_start(&f, STAR_QUIET);
	for (i = 0; i < CLIENTS; i++)
		star_open(&f, &c[i], paths[i]);
	for (i = 0; i < NELEM(rows); i++)
		row_check(c, &rows[i], binary);
	for (i = 0; i < CLIENTS; i++)
		star_leave(&c[i]);
	star_stop(&f);
}

TEST(what_programs_sent_to_version_1)
{
	check_trace(false);
}

TEST(the_same_in_binary_frames)
{
	check_trace(true);
}

TEST(a_newer_connection_and_an_older_one)
{
	struct star_fixture f = { 0 };
	struct tk_ws env, env2, a, a2, same;

	star_start(&f, STAR_QUIET);
	star_open(&f, &env, paths[CLIENT_ENV]);
	star_open(&f, &a, paths[CLIENT_A]);
	star_open(&f, &a2, paths[CLIENT_A]);
	tk_ws_send(&env, MSG(ENV, A, SEEN));
	star_expect_has(&a2, SEEN);
	/* The older one is closed, and its end changes nothing. */
	ck_assert_uint_eq(tk_ws_end(&a), 4409);
	tk_ws_close(&a);
	tk_ws_send(&env, MSG(ENV, A, SEEN));
	star_expect_has(&a2, SEEN);
	star_open(&f, &env2, paths[CLIENT_ENV]);
	ck_assert_uint_eq(tk_ws_end(&env), 4409);
	tk_ws_send(&a2, MSG(A, ENV, MOVE));
	star_expect_has(&env2, MOVE);
	/* An agent may have the id of its environment. */
	star_open(&f, &same, "/env/demo_world/agent/demo_world");
	tk_ws_send(&a2, MSG(A, ENV, MOVE));
	star_expect_has(&env2, MOVE);
	star_idle(&same, "agent:demo_world");
	tk_ws_close(&env);
	star_leave(&env2);
	star_leave(&a2);
	star_leave(&same);
	star_stop(&f);
}

TEST(ids_and_paths)
{
	static const struct {
		const char *path;
		int status;
	} ids[] = {
		{ "/env/ab", 400 },
		{ "/env/xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
		    400 },
		{ "/env/demo_world/agent/a", 400 },
		{ "/env/%20%E4%B8%AD/agent/zz%2Fq", 400 },
		{ "/env/demo_world/foo/bar", 404 },
		{ "/nope", 404 },
		{ "/ws/metaverse", 404 },
		{ "/env/demo_world?x=1", 101 },
		{ "/env/ghost_env/agent/agent_009", 101 },
		{ "/env/%E4%B8%AD%E6%96%87%E5%90%8D", 101 },
	};
	struct star_fixture f = { 0 };
	struct tk_ws c;
	size_t i;

	star_start(&f, STAR_QUIET);
	for (i = 0; i < NELEM(ids); i++) {
		ck_assert_msg(tk_ws_open(&c, f.hub.http, ids[i].path, NULL) ==
			ids[i].status,
		    "%s", ids[i].path);
		tk_ws_close(&c);
	}
	star_stop(&f);
}

TEST(sizes)
{
	enum { MIB = 1024 * 1024 };
	static const size_t sizes[] = { 65536, MIB, MIB + 1 };
	struct star_fixture f = { 0 };
	struct tk_ws env, a;
	char *text = mem_alloc(MIB + 2);
	size_t i;
	int n;

	star_start(&f, STAR_QUIET);
	star_open(&f, &env, paths[CLIENT_ENV]);
	star_open(&f, &a, paths[CLIENT_A]);
	for (i = 0; i < NELEM(sizes); i++) {
		n = snprintf(text, MIB + 2, "%.*s\"",
		    (int)strlen(MSG(A, ENV, "")) - 1, MSG(A, ENV, ""));
		memset(text + n, 'x', sizes[i] - (size_t)n - 2);
		memcpy(text + sizes[i] - 2, "\"}", 3);
		tk_ws_send(&a, text);
		if (sizes[i] <= MIB)
			ck_assert_uint_ge(strlen(star_next(&env)), sizes[i]);
		else
			ck_assert_uint_eq(tk_ws_end(&a), 1009);
	}
	free(text);
	tk_ws_close(&a);
	star_leave(&env);
	star_stop(&f);
}
