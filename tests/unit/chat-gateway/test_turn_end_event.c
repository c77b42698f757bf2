/*
 * The last events of a turn, made of its record.
 */
#include "chat/turn_end_event.h"
#include "core/mem.h"
#include "testkit/testkit.h"
#include "wire/wire.h"

static struct buf text;
static struct arena *a;

/* The event is valid and contains part. */
static void
check_event(enum rc rc, const struct fcmp_event *e, const char *part)
{
	struct fcmp_event decoded;

	ck_assert_int_eq(rc, RC_OK);
	ck_assert_msg(
	    str_find(e->json, str_of(part)) >= 0, "%s", buf_str(&text).p);
	ck_assert_int_eq(fcmp_event_decode(e->json, a, &decoded), RC_OK);
	ck_assert_int_eq(decoded.seq, 7);
	ck_assert_int_eq(decoded.type, e->type);
	ck_assert(str_eq(decoded.run_id, STR("turn_1")));
}

TEST(a_turn_without_a_log_ends_as_its_record_does)
{
	struct wire_turn_reply rep = { .turn_id = STR("turn_1"),
		.state = WIRE_TURN_REPLY_STATE_COMPLETED,
		.has_response = true,
		.response = { .session_id = STR("s1"),
		    .terminal_id = STR("t1"),
		    .soul_id = STR("x"),
		    .reply = STR("好") } };
	struct fcmp_head h = fcmp_chat_head(
	    STR("turn_1"), STR("s1"), STR("2026-02-22T10:20:30Z"));
	struct fcmp_event e;

	buf_init(&text, WIRE_MESSAGE_MAX);
	a = arena_new(WIRE_ARENA_MAX);
	h.seq = 7;
	check_event(turn_end_event_text(&h, &rep, &text, &e), &e,
	    "\"text\":\"好\",\"structured_payload\":{\"session_id\":\"s1\"");
	check_event(
	    turn_end_event(&h, &rep, &text, &e), &e, "\"state\":\"completed\"");
	rep = (struct wire_turn_reply){ .turn_id = STR("turn_1"),
		.state = WIRE_TURN_REPLY_STATE_FAILED,
		.has_error = true,
		.error = { .error = STR("out of words"),
		    .code = STR("llm_unavailable") } };
	check_event(turn_end_event(&h, &rep, &text, &e), &e,
	    "\"code\":\"LLM_UNAVAILABLE\",\"message\":\"out of words\"");
	rep.has_error = false;
	check_event(
	    turn_end_event(&h, &rep, &text, &e), &e, "\"code\":\"INTERNAL\"");
	rep.state = WIRE_TURN_REPLY_STATE_CANCELED;
	check_event(
	    turn_end_event(&h, &rep, &text, &e), &e, "\"code\":\"CANCELED\"");
	buf_free(&text);
	arena_free(a);
}
