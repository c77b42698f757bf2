/* Flushing, and timestamps. */
#include "testkit/otlp_fixture.h"

TEST(a_flush_sends_everything)
{
	enum { N = OTLP_BATCH_SPANS + 9 };

	otlp_fixture_open(otlp_fixture_ok);
	for (unsigned i = 0; i < N; i++)
		otlp_fixture_queue(i);
	otlp_flush(otlp_fixture.otlp, OTLP_FIXTURE_MS);
	ck_assert_int_eq(otlp_fixture_count("sent"), N);
	otlp_fixture_check_body(0, 0, OTLP_BATCH_SPANS);
	otlp_fixture_check_body(1, OTLP_BATCH_SPANS, N);
	otlp_flush(otlp_fixture.otlp, OTLP_FIXTURE_MS);
	ck_assert_int_eq(otlp_fixture_requests(), 2);
	otlp_fixture_close();
}

TEST(a_flush_waits_for_retries)
{
	otlp_fixture_open(otlp_fixture_503_429_ok);
	otlp_fixture_queue(1);
	otlp_flush(otlp_fixture.otlp, OTLP_FIXTURE_MS);
	ck_assert_int_eq(otlp_fixture_count("sent"), 1);
	ck_assert_int_eq(otlp_fixture_requests(), 3);
	otlp_fixture_close();
}

static void
stop(void *arg)
{
	loop_stop(arg);
}

TEST(a_flush_goes_on_when_the_loop_is_stopped)
{
	struct loop_timer t = { .pos = 0 };

	otlp_fixture_open(otlp_fixture_503_429_ok);
	otlp_fixture_queue(1);
	loop_timer_set(
	    otlp_fixture.loop, &t, clock_mono(), stop, otlp_fixture.loop);
	otlp_flush(otlp_fixture.otlp, OTLP_FIXTURE_MS);
	ck_assert_int_eq(otlp_fixture_count("sent"), 1);
	otlp_fixture_close();
}

TEST(a_flush_is_limited_in_time)
{
	struct mono start = clock_mono();

	otlp_fixture_open(otlp_fixture_nothing);
	otlp_fixture_queue(1);
	otlp_flush(otlp_fixture.otlp, 100);
	int64_t ms = mono_diff_ms(clock_mono(), start);
	ck_assert_msg(ms >= 100 && ms < OTLP_FIXTURE_MS, "%" PRId64, ms);
	ck_assert_int_eq(otlp_fixture_count("sent"), 0);
	otlp_free(otlp_fixture.otlp);
	ck_assert_int_eq(otlp_fixture_count("stopped"), 1);
	otlp_fixture.otlp = NULL;
	otlp_fixture_close();
}

static const char *
respond_much_later(int number)
{
	(void)number;
	return "HTTP/1.1 429 X\r\nRetry-After: 60\r\n"
	       "Content-Length: 0\r\n\r\n";
}

TEST(a_flush_does_not_wait_beyond_its_limit)
{
	struct mono start = clock_mono();

	otlp_fixture_open(respond_much_later);
	otlp_fixture_queue(1);
	otlp_flush(otlp_fixture.otlp, OTLP_FIXTURE_MS);
	otlp_flush(otlp_fixture.otlp, OTLP_FIXTURE_MS);
	ck_assert_int_lt(mono_diff_ms(clock_mono(), start), OTLP_FIXTURE_MS);
	ck_assert_int_eq(otlp_fixture_requests(), 1);
	otlp_fixture_close();
}

TEST(timestamps_agree_with_the_wall_clock)
{
	struct mono at = clock_mono();

	otlp_fixture_open(otlp_fixture_ok);
	int64_t first = otlp_unix_ns(otlp_fixture.otlp, at);
	int64_t off = first - clock_wall().ms * 1000000;
	ck_assert_msg(
	    off > -INT64_C(5000000000) && off < 5000000, "%" PRId64, off);
	ck_assert(otlp_unix_ns(otlp_fixture.otlp, mono_add_ms(at, 7)) ==
	    first + 7000000);
	otlp_fixture_close();
}
