/*
 * PCRE2 with limits that hold in the JIT, too.
 *
 * The JIT has only the match limit, restarts it at every start position, and
 * one count of it may scan the whole text.  So a find has two phases.  The fast
 * one runs plain JIT code where text length × start positions × counts is below
 * FAST_COST, as in nearly all calls.  The slow one runs code with automatic
 * callouts: a function of ours runs before every item of the pattern and ends
 * the match by count or by CPU time.
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

/* Bytes of a pattern in the syntax of PCRE2, and of its compiled form. */
#define TEXT_MAX    (16 * 1024)
#define CODE_MAX    (16 * 1024)
#define NESTING_MAX 100

/* Work of the fast phase; a unit is about one byte read. */
#define FAST_COST      (1024 * 1024)
#define FAST_LIMIT_MIN 4
#define FAST_LIMIT_MAX 10000

/*
 * Callouts and CPU time of the slow phase, and what each byte of text adds, so
 * that simple patterns reach the end of a long text.
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

#define ECMA_OPTIONS                                        \
	(PCRE2_DOLLAR_ENDONLY | PCRE2_MATCH_UNSET_BACKREF | \
	    PCRE2_ALLOW_EMPTY_CLASS)

struct rx {
	pcre2_code *code;
	_Atomic(pcre2_code *) *slow; /* made when first needed */
	struct buf text;             /* what slow is made from */
	uint32_t options;
	uint32_t groups;
	size_t weight; /* work per byte read, ≥ 1 */
	bool anchored;
};

struct rx_scratch {
	pcre2_match_data *data;
	pcre2_match_context *fast;
	pcre2_match_context *slow;
	pcre2_jit_stack *stack;
	size_t steps; /* left */
	size_t every; /* steps between two reads of the clock */
	struct budget time;
	bool exceeded; /* rx_scratch_take_exceeded() */
};

/* ---- ECMA 262 ---- */

/*
 * Patterns of ECMA 262 with its flag u are copied to PCRE2's syntax.  Rewritten
 * is what has another meaning there, besides what rx_options() sets; rejected
 * is what only PCRE2 has.
 */

/* The characters of \s, and all others, as the inside of a class. */
#define SPACE                                                     \
	"\\u{9}-\\u{d}\\u{20}\\u{a0}\\u{1680}\\u{2000}-\\u{200a}" \
	"\\u{2028}\\u{2029}\\u{202f}\\u{205f}\\u{3000}\\u{feff}"
#define NOT_SPACE                                                     \
	"\\u{0}-\\u{8}\\u{e}-\\u{1f}\\u{21}-\\u{9f}\\u{a1}-\\u{167f}" \
	"\\u{1681}-\\u{1fff}\\u{200b}-\\u{2027}\\u{202a}-\\u{202e}"   \
	"\\u{2030}-\\u{205e}\\u{2060}-\\u{2fff}\\u{3001}-\\u{fefe}"   \
	"\\u{ff00}-\\u{10ffff}"
#define NOT_NEWLINE "[^\\n\\r\\u{2028}\\u{2029}]"

/* Long names of general categories; PCRE2 has the short ones. */
static const char ecma_categories[] =
    " Letter=L Cased_Letter=L& LC=L& Uppercase_Letter=Lu Lowercase_Letter=Ll"
    " Titlecase_Letter=Lt Modifier_Letter=Lm Other_Letter=Lo Mark=M"
    " Combining_Mark=M Nonspacing_Mark=Mn Spacing_Mark=Mc Enclosing_Mark=Me"
    " Number=N Decimal_Number=Nd digit=Nd Letter_Number=Nl Other_Number=No"
    " Punctuation=P punct=P Connector_Punctuation=Pc Dash_Punctuation=Pd"
    " Open_Punctuation=Ps Close_Punctuation=Pe Initial_Punctuation=Pi"
    " Final_Punctuation=Pf Other_Punctuation=Po Symbol=S Math_Symbol=Sm"
    " Currency_Symbol=Sc Modifier_Symbol=Sk Other_Symbol=So Separator=Z"
    " Space_Separator=Zs Line_Separator=Zl Paragraph_Separator=Zp Other=C"
    " Control=Cc cntrl=Cc Format=Cf Surrogate=Cs Private_Use=Co Unassigned=Cn ";

