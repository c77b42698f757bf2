/*
 * What a command costs, without its transport: decoding, the catalog from the
 * cache, matching, encoding; beside jansson reading and writing the same texts.
 */
#include <stdio.h>
#include <stdlib.h>

#include "unit/intent-filter/filter_case.h"

#define ROUNDS 20000

struct bench {
	struct str request;
	struct arena *a;
	struct cache *cache;
	struct rx_scratch *rx;
	struct filter_env env;
	struct wire_intent_filter_request req;
	struct wire_intent_filter_response rep;
	struct buf out;
	const struct catalog *cat;
};

static void
decode(struct bench *b)
{
	struct wire_err err;

	arena_reset(b->a);
	ck_assert_int_eq(wire_decode(&wire_intent_filter_request_desc,
			     b->request, b->a, &b->req, &err),
	    RC_OK);
}

static void
match(struct bench *b)
{
	struct wire_err err;

	ck_assert_int_eq(cache_get(b->cache, b->req.intent_catalog,
			     b->req.n_intent_catalog, &b->cat, &err),
	    RC_OK);
	ck_assert_int_eq(
	    filter_run(&b->req, b->cat, &b->env, b->rx, b->a, &b->rep), RC_OK);
}

static void
encode(struct bench *b)
{
	struct wire_err err;

	buf_reset(&b->out);
	b->rep.request_id = STR("r");
	ck_assert_int_eq(wire_encode(&wire_intent_filter_response_desc, &b->rep,
			     &b->out, &err),
	    RC_OK);
}

static int
by_size(const void *a, const void *b)
{
	const int64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static void
print(const char *what, int64_t *ns)
{
	qsort(ns, ROUNDS, sizeof(*ns), by_size);
	printf("%-28s %8.2f us p50 %8.2f us p99\n", what,
	    (double)ns[ROUNDS / 2] / 1e3, (double)ns[ROUNDS * 99 / 100] / 1e3);
}

KIT_TEST_T(protocol_request, 120)
{
	static int64_t t[4][ROUNDS];
	char *text = case_protocol();
	struct bench b = { .request = str_of(text),
		.a = arena_new(WIRE_ARENA_MAX),
		.cache = cache_new(1 << 20, NULL),
		.rx = rx_scratch_new(),
		.env = { .now = { 1771753200000 }, .locale = "zh-CN" },
		.out = BUF_INIT(WIRE_MESSAGE_MAX) };
	struct mono m[5];
	struct zone *zone;
	size_t i, j;

	ck_assert_int_eq(zone_load("Asia/Shanghai", &zone), RC_OK);
	b.env.zone = zone;
	for (i = 0; i < ROUNDS; i++) {
		m[0] = clock_mono();
		decode(&b);
		m[1] = clock_mono();
		match(&b);
		m[2] = clock_mono();
		encode(&b);
		m[3] = clock_mono();
		json_decref(json_loadb(b.request.p, b.request.n, 0, NULL));
		m[4] = clock_mono();
		for (j = 0; j < 4; j++)
			t[j][i] = mono_diff_ns(m[j + 1], m[j]);
	}
	print("decode the request", t[0]);
	print("match it, catalog cached", t[1]);
	print("encode the answer", t[2]);
	print("jansson reads the request", t[3]);
	buf_free(&b.out);
	rx_scratch_free(b.rx);
	cache_free(b.cache);
	arena_free(b.a);
	free(text);
}
