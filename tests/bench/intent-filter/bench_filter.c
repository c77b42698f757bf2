/*
 * What a command costs, without its transport, against catalogs of 3 (the
 * protocol's and one more), 100 and 1,000 intents; a command that is in the
 * catalog and one that is not.  Beside the times, where valgrind is installed,
 * the instructions of one call, which no other process disturbs: this program
 * runs itself under callgrind, once a row.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "core/mem.h"
#include "requests.h"

#define MS_MAX    400   /* of one row */
#define CALLS     20000 /* likewise, and at least CALLS_MIN */
#define CALLS_MIN 50
#define COUNTED   20 /* calls under callgrind */

/* ---- what is measured ---------------------------------------------------- */

struct bench {
	char *text;
	size_t n;
	struct arena *a, *answer;
	struct cache *cache;
	struct rx_scratch *rx;
	struct filter_env env;
	struct zone *zone;
	struct speech *speech;
	struct wire_intent_filter_request req;
	struct wire_intent_filter_response rep;
	struct buf out;
	const struct catalog *cat;
};

typedef void (*step_fn)(struct bench *b);

/* Check's assertions are each a write. */
static void
must(bool ok)
{
	if (!ok)
		abort();
}

static void
decode(struct bench *b)
{
	struct wire_err err;

	arena_reset(b->a);
	must(wire_decode(&wire_intent_filter_request_desc,
		 (struct str){ b->text, b->n }, b->a, &b->req, &err) == RC_OK);
}

static void
find(struct bench *b)
{
	struct str key;

	must(cache_key(b->cache, b->req.intent_catalog, b->req.n_intent_catalog,
		 &key) == RC_OK);
	b->cat = cache_find(b->cache, key);
}

static void
compute(struct bench *b)
{
	arena_reset(b->answer);
	must(filter_run(&b->req, b->cat, &b->env, b->rx, b->answer, &b->rep) ==
	    RC_OK);
}

static void
encode(struct bench *b)
{
	struct wire_err err;

	buf_reset(&b->out);
	b->rep.request_id = STR("r");
	must(wire_encode(&wire_intent_filter_response_desc, &b->rep, &b->out,
		 &err) == RC_OK);
}

static void
carried(struct bench *b)
{
	decode(b);
	find(b);
	compute(b);
	encode(b);
}

static void
named(struct bench *b)
{
	b->cat = cache_find(b->cache, cache_key_named(b->cache, STR("hash")));
	compute(b);
	encode(b);
}

static const struct {
	const char *name;
	step_fn fn;
} steps[] = {
	{ "match", compute },
	{ "named: find, match, encode", named },
	{ "carried: all, decode too", carried },
	{ "carried: find in the cache", find },
};

static struct catalog *
compile(const struct bench *b)
{
	struct catalog *made;
	struct wire_err err;

	ck_assert_int_eq(cache_compile(b->req.intent_catalog,
			     b->req.n_intent_catalog, &made, &err),
	    RC_OK);
	return made;
}

static void
bench_start(struct bench *b, size_t intents, bool hit)
{
	struct str key;

	*b = (struct bench){ .text = request(intents, hit),
		.a = arena_new(WIRE_ARENA_MAX),
		.answer = arena_new(WIRE_ARENA_MAX),
		.cache = cache_new((size_t)256 << 20, NULL),
		.rx = rx_scratch_new(),
		.env = { .now = { 1771753200000 }, .locale = "zh-CN" },
		.out = BUF_INIT(WIRE_MESSAGE_MAX) };
	b->n = strlen(b->text);
	ck_assert_int_eq(zone_load("Asia/Shanghai", &b->zone), RC_OK);
	b->env.zone = b->zone;
	b->speech = speech_new();
	b->env.speech = b->speech;
	decode(b);
	cache_put(b->cache, cache_key_named(b->cache, STR("hash")), compile(b));
	ck_assert_int_eq(cache_key(b->cache, b->req.intent_catalog,
			     b->req.n_intent_catalog, &key),
	    RC_OK);
	cache_put(b->cache, key, compile(b));
	find(b);
	compute(b);
	ck_assert((b->rep.decision.action ==
		      WIRE_DECISION_ACTION_EXECUTE_INTENTS) == hit);
}

static void
bench_end(struct bench *b)
{
	zone_free(b->zone);
	speech_free(b->speech);
	buf_free(&b->out);
	rx_scratch_free(b->rx);
	cache_free(b->cache);
	arena_free(b->a);
	arena_free(b->answer);
	free(b->text);
}

/* ---- instructions -------------------------------------------------------- */

/* What callgrind collects in: steps[step] and nothing else. */
__attribute__((noinline)) void counted_step(struct bench *b, size_t step);

__attribute__((noinline)) void
counted_step(struct bench *b, size_t step)
{
	steps[step].fn(b);
}

/* In the child, under callgrind. */
static void
count_here(const char *what)
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
count(size_t intents, bool hit, size_t step)
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

/* ---- times --------------------------------------------------------------- */

static int
by_size(const void *a, const void *b)
{
	const int64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static void
measure(struct bench *b, size_t intents, bool hit, size_t step)
{
	static int64_t ns[CALLS];
	struct mono end = mono_add_ms(clock_mono(), MS_MAX);
	struct mono start, stop = { 0 };
	double instructions;
	size_t n = 0;

	while (n < CALLS && (n < CALLS_MIN || stop.ns < end.ns)) {
		start = clock_mono();
		steps[step].fn(b);
		stop = clock_mono();
		ns[n++] = mono_diff_ns(stop, start);
	}
	qsort(ns, n, sizeof(*ns), by_size);
	printf("%5zu  %-4s  %-26s %8.2f us p50 %8.2f us p99", intents,
	    hit ? "hit" : "miss", steps[step].name, (double)ns[n / 2] / 1e3,
	    (double)ns[n - 1 - n / 100] / 1e3);
	instructions = count(intents, hit, step);
	if (instructions > 0)
		printf(" %9.1f k instructions", instructions / 1e3);
	printf("\n");
	fflush(stdout);
}

TEST_T(catalogs, 900)
{
	static const size_t sizes[] = { 3, 100, 1000 };
	const char *what = getenv("BENCH_COUNT");
	struct bench b;

	if (what != NULL) {
		count_here(what);
		return;
	}
	for (size_t i = 0; i < NELEM(sizes); i++)
		for (int hit = 1; hit >= 0; hit--) {
			bench_start(&b, sizes[i], hit != 0);
			for (size_t s = 0; s < NELEM(steps); s++)
				if (hit != 0 || s == 0)
					measure(&b, sizes[i], hit != 0, s);
			bench_end(&b);
		}
}
