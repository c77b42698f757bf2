/*
 * collector: a collector of spans that says what a test wants, and spans on
 * their way to it, for the tests beside this file.
 */
#ifndef TESTS_OTLP_COLLECTOR_H
#define TESTS_OTLP_COLLECTOR_H

#include <inttypes.h>

#include "otlp/otlp.h"
#include "testkit/loop.h"
#include "testkit/loop_thread.h"
#include "testkit/raw_server.h"

#define ASKED_MAX 64
/* For what has to come, on the slowest machine. */
#define WAIT_MS 15000
#define HEAD                                                                  \
	"{\"resourceSpans\":[{\"resource\":{\"attributes\":["                 \
	"{\"key\":\"service.name\",\"value\":{\"stringValue\":\"mind\"}},"    \
	"{\"key\":\"service.version\",\"value\":{\"stringValue\":\"1.2\"}},"  \
	"{\"key\":\"service.instance.id\",\"value\":{\"stringValue\":\"i\"}}" \
	"]},\"scopeSpans\":[{\"scope\":{\"name\":\"soul\"},\"spans\":["

/* What it answers to the request of that number; NULL: nothing, ever. */
typedef const char *(*answer_fn)(int number);

static struct {
	struct raw_server peer;
	answer_fn answer;
	pthread_mutex_t lock;
	int n;
	struct buf asked[ASKED_MAX]; /* whole requests */
} collector = { .lock = PTHREAD_MUTEX_INITIALIZER };

static struct loop *loop;
static struct otlp *o;
static struct metric_set *metrics;
static char url[64];
static int64_t timeout_ms = WAIT_MS;

static inline void
serve(struct raw_server *p, int fd)
{
	struct buf in = BUF_INIT(4UL << 20);
	bool on = true;

	while (on && raw_server_read(fd, &in)) {
		pthread_mutex_lock(&collector.lock);
		int n = collector.n;
		if (n == ASKED_MAX)
			abort();
		buf_init(&collector.asked[n], in.max);
		buf_put_str(&collector.asked[n], buf_str(&in));
		collector.n++;
		pthread_mutex_unlock(&collector.lock);
		const char *answer = collector.answer(n);
		if (answer == NULL)
			raw_server_hold(p, fd);
		on = answer != NULL && raw_server_write(fd, answer);
	}
	buf_free(&in);
}

static inline const char *
say_ok(int number)
{
	(void)number;
	return "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
	       "Content-Length: 2\r\n\r\n{}";
}

static inline const char *
say_503_429_ok(int number)
{
	if (number == 0)
		return "HTTP/1.1 503 X\r\nContent-Length: 0\r\n\r\n";
	if (number == 1)
		return "HTTP/1.1 429 X\r\nContent-Length: 4\r\n\r\nslow";
	return say_ok(number);
}

static inline const char *
say_nothing(int number)
{
	(void)number;
	return NULL;
}

/* Open what sends, quick, to the collector. */
static inline void
open_otlp(const char *headers)
{
	struct otlp_conf conf = { .endpoint = url,
		.traces_endpoint = "",
		.headers = headers,
		.service_name = "mind" };
	struct otlp_opts opts = { .conf = &conf,
		.version = "1.2",
		.instance = "i",
		.interval_ms = 20,
		.timeout_ms = timeout_ms,
		.retry_ms = 20 };
	const char *why;

	loop = loop_new(64);
	metrics = metric_set_new();
	opts.loop = loop;
	opts.metrics = metrics;
	ck_assert_int_eq(otlp_new(&opts, &o, &why), RC_OK);
	ck_assert_ptr_nonnull(o);
}

static inline void
open_all(answer_fn answer)
{
	collector.answer = answer;
	raw_server_open(&collector.peer, serve);
	snprintf(url, sizeof(url), "http://127.0.0.1:%d", collector.peer.port);
	open_otlp("");
}

static inline void
close_otlp(void)
{
	otlp_free(o);
	metric_set_free(metrics);
	loop_free(loop);
}

static inline void
close_all(void)
{
	close_otlp();
	raw_server_close(&collector.peer);
	for (int i = 0; i < collector.n; i++)
		buf_free(&collector.asked[i]);
}

static inline int64_t
ended(const char *result)
{
	char labels[64];

	snprintf(labels, sizeof(labels), "result=\"%s\"", result);
	return metric_value(
	    metric_counter(metrics, "soul_otlp_spans_total", "", labels));
}

struct wanted {
	const char *result;
	int64_t n;
};

static inline bool
has_ended(void *arg)
{
	const struct wanted *w = arg;

	return ended(w->result) >= w->n;
}

/* Run the loop until n spans have come to that end. */
static inline void
until(const char *result, int64_t n)
{
	struct wanted w = { result, n };

	ck_assert_msg(tk_loop_until(loop, has_ended, &w, WAIT_MS),
	    "%s: %" PRId64, result, ended(result));
	ck_assert_int_eq(ended(result), n);
}

static inline int
asked(void)
{
	pthread_mutex_lock(&collector.lock);
	int n = collector.n;
	pthread_mutex_unlock(&collector.lock);
	return n;
}

static inline const char *
body(int i)
{
	ck_assert_int_lt(i, asked());
	return strstr(collector.asked[i].p, "\r\n\r\n") + 4;
}

/* A span whose id and name say which it is. */
static inline void
queue(unsigned number)
{
	struct trace t = { .flags = TRACE_SAMPLED };
	char name[16];

	memcpy(t.trace_id, "0af7651916cd43dd8448eb211c80319c", 33);
	snprintf(t.span_id, sizeof(t.span_id), "%016x", number);
	snprintf(name, sizeof(name), "s%u", number);
	otlp_span(o,
	    &(struct otlp_span){ .trace = &t,
		.name = str_of(name),
		.kind = OTLP_INTERNAL,
		.start_ns = 1000,
		.end_ns = 2000 });
}

static inline void
put_span(struct buf *b, unsigned number)
{
	buf_printf(b,
	    "%s{\"traceId\":\"0af7651916cd43dd8448eb211c80319c\","
	    "\"spanId\":\"%016x\",\"name\":\"s%u\",\"kind\":1,"
	    "\"startTimeUnixNano\":\"1000\",\"endTimeUnixNano\":\"2000\"}",
	    str_ends(buf_str(b), STR("}")) ? "," : "", number, number);
}

/* Whether request i has exactly the spans from up to, without, end. */
static inline void
check_body(int i, unsigned from, unsigned end)
{
	struct buf b = BUF_INIT(4UL << 20);

	buf_puts(&b, HEAD);
	for (unsigned n = from; n < end; n++)
		put_span(&b, n);
	buf_puts(&b, "]}]}]}");
	ck_assert_str_eq(body(i), b.p);
	buf_free(&b);
}

#endif /* !TESTS_OTLP_COLLECTOR_H */
