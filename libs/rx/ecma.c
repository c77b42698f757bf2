/*
 * ECMA 262 patterns in PCRE2's words: what is spelled alike but means something
 * else is rewritten, what only PCRE2 knows is refused.
 */
#include "rx/ecma.h"

#include <stdbool.h>
#include <stdint.h>

#include "core/mem.h"

/* What \s and . stand for, as the inside of a class. */
#define SPACE                                                     \
	"\\x{9}-\\x{d}\\x{20}\\x{a0}\\x{1680}\\x{2000}-\\x{200a}" \
	"\\x{2028}\\x{2029}\\x{202f}\\x{205f}\\x{3000}\\x{feff}"
#define NOT_SPACE                                                     \
	"\\x{0}-\\x{8}\\x{e}-\\x{1f}\\x{21}-\\x{9f}\\x{a1}-\\x{167f}" \
	"\\x{1681}-\\x{1fff}\\x{200b}-\\x{2027}\\x{202a}-\\x{202e}"   \
	"\\x{2030}-\\x{205e}\\x{2060}-\\x{2fff}\\x{3001}-\\x{fefe}"   \
	"\\x{ff00}-\\x{10ffff}"
#define NOT_NEWLINE "[^\\n\\r\\x{2028}\\x{2029}]"

/* Long names of general categories; PCRE2 knows the short ones. */
static const struct {
	struct str name;
	const char *pcre;
} categories[] = {
	{ STR_INIT("Letter"), "L" },
	{ STR_INIT("Cased_Letter"), "L&" },
	{ STR_INIT("LC"), "L&" },
	{ STR_INIT("Uppercase_Letter"), "Lu" },
	{ STR_INIT("Lowercase_Letter"), "Ll" },
	{ STR_INIT("Titlecase_Letter"), "Lt" },
	{ STR_INIT("Modifier_Letter"), "Lm" },
	{ STR_INIT("Other_Letter"), "Lo" },
	{ STR_INIT("Mark"), "M" },
	{ STR_INIT("Combining_Mark"), "M" },
	{ STR_INIT("Nonspacing_Mark"), "Mn" },
	{ STR_INIT("Spacing_Mark"), "Mc" },
	{ STR_INIT("Enclosing_Mark"), "Me" },
	{ STR_INIT("Number"), "N" },
	{ STR_INIT("Decimal_Number"), "Nd" },
	{ STR_INIT("digit"), "Nd" },
	{ STR_INIT("Letter_Number"), "Nl" },
	{ STR_INIT("Other_Number"), "No" },
	{ STR_INIT("Punctuation"), "P" },
	{ STR_INIT("punct"), "P" },
	{ STR_INIT("Connector_Punctuation"), "Pc" },
	{ STR_INIT("Dash_Punctuation"), "Pd" },
	{ STR_INIT("Open_Punctuation"), "Ps" },
	{ STR_INIT("Close_Punctuation"), "Pe" },
	{ STR_INIT("Initial_Punctuation"), "Pi" },
	{ STR_INIT("Final_Punctuation"), "Pf" },
	{ STR_INIT("Other_Punctuation"), "Po" },
	{ STR_INIT("Symbol"), "S" },
	{ STR_INIT("Math_Symbol"), "Sm" },
	{ STR_INIT("Currency_Symbol"), "Sc" },
	{ STR_INIT("Modifier_Symbol"), "Sk" },
	{ STR_INIT("Other_Symbol"), "So" },
	{ STR_INIT("Separator"), "Z" },
	{ STR_INIT("Space_Separator"), "Zs" },
	{ STR_INIT("Line_Separator"), "Zl" },
	{ STR_INIT("Paragraph_Separator"), "Zp" },
	{ STR_INIT("Other"), "C" },
	{ STR_INIT("Control"), "Cc" },
	{ STR_INIT("cntrl"), "Cc" },
	{ STR_INIT("Format"), "Cf" },
	{ STR_INIT("Surrogate"), "Cs" },
	{ STR_INIT("Private_Use"), "Co" },
	{ STR_INIT("Unassigned"), "Cn" },
};

struct ecma {
	struct str in;
	size_t i; /* next byte of in */
	struct buf *out;
	const char *why; /* set once something is wrong */
};

static bool
fail(struct ecma *e, const char *why)
{
	e->why = why;
	return false;
}

/* The k-th byte from here, or -1 behind the end. */
static int
peek(const struct ecma *e, size_t k)
{
	if (e->i + k >= e->in.n)
		return -1;
	return (unsigned char)e->in.p[e->i + k];
}

static bool
is_digit(int c)
{
	return c >= '0' && c <= '9';
}

