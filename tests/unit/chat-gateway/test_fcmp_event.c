/*
 * Events of the log, and those that the gateway makes.
 */
#include "core/mem.h"
#include "streams/fcmp_event_view.h"
#include "testkit/sse.h"
#include "testkit/testkit.h"
#include "wire/wire.h"

#define REST                                                       \
	"\"protocol_version\":\"fcmp/1.0\",\"run_id\":\"turn_1\"," \
	"\"ts\":\"2026-02-22T10:20:30Z\",\"engine\":\"soul\","     \
	"\"type\":\"conversation.started\",\"data\":{}}"

static const struct fcmp_event_origin origin = { 7, STR_INIT("turn_1"),
	STR_INIT("s1"), { 1771755630000 } };

static struct buf text;
static struct arena *a;
static struct fcmp_event e;

static void
setup(void)
{
	buf_init(&text, WIRE_MESSAGE_MAX);
	a = arena_new(WIRE_ARENA_MAX);
}

static void
teardown(void)
{
	buf_free(&text);
	arena_free(a);
}

TEST(a_stored_event_gets_its_seq)
{
	setup();
	ck_assert_int_eq(
	    fcmp_event_decode_stored(41, STR(" {" REST "\n"), &text, a, &e),
	    RC_OK);
	ck_assert(str_eq(e.json, STR("{\"seq\":41," REST)));
	ck_assert_int_eq(e.seq, 41);
	ck_assert(str_eq(e.run_id, STR("turn_1")));
	ck_assert_int_eq(e.type, WIRE_CHAT_EVENT_TYPE_CONVERSATION_STARTED);
	teardown();
}

TEST(invalid_events_are_rejected)
{
	static const struct str bad[] = { STR_INIT(""), STR_INIT("{"),
		STR_INIT("{}"), STR_INIT("[]"), STR_INIT("\"x\""),
		STR_INIT("{\"seq\":1," REST), /* duplicate */
		STR_INIT("{" REST "}") };
	size_t i;

	setup();
	for (i = 0; i < NELEM(bad); i++)
		ck_assert_int_eq(
		    fcmp_event_decode_stored(1, bad[i], &text, a, &e),
		    RC_INVALID);
	ck_assert_int_eq(fcmp_event_decode(STR("{" REST), a, &e), RC_INVALID);
	ck_assert_int_eq(
	    fcmp_event_decode(STR("{\"seq\":9," REST), a, &e), RC_OK);
	ck_assert_int_eq(e.seq, 9);
	teardown();
}

/* The encoded event can be decoded and contains part. */
static void
check_event(enum rc rc, const char *part)
{
	struct fcmp_event decoded;

	ck_assert_int_eq(rc, RC_OK);
	ck_assert_msg(
	    str_find(e.json, str_of(part)) >= 0, "%s", buf_str(&text).p);
	ck_assert(
	    str_find(e.json, STR("\"ts\":\"2026-02-22T10:20:30Z\"")) >= 0);
	ck_assert_int_eq(fcmp_event_decode(e.json, a, &decoded), RC_OK);
	ck_assert_int_eq(decoded.seq, 7);
	ck_assert_int_eq(decoded.type, e.type);
	ck_assert(str_eq(decoded.run_id, STR("turn_1")));
}

TEST(generated_events_are_valid)
{
	struct wire_turn_reply rep = { .turn_id = STR("turn_1"),
		.state = WIRE_TURN_REPLY_STATE_COMPLETED,
		.has_response = true,
		.response = { .session_id = STR("s1"),
		    .terminal_id = STR("t1"),
		    .soul_id = STR("x"),
		    .reply = STR("好") } };

	setup();
	check_event(fcmp_event_lost(&origin, false, &text, &e),
	    "\"error\":{\"category\":\"runtime\",\"code\":\"TURN_LOST\","
	    "\"message\":\"the turn was lost\"");
	check_event(fcmp_event_lost(&origin, true, &text, &e),
	    "\"the turn was lost; an action may have been carried out\"");
	check_event(
	    fcmp_event_expired(&origin, &text, &e), "\"code\":\"EVENTS_GONE\"");
	check_event(
	    fcmp_event_final(&origin, &rep, &text, &e), "\"text\":\"好\"");
	ck_assert(
	    str_find(e.json,
		STR("\"structured_payload\":{\"session_id\":\"s1\"")) >= 0);
	check_event(fcmp_event_end(&origin, &rep, &text, &e),
	    "\"state\":\"completed\"");
	rep = (struct wire_turn_reply){ .turn_id = STR("turn_1"),
		.state = WIRE_TURN_REPLY_STATE_FAILED,
		.has_error = true,
		.error = { .error = STR("out of words"),
		    .code = STR("llm_unavailable") } };
	check_event(fcmp_event_end(&origin, &rep, &text, &e),
	    "\"code\":\"LLM_UNAVAILABLE\",\"message\":\"out of words\"");
	rep.has_error = false;
	check_event(
	    fcmp_event_end(&origin, &rep, &text, &e), "\"code\":\"INTERNAL\"");
	rep.state = WIRE_TURN_REPLY_STATE_CANCELED;
	check_event(
	    fcmp_event_end(&origin, &rep, &text, &e), "\"code\":\"CANCELED\"");
	teardown();
}

TEST(only_final_types_end_a_run)
{
	size_t i, n = 0;

	for (i = 0; i < NELEM(wire_chat_event_type_names); i++)
		n += fcmp_event_ends((enum wire_chat_event_type)i);
	ck_assert_uint_eq(n, 3);
	ck_assert(fcmp_event_ends(WIRE_CHAT_EVENT_TYPE_CONVERSATION_COMPLETED));
	ck_assert(fcmp_event_ends(WIRE_CHAT_EVENT_TYPE_CONVERSATION_FAILED));
	ck_assert(fcmp_event_ends(WIRE_CHAT_EVENT_TYPE_USER_INPUT_REQUIRED));
}