struct ecma {
	struct str in;
	size_t i; /* next byte of in */
	struct buf *out;
	const char *why; /* set after an error */
};

static bool
ecma_fail(struct ecma *e, const char *why)
{
	e->why = why;
	return false;
}

/* The byte k from here, or -1 at the end. */
static int
ecma_peek(const struct ecma *e, size_t k)
{
	return e->i + k < e->in.n ? (unsigned char)e->in.p[e->i + k] : -1;
}

static bool
ecma_copy(struct ecma *e, size_t n)
{
	buf_put(e->out, e->in.p + e->i, n);
	e->i += n;
	return true;
}

static bool
ecma_replace(struct ecma *e, size_t n, const char *text)
{
	buf_puts(e->out, text);
	e->i += n;
	return true;
}

static bool
ecma_is_digit(int c)
{
	return c >= '0' && c <= '9';
}

static bool
ecma_is_letter(int c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* How many hexadecimal digits stand k bytes from here, at most max. */
static size_t
ecma_hex_digits(const struct ecma *e, size_t k, size_t max)
{
	size_t n = 0;
	int c;

	while (n < max && (c = ecma_peek(e, k + n)) >= 0 &&
	    (ecma_is_digit(c) || ((c | 32) >= 'a' && (c | 32) <= 'f')))
		n++;
	return n;
}

static uint32_t
ecma_hex4(const struct ecma *e, size_t k)
{
	char text[5];

	str_copy((struct str){ e->in.p + e->i + k, 4 }, text, sizeof(text));
	return (uint32_t)strtoul(text, NULL, 16);
}

/* \uXXXX, two of which may be a surrogate pair, or \u{X…}. */
static bool
ecma_put_unicode(struct ecma *e)
{
	uint32_t high, low;
	size_t n;

	if (ecma_peek(e, 2) == '{') {
		n = ecma_hex_digits(e, 3, RX_PATTERN_MAX);
		if (n == 0)
			return ecma_fail(e, "needs hexadecimal digits");
		if (ecma_peek(e, 3 + n) != '}')
			return ecma_fail(e, "needs a }");
		return ecma_copy(e, 4 + n);
	}
	if (ecma_hex_digits(e, 2, 4) < 4)
		return ecma_fail(e, "needs hexadecimal digits");
	high = ecma_hex4(e, 2);
	if (high < 0xd800 || high > 0xdbff || ecma_peek(e, 6) != '\\' ||
	    ecma_peek(e, 7) != 'u' || ecma_hex_digits(e, 8, 4) < 4)
		return ecma_copy(e, 6);
	low = ecma_hex4(e, 8);
	if (low < 0xdc00 || low > 0xdfff)
		return ecma_copy(e, 6);
	buf_printf(e->out, "\\u{%x}",
	    0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00));
	e->i += 12;
	return true;
}

/* An escape that stands for one character. */
static bool
ecma_put_char_escape(struct ecma *e)
{
	int c = ecma_peek(e, 1), next = ecma_peek(e, 2);

	if (c < 0)
		return ecma_fail(e, "ends with a backslash");
	if (!ecma_is_letter(c) && !ecma_is_digit(c))
		return ecma_copy(e, 2);
	switch (c) {
	case 'f':
	case 'n':
	case 'r':
	case 't':
		return ecma_copy(e, 2);
	case 'v':
		return ecma_replace(e, 2, "\\u{b}");
	case 'c':
		if (ecma_is_letter(next))
			return ecma_copy(e, 3);
		break;
	case '0':
		if (!ecma_is_digit(next))
			return ecma_replace(e, 2, "\\u{0}");
		break;
	case 'x':
		if (ecma_hex_digits(e, 2, 2) < 2)
			return ecma_fail(e, "needs hexadecimal digits");
		return ecma_copy(e, 4);
	case 'u':
		return ecma_put_unicode(e);
	default:
		break;
	}
	return ecma_fail(e, "is not an escape of ECMA 262");
}

