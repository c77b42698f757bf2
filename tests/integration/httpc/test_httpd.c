/* libs/httpc with libs/httpd, each on its own loop. */
#include "core/metric.h"
#include "httpc/sse_reader.h"
#include "httpd/httpd.h"
#include "testkit/httpc_fixture.h"

static struct tk_loop server, client;
static struct httpd *h;
static struct httpc *c;
static char url[128];
static int port;

static void
on_echo(void *arg, struct httpd_req *r)
{
	(void)arg;
	httpd_respond(r, 200, "application/json", httpd_req_body(r));
}

/* Five events at once, then the end. */
static void
on_events(void *arg, struct httpd_req *r)
{
	char id[16];

	(void)arg;
	httpd_sse_start(r);
	for (int i = 0; i < 5; i++) {
		snprintf(id, sizeof(id), "%d", i);
		if (httpd_sse_send(r, "tick", id, STR("a\nb")) != RC_OK)
			abort();
	}
	httpd_stream_end(r);
}

/* Holds requests until release(). */
static struct httpd_req *held[16];
static size_t n_held;

static void
on_never(void *arg, struct httpd_req *r)
{
	(void)arg;
	if (n_held == NELEM(held))
		abort();
	held[n_held++] = r;
}

static void
release(void *arg)
{
	(void)arg;
	while (n_held > 0)
		httpd_respond_error(held[--n_held], RC_DOWN, "too late");
}

static const struct httpd_route routes[] = {
	{ .method = "POST", .path = "/echo", .fn = on_echo },
	{ .method = "GET", .path = "/events", .fn = on_events },
	{ .method = "GET", .path = "/never", .fn = on_never },
};

static void
server_open(const char *addr, int64_t timeout_ms)
{
	tk_loop_new(&server, 1024);
	ck_assert_int_eq(httpd_new(&(struct httpd_opts){ .loop = server.l,
				       .addr = addr,
				       .routes = routes,
				       .nroutes = NELEM(routes),
				       .workers = 128,
				       .timeout_ms = timeout_ms },
			     &h),
	    RC_OK);
	port = httpd_port(h);
	tk_loop_start(&server);
}

static void
server_close(void)
{
	tk_loop_call(&server, release, NULL);
	tk_loop_stop(&server);
	httpd_free(h);
	loop_free(server.l);
}

static void
client_open(void)
{
	tk_loop_new(&client, 1024);
	c = httpc_new(&(struct httpc_opts){ .loop = client.l });
	tk_loop_start(&client);
}

static void
free_client(void *arg)
{
	httpc_free(arg);
}

static void
client_close(void)
{
	tk_loop_call(&client, free_client, c);
	tk_loop_stop(&client);
	loop_free(client.l);
}

static void
call_init(struct httpc_fixture_call *g, const char *method, const char *path)
{
	snprintf(url, sizeof(url), "http://127.0.0.1:%d%s", port, path);
	httpc_fixture_call_init(g, c, url);
	g->rq.method = method;
}

static void
call_run(struct httpc_fixture_call *g)
{
	tk_loop_call(&client, httpc_fixture_call_start, g);
	ck_assert_int_eq(g->started, RC_OK);
	ck_assert(tk_until(httpc_fixture_call_is_done, g, HTTPC_FIXTURE_MS));
	tk_loop_call(&client, NULL, NULL);
	ck_assert_int_eq(g->times, 1);
}

#define MANY 100
static struct httpc_fixture_call start_many[MANY];

static bool
all_done(void *arg)
{
	(void)arg;
	for (size_t i = 0; i < MANY; i++)
		if (!start_many[i].done)
			return false;
	return true;
}

TEST(a_hundred_concurrent_bodies_arrive)
{
	static char bodies[MANY][4096];

	server_open("127.0.0.1:0", HTTPC_FIXTURE_MS);
	client_open();
	for (int round = 0; round < 5; round++) {
		for (size_t i = 0; i < MANY; i++) {
			call_init(&start_many[i], "POST", "/echo");
			memset(bodies[i], 'a' + (int)(i % 26), 4095);
			start_many[i].rq.body =
			    (struct str){ bodies[i], 41 * i % 4096 + 1 };
			tk_loop_call(
			    &client, httpc_fixture_call_start, &start_many[i]);
			ck_assert_int_eq(start_many[i].started, RC_OK);
		}
		ck_assert(tk_until(all_done, NULL, HTTPC_FIXTURE_MS));
		for (size_t i = 0; i < MANY; i++) {
			ck_assert_msg(
			    start_many[i].rc == RC_OK, "%s", start_many[i].why);
			ck_assert_int_eq(start_many[i].status, 200);
			ck_assert(str_eq(buf_str(&start_many[i].body),
			    start_many[i].rq.body));
			buf_free(&start_many[i].body);
		}
	}
	client_close();
	server_close();
}

