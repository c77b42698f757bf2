/*
 * A validating scanner of JSON text.
 */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "core/buf.h"
#include "core/mem.h"
#include "wire/wire.h"
#include "wire/wire_internal.h"

void
wire_scan_begin(struct wire_scan *s, struct str in)
{
	s->p = s->end = s->text_end = in.p;
	if (in.n > 0)
		s->end = s->text_end = in.p + in.n;
	s->max_depth = WIRE_DEPTH_MAX;
	s->traits = 0;
	s->depth = s->containers = s->n_keys = 0;
	s->keys = s->some;
	s->cap_keys = WIRE_SCAN_KEYS;
}

void
wire_scan_end(struct wire_scan *s)
{
	if (s->keys != s->some)
		free(s->keys);
}

/* ---- keys ---- */

/* Members of an object that are compared with each other one by one. */
#define KEYS_PAIRWISE 16

/* The code point at *i of a key that is valid, or -1 at its end. */
static int32_t
scan_key_next(const struct wire_scan_text *k, size_t *i)
{
	static const char plain[256] = { ['"'] = '"',
		['\\'] = '\\',
		['/'] = '/',
		['b'] = '\b',
		['f'] = '\f',
		['n'] = '\n',
		['r'] = '\r',
		['t'] = '\t' };
	struct str s = { k->p, k->n };
	int32_t c = 0, low = 0;

	if (*i == k->n || k->p[*i] != '\\')
		return str_utf8_next(s, i);
	if (k->p[*i + 1] != 'u') {
		c = plain[(unsigned char)k->p[*i + 1]];
		*i += 2;
		return c;
	}
	for (size_t d = 2; d < 6; d++)
		c = c << 4 | str_hex_value(k->p[*i + d]);
	*i += 6;
	if (c < 0xd800 || c > 0xdfff)
		return c;
	for (size_t d = 2; d < 6; d++)
		low = low << 4 | str_hex_value(k->p[*i + d]);
	*i += 6;
	return 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
}

/* An order of the texts that two keys mean. */
static int
scan_key_cmp(const void *pa, const void *pb)
{
	const struct wire_scan_text *a = pa, *b = pb;
	size_t i = 0, j = 0;
	int32_t c, d;

	if (!a->escaped && !b->escaped)
		return str_cmp(
		    (struct str){ a->p, a->n }, (struct str){ b->p, b->n });
	do {
		c = scan_key_next(a, &i);
		d = scan_key_next(b, &j);
	} while (c == d && c >= 0);
	return (c > d) - (c < d);
}

/* Whether a plain key is one of the n before it, which are plain, too. */
static bool
scan_key_is_among(const struct wire_scan_text *keys, size_t n)
{
	const struct wire_scan_text *last = &keys[n];

	for (size_t i = 0; i < n; i++) {
		if (keys[i].n == last->n &&
		    memcmp(keys[i].p, last->p, last->n) == 0)
			return true;
	}
	return false;
}

/* Adds a key of the innermost object; false: it surely has it already. */
static bool
scan_key_add(struct wire_scan *s, struct wire_scan_text k)
{
	struct wire_scan_level *l = &s->open[s->depth - 1];
	size_t n = s->n_keys - l->keys;

	if (s->n_keys == s->cap_keys) {
		struct wire_scan_text *more =
		    mem_calloc(2 * s->cap_keys, sizeof(*more));

		memcpy(more, s->keys, s->n_keys * sizeof(*more));
		if (s->keys != s->some)
			free(s->keys);
		s->keys = more;
		s->cap_keys *= 2;
	}
	s->keys[s->n_keys++] = k;
	if (k.escaped || n >= KEYS_PAIRWISE)
		l->sorted = true;
	return l->sorted || !scan_key_is_among(&s->keys[l->keys], n);
}

bool
wire_scan_close(struct wire_scan *s)
{
	struct wire_scan_level *l = &s->open[--s->depth];
	struct wire_scan_text *keys = &s->keys[l->keys];
	size_t n = s->n_keys - l->keys;

	s->n_keys = l->keys;
	if (!l->sorted)
		return true;
	qsort(keys, n, sizeof(*keys), scan_key_cmp);
	for (size_t i = 1; i < n; i++) {
		if (scan_key_cmp(&keys[i - 1], &keys[i]) == 0)
			return false;
	}
	return true;
}

/* ---- strings ---- */

