/*
 * Metrics: the text format, and concurrent updates.
 */
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/mem.h"
#include "core/metric.h"
#include "testkit/testkit.h"

static double
answer(void *arg)
{
	return *(double *)arg;
}

TEST(counters_and_gauges_are_formatted)
{
	struct metric_set *s = metric_set_new();
	struct buf out = BUF_INIT(10000);
	double v = 0.5;
	struct metric *ok = metric_counter(
	    s, "soul_requests_total", "Requests.", "route=\"a\",code=\"ok\"");
	struct metric *depth =
	    metric_gauge(s, "soul_depth", "Odd \\ help\ntext.", NULL);
	struct metric *bad = metric_counter(
	    s, "soul_requests_total", "Requests.", "route=\"a\",code=\"bad\"");

	metric_gauge_fn(s, "soul_load", "Load.", answer, &v);
	/* The same name and labels are the same metric. */
	ck_assert_ptr_eq(metric_counter(s, "soul_requests_total", "Requests.",
			     "route=\"a\",code=\"ok\""),
	    ok);
	ck_assert_ptr_ne(ok, bad);
	metric_add(ok, 3);
	metric_add(ok, 0);
	metric_set(depth, 10);
	metric_change(depth, -12);
	ck_assert_int_eq(metric_value(ok), 3);
	ck_assert_int_eq(metric_value(bad), 0);
	ck_assert_int_eq(metric_value(depth), -2);
	metric_write(s, &out);
	ck_assert_str_eq(buf_str(&out).p,
	    "# HELP soul_requests_total Requests.\n"
	    "# TYPE soul_requests_total counter\n"
	    "soul_requests_total{route=\"a\",code=\"ok\"} 3\n"
	    "soul_requests_total{route=\"a\",code=\"bad\"} 0\n"
	    "# HELP soul_depth Odd \\\\ help\\ntext.\n"
	    "# TYPE soul_depth gauge\n"
	    "soul_depth -2\n"
	    "# HELP soul_load Load.\n"
	    "# TYPE soul_load gauge\n"
	    "soul_load 0.5\n");
	buf_free(&out);
	metric_set_free(s);
	metric_set_free(NULL);
}

TEST(special_values_are_formatted)
{
	static const struct {
		double v;
		const char *want;
	} rows[] = { { NAN, "NaN" }, { INFINITY, "+Inf" },
		{ -INFINITY, "-Inf" }, { 1e300, "1e+300" }, { -0.25, "-0.25" },
		{ 1732000000.123, "1732000000.123" } };

	for (size_t i = 0; i < NELEM(rows); i++) {
		struct metric_set *s = metric_set_new();
		struct buf out = BUF_INIT(1000);
		double v = rows[i].v;
		char want[100];

		metric_gauge_fn(s, "g", "G.", answer, &v);
		metric_write(s, &out);
		(void)snprintf(want, sizeof(want), "\ng %s\n", rows[i].want);
		ck_assert_ptr_nonnull(strstr(buf_str(&out).p, want));
		buf_free(&out);
		metric_set_free(s);
	}
}

/* The number after "name " in the only line that starts with it. */
static double
number_of(const struct buf *out, const char *name)
{
	char line[100];
	const char *at;

	(void)snprintf(line, sizeof(line), "\n%s ", name);
	at = strstr(buf_str(out).p, line);
	ck_assert_msg(at != NULL, "no %s", name);
	return strtod(at + strlen(line), NULL);
}

