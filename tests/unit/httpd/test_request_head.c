/* Request headers: framing, persistence, what is rejected. */
#include <string.h>

#include "core/mem.h"
#include "httpd/httpd_internal.h"
#include "testkit/testkit.h"

#define FIELDS_MAX 8

/* Fields from "A: b\nC: d". */
static size_t
head_fields_of(const char *text, struct header_field *f)
{
	struct str rest = str_of(text);
	size_t n = 0;

	while (rest.p != NULL && rest.n > 0) {
		struct str line = str_split(&rest, '\n');
		ck_assert_uint_lt(n, FIELDS_MAX);
		f[n].name = str_split(&line, ':');
		f[n].value = str_trim(line);
		if (f[n].value.p == NULL)
			f[n].value = STR("");
		n++;
	}
	return n;
}

static enum rc
head_parse_text(struct request_head *h, const char *text, bool http11)
{
	struct header_field f[FIELDS_MAX];
	size_t n = head_fields_of(text, f);

	return request_head_parse(h, f, n, http11);
}

TEST(ambiguous_framing_is_rejected)
{
	static const struct {
		const char *text;
		enum rc rc;
		int64_t length;
		bool chunked;
	} rows[] = {
		{ "Host: a", RC_OK, 0, false },
		{ "Host: a\nContent-Length: 0", RC_OK, 0, false },
		{ "Host: a\ncontent-length: 12", RC_OK, 12, false },
		{ "Host: a\nContent-Length: 007", RC_OK, 7, false },
		{ "Host: a\nContent-Length: 9223372036854775807", RC_OK,
		    INT64_MAX, false },
		{ "Host: a\nContent-Length: 9223372036854775808", RC_INVALID, 0,
		    false },
		{ "Host: a\nContent-Length:", RC_INVALID, 0, false },
		{ "Host: a\nContent-Length: 5x", RC_INVALID, 0, false },
		{ "Host: a\nContent-Length: +5", RC_INVALID, 0, false },
		{ "Host: a\nContent-Length: -5", RC_INVALID, 0, false },
		{ "Host: a\nContent-Length: 5 5", RC_INVALID, 0, false },
		{ "Host: a\nContent-Length: 5,5", RC_INVALID, 0, false },
		{ "Host: a\nContent-Length: 0x5", RC_INVALID, 0, false },
		{ "Host: a\nContent-Length: 5\nContent-Length: 5", RC_INVALID,
		    0, false },
		{ "Host: a\nContent-Length: 5\ncontent-LENGTH: 6", RC_INVALID,
		    0, false },
		{ "Host: a\nTransfer-Encoding: chunked", RC_OK, 0, true },
		{ "Host: a\nTransfer-Encoding: Chunked", RC_OK, 0, true },
		{ "Host: a\nTransfer-Encoding: gzip, chunked", RC_INVALID, 0,
		    false },
		{ "Host: a\nTransfer-Encoding: identity", RC_INVALID, 0,
		    false },
		{ "Host: a\nTransfer-Encoding: xchunked", RC_INVALID, 0,
		    false },
		{ "Host: a\nTransfer-Encoding:", RC_INVALID, 0, false },
		{ "Host: a\nTransfer-Encoding: chunked\n"
		  "Transfer-Encoding: chunked",
		    RC_INVALID, 0, false },
		{ "Host: a\nContent-Length: 5\nTransfer-Encoding: chunked",
		    RC_INVALID, 0, false },
		{ "", RC_INVALID, 0, false },
		{ "Host: a\nHost: a", RC_INVALID, 0, false },
		{ "Host:", RC_OK, 0, false },
	};

	for (size_t i = 0; i < NELEM(rows); i++) {
		struct request_head h;
		enum rc rc = head_parse_text(&h, rows[i].text, true);
		ck_assert_msg(
		    rc == rows[i].rc, "%s: %s", rows[i].text, rc_name(rc));
		if (rc == RC_INVALID) {
			ck_assert_ptr_nonnull(h.why);
			continue;
		}
		ck_assert_int_eq(h.length, rows[i].length);
		ck_assert_int_eq(h.chunked, rows[i].chunked);
		ck_assert_int_eq(
		    h.has_body, rows[i].chunked || rows[i].length > 0);
	}
}

TEST(http_1_0_rejects_chunks_and_needs_no_host)
{
	struct request_head h;

	ck_assert_int_eq(head_parse_text(&h, "", false), RC_OK);
	ck_assert(!h.persistent);
	ck_assert_int_eq(
	    head_parse_text(&h, "Transfer-Encoding: chunked", false),
	    RC_INVALID);
}

TEST(connection_header_decides_persistence)
{
	static const struct {
		const char *text;
		bool http11, persistent;
	} rows[] = {
		{ "Host: a", true, true },
		{ "Host: a\nConnection: close", true, false },
		{ "Host: a\nConnection: Keep-Alive", true, true },
		{ "Host: a\nConnection: upgrade, keep-alive", true, true },
		{ "Host: a\nConnection: upgrade", true, false },
		{ "", false, false },
		{ "Connection: keep-alive", false, true },
		{ "Connection: not-keep-alive", false, false },
	};

	for (size_t i = 0; i < NELEM(rows); i++) {
		struct request_head h;
		ck_assert_int_eq(
		    head_parse_text(&h, rows[i].text, rows[i].http11), RC_OK);
		ck_assert_msg(
		    h.persistent == rows[i].persistent, "%s", rows[i].text);
	}
}

TEST(only_json_content_types_are_accepted)
{
	static const struct {
		const char *text;
		bool json;
	} rows[] = {
		{ "Host: a", true },
		{ "Host: a\nContent-Type: application/json", true },
		{ "Host: a\nContent-Type: Application/JSON", true },
		{ "Host: a\nContent-Type: application/json; charset=utf-8",
		    true },
		{ "Host: a\nContent-Type: application/json ;x", true },
		{ "Host: a\nContent-Type: application/jsonp", false },
		{ "Host: a\nContent-Type: application/merge-patch+json; x",
		    true },
		{ "Host: a\nContent-Type: application/problem+json", false },
		{ "Host: a\nContent-Type: text/plain", false },
		{ "Host: a\nContent-Type:", false },
	};

	for (size_t i = 0; i < NELEM(rows); i++) {
		struct request_head h;
		ck_assert_int_eq(
		    head_parse_text(&h, rows[i].text, true), RC_OK);
		ck_assert_msg(h.json == rows[i].json, "%s", rows[i].text);
	}
}

TEST(only_100_continue_is_expected)
{
	struct request_head h;

	ck_assert_int_eq(
	    head_parse_text(&h, "Host: a\nExpect: 100-Continue", true), RC_OK);
	ck_assert(h.expect);
	ck_assert_int_eq(
	    head_parse_text(&h, "Host: a\nExpect: 200-ok", true), RC_DENIED);
	ck_assert_int_eq(head_parse_text(&h, "Host: a\nExpect:", true), RC_OK);
	ck_assert(!h.expect);
	ck_assert_int_eq(
	    head_parse_text(&h, "Expect: 100-continue", false), RC_OK);
	ck_assert(!h.expect);
}
