/*
 * Errors of providers and their result codes.
 */
#include <string.h>

#include "core/buf.h"
#include "core/mem.h"
#include "llm/llm_internal.h"
#include "testkit/testkit.h"

TEST(error_texts_are_read)
{
	static const struct {
		const char *body, *text;
	} rows[] = {
		{ "{\"error\":{\"message\":\"no\",\"type\":\"t\","
		  "\"param\":null,\"code\":null}}",
		    "no" },
		{ "[{\"error\":{\"code\":400,\"message\":\"no\",\"status\":"
		  "\"INVALID_ARGUMENT\"}}]",
		    "no" },
		{ "\n\n {\"error\":\"no\"}\n", "no" },
		{ "{\"message\":\"no\"}", "no" },
		{ "{\"detail\":\"no\"}", "no" },
		{ "{\"detail\":[{\"msg\":\"no\"}]}", "[{\"msg\":\"no\"}]" },
		{ "{\"error\":{\"error\":\"inner\"}}",
		    "{\"error\":\"inner\"}" },
		{ "{\"object\":\"error\",\"message\":\"no\",\"code\":1}",
		    "no" },
		{ "\"no\"", "no" },
		{ "<html>no</html>", "<html>no</html>" },
		{ "{\"a\":1}", "{\"a\":1}" },
		{ "[]", "[]" },
		{ "[{\"error\":\"a\"},{\"error\":\"b\"}]",
		    "[{\"error\":\"a\"},{\"error\":\"b\"}]" },
		{ "{\"error\":", "{\"error\":" },
		{ "", "status 503 without an error text" },
		{ " \r\n ", "status 503 without an error text" },
		{ "{\"error\":{\"message\":\"\"}}",
		    "{\"error\":{\"message\":\"\"}}" },
	};
	struct arena *a = arena_new(65536);

	for (size_t i = 0; i < NELEM(rows); i++) {
		struct provider_error f;
		arena_reset(a);
		provider_error_read(str_of(rows[i].body), 503, a, &f);
		ck_assert_msg(str_eq(f.text, str_of(rows[i].text)), "%s: %.*s",
		    rows[i].body, STR_ARG(f.text));
	}
	arena_free(a);
}

TEST(long_texts_are_truncated_at_code_points)
{
	struct arena *a = arena_new(65536);
	struct buf b = BUF_INIT(65536);
	struct provider_error f;

	buf_puts(&b, "x");
	for (int i = 0; i < 1000; i++)
		buf_puts(&b, "\xe4\xbd\xa0");
	provider_error_read(buf_str(&b), 500, a, &f);
	ck_assert_uint_le(f.text.n, PROVIDER_ERROR_TEXT_MAX);
	ck_assert_uint_gt(f.text.n, PROVIDER_ERROR_TEXT_MAX - 4);
	ck_assert_int_ge(str_utf8_count(f.text), 0);
	buf_free(&b);
	arena_free(a);
}

TEST(errors_map_to_result_codes)
{
	static const struct {
		int status;
		const char *body;
		enum rc rc;
	} rows[] = {
		{ 400, "{\"error\":{\"message\":\"x\"}}", RC_INVALID },
		{ 400,
		    "{\"error\":{\"message\":\"x\","
		    "\"code\":\"context_length_exceeded\"}}",
		    RC_TOOBIG },
		{ 400,
		    "{\"error\":{\"code\":400,\"message\":\"x\","
		    "\"type\":\"exceed_context_size_error\"}}",
		    RC_TOOBIG },
		{ 401, "", RC_DENIED },
		{ 402, "", RC_DENIED },
		{ 403, "", RC_DENIED },
		{ 404, "", RC_NOENT },
		{ 408, "", RC_TIMEOUT },
		{ 409, "", RC_CONFLICT },
		{ 413, "", RC_TOOBIG },
		{ 422, "", RC_INVALID },
		{ 429,
		    "{\"error\":{\"message\":\"x\","
		    "\"code\":\"rate_limit_exceeded\"}}",
		    RC_RETRY },
		{ 429, "", RC_RETRY },
		{ 429,
		    "{\"error\":{\"message\":\"x\","
		    "\"type\":\"insufficient_quota\"}}",
		    RC_DENIED },
		{ 429,
		    "{\"error\":{\"message\":\"x\","
		    "\"code\":\"credit_balance_exhausted\"}}",
		    RC_DENIED },
		{ 500, "", RC_DOWN },
		{ 503, "{\"error\":{\"code\":503,\"message\":\"Loading\"}}",
		    RC_DOWN },
		{ 529,
		    "{\"type\":\"error\",\"error\":{\"type\":"
		    "\"overloaded_error\",\"message\":\"Overloaded\"}}",
		    RC_RETRY },
		{ 400,
		    "{\"type\":\"error\",\"error\":{\"type\":"
		    "\"invalid_request_error\",\"message\":"
		    "\"prompt is too long: 9 tokens > 8 maximum\"}}",
		    RC_TOOBIG },
		{ 400,
		    "{\"type\":\"error\",\"error\":{\"type\":"
		    "\"invalid_request_error\",\"message\":"
		    "\"Your credit balance is too low\"}}",
		    RC_DENIED },
		{ 404, "{\"error\":{\"message\":\"prompt is too long\"}}",
		    RC_NOENT },
		/* In a stream the type or the code implies the status. */
		{ 0, "{\"error\":{\"type\":\"overloaded_error\"}}", RC_RETRY },
		{ 0, "{\"error\":{\"message\":\"x\",\"code\":\"429\"}}",
		    RC_RETRY },
		{ 0, "{\"error\":{\"message\":\"x\",\"code\":401}}",
		    RC_DENIED },
		{ 0, "{\"error\":{\"type\":\"invalid_request_error\"}}",
		    RC_INVALID },
		{ 302, "", RC_INVALID },
		{ 0, "{\"error\":{\"message\":\"x\"}}", RC_DOWN },
	};
	struct arena *a = arena_new(65536);

	for (size_t i = 0; i < NELEM(rows); i++) {
		struct provider_error f;
		provider_error_read(
		    str_of(rows[i].body), rows[i].status, a, &f);
		ck_assert_msg(
		    provider_error_rc(rows[i].status, &f) == rows[i].rc,
		    "row %zu", i);
	}
	arena_free(a);
}
