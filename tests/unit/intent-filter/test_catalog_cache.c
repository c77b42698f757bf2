/*
 * The cache of compiled catalogs: keys and memory limit.
 */
#include <stdio.h>

#include "catalog/catalog_cache.h"
#include "core/arena.h"
#include "core/buf.h"
#include "core/map.h"
#include "core/mem.h"
#include "core/metric.h"
#include "testkit/testkit.h"
#include "wire/wire.h"

struct cache_test {
	struct metric_set *metrics;
	struct catalog_cache *cache;
	struct arena *a;
};

static void
cache_test_start(struct cache_test *r, size_t max_bytes)
{
	r->metrics = metric_set_new();
	r->cache = catalog_cache_new(max_bytes, r->metrics);
	r->a = arena_new(WIRE_ARENA_MAX);
}

static void
cache_test_end(struct cache_test *r)
{
	catalog_cache_free(r->cache);
	metric_set_free(r->metrics);
	arena_free(r->a);
}

static int64_t
cache_test_hits(struct cache_test *r)
{
	return metric_value(metric_counter(
	    r->metrics, "soul_intent_catalog_hits_total", "", NULL));
}

static int64_t
cache_test_bytes(struct cache_test *r)
{
	return metric_value(metric_gauge(
	    r->metrics, "soul_intent_catalog_cache_bytes", "", NULL));
}

/* By text: found, or compiled and added. */
static enum rc
cache_test_get(struct cache_test *r, const char *json,
    const struct catalog **cat, struct wire_err *err)
{
	struct wire_intent_catalog_report m;
	struct catalog *made;
	struct catalog_key key = { CATALOG_BY_TEXT, str_of(json) };
	enum rc rc;

	arena_reset(r->a);
	ck_assert_int_eq(wire_decode(&wire_intent_catalog_report_desc,
			     str_of(json), r->a, &m, err),
	    RC_OK);
	*cat = catalog_cache_find(r->cache, key);
	if (*cat != NULL)
		return RC_OK;
	rc = catalog_compile(m.intent_catalog, m.n_intent_catalog, &made, err);
	if (rc == RC_OK) {
		catalog_cache_put(r->cache, key, made);
		*cat = made;
	}
	return rc;
}

static const struct catalog *
cache_test_get_ok(struct cache_test *r, const char *json)
{
	const struct catalog *cat = NULL;
	struct wire_err err = { "", "" };
	enum rc rc = cache_test_get(r, json, &cat, &err);

	ck_assert_msg(rc == RC_OK, "%s: %s: %s", json, err.path, err.why);
	return cat;
}

TEST(the_text_is_the_key)
{
	struct cache_test r;

	cache_test_start(&r, 1 << 20);
	const struct catalog *first = cache_test_get_ok(
	    &r, "[{\"id\":\"a\",\"match\":{\"keywords_any\":[\"开灯\"]}}]");
	ck_assert_ptr_eq(first,
	    cache_test_get_ok(&r,
		"[{\"id\":\"a\",\"match\":{\"keywords_any\":[\"开灯\"]}}]"));
	ck_assert_int_eq(cache_test_hits(&r), 1);
	/* Another spelling, content, length. */
	ck_assert_ptr_ne(first,
	    cache_test_get_ok(&r,
		"[ {\"id\":\"a\",\"match\":{\"keywords_any\":[\"开灯\"]}}]"));
	ck_assert_ptr_ne(first,
	    cache_test_get_ok(&r,
		"[{\"id\":\"a\",\"match\":{\"keywords_any\":[\"关灯\"]}}]"));
	ck_assert_ptr_ne(first,
	    cache_test_get_ok(&r,
		"[{\"id\":\"a\",\"match\":{\"keywords_all\":[\"开灯\"]}}]"));
	ck_assert_int_eq(cache_test_hits(&r), 1);
	cache_test_end(&r);
}

