/*
 * A service whose routes are pure functions: which requests run on the HTTP
 * worker that has read them, which on the loop, and that nobody can tell by the
 * response.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "core/buf.h"
#include "core/mem.h"
#include "testkit/svc_fixture.h"
#include "wire/msgs.h"
#include "wire/wire.h"

#define DEADLINE_MS 2000

/* ---- the toy: it says where it runs ---- */

static pthread_t toy_loop;

static void *
toy_start(struct svc *s, const void *conf)
{
	(void)conf;
	toy_loop = pthread_self();
	return s;
}

/* Uses more than a worker's own stack has. */
static __attribute__((noinline)) size_t
toy_recurse(size_t n)
{
	char bytes[1024];

	memset(bytes, (int)n, sizeof(bytes));
	__asm__ volatile("" : : "r"(bytes) : "memory");
	return n == 0 ? (size_t)bytes[0] : toy_recurse(n - 1) + 1;
}

static void
on_call(void *app, struct svc_call *c)
{
	const struct wire_error *req = svc_call_request(c);
	bool loop = pthread_equal(pthread_self(), toy_loop) != 0;
	struct wire_error rep = { .error = loop ? STR("loop") : STR("worker") };

	(void)app;
	if (loop == svc_call_on_worker(c) || loop != (svc_call_data(c) == NULL))
		abort();
	if (str_eq(req->error, STR("to loop")) && svc_call_on_worker(c)) {
		svc_call_to_loop(c);
		return;
	}
	if (str_eq(req->error, STR("fail"))) {
		svc_fail(c, RC_NOENT, "none");
		return;
	}
	if (str_eq(req->error, STR("deep")) && toy_recurse(300) != 300)
		abort();
	svc_reply(c, &rep);
}

/* Before any other function, and on a worker only. */
static bool
toy_reply_early(void *app, struct svc_call *c)
{
	(void)app;
	if (!svc_call_on_worker(c) || svc_call_data(c) != NULL)
		abort();
	if (str_find(svc_call_body(c), STR("answered")) >= 0) {
		svc_reply(c, &(struct wire_error){ .error = STR("answer") });
		return true;
	}
	svc_call_set_data(c, &toy_loop);
	return false;
}

/* Takes large ones, and leaves those that say so to the loop. */
static bool
toy_decode(void *app, struct svc_call *c, void *msg)
{
	struct wire_error *req = msg;

	(void)app;
	if (svc_call_on_worker(c) && svc_call_data(c) != &toy_loop)
		abort();
	if (str_find(svc_call_body(c), STR("decode to loop")) >= 0 &&
	    svc_call_on_worker(c)) {
		svc_call_to_loop(c);
		return false;
	}
	if (str_find(svc_call_body(c), STR("taken")) < 0)
		return false;
	req->error = STR("taken");
	return true;
}

static const struct svc_text texts[] = { { "", "invalid json" } };
static const struct svc_route routes[] = {
	{ .name = "quick",
	    .subject = "toy.quick",
	    .method = "POST",
	    .path = "/quick",
	    .request = &wire_error_desc,
	    .reply = &wire_error_desc,
	    .fn = on_call,
	    .deadline_ms = DEADLINE_MS,
	    .texts = texts,
	    .ntexts = NELEM(texts) },
};
static const struct svc_def def = {
	.name = "toy",
	.summary = "says where it runs",
	.http_addr = "127.0.0.1:1",
	.admin_addr = "127.0.0.1:1",
	.conf_size = 1,
	.routes = routes,
	.nroutes = NELEM(routes),
	.start = toy_start,
	.decode = toy_decode,
	.reply_early = toy_reply_early,
	.on_worker = true,
};

/* ---- tests ---- */

static const char *
on_worker_call(const struct svc_fixture *r, struct tk_response *a,
    const char *head, const char *text, int status)
{
	struct buf body = BUF_INIT(1 << 20);

	buf_printf(&body, "{\"error\":\"%s\"}", text);
	ck_assert_int_eq(tk_http_call(r->toy.http, a,
			     "POST /quick HTTP/1.1\r\n%s"
			     "Content-Type: application/json\r\n"
			     "Connection: close\r\n"
			     "Content-Length: %zu\r\n\r\n%s",
			     head, body.n, body.p),
	    status);
	buf_free(&body);
	return a->body.p;
}