static bool
is_letter(int c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static int
hex_value(int c)
{
	if (is_digit(c))
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

/* A literal code point; punctuation never means anything then. */
static void
copy_char(struct ecma *e)
{
	int c = peek(e, 0);
	if (c < 0x80 && c > ' ' && !is_digit(c) && !is_letter(c) && c != 0x7f)
		buf_putc(e->out, '\\');
	do {
		buf_putc(e->out, e->in.p[e->i++]);
		c = peek(e, 0);
	} while (c >= 0x80 && c < 0xc0);
}

/* n hexadecimal digits, or if n is 0 as many as there are up to 8. */
static bool
read_hex(struct ecma *e, size_t n, uint32_t *v)
{
	size_t max = n > 0 ? n : 8;
	size_t k = 0;
	*v = 0;
	while (k < max && hex_value(peek(e, 0)) >= 0) {
		*v = *v << 4 | (uint32_t)hex_value(peek(e, 0));
		e->i++;
		k++;
	}
	if (k == 0 || k < n)
		return fail(e, "needs hexadecimal digits");
	return true;
}

/* Behind \u: four digits, two such as a surrogate pair, or {digits}. */
static bool
read_unicode(struct ecma *e, uint32_t *cp)
{
	uint32_t low;
	if (peek(e, 0) == '{') {
		e->i++;
		if (!read_hex(e, 0, cp))
			return false;
		if (peek(e, 0) != '}')
			return fail(e, "needs a }");
		e->i++;
	} else if (!read_hex(e, 4, cp)) {
		return false;
	} else if (*cp >= 0xd800 && *cp < 0xdc00 && peek(e, 0) == '\\' &&
	    peek(e, 1) == 'u') {
		e->i += 2;
		if (!read_hex(e, 4, &low))
			return false;
		if (low < 0xdc00 || low > 0xdfff)
			return fail(e, "is half of a surrogate pair");
		*cp = 0x10000 + ((*cp - 0xd800) << 10) + (low - 0xdc00);
	}
	if (*cp > 0x10ffff)
		return fail(e, "is no Unicode code point");
	if (*cp >= 0xd800 && *cp <= 0xdfff)
		return fail(e, "is half of a surrogate pair");
	return true;
}

/* An escape that stands for one character, from behind the backslash. */
static bool
put_char_escape(struct ecma *e)
{
	static const char letters[] = "t\tn\nr\rf\fv\v";
	uint32_t cp = 0;
	int c = peek(e, 0);
	if (c < 0)
		return fail(e, "ends with a backslash");
	if (!is_letter(c) && !is_digit(c)) {
		copy_char(e);
		return true;
	}
	e->i++;
	for (size_t k = 0; k + 1 < sizeof(letters); k += 2) {
		if (c == letters[k]) {
			buf_printf(e->out, "\\x{%x}", letters[k + 1]);
			return true;
		}
	}
	if (c == '0' && !is_digit(peek(e, 0))) {
		cp = 0;
	} else if (c == 'c' && is_letter(peek(e, 0))) {
		cp = (uint32_t)peek(e, 0) & 31U;
		e->i++;
	} else if (c == 'x') {
		if (!read_hex(e, 2, &cp))
			return false;
	} else if (c == 'u') {
		if (!read_unicode(e, &cp))
			return false;
	} else {
		return fail(e, "is not an escape of ECMA 262");
	}
	buf_printf(e->out, "\\x{%x}", (unsigned)cp);
	return true;
}

/* \p{…} or \P{…}, from the letter on. */
static bool
put_property(struct ecma *e)
{
	int letter = peek(e, 0);
	if (peek(e, 1) != '{')
		return fail(e, "needs a property in braces");
	e->i += 2;
	size_t from = e->i;
	while (is_letter(peek(e, 0)) || is_digit(peek(e, 0)) ||
	    peek(e, 0) == '_' || peek(e, 0) == '=')
		e->i++;
	if (peek(e, 0) != '}')
		return fail(e, "needs a property in braces");
	struct str name = { e->in.p + from, e->i - from };
	e->i++;
	static const struct str prefixes[] = {
		STR_INIT("General_Category="),
		STR_INIT("gc="),
	};
	for (size_t k = 0; k < NELEM(prefixes); k++) {
		if (str_starts(name, prefixes[k])) {
			name.p += prefixes[k].n;
			name.n -= prefixes[k].n;
			break;
		}
	}
	for (size_t k = 0; k < NELEM(categories); k++) {
		if (str_eq(name, categories[k].name))
			name = str_of(categories[k].pcre);
	}
	buf_printf(e->out, "\\%c{%.*s}", letter, STR_ARG(name));
	return true;
}

/*
 * An escape that stands for a set of characters, from behind the backslash;
 * *is_set is whether there is one.
 */
static bool
put_set_escape(struct ecma *e, bool in_class, bool *is_set)
{
	int c = peek(e, 0);
	*is_set = true;
	switch (c) {
	case 'd':
	case 'D':
	case 'w':
	case 'W':
		e->i++;
		buf_printf(e->out, "\\%c", c);
		return true;
	case 's':
		e->i++;
		buf_puts(e->out, in_class ? SPACE : "[" SPACE "]");
		return true;
	case 'S':
		e->i++;
		buf_puts(e->out, in_class ? NOT_SPACE : "[^" SPACE "]");
		return true;
	case 'p':
	case 'P':
		return put_property(e);
	default:
		*is_set = false;
		return true;
	}
}

/* One character or set inside a class. */
static bool
put_class_atom(struct ecma *e, bool *is_set)
{
	*is_set = false;
	if (peek(e, 0) != '\\') {
		copy_char(e);
		return true;
	}
	e->i++;
	if (peek(e, 0) == 'b') {
		e->i++;
		buf_puts(e->out, "\\x{8}");
		return true;
	}
	if (!put_set_escape(e, true, is_set))
		return false;
	return *is_set || put_char_escape(e);
}

/* Whether a set starts k bytes from here. */
static bool
set_at(const struct ecma *e, size_t k)
{
	int c = peek(e, k + 1);
	return peek(e, k) == '\\' &&
	    (c == 'd' || c == 'D' || c == 'w' || c == 'W' || c == 's' ||
		c == 'S' || c == 'p' || c == 'P');
}

static bool
put_class(struct ecma *e)
{
	bool is_set;
	e->i++;
	buf_putc(e->out, '[');
	if (peek(e, 0) == '^') {
		e->i++;
		buf_putc(e->out, '^');
	}
	while (peek(e, 0) != ']') {
		if (peek(e, 0) < 0)
			return fail(e, "has a [ without its ]");
		if (!put_class_atom(e, &is_set))
			return false;
		if (peek(e, 0) != '-' || peek(e, 1) == ']')
			continue;
		if (is_set || set_at(e, 1))
			continue; /* the - is itself */
		if (peek(e, 1) < 0)
			return fail(e, "has a [ without its ]");
		e->i++;
		buf_putc(e->out, '-');
		if (!put_class_atom(e, &is_set))
			return false;
	}
	e->i++;
	buf_putc(e->out, ']');
	return true;
}

/* How many bytes a quantifier here has; 0 if there is none. */
static size_t
quantifier(const struct ecma *e)
{
	int c = peek(e, 0);
	size_t k = 1;
	if (c == '*' || c == '+' || c == '?')
		return 1;
	if (c != '{' || !is_digit(peek(e, 1)))
		return 0;
	while (is_digit(peek(e, k)))
		k++;
	if (peek(e, k) == ',')
		k++;
	while (is_digit(peek(e, k)))
		k++;
	return peek(e, k) == '}' ? k + 1 : 0;
}

static bool
put_quantifier(struct ecma *e, size_t n)
{
	buf_put(e->out, e->in.p + e->i, n);
	e->i += n;
	if (peek(e, 0) == '?') {
		e->i++;
		buf_putc(e->out, '?');
	}
	if (quantifier(e) > 0)
		return fail(e, "has a quantifier with nothing to repeat");
	return true;
}

static bool
put_open(struct ecma *e)
{
	static const struct str known[] = {
		STR_INIT("(?:"),
		STR_INIT("(?="),
		STR_INIT("(?!"),
		STR_INIT("(?<"),
	};
	struct str rest = { e->in.p + e->i, e->in.n - e->i };
	if (peek(e, 1) == '*')
		return fail(e, "has a quantifier with nothing to repeat");
	if (peek(e, 1) != '?') {
		e->i++;
		buf_putc(e->out, '(');
		return true;
	}
	for (size_t k = 0; k < NELEM(known); k++) {
		if (!str_starts(rest, known[k]))
			continue;
		size_t n = known[k].n;
		if (known[k].p[2] == '<' &&
		    (peek(e, n) == '=' || peek(e, n) == '!'))
			n++;
		buf_put(e->out, rest.p, n);
		e->i += n;
		return true;
	}
	return fail(e, "has a group that ECMA 262 does not know");
}

/* An escape outside classes. */
static bool
put_escape(struct ecma *e)
{
	bool is_set;
	e->i++;
	int c = peek(e, 0);
	if (c == 'b' || c == 'B' || (c == 'k' && peek(e, 1) == '<')) {
		e->i++;
		buf_printf(e->out, "\\%c", c);
		return true;
	}
	if (is_digit(c) && c != '0') {
		buf_puts(e->out, "\\g{");
		while (is_digit(peek(e, 0)))
			buf_putc(e->out, e->in.p[e->i++]);
		buf_putc(e->out, '}');
		return true;
	}
	if (!put_set_escape(e, false, &is_set))
		return false;
	return is_set || put_char_escape(e);
}

static bool
put_token(struct ecma *e)
{
	size_t n = quantifier(e);
	if (n > 0)
		return put_quantifier(e, n);
	switch (peek(e, 0)) {
	case '\\':
		return put_escape(e);
	case '[':
		return put_class(e);
	case '(':
		return put_open(e);
	case '.':
		e->i++;
		buf_puts(e->out, NOT_NEWLINE);
		return true;
	case '^':
	case '$':
	case '|':
	case ')':
	case '<': /* in names of groups */
	case '>':
	case '_':
		buf_putc(e->out, e->in.p[e->i++]);
		return true;
	default:
		copy_char(e);
		return true;
	}
}

enum rc
rx_ecma(struct str pattern, struct buf *out, size_t *at, const char **why)
{
	struct ecma e = { .in = pattern, .out = out };
	while (e.i < e.in.n) {
		*at = e.i;
		if (!put_token(&e)) {
			*why = e.why;
			return RC_INVALID;
		}
		if (buf_rc(out) != RC_OK)
			return RC_TOOBIG;
	}
	return RC_OK;
}