/* Every bit of a text counts, wherever it is. */
TEST(texts_that_differ_in_one_bit_have_their_own_digests)
{
	struct map *seen = map_new();
	char text[131];
	struct cache_test r;

	cache_test_start(&r, 1 << 20);
	memset(text, 'x', sizeof(text));
	for (size_t n = 1; n <= sizeof(text); n++)
		for (size_t bit = 0; bit < 8 * n; bit++) {
			struct catalog_key key = { CATALOG_BY_TEXT,
				{ text, n } };
			struct digest d;

			text[bit / 8] ^= (char)(1 << bit % 8);
			d = catalog_cache_digest(r.cache, key);
			ck_assert_ptr_null(map_put(seen, digest_str(&d), seen));
			text[bit / 8] ^= (char)(1 << bit % 8);
		}
	map_free(seen);
	cache_test_end(&r);
}

TEST(hashes_never_match_texts)
{
	static const char json[] = "[{\"id\":\"a\"}]";
	struct catalog_key text = { CATALOG_BY_TEXT, STR_INIT(json) };
	struct catalog_key hash = { CATALOG_BY_HASH, STR_INIT(json) };
	struct wire_intent_catalog_report m;
	struct wire_err err;
	struct catalog *made;
	struct cache_test r;

	cache_test_start(&r, 1 << 20);
	ck_assert_int_eq(wire_decode(&wire_intent_catalog_report_desc,
			     str_of(json), r.a, &m, &err),
	    RC_OK);
	ck_assert_int_eq(
	    catalog_compile(m.intent_catalog, m.n_intent_catalog, &made, &err),
	    RC_OK);
	ck_assert_ptr_null(catalog_cache_find(r.cache, hash));
	catalog_cache_put(r.cache, hash, made);
	ck_assert_ptr_eq(catalog_cache_find(r.cache, hash), made);
	ck_assert_ptr_null(catalog_cache_find(r.cache, text));
	ck_assert_ptr_null(catalog_cache_find(
	    r.cache, (struct catalog_key){ CATALOG_BY_HASH, STR("H") }));
	cache_test_end(&r);
}

/* The least recently used are evicted first; the gauge counts the rest. */
TEST(memory_is_limited)
{
	const struct catalog *cat;
	struct wire_err err;
	char json[128];
	int64_t one;
	struct cache_test r;

	cache_test_start(&r, 1 << 20);
	(void)cache_test_get_ok(
	    &r, "[{\"id\":\"c00\",\"match\":{\"regex_any\":[\"a\"]}}]");
	one = cache_test_bytes(&r);
	ck_assert_int_gt(one, 0);
	cache_test_end(&r);

	cache_test_start(&r, (size_t)one * 10 + (size_t)one / 2);
	for (int i = 0; i < 30; i++) {
		snprintf(json, sizeof(json),
		    "[{\"id\":\"c%02d\",\"match\":{\"regex_any\":[\"a\"]}}]",
		    i);
		(void)cache_test_get_ok(&r, json);
		ck_assert_int_le(cache_test_bytes(&r), one * 10 + one / 2);
		/* The first is used constantly, so it stays. */
		int64_t before = cache_test_hits(&r);
		(void)cache_test_get_ok(
		    &r, "[{\"id\":\"c00\",\"match\":{\"regex_any\":[\"a\"]}}]");
		ck_assert_int_eq(cache_test_hits(&r), before + 1);
	}
	ck_assert_int_eq(cache_test_bytes(&r), one * 10);
	int64_t before = cache_test_hits(&r);
	for (int i = 29; i >= 20; i--) {
		snprintf(json, sizeof(json),
		    "[{\"id\":\"c%02d\",\"match\":{\"regex_any\":[\"a\"]}}]",
		    i);
		(void)cache_test_get_ok(&r, json);
	}
	ck_assert_int_eq(cache_test_hits(&r), before + 9);
	ck_assert_int_eq(
	    cache_test_get(&r,
		"[{\"id\":\"x\",\"match\":{\"regex_any\":[\"(\"]}}]", &cat,
		&err),
	    RC_INVALID);
	ck_assert_str_eq(err.path, "/intent_catalog/0/match/regex_any/0");
	cache_test_end(&r);

	/* A catalog over the limit stays until the next one is added. */
	cache_test_start(&r, 1);
	cat = cache_test_get_ok(&r, "[{\"id\":\"a\"}]");
	ck_assert_ptr_eq(cat, cache_test_get_ok(&r, "[{\"id\":\"a\"}]"));
	(void)cache_test_get_ok(&r, "[{\"id\":\"b\"}]");
	ck_assert_int_eq(cache_test_hits(&r), 1);
	cache_test_end(&r);
	catalog_cache_free(NULL);
}

