/*
 * Events that are written satisfy their schema, with every member of the
 * envelope.
 */
#include <string.h>

#include "core/mem.h"
#include "fcmp/fcmp_write.h"
#include "testkit/testkit.h"
#include "wire/msgs.h"
#include "wire/wire.h"

static const struct fcmp_head run = {
	.run_id = STR_INIT("20260221T091252-codex-17e67f51"),
	.engine = STR_INIT("codex"),
	.session_id = STR_INIT("019c7f2e-thread"),
	.ts = STR_INIT("2026-02-21T12:34:56.789Z"),
	.seq = 7,
	.confidence = 0.75,
	.attempt = 2,
	.raw = { 10, 20, 30, 40 },
};

static struct buf b;
static struct arena *a;

static void
setup(void)
{
	buf_init(&b, FCMP_EVENT_MAX);
	a = arena_new(WIRE_ARENA_MAX);
}

static void
teardown(void)
{
	buf_free(&b);
	arena_free(a);
}

static void
is(struct str got, const char *want)
{
	ck_assert_msg(str_eq(got, str_of(want)), "\"%.*s\", not \"%s\"",
	    STR_ARG(got), want);
}

/* The event in b, which is emptied. */
static struct wire_chat_event
read_back(enum wire_chat_event_type type)
{
	struct wire_err err = { "", "" };
	struct wire_chat_event e;
	enum rc rc = wire_decode(
	    &wire_chat_event_desc, arena_str(a, buf_str(&b)), a, &e, &err);

	ck_assert_msg(rc == RC_OK, "%s: %s in %s", err.path, err.why, b.p);
	ck_assert_int_eq(e.type, type);
	buf_reset(&b);
	return e;
}

static struct wire_chat_event
read_run_event(enum wire_chat_event_type type)
{
	struct wire_chat_event e = read_back(type);

	ck_assert(str_eq(e.run_id, run.run_id));
	ck_assert_int_eq(e.seq, 7);
	ck_assert(str_eq(e.ts, run.ts));
	is(e.engine, "codex");
	is(e.session_id, "019c7f2e-thread");
	ck_assert(e.has_meta && e.has_raw_ref);
	ck_assert(e.meta.confidence == 0.75);
	ck_assert_int_eq(e.meta.attempt, 2);
	ck_assert_int_eq(e.raw_ref.stdout_from, 10);
	ck_assert_int_eq(e.raw_ref.stdout_to, 20);
	ck_assert_int_eq(e.raw_ref.stderr_from, 30);
	ck_assert_int_eq(e.raw_ref.stderr_to, 40);
	return e;
}

TEST(an_event_is_written_in_the_order_of_the_protocol)
{
	setup();
	fcmp_delta(&run, STR("m_001"), STR("你好，"), &b);
	is(buf_str(&b),
	    "{\"protocol_version\":\"fcmp/1.0\","
	    "\"run_id\":\"20260221T091252-codex-17e67f51\",\"seq\":7,"
	    "\"ts\":\"2026-02-21T12:34:56.789Z\",\"engine\":\"codex\","
	    "\"session_id\":\"019c7f2e-thread\","
	    "\"type\":\"assistant.message.delta\",\"data\":{"
	    "\"message_id\":\"m_001\",\"text_delta\":\"你好，\"},"
	    "\"meta\":{\"confidence\":0.75,\"attempt\":2},"
	    "\"raw_ref\":{\"stdout_from\":10,\"stdout_to\":20,"
	    "\"stderr_from\":30,\"stderr_to\":40}}");
	teardown();
}

TEST(messages_satisfy_their_schema)
{
	struct wire_chat_event e;

	setup();
	fcmp_started(&run, STR("demo-interactive-skill"),
	    WIRE_CHAT_EVENT_DATA_MODE_FILE_WRITE, &b);
	e = read_run_event(WIRE_CHAT_EVENT_TYPE_CONVERSATION_STARTED);
	is(e.data.title, "demo-interactive-skill");
	ck_assert(e.data.has_mode);
	ck_assert_int_eq(e.data.mode, WIRE_CHAT_EVENT_DATA_MODE_FILE_WRITE);

	fcmp_delta(&run, STR("m_1"), STR("a\"\n灯"), &b);
	e = read_run_event(WIRE_CHAT_EVENT_TYPE_ASSISTANT_MESSAGE_DELTA);
	is(e.data.message_id, "m_1");
	is(e.data.text_delta, "a\"\n灯");

	fcmp_final(&run, STR("m_1"), STR("ok"), STR("{\"n\":1}"), &b);
	e = read_run_event(WIRE_CHAT_EVENT_TYPE_ASSISTANT_MESSAGE_FINAL);
	is(e.data.message_id, "m_1");
	is(e.data.text, "ok");
	is(e.data.structured_payload, "{\"n\":1}");
	fcmp_final(&run, STR("m_1"), STR("ok"), (struct str){ 0 }, &b);
	ck_assert(
	    str_find(buf_str(&b), STR("\"structured_payload\":null}")) > 0);
	(void)read_run_event(WIRE_CHAT_EVENT_TYPE_ASSISTANT_MESSAGE_FINAL);

	fcmp_completed(&run, FCMP_DONE_MARKER, &b);
	e = read_run_event(WIRE_CHAT_EVENT_TYPE_CONVERSATION_COMPLETED);
	ck_assert(e.data.has_state && e.data.has_skill_done);
	is(e.data.reason_code, "DONE_MARKER_FOUND");
	ck_assert(e.data.skill_done);
	teardown();
}

