/* Collectors that refuse, fail, hang or are gone. */
#include "integration/otlp/collector.h"

/* What comes meanwhile waits behind what is tried again, unchanged. */
TEST(a_503_loses_nothing)
{
	open_all(say_503_429_ok);
	queue(1);
	queue(2);
	otlp_flush(o, 0);
	queue(3);
	until("sent", 3);
	ck_assert_int_eq(asked(), 4);
	check_body(0, 1, 3);
	check_body(1, 1, 3);
	check_body(2, 1, 3);
	check_body(3, 3, 4);
	close_all();
}

static const char *
say_later(int number)
{
	if (number == 0)
		return "HTTP/1.1 503 X\r\nRetry-After: 1\r\n"
		       "Content-Length: 0\r\n\r\n";
	return say_ok(number);
}

TEST(retry_after)
{
	struct mono start = clock_mono();

	open_all(say_later);
	queue(1);
	until("sent", 1);
	ck_assert_int_ge(mono_diff_ms(clock_mono(), start), 1000);
	ck_assert_int_eq(asked(), 2);
	close_all();
}

static const char *
say_400(int number)
{
	if (number == 0)
		return "HTTP/1.1 400 X\r\nContent-Length: 0\r\n\r\n";
	return say_ok(number);
}

TEST(a_400_is_final)
{
	open_all(say_400);
	queue(1);
	until("refused", 1);
	queue(2);
	until("sent", 1);
	ck_assert_int_eq(asked(), 2);
	check_body(1, 2, 3);
	close_all();
}

static const char *
say_partial(int number)
{
	(void)number;
	return "HTTP/1.1 200 X\r\nContent-Length: 66\r\n\r\n"
	       "{\"partialSuccess\":{\"rejectedSpans\":\"2\","
	       "\"errorMessage\":\"too late\"}}";
}

TEST(a_partial_success_is_not_repeated)
{
	open_all(say_partial);
	for (unsigned i = 0; i < 5; i++)
		queue(i);
	until("sent", 3);
	ck_assert_int_eq(ended("rejected"), 2);
	otlp_flush(o, 1000);
	ck_assert_int_eq(asked(), 1);
	close_all();
}

static const char *
say_503(int number)
{
	(void)number;
	return "HTTP/1.1 503 X\r\nContent-Length: 0\r\n\r\n";
}

TEST(tries_are_bounded)
{
	open_all(say_503);
	queue(1);
	until("given_up", 1);
	ck_assert_int_eq(asked(), OTLP_TRIES);
	close_all();
}

/* Nobody listens: the queue fills, the rest is counted, queueing stays quick.
 */
TEST(a_collector_that_is_gone)
{
	enum { MORE = 1000 };
	int port = tk_port();
	unsigned n = 0;

	snprintf(url, sizeof(url), "http://127.0.0.1:%d", port);
	open_otlp("");
	while (n < OTLP_QUEUE_SPANS + MORE)
		queue(n++);
	ck_assert_int_eq(ended("queue_full"), MORE);
	until("given_up", OTLP_BATCH_SPANS);
	/* There is room again, for as many as left. */
	while (n < OTLP_QUEUE_SPANS + 2 * MORE)
		queue(n++);
	ck_assert_int_eq(ended("queue_full"), 2 * MORE - OTLP_BATCH_SPANS);
	ck_assert_int_eq(ended("sent"), 0);
	close_otlp();
}

static bool
was_asked(void *arg)
{
	return asked() >= *(int *)arg;
}

/* It takes the request and says nothing: the loop goes on, nobody waits. */
TEST(a_collector_that_hangs)
{
	int n = 1;

	timeout_ms = 200;
	open_all(say_nothing);
	queue(1);
	ck_assert(tk_loop_until(loop, was_asked, &n, WAIT_MS));
	for (unsigned i = 0; i < OTLP_QUEUE_SPANS; i++)
		queue(i);
	ck_assert_int_eq(ended("queue_full"), 1);
	n = 2;
	ck_assert(tk_loop_until(loop, was_asked, &n, WAIT_MS));
	check_body(0, 1, 2);
	check_body(1, 1, 2);
	close_all();
}

/* Few spans, but as many bytes as are allowed. */
TEST(a_queue_full_of_bytes)
{
	char text[OTLP_TEXT_MAX];
	struct otlp_attr attrs[OTLP_ATTRS_MAX];
	struct trace t;
	int n = 0;

	snprintf(url, sizeof(url), "http://127.0.0.1:%d", tk_port());
	open_otlp("");
	trace_new(&t);
	memset(text, 1, sizeof(text));
	for (size_t i = 0; i < NELEM(attrs); i++)
		attrs[i] = OTLP_S("a", ((struct str){ text, sizeof(text) }));
	for (; ended("queue_full") == 0 && n < OTLP_QUEUE_SPANS; n++)
		otlp_span(o,
		    &(struct otlp_span){ .trace = &t,
			.name = STR("large"),
			.attrs = attrs,
			.nattrs = NELEM(attrs) });
	/* Each attribute takes six bytes for each of its text, and some. */
	ck_assert_int_le(
	    n - 1, OTLP_QUEUE_BYTES / (OTLP_ATTRS_MAX * 6 * OTLP_TEXT_MAX));
	ck_assert_int_ge(
	    n, OTLP_QUEUE_BYTES / (OTLP_ATTRS_MAX * 7 * OTLP_TEXT_MAX));
	/* A small one still fits. */
	queue(1);
	ck_assert_int_eq(ended("queue_full"), 1);
	close_otlp();
}
