/*
 * The life of a service: replies, drain, exit codes, readiness.  The service is
 * a toy in a forked process that does what the text of the request says.
 */
#include <stdatomic.h>

#include "core/mem.h"
#include "testkit/svc_fixture.h"
#include "wire/msgs.h"

#define HOLD_MS 400

/* ---- the toy ---- */

struct toy_conf {
	int64_t reply_ms;
	bool fails;
};

struct toy {
	struct svc *s;
	struct loop_timer timer;
	struct svc_call *held;
	_Atomic bool peer_up;
};

static bool
peer_up(void *arg)
{
	struct toy *t = arg;

	return atomic_load(&t->peer_up);
}

static void *
toy_start(struct svc *s, const void *conf)
{
	const struct toy_conf *c = conf;
	struct toy *t = mem_zalloc(sizeof(*t));

	if (c->fails) {
		free(t);
		return NULL;
	}
	t->s = s;
	svc_require(s, "the peer", peer_up, t);
	return t;
}

static void
let_go(void *arg)
{
	struct toy *t = arg;

	svc_reply(t->held, svc_call_request(t->held));
	t->held = NULL;
}

/* The call is open from now on. */
static void
hold(struct toy *t, struct svc_call *c)
{
	t->held = c;
	atomic_store(&t->peer_up, true);
}

static void
on_call(void *arg, struct svc_call *c)
{
	struct toy *t = arg;
	const struct wire_error *req = svc_call_request(c);
	static const struct wire_error broken = { 0 };

	if (str_eq(req->error, STR("hold"))) {
		hold(t, c);
		loop_timer_set(svc_loop(t->s), &t->timer,
		    mono_add_ms(clock_mono(), HOLD_MS), let_go, t);
	} else if (str_eq(req->error, STR("never"))) {
		hold(t, c);
	} else if (str_eq(req->error, STR("broken"))) {
		svc_reply(c, &broken);
	} else if (str_eq(req->error, STR("teapot"))) {
		svc_fail_as(
		    c, &(struct svc_error){ 418, "teapot", "short and stout" });
	} else if (str_eq(req->error, STR("fail"))) {
		svc_fail(c, RC_CONFLICT, "it is \"bound\"");
	} else {
		atomic_store(&t->peer_up, str_eq(req->error, STR("up")));
		svc_reply(c, req);
	}
}

static const struct conf_opt opts[] = {
	{ "TOY_FAILS", CONF_BOOL, CONF_AT(toy_conf, fails), "off", 0, 0, "" },
};
static const struct svc_text texts[] = {
	{ "", "invalid json" },
	{ "/error", "error is required" },
};
static const struct svc_route routes[] = {
	{ .name = "call",
	    .subject = "toy.call",
	    .method = "POST",
	    .path = "/call",
	    .request = &wire_error_desc,
	    .reply = &wire_error_desc,
	    .fn = on_call,
	    .deadline_ms = 5000,
	    .texts = texts,
	    .ntexts = NELEM(texts) },
};
static const struct svc_def def = {
	.name = "toy",
	.summary = "does what the request says",
	.http_addr = "127.0.0.1:1",
	.admin_addr = "127.0.0.1:1",
	.opts = opts,
	.nopts = NELEM(opts),
	.conf_size = sizeof(struct toy_conf),
	.routes = routes,
	.nroutes = NELEM(routes),
	.start = toy_start,
	.stop = free,
};

/* The same over HTTP only. */
static const struct svc_route alone_routes[] = {
	{ .name = "call",
	    .method = "POST",
	    .path = "/call",
	    .request = &wire_error_desc,
	    .reply = &wire_error_desc,
	    .fn = on_call,
	    .deadline_ms = 5000 },
};
static const struct svc_def alone_def = {
	.name = "toy",
	.summary = "needs no NATS",
	.http_addr = "127.0.0.1:1",
	.admin_addr = "127.0.0.1:1",
	.no_bus = true,
	.opts = opts,
	.nopts = NELEM(opts),
	.conf_size = sizeof(struct toy_conf),
	.routes = alone_routes,
	.nroutes = NELEM(alone_routes),
	.start = toy_start,
	.stop = free,
};

/* ---- running it ---- */

static int
call(const struct svc_fixture *r, struct tk_response *a, const char *text)
{
	return svc_fixture_call(r, a, "/call", text);
}

static bool
is_unready(const struct svc_fixture *r, const char *text)
{
	struct tk_response a = { 0 };
	bool is = tk_service_get(&r->toy, &a, "/readyz") == 503 &&
	    tk_response_has(&a, text);

	tk_response_free(&a);
	return is;
}

/* ---- tests ---- */

