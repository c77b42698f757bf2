/*
 * A service's life: answers, drain, exit codes, readiness.
 *
 * The service is a toy that runs in a forked process; what it does with a call
 * is the text of the request.
 */
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/mem.h"
#include "kit/kit.h"
#include "kit/kit_http.h"
#include "svc/svc.h"
#include "wire/msgs.h"

#define HOLD_MS 400

/* ---- the toy ------------------------------------------------------------- */

struct toy_conf {
	int64_t answer_ms;
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

/* From now on it is in hand, and the service is ready to say so. */
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
	.summary = "does what it is told",
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

/* ---- running it ---------------------------------------------------------- */

struct running {
	struct kit_server nats;
	int http, admin;
	pid_t pid;
	int status; /* of the ended process */
};

static void
put_addr(const char *name, int port)
{
	char text[64];

	snprintf(text, sizeof(text), "127.0.0.1:%d", port);
	setenv(name, text, 1);
}

static int
toy_main(bool alone)
{
	char name[] = "toy";
	char *argv[] = { name, NULL };

	return svc_main(alone ? &alone_def : &def, 1, argv);
}

static bool
is_ended(void *arg)
{
	struct running *r = arg;

	return waitpid(r->pid, &r->status, WNOHANG) == r->pid;
}

static bool
is_open(void *arg)
{
	struct running *r = arg;

	return kit_port_open(r->http);
}

static void
toy_run(struct running *r, const char *drain_ms)
{
	memset(r, 0, sizeof(*r));
	kit_server_start(&r->nats, KIT_NATS);
	r->http = kit_port();
	r->admin = kit_port();
	setenv("NATS_URL", r->nats.url, 1);
	setenv("DRAIN_TIMEOUT_MS", drain_ms, 1);
	/* Threads are slow to make under sanitizers. */
	setenv("HTTP_WORKERS", "20", 1);
	put_addr("HTTP_ADDR", r->http);
	put_addr("ADMIN_ADDR", r->admin);
	r->pid = fork();
	if (r->pid == 0)
		exit(toy_main(false));
	ck_assert(kit_until(is_open, r, 10000));
}

static void
toy_expect(struct running *r, int code)
{
	ck_assert(kit_until(is_ended, r, 15000));
	ck_assert_msg(WIFEXITED(r->status) && WEXITSTATUS(r->status) == code,
	    "status %x", (unsigned)r->status);
	kit_server_stop(&r->nats, SIGTERM);
}

static int
call(const struct running *r, struct kit_answer *a, const char *text)
{
	char body[64];

	snprintf(body, sizeof(body), "{\"error\":\"%s\"}", text);
	return kit_http_call(r->http, a,
	    "POST /call HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"
	    "Content-Type: application/json\r\nContent-Length: %zu\r\n\r\n%s",
	    strlen(body), body);
}

static void
call_begin(const struct running *r, struct kit_http *c, const char *text)
{
	char request[256], body[64];

	snprintf(body, sizeof(body), "{\"error\":\"%s\"}", text);
	snprintf(request, sizeof(request),
	    "POST /call HTTP/1.1\r\nHost: x\r\nContent-Length: %zu\r\n\r\n%s",
	    strlen(body), body);
	kit_http_open(c, r->http);
	ck_assert(kit_http_puts(c, request));
}

static int
get(int port, struct kit_answer *a, const char *path)
{
	return kit_http_call(port, a,
	    "GET %s HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", path);
}

static bool
says_unready(const struct running *r, const char *text)
{
	struct kit_answer a = { 0 };
	bool is;

	is = get(r->admin, &a, "/readyz") == 503 && kit_answer_has(&a, text);
	kit_answer_free(&a);
	return is;
}

/* ---- tests --------------------------------------------------------------- */

KIT_TEST(calls_are_answered_and_refused)
{
	struct kit_answer a = { 0 };
	struct running r;

	toy_run(&r, "5000");
	ck_assert_int_eq(call(&r, &a, "hello"), 200);
	ck_assert(kit_answer_has(&a, "{\"error\":\"hello\"}"));
	ck_assert_int_eq(call(&r, &a, ""), 400);
	ck_assert(kit_answer_has(&a, "\"error is required\""));
	ck_assert_int_eq(call(&r, &a, "\"}x"), 400);
	ck_assert(kit_answer_has(&a, "\"invalid json\""));
	ck_assert_int_eq(call(&r, &a, "x\",\"code\":\"No"), 400);
	ck_assert(kit_answer_has(&a, "\"/code: may only have"));
	ck_assert_int_eq(call(&r, &a, "teapot"), 418);
	ck_assert(kit_answer_has(&a, "\"code\":\"teapot\""));
	ck_assert_int_eq(call(&r, &a, "fail"), 409);
	ck_assert(kit_answer_has(&a, "it is \\\"bound\\\""));
	ck_assert(kit_answer_has(&a, "\"code\":\"conflict\""));
	/* What would break the schema is not sent. */
	ck_assert_int_eq(call(&r, &a, "broken"), 500);
	ck_assert(kit_answer_has(&a, "\"code\":\"internal\""));
	ck_assert_int_eq(get(r.admin, &a, "/metrics"), 200);
	ck_assert(kit_answer_has(
	    &a, "soul_requests_total{route=\"call\",code=\"conflict\"} 1\n"));
	kit_answer_free(&a);
	kill(r.pid, SIGTERM);
	toy_expect(&r, 0);
}

static bool
is_without_peer(void *arg)
{
	struct running *r = arg;

	return says_unready(r, "the peer is not reachable\n");
}

static bool
is_ready(void *arg)
{
	struct running *r = arg;
	struct kit_answer a = { 0 };
	bool is = get(r->admin, &a, "/readyz") == 200;

	kit_answer_free(&a);
	return is;
}

KIT_TEST(readiness_names_what_is_missing)
{
	struct kit_answer a = { 0 };
	struct running r;

	toy_run(&r, "5000");
	ck_assert_int_eq(get(r.admin, &a, "/livez"), 200);
	ck_assert(kit_until(is_without_peer, &r, 5000));
	ck_assert_int_eq(call(&r, &a, "up"), 200);
	ck_assert(kit_until(is_ready, &r, 5000));
	ck_assert_int_eq(get(r.admin, &a, "/nothing"), 404);
	kit_answer_free(&a);
	kill(r.pid, SIGTERM);
	toy_expect(&r, 0);
}

KIT_TEST(what_is_in_hand_is_answered_before_it_ends)
{
	struct kit_answer a = { 0 };
	struct kit_http c = { 0 };
	struct running r;

	toy_run(&r, "5000");
	call_begin(&r, &c, "hold");
	ck_assert(kit_until(is_ready, &r, 5000));
	kill(r.pid, SIGTERM);
	ck_assert(kit_http_read(&c, &a, 5000));
	ck_assert_int_eq(a.status, 200);
	ck_assert(kit_answer_has(&a, "hold"));
	kit_answer_free(&a);
	kit_http_close(&c);
	toy_expect(&r, 0);
}

KIT_TEST(it_does_not_wait_for_ever)
{
	struct kit_http c = { 0 };
	struct running r;

	toy_run(&r, "200");
	call_begin(&r, &c, "never");
	ck_assert(kit_until(is_ready, &r, 5000));
	kill(r.pid, SIGTERM);
	toy_expect(&r, 70);
	kit_http_close(&c);
}

static bool
is_draining(void *arg)
{
	return says_unready(arg, "draining");
}

KIT_TEST(a_second_signal_ends_it_at_once)
{
	struct kit_http c = { 0 };
	struct running r;

	toy_run(&r, "60000");
	call_begin(&r, &c, "never");
	ck_assert(kit_until(is_ready, &r, 5000));
	kill(r.pid, SIGTERM);
	ck_assert(kit_until(is_draining, &r, 5000));
	kill(r.pid, SIGTERM);
	toy_expect(&r, 70);
	kit_http_close(&c);
}

KIT_TEST(a_start_that_fails_is_told)
{
	struct running r = { 0 };

	kit_server_start(&r.nats, KIT_NATS);
	setenv("NATS_URL", r.nats.url, 1);
	setenv("TOY_FAILS", "on", 1);
	put_addr("HTTP_ADDR", kit_port());
	put_addr("ADMIN_ADDR", kit_port());
	r.pid = fork();
	if (r.pid == 0)
		exit(toy_main(false));
	toy_expect(&r, 70);
}

KIT_TEST(it_needs_no_nats_that_it_has_no_use_for)
{
	struct kit_answer a = { 0 };
	struct running r = { .http = kit_port(), .admin = kit_port() };

	setenv("NATS_URL", "nats://127.0.0.1:1", 1);
	put_addr("HTTP_ADDR", r.http);
	put_addr("ADMIN_ADDR", r.admin);
	r.pid = fork();
	if (r.pid == 0)
		exit(toy_main(true));
	ck_assert(kit_until(is_open, &r, 10000));
	ck_assert(kit_until(is_without_peer, &r, 5000));
	ck_assert_int_eq(call(&r, &a, "up"), 200);
	ck_assert(kit_until(is_ready, &r, 5000));
	kit_answer_free(&a);
	kill(r.pid, SIGTERM);
	ck_assert(kit_until(is_ended, &r, 15000));
	ck_assert_msg(WIFEXITED(r.status) && WEXITSTATUS(r.status) == 0,
	    "status %x", (unsigned)r.status);
}
