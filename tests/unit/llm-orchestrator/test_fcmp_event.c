/*
 * Events satisfy their schema.
 */
#include <string.h>

#include "core/mem.h"
#include "reply/fcmp_event.h"
#include "testkit/testkit.h"
#include "wire/msgs.h"
#include "wire/wire.h"

static const struct fcmp_head head = { STR_INIT("turn_1"), STR_INIT("s1"),
	STR_INIT("2026-02-22T17:40:00Z") };

/* An event with seq 7, as a reader gets it. */
static struct wire_chat_event
read_back(struct buf *b, struct arena *a)
{
	struct buf numbered = BUF_INIT(4096);
	struct wire_err err = { "", "" };
	struct wire_chat_event e;

	fcmp_numbered(buf_str(b), 7, &numbered);
	enum rc rc =
	    wire_decode(&wire_chat_event_desc, buf_str(&numbered), a, &e, &err);
	ck_assert_msg(
	    rc == RC_OK, "%s: %s in %s", err.path, err.why, numbered.p);
	ck_assert_int_eq(e.seq, 7);
	ck_assert(str_eq(e.run_id, head.turn_id));
	ck_assert(str_eq(e.session_id, head.session_id));
	ck_assert(str_eq(e.engine, STR("soul")));
	buf_free(&numbered);
	buf_reset(b);
	return e;
}

static void
is(struct str got, const char *want)
{
	ck_assert_msg(str_eq(got, str_of(want)), "\"%.*s\", not \"%s\"",
	    STR_ARG(got), want);
}

TEST(every_event_type_satisfies_its_schema)
{
	struct arena *a = arena_new(1024 * 1024);
	struct buf b = BUF_INIT(4096);

	fcmp_started(&head, &b);
	struct wire_chat_event e = read_back(&b, a);
	ck_assert_int_eq(e.type, WIRE_CHAT_EVENT_TYPE_CONVERSATION_STARTED);
	ck_assert_int_eq(e.data.mode, WIRE_CHAT_EVENT_DATA_MODE_INTERACTIVE);

	fcmp_delta(&head, STR("m_1"), STR("a\"\n灯"), &b);
	e = read_back(&b, a);
	ck_assert_int_eq(e.type, WIRE_CHAT_EVENT_TYPE_ASSISTANT_MESSAGE_DELTA);
	is(e.data.message_id, "m_1");
	is(e.data.text_delta, "a\"\n灯");

	fcmp_final(&head, STR("m_1"), STR("ok"), STR("{\"reply\":\"ok\"}"), &b);
	e = read_back(&b, a);
	ck_assert_int_eq(e.type, WIRE_CHAT_EVENT_TYPE_ASSISTANT_MESSAGE_FINAL);
	is(e.data.text, "ok");
	is(e.data.structured_payload, "{\"reply\":\"ok\"}");

	fcmp_completed(&head, &b);
	e = read_back(&b, a);
	ck_assert_int_eq(e.type, WIRE_CHAT_EVENT_TYPE_CONVERSATION_COMPLETED);
	is(e.data.reason_code, "FINAL_STRUCTURED_OUTPUT_SELECTED");
	ck_assert(e.data.skill_done);

	fcmp_input_required(&head, STR("ix_1"), STR("几点？"), &b);
	e = read_back(&b, a);
	ck_assert_int_eq(e.type, WIRE_CHAT_EVENT_TYPE_USER_INPUT_REQUIRED);
	ck_assert_int_eq(e.data.kind, WIRE_CHAT_EVENT_DATA_KIND_FREE_TEXT);
	is(e.data.interaction_id, "ix_1");
	is(e.data.prompt, "几点？");

	buf_free(&b);
	arena_free(a);
}

TEST(failures_have_category_and_code)
{
	struct arena *a = arena_new(1024 * 1024);
	struct buf b = BUF_INIT(4096);
	struct fcmp_error f = { "engine", "llm_unavailable", "no model" };
	struct fcmp_warning w = { "TEXT_WITHDRAWN", "not the reply", "m_2" };

	fcmp_failed(&head, &f, &b);
	struct wire_chat_event e = read_back(&b, a);
	ck_assert_int_eq(e.type, WIRE_CHAT_EVENT_TYPE_CONVERSATION_FAILED);
	ck_assert_int_eq(
	    e.data.error.category, WIRE_CHAT_EVENT_DATA_ERROR_CATEGORY_ENGINE);
	is(e.data.error.code, "LLM_UNAVAILABLE");
	is(e.data.error.message, "no model");

	fcmp_warning(&head, &w, &b);
	e = read_back(&b, a);
	ck_assert_int_eq(e.type, WIRE_CHAT_EVENT_TYPE_DIAGNOSTIC_WARNING);
	is(e.data.code, "TEXT_WITHDRAWN");
	is(e.data.message_id, "m_2");
	w.message_id[0] = '\0';
	fcmp_warning(&head, &w, &b);
	is(read_back(&b, a).data.message_id, NULL);

	buf_free(&b);
	arena_free(a);
}

/* A truncated event is an error of the buffer. */
TEST(an_event_without_space_is_an_error)
{
	struct buf b = BUF_INIT(64);

	fcmp_completed(&head, &b);
	ck_assert_int_eq(buf_rc(&b), RC_TOOBIG);
	buf_free(&b);
}
