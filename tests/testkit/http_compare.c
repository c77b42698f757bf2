#include "testkit/http_compare.h"

#include <civetweb.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/clock.h"
#include "core/mem.h"
#include "testkit/figures.h"
#include "testkit/http.h"
#include "testkit/testkit.h"

#define ROUND_MS   100
#define SAMPLE_MAX 50000 /* latencies of one client and round */

struct compare_client {
	const struct http_compare_target *t;
	pthread_t thread;
	int64_t *ns;
	size_t n;
};

/* One write: mg_send_http_ok() writes line by line, in twice the time. */
static int
compare_on_hello(struct mg_connection *c, void *arg)
{
	static const char response[] =
	    "HTTP/1.1 200 OK\r\n"
	    "Content-Type: application/json\r\n"
	    "Content-Length: 17\r\n"
	    "Connection: keep-alive\r\n\r\n" HTTP_COMPARE_BODY;

	_Static_assert(sizeof(HTTP_COMPARE_BODY) - 1 == 17, "as announced");
	(void)arg;
	mg_write(c, response, sizeof(response) - 1);
	return 200;
}

struct mg_context *
http_compare_bare_start(int *port)
{
	char workers[8];
	const char *options[] = { "listening_ports", "127.0.0.1:0",
		"num_threads", workers, "enable_keep_alive", "yes",
		"keep_alive_timeout_ms", "1000", "tcp_nodelay", "1",
		"connection_queue", "256", "listen_backlog", "1024", NULL };
	struct mg_callbacks none = { 0 };
	struct mg_server_port p;

	snprintf(workers, sizeof(workers), "%d", HTTP_COMPARE_WORKERS);
	struct mg_context *ctx = mg_start(&none, NULL, options);
	ck_assert_ptr_nonnull(ctx);
	mg_set_request_handler(ctx, "/hello", compare_on_hello, NULL);
	ck_assert_int_eq(mg_get_server_ports(ctx, 1, &p), 1);
	*port = p.port;
	return ctx;
}

/* Instead of Check's assertions, each of which is a write under a lock. */
static void
compare_check(bool ok)
{
	if (!ok)
		abort();
}

/* Bytes of the first response in p; 0: its header is incomplete. */
static size_t
compare_response_length(const char *p, size_t n)
{
	static const char field[] = "Content-Length: ";
	const char *end = n > 0 ? memmem(p, n, "\r\n\r\n", 4) : NULL;
	const char *at;

	if (end == NULL)
		return 0;
	at = memmem(p, (size_t)(end - p), field, strlen(field));
	compare_check(at != NULL);
	return (size_t)(end - p) + 4 + strtoul(at + strlen(field), NULL, 10);
}

/* One request and its response. */
static void
compare_exchange(struct tk_http *c, const char *text)
{
	size_t n;

	compare_check(tk_http_puts(c, text));
	while (
	    (n = compare_response_length(c->in.p, c->in.n)) == 0 || c->in.n < n)
		compare_check(tk_http_fill(c, 5000));
	compare_check(memcmp(c->in.p, "HTTP/1.1 200", 12) == 0);
	buf_drop(&c->in, n);
}

#define RUNNING_DIGITS 8

/* No two requests of a run have the same number. */
static void
compare_write_running(const struct http_compare_target *t, char *text)
{
	static atomic_uint last;
	char digits[16];

	if (t->running == NULL)
		return;
	snprintf(digits, sizeof(digits), "%0*u", RUNNING_DIGITS,
	    atomic_fetch_add(&last, 1) % 100000000);
	memcpy(text + (t->running - t->request), digits, RUNNING_DIGITS);
}