/* \p{…} or \P{…}. */
static bool
ecma_put_property(struct ecma *e)
{
	static const struct str prefixes[] = { STR_INIT("General_Category="),
		STR_INIT("gc=") };
	char key[RX_PATTERN_MAX + 3];
	struct str rest = { e->in.p + e->i, e->in.n - e->i }, name;
	const char *found;
	size_t n = 3, skip;
	int c;

	while ((c = ecma_peek(e, n)) == '_' || c == '=' || ecma_is_letter(c) ||
	    ecma_is_digit(c))
		n++;
	if (ecma_peek(e, 2) != '{' || c != '}')
		return ecma_fail(e, "needs a property in braces");
	name = (struct str){ rest.p + 3, n - 3 };
	c = ecma_peek(e, 1);
	n++;
	skip = str_starts_any(name, prefixes, NELEM(prefixes));
	name.p += skip;
	name.n -= skip;
	(void)snprintf(key, sizeof(key), " %.*s=", STR_ARG(name));
	found = strstr(ecma_categories, key);
	if (found != NULL) {
		name.p = found + strlen(key);
		name.n = strcspn(name.p, " ");
	}
	buf_printf(e->out, "\\%c{%.*s}", c, STR_ARG(name));
	e->i += n;
	return true;
}

/* Whether an escape for a set of characters stands k bytes from here. */
static bool
ecma_set_at(const struct ecma *e, size_t k)
{
	int c = ecma_peek(e, k + 1);

	return ecma_peek(e, k) == '\\' && c > 0 &&
	    strchr("dDwWsSpP", c) != NULL;
}

static bool
ecma_put_set(struct ecma *e, bool in_class)
{
	switch (ecma_peek(e, 1)) {
	case 's':
		return ecma_replace(e, 2, in_class ? SPACE : "[" SPACE "]");
	case 'S':
		return ecma_replace(
		    e, 2, in_class ? NOT_SPACE : "[^" SPACE "]");
	case 'p':
	case 'P':
		return ecma_put_property(e);
	default:
		return ecma_copy(e, 2);
	}
}

/* One character or set inside a class. */
static bool
ecma_put_class_atom(struct ecma *e)
{
	int c = ecma_peek(e, 0);

	if (ecma_set_at(e, 0))
		return ecma_put_set(e, true);
	if (c == '\\')
		return ecma_peek(e, 1) == 'b' ? ecma_copy(e, 2)
					      : ecma_put_char_escape(e);
	/* -, and what would be a POSIX class, are literal. */
	if (c < 0x80 && strchr("[-:.=", c) != NULL)
		buf_putc(e->out, '\\');
	do
		ecma_copy(e, 1);
	while ((c = ecma_peek(e, 0)) >= 0x80 && c < 0xc0);
	return true;
}

static bool
ecma_put_class(struct ecma *e)
{
	bool is_set;

	ecma_copy(e, ecma_peek(e, 1) == '^' ? 2 : 1);
	while (ecma_peek(e, 0) != ']') {
		if (ecma_peek(e, 0) < 0)
			return ecma_fail(e, "has a [ without its ]");
		is_set = ecma_set_at(e, 0);
		if (!ecma_put_class_atom(e))
			return false;
		if (ecma_peek(e, 0) != '-' || ecma_peek(e, 1) == ']')
			continue;
		if (is_set || ecma_set_at(e, 1))
			continue; /* the - is literal */
		if (ecma_peek(e, 1) < 0)
			return ecma_fail(e, "has a [ without its ]");
		ecma_copy(e, 1);
		if (!ecma_put_class_atom(e))
			return false;
	}
	return ecma_copy(e, 1);
}

