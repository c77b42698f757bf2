/*
 * PCRE2 under limits that hold in the JIT too.
 *
 * The JIT knows only the match limit, counts it anew at every start position
 * and lets one count cost a scan of the whole text.  So a find has two phases.
 * The fast one runs the plain JIT code where text length × start positions ×
 * counts stays below FAST_COST, which nearly every call does.  The slow one
 * runs code compiled with automatic callouts: our own function is called before
 * every item of the pattern and ends the match by count or by time.
 */
#include "rx/rx.h"

#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include "core/buf.h"
#include "core/clock.h"
#include "core/mem.h"
#include "rx/ecma.h"

/* Bytes of a pattern in PCRE2's words, and of its compiled form. */
#define TEXT_MAX    (16 * 1024)
#define CODE_MAX    (16 * 1024)
#define NESTING_MAX 100

/* Work of the fast phase; a unit is roughly one byte looked at once. */
#define FAST_COST      (1024 * 1024)
#define FAST_LIMIT_MIN 4
#define FAST_LIMIT_MAX 10000

/*
 * Callouts and CPU time of the slow phase, and what each byte of text adds, so
 * that patterns that only walk through a long text come to its end.
 */
#define SLOW_STEPS       50000
#define SLOW_NS          (1500 * 1000)
#define SLOW_NS_PER_BYTE 32
#define SLOW_BYTES_MAX   (64 * 1024)
/* Compiled form above which the JIT takes longer than it saves. */
#define SLOW_JIT_MAX 2048

#define HEAP_KIB      2048
#define JIT_STACK_MIN (32 * 1024)
#define JIT_STACK_MAX (512 * 1024)

struct rx {
	pcre2_code *code;
	_Atomic(pcre2_code *) *slow; /* made when first needed */
	struct buf text;             /* what slow is made from */
	uint32_t options;
	uint32_t groups;
	size_t weight; /* of one byte looked at, ≥ 1 */
	bool anchored;
};

struct rx_scratch {
	pcre2_match_data *data;
	pcre2_match_context *fast;
	pcre2_match_context *slow;
	pcre2_jit_stack *stack;
	size_t steps; /* left */
	size_t every; /* steps between two looks at the clock */
	struct budget time;
};

static void *
ctx_alloc(size_t n, void *arg)
{
	(void)arg;
	return mem_alloc(n);
}

static void
ctx_free(void *p, void *arg)
{
	(void)arg;
	free(p);
}

static size_t
code_size(const pcre2_code *code)
{
	size_t n = 0;
	(void)pcre2_pattern_info(code, PCRE2_INFO_SIZE, &n);
	return n;
}

/* NULL with PCRE2's error and its offset. */
static pcre2_code *
compile(struct str text, uint32_t options, int *error, size_t *at)
{
	pcre2_general_context *g =
	    pcre2_general_context_create(ctx_alloc, ctx_free, NULL);
	pcre2_compile_context *c = pcre2_compile_context_create(g);
	(void)pcre2_set_parens_nest_limit(c, NESTING_MAX);
	(void)pcre2_set_newline(c, PCRE2_NEWLINE_LF);
	pcre2_code *code =
	    pcre2_compile((PCRE2_SPTR)text.p, text.n, options, error, at, c);
	pcre2_compile_context_free(c);
	pcre2_general_context_free(g);
	return code;
}

static uint32_t
options_of(unsigned flags)
{
	uint32_t o = PCRE2_UTF | PCRE2_NEVER_BACKSLASH_C;
	if ((flags & RX_NOCASE) != 0)
		o |= PCRE2_CASELESS;
	if ((flags & RX_ECMA) != 0)
		o |= PCRE2_DOLLAR_ENDONLY | PCRE2_MATCH_UNSET_BACKREF |
		    PCRE2_ALLOW_EMPTY_CLASS;
	else
		o |= PCRE2_UCP;
	return o;
}

/* The offset in an ECMA pattern of what became byte at of its translation. */
static size_t
ecma_offset(struct str pattern, size_t at)
{
	struct buf b = BUF_INIT(at);
	size_t from = pattern.n;
	const char *why;
	if (rx_ecma(pattern, &b, &from, &why) == RC_OK)
		from = pattern.n;
	buf_free(&b);
	return from;
}

static enum rc
explain(int error, size_t at, char *why, size_t why_size)
{
	unsigned char text[128];
	(void)pcre2_get_error_message(error, text, sizeof(text));
	(void)snprintf(why, why_size, "%s (byte %zu)", (const char *)text, at);
	switch (error) {
	case PCRE2_ERROR_QUANTIFIER_TOO_BIG:
	case PCRE2_ERROR_PARENTHESES_NEST_TOO_DEEP:
	case PCRE2_ERROR_PATTERN_TOO_LARGE:
	case PCRE2_ERROR_HEAP_FAILED:
	case PCRE2_ERROR_TOO_MANY_NAMED_SUBPATTERNS:
	case PCRE2_ERROR_LOOKBEHIND_TOO_COMPLICATED:
	case PCRE2_ERROR_PATTERN_TOO_COMPLICATED:
	case PCRE2_ERROR_LOOKBEHIND_TOO_LONG:
	case PCRE2_ERROR_TOO_MANY_CAPTURES:
		return RC_TOOBIG;
	default:
		return RC_INVALID;
	}
}

