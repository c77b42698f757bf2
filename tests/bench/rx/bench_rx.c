/*
 * The cost of a find, compared with the plain JIT of PCRE2, which checks
 * neither UTF-8 nor limits; and of the slowest find of hostile patterns.
 */
#include <stdio.h>
#include <string.h>

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include "core/mem.h"
#include "rx/rx.h"
#include "testkit/figures.h"
#include "testkit/testkit.h"

/* Rounds of each operation, alternating with the other. */
#define ROUNDS 25
#define BATCH  2000

struct sample {
	const char *pattern;
	const char *text;
	struct rx *rx;
	struct rx_scratch *scratch;
	pcre2_code *code;
	pcre2_match_data *data;
};

/* CPU time of this thread. */
static double
time_rx(struct sample *s, int n)
{
	struct rx_match m;
	struct str text = str_of(s->text);
	size_t bad = 0; /* ck_assert() itself takes longer than a find. */
	double from = tk_now_ns();
	for (int i = 0; i < n; i++)
		bad += rx_find(s->rx, s->scratch, text, 0, &m) != RC_OK;
	double took = tk_now_ns() - from;
	ck_assert_uint_eq(bad, 0);
	return took / n;
}

static double
time_bare(struct sample *s, int n)
{
	size_t len = strlen(s->text);
	double from = tk_now_ns();
	for (int i = 0; i < n; i++)
		(void)pcre2_jit_match(
		    s->code, (PCRE2_SPTR)s->text, len, 0, 0, s->data, NULL);
	return (tk_now_ns() - from) / n;
}

static void
bench(struct sample *s)
{
	double rx[ROUNDS];
	double bare[ROUNDS];
	int error;
	size_t at;
	ck_assert_int_eq(rx_new(str_of(s->pattern), 0, &s->rx, NULL, 0), RC_OK);
	s->scratch = rx_scratch_new();
	s->code = pcre2_compile((PCRE2_SPTR)s->pattern, strlen(s->pattern),
	    PCRE2_UTF | PCRE2_UCP, &error, &at, NULL);
	ck_assert_ptr_nonnull(s->code);
	ck_assert_int_eq(pcre2_jit_compile(s->code, PCRE2_JIT_COMPLETE), 0);
	s->data = pcre2_match_data_create_from_pattern(s->code, NULL);
	for (int r = 0; r < ROUNDS; r++) {
		rx[r] = time_rx(s, BATCH);
		bare[r] = time_bare(s, BATCH);
	}
	tk_sort(rx, ROUNDS);
	tk_sort(bare, ROUNDS);
	printf(
	    "%7.0f %7.0f  %s\n", bare[ROUNDS / 2], rx[ROUNDS / 2], s->pattern);
	pcre2_match_data_free(s->data);
	pcre2_code_free(s->code);
	rx_scratch_free(s->scratch);
	rx_free(s->rx);
}

static void
bench_worst(const char *pattern, const char *text)
{
	struct rx *r = NULL;
	struct rx_scratch *s = rx_scratch_new();
	double worst = 0;
	double from = tk_now_ns();
	ck_assert_int_eq(rx_new(str_of(pattern), 0, &r, NULL, 0), RC_OK);
	double compile = tk_now_ns() - from;
	for (int i = 0; i < 50; i++) {
		from = tk_now_ns();
		ck_assert_int_eq(
		    rx_find(r, s, str_of(text), 0, NULL), RC_TOOBIG);
		double took = tk_now_ns() - from;
		worst = took > worst ? took : worst;
	}
	printf("%7.0f %7.0f  %s\n", compile / 1e3, worst / 1e3, pattern);
	rx_free(r);
	rx_scratch_free(s);
}

TEST_T(finds_compared_with_pcre2, 120)
{
	struct sample samples[] = {
		{ .pattern = "(\\d+)\\s*(?:分钟|秒|小时)",
		    .text = "帮我订一个10分钟之后的闹钟" },
		{ .pattern = "(打开|关闭|关掉)(?:客厅|卧室)?的?(灯|空调)",
		    .text = "请把窗户关上然后打开客厅的灯" },
		{ .pattern = "^[a-z]+_[a-z]+$", .text = "control_light" },
		{ .pattern = "red|green|blue|white",
		    .text = "please set the light in the room to white" },
	};
	printf("ns a find\n%7s %7s\n", "bare", "rx");
	for (size_t i = 0; i < NELEM(samples); i++)
		bench(&samples[i]);
}

TEST_T(slowest_finds_of_hostile_patterns, 120)
{
	char text[201];
	memset(text, 'a', sizeof(text) - 1);
	memcpy(text + sizeof(text) - 5, "xyz!", 5);
	printf("µs of patterns made to hang, the worst of 50\n%7s %7s\n",
	    "compile", "find");
	bench_worst("(a+)+$", text);
	bench_worst("(.*)(.*)(.*)(.*)(.*)x$", text);
	bench_worst("(?:(?=.*x.*y)a)+[bc]", text);
}