/* Bytes of the quantifier here; 0: none. */
static size_t
ecma_quantifier(const struct ecma *e)
{
	int c = ecma_peek(e, 0);
	size_t k = 1;

	if (c == '*' || c == '+' || c == '?')
		return 1;
	if (c != '{' || !ecma_is_digit(ecma_peek(e, 1)))
		return 0;
	while (ecma_is_digit(ecma_peek(e, k)))
		k++;
	if (ecma_peek(e, k) == ',')
		k++;
	while (ecma_is_digit(ecma_peek(e, k)))
		k++;
	return ecma_peek(e, k) == '}' ? k + 1 : 0;
}

static bool
ecma_put_quantifier(struct ecma *e, size_t n)
{
	ecma_copy(e, n);
	if (ecma_peek(e, 0) == '?')
		ecma_copy(e, 1);
	if (ecma_quantifier(e) > 0)
		return ecma_fail(e, "has a quantifier with nothing to repeat");
	return true;
}

static bool
ecma_put_open(struct ecma *e)
{
	static const struct str known[] = { STR_INIT("(?:"), STR_INIT("(?="),
		STR_INIT("(?!"), STR_INIT("(?<") };
	struct str rest = { e->in.p + e->i, e->in.n - e->i };
	size_t n;

	if (ecma_peek(e, 1) == '*')
		return ecma_fail(e, "has a quantifier with nothing to repeat");
	if (ecma_peek(e, 1) != '?')
		return ecma_copy(e, 1);
	n = str_starts_any(rest, known, NELEM(known));
	if (n == 0)
		return ecma_fail(e, "has a group that ECMA 262 does not know");
	if (rest.p[2] == '<' &&
	    (ecma_peek(e, n) == '=' || ecma_peek(e, n) == '!'))
		n++;
	return ecma_copy(e, n);
}

/* An escape outside classes. */
static bool
ecma_put_escape(struct ecma *e)
{
	int c = ecma_peek(e, 1);

	if (ecma_set_at(e, 0))
		return ecma_put_set(e, false);
	if (c == 'b' || c == 'B' || (c == 'k' && ecma_peek(e, 2) == '<'))
		return ecma_copy(e, 2);
	if (!ecma_is_digit(c) || c == '0')
		return ecma_put_char_escape(e);
	/* \10 would be octal where there are fewer groups. */
	ecma_replace(e, 1, "\\g{");
	while (ecma_is_digit(ecma_peek(e, 0)))
		ecma_copy(e, 1);
	buf_putc(e->out, '}');
	return true;
}

static bool
ecma_put_token(struct ecma *e)
{
	size_t n = ecma_quantifier(e);

	if (n > 0)
		return ecma_put_quantifier(e, n);
	switch (ecma_peek(e, 0)) {
	case '\\':
		return ecma_put_escape(e);
	case '[':
		return ecma_put_class(e);
	case '(':
		return ecma_put_open(e);
	case '.':
		return ecma_replace(e, 1, NOT_NEWLINE);
	case '{': /* later versions of PCRE2 take {,n} for a quantifier */
		return ecma_replace(e, 1, "\\{");
	default:
		return ecma_copy(e, 1);
	}
}

/*
 * Append pattern in PCRE2's syntax to out.  RC_INVALID with *at, an offset in
 * pattern, and *why for errors that PCRE2 would not find; RC_TOOBIG if out is
 * full, with *at.
 */
static enum rc
ecma_translate(
    struct str pattern, struct buf *out, size_t *at, const char **why)
{
	struct ecma e = { .in = pattern, .out = out };

	while (e.i < e.in.n) {
		*at = e.i;
		if (!ecma_put_token(&e)) {
			*why = e.why;
			return RC_INVALID;
		}
		if (buf_rc(out) != RC_OK)
			return RC_TOOBIG;
	}
	return RC_OK;
}

/* ---- compiling ---- */

static void *
rx_ctx_alloc(size_t n, void *arg)
{
	(void)arg;
	return mem_alloc(n);
}

static void
rx_ctx_free(void *p, void *arg)
{
	(void)arg;
	free(p);
}

