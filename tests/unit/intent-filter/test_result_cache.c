/*
 * Results of repeated commands: what their keys contain, how they are stored,
 * and what is written anew in a reply.
 */
#include <pthread.h>
#include <stdio.h>

#include "core/arena.h"
#include "core/buf.h"
#include "core/mem.h"
#include "result/result_cache.h"
#include "testkit/testkit.h"
#include "wire/wire.h"

#define CATALOG "[{\"id\":\"a\",\"name\":\"]}\\\"\"},{\"id\":\"b\"}]"
#define OTHER   "[{\"id\":\"c\"}]"
#define NOW     "\"now\":\"2026-02-22T17:40:00+08:00\""
#define CACHE   ((size_t)1 << 20)

/* ---- keys ---- */

struct key_test {
	struct catalog_cache *catalogs;
	struct catalog_finder finder;
	struct arena *a;
	struct catalog_source src;
	struct result_key key;
};

static void
key_test_put(struct key_test *t, enum catalog_key_kind kind, const char *text)
{
	struct catalog *made;
	struct wire_err err;

	ck_assert_int_eq(
	    catalog_new(STR("[{\"id\":\"x\"}]"), &made, &err), RC_OK);
	catalog_cache_put(
	    t->catalogs, (struct catalog_key){ kind, str_of(text) }, made);
}

static void
key_test_start(struct key_test *t)
{
	*t = (struct key_test){ .catalogs = catalog_cache_new(CACHE, NULL),
		.a = arena_new(WIRE_ARENA_MAX) };
	t->finder = (struct catalog_finder){ .cache = t->catalogs,
		.find = catalog_cache_borrow,
		.give_back = catalog_cache_return };
	key_test_put(t, CATALOG_BY_TEXT, CATALOG);
	key_test_put(t, CATALOG_BY_TEXT, OTHER);
	key_test_put(t, CATALOG_BY_HASH, "h");
	key_test_put(t, CATALOG_BY_HASH, "h2");
}

static void
key_test_end(struct key_test *t)
{
	catalog_cache_free(t->catalogs);
	arena_free(t->a);
}

static enum rc
key_test_read(struct key_test *t, const char *request)
{
	enum rc rc = result_key_read(
	    str_of(request), &t->finder, t->a, &t->src, &t->key);

	if (t->src.catalog != NULL) {
		ck_assert_int_eq(rc, RC_OK);
		catalog_cache_return(t->catalogs, t->src.catalog);
	}
	return rc;
}

static struct str
key_test_text(struct key_test *t, const char *request)
{
	ck_assert_msg(key_test_read(t, request) == RC_OK, "%s", request);
	return t->key.text;
}

#define ONE "{\"command\":\"x\",\"intent_catalog\":" CATALOG "}"

/* Requests that differ, and so do their keys. */
static const char *const different[] = {
	ONE,
	"{\"command\":\"x\",\"intent_catalog\":" OTHER "}",
	"{\"command\":\"y\",\"intent_catalog\":" CATALOG "}",
	"{\"command\":\"x\",\"intent_catalog\":" CATALOG ",\"locale\":\"en\"}",
	"{\"command\":\"x\",\"intent_catalog\":" CATALOG
	",\"timezone\":\"Asia/Tokyo\"}",
	"{\"command\":\"x\",\"intent_catalog\":" CATALOG
	",\"options\":{\"max_intents\":1}}",
	"{\"command\":\"x\",\"intent_catalog\":" CATALOG
	",\"skills\":[{\"name\":\"s\"}]}",
	"{\"command\":\"x\",\"intent_catalog\":" CATALOG
	",\"skills\":[{\"name\":\"t\"}]}",
	"{\"command\":\"x\",\"catalog_ref\":{\"terminal_id\":\"t\","
	"\"hash\":\"h\"}}",
	"{\"command\":\"x\",\"catalog_ref\":{\"terminal_id\":\"u\","
	"\"hash\":\"h\"}}",
	"{\"command\":\"x\",\"catalog_ref\":{\"terminal_id\":\"t\","
	"\"hash\":\"h2\"}}",
	/* Given or made: the reply has another request_id. */
	"{\"command\":\"x\",\"intent_catalog\":" CATALOG
	",\"request_id\":\"r\"}",
	"{\"command\":\"x\",\"intent_catalog\":" CATALOG
	",\"request_id\":null}",
	"{\"command\":\"x\",\"intent_catalog\":" CATALOG "," NOW "}",
	/* The names of the members that are left out, where they are not. */
	"{\"command\":\"request_id\",\"intent_catalog\":" CATALOG "}",
	"{\"command\":\"x\",\"intent_catalog\":" CATALOG
	",\"options\":{\"request_id\":\"r\"}}",
	"{\"command\":\"x\",\"intent_catalog\":" CATALOG
	",\"options\":{\"request_id\":\"s\"}}",
};

