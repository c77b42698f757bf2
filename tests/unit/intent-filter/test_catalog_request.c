/*
 * Requests that repeat a catalog: decoded without it, as the decoder does.
 */
#include "catalog/catalog_request.h"
#include "core/arena.h"
#include "core/buf.h"
#include "core/mem.h"
#include "testkit/testkit.h"
#include "wire/wire.h"

#define CATALOG "[{\"id\":\"a\",\"name\":\"]}\\\"\\\\\"},{\"id\":\"b\"}]"

struct request_test {
	struct catalog_cache *cache;
	const struct catalog *catalog;
	struct arena *a;
	struct wire_intent_filter_request msg;
	struct catalog_source src;
};

static void
request_test_start(struct request_test *t)
{
	struct catalog *made;
	struct wire_err err;

	*t = (struct request_test){ .cache = catalog_cache_new(1 << 20, NULL),
		.a = arena_new(WIRE_ARENA_MAX) };
	ck_assert_int_eq(
	    catalog_new(STR("{\"intent_catalog\":" CATALOG "}"), &made, &err),
	    RC_OK);
	catalog_cache_put(t->cache,
	    (struct catalog_key){ CATALOG_BY_TEXT, STR(CATALOG) }, made);
	t->catalog = made;
}

static void
request_test_end(struct request_test *t)
{
	catalog_cache_free(t->cache);
	arena_free(t->a);
}

static bool
request_test_decode(struct request_test *t, struct str request)
{
	size_t used = arena_used(t->a);
	bool is;

	is = catalog_request_decode(t->cache, request, t->a, &t->msg, &t->src);
	ck_assert_ptr_eq(t->src.catalog, is ? t->catalog : NULL);
	if (!is)
		ck_assert_uint_eq(arena_used(t->a), used);
	return is;
}

static void
request_test_encode(
    const struct wire_intent_filter_request *msg, struct buf *out)
{
	struct wire_err err;

	buf_init(out, WIRE_MESSAGE_MAX);
	ck_assert_int_eq(
	    wire_encode(&wire_intent_filter_request_desc, msg, out, &err),
	    RC_OK);
}

/* Requests that are decoded without their catalog. */
static const char *const repeated[] = {
	"{\"command\":\"x\",\"intent_catalog\":" CATALOG "}",
	"{\"intent_catalog\":" CATALOG ",\"command\":\"x\"}",
	" {\n\"request_id\" : \"r\", \"intent_catalog\" :\t" CATALOG
	" , \"command\":\"\\u5f00\\\"灯\" } ",
	"{\"unknown\":{\"intent_catalog\":[1]},\"command\":\"intent_catalog\","
	"\"locale\":\"zh-CN\",\"timezone\":\"Asia/Shanghai\","
	"\"intent_catalog\":" CATALOG ",\"now\":\"2026-02-22T17:40:00+08:00\","
	"\"options\":{\"max_intents\":3,\"return_debug_entities\":true},"
	"\"skills\":[{\"name\":\"s\",\"input_schema\":{\"type\":\"object\"}}],"
	"\"catalog_ref\":null}",
};

TEST(a_repeated_catalog_is_not_decoded)
{
	struct wire_intent_filter_request all;
	struct buf expected, found;
	struct request_test t;
	struct wire_err err;

	request_test_start(&t);
	for (size_t i = 0; i < NELEM(repeated); i++) {
		struct str s = str_of(repeated[i]);

		ck_assert_int_eq(wire_decode(&wire_intent_filter_request_desc,
				     s, t.a, &all, &err),
		    RC_OK);
		ck_assert_msg(request_test_decode(&t, s), "%s", s.p);
		ck_assert(str_eq(t.src.json, STR(CATALOG)));
		ck_assert_uint_eq(t.msg.n_intent_catalog, 1);
		t.msg.intent_catalog = all.intent_catalog;
		t.msg.n_intent_catalog = all.n_intent_catalog;
		request_test_encode(&all, &expected);
		request_test_encode(&t.msg, &found);
		ck_assert_str_eq(expected.p, found.p);
		buf_free(&expected);
		buf_free(&found);
	}
	request_test_end(&t);
}

