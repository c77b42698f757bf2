/*
 * Requests that repeat a catalog: it is decoded for the first of them only, and
 * nothing else is different.
 */
#include <signal.h>
#include <stdio.h>

#include "core/buf.h"
#include "core/mem.h"
#include "testkit/intent_filter_load.h"
#include "testkit/testkit.h"
#include "wire/wire.h"

#define PATH    "/v1/intents/filter"
#define CATALOG "[{\"id\":\"light\",\"match\":{\"keywords_any\":[\"开灯\"]}}]"

/* Under a sanitizer a larger one is not compiled within the deadline. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define INTENTS_MANY 200
#else
#define INTENTS_MANY 1000
#endif

struct repeat_test {
	struct tk_server nats;
	struct filter_fixture r;
	natsConnection *nc;
};

static void
repeat_test_start(struct repeat_test *t)
{
	memset(t, 0, sizeof(*t));
	tk_server_start(&t->nats, TK_NATS);
	filter_fixture_start(&t->r, "filter", t->nats.url);
	t->nc = filter_fixture_nats(t->nats.url);
	ck_assert_ptr_nonnull(t->nc);
}

static void
repeat_test_stop(struct repeat_test *t)
{
	natsConnection_Destroy(t->nc);
	nats_Close();
	tk_service_end(&t->r.s);
	tk_server_stop(&t->nats, SIGTERM);
}

struct repeat_counts {
	long long decodes, hits, misses;
};

static void
repeat_test_counts(const struct repeat_test *t, struct repeat_counts c)
{
	const struct tk_service *s = &t->r.s;

	ck_assert_int_eq(
	    tk_service_metric(s, "soul_intent_catalog_decodes_total"),
	    c.decodes);
	ck_assert_int_eq(
	    tk_service_metric(s, "soul_intent_catalog_hits_total"), c.hits);
	ck_assert_int_eq(
	    tk_service_metric(s, "soul_intent_catalog_misses_total"), c.misses);
}

/* The response without what is new in each. */
static char *
repeat_response(const char *body)
{
	json_t *r = filter_fixture_json(body);
	char *text;

	json_object_del(r, "request_id");
	json_object_del(json_object_get(r, "meta"), "latency_ms");
	json_object_del(json_object_get(r, "meta"), "now");
	json_object_del(r, "trace_id");
	text = json_dumps(r, JSON_COMPACT | JSON_SORT_KEYS);
	json_decref(r);
	return text;
}

/* Sends it once in each way; both responses must be expected, if not NULL. */
static char *
repeat_test_send(struct repeat_test *t, const char *request, char *expected)
{
	struct filter_response a =
	    filter_fixture_http(t->r.s.http, PATH, request);
	natsMsg *m = NULL;
	char *http = repeat_response(a.body), *nats;

	ck_assert_int_eq(natsConnection_RequestString(
			     &m, t->nc, FILTER_FIXTURE_SUBJECT, request, 10000),
	    NATS_OK);
	nats = repeat_response(natsMsg_GetData(m));
	ck_assert_str_eq(http, nats);
	if (expected != NULL)
		ck_assert_str_eq(http, expected);
	natsMsg_Destroy(m);
	filter_response_free(&a);
	free(expected);
	free(nats);
	return http;
}

TEST_T(a_repeated_catalog_is_decoded_for_its_first_request_only, 60)
{
	static const size_t sizes[] = { 3, 100, INTENTS_MANY };
	struct repeat_counts c = { 0, 0, 0 };
	struct repeat_test t;

	repeat_test_start(&t);
	for (size_t i = 0; i < NELEM(sizes); i++) {
		char *request = filter_load_request(sizes[i], true);
		char *first = repeat_test_send(&t, request, NULL);

		ck_assert_ptr_nonnull(strstr(first, "execute_intents"));
		c.decodes++;
		c.misses++;
		c.hits++;
		repeat_test_counts(&t, c);
		for (int n = 0; n < 3; n++) {
			first = repeat_test_send(&t, request, first);
			c.hits += 2;
		}
		repeat_test_counts(&t, c);
		free(first);
		free(request);
	}
	/* They are found beside each other, with another command, too. */
	for (size_t i = 0; i < NELEM(sizes); i++) {
		char *request = filter_load_request(sizes[i], false);

		free(repeat_test_send(&t, request, NULL));
		c.hits += 2;
		free(request);
	}
	repeat_test_counts(&t, c);
	repeat_test_stop(&t);
}

