/*
 * Calls with a stream of events as response, over HTTP.  A toy service does
 * what the text of the request says.
 */
#include "core/mem.h"
#include "testkit/svc_fixture.h"
#include "wire/msgs.h"

#define HOLD_MS 300

/* ---- the toy ---- */

struct toy {
	struct svc *s;
	struct svc_call *held;
	struct loop_timer timer;
	bool endless; /* held ends with the drain */
	enum rc last; /* the last result of sending */
};

static const struct str hello = STR_INIT("{\"error\":\"你好\"}");

static void *
toy_start(struct svc *s, const void *conf)
{
	struct toy *t = mem_zalloc(sizeof(*t));

	(void)conf;
	t->s = s;
	return t;
}

static void
let_go(void *arg)
{
	struct toy *t = arg;

	svc_stream_end(t->held, RC_OK);
	t->held = NULL;
	t->endless = false;
}

/* Send until it fails. */
static void
flood(void *arg)
{
	static char text[16384];
	struct toy *t = arg;
	size_t waiting = svc_stream_pending(t->held);

	memset(text, 'x', sizeof(text));
	t->last = svc_sse_send(
	    t->held, NULL, NULL, (struct str){ text, sizeof(text) });
	/* What is too much is pending; a little may be sent already. */
	if (t->last == RC_TOOBIG && waiting == 0)
		abort();
	if (t->last == RC_OK) {
		loop_timer_set(svc_loop(t->s), &t->timer,
		    mono_add_ms(clock_mono(), 1), flood, t);
	} else {
		svc_stream_end(t->held, t->last);
		t->held = NULL;
	}
}

static enum rc
three(struct svc_call *c)
{
	enum rc rc;

	rc = svc_sse_send(c, "greeting", "7", hello);
	if (rc == RC_OK)
		rc = svc_sse_send(c, NULL, NULL, hello);
	if (rc == RC_OK)
		rc = svc_sse_send(c, NULL, NULL, STR("[DONE]"));
	return rc;
}

static void
streams(struct toy *t, struct svc_call *c, struct str how)
{
	enum rc rc = RC_OK;

	if (str_eq(how, STR("three"))) {
		svc_stream_end(c, three(c));
	} else if (str_eq(how, STR("lines"))) {
		rc = svc_sse_send(c, "a\nb", NULL, hello);
		if (svc_sse_send(c, NULL, NULL, str_of(rc_name(rc))) != RC_OK)
			abort();
		svc_stream_end(c, RC_OK);
	} else if (str_eq(how, STR("endless"))) {
		t->held = c;
		t->endless = true;
		if (svc_sse_send(c, "host", "1", svc_call_header(c, "host")) !=
			RC_OK ||
		    svc_sse_comment(c, "no event") != RC_OK ||
		    svc_call_header(c, "x-none").p != NULL ||
		    svc_call_on_abort(c, let_go, t) != RC_OK)
			abort();
	} else if (str_eq(how, STR("fail"))) {
		svc_fail(c, RC_CONFLICT, "too late to say so");
	} else if (str_eq(how, STR("hold"))) {
		t->held = c;
		if (svc_sse_send(c, NULL, NULL, STR("wait")) != RC_OK)
			abort();
		loop_timer_set(svc_loop(t->s), &t->timer,
		    mono_add_ms(clock_mono(), HOLD_MS), let_go, t);
	} else {
		t->held = c;
		flood(t);
	}
}

static void
toy_drain(void *arg)
{
	struct toy *t = arg;

	if (t->endless)
		let_go(t);
}

static void
on_stream(void *arg, struct svc_call *c)
{
	struct toy *t = arg;
	const struct wire_error *req = svc_call_request(c);
	struct wire_error last = { .error = str_of(rc_name(t->last)) };

	if (str_eq(req->error, STR("last")))
		svc_reply(c, &last);
	else if (svc_sse_start(c) != RC_OK)
		svc_fail(c, RC_DENIED, "streams are for HTTP");
	else
		streams(t, c, req->error);
}

static const struct svc_route routes[] = {
	{ .name = "stream",
	    .subject = "toy.stream",
	    .method = "POST",
	    .path = "/stream",
	    .request = &wire_error_desc,
	    .reply = &wire_error_desc,
	    .fn = on_stream,
	    .deadline_ms = 200 },
};
static const struct svc_def def = {
	.name = "toy",
	.summary = "streams what the request says",
	.http_addr = "127.0.0.1:1",
	.admin_addr = "127.0.0.1:1",
	.conf_size = 1,
	.routes = routes,
	.nroutes = NELEM(routes),
	.start = toy_start,
	.drain = toy_drain,
	.stop = free,
};

/* ---- tests ---- */

#define COUNT(code) "soul_requests_total{route=\"stream\",code=\"" code "\"} "

/* The events of a stream, without the retry line. */
static void
streamed(struct svc_fixture *r, const char *how, const char *events)
{
	struct tk_response a = { 0 };
	char type[64];
	struct str body;

	ck_assert_int_eq(svc_fixture_call(r, &a, "/stream", how), 200);
	ck_assert_str_eq(
	    tk_response_field(&a, "Content-Type", type, sizeof(type)),
	    "text/event-stream");
	body = buf_str(&a.body);
	ck_assert(str_starts(body, STR("retry: ")));
	ck_assert_str_eq(strstr(body.p, "\n\n") + 2, events);
	tk_response_free(&a);
}

TEST(events_have_names_ids_and_data)
{
	struct svc_fixture r;

	svc_fixture_start(&r, &def);
	streamed(&r, "three",
	    "id: 7\nevent: greeting\n"
	    "data: {\"error\":\"你好\"}\n\n"
	    "data: {\"error\":\"你好\"}\n\n"
	    "data: [DONE]\n\n");
	ck_assert(svc_fixture_has_metric(&r, COUNT("ok") "1\n"));
	svc_fixture_stop(&r);
}