TEST(a_thousand_intents_compile)
{
	struct buf json = BUF_INIT(WIRE_MESSAGE_MAX);
	const struct catalog *cat;
	struct wire_err err;
	struct cache_test r;

	cache_test_start(&r, (size_t)256 << 20);
	for (int i = 0; i < 1000; i++)
		buf_printf(&json,
		    "%c{\"id\":\"room_%d_lamp\",\"name\":\"打开%d号房的灯\","
		    "\"match\":{\"keywords_any\":[\"打开%d号房的大吊灯\","
		    "\"把%d号房的大吊灯打开\",\"%d号房亮一点好不好\","
		    "\"点亮%d号房的大吊灯\"]},\"slots\":[{\"name\":\"level\","
		    "\"regex\":\"%d号房.{0,6}?(\\\\d{1,3})\"}]}",
		    i == 0 ? '[' : ',', i, i, i, i, i, i, i);
	buf_putc(&json, ']');
	ck_assert_int_eq(buf_rc(&json), RC_OK);
	ck_assert_int_eq(
	    cache_test_get(&r, buf_str(&json).p, &cat, &err), RC_OK);
	ck_assert_uint_eq(cat->n, 1000);
	buf_free(&json);
	cache_test_end(&r);
}

TEST(a_borrowed_catalog_outlives_its_eviction)
{
	const struct catalog_key key = { CATALOG_BY_TEXT, STR("[1]") },
				 other = { CATALOG_BY_TEXT, STR("[2]") };
	struct cache_test r;
	struct catalog *made[2];
	const struct catalog *cat, *second;
	struct wire_err err;

	cache_test_start(&r, 1);
	for (size_t i = 0; i < NELEM(made); i++)
		ck_assert_int_eq(
		    catalog_new(STR("{\"intent_catalog\":[{\"id\":\"a\"}]}"),
			&made[i], &err),
		    RC_OK);
	ck_assert_ptr_null(catalog_cache_borrow(r.cache, key));
	catalog_cache_put(r.cache, key, made[0]);
	cat = catalog_cache_borrow(r.cache, key);
	second = catalog_cache_borrow(r.cache, key);
	ck_assert_ptr_eq(cat, made[0]);
	ck_assert_ptr_eq(second, made[0]);
	/* There is room for one. */
	catalog_cache_put(r.cache, other, made[1]);
	ck_assert_ptr_null(catalog_cache_borrow(r.cache, key));
	ck_assert_uint_eq(cat->n, 1);
	catalog_cache_return(r.cache, second);
	ck_assert(str_eq(cat->intents[0].def->id, STR("a")));
	catalog_cache_return(r.cache, cat);
	/* One that is not evicted stays when it is returned. */
	cat = catalog_cache_borrow(r.cache, other);
	catalog_cache_return(r.cache, cat);
	ck_assert_ptr_eq(catalog_cache_find(r.cache, other), cat);
	ck_assert_int_eq(cache_test_hits(&r), 4);
	cache_test_end(&r);
}

/* ---- by what a text begins with ---- */

#define LONG_BYTES 300

static void
cache_test_put(struct cache_test *r, const char *text)
{
	struct catalog *made;
	struct wire_err err;

	ck_assert_int_eq(
	    catalog_new(STR("[{\"id\":\"a\"}]"), &made, &err), RC_OK);
	catalog_cache_put(r->cache,
	    (struct catalog_key){ CATALOG_BY_TEXT, str_of(text) }, made);
}