struct events {
	struct sse_reader sse;
	int n;
};

static enum rc
on_event(void *arg, const struct sse_event *e)
{
	struct events *ev = arg;
	char id[16];

	snprintf(id, sizeof(id), "%d", ev->n++);
	return str_eq(e->type, STR("tick")) && str_eq(e->id, str_of(id)) &&
		str_eq(e->data, STR("a\nb"))
	    ? RC_OK
	    : RC_INVALID;
}

static struct events events;

static enum rc
on_chunk(void *arg, struct httpc_call *call, struct str chunk)
{
	(void)arg;
	(void)call;
	return sse_reader_feed(&events.sse, chunk, on_event, &events);
}

TEST(events_arrive_end_to_end)
{
	struct httpc_fixture_call g;

	server_open("127.0.0.1:0", HTTPC_FIXTURE_MS);
	client_open();
	sse_reader_init(&events.sse, 1024);
	memset(&g, 0, sizeof(g));
	call_init(&g, "GET", "/events");
	g.rq.on_chunk = on_chunk;
	call_run(&g);
	ck_assert_msg(g.rc == RC_OK, "%s", g.why);
	ck_assert_str_eq(g.type, "text/event-stream");
	ck_assert_int_eq(events.n, 5);
	ck_assert_int_eq(events.sse.retry_ms, 2000);
	sse_reader_free(&events.sse);
	client_close();
	server_close();
}

TEST(deadlines_of_server_and_client_end_calls)
{
	struct httpc_fixture_call g;

	server_open("127.0.0.1:0", 1000);
	client_open();
	call_init(&g, "GET", "/never");
	call_run(&g);
	ck_assert_int_eq(g.rc, RC_OK);
	ck_assert_int_eq(g.status, 504);
	buf_free(&g.body);
	call_init(&g, "GET", "/never");
	g.rq.deadline.ms = clock_wall().ms + 200;
	call_run(&g);
	ck_assert_int_eq(g.rc, RC_TIMEOUT);
	client_close();
	server_close();
}

/* Repeated, since the close could overtake the response. */
TEST(a_body_over_the_limit_gets_its_413)
{
	static char body[30 * HTTPD_BODY_MAX];
	struct httpc_fixture_call g;

	server_open("127.0.0.1:0", HTTPC_FIXTURE_MS);
	client_open();
	for (int i = 0; i < 200; i++) {
		call_init(&g, "POST", "/echo");
		g.rq.body = (struct str){ body,
			i % 2 == 0 ? HTTPD_BODY_MAX + 1 : sizeof(body) };
		call_run(&g);
		ck_assert_msg(g.rc == RC_OK, "%s", g.why);
		ck_assert_int_eq(g.status, 413);
		buf_free(&g.body);
	}
	client_close();
	server_close();
}

TEST(a_client_survives_a_restart_of_its_server)
{
	char addr[64];
	struct httpc_fixture_call g;

	/* A port that stays reserved while the server is down. */
	snprintf(addr, sizeof(addr), "127.0.0.1:%d", tk_port());
	server_open(addr, HTTPC_FIXTURE_MS);
	client_open();
	for (int i = 0; i < 5; i++) {
		call_init(&g, "POST", "/echo");
		g.rq.body = STR("{}");
		call_run(&g);
		ck_assert_msg(g.rc == RC_OK, "%s", g.why);
		ck_assert(str_eq(buf_str(&g.body), STR("{}")));
		buf_free(&g.body);
		server_close();
		if (i == 2) {
			call_init(&g, "GET", "/never");
			call_run(&g);
			ck_assert_int_eq(g.rc, RC_DOWN);
		}
		server_open(addr, HTTPC_FIXTURE_MS);
	}
	client_close();
	server_close();
}