TEST(requests_that_differ_have_other_keys)
{
	struct str keys[NELEM(different)];
	struct key_test t;

	key_test_start(&t);
	for (size_t i = 0; i < NELEM(different); i++) {
		keys[i] = key_test_text(&t, different[i]);
		for (size_t k = 0; k < i; k++)
			ck_assert_msg(!str_eq(keys[i], keys[k]), "%s\n%s",
			    different[i], different[k]);
	}
	key_test_end(&t);
}

TEST(request_id_and_now_are_not_in_the_key)
{
	struct key_test t;
	struct str one, first;

	key_test_start(&t);
	one = key_test_text(&t,
	    "{\"request_id\":\"r /<\",\"intent_catalog\":" CATALOG
	    ",\"now\" : \"2026-02-22T17:40:00Z\" ,\"command\":\"x\"}");
	ck_assert(str_eq(t.key.request_id, STR("r /<")));
	ck_assert_int_eq(t.key.now.ms, INT64_C(1771782000000));
	first = t.key.text_and_now;
	ck_assert(str_eq(one,
	    key_test_text(&t,
		"{\"request_id\":\"other\",\"intent_catalog\":" CATALOG
		",\"now\" : \"2027-02-22T17:40:00Z\" ,\"command\":\"x\"}")));
	ck_assert(str_eq(t.key.request_id, STR("other")));
	ck_assert(!str_eq(first, t.key.text_and_now));
	ck_assert(!str_eq(one, t.key.text_and_now));
	(void)key_test_text(&t, ONE);
	ck_assert_ptr_null(t.key.request_id.p);
	ck_assert_ptr_null(t.key.text_and_now.p);
	key_test_end(&t);
}

TEST(a_catalog_that_is_replaced_has_another_key)
{
	struct key_test t;
	struct str one;

	key_test_start(&t);
	one = key_test_text(&t, ONE);
	ck_assert(str_eq(one, key_test_text(&t, ONE)));
	key_test_put(&t, CATALOG_BY_TEXT, CATALOG);
	ck_assert(!str_eq(one, key_test_text(&t, ONE)));
	key_test_end(&t);
}