/* It is not sent, and the stream goes on. */
TEST(an_event_name_with_a_line_end_is_rejected)
{
	struct svc_fixture r;

	svc_fixture_start(&r, &def);
	streamed(&r, "lines", "data: invalid_request\n\n");
	svc_fixture_stop(&r);
}

/* Its status was sent already: the stream only ends. */
TEST(a_failure_after_the_beginning_ends_the_stream)
{
	struct svc_fixture r;

	svc_fixture_start(&r, &def);
	streamed(&r, "fail", "");
	ck_assert(svc_fixture_has_metric(&r, COUNT("conflict") "1\n"));
	svc_fixture_stop(&r);
}

/* The call is as before, and its reply is an error. */
TEST(streams_are_for_http_only)
{
	natsMsg *m = NULL;
	const char *code;
	struct svc_fixture r;

	svc_fixture_start(&r, &def);
	ck_assert_int_eq(natsConnection_RequestString(&m, r.nc, "toy.stream",
			     "{\"error\":\"three\"}", SVC_FIXTURE_MS),
	    NATS_OK);
	ck_assert_int_eq(
	    natsMsgHeader_Get(m, "Nats-Service-Error", &code), NATS_OK);
	ck_assert_str_eq(code, "denied");
	ck_assert_ptr_nonnull(
	    strstr(natsMsg_GetData(m), "\"streams are for HTTP\""));
	natsMsg_Destroy(m);
	svc_fixture_stop(&r);
}

/* The deadline is that of the first byte. */
TEST(a_stream_may_take_longer_than_a_response)
{
	struct svc_fixture r;

	svc_fixture_start(&r, &def);
	streamed(&r, "hold", "data: wait\n\n");
	svc_fixture_stop(&r);
}

static bool
flood_ended(void *arg)
{
	struct svc_fixture *r = arg;
	struct tk_response a = { 0 };
	bool is = svc_fixture_call(r, &a, "/stream", "last") == 200 &&
	    !tk_response_has(&a, "\"ok\"");

	tk_response_free(&a);
	return is;
}

static void
last_was(struct svc_fixture *r, const char *rc)
{
	struct tk_response a = { 0 };
	char want[64];

	snprintf(want, sizeof(want), "{\"error\":\"%s\"}", rc);
	ck_assert(tk_until(flood_ended, r, SVC_FIXTURE_MS));
	ck_assert_int_eq(svc_fixture_call(r, &a, "/stream", "last"), 200);
	ck_assert_str_eq(a.body.p, want);
	tk_response_free(&a);
}

static bool
one_ended(void *arg)
{
	return svc_fixture_has_metric(arg, COUNT("ok") "1\n");
}

TEST(a_reader_that_reads_nothing_is_disconnected)
{
	struct tk_http c = { 0 };
	struct svc_fixture r;

	svc_fixture_start(&r, &def);
	svc_fixture_post(&r, &c, "/stream", "flood");
	last_was(&r, "too_large");
	ck_assert(svc_fixture_has_metric(&r, COUNT("too_large") "1\n"));
	tk_http_close(&c);
	svc_fixture_stop(&r);
}

TEST(a_reader_that_disconnects_is_noticed)
{
	struct tk_http c = { 0 };
	struct svc_fixture r;

	svc_fixture_start(&r, &def);
	svc_fixture_post(&r, &c, "/stream", "flood");
	ck_assert(tk_http_has(&c, "data: xxx", SVC_FIXTURE_MS));
	tk_http_close(&c);
	last_was(&r, "unavailable");
	svc_fixture_stop(&r);
}

/* An idle stream notices that its reader has disconnected, too. */
TEST(a_disconnected_reader_ends_an_endless_stream)
{
	struct tk_http c = { 0 };
	struct svc_fixture r;

	svc_fixture_start(&r, &def);
	svc_fixture_post(&r, &c, "/stream", "endless");
	ck_assert(tk_http_has(&c,
	    "id: 1\nevent: host\ndata: localhost\n\n: no event\n\n",
	    SVC_FIXTURE_MS));
	ck_assert(svc_fixture_has_metric(&r, COUNT("ok") "0\n"));
	tk_http_close(&c);
	ck_assert(tk_until(one_ended, &r, SVC_FIXTURE_MS));
	svc_fixture_stop(&r);
}

TEST(an_endless_stream_is_ended_by_the_drain)
{
	struct tk_response a = { 0 };
	struct tk_http c = { 0 };
	struct svc_fixture r;

	svc_fixture_start(&r, &def);
	svc_fixture_post(&r, &c, "/stream", "endless");
	ck_assert(tk_http_has(&c, ": no event", SVC_FIXTURE_MS));
	svc_fixture_stop(&r);
	ck_assert(tk_http_read(&c, &a, SVC_FIXTURE_MS));
	tk_response_free(&a);
	tk_http_close(&c);
}

/* SIGTERM meanwhile: the stream comes to its end, then the program. */
TEST(an_open_stream_ends_before_the_program)
{
	struct tk_response a = { 0 };
	struct tk_http c = { 0 };
	struct svc_fixture r;

	svc_fixture_start(&r, &def);
	svc_fixture_post(&r, &c, "/stream", "hold");
	ck_assert(tk_http_has(&c, "data: wait", SVC_FIXTURE_MS));
	svc_fixture_stop(&r);
	ck_assert(tk_http_read(&c, &a, SVC_FIXTURE_MS));
	ck_assert_int_eq(a.status, 200);
	tk_response_free(&a);
	tk_http_close(&c);
}
