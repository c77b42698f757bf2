/* Spans on their way to a collector that does what each test wants. */
#include <inttypes.h>

#include "integration/httpc/peer.h"
#include "kit/kit_loop.h"
#include "otlp/otlp.h"

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
	struct peer peer;
	answer_fn answer;
	pthread_mutex_t lock;
	int n;
	struct buf asked[ASKED_MAX]; /* whole requests */
} collector = { .lock = PTHREAD_MUTEX_INITIALIZER };

static struct loop *loop;
static struct otlp *o;
static struct metric_set *metrics;
static char url[64];

static void
serve(struct peer *p, int fd)
{
	struct buf in = BUF_INIT(4UL << 20);
	bool on = true;

	while (on && peer_read(fd, &in)) {
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
			peer_hold(p, fd);
		on = answer != NULL && peer_write(fd, answer);
	}
	buf_free(&in);
}

static const char *
say_ok(int number)
{
	(void)number;
	return "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
	       "Content-Length: 2\r\n\r\n{}";
}

static const char *
say_nothing(int number)
{
	(void)number;
	return NULL;
}

/* Open what sends, quick, to the collector. */
static void
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
		.timeout_ms = 300,
		.retry_ms = 20 };
	const char *why;

	loop = loop_new(64);
	metrics = metric_set_new();
	opts.loop = loop;
	opts.metrics = metrics;
	ck_assert_int_eq(otlp_new(&opts, &o, &why), RC_OK);
	ck_assert_ptr_nonnull(o);
}

static void
open_all(answer_fn answer)
{
	collector.answer = answer;
	peer_open(&collector.peer, serve);
	snprintf(url, sizeof(url), "http://127.0.0.1:%d", collector.peer.port);
	open_otlp("");
}

static void
close_otlp(void)
{
	otlp_free(o);
	metric_set_free(metrics);
	loop_free(loop);
}

static void
close_all(void)
{
	close_otlp();
	peer_close(&collector.peer);
	for (int i = 0; i < collector.n; i++)
		buf_free(&collector.asked[i]);
}

static int64_t
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

static bool
has_ended(void *arg)
{
	const struct wanted *w = arg;

	return ended(w->result) >= w->n;
}

/* Run the loop until n spans have come to that end. */
static void
until(const char *result, int64_t n)
{
	struct wanted w = { result, n };

	ck_assert_msg(kit_loop_until(loop, has_ended, &w, WAIT_MS),
	    "%s: %" PRId64, result, ended(result));
	ck_assert_int_eq(ended(result), n);
}

static int
asked(void)
{
	pthread_mutex_lock(&collector.lock);
	int n = collector.n;
	pthread_mutex_unlock(&collector.lock);
	return n;
}

static const char *
body(int i)
{
	ck_assert_int_lt(i, asked());
	return strstr(collector.asked[i].p, "\r\n\r\n") + 4;
}

/* A span whose id and name say which it is. */
static void
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

static void
put_span(struct buf *b, unsigned number)
{
	buf_printf(b,
	    "%s{\"traceId\":\"0af7651916cd43dd8448eb211c80319c\","
	    "\"spanId\":\"%016x\",\"name\":\"s%u\",\"kind\":1,"
	    "\"startTimeUnixNano\":\"1000\",\"endTimeUnixNano\":\"2000\"}",
	    str_ends(buf_str(b), STR("}")) ? "," : "", number, number);
}

/* Whether request i has exactly the spans from up to, without, end. */
static void
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

KIT_TEST(a_batch)
{
	collector.answer = say_ok;
	peer_open(&collector.peer, serve);
	snprintf(
	    url, sizeof(url), "http://127.0.0.1:%d/in/", collector.peer.port);
	open_otlp("X-Key=a%20b,Authorization=Bearer t");
	for (unsigned i = 1; i < 4; i++)
		queue(i);
	until("sent", 3);
	ck_assert_int_eq(asked(), 1);
	check_body(0, 1, 4);
	struct str head = buf_str(&collector.asked[0]);
	ck_assert(str_starts(head, STR("POST /in/v1/traces HTTP/1.1\r\n")));
	ck_assert_int_ge(str_find(head, STR("\r\nX-Key: a b\r\n")), 0);
	ck_assert_int_ge(
	    str_find(head, STR("\r\nAuthorization: Bearer t\r\n")), 0);
	ck_assert_int_ge(
	    str_find(head, STR("\r\nContent-Type: application/json\r\n")), 0);
	queue(4);
	until("sent", 4);
	check_body(1, 4, 5);
	close_all();
}

/* Full batches go without waiting, one request at a time. */
KIT_TEST(many)
{
	enum { N = 3 * OTLP_BATCH_SPANS + 7 };

	open_all(say_ok);
	for (unsigned i = 0; i < N; i++)
		queue(i);
	until("sent", N);
	ck_assert_int_eq(asked(), 4);
	for (unsigned i = 0; i < 4; i++)
		check_body((int)i, i * OTLP_BATCH_SPANS,
		    i < 3 ? (i + 1) * OTLP_BATCH_SPANS : N);
	ck_assert_uint_eq(collector.peer.accepted, 1);
	close_all();
}

