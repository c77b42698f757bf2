/*
 * What the way over the loop costs: requests per second and latency of a route
 * whose handler runs on the loop and of a direct one, beside civetweb's bare
 * handler, in turn in the same run, by the same client threads.  The processor
 * time of a request, the client's share included, is what a busy machine
 * disturbs least.
 */
#include <civetweb.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/mem.h"
#include "httpd/httpd.h"
#include "kit/kit.h"
#include "kit/kit_http.h"
#include "kit/kit_loop_thread.h"

#define BODY       "{\"hello\":\"world\"}"
#define WORKERS    64
#define ROUNDS     5
#define ROUND_MS   500
#define CLIENTS    32
#define SAMPLE_MAX 200000 /* latencies kept of one client's round */

struct target {
	const char *name;
	int port;
	const char *path;
	double rps[ROUNDS], p50_us[ROUNDS], p99_us[ROUNDS];
	double cpu_us[ROUNDS]; /* of client and server, of one request */
};

struct client {
	const struct target *t;
	pthread_t thread;
	int64_t *ns;
	size_t n;
};

static void
on_hello(void *arg, struct httpd_req *r)
{
	(void)arg;
	httpd_reply(r, 200, "application/json", STR(BODY));
}

/* One write: mg_send_http_ok() sends line by line and takes twice as long. */
static int
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

static struct mg_context *
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
static void
must(bool ok)
{
	if (!ok)
		abort();
}

/* One request and its answer, whose length is learnt from the first. */
static void
exchange(struct kit_http *c, const char *text, size_t *length)
{
	struct kit_answer a = { 0 };

	must(kit_http_puts(c, text));
	if (*length == 0) {
		must(kit_http_read(c, &a, 5000));
		must(a.status == 200 && str_eq(buf_str(&a.body), STR(BODY)));
		*length = a.head.n + a.body.n;
		kit_answer_free(&a);
		return;
	}
	while (c->in.n < *length)
		must(kit_http_fill(c, 5000));
	buf_drop(&c->in, *length);
}

static void *
run_client(void *arg)
{
	struct client *me = arg;
	struct kit_http c;
	char text[128];
	size_t length = 0;

	snprintf(text, sizeof(text), "GET %s HTTP/1.1\r\nHost: t\r\n\r\n",
	    me->t->path);
	kit_http_open(&c, me->t->port);
	exchange(&c, text, &length);
	struct mono end = mono_add_ms(clock_mono(), ROUND_MS);
	struct mono before = clock_mono();
	while (before.ns < end.ns && me->n < SAMPLE_MAX) {
		exchange(&c, text, &length);
		struct mono now = clock_mono();
		me->ns[me->n++] = now.ns - before.ns;
		before = now;
	}
	kit_http_close(&c);
	return NULL;
}

static int
by_size(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return x < y ? -1 : x > y;
}

static double
cpu_us(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return (double)ts.tv_sec * 1e6 + (double)ts.tv_nsec / 1e3;
}

static void
run_round(struct target *t, size_t clients, int round)
{
	static struct client all[CLIENTS];
	static int64_t ns[CLIENTS * SAMPLE_MAX];
	double cpu = cpu_us();
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
	t->cpu_us[round] = (cpu_us() - cpu) / (double)n;
	qsort(ns, n, sizeof(ns[0]), by_size);
	t->rps[round] = (double)n * 1000 / ROUND_MS;
	t->p50_us[round] = (double)ns[n / 2] / 1e3;
	t->p99_us[round] = (double)ns[n - 1 - n / 100] / 1e3;
}

static int
by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static double
median(double *v)
{
	qsort(v, ROUNDS, sizeof(v[0]), by_value);
	return v[ROUNDS / 2];
}

static void
compare(struct target *t, size_t n, size_t clients)
{
	double base = 0, base_cpu = 0;

	for (int round = 0; round < ROUNDS; round++)
		for (size_t i = 0; i < n; i++)
			run_round(&t[i], clients, round);
	printf(
	    "%zu keep-alive connection%s:\n", clients, clients == 1 ? "" : "s");
	for (size_t i = 0; i < n; i++) {
		double rps = median(t[i].rps), cpu = median(t[i].cpu_us);
		if (i == 0) {
			base = rps;
			base_cpu = cpu;
		}
		printf("  %-18s %7.0f req/s  p50 %6.1f us  p99 %7.1f us  "
		       "cpu %5.1f us  ratio %.2f, by cpu %.2f\n",
		    t[i].name, rps, median(t[i].p50_us), median(t[i].p99_us),
		    cpu, rps / base, base_cpu / cpu);
	}
}

KIT_TEST_T(hello, 120)
{
	static const struct httpd_route routes[] = {
		{ .method = "GET", .path = "/hello", .fn = on_hello },
		{ .method = "GET",
		    .path = "/direct",
		    .fn = on_hello,
		    .direct = true },
	};
	struct target t[] = {
		{ .name = "bare civetweb", .path = "/hello" },
		{ .name = "httpd, on the loop", .path = "/hello" },
		{ .name = "httpd, direct", .path = "/direct" },
	};
	struct kit_loop k;
	struct httpd *h;

	struct mg_context *bare = bare_start(&t[0].port);
	kit_loop_new(&k, 1024);
	ck_assert_int_eq(httpd_new(&(struct httpd_opts){ .loop = k.l,
				       .addr = "127.0.0.1:0",
				       .routes = routes,
				       .nroutes = NELEM(routes),
				       .workers = WORKERS,
				       .timeout_ms = 10000 },
			     &h),
	    RC_OK);
	kit_loop_start(&k);
	t[1].port = t[2].port = httpd_port(h);
	compare(t, NELEM(t), 1);
	compare(t, NELEM(t), 8);
	compare(t, NELEM(t), CLIENTS);
	kit_loop_stop(&k);
	httpd_free(h);
	loop_free(k.l);
	mg_stop(bare);
}
