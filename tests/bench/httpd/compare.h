/*
 * compare: HTTP servers side by side, in turn in the same run, by the same
 * client threads: requests per second and latency, and the processor time of a
 * request, the client's share included, which is what a busy machine disturbs
 * least.  The first is a bare civetweb handler.
 */
#ifndef BENCH_COMPARE_H
#define BENCH_COMPARE_H

#include <civetweb.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/clock.h"
#include "core/mem.h"
#include "testkit/figures.h"
#include "testkit/http.h"
#include "testkit/testkit.h"

#define BODY       "{\"hello\":\"world\"}"
#define WORKERS    64
#define ROUNDS     5
#define ROUND_MS   500
#define CLIENTS    32
#define SAMPLE_MAX 200000 /* latencies kept of one client's round */

struct target {
	const char *name;
	int port;
	const char *request; /* all of it; NULL: GET path */
	const char *path;
	pid_t pid; /* of its process; 0: this one */
	double rps[ROUNDS], p50_us[ROUNDS], p99_us[ROUNDS];
	double cpu_us[ROUNDS]; /* of client and server, of one request */
};

struct client {
	const struct target *t;
	pthread_t thread;
	int64_t *ns;
	size_t n;
};

/* One write: mg_send_http_ok() sends line by line and takes twice as long. */
static inline int
bare_hello(struct mg_connection *c, void *arg)
{
	static const char answer[] = "HTTP/1.1 200 OK\r\n"
				     "Content-Type: application/json\r\n"
				     "Content-Length: 17\r\n"
				     "Connection: keep-alive\r\n\r\n" BODY;

	_Static_assert(sizeof(BODY) - 1 == 17, "as announced");
	(void)arg;
	mg_write(c, answer, sizeof(answer) - 1);
	return 200;
}

static inline struct mg_context *
bare_start(int *port)
{
	char workers[8];
	const char *options[] = { "listening_ports", "127.0.0.1:0",
		"num_threads", workers, "enable_keep_alive", "yes",
		"keep_alive_timeout_ms", "1000", "tcp_nodelay", "1",
		"connection_queue", "256", "listen_backlog", "1024", NULL };
	struct mg_callbacks none = { 0 };
	struct mg_server_port p;

	snprintf(workers, sizeof(workers), "%d", WORKERS);
	struct mg_context *ctx = mg_start(&none, NULL, options);
	ck_assert_ptr_nonnull(ctx);
	mg_set_request_handler(ctx, "/hello", bare_hello, NULL);
	ck_assert_int_eq(mg_get_server_ports(ctx, 1, &p), 1);
	*port = p.port;
	return ctx;
}

/* Not Check's assertions: each of them is a write, and threads queue for it. */
static inline void
must(bool ok)
{
	if (!ok)
		abort();
}

/* Bytes of the answer that stands in front; 0: not all of its head is there. */
static inline size_t
answer_length(const char *p, size_t n)
{
	static const char field[] = "Content-Length: ";
	const char *end = n > 0 ? memmem(p, n, "\r\n\r\n", 4) : NULL;
	const char *at;

	if (end == NULL)
		return 0;
	at = memmem(p, (size_t)(end - p), field, strlen(field));
	must(at != NULL);
	return (size_t)(end - p) + 4 + strtoul(at + strlen(field), NULL, 10);
}

/* One request and its answer. */
static inline void
exchange(struct tk_http *c, const char *text)
{
	size_t n;

	must(tk_http_puts(c, text));
	while ((n = answer_length(c->in.p, c->in.n)) == 0 || c->in.n < n)
		must(tk_http_fill(c, 5000));
	must(memcmp(c->in.p, "HTTP/1.1 200", 12) == 0);
	buf_drop(&c->in, n);
}

static inline void *
run_client(void *arg)
{
	struct client *me = arg;
	struct tk_http c;
	char get[128];
	const char *text = me->t->request != NULL ? me->t->request : get;

	snprintf(get, sizeof(get), "GET %s HTTP/1.1\r\nHost: localhost\r\n\r\n",
	    me->t->path != NULL ? me->t->path : "/");
	tk_http_open(&c, me->t->port);
	exchange(&c, text);
	struct mono end = mono_add_ms(clock_mono(), ROUND_MS);
	struct mono before = clock_mono();
	while (before.ns < end.ns && me->n < SAMPLE_MAX) {
		exchange(&c, text);
		struct mono now = clock_mono();
		me->ns[me->n++] = now.ns - before.ns;
		before = now;
	}
	tk_http_close(&c);
	return NULL;
}

static inline int
by_size(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return x < y ? -1 : x > y;
}

static inline double
cpu_us(const struct target *t)
{
	double us = tk_cpu_us(0);

	return t->pid == 0 ? us : us + tk_cpu_us(t->pid);
}

static inline void
run_round(struct target *t, size_t clients, int round)
{
	static struct client all[CLIENTS];
	static int64_t ns[CLIENTS * SAMPLE_MAX];
	double cpu = cpu_us(t);
	size_t n = 0;

	for (size_t i = 0; i < clients; i++) {
		all[i].t = t;
		all[i].n = 0;
		if (all[i].ns == NULL)
			all[i].ns = mem_calloc(SAMPLE_MAX, sizeof(int64_t));
		ck_assert_int_eq(
		    pthread_create(&all[i].thread, NULL, run_client, &all[i]),
		    0);
	}
	for (size_t i = 0; i < clients; i++) {
		pthread_join(all[i].thread, NULL);
		memcpy(ns + n, all[i].ns, all[i].n * sizeof(ns[0]));
		n += all[i].n;
	}
	ck_assert_uint_gt(n, 0);
	t->cpu_us[round] = (cpu_us(t) - cpu) / (double)n;
	qsort(ns, n, sizeof(ns[0]), by_size);
	t->rps[round] = (double)n * 1000 / ROUND_MS;
	t->p50_us[round] = (double)ns[n / 2] / 1e3;
	t->p99_us[round] = (double)ns[n - 1 - n / 100] / 1e3;
}

static inline void
compare(struct target *t, size_t n, size_t clients)
{
	double base = 0, base_cpu = 0;

	for (int round = 0; round < ROUNDS; round++)
		for (size_t i = 0; i < n; i++)
			run_round(&t[i], clients, round);
	printf(
	    "%zu keep-alive connection%s:\n", clients, clients == 1 ? "" : "s");
	for (size_t i = 0; i < n; i++) {
		double rps = tk_median(t[i].rps, ROUNDS),
		       cpu = tk_median(t[i].cpu_us, ROUNDS);
		if (i == 0) {
			base = rps;
			base_cpu = cpu;
		}
		printf("  %-18s %7.0f req/s  p50 %6.1f us  p99 %7.1f us  "
		       "cpu %5.1f us  ratio %.2f, by cpu %.2f\n",
		    t[i].name, rps, tk_median(t[i].p50_us, ROUNDS),
		    tk_median(t[i].p99_us, ROUNDS), cpu, rps / base,
		    base_cpu / cpu);
	}
}

#endif /* !BENCH_COMPARE_H */
