/*
 * JSON written piece by piece.
 */
#include "wire/out.h"
#include "wire/wire_internal.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"

#define OUT_REPLACEMENT "\xef\xbf\xbd"

/* Between this value and the one before it. */
static void
out_sep(struct wire_out *o)
{
	if (o->comma)
		buf_putc(o->b, ',');
	o->comma = true;
}

static void
out_open_level(struct wire_out *o, char c)
{
	out_sep(o);
	buf_putc(o->b, c);
	o->comma = false;
}

static void
out_close_level(struct wire_out *o, char c)
{
	buf_putc(o->b, c);
	o->comma = true;
}

void
wire_out_object(struct wire_out *o)
{
	out_open_level(o, '{');
}

void
wire_out_object_end(struct wire_out *o)
{
	out_close_level(o, '}');
}

void
wire_out_array(struct wire_out *o)
{
	out_open_level(o, '[');
}

void
wire_out_array_end(struct wire_out *o)
{
	out_close_level(o, ']');
}

static void
out_put_escaped(struct buf *b, unsigned char c)
{
	static const char pair[][3] = { ['\b'] = "\\b",
		['\t'] = "\\t",
		['\n'] = "\\n",
		['\f'] = "\\f",
		['\r'] = "\\r",
		['"'] = "\\\"",
		['\\'] = "\\\\" };
	if (c < NELEM(pair) && pair[c][0] != '\0')
		buf_put(b, pair[c], 2);
	else
		buf_printf(b, "\\u%04x", c);
}

#define BYTES UINT64_C(0x0101010101010101)

/* Whether one of eight bytes is zero. */
static inline bool
out_has_zero(uint64_t word)
{
	return ((word - BYTES) & ~word & BYTES * 0x80) != 0;
}

/* A byte that is escaped, and one that is not ASCII. */
static unsigned
out_byte_class(unsigned char c)
{
	if (c >= 0x80)
		return WIRE_TEXT_HIGH;
	return c < 0x20 || c == '"' || c == '\\' ? WIRE_TEXT_ESCAPED : 0;
}

/* The same of eight bytes. */
static inline unsigned
out_word_class(const char *p)
{
	uint64_t word;
	unsigned class;

	memcpy(&word, p, sizeof(word));
	class = (word & BYTES * 0x80) != 0 ? WIRE_TEXT_HIGH : 0;
	if (out_has_zero(word & BYTES * 0xe0) ||
	    out_has_zero(word ^ BYTES * '"') ||
	    out_has_zero(word ^ BYTES * '\\'))
		class |= WIRE_TEXT_ESCAPED;
	return class;
}

unsigned
wire_text_class(struct str s)
{
	unsigned class = 0;
	size_t i = 0;

	if (s.n < 8) {
		for (; i < s.n; i++)
			class |= out_byte_class((unsigned char)s.p[i]);
		return class;
	}
#ifdef __SSE2__
	for (; i + 16 < s.n; i += 16) {
		__m128i v = _mm_loadu_si128((const void *)(s.p + i));

		if (_mm_movemask_epi8(v) != 0)
			class |= WIRE_TEXT_HIGH;
		if (_mm_movemask_epi8(wire_scan_hits(v)) != 0)
			class |= WIRE_TEXT_ESCAPED;
	}
#endif
	for (; i + 8 < s.n; i += 8)
		class |= out_word_class(s.p + i);
	return class | out_word_class(s.p + s.n - 8);
}

void
wire_out_plain(struct wire_out *o, struct str s)
{
	struct buf *b = o->b;
	size_t n = s.n + 2 + o->comma;
	char *p;

	if ((b->cap - b->n <= n || b->over) && !buf_reserve(b, n))
		return;
	p = b->p + b->n;
	if (o->comma)
		*p++ = ',';
	o->comma = true;
	*p++ = '"';
	if (s.n > 0)
		memcpy(p, s.p, s.n);
	p += s.n;
	*p++ = '"';
	*p = '\0';
	b->n += n;
}