enum scan_class {
	SCAN_BAD, /* no byte of a string */
	SCAN_PLAIN,
	SCAN_QUOTE,
	SCAN_ESCAPE,
	SCAN_TWO, /* the first of so many bytes */
	SCAN_THREE,
	SCAN_RARE /* the first of three or four, with limits on the second */
};

#define SCAN_4(c)  (c), (c), (c), (c)
#define SCAN_16(c) SCAN_4(c), SCAN_4(c), SCAN_4(c), SCAN_4(c)
#define SCAN_P     SCAN_PLAIN
#define SCAN_3     SCAN_THREE

static const unsigned char scan_classes[256] = {
	/* 00 */ SCAN_16(SCAN_BAD), SCAN_16(SCAN_BAD),
	/* 20 */ SCAN_P, SCAN_P, SCAN_QUOTE, SCAN_P, SCAN_4(SCAN_P),
	SCAN_4(SCAN_P), SCAN_4(SCAN_P), SCAN_16(SCAN_P),
	/* 40 */ SCAN_16(SCAN_P), SCAN_4(SCAN_P), SCAN_4(SCAN_P),
	SCAN_4(SCAN_P), SCAN_ESCAPE, SCAN_P, SCAN_P, SCAN_P,
	/* 60 */ SCAN_16(SCAN_P), SCAN_16(SCAN_P),
	/* 80 */ SCAN_16(SCAN_BAD), SCAN_16(SCAN_BAD),
	/* a0 */ SCAN_16(SCAN_BAD), SCAN_16(SCAN_BAD),
	/* c0 */ SCAN_BAD, SCAN_BAD, SCAN_TWO, SCAN_TWO, SCAN_4(SCAN_TWO),
	SCAN_4(SCAN_TWO), SCAN_4(SCAN_TWO), SCAN_16(SCAN_TWO),
	/* e0 */ SCAN_RARE, SCAN_3, SCAN_3, SCAN_3, SCAN_4(SCAN_3),
	SCAN_4(SCAN_3), SCAN_3, SCAN_RARE, SCAN_3, SCAN_3,
	/* f0 */ SCAN_RARE, SCAN_RARE, SCAN_RARE, SCAN_RARE, SCAN_RARE,
	SCAN_BAD, SCAN_BAD, SCAN_BAD, SCAN_4(SCAN_BAD), SCAN_4(SCAN_BAD)
};

/* The value of the four hexadecimal digits at p, or -1. */
static int32_t
scan_hex4(const char *p, const char *end)
{
	int32_t c = 0;

	if (end - p < 4)
		return -1;
	for (size_t i = 0; i < 4; i++) {
		int digit = str_hex_value(p[i]);

		if (digit < 0)
			return -1;
		c = c << 4 | digit;
	}
	return c;
}

/* What may be behind a backslash, but for "u". */
static const bool scan_escapes[256] = { ['"'] = true,
	['\\'] = true,
	['/'] = true,
	['b'] = true,
	['f'] = true,
	['n'] = true,
	['r'] = true,
	['t'] = true };

const char *
wire_scan_escape(struct wire_scan *s, const char *p)
{
	const char *end = s->end;
	int32_t c;

	p++;
	if (p == end)
		return NULL;
	if (*p == '/')
		s->traits |= WIRE_SCAN_SLASH;
	if (*p != 'u')
		return scan_escapes[(unsigned char)*p] ? p + 1 : NULL;
	s->traits |= WIRE_SCAN_UNICODE;
	c = scan_hex4(++p, end);
	if (c <= 0 || (c >= 0xdc00 && c <= 0xdfff))
		return NULL;
	p += 4;
	if (c < 0xd800 || c > 0xdfff)
		return p;
	if (end - p < 6 || p[0] != '\\' || p[1] != 'u')
		return NULL;
	c = scan_hex4(p + 2, end);
	return c >= 0xdc00 && c <= 0xdfff ? p + 6 : NULL;
}

static bool
scan_is_tail(char c)
{
	return ((unsigned char)c & 0xc0U) == 0x80;
}

/* The byte behind the code point of several bytes at p, or NULL. */
static const char *
scan_code_point(enum scan_class class, const char *p, const char *end)
{
	struct str s = { p, (size_t)(end - p) };
	size_t n = 0;

	if (class == SCAN_TWO)
		return s.n >= 2 && scan_is_tail(p[1]) ? p + 2 : NULL;
	return str_utf8_next(s, &n) >= 0 ? p + n : NULL;
}