TEST(failures_have_category_code_and_whether_to_retry)
{
	const struct fcmp_error f = {
		WIRE_CHAT_EVENT_DATA_ERROR_CATEGORY_ENGINE,
		STR("llm_unavailable"), STR("no model"), true
	};
	struct fcmp_warning w = { .code = STR("UNPARSED_OUTPUT"),
		.message = STR("lines were not understood"),
		.count = 12 };
	struct wire_chat_event e;

	setup();
	fcmp_failed(&run, &f, &b);
	e = read_run_event(WIRE_CHAT_EVENT_TYPE_CONVERSATION_FAILED);
	ck_assert_int_eq(
	    e.data.error.category, WIRE_CHAT_EVENT_DATA_ERROR_CATEGORY_ENGINE);
	is(e.data.error.code, "LLM_UNAVAILABLE");
	is(e.data.error.message, "no model");
	ck_assert(e.data.error.has_retryable && e.data.error.retryable);

	fcmp_warning(&run, &w, &b);
	e = read_run_event(WIRE_CHAT_EVENT_TYPE_DIAGNOSTIC_WARNING);
	is(e.data.code, "UNPARSED_OUTPUT");
	is(e.data.message, "lines were not understood");
	is(e.data.message_id, NULL);
	ck_assert(e.data.has_count);
	ck_assert_int_eq(e.data.count, 12);
	w = (struct fcmp_warning){ .code = STR("TEXT_WITHDRAWN"),
		.message_id = STR("m_2") };
	fcmp_warning(&run, &w, &b);
	e = read_run_event(WIRE_CHAT_EVENT_TYPE_DIAGNOSTIC_WARNING);
	is(e.data.message_id, "m_2");
	ck_assert(!e.data.has_count);
	teardown();
}

TEST(questions_have_options_or_fields)
{
	static struct wire_question_option options[] = {
		{ .value = STR_INIT("a.c"), .label = STR_INIT("the first") },
		{ .value = STR_INIT("b.c") }
	};
	struct wire_question_field fields[] = { { .name = STR_INIT("age"),
						    .required = true },
		{ .name = STR_INIT("role"),
		    .label = STR_INIT("职业"),
		    .kind = WIRE_QUESTION_KIND_SINGLE_CHOICE,
		    .options = options,
		    .n_options = NELEM(options) } };
	struct fcmp_question q = { .interaction_id = STR("ix_1"),
		.kind = WIRE_QUESTION_KIND_SINGLE_CHOICE,
		.prompt = STR("哪个？"),
		.options = options,
		.n_options = NELEM(options) };
	struct wire_chat_event e;

	setup();
	fcmp_input_required(&run, &q, &b);
	e = read_run_event(WIRE_CHAT_EVENT_TYPE_USER_INPUT_REQUIRED);
	is(e.data.interaction_id, "ix_1");
	ck_assert_int_eq(e.data.kind, WIRE_QUESTION_KIND_SINGLE_CHOICE);
	is(e.data.prompt, "哪个？");
	ck_assert_uint_eq(e.data.n_options, 2);
	is(e.data.options[0].label, "the first");
	is(e.data.options[1].value, "b.c");
	is(e.data.options[1].label, NULL);
	ck_assert_uint_eq(e.data.n_fields, 0);

	q = (struct fcmp_question){ .interaction_id = STR("ix_2"),
		.kind = WIRE_QUESTION_KIND_FORM,
		.fields = fields,
		.n_fields = NELEM(fields) };
	fcmp_input_required(&run, &q, &b);
	e = read_run_event(WIRE_CHAT_EVENT_TYPE_USER_INPUT_REQUIRED);
	ck_assert_uint_eq(e.data.n_options, 0);
	ck_assert_uint_eq(e.data.n_fields, 2);
	is(e.data.fields[0].name, "age");
	ck_assert(e.data.fields[0].required);
	is(e.data.fields[1].label, "职业");
	ck_assert(!e.data.fields[1].required);
	ck_assert_uint_eq(e.data.fields[1].n_options, 2);
	is(e.data.fields[1].options[0].value, "a.c");

	q.kind = WIRE_QUESTION_KIND_FREE_TEXT;
	fcmp_input_required(&run, &q, &b);
	ck_assert(str_find(buf_str(&b), STR("\"options\":[]")) > 0);
	e = read_run_event(WIRE_CHAT_EVENT_TYPE_USER_INPUT_REQUIRED);
	ck_assert_uint_eq(e.data.n_fields, 0);

	fcmp_input_replied(&run, STR("ix_2"), STR("Male, 38"), &b);
	e = read_run_event(WIRE_CHAT_EVENT_TYPE_USER_INPUT_REPLIED);
	is(e.data.interaction_id, "ix_2");
	is(e.data.content, "Male, 38");
	teardown();
}

