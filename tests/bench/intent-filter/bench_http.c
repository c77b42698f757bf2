/*
 * Throughput over HTTP: the protocol's request to an intent-filter process, and
 * the same command with its catalog named, beside civetweb's bare "hello".
 */
#include <civetweb.h>
#include <signal.h>

#include "core/arena.h"
#include "integration/intent-filter/asking.h"
#include "testkit/http.h"
#include "testkit/http_compare.h"

#define PATH "/v1/intents/filter"

static struct str
post(struct arena *a, const char *body)
{
	return arena_printf(a,
	    "POST " PATH " HTTP/1.1\r\nHost: localhost\r\n"
	    "Content-Type: application/json\r\nContent-Length: %zu\r\n\r\n%s",
	    strlen(body), body);
}

/* The protocol's catalog in a record, and its command with a name. */
static const char *
named(struct asking *asking, struct arena *a)
{
	json_t *r = case_json(protocol());
	char *catalog =
	    json_dumps(json_object_get(r, "intent_catalog"), JSON_COMPACT);
	char *text;

	asking_record(asking, catalog, "h");
	json_object_del(r, "intent_catalog");
	json_object_set_new(r, "catalog_ref",
	    json_pack("{s:s,s:s}", "terminal_id", "t1", "hash", "h"));
	text = json_dumps(r, JSON_COMPACT);
	struct str s = post(a, text);
	free(text);
	free(catalog);
	json_decref(r);
	return s.p;
}

static bool
knows_name(void *arg)
{
	const struct http_compare_target *t = arg;
	struct tk_http c = { 0 };
	struct tk_response a = { 0 };
	bool is;

	tk_http_open(&c, t->port);
	is = tk_http_puts(&c, t->request) && tk_http_read(&c, &a, 5000) &&
	    a.status == 200;
	tk_response_free(&a);
	tk_http_close(&c);
	return is;
}

TEST_T(throughput, 120)
{
	struct arena *a = arena_new(64 * 1024);
	struct tk_server nats, redis;
	struct running r = { 0 };
	struct asking asking;
	struct http_compare_target t[] = {
		{ .name = "bare civetweb", .path = "/hello" },
		{ .name = "intent-filter", .request = post(a, protocol()).p },
		{ .name = "  catalog named" },
	};

	tk_server_start(&nats, TK_NATS);
	tk_server_start(&redis, TK_REDIS);
	r.redis = redis.url;
	running_start(&r, "filter", nats.url);
	asking_start(&asking, nats.url, redis.url);
	struct mg_context *bare = http_compare_bare_start(&t[0].port);
	t[1].port = t[2].port = r.s.http;
	t[1].pid = t[2].pid = r.s.proc.pid;
	t[2].request = named(&asking, a);
	ck_assert(tk_until(knows_name, &t[2], ASKING_MS));
	http_compare_run(t, NELEM(t), 1);
	http_compare_run(t, NELEM(t), 8);
	http_compare_run(t, NELEM(t), HTTP_COMPARE_CLIENTS);
	mg_stop(bare);
	asking_stop(&asking);
	tk_service_end(&r.s);
	tk_server_stop(&redis, SIGTERM);
	tk_server_stop(&nats, SIGTERM);
	arena_free(a);
}
