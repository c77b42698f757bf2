/*
 * The cost of a command without transport, with catalogs of 3 (the protocol's
 * and one more), 100 and 1,000 intents; a command that matches and one that
 * does not.  Where valgrind is installed, also the instructions of one call,
 * which do not depend on other processes: this program runs itself under
 * callgrind, once per row.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "catalog/catalog_request.h"
#include "core/arena.h"
#include "core/buf.h"
#include "core/mem.h"
#include "core/zone.h"
#include "filter.h"
#include "rx/rx.h"
#include "slots/skill_cache.h"
#include "testkit/intent_filter_load.h"
#include "testkit/testkit.h"
#include "text/vocabulary.h"
#include "wire/wire.h"

#define MS_MAX    400   /* of one row */
#define CALLS     20000 /* likewise, and at least CALLS_MIN */
#define CALLS_MIN 50
#define COUNTED   20 /* calls under callgrind */

/* ---- the steps ---- */

struct bench {
	char *text;
	size_t n;
	struct arena *a, *response;
	struct catalog_cache *catalog_cache;
	struct rx_scratch *rx;
	struct filter_env env;
	struct zone *zone;
	struct vocabulary *vocabulary;
	struct skill_cache *skills;
	struct wire_intent_filter_request req;
	struct wire_intent_filter_response rep;
	struct buf out;
	const struct catalog *cat;
};

typedef void (*step_fn)(struct bench *b);

/* Each assertion of Check is a write. */
static void
bench_require(bool ok)
{
	if (!ok)
		abort();
}

static void
step_decode(struct bench *b)
{
	struct wire_err err;

	arena_reset(b->a);
	bench_require(
	    wire_decode(&wire_intent_filter_request_desc,
		(struct str){ b->text, b->n }, b->a, &b->req, &err) == RC_OK);
}

static void
step_find(struct bench *b)
{
	struct catalog_source src;

	arena_reset(b->a);
	bench_require(catalog_request_decode(b->catalog_cache,
	    (struct str){ b->text, b->n }, b->a, &b->req, &src));
	b->cat = src.catalog;
}

static void
step_match(struct bench *b)
{
	arena_reset(b->response);
	bench_require(filter_run(&b->req, b->cat, &b->env, b->rx, b->response,
			  &b->rep) == RC_OK);
}

static void
step_encode(struct bench *b)
{
	struct wire_err err;

	buf_reset(&b->out);
	b->rep.request_id = STR("r");
	bench_require(wire_encode(&wire_intent_filter_response_desc, &b->rep,
			  &b->out, &err) == RC_OK);
}

static void
step_sent(struct bench *b)
{
	step_find(b);
	step_match(b);
	step_encode(b);
}

static void
step_referenced(struct bench *b)
{
	b->cat = catalog_cache_find(b->catalog_cache,
	    (struct catalog_key){ CATALOG_BY_HASH, STR("hash") });
	step_match(b);
	step_encode(b);
}

static const struct {
	const char *name;
	step_fn fn;
} bench_steps[] = {
	{ "match", step_match },
	{ "by hash: find, match, encode", step_referenced },
	{ "sent: all", step_sent },
	{ "sent: decode, find in the cache", step_find },
	{ "new: decode the catalog too", step_decode },
};

static struct catalog *
bench_compile(const struct bench *b)
{
	struct catalog *made;
	struct wire_err err;

	ck_assert_int_eq(catalog_compile(b->req.intent_catalog,
			     b->req.n_intent_catalog, &made, &err),
	    RC_OK);
	return made;
}

static void
bench_start(struct bench *b, size_t intents, bool hit)
{
	*b = (struct bench){ .text = filter_load_request(intents, hit),
		.a = arena_new(WIRE_ARENA_MAX),
		.response = arena_new(WIRE_ARENA_MAX),
		.catalog_cache = catalog_cache_new((size_t)256 << 20, NULL),
		.rx = rx_scratch_new(),
		.env = { .now = { 1771753200000 }, .locale = "zh-CN" },
		.out = BUF_INIT(WIRE_MESSAGE_MAX) };
	b->n = strlen(b->text);
	ck_assert_int_eq(zone_load("Asia/Shanghai", &b->zone), RC_OK);
	b->env.zone = b->zone;
	b->vocabulary = vocabulary_new();
	b->env.vocabulary = b->vocabulary;
	b->skills = skill_cache_new(1 << 20);
	b->env.skills = b->skills;
	step_decode(b);
	catalog_cache_put(b->catalog_cache,
	    (struct catalog_key){ CATALOG_BY_HASH, STR("hash") },
	    bench_compile(b));
	catalog_cache_put(b->catalog_cache,
	    (struct catalog_key){ CATALOG_BY_TEXT,
		catalog_request_find((struct str){ b->text, b->n }) },
	    bench_compile(b));
	step_find(b);
	step_match(b);
	ck_assert((b->rep.decision.action ==
		      WIRE_DECISION_ACTION_EXECUTE_INTENTS) == hit);
}