static void *
compare_client_main(void *arg)
{
	struct compare_client *me = arg;
	struct tk_http c;
	char get[128], *text;

	snprintf(get, sizeof(get), "GET %s HTTP/1.1\r\nHost: localhost\r\n\r\n",
	    me->t->path != NULL ? me->t->path : "/");
	text = str_dup(str_of(me->t->request != NULL ? me->t->request : get));
	tk_http_open(&c, me->t->port);
	compare_write_running(me->t, text);
	compare_exchange(&c, text);
	struct mono end = mono_add_ms(clock_mono(), ROUND_MS);
	struct mono before = clock_mono();
	while (before.ns < end.ns && me->n < SAMPLE_MAX) {
		compare_write_running(me->t, text);
		compare_exchange(&c, text);
		struct mono now = clock_mono();
		me->ns[me->n++] = now.ns - before.ns;
		before = now;
	}
	tk_http_close(&c);
	free(text);
	return NULL;
}

static int
compare_by_size(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return x < y ? -1 : x > y;
}

static double
compare_cpu_us(const struct http_compare_target *t)
{
	double us = tk_cpu_us(0);

	return t->pid == 0 ? us : us + tk_cpu_us(t->pid);
}

static void
compare_round(struct http_compare_target *t, size_t clients, int round)
{
	static struct compare_client all[HTTP_COMPARE_CLIENTS];
	static int64_t ns[HTTP_COMPARE_CLIENTS * SAMPLE_MAX];
	double cpu = compare_cpu_us(t);
	size_t n = 0;

	for (size_t i = 0; i < clients; i++) {
		all[i].t = t;
		all[i].n = 0;
		if (all[i].ns == NULL)
			all[i].ns = mem_calloc(SAMPLE_MAX, sizeof(int64_t));
		ck_assert_int_eq(pthread_create(&all[i].thread, NULL,
				     compare_client_main, &all[i]),
		    0);
	}
	for (size_t i = 0; i < clients; i++) {
		pthread_join(all[i].thread, NULL);
		memcpy(ns + n, all[i].ns, all[i].n * sizeof(ns[0]));
		n += all[i].n;
	}
	ck_assert_uint_gt(n, 0);
	t->cpu_us[round] = (compare_cpu_us(t) - cpu) / (double)n;
	qsort(ns, n, sizeof(ns[0]), compare_by_size);
	t->rps[round] = (double)n * 1000 / ROUND_MS;
	t->p50_us[round] = (double)ns[n / 2] / 1e3;
	t->p99_us[round] = (double)ns[n - 1 - n / 100] / 1e3;
}

/* Of the two figures of a round, between which other load hardly changes. */
static double
compare_ratio(
    const struct http_compare_target *t, const struct http_compare_target *base)
{
	double ratio[HTTP_COMPARE_ROUNDS];

	for (int round = 0; round < HTTP_COMPARE_ROUNDS; round++)
		ratio[round] = t->rps[round] / base->rps[round];
	return tk_median(ratio, HTTP_COMPARE_ROUNDS);
}

void
http_compare_run(struct http_compare_target *t, size_t n, size_t clients)
{
	double base_cpu = 0;

	for (int round = 0; round < HTTP_COMPARE_ROUNDS; round++)
		for (size_t i = 0; i < n; i++)
			compare_round(&t[i], clients, round);
	for (size_t i = 0; i < n; i++)
		t[i].ratio = compare_ratio(&t[i], &t[0]);
	printf(
	    "%zu keep-alive connection%s:\n", clients, clients == 1 ? "" : "s");
	for (size_t i = 0; i < n; i++) {
		double rps = tk_median(t[i].rps, HTTP_COMPARE_ROUNDS),
		       cpu = tk_median(t[i].cpu_us, HTTP_COMPARE_ROUNDS);
		if (i == 0)
			base_cpu = cpu;
		printf("  %-18s %7.0f req/s  p50 %6.1f us  p99 %7.1f us  "
		       "cpu %5.1f us  ratio %.2f, by cpu %.2f\n",
		    t[i].name, rps, tk_median(t[i].p50_us, HTTP_COMPARE_ROUNDS),
		    tk_median(t[i].p99_us, HTTP_COMPARE_ROUNDS), cpu,
		    t[i].ratio, base_cpu / cpu);
	}
}