static inline enum scan_class
scan_class_of(const char *p)
{
	return scan_classes[(unsigned char)*p];
}

/* Past code points of three bytes, which come in runs; NULL: one is not valid.
 */
static inline const char *
scan_threes(const char *p, const char *end)
{
	do {
		if (end - p < 3 || !scan_is_tail(p[1]) || !scan_is_tail(p[2]))
			return NULL;
		p += 3;
	} while (p < end && scan_class_of(p) == SCAN_THREE);
	return p;
}

bool
wire_scan_string(struct wire_scan *s, struct wire_scan_text *text)
{
	const char *p = s->p + 1;
	const char *end = s->end;

	text->p = p;
	text->escaped = false;
	while (p != NULL) {
		while (p < end && scan_class_of(p) == SCAN_PLAIN)
			p++;
		if (p == end)
			return false;
		switch (scan_class_of(p)) {
		case SCAN_QUOTE:
			s->p = p + 1;
			text->n = (uint32_t)(p - text->p);
			return true;
		case SCAN_ESCAPE:
			text->escaped = true;
			p = wire_scan_escape(s, p);
			break;
		case SCAN_THREE:
			p = scan_threes(p, end);
			break;
		case SCAN_TWO:
		case SCAN_RARE:
			p = scan_code_point(scan_class_of(p), p, end);
			break;
		default:
			return false;
		}
	}
	return false;
}

static void
scan_put_code_point(struct buf *b, uint32_t c)
{
	char bytes[STR_UTF8_MAX];

	buf_put(b, bytes, str_utf8_put(c, bytes));
}

void
wire_scan_put_text(const struct wire_scan_text *text, struct buf *out)
{
	size_t i = 0, from;
	int32_t c;

	while (i < text->n) {
		const char *escape = memchr(text->p + i, '\\', text->n - i);

		from = i;
		i = escape != NULL ? (size_t)(escape - text->p) : text->n;
		buf_put(out, text->p + from, i - from);
		if (i < text->n) {
			c = scan_key_next(text, &i);
			scan_put_code_point(out, (uint32_t)c);
		}
	}
}

/* ---- numbers and words ---- */

static size_t
scan_digits(struct wire_scan *s)
{
	const char *from = s->p;

	while (s->p < s->end && *s->p >= '0' && *s->p <= '9')
		s->p++;
	return (size_t)(s->p - from);
}

/* Whether an integer without superfluous zeros is beyond int64_t. */
static bool
scan_integer_overflows(const char *digits, size_t n, bool negative)
{
	const char *limit =
	    negative ? "9223372036854775808" : "9223372036854775807";

	return n > 19 || (n == 19 && memcmp(digits, limit, n) > 0);
}

/* An exponent, capped far beyond what matters for a message's digits. */
static int64_t
scan_exponent(const char *p, const char *end)
{
	bool negative = *p == '-';
	int64_t e = 0;

	if (*p == '-' || *p == '+')
		p++;
	for (; p < end; p++) {
		if (e < INT32_MAX)
			e = e * 10 + (*p - '0');
	}
	return negative ? -e : e;
}

/*
 * Whether the real number of which from…end are the digits, with or without a
 * point, and e the exponent, is beyond a double.
 */
static bool
scan_real_overflows(const char *from, const char *end, int64_t e)
{
	struct buf text;
	size_t whole = 0, zeros = 0, fraction = 0;
	bool point = false, overflows;

	for (const char *p = from; p < end; p++) {
		if (*p == '.')
			point = true;
		else if (point)
			fraction++;
		else
			whole++;
	}
	for (const char *p = from; p < end && (*p == '0' || *p == '.'); p++)
		zeros += *p == '0';
	if (zeros == whole + fraction)
		return false;
	/* The number is d.ddd × 10^m. */
	int64_t m = (int64_t)whole - (int64_t)zeros - 1 + e;
	if (m != 308)
		return m > 308;
	/* Without a point, which depends on the locale. */
	buf_init(&text, WIRE_MESSAGE_MAX + 64);
	for (const char *p = from; p < end; p++) {
		if (*p != '.')
			buf_putc(&text, *p);
	}
	buf_printf(&text, "e%lld", (long long)(e - (int64_t)fraction));
	overflows = isinf(strtod(text.p, NULL)) != 0;
	buf_free(&text);
	return overflows;
}

