/* The end: what is queued goes, in the time there is. */
#include "integration/otlp/collector.h"

/* All goes at once, whatever is under way, batch after batch. */
TEST(a_flush)
{
	enum { N = OTLP_BATCH_SPANS + 9 };

	open_all(say_ok);
	for (unsigned i = 0; i < N; i++)
		queue(i);
	otlp_flush(o, WAIT_MS);
	ck_assert_int_eq(ended("sent"), N);
	check_body(0, 0, OTLP_BATCH_SPANS);
	check_body(1, OTLP_BATCH_SPANS, N);
	otlp_flush(o, WAIT_MS);
	ck_assert_int_eq(asked(), 2);
	close_all();
}

TEST(a_flush_goes_through_a_retry)
{
	open_all(say_503_429_ok);
	queue(1);
	otlp_flush(o, WAIT_MS);
	ck_assert_int_eq(ended("sent"), 1);
	ck_assert_int_eq(asked(), 3);
	close_all();
}

static void
stop(void *arg)
{
	loop_stop(arg);
}

/* Somebody else who stops the loop does not end it. */
TEST(a_flush_in_company)
{
	struct loop_timer t = { .pos = 0 };

	open_all(say_503_429_ok);
	queue(1);
	loop_timer_set(loop, &t, clock_mono(), stop, loop);
	otlp_flush(o, WAIT_MS);
	ck_assert_int_eq(ended("sent"), 1);
	close_all();
}

TEST(a_flush_has_an_end)
{
	struct mono start = clock_mono();

	open_all(say_nothing);
	queue(1);
	otlp_flush(o, 100);
	int64_t ms = mono_diff_ms(clock_mono(), start);
	ck_assert_msg(ms >= 100 && ms < WAIT_MS, "%" PRId64, ms);
	ck_assert_int_eq(ended("sent"), 0);
	otlp_free(o);
	ck_assert_int_eq(ended("stopped"), 1);
	o = NULL;
	close_all();
}

static const char *
say_much_later(int number)
{
	(void)number;
	return "HTTP/1.1 429 X\r\nRetry-After: 60\r\n"
	       "Content-Length: 0\r\n\r\n";
}

/* The collector wants to be left alone for longer than there is. */
TEST(a_flush_without_hope)
{
	struct mono start = clock_mono();

	open_all(say_much_later);
	queue(1);
	otlp_flush(o, WAIT_MS);
	otlp_flush(o, WAIT_MS);
	ck_assert_int_lt(mono_diff_ms(clock_mono(), start), WAIT_MS);
	ck_assert_int_eq(asked(), 1);
	close_all();
}

/* Moments of one process agree, and are those of the wall clock. */
TEST(moments)
{
	struct mono at = clock_mono();

	open_all(say_ok);
	int64_t first = otlp_unix_ns(o, at);
	int64_t off = first - clock_wall().ms * 1000000;
	ck_assert_msg(
	    off > -INT64_C(5000000000) && off < 5000000, "%" PRId64, off);
	ck_assert(otlp_unix_ns(o, mono_add_ms(at, 7)) == first + 7000000);
	close_all();
}