/* Bytes of ASCII at the beginning of p…end, or some of them. */
static inline const char *
out_ascii(const char *p, const char *end)
{
#ifdef __SSE2__
	while (end - p >= 16) {
		int high = _mm_movemask_epi8(_mm_loadu_si128((const void *)p));

		if (high != 0)
			return p + __builtin_ctz((unsigned)high);
		p += 16;
	}
#endif
	while (p < end && (unsigned char)*p < 0x80)
		p++;
	return p;
}

/* Past valid characters that are not ASCII, up to another byte, or end. */
static inline const char *
out_wide(const char *p, const char *end)
{
	while (p < end && (unsigned char)*p >= 0x80) {
		struct str s = { p, (size_t)(end - p) };
		size_t n = 0;

		if (str_utf8_next(s, &n) < 0)
			break;
		p += n;
	}
	return p;
}

bool
wire_scan_utf8(struct str in)
{
	const char *p = in.p, *end = in.p + in.n;

	for (;;) {
		p = out_ascii(p, end);
		if (p == end)
			return true;
		p = out_wide(p, end);
		if (p < end && (unsigned char)*p >= 0x80)
			return false;
	}
}

/* Past what is written as it is, up to a byte that is not, or end. */
static inline const char *
out_run(const char *p, const char *end)
{
	const char *from;

	do {
		from = p;
#ifdef __SSE2__
		while (end - p >= 16) {
			__m128i v = _mm_loadu_si128((const void *)p);
			int mask = _mm_movemask_epi8(
			    _mm_or_si128(v, wire_scan_hits(v)));

			if (mask != 0) {
				p += __builtin_ctz((unsigned)mask);
				break;
			}
			p += 16;
		}
#endif
		while (p < end && out_byte_class((unsigned char)*p) == 0)
			p++;
		p = out_wide(p, end);
	} while (p > from && p < end &&
	    out_byte_class((unsigned char)*p) != WIRE_TEXT_ESCAPED);
	return p;
}

/* Text without quotes around it; nul: what a NUL becomes. */
static void
out_put_text(struct buf *b, struct str s, const char *nul)
{
	const char *p = s.p, *end = s.p + s.n;

	while (s.n > 0 && p < end) {
		const char *from = p;
		unsigned char c;

		p = out_run(p, end);
		buf_put(b, from, (size_t)(p - from));
		if (p == end)
			break;
		c = (unsigned char)*p++;
		if (c >= 0x80)
			buf_puts(b, OUT_REPLACEMENT);
		else if (c == '\0')
			buf_puts(b, nul);
		else
			out_put_escaped(b, c);
	}
}

/* Text without quotes around it, which is UTF-8. */
static void
out_put_valid(struct buf *b, struct str s)
{
	const char *p = s.p, *end = s.p + s.n;

	while (p < end) {
		const char *from = p;

		p = wire_scan_special(p, end);
		buf_put(b, from, (size_t)(p - from));
		if (p < end)
			out_put_escaped(b, (unsigned char)*p++);
	}
}

void
wire_out_key(struct wire_out *o, struct str key)
{
	wire_out_str(o, key);
	buf_putc(o->b, ':');
	o->comma = false;
}

void
wire_out_name(struct wire_out *o, const char *name)
{
	wire_out_plain(o, str_of(name));
	buf_putc(o->b, ':');
	o->comma = false;
}

/* Texts of up to so many bytes are mostly names and ids. */
#define OUT_SHORT 64

static inline void
out_put_str(struct wire_out *o, struct str s, const char *nul)
{
	if (s.n <= OUT_SHORT && wire_text_class(s) == 0) {
		wire_out_plain(o, s);
		return;
	}
	out_sep(o);
	buf_putc(o->b, '"');
	out_put_text(o->b, s, nul);
	buf_putc(o->b, '"');
}

void
wire_out_str(struct wire_out *o, struct str s)
{
	out_put_str(o, s, "\\u0000");
}

