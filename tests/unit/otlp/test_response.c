/* Responses of collectors. */
#include "core/mem.h"
#include "otlp/otlp_internal.h"
#include "testkit/testkit.h"

#define BATCH 10

struct fate_row {
	enum rc rc;
	int status;
	enum otlp_fate fate;
};

TEST(a_status_decides_about_a_retry)
{
	static const struct fate_row rows[] = {
		{ RC_OK, 200, OTLP_ACCEPTED },
		{ RC_OK, 202, OTLP_ACCEPTED },
		/* The body was lost or too long, but it was accepted. */
		{ RC_DOWN, 200, OTLP_ACCEPTED },
		{ RC_TOOBIG, 200, OTLP_ACCEPTED },
		{ RC_OK, 429, OTLP_RETRY },
		{ RC_OK, 502, OTLP_RETRY },
		{ RC_OK, 503, OTLP_RETRY },
		{ RC_OK, 504, OTLP_RETRY },
		{ RC_DOWN, 0, OTLP_RETRY },
		{ RC_TIMEOUT, 0, OTLP_RETRY },
		{ RC_OK, 301, OTLP_FAILED },
		{ RC_OK, 400, OTLP_FAILED },
		{ RC_OK, 401, OTLP_FAILED },
		{ RC_OK, 404, OTLP_FAILED },
		{ RC_OK, 413, OTLP_FAILED },
		{ RC_OK, 500, OTLP_FAILED },
		{ RC_OK, 501, OTLP_FAILED },
		{ RC_OK, 505, OTLP_FAILED },
		{ RC_INVALID, 0, OTLP_FAILED },
	};
	struct otlp_response a;

	for (size_t i = 0; i < NELEM(rows); i++) {
		otlp_response_parse(
		    rows[i].rc, rows[i].status, STR("{}"), BATCH, &a);
		ck_assert_msg(a.fate == rows[i].fate, "%d", rows[i].status);
		ck_assert_uint_eq(a.rejected, 0);
		ck_assert_str_eq(a.text, "");
	}
}

struct body_row {
	const char *body;
	size_t rejected;
	const char *text;
};

TEST(a_partial_success_is_parsed)
{
	static const struct body_row rows[] = {
		{ "{\"partialSuccess\":{\"rejectedSpans\":\"2\","
		  "\"errorMessage\":\"too old\"}}",
		    2, "too old" },
		{ "{\"partialSuccess\":{\"rejectedSpans\":3}}", 3, "" },
		{ "{\"partialSuccess\":{\"errorMessage\":\"slow\"}}", 0,
		    "slow" },
		{ "{\"partialSuccess\":{}}", 0, "" },
		{ "{\"partialSuccess\":null}", 0, "" },
		{ "{\"partialSuccess\":{\"rejectedSpans\":\"11\"}}", BATCH,
		    "" },
		{ "{\"partialSuccess\":{\"rejectedSpans\":1e300}}", BATCH, "" },
		{ "{\"partialSuccess\":{\"rejectedSpans\":\"-1\"}}", 0, "" },
		{ "{\"partialSuccess\":{\"rejectedSpans\":-1}}", 0, "" },
		{ "{\"partialSuccess\":[2]}", 0, "" },
		{ "", 0, "" },
		{ "ok", 0, "" },
	};
	struct otlp_response a;

	for (size_t i = 0; i < NELEM(rows); i++) {
		otlp_response_parse(
		    RC_OK, 200, str_of(rows[i].body), BATCH, &a);
		ck_assert_int_eq(a.fate, OTLP_ACCEPTED);
		ck_assert_msg(
		    a.rejected == rows[i].rejected, "%s", rows[i].body);
		ck_assert_str_eq(a.text, rows[i].text);
	}
}
