/* Decoding of commands, and the replies to them. */
#include "core/mem.h"
#include "terminal/terminal_command.h"
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

TEST(commands_are_validated_and_passed_unchanged)
{
	struct arena *a = arena_new(WIRE_ARENA_MAX);
	struct command_input in = { .terminal = STR("t1"), .now = { 1 } };
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
		/* Passed on unchanged. */
		ck_assert_ptr_eq(c.payload.p, in.text.p);
		ck_assert(str_eq(c.request_id, str_of(cases[i].request)));
		ck_assert_int_eq(c.deadline.ms, 0);
		arena_reset(a);
	}
	arena_free(a);
}

TEST(an_invoke_without_ts_gets_one)
{
	struct arena *a = arena_new(WIRE_ARENA_MAX);
	struct command_input in = { WIRE_TOPIC_INVOKE, STR("t1"),
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

enum { SENT = -1 };

static const struct {
	int64_t deadlines[2];
	bool up;
	enum rc known;
	bool present;
	enum rc rc;
	int state; /* SENT: it is published */
} deliveries[] = {
	{ { 0, 0 }, true, RC_OK, true, RC_OK, SENT },
	{ { 1000, 1000 }, true, RC_OK, true, RC_OK, SENT },
	{ { 999, 0 }, true, RC_OK, true, RC_OK, WIRE_DELIVERY_STATE_LATE },
	{ { 0, 999 }, true, RC_OK, true, RC_OK, WIRE_DELIVERY_STATE_LATE },
	{ { 5000, 1 }, true, RC_OK, true, RC_OK, WIRE_DELIVERY_STATE_LATE },
	{ { 999, 0 }, false, RC_DOWN, false, RC_OK, WIRE_DELIVERY_STATE_LATE },
	{ { 0, 0 }, true, RC_OK, false, RC_OK, WIRE_DELIVERY_STATE_OFFLINE },
	{ { 0, 0 }, false, RC_OK, true, RC_DOWN, 0 },
	{ { 0, 0 }, true, RC_DOWN, false, RC_DOWN, 0 },
	/* A timeout of the look-up: nothing was published. */
	{ { 0, 0 }, true, RC_TIMEOUT, false, RC_DOWN, 0 },
	{ { 0, 0 }, true, RC_INVALID, false, RC_INVALID, 0 },
};

TEST(what_cannot_be_delivered_is_not_sent)
{
	struct delivery_facts f;
	struct delivery d;
	bool go;
	size_t i;

	for (i = 0; i < NELEM(deliveries); i++) {
		f = (struct delivery_facts){ .now = { 1000 },
			.deadlines = { { deliveries[i].deadlines[0] },
			    { deliveries[i].deadlines[1] } },
			.up = deliveries[i].up,
			.known = deliveries[i].known,
			.present = deliveries[i].present };
		go = delivery_before(&f, &d);
		ck_assert_msg(
		    go == (deliveries[i].state == SENT), "case %zu", i);
		if (go)
			continue;
		ck_assert_msg(d.rc == deliveries[i].rc, "case %zu", i);
		if (d.rc == RC_OK)
			ck_assert_msg(
			    (int)d.state == deliveries[i].state, "case %zu", i);
	}
}

TEST(the_reply_follows_the_acknowledgement)
{
	struct delivery d = delivery_after(RC_OK);

	ck_assert_int_eq(d.rc, RC_OK);
	ck_assert_int_eq(d.state, WIRE_DELIVERY_STATE_DELIVERED);
	d = delivery_after(RC_NOENT);
	ck_assert_int_eq(d.rc, RC_OK);
	ck_assert_int_eq(d.state, WIRE_DELIVERY_STATE_NO_SUBSCRIBER);
	ck_assert_int_eq(delivery_after(RC_DOWN).rc, RC_DOWN);
	ck_assert_int_eq(delivery_after(RC_TIMEOUT).rc, RC_TIMEOUT);
	ck_assert_int_eq(delivery_after(RC_RETRY).rc, RC_RETRY);
	ck_assert_int_eq(delivery_after(RC_DENIED).rc, RC_DENIED);
}
