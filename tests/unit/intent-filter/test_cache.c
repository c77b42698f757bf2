/* Compiled catalogs: found by content or name, and within their memory. */
#include <stdio.h>

#include "cache.h"
#include "core/arena.h"
#include "core/buf.h"
#include "core/mem.h"
#include "core/metric.h"
#include "testkit/testkit.h"
#include "wire/wire.h"

struct rig {
	struct metric_set *metrics;
	struct cache *cache;
	struct arena *a;
};

static void
rig_start(struct rig *r, size_t max_bytes)
{
	r->metrics = metric_set_new();
	r->cache = cache_new(max_bytes, r->metrics);
	r->a = arena_new(WIRE_ARENA_MAX);
}

static void
rig_end(struct rig *r)
{
	cache_free(r->cache);
	metric_set_free(r->metrics);
	arena_free(r->a);
}

static int64_t
hits(struct rig *r)
{
	return metric_value(metric_counter(
	    r->metrics, "soul_intent_catalog_hits_total", "", NULL));
}

static int64_t
bytes(struct rig *r)
{
	return metric_value(metric_gauge(
	    r->metrics, "soul_intent_catalog_cache_bytes", "", NULL));
}

/* By content: found, or else compiled and put. */
static enum rc
get(struct rig *r, const char *json, const struct catalog **cat,
    struct wire_err *err)
{
	struct wire_intent_catalog_report m;
	struct catalog *made;
	struct str key;
	enum rc rc;

	arena_reset(r->a);
	ck_assert_int_eq(wire_decode(&wire_intent_catalog_report_desc,
			     str_of(json), r->a, &m, err),
	    RC_OK);
	ck_assert_int_eq(
	    cache_key(r->cache, m.intent_catalog, m.n_intent_catalog, &key),
	    RC_OK);
	*cat = cache_find(r->cache, key);
	if (*cat != NULL)
		return RC_OK;
	rc = cache_compile(m.intent_catalog, m.n_intent_catalog, &made, err);
	if (rc == RC_OK) {
		cache_put(r->cache, key, made);
		*cat = made;
	}
	return rc;
}

static const struct catalog *
got(struct rig *r, const char *json)
{
	const struct catalog *cat = NULL;
	struct wire_err err = { "", "" };
	enum rc rc = get(r, json, &cat, &err);

	ck_assert_msg(rc == RC_OK, "%s: %s: %s", json, err.path, err.why);
	return cat;
}

TEST(content_decides)
{
	struct rig r;

	rig_start(&r, 1 << 20);
	const struct catalog *first =
	    got(&r, "[{\"id\":\"a\",\"match\":{\"keywords_any\":[\"开灯\"]}}]");
	ck_assert_ptr_eq(first,
	    got(&r,
		"[ {\"match\":{\"keywords_any\":[\"\\u5f00灯\"]}, "
		"\"unknown\":1, \"id\":\"a\"} ]"));
	ck_assert_int_eq(hits(&r), 1);
	ck_assert_ptr_ne(first,
	    got(&r,
		"[{\"id\":\"a\",\"match\":{\"keywords_any\":[\"关灯\"]}}]"));
	ck_assert_ptr_ne(first,
	    got(&r,
		"[{\"id\":\"a\",\"match\":{\"keywords_all\":[\"开灯\"]}}]"));
	ck_assert_ptr_ne(first,
	    got(&r,
		"[{\"id\":\"a\",\"priority\":1,"
		"\"match\":{\"keywords_any\":[\"开灯\"]}}]"));
	ck_assert_int_eq(hits(&r), 1);
	rig_end(&r);
}