static void
bench_end(struct bench *b)
{
	zone_free(b->zone);
	vocabulary_free(b->vocabulary);
	skill_cache_free(b->skills);
	buf_free(&b->out);
	rx_scratch_free(b->rx);
	catalog_cache_free(b->catalog_cache);
	arena_free(b->a);
	arena_free(b->response);
	free(b->text);
}

/* ---- instructions ---- */

/* What callgrind measures. */
__attribute__((noinline)) void counted_step(struct bench *b, size_t step);

__attribute__((noinline)) void
counted_step(struct bench *b, size_t step)
{
	bench_steps[step].fn(b);
}

/* In the child, under callgrind. */
static void
bench_count_here(const char *what)
{
	struct bench b;
	size_t intents, hit, step;

	ck_assert_int_eq(sscanf(what, "%zu %zu %zu", &intents, &hit, &step), 3);
	bench_start(&b, intents, hit != 0);
	for (int i = 0; i < COUNTED; i++)
		counted_step(&b, step);
	bench_end(&b);
}

/* Instructions of a call; 0 if valgrind is not installed. */
static double
bench_count(size_t intents, bool hit, size_t step)
{
	char what[64], self[512];
	const char *argv[] = { "valgrind", "--tool=callgrind",
		"--callgrind-out-file=/dev/null",
		"--toggle-collect=counted_step", self, NULL };
	const char *env[] = { what, "CK_FORK=no", NULL };
	struct tk_proc p;
	const char *at;
	double n = 0;
	char *log;
	ssize_t len = readlink("/proc/self/exe", self, sizeof(self) - 1);

	ck_assert_int_gt(len, 0);
	self[len] = '\0';
	snprintf(
	    what, sizeof(what), "BENCH_COUNT=%zu %d %zu", intents, hit, step);
	tk_spawn(&p, "callgrind", argv, env);
	if (tk_wait(&p, 120000) != 0)
		return 0;
	log = tk_read_file(p.log, NULL);
	at = strstr(log, "Collected : ");
	if (at != NULL)
		n = strtod(at + strlen("Collected : "), NULL) / COUNTED;
	free(log);
	remove(p.log);
	return n;
}

/* ---- times ---- */

static int
bench_cmp(const void *a, const void *b)
{
	const int64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static void
bench_measure(struct bench *b, size_t intents, bool hit, size_t step)
{
	static int64_t ns[CALLS];
	struct mono end = mono_add_ms(clock_mono(), MS_MAX);
	struct mono start, stop = { 0 };
	double instructions;
	size_t n = 0;

	while (n < CALLS && (n < CALLS_MIN || stop.ns < end.ns)) {
		start = clock_mono();
		bench_steps[step].fn(b);
		stop = clock_mono();
		ns[n++] = mono_diff_ns(stop, start);
	}
	qsort(ns, n, sizeof(*ns), bench_cmp);
	printf("%5zu  %-4s  %-31s %8.2f us p50 %8.2f us p99", intents,
	    hit ? "hit" : "miss", bench_steps[step].name,
	    (double)ns[n / 2] / 1e3, (double)ns[n - 1 - n / 100] / 1e3);
	instructions = bench_count(intents, hit, step);
	if (instructions > 0)
		printf(" %9.1f k instructions", instructions / 1e3);
	printf("\n");
	fflush(stdout);
}

TEST_T(catalog_loader, 900)
{
	static const size_t sizes[] = { 3, 100, 1000 };
	const char *what = getenv("BENCH_COUNT");
	struct bench b;

	if (what != NULL) {
		bench_count_here(what);
		return;
	}
	for (size_t i = 0; i < NELEM(sizes); i++)
		for (int hit = 1; hit >= 0; hit--) {
			bench_start(&b, sizes[i], hit != 0);
			for (size_t s = 0; s < NELEM(bench_steps); s++)
				if (hit != 0 || s == 0)
					bench_measure(
					    &b, sizes[i], hit != 0, s);
			bench_end(&b);
		}
}