bool
wire_scan_number(struct wire_scan *s)
{
	bool negative = *s->p == '-';
	const char *first, *end;
	int64_t e = 0;
	size_t n;

	s->p += negative;
	first = s->p;
	n = scan_digits(s);
	if (n == 0 || (n > 1 && *first == '0'))
		return false;
	if (negative && *first == '0')
		s->traits |= WIRE_SCAN_REAL;
	if (s->p == s->end || (*s->p != '.' && (*s->p | 0x20) != 'e'))
		return !scan_integer_overflows(first, n, negative);
	s->traits |= WIRE_SCAN_REAL;
	if (*s->p == '.') {
		s->p++;
		if (scan_digits(s) == 0)
			return false;
	}
	end = s->p;
	if (s->p < s->end && (*s->p | 0x20) == 'e') {
		const char *from = ++s->p;

		s->traits |= WIRE_SCAN_EXPONENT;
		if (s->p < s->end && (*s->p == '+' || *s->p == '-'))
			s->p++;
		if (scan_digits(s) == 0)
			return false;
		e = scan_exponent(from, s->p);
	}
	return !scan_real_overflows(first, end, e);
}

bool
wire_scan_word(struct wire_scan *s, struct str word)
{
	if (!str_starts((struct str){ s->p, (size_t)(s->end - s->p) }, word))
		return false;
	s->p += word.n;
	return true;
}

/* ---- values ---- */

void
wire_scan_skip_space(struct wire_scan *s)
{
	s->traits |= WIRE_SCAN_SPACE;
	while (s->p < s->end &&
	    (*s->p == ' ' || *s->p == '\n' || *s->p == '\t' || *s->p == '\r'))
		s->p++;
}

bool
wire_scan_key(struct wire_scan *s, struct wire_scan_text *k)
{
	wire_scan_space(s);
	if (s->p == s->end || *s->p != '"' || !wire_scan_string(s, k) ||
	    !scan_key_add(s, *k) || !wire_scan_take(s, ':'))
		return false;
	wire_scan_space(s);
	return true;
}

enum rc
wire_scan_open(struct wire_scan *s)
{
	if (s->depth == s->max_depth)
		return RC_INVALID;
	if (++s->containers > WIRE_CONTAINERS_MAX)
		return RC_TOOBIG;
	s->open[s->depth++] = (struct wire_scan_level){ .object = *s->p == '{',
		.keys = s->n_keys };
	s->p++;
	return RC_OK;
}

static enum rc
scan_rc(bool ok)
{
	return ok ? RC_OK : RC_INVALID;
}

/*
 * Past a value; of an object or array only what opens it, up to its first
 * value.  *whole: the value is complete.
 */
static enum rc
scan_begin_value(struct wire_scan *s, bool *whole)
{
	struct wire_scan_text text;
	bool object;
	enum rc rc;

	*whole = true;
	if (s->p == s->end)
		return RC_INVALID;
	switch (*s->p) {
	case '"':
		return scan_rc(wire_scan_string(s, &text));
	case 't':
		return scan_rc(wire_scan_word(s, STR("true")));
	case 'f':
		return scan_rc(wire_scan_word(s, STR("false")));
	case 'n':
		return scan_rc(wire_scan_word(s, STR("null")));
	case '{':
	case '[':
		break;
	default:
		return scan_rc(wire_scan_number(s));
	}
	object = *s->p == '{';
	rc = wire_scan_open(s);
	if (rc != RC_OK)
		return rc;
	if (wire_scan_take(s, object ? '}' : ']'))
		return scan_rc(wire_scan_close(s));
	*whole = false;
	return scan_rc(!object || wire_scan_key(s, &text));
}

enum rc
wire_scan_value(struct wire_scan *s)
{
	size_t outside = s->depth;
	struct wire_scan_text k;
	bool whole;
	enum rc rc;

	for (;;) {
		rc = scan_begin_value(s, &whole);
		if (rc != RC_OK)
			return rc;
		while (whole) {
			if (s->depth == outside)
				return RC_OK;
			bool object = s->open[s->depth - 1].object;

			if (wire_scan_take(s, object ? '}' : ']')) {
				if (!wire_scan_close(s))
					return RC_INVALID;
			} else if (wire_scan_take(s, ',')) {
				whole = false;
				if (object && !wire_scan_key(s, &k))
					return RC_INVALID;
				wire_scan_space(s);
			} else {
				return RC_INVALID;
			}
		}
	}
}
