/* Patterns made to hang are limited, ordinary ones are not. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/mem.h"
#include "rx/rx.h"
#include "testkit/testkit.h"

/* Many times what a call takes, for sanitizers and loaded machines. */
#define MOST_MS 100.0

static double
cpu_ms(void)
{
	struct timespec t;
	ck_assert_int_eq(clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t), 0);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

/* unit repeated to at least n bytes, then tail. */
static struct str
repeated(const char *unit, size_t n, const char *tail)
{
	size_t u = strlen(unit);
	size_t times = (n + u - 1) / u;
	char *p = mem_alloc(times * u + strlen(tail) + 1);
	for (size_t i = 0; i < times; i++)
		memcpy(p + i * u, unit, u);
	memcpy(p + times * u, tail, strlen(tail) + 1);
	return str_of(p);
}

static const struct {
	const char *pattern;
	unsigned flags;
	const char *unit;
	size_t n;
	const char *tail;
	enum rc rc;
} hostile[] = {
	{ "(a+)+$", 0, "a", 40, "b", RC_TOOBIG },
	{ "(a+)+$", RX_ECMA, "a", 40, "b", RC_TOOBIG },
	{ "^(a+)+$", RX_ECMA, "a", 40, "b", RC_TOOBIG },
	{ "(*NO_JIT)(a+)+$", 0, "a", 40, "b", RC_TOOBIG },
	{ "(a|aa)+$", 0, "a", 60, "b", RC_TOOBIG },
	{ "(a|a?)+$", RX_NOCASE, "A", 60, "b", RC_TOOBIG },
	{ "(.*a){12}$", 0, "a", 60, "b", RC_TOOBIG },
	{ "^(([a-z])+.)+[A-Z]([a-z])+$", RX_ECMA, "a", 60, "", RC_TOOBIG },
	{ "(.*)(.*)(.*)(.*)(.*)x$", 0, "a", 200, "xb", RC_TOOBIG },
	{ "(?:(?=.*x.*y)a)+[bc]", 0, "a", 500, "xyz!", RC_TOOBIG },
	{ "\\s+[xy]", 0, " ", 60000, "!xy", RC_TOOBIG },
	{ "(?:(?=(\\w+))\\1)+[!]x", RX_ECMA, "ab ", 60000, "!yx", RC_TOOBIG },
	{ "(.{9000})\\1[xy]z", 0, "a", 60000, "xyz", RC_TOOBIG },
	{ "(?:(?=a{30000}b)|(?=a{30000}c))a.*z!", 0, "a", 60000, "z!",
	    RC_TOOBIG },
	{ "(?:(?R)|a)*b$", 0, "a", 500, "bc", RC_TOOBIG },
	{ "(?:(?R)a|b)", 0, "a", 500, "c", RC_TOOBIG },
	{ "(*NO_JIT)^(?:a|b)*$", 0, "a", 60000, "c", RC_TOOBIG },
	{ "(?:灯|.)*(?:色|.)*(?:红|.)*x[!]x", RX_ECMA, "红色灯", 900, "x!!x",
	    RC_TOOBIG },
	{ "(x+x+)+y", 0, "x", 40, "", RC_NOENT },
	{ "^(?:[^x]*?)*z", 0, "ab", 900000, "", RC_TOOBIG },
};

TEST(hostile_patterns_end_within_the_limit)
{
	struct rx_scratch *s = rx_scratch_new();
	double worst[2] = { 0, 0 }; /* of short and of long texts */
	for (size_t i = 0; i < NELEM(hostile); i++) {
		struct rx *r = NULL;
		struct str t =
		    repeated(hostile[i].unit, hostile[i].n, hostile[i].tail);
		ck_assert_int_eq(rx_new(str_of(hostile[i].pattern),
				     hostile[i].flags, &r, NULL, 0),
		    RC_OK);
		for (int round = 0; round < 2; round++) {
			struct rx_match m;
			double from = cpu_ms();
			enum rc rc = rx_find(r, s, t, 0, &m);
			double took = cpu_ms() - from;
			ck_assert_msg(rc == hostile[i].rc, "%s: %d",
			    hostile[i].pattern, rc);
			ck_assert(rx_scratch_take_exceeded(s) ==
			    (rc == RC_TOOBIG && t.n <= RX_TEXT_MAX));
			ck_assert(!rx_scratch_take_exceeded(s));
			ck_assert_msg(took < MOST_MS, "%s: %.1f ms",
			    hostile[i].pattern, took);
			double *w = &worst[t.n > 4096];
			*w = took > *w ? took : *w;
		}
		rx_free(r);
		free((char *)(uintptr_t)t.p);
	}
	printf("worst of %zu hostile finds: %.2f ms, in long texts %.2f ms\n",
	    NELEM(hostile), worst[0], worst[1]);
	rx_scratch_free(s);
}

