#include "testkit/otlp_fixture.h"

struct otlp_fixture otlp_fixture = { .lock = PTHREAD_MUTEX_INITIALIZER };

void
otlp_fixture_serve(struct raw_server *p, int fd)
{
	struct buf in = BUF_INIT(4UL << 20);
	bool on = true;

	while (on && raw_server_read(fd, &in)) {
		pthread_mutex_lock(&otlp_fixture.lock);
		int n = otlp_fixture.n;
		if (n == OTLP_FIXTURE_REQUESTS)
			abort();
		buf_init(&otlp_fixture.requests[n], in.max);
		buf_put_str(&otlp_fixture.requests[n], buf_str(&in));
		otlp_fixture.n++;
		pthread_mutex_unlock(&otlp_fixture.lock);
		const char *response = otlp_fixture.respond(n);
		if (response == NULL)
			raw_server_hold(p, fd);
		on = response != NULL && raw_server_write(fd, response);
	}
	buf_free(&in);
}

const char *
otlp_fixture_ok(int number)
{
	(void)number;
	return "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
	       "Content-Length: 2\r\n\r\n{}";
}

const char *
otlp_fixture_503_429_ok(int number)
{
	if (number == 0)
		return "HTTP/1.1 503 X\r\nContent-Length: 0\r\n\r\n";
	if (number == 1)
		return "HTTP/1.1 429 X\r\nContent-Length: 4\r\n\r\nslow";
	return otlp_fixture_ok(number);
}

const char *
otlp_fixture_nothing(int number)
{
	(void)number;
	return NULL;
}

void
otlp_fixture_open_exporter(const char *headers)
{
	struct otlp_conf conf = { .endpoint = otlp_fixture.url,
		.traces_endpoint = "",
		.headers = headers,
		.service_name = "mind" };
	struct otlp_opts opts = { .conf = &conf,
		.version = "1.2",
		.instance = "i",
		.interval_ms = 20,
		.timeout_ms = otlp_fixture.timeout_ms != 0
		    ? otlp_fixture.timeout_ms
		    : OTLP_FIXTURE_MS,
		.retry_ms = 20 };
	const char *why;

	otlp_fixture.loop = loop_new(64);
	otlp_fixture.metrics = metric_set_new();
	opts.loop = otlp_fixture.loop;
	opts.metrics = otlp_fixture.metrics;
	ck_assert_int_eq(otlp_new(&opts, &otlp_fixture.otlp, &why), RC_OK);
	ck_assert_ptr_nonnull(otlp_fixture.otlp);
}

void
otlp_fixture_open(otlp_fixture_fn respond)
{
	otlp_fixture.respond = respond;
	raw_server_open(&otlp_fixture.server, otlp_fixture_serve);
	snprintf(otlp_fixture.url, sizeof(otlp_fixture.url),
	    "http://127.0.0.1:%d", otlp_fixture.server.port);
	otlp_fixture_open_exporter("");
}

void
otlp_fixture_close_exporter(void)
{
	otlp_free(otlp_fixture.otlp);
	metric_set_free(otlp_fixture.metrics);
	loop_free(otlp_fixture.loop);
}

void
otlp_fixture_close(void)
{
	otlp_fixture_close_exporter();
	raw_server_close(&otlp_fixture.server);
	for (int i = 0; i < otlp_fixture.n; i++)
		buf_free(&otlp_fixture.requests[i]);
}

int64_t
otlp_fixture_count(const char *result)
{
	char labels[64];

	snprintf(labels, sizeof(labels), "result=\"%s\"", result);
	return metric_value(metric_counter(
	    otlp_fixture.metrics, "soul_otlp_spans_total", "", labels));
}

struct otlp_fixture_wanted {
	const char *result;
	int64_t n;
};

static bool
otlp_fixture_has_count(void *arg)
{
	const struct otlp_fixture_wanted *w = arg;

	return otlp_fixture_count(w->result) >= w->n;
}

void
otlp_fixture_wait(const char *result, int64_t n)
{
	struct otlp_fixture_wanted w = { result, n };

	ck_assert_msg(tk_loop_until(otlp_fixture.loop, otlp_fixture_has_count,
			  &w, OTLP_FIXTURE_MS),
	    "%s: %" PRId64, result, otlp_fixture_count(result));
	ck_assert_int_eq(otlp_fixture_count(result), n);
}

int
otlp_fixture_requests(void)
{
	pthread_mutex_lock(&otlp_fixture.lock);
	int n = otlp_fixture.n;
	pthread_mutex_unlock(&otlp_fixture.lock);
	return n;
}

const char *
otlp_fixture_body(int i)
{
	ck_assert_int_lt(i, otlp_fixture_requests());
	return strstr(otlp_fixture.requests[i].p, "\r\n\r\n") + 4;
}

void
otlp_fixture_queue(unsigned number)
{
	struct trace t = { .flags = TRACE_SAMPLED };
	char name[16];

	memcpy(t.trace_id, "0af7651916cd43dd8448eb211c80319c", 33);
	snprintf(t.span_id, sizeof(t.span_id), "%016x", number);
	snprintf(name, sizeof(name), "s%u", number);
	otlp_span(otlp_fixture.otlp,
	    &(struct otlp_span){ .trace = &t,
		.name = str_of(name),
		.kind = OTLP_INTERNAL,
		.start_ns = 1000,
		.end_ns = 2000 });
}

static void
otlp_fixture_put_span(struct buf *b, unsigned number)
{
	buf_printf(b,
	    "%s{\"traceId\":\"0af7651916cd43dd8448eb211c80319c\","
	    "\"spanId\":\"%016x\",\"name\":\"s%u\",\"kind\":1,"
	    "\"startTimeUnixNano\":\"1000\",\"endTimeUnixNano\":\"2000\"}",
	    str_ends(buf_str(b), STR("}")) ? "," : "", number, number);
}

void
otlp_fixture_check_body(int i, unsigned from, unsigned end)
{
	struct buf b = BUF_INIT(4UL << 20);

	buf_puts(&b, OTLP_FIXTURE_HEAD);
	for (unsigned n = from; n < end; n++)
		otlp_fixture_put_span(&b, n);
	buf_puts(&b, "]}]}]}");
	ck_assert_str_eq(otlp_fixture_body(i), b.p);
	buf_free(&b);
}