/* Some of them are valid: they are matched each time. */
static const char *const unusual[] = {
	"",
	"{}",
	"[]",
	"7",
	CATALOG,
	"{\"command\":\"x\"}",
	"{\"command\":\"x\",\"intent_catalog\":null}",
	"{\"command\":\"x\",\"intent_catalog\":" CATALOG,
	"{\"command\":\"x\",\"intent_catalog\":" CATALOG "} x",
	"{\"command\":\"x\",\"intent_catalog\":" CATALOG
	",\"intent_catalog\":" CATALOG "}",
	"{\"command\":\"x\",\"intent_catalog\":" CATALOG
	",\"intent\\u005fcatalog\":" CATALOG "}",
	"{\"command\":\"x\",\"intent_catalog\":" CATALOG
	",\"request\\u005fid\":\"r\"}",
	"{\"command\":\"x\",\"intent_catalog\":" CATALOG
	",\"request_id\":\"r\",\"request_id\":\"r\"}",
	"{\"command\":\"x\",\"intent_catalog\":" CATALOG
	",\"request_id\":\"\"}",
	"{\"command\":\"x\",\"intent_catalog\":" CATALOG
	",\"request_id\":\"\\u0041\"}",
	"{\"command\":\"x\",\"intent_catalog\":" CATALOG
	",\"request_id\":\"灯\"}",
	"{\"command\":\"x\",\"intent_catalog\":" CATALOG
	",\"request_id\":\"\x7f\"}",
	"{\"command\":\"x\",\"intent_catalog\":" CATALOG ",\"now\":\"\"}",
	"{\"command\":\"x\",\"intent_catalog\":" CATALOG
	",\"now\":\"2026-02-22\"}",
	"{\"command\":\"x\",\"intent_catalog\":" CATALOG "," NOW "," NOW "}",
	"{\"command\":\"x\",\"intent_catalog\":" CATALOG
	",\"catalog_ref\":{\"terminal_id\":\"t\",\"hash\":\"h\"}}",
	"{\"command\":\"x\",\"catalog_ref\":{\"terminal_id\":\"t\"}}",
	"{\"command\":\"x\",\"catalog_ref\":{\"terminal_id\":\"t\","
	"\"hash\":\"unknown\"}}",
	"{\"command\":\"x\",\"catalog_ref\":{\"terminal_id\":\"t\","
	"\"hash\":\"h\",\"hash\":\"h\"}}",
	"{\"command\":\"x\",\"catalog_ref\":{\"terminal_id\":\"t\","
	"\"h\\u0061sh\":\"h\"}}",
	"{\"command\":\"x\",\"catalog_ref\":{\"terminal_id\":\"t\","
	"\"hash\":\"h\"},\"catalog_ref\":{\"hash\":\"h\"}}",
};

TEST(unusual_requests_have_no_key)
{
	struct str long_id;
	struct key_test t;

	key_test_start(&t);
	for (size_t i = 0; i < NELEM(unusual); i++) {
		ck_assert_msg(key_test_read(&t, unusual[i]) == RC_NOENT, "%s",
		    unusual[i]);
		ck_assert_ptr_null(t.src.json.p);
	}
	for (int n = 128; n <= 129; n++) {
		long_id = arena_printf(t.a,
		    "{\"command\":\"x\",\"request_id\":\"%0*d\","
		    "\"intent_catalog\":" CATALOG "}",
		    n, 7);
		ck_assert_int_eq(
		    key_test_read(&t, long_id.p), n == 128 ? RC_OK : RC_NOENT);
	}
	/* More beside the catalog than is looked at. */
	long_id = arena_printf(t.a,
	    "{\"command\":\"%0*d\",\"intent_catalog\":" CATALOG "}",
	    (int)CATALOG_REST_MAX, 7);
	ck_assert_int_eq(key_test_read(&t, long_id.p), RC_NOENT);
	key_test_end(&t);
}

TEST(a_catalog_that_is_not_cached_is_reported)
{
	struct key_test t;

	key_test_start(&t);
	ck_assert_int_eq(
	    key_test_read(
		&t, "{\"command\":\"x\",\"intent_catalog\":[{\"id\":\"d\"}]}"),
	    RC_CONFLICT);
	ck_assert(str_eq(t.src.json, STR("[{\"id\":\"d\"}]")));
	ck_assert_ptr_null(t.src.catalog);
	key_test_end(&t);
}

/* ---- replies ---- */

#define REPLY(id, latency, now)                                               \
	"{\"request_id\":\"" id "\",\"decision\":{\"now\":\"\\\"meta\\\"\"}," \
	"\"intents\":[{\"request_id\":\"r\",\"meta\":{\"now\":1}}],"          \
	"\"meta\":{\"latency_ms\":" latency ",\"segment_count\":1,"           \
	"\"now\":\"" now "\",\"unmatched\":[{\"latency_ms\":2}]}}"