TEST(requests_run_where_they_can)
{
	static const char local[] = "Host: localhost\r\n";
	struct tk_response a = { 0 };
	struct svc_fixture r;
	natsMsg *m = NULL;
	char *large = mem_zalloc(20001);

	/* The member z is none of the schema's. */
	memset(large, 'x', 20000);
	memcpy(large, "other\",\"z\":\"", 12);
	svc_fixture_start(&r, &def);
	ck_assert_str_eq(
	    on_worker_call(&r, &a, local, "x", 200), "{\"error\":\"worker\"}");
	ck_assert_str_eq(on_worker_call(&r, &a, local, "to loop", 200),
	    "{\"error\":\"loop\"}");
	ck_assert_str_eq(on_worker_call(&r, &a, local, "decode to loop", 200),
	    "{\"error\":\"loop\"}");
	ck_assert_str_eq(on_worker_call(&r, &a, local, "deep", 200),
	    "{\"error\":\"worker\"}");
	ck_assert_str_eq(on_worker_call(&r, &a, local, "answered", 200),
	    "{\"error\":\"answer\"}");
	/* A large one that the service does not decode. */
	ck_assert_str_eq(
	    on_worker_call(&r, &a, local, large, 200), "{\"error\":\"loop\"}");
	memcpy(large, "taken", 5);
	ck_assert_str_eq(on_worker_call(&r, &a, local, large, 200),
	    "{\"error\":\"worker\"}");
	ck_assert_int_eq(natsConnection_RequestString(&m, r.nc, "toy.quick",
			     "{\"error\":\"x\"}", SVC_FIXTURE_MS),
	    NATS_OK);
	ck_assert_str_eq(natsMsg_GetData(m), "{\"error\":\"loop\"}");
	natsMsg_Destroy(m);
	/* Each is counted once. */
	ck_assert(svc_fixture_has_metric(
	    &r, "soul_requests_total{route=\"quick\",code=\"ok\"} 8\n"));
	ck_assert(svc_fixture_has_metric(
	    &r, "soul_request_duration_seconds_count{route=\"quick\"} 8\n"));
	free(large);
	tk_response_free(&a);
	svc_fixture_stop(&r);
}

TEST(errors_are_those_of_the_loop)
{
	static const char local[] = "Host: localhost\r\n";
	struct tk_response a = { 0 };
	struct svc_fixture r;

	svc_fixture_start(&r, &def);
	for (int i = 0; i < 2; i++) {
		on_worker_call(&r, &a, local, "fail", 404);
		ck_assert(tk_response_has(&a, "\"error\":\"none\""));
		ck_assert(tk_response_has(&a, "\"trace_id\":\""));
		on_worker_call(&r, &a, local, "\"", 400);
		ck_assert(tk_response_has(&a, "invalid json"));
		/* Another site's page, and a name that points here. */
		on_worker_call(&r, &a,
		    "Host: localhost\r\nOrigin: http://evil.example\r\n", "x",
		    403);
		ck_assert(tk_response_has(&a, "CORS_ORIGINS"));
		on_worker_call(&r, &a, "Host: evil.example\r\n", "x", 403);
	}
	ck_assert(svc_fixture_has_metric(
	    &r, "soul_requests_total{route=\"quick\",code=\"not_found\"} 2\n"));
	ck_assert(svc_fixture_has_metric(&r,
	    "soul_requests_total{route=\"quick\",code=\"invalid_request\"} "
	    "2\n"));
	tk_response_free(&a);
	svc_fixture_stop(&r);
}

#define CLIENTS 6
#define CALLS   100

struct on_worker_client {
	pthread_t thread;
	const struct svc_fixture *r;
	size_t i, wrong;
};

static void *
on_worker_client_main(void *arg)
{
	static const char *const rows[][2] = { { "x", "worker" },
		{ "to loop", "loop" }, { "deep", "worker" } };
	struct on_worker_client *me = arg;
	struct tk_response a = { 0 };
	struct tk_http c;

	tk_http_open(&c, me->r->toy.http);
	for (size_t n = 0; n < CALLS; n++) {
		const char *const *row = rows[(me->i + n) % NELEM(rows)];
		char text[128];

		snprintf(text, sizeof(text),
		    "POST /quick HTTP/1.1\r\nHost: localhost\r\n"
		    "Content-Length: %zu\r\n\r\n{\"error\":\"%s\"}",
		    strlen(row[0]) + strlen("{\"error\":\"\"}"), row[0]);
		if (!tk_http_puts(&c, text) || !tk_http_read(&c, &a, 10000) ||
		    a.status != 200 || strstr(a.body.p, row[1]) == NULL)
			me->wrong++;
	}
	tk_response_free(&a);
	tk_http_close(&c);
	return NULL;
}

TEST_T(workers_and_the_loop_serve_side_by_side, 60)
{
	static struct on_worker_client clients[CLIENTS];
	struct svc_fixture r;

	svc_fixture_start(&r, &def);
	for (size_t i = 0; i < CLIENTS; i++) {
		clients[i] = (struct on_worker_client){ .r = &r, .i = i };
		ck_assert_int_eq(pthread_create(&clients[i].thread, NULL,
				     on_worker_client_main, &clients[i]),
		    0);
	}
	for (size_t i = 0; i < CLIENTS; i++) {
		pthread_join(clients[i].thread, NULL);
		ck_assert_uint_eq(clients[i].wrong, 0);
	}
	svc_fixture_stop(&r);
}