static size_t
rx_code_size(const pcre2_code *code)
{
	size_t n = 0;
	(void)pcre2_pattern_info(code, PCRE2_INFO_SIZE, &n);
	return n;
}

/* NULL with *error, of PCRE2, and its offset. */
static pcre2_code *
rx_compile(struct str text, uint32_t options, int *error, size_t *at)
{
	pcre2_general_context *g =
	    pcre2_general_context_create(rx_ctx_alloc, rx_ctx_free, NULL);
	pcre2_compile_context *c = pcre2_compile_context_create(g);
	(void)pcre2_set_parens_nest_limit(c, NESTING_MAX);
	(void)pcre2_set_newline(c, PCRE2_NEWLINE_LF);
	/* \xXX, \uXXXX and \u{X…}, as in ECMA 262. */
	if ((options & ECMA_OPTIONS) == ECMA_OPTIONS)
		(void)pcre2_set_compile_extra_options(c, PCRE2_EXTRA_ALT_BSUX);
	pcre2_code *code =
	    pcre2_compile((PCRE2_SPTR)text.p, text.n, options, error, at, c);
	pcre2_compile_context_free(c);
	pcre2_general_context_free(g);
	return code;
}

static uint32_t
rx_options(unsigned flags)
{
	uint32_t o = PCRE2_UTF | PCRE2_NEVER_BACKSLASH_C;
	if ((flags & RX_NOCASE) != 0)
		o |= PCRE2_CASELESS;
	if ((flags & RX_ECMA) != 0)
		o |= ECMA_OPTIONS;
	else
		o |= PCRE2_UCP;
	return o;
}

/* The offset in an ECMA pattern for offset at in its translation. */
static size_t
ecma_source_offset(struct str pattern, size_t at)
{
	struct buf b = BUF_INIT(at);
	size_t from = pattern.n;
	const char *why;
	if (ecma_translate(pattern, &b, &from, &why) == RC_OK)
		from = pattern.n;
	buf_free(&b);
	return from;
}

static enum rc
rx_compile_error(int error, size_t at, char *why, size_t why_size)
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
rx_reject_callout(pcre2_callout_enumerate_block *b, void *arg)
{
	(void)b;
	(void)arg;
	return 1;
}

