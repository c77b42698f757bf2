/* Commands, checked before they are passed on. */
#include "command.h"
#include "core/mem.h"
#include "testkit/testkit.h"
#include "wire/subjects.h"

#define ACTION(t)                                                       \
	"{\"request_id\":\"ia-1\",\"session_id\":\"s1\",\"terminal_"    \
	"id\":\"" t "\",\"soul_id\":\"s\",\"intents\":[{\"intent_id\":" \
	"\"i\",\"confidence\":1,\"normalized\":{}}],\"exec_"            \
	"probability\":1,\"ts\":\"2026-02-22T10:20:31Z\"}"
#define STATUS "{\"status\":\"mem0_searching\",\"ts\":\"x\"}"

static const struct {
	size_t row;
	const char *text;
	enum rc rc;
	const char *path, *request;
} cases[] = {
	{ WIRE_TOPIC_INVOKE,
	    "{\"request_id\":\"r\",\"skill\":\"s\",\"arguments\":{},\"ts\":"
	    "\"x\",\"more\":1}",
	    RC_OK, NULL, "r" },
	{ WIRE_TOPIC_INVOKE, "{\"request_id\":\"r\",\"skill\":\"s\"}",
	    RC_INVALID, "/arguments", NULL },
	{ WIRE_TOPIC_INVOKE, "[]", RC_INVALID, "", NULL },
	{ WIRE_TOPIC_INVOKE, "", RC_INVALID, "", NULL },
	{ WIRE_TOPIC_INTENT_ACTION, ACTION("t1"), RC_OK, NULL, "ia-1" },
	{ WIRE_TOPIC_INTENT_ACTION, ACTION("t2"), RC_INVALID, "/terminal_id",
	    NULL },
	{ WIRE_TOPIC_STATUS, STATUS, RC_OK, NULL, "" },
	{ WIRE_TOPIC_STATUS, "{\"status\":\"x\",\"ts\":\"x\"}", RC_INVALID,
	    "/status", NULL },
	{ WIRE_TOPIC_EMOTION_UPDATE, "{}", RC_INVALID, "/session_id", NULL },
};

TEST(commands_of_all_kinds)
{
	struct arena *a = arena_new(WIRE_ARENA_MAX);
	struct command_in in = { .terminal = STR("t1"), .now = { 1 } };
	struct command c;
	struct wire_err err;
	enum rc rc;
	size_t i;

	for (i = 0; i < NELEM(cases); i++) {
		in.row = cases[i].row;
		in.text = str_of(cases[i].text);
		rc = command_read(&in, a, &c, &err);
		ck_assert_msg(rc == cases[i].rc, "%zu: %s", i, rc_name(rc));
		if (rc != RC_OK) {
			ck_assert_str_eq(err.path, cases[i].path);
			continue;
		}
		/* It is passed on as it is. */
		ck_assert_ptr_eq(c.payload.p, in.text.p);
		ck_assert(str_eq(c.request_id, str_of(cases[i].request)));
		ck_assert_int_eq(c.deadline.ms, 0);
		arena_reset(a);
	}
	arena_free(a);
}

TEST(an_invoke_gets_a_time)
{
	struct arena *a = arena_new(WIRE_ARENA_MAX);
	struct command_in in = { WIRE_TOPIC_INVOKE, STR("t1"),
		STR("{\"request_id\":\"r\",\"skill\":\"s\",\"arguments\":"
		    "{\"a\":1},\"deadline_ms\":77}"),
		{ 1771755630000 } };
	struct command c;
	struct wire_err err;

	ck_assert_int_eq(command_read(&in, a, &c, &err), RC_OK);
	ck_assert_str_eq(c.payload.p,
	    "{\"request_id\":\"r\",\"skill\":\"s\",\"arguments\":{\"a\":1},"
	    "\"ts\":\"2026-02-22T10:20:30Z\",\"deadline_ms\":77}");
	ck_assert_int_eq(c.deadline.ms, 77);
	ck_assert(str_eq(c.skill, STR("s")));
	arena_free(a);
	a = arena_new(64);
	ck_assert_int_eq(command_read(&in, a, &c, &err), RC_TOOBIG);
	arena_free(a);
}