TEST(histograms_are_cumulative)
{
	struct metric_set *s = metric_set_new();
	struct buf out = BUF_INIT(10000);
	struct metric *h = metric_histogram(s, "t_seconds", "T.", NULL);
	struct metric *l =
	    metric_histogram(s, "l_seconds", "L.", "route=\"a\"");

	/* A bound belongs to its bucket. */
	metric_observe(h, 0.00005);
	metric_observe(h, 0.00006);
	metric_observe(h, 1.0);
	metric_observe(h, 60.0);
	metric_observe(h, 61.0);
	metric_observe(l, 0.002);
	ck_assert_int_eq(metric_value(h), 5);
	metric_write(s, &out);
	ck_assert_double_eq(
	    number_of(&out, "t_seconds_bucket{le=\"5e-05\"}"), 1);
	ck_assert_double_eq(
	    number_of(&out, "t_seconds_bucket{le=\"0.0001\"}"), 2);
	ck_assert_double_eq(number_of(&out, "t_seconds_bucket{le=\"0.5\"}"), 2);
	ck_assert_double_eq(number_of(&out, "t_seconds_bucket{le=\"1\"}"), 3);
	ck_assert_double_eq(number_of(&out, "t_seconds_bucket{le=\"30\"}"), 3);
	ck_assert_double_eq(number_of(&out, "t_seconds_bucket{le=\"60\"}"), 4);
	ck_assert_double_eq(
	    number_of(&out, "t_seconds_bucket{le=\"+Inf\"}"), 5);
	ck_assert_double_eq(number_of(&out, "t_seconds_count"), 5);
	ck_assert_double_eq_tol(
	    number_of(&out, "t_seconds_sum"), 122.00011, 1e-6);
	ck_assert_double_eq(
	    number_of(&out, "l_seconds_bucket{route=\"a\",le=\"0.0025\"}"), 1);
	ck_assert_double_eq(number_of(&out, "l_seconds_count{route=\"a\"}"), 1);
	buf_free(&out);
	metric_set_free(s);
}

TEST(histograms_of_bytes_have_buckets_of_bytes)
{
	struct metric_set *s = metric_set_new();
	struct metric *h = metric_histogram_bytes(s, "q_bytes", "Q.", NULL);
	struct buf out = BUF_INIT(65536);

	metric_observe(h, 0);
	metric_observe(h, 256);
	metric_observe(h, 257);
	metric_observe(h, 17.0 * 1024 * 1024);
	metric_write(s, &out);
	ck_assert_ptr_nonnull(strstr(out.p,
	    "# TYPE q_bytes histogram\n"
	    "q_bytes_bucket{le=\"0\"} 1\n"
	    "q_bytes_bucket{le=\"256\"} 2\n"
	    "q_bytes_bucket{le=\"1024\"} 3\n"));
	ck_assert_ptr_nonnull(strstr(out.p,
	    "q_bytes_bucket{le=\"16777216\"} 3\n"
	    "q_bytes_bucket{le=\"+Inf\"} 4\n"
	    "q_bytes_sum 17826305\nq_bytes_count 4\n"));
	ck_assert_int_eq(metric_value(h), 4);
	buf_free(&out);
	metric_set_free(s);
}

TEST(odd_observations_do_not_corrupt_the_sum)
{
	struct metric_set *s = metric_set_new();
	struct buf out = BUF_INIT(10000);
	struct metric *h = metric_histogram(s, "t_seconds", "T.", NULL);

	metric_observe(h, -1);
	metric_observe(h, NAN);
	metric_observe(h, -INFINITY);
	metric_write(s, &out);
	ck_assert_double_eq(
	    number_of(&out, "t_seconds_bucket{le=\"5e-05\"}"), 3);
	ck_assert_double_eq(number_of(&out, "t_seconds_sum"), 0);
	metric_observe(h, INFINITY);
	buf_reset(&out);
	metric_write(s, &out);
	ck_assert_double_eq(number_of(&out, "t_seconds_bucket{le=\"60\"}"), 3);
	ck_assert_double_eq(number_of(&out, "t_seconds_count"), 4);
	ck_assert_double_eq(number_of(&out, "t_seconds_sum"), 1e9);
	buf_free(&out);
	metric_set_free(s);
}

