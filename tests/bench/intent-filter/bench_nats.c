/*
 * Latency over NATS, one request at a time: with the catalog, and with a
 * reference to it.
 */
#include <signal.h>

#include "core/clock.h"
#include "core/mem.h"
#include "testkit/intent_filter_load.h"
#include "testkit/testkit.h"

#define REQUESTS 2000
#define MS_MAX   1000

static int
row_cmp(const void *a, const void *b)
{
	const int64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

struct row {
	struct filter_load *load;
	struct mono start;
	int64_t ns[REQUESTS];
	size_t n;
	int64_t until_ns;
};

static void row_send(struct row *r);

static void
row_on_reply(void *arg, enum rc rc, struct str data)
{
	struct row *r = arg;
	struct mono now = clock_mono();

	if (rc != RC_OK || strstr(data.p, "execute_intents") == NULL)
		abort();
	r->ns[r->n++] = mono_diff_ns(now, r->start);
	if (r->n < REQUESTS && now.ns < r->until_ns)
		row_send(r);
	else
		loop_stop(r->load->loop);
}

static void
row_send(struct row *r)
{
	struct bus_meta meta = { .deadline.ms =
				     clock_wall().ms + FILTER_LOAD_MS };

	r->start = clock_mono();
	if (bus_request(r->load->bus, FILTER_FIXTURE_SUBJECT,
		r->load->request_text, &meta,
		(struct bus_reply_handler){ .fn = row_on_reply, .arg = r },
		NULL) != RC_OK)
		abort();
}

static void
row_measure(
    struct filter_load *a, const char *what, size_t intents, const char *text)
{
	struct row *r = mem_zalloc(sizeof(*r));

	r->load = a;
	a->request_text = str_of(text);
	/* The first request compiles it. */
	row_send(r);
	loop_run(a->loop);
	r->n = 0;
	r->until_ns = mono_add_ms(clock_mono(), MS_MAX).ns;
	row_send(r);
	loop_run(a->loop);
	qsort(r->ns, r->n, sizeof(r->ns[0]), row_cmp);
	printf("%5zu  %-8s %7zu bytes %9.1f us p50 %9.1f us p99\n", intents,
	    what, strlen(text), (double)r->ns[r->n / 2] / 1e3,
	    (double)r->ns[r->n - 1 - r->n / 100] / 1e3);
	free(r);
}

static bool
bench_is_connected(void *arg)
{
	struct filter_fixture *r = arg;
	struct filter_response a =
	    filter_fixture_http(r->s.http, "/v1/intents/filter",
		"{\"command\":\"x\",\"catalog_ref\":{\"terminal_id\":\"t0\","
		"\"hash\":\"h\"}}");
	bool is = a.status == 404;

	filter_response_free(&a);
	return is;
}

TEST_T(sent_and_referenced_catalogs, 120)
{
	static const size_t sizes[] = { 3, 100, 1000 };
	struct tk_server nats, redis;
	struct filter_fixture r = { 0 };
	struct filter_load load;

	tk_server_start(&nats, TK_NATS);
	tk_server_start(&redis, TK_REDIS);
	r.redis = redis.url;
	filter_fixture_start(&r, "filter", nats.url);
	filter_load_start(&load, nats.url, redis.url);
	ck_assert(tk_until(bench_is_connected, &r, FILTER_LOAD_MS));
	for (size_t i = 0; i < NELEM(sizes); i++) {
		char *text = filter_load_request(sizes[i], true), hash[16];
		json_t *j = filter_fixture_json(text);
		char *catalog = json_dumps(
		    json_object_get(j, "intent_catalog"), JSON_COMPACT);

		snprintf(hash, sizeof(hash), "h%zu", i);
		filter_load_put_record(&load, catalog, hash);
		row_measure(&load, "sent", sizes[i], text);
		free(text);
		json_object_del(j, "intent_catalog");
		json_object_set_new(j, "catalog_ref",
		    json_pack("{s:s,s:s}", "terminal_id", "t1", "hash", hash));
		text = json_dumps(j, JSON_COMPACT);
		row_measure(&load, "by hash", sizes[i], text);
		free(text);
		free(catalog);
		json_decref(j);
	}
	filter_load_stop(&load);
	tk_service_end(&r.s);
	tk_server_stop(&redis, SIGTERM);
	tk_server_stop(&nats, SIGTERM);
}
