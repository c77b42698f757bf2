/*
 * Requests over HTTP on the workers that have read them: in parallel, with
 * catalogs that are evicted meanwhile, and how many system calls they take.
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>

#include "core/arena.h"
#include "core/buf.h"
#include "core/mem.h"
#include "testkit/http.h"
#include "testkit/intent_filter_fixture.h"
#include "testkit/syscalls.h"
#include "testkit/testkit.h"

#define PATH "/v1/intents/filter"

struct worker_test {
	struct tk_server nats;
	struct tk_service s;
};

static void
worker_test_start(struct worker_test *t, const char *cache_mib)
{
	struct tk_env e = { 0 };

	memset(t, 0, sizeof(*t));
	tk_server_start(&t->nats, TK_NATS);
	tk_env_put(&e, "NATS_URL=%s", t->nats.url);
	tk_env_put(&e, "INTENT_FILTER_CACHE_MIB=%s", cache_mib);
	tk_service_spawn(&t->s, "intent-filter", "filter", &e);
	tk_service_wait(&t->s);
}

static void
worker_test_stop(struct worker_test *t)
{
	tk_service_end(&t->s);
	tk_server_stop(&t->nats, SIGTERM);
}

static struct str
worker_post(struct arena *a, const char *body)
{
	return arena_printf(a,
	    "POST " PATH " HTTP/1.1\r\nHost: localhost\r\n"
	    "Content-Type: application/json\r\nContent-Length: %zu\r\n\r\n%s",
	    strlen(body), body);
}

/* One request of a connection that stays open; the body of the response. */
static bool
worker_exchange(struct tk_http *c, struct tk_response *r, const char *request)
{
	return tk_http_puts(c, request) && tk_http_read(c, r, 10000) &&
	    r->status == 200;
}

/* ---- system calls ---- */

#define REQUESTS 400
/*
 * poll, recv and send; random bytes are read for many requests, and other
 * threads of the service have their own calls.  A sanitizer has some of its
 * own.
 */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define CALLS_MAX 30.0
#else
#define CALLS_MAX 4.0
#endif

static void
worker_requests(struct tk_http *c, const char *request, int n)
{
	struct tk_response r = { 0 };

	for (int i = 0; i < n; i++)
		ck_assert(worker_exchange(c, &r, request));
	tk_response_free(&r);
}

TEST_T(a_request_of_an_open_connection_takes_three_system_calls, 60)
{
	struct arena *a = arena_new(64 * 1024);
	const char *request = worker_post(a, filter_fixture_protocol()).p;
	struct tk_syscalls *calls;
	struct worker_test t;
	struct tk_http c;
	double each;

	worker_test_start(&t, "64");
	tk_http_open(&c, t.s.http);
	worker_requests(&c, request, 20);
	calls = tk_syscalls_new(t.s.proc.pid);
	if (calls == NULL) {
		printf("system calls: the kernel lets only root count them\n");
	} else {
		worker_requests(&c, request, REQUESTS);
		each = (double)tk_syscalls_count(calls) / REQUESTS;
		printf("%.2f system calls a request\n", each);
		ck_assert_double_ge(each, 3);
		ck_assert_double_le(each, CALLS_MAX);
	}
	tk_syscalls_free(calls);
	tk_http_close(&c);
	worker_test_stop(&t);
	arena_free(a);
}

/* ---- in parallel ---- */

#define CLIENTS  8
#define CATALOGS 12
#define INTENTS  60 /* of each: some fit into a cache of 1 MiB, not all */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define ROUNDS 15
#else
#define ROUNDS 60
#endif

struct worker_client {
	pthread_t thread;
	int port;
	size_t first;
	const char *const *requests;
	char *replies[CATALOGS]; /* the first response to each; owned */
	size_t right, wrong;
};

/* The request with catalog n: its intents have its number in their ids. */
static char *
worker_request(size_t n)
{
	json_t *catalog = json_array(), *r;
	char id[32], word[32], *text;

	for (size_t i = 0; i < INTENTS; i++) {
		snprintf(id, sizeof(id), "c%zu_i%zu", n, i);
		snprintf(word, sizeof(word), "打开%zu号灯", i);
		json_array_append_new(catalog,
		    json_pack("{s:s,s:{s:[s]},s:[{s:s,s:s},{s:s,s:s}]}", "id",
			id, "match", "keywords_any", word, "slots", "name",
			"skill", "default", "light", "name", "level", "regex",
			"([0-9]+)号"));
	}
	r = json_pack("{s:s,s:s,s:s,s:o,s:[{s:s,s:s,s:{s:s,s:{s:{s:s,s:s}}}}]}",
	    "request_id", "r", "command", "打开7号灯", "now",
	    "2026-02-22T17:40:00+08:00", "intent_catalog", catalog, "skills",
	    "name", "light", "description", "a lamp", "input_schema", "type",
	    "object", "properties", "level", "type", "string", "pattern",
	    "^[0-9]+$");
	ck_assert_ptr_nonnull(r);
	text = json_dumps(r, JSON_COMPACT);
	json_decref(r);
	return text;
}

/* Without what is new in each response. */
static char *
worker_reply(const char *body)
{
	json_t *r = json_loads(body, 0, NULL);
	char *text;

	json_object_del(json_object_get(r, "meta"), "latency_ms");
	text = json_dumps(r, JSON_COMPACT | JSON_SORT_KEYS);
	json_decref(r);
	return text;
}

static void
worker_client_call(struct worker_client *me, struct tk_http *c,
    struct tk_response *r, size_t catalog)
{
	char *reply, id[32];