TEST(an_event_of_a_chat_is_numbered_by_its_log)
{
	const struct fcmp_head chat = fcmp_chat_head(
	    STR("turn_1"), STR("s1"), STR("2026-02-22T17:40:00Z"));
	struct buf numbered = BUF_INIT(4096);
	struct wire_chat_event e;

	setup();
	fcmp_completed(&chat, FCMP_STRUCTURED, &b);
	ck_assert(str_find(buf_str(&b), STR("\"seq\"")) < 0);
	fcmp_number(buf_str(&b), 41, &numbered);
	buf_reset(&b);
	buf_put_str(&b, buf_str(&numbered));
	e = read_back(WIRE_CHAT_EVENT_TYPE_CONVERSATION_COMPLETED);
	ck_assert_int_eq(e.seq, 41);
	is(e.run_id, "turn_1");
	is(e.session_id, "s1");
	is(e.engine, "soul");
	ck_assert(e.has_meta && e.meta.confidence == 1);
	ck_assert_int_eq(e.meta.attempt, 1);
	ck_assert(e.has_raw_ref);
	ck_assert_int_eq(e.raw_ref.stdout_to + e.raw_ref.stderr_to, 0);
	buf_free(&numbered);
	teardown();
}

/* A session that is not known yet is left out; seq 0 is a number. */
TEST(members_that_are_not_known_are_left_out)
{
	struct fcmp_head h = run;
	struct wire_chat_event e;

	setup();
	h.session_id = (struct str){ NULL, 0 };
	h.seq = 0;
	fcmp_delta(&h, STR("m"), STR("x"), &b);
	ck_assert(str_find(buf_str(&b), STR("session_id")) < 0);
	e = read_back(WIRE_CHAT_EVENT_TYPE_ASSISTANT_MESSAGE_DELTA);
	ck_assert_int_eq(e.seq, 0);
	teardown();
}

#define X20 "xxxxxxxxxxxxxxxxxxxx"
#define Y19 "灯灯灯灯灯灯灯灯灯灯灯灯灯灯灯灯灯灯灯"

TEST(a_title_is_a_line_of_at_most_80_characters)
{
	static const struct {
		const char *text, *title;
	} rows[] = {
		{ NULL, "" },
		{ "", "" },
		{ " \n\t ", "" },
		{ "one", "one" },
		{ "\n\n  one \r\ntwo", "one" },
		{ "one\rtwo", "one" },
		{ X20 X20 X20 X20, X20 X20 X20 X20 },
		{ X20 X20 X20 X20 "y", X20 X20 X20 X20 },
		{ X20 X20 X20 Y19 "xyz", X20 X20 X20 Y19 "x" },
		/* Not in the middle of a character, not after a space. */
		{ X20 X20 X20 Y19 "灯z", X20 X20 X20 Y19 "灯" },
		{ X20 X20 X20 Y19 " z", X20 X20 X20 Y19 },
		{ "a\xff"
		  "b",
		    "a\xef\xbf\xbd"
		    "b" },
	};

	setup();
	for (size_t i = 0; i < NELEM(rows); i++) {
		fcmp_started(&run, str_of(rows[i].text),
		    WIRE_CHAT_EVENT_DATA_MODE_AUTO, &b);
		is(read_run_event(WIRE_CHAT_EVENT_TYPE_CONVERSATION_STARTED)
			.data.title,
		    rows[i].title);
	}
	teardown();
}

