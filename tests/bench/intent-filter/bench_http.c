/*
 * Throughput over HTTP: an intent-filter process next to civetweb's bare
 * "hello": a repeated command of the protocol's catalog, whose
 * result is in memory; one that is never the same; and both with a
 * reference to the catalog.
 */
#include <civetweb.h>
#include <signal.h>

#include "core/arena.h"
#include "core/mem.h"
#include "testkit/http.h"
#include "testkit/http_compare.h"
#include "testkit/intent_filter_load.h"

#define PATH    "/v1/intents/filter"
#define NUMBER  "00000000"
#define COMMAND "帮我把" NUMBER "号房间的灯变成绿色"

/* The protocol's request with that command, which depends on no time. */
static json_t *
bench_request(void)
{
	json_t *r = filter_fixture_json(filter_fixture_protocol());

	json_object_set_new(r, "command", json_string(COMMAND));
	return r;
}

/* Takes over the reference. */
static const char *
bench_post(struct arena *a, json_t *request)
{
	char *body = json_dumps(request, JSON_COMPACT);
	struct str s = arena_printf(a,
	    "POST " PATH " HTTP/1.1\r\nHost: localhost\r\n"
	    "Content-Type: application/json\r\nContent-Length: %zu\r\n\r\n%s",
	    strlen(body), body);

	free(body);
	json_decref(request);
	return s.p;
}

/* The protocol's catalog in a record, and its command with a reference. */
static const char *
bench_reference(struct filter_load *load, struct arena *a)
{
	json_t *r = bench_request();
	char *catalog =
	    json_dumps(json_object_get(r, "intent_catalog"), JSON_COMPACT);

	filter_load_put_record(load, catalog, "h");
	json_object_del(r, "intent_catalog");
	json_object_set_new(r, "catalog_ref",
	    json_pack("{s:s,s:s}", "terminal_id", "t1", "hash", "h"));
	free(catalog);
	return bench_post(a, r);
}

static bool
bench_is_connected(void *arg)
{
	const struct http_compare_target *t = arg;
	struct tk_http c = { 0 };
	struct tk_response a = { 0 };
	bool is;

	tk_http_open(&c, t->port);
	is = tk_http_puts(&c, t->request) && tk_http_read(&c, &a, 5000) &&
	    a.status == 200 &&
	    strstr(buf_str(&a.body).p, "execute_intents") != NULL;
	tk_response_free(&a);
	tk_http_close(&c);
	return is;
}

TEST_T(throughput_over_http, 120)
{
	struct arena *a = arena_new(64 * 1024);
	struct tk_server nats, redis;
	struct filter_fixture r = { 0 };
	struct filter_load load;
	struct http_compare_target t[] = {
		{ .name = "bare civetweb", .path = "/hello" },
		{ .name = "repeated" },
		{ .name = "distinct" },
		{ .name = "  by hash" },
		{ .name = "  by hash, distinct" },
	};

	tk_server_start(&nats, TK_NATS);
	tk_server_start(&redis, TK_REDIS);
	r.redis = redis.url;
	filter_fixture_start(&r, "filter", nats.url);
	filter_load_start(&load, nats.url, redis.url);
	struct mg_context *bare = http_compare_bare_start(&t[0].port);
	t[1].request = t[2].request = bench_post(a, bench_request());
	t[3].request = t[4].request = bench_reference(&load, a);
	t[2].running = strstr(t[2].request, NUMBER);
	t[4].running = strstr(t[4].request, NUMBER);
	for (size_t i = 1; i < NELEM(t); i++) {
		t[i].port = r.s.http;
		t[i].pid = r.s.proc.pid;
		ck_assert(tk_until(bench_is_connected, &t[i], FILTER_LOAD_MS));
	}
	http_compare_run(t, NELEM(t), 1);
	http_compare_run(t, NELEM(t), 8);
	http_compare_run(t, NELEM(t), HTTP_COMPARE_CLIENTS);
	mg_stop(bare);
	filter_load_stop(&load);
	tk_service_end(&r.s);
	tk_server_stop(&redis, SIGTERM);
	tk_server_stop(&nats, SIGTERM);
	arena_free(a);
}