TEST(a_reply_is_filled_with_new_values)
{
	struct reply_values v = { STR("other /"), 0.25, STR("tomorrow") };
	struct buf out = BUF_INIT(1 << 16);
	struct arena *a = arena_new(1 << 16);
	struct reply_template t;

	ck_assert_int_eq(
	    reply_template_make(STR(REPLY("r", "0.017", "today")), a, &t),
	    RC_OK);
	reply_template_fill(&t, &v, &out);
	ck_assert_str_eq(buf_str(&out).p, REPLY("other /", "0.25", "tomorrow"));
	buf_free(&out);
	arena_free(a);
}

static const char *const no_replies[] = {
	"",
	"{}",
	"{\"request_id\":\"r\",\"meta\":{\"now\":\"n\"}}",
	"{\"request_id\":\"r\",\"meta\":{\"now\":\"n\",\"latency_ms\":1}}",
	"{\"meta\":{\"latency_ms\":1,\"now\":\"n\"},\"request_id\":\"r\"}",
	"{\"meta\":{\"latency_ms\":1,\"now\":\"n\"}}",
	"{\"request_id\":\"r\",\"request_id\":\"r\","
	"\"meta\":{\"latency_ms\":1,\"now\":\"n\"}}",
	"{\"request_id\":\"r\",\"meta\":7}",
};

TEST(other_replies_have_no_template)
{
	struct arena *a = arena_new(1 << 16);
	struct reply_template t;

	for (size_t i = 0; i < NELEM(no_replies); i++)
		ck_assert_msg(reply_template_make(
				  str_of(no_replies[i]), a, &t) == RC_INVALID,
		    "%s", no_replies[i]);
	arena_free(a);
	a = arena_new(16);
	ck_assert_int_eq(
	    reply_template_make(STR(REPLY("r", "1", "today")), a, &t),
	    RC_TOOBIG);
	arena_free(a);
}

/* ---- the cache ---- */

static struct result
cache_result(const char *text)
{
	return (struct result){ .reply = { .text = str_of(text),
				    .request_id_at = 1,
				    .latency_at = 2,
				    .now_at = 3 },
		.zone = STR("Asia/Shanghai") };
}

static bool
cache_has(struct result_cache *c, const char *text, const char *with_now,
    const char *expected)
{
	struct result_key key = { .text = str_of(text),
		.text_and_now = str_of(with_now) };
	struct arena *a = arena_new(1 << 16);
	struct result r;
	bool has = result_cache_get(c, &key, a, &r);

	if (has) {
		ck_assert(str_eq(r.reply.text, str_of(expected)));
		ck_assert(str_eq(r.zone, STR("Asia/Shanghai")));
		ck_assert_uint_eq(r.reply.now_at, 3);
	}
	arena_free(a);
	return has;
}

TEST(a_result_is_found_by_its_key)
{
	struct result_cache *c = result_cache_new(CACHE, NULL);
	struct result r = cache_result("reply"), s = cache_result("then");

	ck_assert(!cache_has(c, "key", NULL, ""));
	result_cache_put(c, STR("key"), &r);
	result_cache_put(c, STR("key then"), &s);
	ck_assert(cache_has(c, "key", NULL, "reply"));
	ck_assert(cache_has(c, "key", "key now", "reply"));
	ck_assert(cache_has(c, "none", "key then", "then"));
	ck_assert(!cache_has(c, "none", "key now", ""));
	ck_assert(!cache_has(c, "ke", "keys", ""));
	/* The first stays: both are the same. */
	result_cache_put(c, STR("key"), &s);
	ck_assert(cache_has(c, "key", NULL, "reply"));
	result_cache_free(c);
}