/* Requests that are left to the decoder, which finds what is wrong. */
static const char *const left[] = {
	"",
	"{}",
	CATALOG,
	"{\"command\":\"x\"}",
	"{\"intent_catalog\":" CATALOG "}",
	"{\"command\":\"\",\"intent_catalog\":" CATALOG "}",
	"{\"command\":1,\"intent_catalog\":" CATALOG "}",
	"{\"command\":\"x\",\"intent_catalog\":" CATALOG ",\"command\":\"y\"}",
	"{\"command\":\"x\",\"intent_catalog\":" CATALOG
	",\"intent_catalog\":" CATALOG "}",
	"{\"command\":\"x\",\"intent_catalog\":" CATALOG
	",\"intent\\u005fcatalog\":" CATALOG "}",
	"{\"command\":\"x\",\"intent_catalog\":" CATALOG "",
	"{\"command\":\"x\",\"intent_catalog\":" CATALOG "}}",
	"{\"command\":\"x\",\"intent_catalog\":" CATALOG " 1}",
	"{\"command\":\"x\",\"intent_catalog\":" CATALOG "]}",
	"{\"command\":\"\xff\",\"intent_catalog\":" CATALOG "}",
	"{\"command\":\"x\",\"intent_catalog\":" CATALOG
	",\"options\":{\"max_intents\":33}}",
	"{\"command\":\"x\",\"intent_catalog\":" CATALOG
	",\"catalog_ref\":{\"terminal_id\":\"t\",\"hash\":\"h\"}}",
	"{\"command\":\"x\",\"intent_catalog\":[" CATALOG "]}",
	"{\"command\":\"x\",\"intent_catalog\":{\"intent_catalog\":" CATALOG
	"}}",
	"[{\"command\":\"x\",\"intent_catalog\":" CATALOG "}]",
	/* Valid, but without a cached catalog, or its name is hidden. */
	"{\"command\":\"x\",\"intent_catalog\":[{\"id\":\"c\"}]}",
	"{\"command\":\"x\",\"intent_catalog\": [ {\"id\":\"a\"} ] }",
	"{\"command\":\"x\",\"intent\\u005fcatalog\":" CATALOG "}",
	"{\"command\":\"x\",\"intent_catalog\":null,"
	"\"catalog_ref\":{\"terminal_id\":\"t\",\"hash\":\"h\"}}",
};

TEST(other_requests_are_left_to_the_decoder)
{
	struct request_test t;

	request_test_start(&t);
	for (size_t i = 0; i < NELEM(left); i++)
		ck_assert_msg(
		    !request_test_decode(&t, str_of(left[i])), "%s", left[i]);
	request_test_end(&t);
}

TEST(a_request_with_much_beside_its_catalog_is_left_to_the_decoder)
{
	struct buf b = BUF_INIT(WIRE_MESSAGE_MAX);
	struct request_test t;

	request_test_start(&t);
	for (size_t over = 0; over < 2; over++) {
		buf_reset(&b);
		buf_puts(&b, "{\"intent_catalog\":" CATALOG ",\"command\":\"");
		while (b.n < CATALOG_REST_MAX + strlen(CATALOG) + over - 2)
			buf_putc(&b, 'x');
		buf_puts(&b, "\"}");
		ck_assert(request_test_decode(&t, buf_str(&b)) == (over == 0));
		/* Its text is found in either case. */
		ck_assert(
		    str_eq(catalog_request_find(buf_str(&b)), STR(CATALOG)));
	}
	/* Nor is much scanned before it. */
	buf_reset(&b);
	buf_printf(&b, "{\"a\":%*d,\"command\":\"x\",\"intent_catalog\":%s}",
	    (int)CATALOG_REST_MAX, 1, CATALOG);
	ck_assert(!request_test_decode(&t, buf_str(&b)));
	ck_assert_ptr_null(t.src.json.p);
	ck_assert(str_eq(catalog_request_find(buf_str(&b)), STR(CATALOG)));
	buf_free(&b);
	request_test_end(&t);
}

TEST(the_text_of_a_catalog_is_found)
{
	static const char hidden[] =
	    "{\"command\":\"x\",\"intent\\u005fcatalog\":" CATALOG "}";
	struct request_test t;

	request_test_start(&t);
	for (size_t i = 0; i < NELEM(repeated); i++)
		ck_assert(str_eq(
		    catalog_request_find(str_of(repeated[i])), STR(CATALOG)));
	ck_assert(str_eq(catalog_request_find(STR(hidden)), STR(hidden)));
	/* Also while it is not cached. */
	ck_assert(!request_test_decode(&t,
	    STR("{\"command\":\"x\",\"intent_catalog\":[{\"id\":\"c\"}]}")));
	ck_assert(str_eq(t.src.json, STR("[{\"id\":\"c\"}]")));
	request_test_end(&t);
}