void
wire_out_text(struct wire_out *o, struct str s)
{
	out_put_str(o, s, OUT_REPLACEMENT);
}

void
wire_out_utf8(struct wire_out *o, struct str s)
{
	out_sep(o);
	buf_putc(o->b, '"');
	out_put_valid(o->b, s);
	buf_putc(o->b, '"');
}

void
wire_out_i64(struct wire_out *o, int64_t i)
{
	out_sep(o);
	buf_put_i64(o->b, i);
}

/* u / 10^k with k digits after the point; printf takes ten times as long. */
static int
out_put_digits(uint64_t u, size_t k, bool negative, char *dst)
{
	char text[24];
	char *end = text + sizeof(text);
	char *p = end;
	for (size_t i = 0; u > 0 || i <= k; i++) {
		if (i == k && k > 0)
			*--p = '.';
		*--p = (char)('0' + u % 10);
		u /= 10;
	}
	if (negative)
		*--p = '-';
	memcpy(dst, p, (size_t)(end - p));
	return (int)(end - p);
}

/*
 * f as a fixed-point decimal of at most 15 digits, if it has one.  Division of
 * two integers that doubles hold exactly rounds once, as reading the decimal
 * does, so equality here means that the text reads back equal; 15 digits are
 * few enough that no shorter text can.
 */
static int
out_put_fixed(double f, char *dst)
{
	static const double ten[] = { 1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6 };
	/* Most numbers are whole. */
	if (fabs(f) < 1e9 && (double)(int64_t)f == f)
		return out_put_digits((uint64_t)fabs(f), 0, signbit(f), dst);
	/* Six places, without the zeros at their end, are the least, too. */
	double six = nearbyint(f * 1e6);
	if (fabs(six) < 1e15) {
		uint64_t u = (uint64_t)fabs(six);
		size_t decimals = 6;

		if (six / 1e6 != f)
			return 0;
		for (; decimals > 0 && u % 10 == 0; decimals--)
			u /= 10;
		return out_put_digits(u, decimals, signbit(f), dst);
	}
	for (size_t k = 0; k < NELEM(ten); k++) {
		double m = nearbyint(f * ten[k]);
		if (!(fabs(m) < 1e15))
			break;
		if (m / ten[k] != f)
			continue;
		return out_put_digits((uint64_t)fabs(m), k, signbit(f), dst);
	}
	return 0;
}

/*
 * f as printf has it with the least digits that read back, without the "+" and
 * zeros of its exponent.
 */
static int
out_put_general(double f, char *dst, size_t size)
{
	/* Subnormal numbers have fewer digits than the 15 all others keep. */
	int digits = fabs(f) < 1e-300 ? 1 : 15;
	do {
		(void)snprintf(dst, size, "%.*g", digits++, f);
	} while (digits <= 17 && strtod(dst, NULL) != f);
	char *e = strchr(dst, 'e');
	if (e != NULL) {
		char *to = e[1] == '-' ? e + 2 : e + 1;
		const char *from = e + 2;
		from += strspn(from, "0");
		memmove(to, from, strlen(from) + 1);
	}
	return (int)strlen(dst);
}

void
wire_out_f64(struct wire_out *o, double f)
{
	if (!isfinite(f)) {
		wire_out_null(o);
		return;
	}
	out_sep(o);
	char text[40];
	/* "-0" would be read back as an integer, which has no such zero. */
	int n = out_put_fixed(f == 0 ? 0 : f, text);
	if (n == 0)
		n = out_put_general(f, text, sizeof(text));
	buf_put(o->b, text, (size_t)n);
}

void
wire_out_bool(struct wire_out *o, bool v)
{
	out_sep(o);
	buf_puts(o->b, v ? "true" : "false");
}

void
wire_out_null(struct wire_out *o)
{
	out_sep(o);
	buf_puts(o->b, "null");
}

void
wire_out_raw(struct wire_out *o, struct str json)
{
	out_sep(o);
	buf_put_str(o->b, json);
}