TEST(only_repeated_keys_are_admitted)
{
	struct result_cache *c = result_cache_new(CACHE, NULL);
	char key[32];

	ck_assert(!result_cache_admit(c, STR("key")));
	ck_assert(result_cache_admit(c, STR("key")));
	ck_assert(result_cache_admit(c, STR("key")));
	/* Forgotten after far more than are remembered. */
	for (int i = 0; i < 200000; i++) {
		snprintf(key, sizeof(key), "%d", i);
		ck_assert(!result_cache_admit(c, str_of(key)));
	}
	ck_assert(!result_cache_admit(c, STR("key")));
	result_cache_free(c);
}

TEST(the_least_recently_used_leave_first)
{
	struct result_cache *c = result_cache_new(16384, NULL);
	struct result r = cache_result("reply");
	char key[32];
	int i, n = 0;

	result_cache_put(c, STR("first"), &r);
	for (i = 0; i < 1000; i++) {
		snprintf(key, sizeof(key), "%d", i);
		result_cache_put(c, str_of(key), &r);
		ck_assert_uint_le(result_cache_bytes(c), 16384);
		ck_assert(cache_has(c, "first", NULL, "reply"));
	}
	for (i = 0; i < 1000; i++) {
		snprintf(key, sizeof(key), "%d", i);
		n += cache_has(c, key, NULL, "reply");
		ck_assert(n > 0 || i < 999);
	}
	ck_assert_int_gt(n, 10);
	ck_assert_int_lt(n, 150);
	result_cache_free(c);
}

TEST(what_is_too_large_is_not_stored)
{
	struct result_cache *c = result_cache_new(CACHE, NULL);
	struct arena *a = arena_new(CACHE);
	struct result r;

	r = cache_result(arena_printf(a, "%0*d", (int)RESULT_MAX, 1).p);
	result_cache_put(c, STR("fits"), &r);
	ck_assert_uint_gt(result_cache_bytes(c), RESULT_MAX);
	ck_assert_uint_lt(result_cache_bytes(c), 2 * RESULT_MAX);
	r = cache_result(arena_printf(a, "%0*d", (int)RESULT_MAX + 1, 1).p);
	result_cache_put(c, STR("large"), &r);
	ck_assert(!cache_has(c, "large", NULL, ""));
	result_cache_free(c);
	/* With a limit that is below that of one, nothing is stored. */
	c = result_cache_new(100, NULL);
	r = cache_result("reply");
	result_cache_put(c, STR("key"), &r);
	ck_assert_uint_eq(result_cache_bytes(c), 0);
	result_cache_free(c);
	arena_free(a);
}

#define THREADS 4
#define ROUNDS  2000
#define TEXTS   40

static void *
cache_use(void *arg)
{
	struct result_cache *c = arg;
	struct arena *a = arena_new(1 << 16);
	struct result r;
	char text[32];

	for (int i = 0; i < ROUNDS; i++) {
		struct result_key key = { .text = { NULL, 0 } };

		snprintf(text, sizeof(text), "%d", i * 7 % TEXTS);
		key.text = str_of(text);
		if (result_cache_get(c, &key, a, &r)) {
			if (!str_eq(r.reply.text, key.text))
				return c;
		} else if (result_cache_admit(c, key.text)) {
			r = cache_result(text);
			result_cache_put(c, key.text, &r);
		}
		arena_reset(a);
	}
	arena_free(a);
	return NULL;
}

TEST(threads_share_it_while_results_are_dropped)
{
	/* About half of the texts. */
	struct result_cache *c = result_cache_new(4096, NULL);
	pthread_t threads[THREADS];
	void *wrong;

	for (int i = 0; i < THREADS; i++)
		ck_assert_int_eq(
		    pthread_create(&threads[i], NULL, cache_use, c), 0);
	for (int i = 0; i < THREADS; i++) {
		ck_assert_int_eq(pthread_join(threads[i], &wrong), 0);
		ck_assert_ptr_null(wrong);
	}
	ck_assert_uint_gt(result_cache_bytes(c), 1024);
	ck_assert_uint_le(result_cache_bytes(c), 4096);
	result_cache_free(c);
}