/* No content has the key of a name, whatever the name. */
TEST(names_are_apart_from_contents)
{
	struct wire_intent_catalog_report m;
	struct wire_err err;
	struct catalog *made;
	struct rig r;
	struct str key;

	rig_start(&r, 1 << 20);
	ck_assert_int_eq(wire_decode(&wire_intent_catalog_report_desc,
			     STR("[{\"id\":\"a\"}]"), r.a, &m, &err),
	    RC_OK);
	ck_assert_int_eq(
	    cache_compile(m.intent_catalog, m.n_intent_catalog, &made, &err),
	    RC_OK);
	ck_assert_ptr_null(
	    cache_find(r.cache, cache_key_named(r.cache, STR("h"))));
	cache_put(r.cache, cache_key_named(r.cache, STR("h")), made);
	ck_assert_ptr_eq(
	    cache_find(r.cache, cache_key_named(r.cache, STR("h"))), made);
	ck_assert_ptr_null(
	    cache_find(r.cache, cache_key_named(r.cache, STR("H"))));
	ck_assert_int_eq(
	    cache_key(r.cache, m.intent_catalog, m.n_intent_catalog, &key),
	    RC_OK);
	ck_assert_ptr_null(cache_find(r.cache, key));
	/* The bytes of a content as a name. */
	key = arena_str(r.a, key);
	ck_assert_int_eq(
	    cache_compile(m.intent_catalog, m.n_intent_catalog, &made, &err),
	    RC_OK);
	cache_put(r.cache, key, made);
	ck_assert_ptr_eq(cache_find(r.cache, key), made);
	key = (struct str){ key.p + 1, key.n - 1 };
	ck_assert_ptr_null(cache_find(r.cache, cache_key_named(r.cache, key)));
	rig_end(&r);
}

/* The least recently used go first, and what is kept is counted. */
TEST(memory_is_bounded)
{
	const struct catalog *cat;
	struct wire_err err;
	char json[128];
	int64_t one;
	struct rig r;

	rig_start(&r, 1 << 20);
	(void)got(&r, "[{\"id\":\"c00\",\"match\":{\"regex_any\":[\"a\"]}}]");
	one = bytes(&r);
	ck_assert_int_gt(one, 0);
	rig_end(&r);

	rig_start(&r, (size_t)one * 10 + (size_t)one / 2);
	for (int i = 0; i < 30; i++) {
		snprintf(json, sizeof(json),
		    "[{\"id\":\"c%02d\",\"match\":{\"regex_any\":[\"a\"]}}]",
		    i);
		(void)got(&r, json);
		ck_assert_int_le(bytes(&r), one * 10 + one / 2);
		/* The first is always wanted, so it stays. */
		int64_t before = hits(&r);
		(void)got(
		    &r, "[{\"id\":\"c00\",\"match\":{\"regex_any\":[\"a\"]}}]");
		ck_assert_int_eq(hits(&r), before + 1);
	}
	ck_assert_int_eq(bytes(&r), one * 10);
	int64_t before = hits(&r);
	for (int i = 29; i >= 20; i--) {
		snprintf(json, sizeof(json),
		    "[{\"id\":\"c%02d\",\"match\":{\"regex_any\":[\"a\"]}}]",
		    i);
		(void)got(&r, json);
	}
	ck_assert_int_eq(hits(&r), before + 9);
	ck_assert_int_eq(
	    get(&r, "[{\"id\":\"x\",\"match\":{\"regex_any\":[\"(\"]}}]", &cat,
		&err),
	    RC_INVALID);
	ck_assert_str_eq(err.path, "/intent_catalog/0/match/regex_any/0");
	rig_end(&r);

	/* One that is larger than all the room is kept until the next. */
	rig_start(&r, 1);
	cat = got(&r, "[{\"id\":\"a\"}]");
	ck_assert_ptr_eq(cat, got(&r, "[{\"id\":\"a\"}]"));
	(void)got(&r, "[{\"id\":\"b\"}]");
	ck_assert_int_eq(hits(&r), 1);
	rig_end(&r);
	cache_free(NULL);
}

/* A house with very much in it. */
TEST(a_thousand_intents_fit)
{
	struct buf json = BUF_INIT(WIRE_MESSAGE_MAX);
	const struct catalog *cat;
	struct wire_err err;
	struct rig r;

	rig_start(&r, (size_t)256 << 20);
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
	ck_assert_int_eq(get(&r, buf_str(&json).p, &cat, &err), RC_OK);
	ck_assert_uint_eq(cat->n, 1000);
	buf_free(&json);
	rig_end(&r);
}