TEST(texts_are_truncated_between_characters)
{
	static const struct {
		struct str text;
		size_t max, n;
	} rows[] = {
		{ STR_INIT(""), 0, 0 },
		{ STR_INIT("abc"), 3, 3 },
		{ STR_INIT("abc"), 2, 2 },
		{ STR_INIT("灯灯"), 6, 6 },
		{ STR_INIT("灯灯"), 5, 3 },
		{ STR_INIT("a\"b"), 4, 3 },
		{ STR_INIT("a\"b"), 3, 2 },
		{ STR_INIT("a\"b"), 2, 1 },
		{ STR_INIT("\n\x01x"), 8, 2 },
		{ STR_INIT("\n\x01x"), 7, 1 },
		/* As U+FFFD. */
		{ STR_INIT("\xff\xffx"), 6, 2 },
		{ STR_INIT("\xe7\x81"), 5, 1 },
		{ STR_INIT("\0x"), 3, 1 },
		{ STR_INIT("\0x"), 4, 2 },
	};

	for (size_t i = 0; i < NELEM(rows); i++)
		ck_assert_msg(
		    fcmp_truncate(rows[i].text, rows[i].max).n == rows[i].n,
		    "row %zu", i);
}

static struct str
repeated(const char *part, size_t n)
{
	struct buf text = BUF_INIT(2 * 1024 * 1024);
	struct str s;

	for (size_t i = 0; i < n; i++)
		buf_puts(&text, part);
	s = arena_str(a, buf_str(&text));
	buf_free(&text);
	return s;
}

TEST(long_texts_are_truncated_to_the_bounds_of_the_schema)
{
	struct fcmp_error f = {
		.category = WIRE_CHAT_EVENT_DATA_ERROR_CATEGORY_PARSER
	};
	struct fcmp_question q = { .interaction_id = STR("ix") };
	struct wire_chat_event e;

	setup();
	f.code = repeated("c", 100);
	f.message = repeated("\"", 100000);
	fcmp_failed(&run, &f, &b);
	e = read_run_event(WIRE_CHAT_EVENT_TYPE_CONVERSATION_FAILED);
	ck_assert_uint_eq(e.data.error.code.n, FCMP_CODE_MAX);
	ck_assert_uint_eq(e.data.error.message.n, FCMP_MESSAGE_MAX / 2);

	q.prompt = repeated("灯", 100000);
	fcmp_input_required(&run, &q, &b);
	e = read_run_event(WIRE_CHAT_EVENT_TYPE_USER_INPUT_REQUIRED);
	ck_assert_uint_eq(e.data.prompt.n, FCMP_PROMPT_MAX / 3 * 3);

	fcmp_input_replied(&run, STR("ix"), repeated("x", 100000), &b);
	e = read_run_event(WIRE_CHAT_EVENT_TYPE_USER_INPUT_REPLIED);
	ck_assert_uint_eq(e.data.content.n, FCMP_CONTENT_MAX);
	teardown();
}

/* Of the worst characters, and the longest ids. */
TEST(an_event_has_room_for_the_longest_texts)
{
	struct fcmp_head h = run;
	struct str id, text;
	struct wire_chat_event e;

	setup();
	id = repeated("\"", 128);
	h.run_id = h.session_id = id;
	text = fcmp_truncate(repeated("\x01", 200000), FCMP_TEXT_MAX);
	ck_assert_uint_eq(text.n, FCMP_TEXT_MAX / 6);
	fcmp_final(&h, id, text, (struct str){ 0 }, &b);
	e = read_back(WIRE_CHAT_EVENT_TYPE_ASSISTANT_MESSAGE_FINAL);
	ck_assert(str_eq(e.data.text, text));
	text = fcmp_truncate(repeated("x", 200000), FCMP_TEXT_MAX);
	ck_assert_uint_eq(text.n, FCMP_TEXT_MAX);
	fcmp_final(&h, id, text, (struct str){ 0 }, &b);
	(void)read_back(WIRE_CHAT_EVENT_TYPE_ASSISTANT_MESSAGE_FINAL);
	fcmp_delta(&h, id, fcmp_truncate(text, FCMP_DELTA_MAX), &b);
	(void)read_back(WIRE_CHAT_EVENT_TYPE_ASSISTANT_MESSAGE_DELTA);
	teardown();
}

TEST(bytes_that_json_cannot_have_are_replaced)
{
	struct wire_chat_event e;

	setup();
	fcmp_delta(&run, STR("m"),
	    STR("a\0b\xff"
		"c"),
	    &b);
	e = read_run_event(WIRE_CHAT_EVENT_TYPE_ASSISTANT_MESSAGE_DELTA);
	is(e.data.text_delta,
	    "a\xef\xbf\xbd"
	    "b\xef\xbf\xbd"
	    "c");
	teardown();
}

/* A truncated event is an error of the buffer. */
TEST(an_event_without_space_is_an_error)
{
	struct buf small = BUF_INIT(64);

	fcmp_completed(&run, FCMP_DONE_MARKER, &small);
	ck_assert_int_eq(buf_rc(&small), RC_TOOBIG);
	buf_free(&small);
}
