/* The hub's own messages. */
#include <string.h>

#include "core/mem.h"
#include "hub_text.h"
#include "testkit/testkit.h"

TEST(a_timestamp_has_three_digits_of_milliseconds)
{
	static const struct {
		int64_t ms;
		const char *text;
	} rows[] = {
		{ 0, "1970-01-01T00:00:00.000Z" },
		{ 7, "1970-01-01T00:00:00.007Z" },
		{ 1755599400123, "2025-08-19T10:30:00.123Z" },
		{ 1755599400000, "2025-08-19T10:30:00.000Z" },
	};
	char is[HUB_TIMESTAMP_MAX];
	size_t i;

	for (i = 0; i < NELEM(rows); i++) {
		hub_timestamp(rows[i].ms, is);
		ck_assert_str_eq(is, rows[i].text);
	}
}

TEST(an_error_has_code_type_and_details)
{
	static const struct identity to = { .class = CLASS_AGENT,
		.id = STR_INIT("a\"b") };
	static const char *const errors[] = { "/type: is missing" };
	const struct hub_failure f = { .error = HUB_ERROR_VALIDATION,
		.validation_errors = errors,
		.nvalidation_errors = 1,
		.message_id = STR_INIT("\"m1\""),
		.seq = 3 };
	struct buf b = BUF_INIT(4096);

	hub_error_write(&f, &to, STR("now"), &b);
	ck_assert_str_eq(b.p,
	    "{\"type\":\"error\",\"sender\":{\"id\":\"hub\",\"type\":\"hub\"},"
	    "\"recipient\":{\"id\":\"a\\\"b\",\"type\":\"agent\"},"
	    "\"payload\":{\"error_code\":\"VALIDATION_ERROR\","
	    "\"error_type\":\"validation_error\","
	    "\"message\":\"the message is not valid\",\"details\":{"
	    "\"original_message_id\":\"m1\",\"seq\":3,"
	    "\"validation_errors\":[\"/type: is missing\"],"
	    "\"suggested_action\":\"correct the message as "
	    "validation_errors says, and send it again\"}},"
	    "\"timestamp\":\"now\"}");
	buf_free(&b);
}

TEST(every_error_has_a_text_of_its_own)
{
	static const struct identity to = { .class = CLASS_HUMAN,
		.id = STR_INIT("bob") };
	int e;

	for (e = 0; e < HUB_ERROR_N; e++) {
		const struct hub_failure f = { .error = (enum hub_error)e,
			.retry_after_ms = 5 };
		struct buf b = BUF_INIT(4096);

		hub_error_write(&f, &to, STR("now"), &b);
		ck_assert_ptr_nonnull(strstr(b.p, hub_error_code(f.error)));
		ck_assert_ptr_nonnull(strstr(b.p, "\"suggested_action\":\""));
		ck_assert_ptr_null(strstr(b.p, "original_message_id"));
		ck_assert_int_eq(strstr(b.p, "\"retry_after_ms\":5") != NULL,
		    f.error == HUB_ERROR_RATE);
		buf_free(&b);
	}
}
