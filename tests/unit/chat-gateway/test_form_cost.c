/*
 * What the forms of other protocols add to a turn, in instructions, beside what
 * the native route's own request takes.
 */
#include <stdio.h>

#include "agui/agui_view.h"
#include "core/buf.h"
#include "core/mem.h"
#include "openai/openai_view.h"
#include "openai/responses_view.h"
#include "soul_mcp/mcp_view.h"
#include "testkit/instructions.h"
#include "testkit/testkit.h"
#include "wire/msgs.h"
#include "wire/wire.h"

#define CALLS 20
/* 0.1 ms of a core that executes 2.5 instructions a nanosecond. */
#define FORM_MAX    250000.0
#define EVENT_ARENA (2 * (size_t)WIRE_ARENA_MAX)

#define EVENT(type, data)                                                    \
	STR_INIT("{\"protocol_version\":\"fcmp/1.0\",\"run_id\":\"t\","      \
		 "\"seq\":1,\"ts\":\"2026-02-21T12:34:56.789Z\","            \
		 "\"engine\":\"soul\",\"session_id\":\"s\",\"type\":\"" type \
		 "\",\"data\":{" data "}}")
#define DELTA                            \
	EVENT("assistant.message.delta", \
	    "\"message_id\":\"m\","      \
	    "\"text_delta\":\"你好，\"")

/* A turn of eight pieces. */
static const struct str events[] = {
	EVENT("conversation.started", "\"title\":\"hi\""),
	DELTA,
	DELTA,
	DELTA,
	DELTA,
	DELTA,
	DELTA,
	DELTA,
	DELTA,
	EVENT("assistant.message.final",
	    "\"message_id\":\"m\",\"text\":"
	    "\"你好，你好，你好，你好，你好，你好，你好，你好，再见\""),
	EVENT("conversation.completed",
	    "\"state\":\"completed\",\"reason_code\":\"DONE_MARKER_FOUND\","
	    "\"skill_done\":true"),
};

static const struct str native_request =
    STR_INIT("{\"session_id\":\"s\",\"terminal_id\":\"t\",\"inputs\":[{"
	     "\"type\":\"keyboard_text\",\"text\":\"今天过得怎么样\"}]}");

__attribute__((noinline)) void counted_native(void);
__attribute__((noinline)) void counted_openai(void);
__attribute__((noinline)) void counted_responses(void);
__attribute__((noinline)) void counted_agui(void);
__attribute__((noinline)) void counted_mcp(void);

void
counted_native(void)
{
	struct arena *a = arena_new(EVENT_ARENA);
	struct wire_chat_request m;

	ck_assert_int_eq(
	    wire_decode(&wire_chat_request_desc, native_request, a, &m, NULL),
	    RC_OK);
	arena_free(a);
}

void
counted_openai(void)
{
	const struct openai_head h = { STR("turn_1"), STR("soul/Nova"), 1 };
	struct buf b = BUF_INIT(WIRE_MESSAGE_MAX);
	struct wire_chat_event e;

	for (size_t i = 0; i < NELEM(events); i++) {
		struct arena *a = arena_new(EVENT_ARENA);

		ck_assert_int_eq(
		    wire_decode(&wire_chat_event_desc, events[i], a, &e, NULL),
		    RC_OK);
		ck_assert_int_eq(
		    openai_write_text(&h,
			e.data.text_delta.n > 0 ? e.data.text_delta : STR("。"),
			&b),
		    RC_OK);
		buf_reset(&b);
		arena_free(a);
	}
	buf_free(&b);
}

static enum rc
responses_sent(void *arg, struct str type, struct str json)
{
	size_t *sent = arg;

	*sent += type.n + json.n;
	return RC_OK;
}

void
counted_responses(void)
{
	struct arena *lasting = arena_new(EVENT_ARENA);
	size_t sent = 0;
	struct responses r = { .head = { STR("turn_1"), STR("soul/Nova"), 1 },
		.session = STR("s"),
		.lasting = lasting,
		.after = -1,
		.send = responses_sent,
		.arg = &sent };
	struct wire_chat_event e;

	for (size_t i = 0; i < NELEM(events); i++) {
		struct arena *a = arena_new(EVENT_ARENA);

		ck_assert_int_eq(
		    wire_decode(&wire_chat_event_desc, events[i], a, &e, NULL),
		    RC_OK);
		ck_assert_int_eq(responses_convert(&r, &e), RC_OK);
		arena_free(a);
	}
	ck_assert_uint_gt(sent, 0);
	arena_free(lasting);
}

void
counted_agui(void)
{
	struct agui g = { .thread = STR("s"), .run = STR("r") };
	struct wire_chat_event e;
	struct agui_events out;

	for (size_t i = 0; i < NELEM(events); i++) {
		struct arena *a = arena_new(EVENT_ARENA);

		ck_assert_int_eq(
		    wire_decode(&wire_chat_event_desc, events[i], a, &e, NULL),
		    RC_OK);
		ck_assert_int_eq(agui_convert(&g, &e, a, &out), RC_OK);
		arena_free(a);
	}
}

void
counted_mcp(void)
{
	struct buf result = BUF_INIT(WIRE_MESSAGE_MAX);
	struct buf out = BUF_INIT(WIRE_MESSAGE_MAX);

	ck_assert_int_eq(
	    mcp_put_outcome(200,
		STR("{\"turn_id\":\"t\",\"session_id\":\"s\",\"reply\":"
		    "\"你好，你好，你好，你好，再见\",\"executed_skills\":[],"
		    "\"failed_skills\":[]}"),
		&result),
	    RC_OK);
	ck_assert_int_eq(
	    mcp_write_result(STR("1"), buf_str(&result), &out), RC_OK);
	buf_free(&result);
	buf_free(&out);
}

static void
run_counted(void (*fn)(void))
{
	for (int i = 0; instructions_child() && i < CALLS; i++)
		fn();
}

/* In the processes that are counted. */
TEST(run_native)
{
	run_counted(counted_native);
}

TEST(run_openai)
{
	run_counted(counted_openai);
}

TEST(run_responses)
{
	run_counted(counted_responses);
}

TEST(run_agui)
{
	run_counted(counted_agui);
}

TEST(run_mcp)
{
	run_counted(counted_mcp);
}

TEST(another_form_adds_little_to_a_turn)
{
	static const struct {
		const char *function, *test;
	} forms[] = {
		{ "counted_openai", "run_openai" },
		{ "counted_responses", "run_responses" },
		{ "counted_agui", "run_agui" },
		{ "counted_mcp", "run_mcp" },
	};
	double native, n;

	if (instructions_child())
		return;
	native = instructions_count("counted_native", "run_native", CALLS);
	for (size_t i = 0; i < NELEM(forms); i++) {
		n = instructions_count(forms[i].function, forms[i].test, CALLS);
		printf("%s: %.0f instructions per turn, the native request "
		       "alone %.0f\n",
		    forms[i].function, n, native);
		ck_assert_double_le(n, FORM_MAX);
	}
}
