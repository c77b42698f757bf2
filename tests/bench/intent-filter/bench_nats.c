/*
 * A command over NATS, one at a time: its catalog carried, and named.
 */
#include <signal.h>

#include "core/mem.h"
#include "integration/intent-filter/asking.h"
#include "requests.h"

#define QUESTIONS 2000
#define MS_MAX    1000

static int
by_size(const void *a, const void *b)
{
	const int64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

struct row {
	struct asking *asking;
	struct mono start;
	int64_t ns[QUESTIONS];
	size_t n;
	int64_t until_ns;
};

static void ask(struct row *r);

static void
answered(void *arg, enum rc rc, struct str data)
{
	struct row *r = arg;
	struct mono now = clock_mono();

	if (rc != RC_OK || strstr(data.p, "execute_intents") == NULL)
		abort();
	r->ns[r->n++] = mono_diff_ns(now, r->start);
	if (r->n < QUESTIONS && now.ns < r->until_ns)
		ask(r);
	else
		loop_stop(r->asking->loop);
}

static void
ask(struct row *r)
{
	struct bus_meta meta = { .deadline.ms = clock_wall().ms + ASKING_MS };

	r->start = clock_mono();
	if (bus_request(r->asking->bus, FILTER_SUBJECT, r->asking->question,
		&meta, (struct bus_reply_handler){ .fn = answered, .arg = r },
		NULL) != RC_OK)
		abort();
}

static void
measure(struct asking *a, const char *what, size_t intents, const char *text)
{
	struct row *r = mem_zalloc(sizeof(*r));

	r->asking = a;
	a->question = str_of(text);
	/* The first has it compiled. */
	ask(r);
	loop_run(a->loop);
	r->n = 0;
	r->until_ns = mono_add_ms(clock_mono(), MS_MAX).ns;
	ask(r);
	loop_run(a->loop);
	qsort(r->ns, r->n, sizeof(r->ns[0]), by_size);
	printf("%5zu  %-8s %7zu bytes %9.1f us p50 %9.1f us p99\n", intents,
	    what, strlen(text), (double)r->ns[r->n / 2] / 1e3,
	    (double)r->ns[r->n - 1 - r->n / 100] / 1e3);
	free(r);
}

static bool
is_connected(void *arg)
{
	struct running *r = arg;
	struct answer a = http(r->s.http, "/v1/intents/filter",
	    "{\"command\":\"x\",\"catalog_ref\":{\"terminal_id\":\"t0\","
	    "\"hash\":\"h\"}}");
	bool is = a.status == 404;

	answer_free(&a);
	return is;
}

TEST_T(carried_and_named, 120)
{
	static const size_t sizes[] = { 3, 100, 1000 };
	struct tk_server nats, redis;
	struct running r = { 0 };
	struct asking asking;

	tk_server_start(&nats, TK_NATS);
	tk_server_start(&redis, TK_REDIS);
	r.redis = redis.url;
	running_start(&r, "filter", nats.url);
	asking_start(&asking, nats.url, redis.url);
	ck_assert(tk_until(is_connected, &r, ASKING_MS));
	for (size_t i = 0; i < NELEM(sizes); i++) {
		char *text = request(sizes[i], true), hash[16];
		json_t *j = case_json(text);
		char *catalog = json_dumps(
		    json_object_get(j, "intent_catalog"), JSON_COMPACT);

		snprintf(hash, sizeof(hash), "h%zu", i);
		asking_record(&asking, catalog, hash);
		measure(&asking, "carried", sizes[i], text);
		free(text);
		json_object_del(j, "intent_catalog");
		json_object_set_new(j, "catalog_ref",
		    json_pack("{s:s,s:s}", "terminal_id", "t1", "hash", hash));
		text = json_dumps(j, JSON_COMPACT);
		measure(&asking, "named", sizes[i], text);
		free(text);
		free(catalog);
		json_decref(j);
	}
	asking_stop(&asking);
	tk_service_end(&r.s);
	tk_server_stop(&redis, SIGTERM);
	tk_server_stop(&nats, SIGTERM);
}