/* An array whose first bytes are those of all others. */
static const char *
cache_test_long(struct arena *a, const char *end)
{
	char name[LONG_BYTES + 1];

	memset(name, 'x', LONG_BYTES);
	name[LONG_BYTES] = '\0';
	return arena_printf(a, "[{\"id\":\"a\",\"name\":\"%s\"}%s]", name, end)
	    .p;
}

static const struct catalog *
cache_test_start_of(
    struct cache_test *r, const char *text, struct wire_slice_extent *x)
{
	return catalog_cache_find_start(
	    r->cache, arena_printf(r->a, "%s,\"now\":1}", text), x);
}

TEST(a_catalog_is_found_by_what_a_text_begins_with)
{
	struct cache_test r;
	struct wire_slice_extent x = { 0 };
	const struct catalog *cat;

	cache_test_start(&r, 1 << 20);
	const char *one = cache_test_long(r.a, "");
	const char *two = cache_test_long(r.a, ",{\"id\":\"]\"}");
	ck_assert_ptr_null(cache_test_start_of(&r, one, &x));
	cache_test_put(&r, one);
	cat = cache_test_start_of(&r, one, &x);
	ck_assert_ptr_nonnull(cat);
	ck_assert_uint_eq(x.n, strlen(one));
	ck_assert_uint_eq(x.containers, 2);
	ck_assert_ptr_eq(cat,
	    catalog_cache_find(
		r.cache, (struct catalog_key){ CATALOG_BY_TEXT, str_of(one) }));
	ck_assert_int_eq(cache_test_hits(&r), 2);
	/* One that differs later, and one that ends earlier. */
	ck_assert_ptr_null(cache_test_start_of(&r, two, &x));
	ck_assert_ptr_null(catalog_cache_find_start(
	    r.cache, (struct str){ one, strlen(one) - 1 }, &x));
	ck_assert_int_eq(cache_test_hits(&r), 2);
	/* Of two, the last one that was used. */
	cache_test_put(&r, two);
	ck_assert_ptr_nonnull(cache_test_start_of(&r, two, &x));
	ck_assert_uint_eq(x.n, strlen(two));
	ck_assert_uint_eq(x.containers, 3);
	ck_assert_ptr_null(cache_test_start_of(&r, one, &x));
	ck_assert_ptr_eq(cat,
	    catalog_cache_find(
		r.cache, (struct catalog_key){ CATALOG_BY_TEXT, str_of(one) }));
	ck_assert_ptr_eq(cache_test_start_of(&r, one, &x), cat);
	ck_assert_ptr_null(cache_test_start_of(&r, two, &x));
	cache_test_end(&r);
}

TEST(only_long_arrays_are_found_by_what_a_text_begins_with)
{
	struct cache_test r;
	struct wire_slice_extent x = { 0 };

	cache_test_start(&r, 1 << 20);
	cache_test_put(&r, "[{\"id\":\"a\"}]");
	ck_assert_ptr_null(cache_test_start_of(&r, "[{\"id\":\"a\"}]", &x));
	/* A request as a whole, which is the key if it hides its catalog. */
	const char *request =
	    arena_printf(r.a, "{\"a\":%s}", cache_test_long(r.a, "")).p;
	cache_test_put(&r, request);
	ck_assert_ptr_null(cache_test_start_of(&r, request, &x));
	cache_test_end(&r);
}

TEST(an_evicted_catalog_is_not_found_by_its_start)
{
	struct cache_test r;
	struct wire_slice_extent x = { 0 };
	const struct catalog *cat;

	/* There is room for one. */
	cache_test_start(&r, 1);
	const char *one = cache_test_long(r.a, "");
	cache_test_put(&r, one);
	cat = catalog_cache_borrow_start(r.cache, str_of(one), &x);
	ck_assert_ptr_nonnull(cat);
	cache_test_put(&r, "[{\"id\":\"b\"}]");
	ck_assert_ptr_null(cache_test_start_of(&r, one, &x));
	ck_assert_uint_eq(cat->n, 1);
	catalog_cache_return(r.cache, cat);
	cache_test_end(&r);
}