/* Batches are cut by size too, and no span is lost between two. */
KIT_TEST(large_ones)
{
	enum { N = 200 };
	char text[OTLP_TEXT_MAX];
	struct otlp_attr attrs[16];
	struct trace t;
	size_t found = 0;

	open_all(say_ok);
	trace_new(&t);
	memset(text, 'x', sizeof(text));
	for (size_t i = 0; i < NELEM(attrs); i++)
		attrs[i] = OTLP_S("a", ((struct str){ text, sizeof(text) }));
	for (int i = 0; i < N; i++)
		otlp_span(o,
		    &(struct otlp_span){ .trace = &t,
			.name = STR("large"),
			.attrs = attrs,
			.nattrs = NELEM(attrs) });
	until("sent", N);
	ck_assert_int_gt(asked(), 3);
	for (int i = 0; i < asked(); i++) {
		ck_assert_uint_le(
		    strlen(body(i)), OTLP_BATCH_BYTES + sizeof(HEAD) + 8);
		for (const char *p = body(i);
		     (p = strstr(p, "\"large\"")) != NULL; p++)
			found++;
	}
	ck_assert_uint_eq(found, N);
	close_all();
}

KIT_TEST(what_is_not_sampled)
{
	struct trace t;

	open_all(say_ok);
	trace_new(&t);
	ck_assert(otlp_wants(o, &t));
	t.flags = 2;
	ck_assert(!otlp_wants(o, &t));
	otlp_span(o, &(struct otlp_span){ .trace = &t, .name = STR("no") });
	queue(1);
	until("sent", 1);
	check_body(0, 1, 2);
	close_all();
}

KIT_TEST(without_an_endpoint)
{
	struct otlp_conf conf = { .endpoint = "", .service_name = "mind" };
	struct trace t;
	const char *why;

	loop = loop_new(64);
	ck_assert_int_eq(
	    otlp_new(
		&(struct otlp_opts){ .loop = loop, .conf = &conf }, &o, &why),
	    RC_OK);
	ck_assert_ptr_null(o);
	trace_new(&t);
	ck_assert(!otlp_wants(o, &t));
	ck_assert_int_eq(otlp_unix_ns(o, clock_mono()), 0);
	queue(1);
	otlp_flush(o, 1000);
	otlp_free(o);
	conf.endpoint = "collector:4318";
	ck_assert_int_eq(
	    otlp_new(
		&(struct otlp_opts){ .loop = loop, .conf = &conf }, &o, &why),
	    RC_INVALID);
	conf.endpoint = "http://collector:4318";
	conf.headers = "a";
	ck_assert_int_eq(
	    otlp_new(
		&(struct otlp_opts){ .loop = loop, .conf = &conf }, &o, &why),
	    RC_INVALID);
	loop_free(loop);
}

/* ---- trouble ------------------------------------------------------------- */

static const char *
say_503_429_ok(int number)
{
	if (number == 0)
		return "HTTP/1.1 503 X\r\nContent-Length: 0\r\n\r\n";
	if (number == 1)
		return "HTTP/1.1 429 X\r\nContent-Length: 4\r\n\r\nslow";
	return say_ok(number);
}

/* What comes meanwhile waits behind what is tried again, unchanged. */
KIT_TEST(a_503_loses_nothing)
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

KIT_TEST(retry_after)
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

KIT_TEST(a_400_is_final)
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

KIT_TEST(a_partial_success_is_not_repeated)
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

KIT_TEST(tries_are_bounded)
{
	open_all(say_503);
	queue(1);
	until("given_up", 1);
	ck_assert_int_eq(asked(), OTLP_TRIES);
	close_all();
}

/* Nobody listens: the queue fills, the rest is counted, queueing stays quick.
 */
KIT_TEST(a_collector_that_is_gone)
{
	enum { MORE = 1000 };
	int port = kit_port();
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
KIT_TEST(a_collector_that_hangs)
{
	int n = 1;

	open_all(say_nothing);
	queue(1);
	ck_assert(kit_loop_until(loop, was_asked, &n, WAIT_MS));
	for (unsigned i = 0; i < OTLP_QUEUE_SPANS; i++)
		queue(i);
	ck_assert_int_eq(ended("queue_full"), 1);
	n = 2;
	ck_assert(kit_loop_until(loop, was_asked, &n, WAIT_MS));
	check_body(0, 1, 2);
	check_body(1, 1, 2);
	close_all();
}

/* ---- the end ------------------------------------------------------------- */

/* All goes at once, whatever is under way, batch after batch. */
KIT_TEST(a_flush)
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

KIT_TEST(a_flush_goes_through_a_retry)
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
KIT_TEST(a_flush_in_company)
{
	struct loop_timer t = { .pos = 0 };

	open_all(say_503_429_ok);
	queue(1);
	loop_timer_set(loop, &t, clock_mono(), stop, loop);
	otlp_flush(o, WAIT_MS);
	ck_assert_int_eq(ended("sent"), 1);
	close_all();
}

KIT_TEST(a_flush_has_an_end)
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
KIT_TEST(a_flush_without_hope)
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
KIT_TEST(moments)
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