static int
refuse_callout(pcre2_callout_enumerate_block *b, void *arg)
{
	(void)b;
	(void)arg;
	return 1;
}

/* Fill r->code from r->text. */
static enum rc
compile_fast(struct rx *r, struct str pattern, unsigned flags, char *why,
    size_t why_size)
{
	int error;
	size_t at;
	r->code = compile(buf_str(&r->text), r->options, &error, &at);
	if (r->code == NULL) {
		if ((flags & RX_ECMA) != 0)
			at = ecma_offset(pattern, at);
		return explain(error, at, why, why_size);
	}
	if (pcre2_callout_enumerate(r->code, refuse_callout, NULL) != 0) {
		(void)snprintf(why, why_size, "must not have callouts");
		return RC_INVALID;
	}
	size_t size = code_size(r->code);
	if (size > CODE_MAX) {
		(void)snprintf(why, why_size, "is too complex");
		return RC_TOOBIG;
	}
	/* Where this fails, PCRE2's interpreter runs instead. */
	(void)pcre2_jit_compile(r->code, PCRE2_JIT_COMPLETE);
	uint32_t all = 0;
	(void)pcre2_pattern_info(r->code, PCRE2_INFO_ALLOPTIONS, &all);
	(void)pcre2_pattern_info(r->code, PCRE2_INFO_CAPTURECOUNT, &r->groups);
	r->anchored = (all & PCRE2_ANCHORED) != 0;
	r->weight = 1 + size / 2048;
	return RC_OK;
}

enum rc
rx_new(struct str pattern, unsigned flags, struct rx **out, char *why,
    size_t why_size)
{
	if (pattern.n > RX_PATTERN_MAX) {
		(void)snprintf(
		    why, why_size, "has more than %d bytes", RX_PATTERN_MAX);
		return RC_TOOBIG;
	}
	struct rx *r = mem_zalloc(sizeof(*r));
	r->slow = mem_zalloc(sizeof(*r->slow));
	r->options = options_of(flags);
	buf_init(&r->text, TEXT_MAX);
	enum rc rc = RC_OK;
	size_t at = 0;
	const char *what = "is too complex";
	if ((flags & RX_ECMA) != 0)
		rc = rx_ecma(pattern, &r->text, &at, &what);
	else
		buf_put_str(&r->text, pattern);
	if (rc != RC_OK)
		(void)snprintf(why, why_size, "%s (byte %zu)", what, at);
	else
		rc = compile_fast(r, pattern, flags, why, why_size);
	if (rc != RC_OK) {
		rx_free(r);
		return rc;
	}
	*out = r;
	return RC_OK;
}

void
rx_free(struct rx *r)
{
	if (r == NULL)
		return;
	pcre2_code_free(r->code);
	pcre2_code_free(atomic_load(r->slow));
	free(r->slow);
	buf_free(&r->text);
	free(r);
}

size_t
rx_groups(const struct rx *r)
{
	return r->groups;
}

/* Called before every item of a pattern in the slow phase. */
static int
on_step(pcre2_callout_block *b, void *arg)
{
	struct rx_scratch *s = arg;
	(void)b;
	s->steps--;
	if (s->steps == 0 ||
	    (s->steps % s->every == 0 && budget_over(&s->time)))
		return PCRE2_ERROR_MATCHLIMIT;
	return 0;
}

struct rx_scratch *
rx_scratch_new(void)
{
	struct rx_scratch *s = mem_zalloc(sizeof(*s));
	pcre2_general_context *g =
	    pcre2_general_context_create(ctx_alloc, ctx_free, NULL);
	s->data = pcre2_match_data_create(RX_GROUPS_MAX, g);
	s->fast = pcre2_match_context_create(g);
	s->slow = pcre2_match_context_create(g);
	s->stack = pcre2_jit_stack_create(JIT_STACK_MIN, JIT_STACK_MAX, g);
	(void)pcre2_set_heap_limit(s->fast, HEAP_KIB);
	(void)pcre2_set_heap_limit(s->slow, HEAP_KIB);
	(void)pcre2_set_callout(s->slow, on_step, s);
	/* A NULL stack, for want of address space, means 32 KiB of ours. */
	pcre2_jit_stack_assign(s->fast, NULL, s->stack);
	pcre2_jit_stack_assign(s->slow, NULL, s->stack);
	pcre2_general_context_free(g);
	return s;
}

void
rx_scratch_free(struct rx_scratch *s)
{
	if (s == NULL)
		return;
	pcre2_match_data_free(s->data);
	pcre2_match_context_free(s->fast);
	pcre2_match_context_free(s->slow);
	pcre2_jit_stack_free(s->stack);
	free(s);
}

