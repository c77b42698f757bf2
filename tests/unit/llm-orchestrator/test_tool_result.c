/*
 * What a provider's reply means.
 */
#include <stdio.h>
#include <string.h>

#include "core/buf.h"
#include "core/mem.h"
#include "testkit/testkit.h"
#include "tools/tool_result.h"

#define ROOM ((size_t)1024 * 1024)

static struct tool_result
result(struct wire_tool_call_reply *m, struct arena *a)
{
	struct tool_result res;

	m->state = WIRE_TOOL_CALL_REPLY_STATE_ENDED;
	ck_assert_int_eq(tool_result_read(m, a, &res), RC_OK);
	return res;
}

TEST(only_ok_is_ok)
{
	static const struct {
		const char *code;
		enum turn_outcome outcome;
		const char *why;
	} rows[] = {
		{ "TOOL_ERROR", TURN_ERROR, "the tool's words" },
		{ "UNKNOWN_TOOL", TURN_ERROR, "why" },
		{ "FORBIDDEN", TURN_ERROR, "why" },
		{ "DEFINITION_CHANGED", TURN_ERROR, "why" },
		{ "INVALID_ARGUMENTS", TURN_INVALID, "why" },
		{ "APPROVAL_REQUIRED", TURN_UNAPPROVED, "" },
		{ "SERVER_UNAVAILABLE", TURN_OFFLINE, "why" },
		{ "BUSY", TURN_OFFLINE, "why" },
		{ "NOT_CONFIRMED", TURN_NOT_CONFIRMED, "" },
		{ "TIMEOUT", TURN_NOT_CONFIRMED, "" },
		{ "WHATEVER", TURN_NOT_CONFIRMED, "" },
	};
	struct arena *a = arena_new(ROOM);

	for (size_t i = 0; i < NELEM(rows); i++) {
		struct wire_tool_call_reply m = { .has_ok = true,
			.text = STR(" the tool's words\n"),
			.has_error = true,
			.error = { str_of(rows[i].code), STR("why") } };
		struct tool_result res = result(&m, a);
		ck_assert_int_eq(res.outcome, rows[i].outcome);
		ck_assert(str_eq(res.why.p != NULL ? res.why : STR(""),
		    str_of(rows[i].why)));
		ck_assert_int_eq(res.changed,
		    strcmp(rows[i].code, "DEFINITION_CHANGED") == 0);
	}
	struct wire_tool_call_reply none = { .has_ok = false };
	ck_assert_int_eq(result(&none, a).outcome, TURN_NOT_CONFIRMED);
	struct wire_tool_call_reply ok = { .has_ok = true, .ok = true };
	ck_assert_int_eq(result(&ok, a).outcome, TURN_OK);
	ck_assert_ptr_null(result(&ok, a).output.p);
	arena_free(a);
}

TEST(an_error_of_the_bus_is_no_confirmation)
{
	static const struct {
		enum rc rc;
		const char *body;
		enum turn_outcome outcome;
	} rows[] = {
		{ RC_NOENT, "", TURN_OFFLINE },
		{ RC_NOENT, "{}", TURN_OFFLINE },
		{ RC_RETRY, "{}", TURN_OFFLINE },
		{ RC_INVALID, "{}", TURN_ERROR },
		{ RC_TIMEOUT, "", TURN_NOT_CONFIRMED },
		{ RC_DOWN, "", TURN_NOT_CONFIRMED },
		{ RC_BUG, "{}", TURN_NOT_CONFIRMED },
	};

	for (size_t i = 0; i < NELEM(rows); i++) {
		struct tool_result res;
		tool_result_error(rows[i].rc, str_of(rows[i].body), &res);
		ck_assert_int_eq(res.outcome, rows[i].outcome);
	}
}

TEST(what_is_not_shown_is_named)
{
	struct wire_tool_call_reply_content_left_out c = { .id = STR("x1"),
		.type = STR("image"),
		.mime_type = STR("image/png"),
		.bytes = 70 };
	struct wire_tool_call_reply m = { .has_ok = true,
		.ok = true,
		.text = STR("a \"b\""),
		.structured = STR("{\"n\":1}"),
		.content_left_out = &c,
		.n_content_left_out = 1 };
	struct arena *a = arena_new(ROOM);

	ck_assert(str_eq(result(&m, a).output,
	    STR("\"a \\\"b\\\"\\n{\\\"n\\\":1}\\n[not shown: image, "
		"image/png, 70 bytes, id x1]\"")));
	arena_free(a);
}

TEST(only_an_image_that_models_take_is_shown)
{
	static const struct {
		const char *type, *data;
		bool shown;
	} rows[] = {
		{ "image/png", "iVBORw0KGgo=", true },
		{ "image/jpeg", "YQ==", true },
		{ "image/svg+xml", "YQ==", false },
		{ "image/png", "YQ=", false },
		{ "image/png", "Y\"==", false },
		{ "image/png", "====", false },
		{ "image/png", "", false },
	};
	struct arena *a = arena_new(ROOM);

	for (size_t i = 0; i < NELEM(rows); i++) {
		struct wire_tool_call_reply_images image = {
			str_of(rows[i].type), str_of(rows[i].data)
		};
		struct wire_tool_call_reply m = { .has_ok = true,
			.ok = true,
			.images = &image,
			.n_images = 1 };
		ck_assert_msg(
		    (result(&m, a).image.n > 0) == rows[i].shown, "row %zu", i);
	}
	arena_free(a);
}

TEST(a_long_text_loses_its_middle)
{
	struct arena *a = arena_new(ROOM);
	struct buf b = BUF_INIT(ROOM);

	for (int i = 0; i < 10000; i++)
		buf_puts(&b, "字");
	for (size_t max = 1000; max < 1012; max++) {
		struct str s = tool_result_shorten(buf_str(&b), max, a);
		ck_assert_uint_le(s.n, max);
		ck_assert_int_gt(str_utf8_count(s), 100);
		ck_assert_int_gt(str_find(s, STR("bytes left out")), 0);
		ck_assert_int_eq(memcmp(s.p, "字", 3), 0);
		ck_assert_int_eq(memcmp(s.p + s.n - 3, "字", 3), 0);
	}
	struct str small = STR("short");
	ck_assert_ptr_eq(tool_result_shorten(small, 1000, a).p, small.p);
	buf_free(&b);
	arena_free(a);
}