TEST(calls_are_served_and_rejected)
{
	struct tk_response a = { 0 };
	struct svc_fixture r;

	svc_fixture_begin(&r, &def, TK_ENV("DRAIN_TIMEOUT_MS=5000"));
	ck_assert_int_eq(call(&r, &a, "hello"), 200);
	ck_assert(tk_response_has(&a, "{\"error\":\"hello\"}"));
	ck_assert_int_eq(call(&r, &a, ""), 400);
	ck_assert(tk_response_has(&a, "\"error is required\""));
	ck_assert_int_eq(call(&r, &a, "\"}x"), 400);
	ck_assert(tk_response_has(&a, "\"invalid json\""));
	ck_assert_int_eq(call(&r, &a, "x\",\"code\":\"No"), 400);
	ck_assert(tk_response_has(&a, "\"/code: may only have"));
	ck_assert_int_eq(call(&r, &a, "teapot"), 418);
	ck_assert(tk_response_has(&a, "\"code\":\"teapot\""));
	ck_assert_int_eq(call(&r, &a, "fail"), 409);
	ck_assert(tk_response_has(&a, "it is \\\"bound\\\""));
	ck_assert(tk_response_has(&a, "\"code\":\"conflict\""));
	/* A reply that breaks the schema is not sent. */
	ck_assert_int_eq(call(&r, &a, "broken"), 500);
	ck_assert(tk_response_has(&a, "\"code\":\"internal\""));
	ck_assert_int_eq(tk_service_get(&r.toy, &a, "/metrics"), 200);
	ck_assert(tk_response_has(
	    &a, "soul_requests_total{route=\"call\",code=\"conflict\"} 1\n"));
	tk_response_free(&a);
	svc_fixture_stop(&r);
}

static bool
is_without_peer(void *arg)
{
	struct svc_fixture *r = arg;

	return is_unready(r, "the peer is not reachable\n");
}

TEST(readiness_names_what_is_missing)
{
	struct tk_response a = { 0 };
	struct svc_fixture r;

	svc_fixture_begin(&r, &def, TK_ENV("DRAIN_TIMEOUT_MS=5000"));
	ck_assert_int_eq(tk_service_get(&r.toy, &a, "/livez"), 200);
	ck_assert(tk_until(is_without_peer, &r, 5000));
	ck_assert_int_eq(call(&r, &a, "up"), 200);
	ck_assert(tk_until(tk_service_ready, &r.toy, 5000));
	ck_assert_int_eq(tk_service_get(&r.toy, &a, "/nothing"), 404);
	tk_response_free(&a);
	svc_fixture_stop(&r);
}

TEST(open_calls_are_served_before_it_ends)
{
	struct tk_response a = { 0 };
	struct tk_http c = { 0 };
	struct svc_fixture r;

	svc_fixture_begin(&r, &def, TK_ENV("DRAIN_TIMEOUT_MS=5000"));
	svc_fixture_post(&r, &c, "/call", "hold");
	ck_assert(tk_until(tk_service_ready, &r.toy, 5000));
	tk_signal(&r.toy.proc, SIGTERM);
	ck_assert(tk_http_read(&c, &a, 5000));
	ck_assert_int_eq(a.status, 200);
	ck_assert(tk_response_has(&a, "hold"));
	tk_response_free(&a);
	tk_http_close(&c);
	svc_fixture_expect_exit(&r, 0);
}

TEST(a_drain_has_a_timeout)
{
	struct tk_http c = { 0 };
	struct svc_fixture r;

	svc_fixture_begin(&r, &def, TK_ENV("DRAIN_TIMEOUT_MS=200"));
	svc_fixture_post(&r, &c, "/call", "never");
	ck_assert(tk_until(tk_service_ready, &r.toy, 5000));
	tk_signal(&r.toy.proc, SIGTERM);
	svc_fixture_expect_exit(&r, 70);
	tk_http_close(&c);
}

static bool
is_draining(void *arg)
{
	return is_unready(arg, "draining");
}

TEST(a_second_signal_ends_it_immediately)
{
	struct tk_http c = { 0 };
	struct svc_fixture r;

	svc_fixture_begin(&r, &def, TK_ENV("DRAIN_TIMEOUT_MS=60000"));
	svc_fixture_post(&r, &c, "/call", "never");
	ck_assert(tk_until(tk_service_ready, &r.toy, 5000));
	tk_signal(&r.toy.proc, SIGTERM);
	ck_assert(tk_until(is_draining, &r, 5000));
	tk_signal(&r.toy.proc, SIGTERM);
	svc_fixture_expect_exit(&r, 70);
	tk_http_close(&c);
}

TEST(a_start_that_fails_has_an_exit_code)
{
	struct svc_fixture r = { 0 };

	tk_server_start(&r.nats, TK_NATS);
	svc_fixture_fork(&r, &def, r.nats.url, TK_ENV("TOY_FAILS=on"));
	svc_fixture_expect_exit(&r, 70);
}

TEST(a_service_may_need_no_nats)
{
	struct tk_response a = { 0 };
	struct svc_fixture r = { 0 };

	svc_fixture_fork(&r, &alone_def, "nats://127.0.0.1:1", NULL);
	ck_assert(tk_until(svc_fixture_is_open, &r, SVC_FIXTURE_MS));
	ck_assert(tk_until(is_without_peer, &r, 5000));
	ck_assert_int_eq(call(&r, &a, "up"), 200);
	ck_assert(tk_until(tk_service_ready, &r.toy, 5000));
	tk_response_free(&a);
	svc_fixture_stop(&r);
}