	if (!worker_exchange(c, r, me->requests[catalog])) {
		/* A busy machine does not compile a catalog in time. */
		me->wrong += r->status != 504;
		return;
	}
	me->right++;
	reply = worker_reply(r->body.p);
	snprintf(id, sizeof(id), "\"c%zu_i7\"", catalog);
	if (reply == NULL || strstr(reply, id) == NULL ||
	    strstr(reply, "execute_intents") == NULL ||
	    (me->replies[catalog] != NULL &&
		strcmp(me->replies[catalog], reply) != 0))
		me->wrong++;
	if (me->replies[catalog] == NULL)
		me->replies[catalog] = reply;
	else
		free(reply);
}

static void *
worker_client_main(void *arg)
{
	struct worker_client *me = arg;
	struct tk_response r = { 0 };
	struct tk_http c;

	tk_http_open(&c, me->port);
	for (size_t i = 0; i < ROUNDS; i++)
		worker_client_call(me, &c, &r, (me->first + i) % CATALOGS);
	tk_response_free(&r);
	tk_http_close(&c);
	return NULL;
}

/*
 * In the same order, clients may find each catalog compiled for another, or
 * always the one evicted that they need next; a catalog is cached for certain
 * when it was the last one in use.
 */
static void
worker_check_hit(const struct worker_test *t, const char *request)
{
	static const char name[] = "soul_intent_catalog_hits_total";
	struct tk_response r = { 0 };
	struct tk_http c;
	int64_t hits;

	tk_http_open(&c, t->s.http);
	ck_assert(worker_exchange(&c, &r, request));
	hits = tk_service_metric(&t->s, name);
	ck_assert(worker_exchange(&c, &r, request));
	ck_assert_int_eq(tk_service_metric(&t->s, name), hits + 1);
	tk_response_free(&r);
	tk_http_close(&c);
}

TEST_T(parallel_requests_share_catalogs_that_come_and_go, 120)
{
	static struct worker_client clients[CLIENTS];
	struct arena *a = arena_new(4 << 20);
	const char *requests[CATALOGS];
	struct worker_test t;

	worker_test_start(&t, "1");
	for (size_t i = 0; i < CATALOGS; i++) {
		char *body = worker_request(i);

		requests[i] = worker_post(a, body).p;
		ck_assert_ptr_nonnull(requests[i]);
		free(body);
	}
	for (size_t i = 0; i < CLIENTS; i++) {
		clients[i] = (struct worker_client){
			.port = t.s.http, .first = i % 3, .requests = requests
		};
		ck_assert_int_eq(pthread_create(&clients[i].thread, NULL,
				     worker_client_main, &clients[i]),
		    0);
	}
	for (size_t i = 0; i < CLIENTS; i++) {
		pthread_join(clients[i].thread, NULL);
		ck_assert_uint_eq(clients[i].wrong, 0);
		ck_assert_uint_gt(clients[i].right, ROUNDS / 2);
	}
	for (size_t i = 0; i < CLIENTS; i++)
		for (size_t n = 0; n < CATALOGS; n++) {
			if (clients[0].replies[n] != NULL &&
			    clients[i].replies[n] != NULL)
				ck_assert_str_eq(clients[0].replies[n],
				    clients[i].replies[n]);
			if (i > 0)
				free(clients[i].replies[n]);
		}
	for (size_t n = 0; n < CATALOGS; n++)
		free(clients[0].replies[n]);
	/* Some were evicted, and compiled anew. */
	ck_assert_int_gt(
	    tk_service_metric(&t.s, "soul_intent_catalog_misses_total"),
	    CATALOGS);
	worker_check_hit(&t, requests[0]);
	worker_test_stop(&t);
	arena_free(a);
}

/* ---- what is rejected on a worker, as on the loop ---- */

TEST(errors_on_a_worker_are_those_of_the_loop)
{
	static const struct {
		const char *body;
		int status;
		const char *text;
	} rows[] = {
		{ "{", 400, "\"code\":\"invalid_request\"" },
		{ "{\"command\":\"x\"}", 400, "intent_catalog" },
		{ "{\"command\":\"\",\"intent_catalog\":[{\"id\":\"a\"}]}", 400,
		    "/command" },
		{ "{\"command\":\"x\",\"timezone\":\"Mars/Base\","
		  "\"intent_catalog\":[{\"id\":\"a\"}]}",
		    400, "/timezone: must be the IANA name" },
		{ "{\"command\":\"x\",\"catalog_ref\":{\"terminal_id\":\"t\","
		  "\"hash\":\"h\"}}",
		    503, "/catalog_ref: cannot be read now" },
	};
	struct tk_response r = { 0 };
	struct worker_test t;

	worker_test_start(&t, "64");
	for (size_t i = 0; i < 2 * NELEM(rows); i++) {
		size_t n = i % NELEM(rows);
		int status = tk_http_call(t.s.http, &r,
		    "POST " PATH " HTTP/1.1\r\nHost: localhost\r\n"
		    "Connection: close\r\nContent-Type: application/json\r\n"
		    "Content-Length: %zu\r\n\r\n%s",
		    strlen(rows[n].body), rows[n].body);

		ck_assert_int_eq(status, rows[n].status);
		ck_assert_msg(
		    strstr(r.body.p, rows[n].text) != NULL, "%s", r.body.p);
	}
	ck_assert_int_eq(tk_service_metric(&t.s,
			     "soul_requests_total{route=\"filter\","
			     "code=\"invalid_request\"}"),
	    8);
	tk_response_free(&r);
	worker_test_stop(&t);
}