/* What is beside a catalog that is cached, or is no catalog that is. */
static const char *const bad_requests[] = {
	"{\"intent_catalog\":" CATALOG "}",
	"{\"command\":\"\",\"intent_catalog\":" CATALOG "}",
	"{\"command\":7,\"intent_catalog\":" CATALOG "}",
	"{\"command\":\"开灯\",\"intent_catalog\":" CATALOG
	",\"options\":{\"max_intents\":33}}",
	"{\"command\":\"开灯\",\"intent_catalog\":" CATALOG
	",\"skills\":[{\"name\":\"a\"},{\"name\":1}]}",
	"{\"command\":\"开灯\",\"intent_catalog\":" CATALOG
	",\"timezone\":\"Mars\"}",
	"{\"command\":\"开灯\",\"intent_catalog\":" CATALOG
	",\"catalog_ref\":{\"terminal_id\":\"t\",\"hash\":\"h\"}}",
	"{\"command\":\"开灯\",\"intent_catalog\":" CATALOG
	",\"intent_catalog\":" CATALOG "}",
	"{\"command\":\"开灯\",\"intent_catalog\":" CATALOG "]}",
	"{\"command\":\"开灯\",\"intent_catalog\":" CATALOG "} x",
	"{\"command\":\"开灯\",\"intent_catalog\":" CATALOG,
	"{\"command\":\"\xff\",\"intent_catalog\":" CATALOG "}",
	"{\"command\":\"开灯\",\"intent_catalog\":[" CATALOG "]}",
	"{\"command\":\"开灯\",\"intent_catalog\":[{\"id\":\"a\"},"
	"{\"id\":\"b\"},{\"id\":\"c\"},{\"id\":\"d\",\"match\":"
	"{\"regex_any\":[\"(\"]}}]}",
	"{\"command\":\"开灯\",\"intent_catalog\":[{\"id\":\"a\"},"
	"{\"id\":\"b\",\"match\":{\"keywords_any\":[1]}}]}",
};

TEST_T(errors_are_the_same_beside_a_cached_catalog, 60)
{
	char *errors[NELEM(bad_requests)];
	struct repeat_test t;

	repeat_test_start(&t);
	for (size_t i = 0; i < NELEM(bad_requests); i++) {
		errors[i] = repeat_test_send(&t, bad_requests[i], NULL);
		ck_assert_ptr_nonnull(strstr(errors[i], "\"error\":"));
	}
	ck_assert_ptr_nonnull(strstr(errors[0], "/command: is missing"));
	ck_assert_ptr_nonnull(
	    strstr(errors[13], "/intent_catalog/3/match/regex_any/0: "));
	free(repeat_test_send(
	    &t, "{\"command\":\"开灯\",\"intent_catalog\":" CATALOG "}", NULL));
	for (size_t i = 0; i < NELEM(bad_requests); i++)
		free(repeat_test_send(&t, bad_requests[i], errors[i]));
	repeat_test_stop(&t);
}

/* New catalogs are decoded, and the cache stays within its limit. */
TEST_T(ever_new_catalogs_stay_within_the_limit, 60)
{
	struct buf b = BUF_INIT(WIRE_MESSAGE_MAX);
	struct repeat_test t;

	repeat_test_start(&t);
	/* White space would make a text far larger than its catalog. */
	for (int i = 0; i < 80; i++) {
		struct filter_response a;

		buf_reset(&b);
		buf_printf(&b,
		    "{\"command\":\"x\",\"intent_catalog\":"
		    "[%*c\"id\":\"%d\"}]}",
		    1000000, '{', i);
		a = filter_fixture_http(t.r.s.http, PATH, buf_str(&b).p);
		ck_assert_int_eq(a.status, 200);
		filter_response_free(&a);
	}
	ck_assert_int_le(
	    tk_service_metric(&t.r.s, "soul_intent_catalog_cache_bytes"),
	    64 * 1024 * 1024);
	ck_assert_int_ge(
	    tk_service_metric(&t.r.s, "soul_intent_catalog_cache_bytes"),
	    60 * 1000 * 1000);
	repeat_test_counts(&t, (struct repeat_counts){ 80, 0, 80 });
	buf_free(&b);
	repeat_test_stop(&t);
}