TEST(hostile_patterns_compile_quickly_or_fail)
{
	static const struct {
		const char *unit;
		size_t n;
	} rows[] = {
		{ "a?", 4000 },
		{ "(a|b)*", 4000 },
		{ "w1|w22|", 4000 },
		{ "[\\w\\d\\p{L}]", 4000 },
		{ ".{0,999}", 4000 },
		{ "(?:a{1,9}b){1,9}", 500 },
		{ "(?=a*)", 4000 },
		{ "(?:", 4000 },
		{ "[", 4000 },
		{ "\\1(a)", 4000 },
		{ "(?<=ab|c)", 4000 },
	};
	double worst = 0;
	for (size_t i = 0; i < NELEM(rows) * 2; i++) {
		struct str p = repeated(rows[i / 2].unit, rows[i / 2].n, "");
		struct rx *r = NULL;
		double from = cpu_ms();
		enum rc rc = rx_new(p, i % 2 ? RX_ECMA : 0, &r, NULL, 0);
		double took = cpu_ms() - from;
		ck_assert_msg(
		    rc == RC_OK || rc == RC_TOOBIG || rc == RC_INVALID,
		    "%s: %d", rows[i / 2].unit, rc);
		ck_assert_msg(
		    took < MOST_MS, "%s: %.1f ms", rows[i / 2].unit, took);
		worst = took > worst ? took : worst;
		rx_free(r);
		free((char *)(uintptr_t)p.p);
	}
	printf("worst compile: %.2f ms\n", worst);
}

TEST(ordinary_patterns_are_not_limited)
{
	static const struct {
		const char *pattern;
		const char *unit;
		size_t n;
		const char *tail;
		enum rc rc;
	} rows[] = {
		{ "^[a-z ]+$", "some words ", 60000, "", RC_OK },
		{ "^[a-z ]+$", "some words ", 60000, "!", RC_NOENT },
		{ "^(?:[A-Za-z0-9+/]{4})*$", "aZ9+", 16000, "", RC_OK },
		{ "^(?:[A-Za-z0-9+/]{4})*$", "aZ9+", 16000, "!", RC_NOENT },
		{ "^(\\d+,)*\\d+$", "12,", 3000, "7", RC_OK },
		{ "green|red|blue", "no colour ", 60000, "red", RC_OK },
		{ "(\\d+) ?(分钟|秒)", "等一下再说", 300, "5 秒", RC_OK },
		{ "^data:image/", "data:image/png;base64,", 900000, "", RC_OK },
		{ "^.*$", "开灯", 60000, "", RC_OK },
		{ "^[^@\\s]+@[^@\\s]+\\.[^@\\s]+$", "a.b", 200, "@c.de",
		    RC_OK },
		{ "^[^@\\s]+@[^@\\s]+\\.[^@\\s]+$", "a.b", 200, "@c",
		    RC_NOENT },
	};
	struct rx_scratch *s = rx_scratch_new();
	for (size_t i = 0; i < NELEM(rows); i++) {
		struct rx *r = NULL;
		struct str t = repeated(rows[i].unit, rows[i].n, rows[i].tail);
		ck_assert_int_eq(
		    rx_new(str_of(rows[i].pattern), RX_ECMA, &r, NULL, 0),
		    RC_OK);
		enum rc rc = rx_find(r, s, t, 0, NULL);
		ck_assert_msg(rc == rows[i].rc, "%s: %d", rows[i].pattern, rc);
		rx_free(r);
		free((char *)(uintptr_t)t.p);
	}
	rx_scratch_free(s);
}

TEST(text_sizes_are_limited)
{
	struct rx *r = NULL;
	struct rx_scratch *s = rx_scratch_new();
	struct str t = repeated("a", RX_TEXT_MAX + 1, "");
	ck_assert_int_eq(rx_new(STR("^a"), 0, &r, NULL, 0), RC_OK);
	ck_assert_int_eq(rx_find(r, s, t, 0, NULL), RC_TOOBIG);
	t.n--;
	ck_assert_int_eq(rx_find(r, s, t, 0, NULL), RC_OK);
	free((char *)(uintptr_t)t.p);
	rx_free(r);
	rx_scratch_free(s);
}

TEST(scratch_memory_is_usable_after_a_limit)
{
	struct rx *bad = NULL;
	struct rx *good = NULL;
	struct rx_scratch *s = rx_scratch_new();
	struct rx_match m;
	struct str t = repeated("a", 60, "b");
	ck_assert_int_eq(rx_new(STR("(a+)+$"), 0, &bad, NULL, 0), RC_OK);
	ck_assert_int_eq(rx_new(STR("a(b)"), 0, &good, NULL, 0), RC_OK);
	for (int i = 0; i < 3; i++) {
		ck_assert_int_eq(rx_find(bad, s, t, 0, &m), RC_TOOBIG);
		ck_assert_int_eq(rx_find(good, s, t, 0, &m), RC_OK);
		ck_assert_int_eq(m.g[1].start, 60);
	}
	rx_free(bad);
	rx_free(good);
	rx_scratch_free(s);
	free((char *)(uintptr_t)t.p);
}
