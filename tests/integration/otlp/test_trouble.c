/* Collectors that reject requests, fail, hang or are down. */
#include "testkit/otlp_fixture.h"

TEST(a_503_is_retried_in_order)
{
	otlp_fixture_open(otlp_fixture_503_429_ok);
	otlp_fixture_queue(1);
	otlp_fixture_queue(2);
	otlp_flush(otlp_fixture.otlp, 0);
	otlp_fixture_queue(3);
	otlp_fixture_wait("sent", 3);
	ck_assert_int_eq(otlp_fixture_requests(), 4);
	otlp_fixture_check_body(0, 1, 3);
	otlp_fixture_check_body(1, 1, 3);
	otlp_fixture_check_body(2, 1, 3);
	otlp_fixture_check_body(3, 3, 4);
	otlp_fixture_close();
}

static const char *
respond_later(int number)
{
	if (number == 0)
		return "HTTP/1.1 503 X\r\nRetry-After: 1\r\n"
		       "Content-Length: 0\r\n\r\n";
	return otlp_fixture_ok(number);
}

TEST(retry_after_is_respected)
{
	struct mono start = clock_mono();

	otlp_fixture_open(respond_later);
	otlp_fixture_queue(1);
	otlp_fixture_wait("sent", 1);
	ck_assert_int_ge(mono_diff_ms(clock_mono(), start), 1000);
	ck_assert_int_eq(otlp_fixture_requests(), 2);
	otlp_fixture_close();
}

static const char *
respond_400(int number)
{
	if (number == 0)
		return "HTTP/1.1 400 X\r\nContent-Length: 0\r\n\r\n";
	return otlp_fixture_ok(number);
}

TEST(a_400_is_not_retried)
{
	otlp_fixture_open(respond_400);
	otlp_fixture_queue(1);
	otlp_fixture_wait("refused", 1);
	otlp_fixture_queue(2);
	otlp_fixture_wait("sent", 1);
	ck_assert_int_eq(otlp_fixture_requests(), 2);
	otlp_fixture_check_body(1, 2, 3);
	otlp_fixture_close();
}

static const char *
respond_partial(int number)
{
	(void)number;
	return "HTTP/1.1 200 X\r\nContent-Length: 66\r\n\r\n"
	       "{\"partialSuccess\":{\"rejectedSpans\":\"2\","
	       "\"errorMessage\":\"too late\"}}";
}

TEST(a_partial_success_is_not_retried)
{
	otlp_fixture_open(respond_partial);
	for (unsigned i = 0; i < 5; i++)
		otlp_fixture_queue(i);
	otlp_fixture_wait("sent", 3);
	ck_assert_int_eq(otlp_fixture_count("rejected"), 2);
	otlp_flush(otlp_fixture.otlp, 1000);
	ck_assert_int_eq(otlp_fixture_requests(), 1);
	otlp_fixture_close();
}

static const char *
respond_503(int number)
{
	(void)number;
	return "HTTP/1.1 503 X\r\nContent-Length: 0\r\n\r\n";
}

TEST(retries_are_limited)
{
	otlp_fixture_open(respond_503);
	otlp_fixture_queue(1);
	otlp_fixture_wait("given_up", 1);
	ck_assert_int_eq(otlp_fixture_requests(), OTLP_TRIES);
	otlp_fixture_close();
}

TEST(without_a_collector_the_queue_is_bounded)
{
	enum { MORE = 1000 };
	int port = tk_port();
	unsigned n = 0;

	snprintf(otlp_fixture.url, sizeof(otlp_fixture.url),
	    "http://127.0.0.1:%d", port);
	otlp_fixture_open_exporter("");
	while (n < OTLP_QUEUE_SPANS + MORE)
		otlp_fixture_queue(n++);
	ck_assert_int_eq(otlp_fixture_count("queue_full"), MORE);
	otlp_fixture_wait("given_up", OTLP_BATCH_SPANS);
	/* There is room again, for one batch. */
	while (n < OTLP_QUEUE_SPANS + 2 * MORE)
		otlp_fixture_queue(n++);
	ck_assert_int_eq(
	    otlp_fixture_count("queue_full"), 2 * MORE - OTLP_BATCH_SPANS);
	ck_assert_int_eq(otlp_fixture_count("sent"), 0);
	otlp_fixture_close_exporter();
}

static bool
has_requests(void *arg)
{
	return otlp_fixture_requests() >= *(int *)arg;
}

TEST(a_hung_collector_does_not_block_the_loop)
{
	int n = 1;

	otlp_fixture.timeout_ms = 200;
	otlp_fixture_open(otlp_fixture_nothing);
	otlp_fixture_queue(1);
	ck_assert(tk_loop_until(
	    otlp_fixture.loop, has_requests, &n, OTLP_FIXTURE_MS));
	for (unsigned i = 0; i < OTLP_QUEUE_SPANS; i++)
		otlp_fixture_queue(i);
	ck_assert_int_eq(otlp_fixture_count("queue_full"), 1);
	n = 2;
	ck_assert(tk_loop_until(
	    otlp_fixture.loop, has_requests, &n, OTLP_FIXTURE_MS));
	otlp_fixture_check_body(0, 1, 2);
	otlp_fixture_check_body(1, 1, 2);
	otlp_fixture_close();
}

TEST(the_queue_is_limited_by_bytes)
{
	char text[OTLP_TEXT_MAX];
	struct otlp_attr attrs[OTLP_ATTRS_MAX];
	struct trace t;
	int n = 0;

	snprintf(otlp_fixture.url, sizeof(otlp_fixture.url),
	    "http://127.0.0.1:%d", tk_port());
	otlp_fixture_open_exporter("");
	trace_new(&t);
	memset(text, 1, sizeof(text));
	for (size_t i = 0; i < NELEM(attrs); i++)
		attrs[i] = OTLP_S("a", ((struct str){ text, sizeof(text) }));
	for (; otlp_fixture_count("queue_full") == 0 && n < OTLP_QUEUE_SPANS;
	     n++)
		otlp_span(otlp_fixture.otlp,
		    &(struct otlp_span){ .trace = &t,
			.name = STR("large"),
			.attrs = attrs,
			.nattrs = NELEM(attrs) });
	/* Each byte of text takes six, and there is some overhead. */
	ck_assert_int_le(
	    n - 1, OTLP_QUEUE_BYTES / (OTLP_ATTRS_MAX * 6 * OTLP_TEXT_MAX));
	ck_assert_int_ge(
	    n, OTLP_QUEUE_BYTES / (OTLP_ATTRS_MAX * 7 * OTLP_TEXT_MAX));
	/* There is room for a small one. */
	otlp_fixture_queue(1);
	ck_assert_int_eq(otlp_fixture_count("queue_full"), 1);
	otlp_fixture_close_exporter();
}