/* Fill r->code from r->text. */
static enum rc
rx_compile_fast(struct rx *r, struct str pattern, unsigned flags, char *why,
    size_t why_size)
{
	int error;
	size_t at;
	r->code = rx_compile(buf_str(&r->text), r->options, &error, &at);
	if (r->code == NULL) {
		if ((flags & RX_ECMA) != 0)
			at = ecma_source_offset(pattern, at);
		return rx_compile_error(error, at, why, why_size);
	}
	if (pcre2_callout_enumerate(r->code, rx_reject_callout, NULL) != 0) {
		(void)snprintf(why, why_size, "must not have callouts");
		return RC_INVALID;
	}
	size_t size = rx_code_size(r->code);
	if (size > CODE_MAX) {
		(void)snprintf(why, why_size, "is too complex");
		return RC_TOOBIG;
	}
	/* If this fails, the interpreter of PCRE2 runs instead. */
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
	r->options = rx_options(flags);
	buf_init(&r->text, TEXT_MAX);
	enum rc rc = RC_OK;
	size_t at = 0;
	const char *what = "is too complex";
	if ((flags & RX_ECMA) != 0)
		rc = ecma_translate(pattern, &r->text, &at, &what);
	else
		buf_put_str(&r->text, pattern);
	if (rc != RC_OK)
		(void)snprintf(why, why_size, "%s (byte %zu)", what, at);
	else
		rc = rx_compile_fast(r, pattern, flags, why, why_size);
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
rx_on_step(pcre2_callout_block *b, void *arg)
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
	    pcre2_general_context_create(rx_ctx_alloc, rx_ctx_free, NULL);
	s->data = pcre2_match_data_create(RX_GROUPS_MAX, g);
	s->fast = pcre2_match_context_create(g);
	s->slow = pcre2_match_context_create(g);
	s->stack = pcre2_jit_stack_create(JIT_STACK_MIN, JIT_STACK_MAX, g);
	(void)pcre2_set_heap_limit(s->fast, HEAP_KIB);
	(void)pcre2_set_heap_limit(s->slow, HEAP_KIB);
	(void)pcre2_set_callout(s->slow, rx_on_step, s);
	/* A NULL stack, without address space, means 32 KiB of the thread's. */
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

bool
rx_scratch_take_exceeded(struct rx_scratch *s)
{
	bool exceeded = s->exceeded;

	s->exceeded = false;
	return exceeded;
}

static int
rx_match_code(const pcre2_code *code, struct rx_scratch *s,
    pcre2_match_context *c, struct str text, size_t from)
{
	return pcre2_match(code, (PCRE2_SPTR)text.p, text.n, from,
	    PCRE2_NO_UTF_CHECK, s->data, c);
}

static int
rx_find_fast(
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
	return rx_match_code(r->code, s, s->fast, text, from);
}

/* The code with callouts; if two threads make it, one is dropped. */
static pcre2_code *
rx_slow_code(const struct rx *r)
{
	pcre2_code *old = atomic_load(r->slow);
	if (old != NULL)
		return old;
	int error;
	size_t at;
	pcre2_code *code = rx_compile(
	    buf_str(&r->text), r->options | PCRE2_AUTO_CALLOUT, &error, &at);
	if (code == NULL)
		return NULL;
	if (rx_code_size(code) <= SLOW_JIT_MAX)
		(void)pcre2_jit_compile(code, PCRE2_JIT_COMPLETE);
	if (atomic_compare_exchange_strong(r->slow, &old, code))
		return code;
	pcre2_code_free(code);
	return old;
}

static int
rx_find_slow(
    const struct rx *r, struct rx_scratch *s, struct str text, size_t from)
{
	const pcre2_code *code = rx_slow_code(r);
	if (code == NULL) /* callouts made it too large */
		return PCRE2_ERROR_MATCHLIMIT;
	size_t n = text.n < SLOW_BYTES_MAX ? text.n : SLOW_BYTES_MAX;
	s->steps = SLOW_STEPS + n;
	/* An item of the pattern may read the whole text. */
	s->every = 1 + 512 * 1024 / (16 * 1024 + text.n);
	budget_start(&s->time, SLOW_NS + (int64_t)n * SLOW_NS_PER_BYTE);
	return rx_match_code(code, s, s->slow, text, from);
}

static enum rc
rx_match_rc(int error)
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
rx_report_groups(
    const struct rx *r, struct rx_scratch *s, int n, struct rx_match *m)
{
	const size_t *o = pcre2_get_ovector_pointer(s->data);
	m->n = r->groups + 1 < RX_GROUPS_MAX ? r->groups + 1 : RX_GROUPS_MAX;
	/* 0: the pattern has more groups than fit. */
	size_t known = n > 0 ? (size_t)n : m->n;
	for (size_t i = 0; i < m->n; i++) {
		bool took_part = i < known && o[2 * i] != PCRE2_UNSET;
		m->g[i].start = took_part ? (ptrdiff_t)o[2 * i] : -1;
		m->g[i].end = took_part ? (ptrdiff_t)o[2 * i + 1] : -1;
	}
}

/* Skips leading ASCII quickly, which is all of many texts. */
static bool
rx_is_utf8(struct str s)
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
	    !rx_is_utf8(text))
		return RC_INVALID;
	int n = rx_find_fast(r, s, text, from);
	if (n < 0 && rx_match_rc(n) == RC_TOOBIG)
		n = rx_find_slow(r, s, text, from);
	if (n < 0 && rx_match_rc(n) == RC_TOOBIG)
		s->exceeded = true;
	if (n < 0)
		return rx_match_rc(n);
	if (m != NULL)
		rx_report_groups(r, s, n, m);
	return RC_OK;
}
