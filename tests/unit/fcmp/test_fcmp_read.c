/*
 * Events of logs, and those that readers make.
 */
#include "core/mem.h"
#include "fcmp/fcmp_read.h"
#include "testkit/testkit.h"
#include "wire/wire.h"

#define REST                                                       \
	"\"protocol_version\":\"fcmp/1.0\",\"run_id\":\"turn_1\"," \
	"\"ts\":\"2026-02-22T10:20:30Z\",\"engine\":\"soul\","     \
	"\"type\":\"conversation.started\",\"data\":{}}"

static struct fcmp_head head;
static struct buf text;
static struct arena *a;
static struct fcmp_event e;

static void
setup(void)
{
	buf_init(&text, WIRE_MESSAGE_MAX);
	a = arena_new(WIRE_ARENA_MAX);
	head = fcmp_chat_head(
	    STR("turn_1"), STR("s1"), STR("2026-02-22T10:20:30Z"));
	head.seq = 7;
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
	    fcmp_event_decode_unnumbered(41, STR(" {" REST "\n"), &text, a, &e),
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
		    fcmp_event_decode_unnumbered(1, bad[i], &text, a, &e),
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

TEST(events_that_readers_make_are_valid)
{
	struct buf small = BUF_INIT(64);

	setup();
	check_event(fcmp_event_lost(&head, false, &text, &e),
	    "\"error\":{\"category\":\"runtime\",\"code\":\"TURN_LOST\","
	    "\"message\":\"the turn was lost\",\"retryable\":true}");
	check_event(fcmp_event_lost(&head, true, &text, &e),
	    "\"the turn was lost; an action may have been carried out\","
	    "\"retryable\":false}");
	check_event(
	    fcmp_event_expired(&head, &text, &e), "\"code\":\"EVENTS_GONE\"");
	ck_assert_int_eq(fcmp_event_expired(&head, &small, &e), RC_TOOBIG);
	buf_free(&small);
	teardown();
}

TEST(a_question_ends_a_turn_but_not_a_run)
{
	size_t i, turn = 0, run = 0;

	for (i = 0; i < NELEM(wire_chat_event_type_names); i++) {
		turn += fcmp_event_ends_turn((enum wire_chat_event_type)i);
		run += fcmp_event_ends_run((enum wire_chat_event_type)i);
	}
	ck_assert_uint_eq(turn, 3);
	ck_assert_uint_eq(run, 2);
	ck_assert(
	    fcmp_event_ends_turn(WIRE_CHAT_EVENT_TYPE_USER_INPUT_REQUIRED));
	ck_assert(
	    fcmp_event_ends_run(WIRE_CHAT_EVENT_TYPE_CONVERSATION_COMPLETED));
	ck_assert(
	    fcmp_event_ends_run(WIRE_CHAT_EVENT_TYPE_CONVERSATION_FAILED));
}