static int
run(const pcre2_code *code, struct rx_scratch *s, pcre2_match_context *c,
    struct str text, size_t from)
{
	return pcre2_match(code, (PCRE2_SPTR)text.p, text.n, from,
	    PCRE2_NO_UTF_CHECK, s->data, c);
}

static int
find_fast(
    const struct rx *r, struct rx_scratch *s, struct str text, size_t from)
{
	uint64_t span = text.n - from + 1;
	uint64_t cost = span * (r->anchored ? 1 : span) * r->weight;
	uint64_t limit = FAST_COST / cost;
	if (limit < FAST_LIMIT_MIN)
		return PCRE2_ERROR_MATCHLIMIT;
	if (limit > FAST_LIMIT_MAX)
		limit = FAST_LIMIT_MAX;
	(void)pcre2_set_match_limit(s->fast, (uint32_t)limit);
	return run(r->code, s, s->fast, text, from);
}

/* The code with callouts; two threads may make it at once, one is kept. */
static pcre2_code *
slow_code(const struct rx *r)
{
	pcre2_code *old = atomic_load(r->slow);
	if (old != NULL)
		return old;
	int error;
	size_t at;
	pcre2_code *code = compile(
	    buf_str(&r->text), r->options | PCRE2_AUTO_CALLOUT, &error, &at);
	if (code == NULL)
		return NULL;
	if (code_size(code) <= SLOW_JIT_MAX)
		(void)pcre2_jit_compile(code, PCRE2_JIT_COMPLETE);
	if (atomic_compare_exchange_strong(r->slow, &old, code))
		return code;
	pcre2_code_free(code);
	return old;
}

static int
find_slow(
    const struct rx *r, struct rx_scratch *s, struct str text, size_t from)
{
	const pcre2_code *code = slow_code(r);
	if (code == NULL) /* callouts made it too large */
		return PCRE2_ERROR_MATCHLIMIT;
	size_t n = text.n < SLOW_BYTES_MAX ? text.n : SLOW_BYTES_MAX;
	s->steps = SLOW_STEPS + n;
	/* An item of the pattern may look at the whole text. */
	s->every = 1 + 512 * 1024 / (16 * 1024 + text.n);
	budget_start(&s->time, SLOW_NS + (int64_t)n * SLOW_NS_PER_BYTE);
	return run(code, s, s->slow, text, from);
}

static enum rc
rc_of(int error)
{
	switch (error) {
	case PCRE2_ERROR_NOMATCH:
		return RC_NOENT;
	case PCRE2_ERROR_MATCHLIMIT:
	case PCRE2_ERROR_DEPTHLIMIT:
	case PCRE2_ERROR_HEAPLIMIT:
	case PCRE2_ERROR_JIT_STACKLIMIT:
	case PCRE2_ERROR_RECURSELOOP:
		return RC_TOOBIG;
	default:
		return RC_BUG;
	}
}

static void
report(const struct rx *r, struct rx_scratch *s, int n, struct rx_match *m)
{
	const size_t *o = pcre2_get_ovector_pointer(s->data);
	m->n = r->groups + 1 < RX_GROUPS_MAX ? r->groups + 1 : RX_GROUPS_MAX;
	/* 0: the pattern has more groups than there is room for. */
	size_t known = n > 0 ? (size_t)n : m->n;
	for (size_t i = 0; i < m->n; i++) {
		bool took_part = i < known && o[2 * i] != PCRE2_UNSET;
		m->g[i].start = took_part ? (ptrdiff_t)o[2 * i] : -1;
		m->g[i].end = took_part ? (ptrdiff_t)o[2 * i + 1] : -1;
	}
}

/* Most texts begin with ASCII, and many have nothing else. */
static bool
is_utf8(struct str s)
{
	uint64_t w;
	for (; s.n >= sizeof(w); s.p += sizeof(w), s.n -= sizeof(w)) {
		memcpy(&w, s.p, sizeof(w));
		if ((w & 0x8080808080808080ULL) != 0)
			break;
	}
	return str_utf8_count(s) >= 0;
}

enum rc
rx_find(const struct rx *r, struct rx_scratch *s, struct str text, size_t from,
    struct rx_match *m)
{
	if (text.p == NULL)
		text = STR("");
	if (text.n > RX_TEXT_MAX)
		return RC_TOOBIG;
	if (from > text.n ||
	    (from < text.n && ((unsigned char)text.p[from] & 0xc0) == 0x80) ||
	    !is_utf8(text))
		return RC_INVALID;
	int n = find_fast(r, s, text, from);
	if (n < 0 && rc_of(n) == RC_TOOBIG)
		n = find_slow(r, s, text, from);
	if (n < 0)
		return rc_of(n);
	if (m != NULL)
		report(r, s, n, m);
	return RC_OK;
}