TEST(null_metrics_are_ignored)
{
	struct buf out = BUF_INIT(100);
	double v = 1;

	ck_assert_ptr_null(metric_counter(NULL, "a_total", "A.", NULL));
	ck_assert_ptr_null(metric_gauge(NULL, "b", "B.", NULL));
	ck_assert_ptr_null(metric_histogram(NULL, "c_seconds", "C.", NULL));
	metric_gauge_fn(NULL, "d", "D.", answer, &v);
	metric_add(NULL, 1);
	metric_set(NULL, 1);
	metric_change(NULL, 1);
	metric_observe(NULL, 1);
	ck_assert_int_eq(metric_value(NULL), 0);
	metric_write(NULL, &out);
	ck_assert_uint_eq(out.n, 0);
}

enum { THREADS = 4, ROUNDS = 20000 };

struct shared {
	struct metric_set *s;
	struct metric *c, *g, *h;
};

static void *
count_much(void *arg)
{
	struct shared *sh = arg;

	for (int i = 0; i < ROUNDS; i++) {
		metric_add(sh->c, 2);
		metric_change(sh->g, i % 2 == 0 ? 1 : -1);
		metric_observe(sh->h, 0.001 * (i % 100));
	}
	return NULL;
}

TEST(concurrent_updates_are_not_lost)
{
	struct shared sh = { .s = metric_set_new() };
	struct buf out = BUF_INIT(10000);
	pthread_t t[THREADS];

	sh.c = metric_counter(sh.s, "c_total", "C.", NULL);
	sh.g = metric_gauge(sh.s, "g", "G.", NULL);
	sh.h = metric_histogram(sh.s, "h_seconds", "H.", NULL);
	for (int i = 0; i < THREADS; i++)
		ck_assert_int_eq(
		    pthread_create(&t[i], NULL, count_much, &sh), 0);
	for (int i = 0; i < 100; i++) {
		buf_reset(&out);
		metric_write(sh.s, &out);
		ck_assert_double_eq(
		    number_of(&out, "h_seconds_bucket{le=\"+Inf\"}"),
		    number_of(&out, "h_seconds_count"));
	}
	for (int i = 0; i < THREADS; i++)
		ck_assert_int_eq(pthread_join(t[i], NULL), 0);
	ck_assert_int_eq(metric_value(sh.c), 2 * THREADS * ROUNDS);
	ck_assert_int_eq(metric_value(sh.g), 0);
	ck_assert_int_eq(metric_value(sh.h), THREADS * ROUNDS);
	buf_free(&out);
	metric_set_free(sh.s);
}

TEST(promtool_accepts_the_text)
{
	struct metric_set *s = metric_set_new();
	struct buf out = BUF_INIT(100000);
	char command[600];
	double v = 0.5;

	metric_add(metric_counter(s, "soul_requests_total", "Requests.",
		       "route=\"a\",code=\"ok\""),
	    1);
	metric_add(metric_counter(s, "soul_requests_total", "Requests.",
		       "route=\"a\",code=\"bad\""),
	    1);
	metric_observe(metric_histogram(s, "soul_request_duration_seconds",
			   "Time per request.", "route=\"a\""),
	    0.1);
	metric_observe(metric_histogram(s, "soul_request_duration_seconds",
			   "Time per request.", "route=\"b\""),
	    100);
	metric_set(
	    metric_gauge(s, "soul_inbox_posts", "Posts\nwaiting.", NULL), -1);
	metric_gauge_fn(s, "soul_load_ratio", "Load \\.", answer, &v);
	metric_write(s, &out);
	tk_write_file(tk_path("metrics"), buf_str(&out).p);
	(void)snprintf(command, sizeof(command),
	    "promtool check metrics <%s >%s 2>&1", tk_path("metrics"),
	    tk_path("output"));
	if (system(command) != 0) {
		char *output = tk_read_file(tk_path("output"), NULL);

		ck_abort_msg("%s", output);
	}
	buf_free(&out);
	metric_set_free(s);
}
