#include "core/str.h"

#include <locale.h>
#include <math.h>
#include <stdlib.h>

#include "core/mem.h"

/* Longest text that str_find() searches itself. */
#define FIND_SHORT_MAX 1024
/* Longest number that str_to_f64() reads. */
#define F64_TEXT_MAX 255

/* memcmp() that allows NULL with n 0. */
static int
str_bytes_cmp(const char *a, const char *b, size_t n)
{
	return n != 0 ? memcmp(a, b, n) : 0;
}

static unsigned char
str_lower(char c)
{
	unsigned char u = (unsigned char)c;

	return u >= 'A' && u <= 'Z' ? (unsigned char)(u | 0x20U) : u;
}

bool
str_eq_nocase(struct str a, struct str b)
{
	if (a.n != b.n)
		return false;
	if (str_bytes_cmp(a.p, b.p, a.n) == 0)
		return true;
	for (size_t i = 0; i < a.n; i++)
		if (str_lower(a.p[i]) != str_lower(b.p[i]))
			return false;
	return true;
}

int
str_cmp(struct str a, struct str b)
{
	int d = str_bytes_cmp(a.p, b.p, a.n < b.n ? a.n : b.n);

	if (d != 0)
		return d;
	return (a.n > b.n) - (a.n < b.n);
}

int
str_hex_value(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

size_t
str_starts_any(struct str s, const struct str *list, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (str_starts(s, list[i]))
			return list[i].n;
	return 0;
}

size_t
str_ends_any(struct str s, const struct str *list, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (str_ends(s, list[i]))
			return list[i].n;
	return 0;
}

ptrdiff_t
str_find(struct str s, struct str needle)
{
	const char *p = s.p, *at;
	size_t last = needle.n - 1;

	if (needle.n == 0)
		return 0;
	if (s.n < needle.n)
		return -1;
	/*
	 * memmem() prepares for long texts.  Chinese characters differ in
	 * their last byte more than in their first.
	 */
	if (s.n > FIND_SHORT_MAX) {
		at = memmem(s.p, s.n, needle.p, needle.n);
		return at != NULL ? at - s.p : -1;
	}
	while ((at = memchr(p + last, needle.p[last],
		    s.n - last - (size_t)(p - s.p))) != NULL) {
		p = at - last;
		if (memcmp(p, needle.p, last) == 0)
			return p - s.p;
		p++;
		if ((size_t)(p - s.p) + last >= s.n)
			break;
	}
	return -1;
}

static bool
str_is_space(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

struct str
str_trim(struct str s)
{
	while (s.n > 0 && str_is_space(s.p[s.n - 1]))
		s.n--;
	while (s.n > 0 && str_is_space(s.p[0])) {
		s.p++;
		s.n--;
	}
	return s;
}

struct str
str_split(struct str *s, char sep)
{
	struct str head = *s;
	const char *at = s->n != 0 ? memchr(s->p, sep, s->n) : NULL;

	if (at == NULL) {
		*s = (struct str){ NULL, 0 };
		return head;
	}
	head.n = (size_t)(at - head.p);
	s->p = at + 1;
	s->n -= head.n + 1;
	return head;
}

static bool
str_is_digit(char c)
{
	return c >= '0' && c <= '9';
}

enum rc
str_to_i64(struct str s, int64_t min, int64_t max, int64_t *out)
{
	bool neg = s.n > 0 && s.p[0] == '-';
	size_t i = neg ? 1 : 0;
	int64_t v = 0;

	if (i == s.n)
		return RC_INVALID;
	for (; i < s.n; i++) {
		int d = s.p[i] - '0';

		if (!str_is_digit(s.p[i]))
			return RC_INVALID;
		/* Accumulates with the sign, for INT64_MIN. */
		if (__builtin_mul_overflow(v, (int64_t)10, &v) ||
		    __builtin_add_overflow(v, neg ? -d : d, &v))
			return RC_INVALID;
	}
	if (v < min || v > max)
		return RC_INVALID;
	*out = v;
	return RC_OK;
}

static size_t
str_skip_digits(struct str s, size_t i)
{
	while (i < s.n && str_is_digit(s.p[i]))
		i++;
	return i;
}

/* Whether s is [-]digits[.digits][e[+-]digits], with a digit before the e. */
static bool
str_is_decimal(struct str s)
{
	size_t i = s.n > 0 && s.p[0] == '-' ? 1 : 0;
	size_t start = i, digits;

	i = str_skip_digits(s, i);
	digits = i - start;
	if (i < s.n && s.p[i] == '.') {
		start = ++i;
		i = str_skip_digits(s, i);
		digits += i - start;
	}
	if (digits == 0)
		return false;
	if (i < s.n && (s.p[i] == 'e' || s.p[i] == 'E')) {
		i++;
		if (i < s.n && (s.p[i] == '+' || s.p[i] == '-'))
			i++;
		start = i;
		i = str_skip_digits(s, i);
		if (i == start)
			return false;
	}
	return i == s.n;
}

/*
 * A decimal of at most 15 digits without an exponent: its digits and the power
 * of ten are exact doubles, whose quotient is rounded once, as strtod() rounds.
 */
static bool
str_short_decimal(struct str s, double *out)
{
	static const double ten[] = { 1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7,
		1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15 };
	size_t i = s.p[0] == '-' ? 1 : 0, digits = 0, decimals = 0;
	bool point = false;
	int64_t v = 0;

	for (; i < s.n; i++) {
		if (s.p[i] == '.') {
			point = true;
			continue;
		}
		if (!str_is_digit(s.p[i]) || ++digits > 15)
			return false;
		v = v * 10 + (s.p[i] - '0');
		decimals += point;
	}
	*out = (double)v / ten[decimals];
	if (s.p[0] == '-')
		*out = -*out;
	return true;
}

enum rc
str_to_f64(struct str s, double min, double max, double *out)
{
	char text[F64_TEXT_MAX + 1];
	locale_t c;
	double v;

	if (s.n > F64_TEXT_MAX || !str_is_decimal(s))
		return RC_INVALID;
	if (str_short_decimal(s, &v)) {
		if (v < min || v > max)
			return RC_INVALID;
		*out = v;
		return RC_OK;
	}
	memcpy(text, s.p, s.n);
	text[s.n] = '\0';
	/* glibc returns its static C locale; nothing is allocated. */
	c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
	if (c == (locale_t)0)
		return RC_BUG;
	v = strtod_l(text, NULL, c);
	freelocale(c);
	if (!isfinite(v) || v < min || v > max)
		return RC_INVALID;
	*out = v;
	return RC_OK;
}

/* printf takes ten times as long. */
struct str
str_num(int64_t v, char dst[STR_NUM_MAX])
{
	uint64_t u = v < 0 ? -(uint64_t)v : (uint64_t)v;
	size_t n = v < 0 ? 2 : 1;
	char *p;

	dst[0] = '-';
	for (uint64_t rest = u; rest >= 10; rest /= 10)
		n++;
	p = dst + n;
	*p = '\0';
	do
		*--p = (char)('0' + u % 10);
	while ((u /= 10) > 0);
	return (struct str){ dst, n };
}

char *
str_dup(struct str s)
{
	char *p;

	if (s.p == NULL)
		return NULL;
	p = mem_alloc(s.n + 1);
	memcpy(p, s.p, s.n);
	p[s.n] = '\0';
	return p;
}

static bool
str_is_continuation(char c)
{
	return ((unsigned char)c & 0xc0U) == 0x80U;
}

struct str
str_clip(struct str s, size_t max)
{
	if (s.n <= max)
		return s;
	while (max > 0 && str_is_continuation(s.p[max]))
		max--;
	return (struct str){ s.p, max };
}

void
str_copy(struct str s, char *dst, size_t size)
{
	size_t n = s.n;

	if (n >= size) {
		n = size - 1;
		/* A code point has up to 4 bytes; other bytes are split
		 * anywhere. */
		for (size_t back = 0; back < 4 && back <= n; back++)
			if (!str_is_continuation(s.p[n - back])) {
				n -= back;
				break;
			}
	}
	if (n != 0)
		memcpy(dst, s.p, n);
	dst[n] = '\0';
}

int32_t
str_utf8_next_any(struct str s, size_t *pos)
{
	const unsigned char *p;
	size_t left, len;
	uint32_t cp, least;

	if (*pos >= s.n)
		return -1;
	p = (const unsigned char *)s.p + *pos;
	left = s.n - *pos;
	if (p[0] < 0x80) {
		++*pos;
		return p[0];
	}
	if (p[0] >= 0xc2 && p[0] <= 0xdf) {
		len = 2;
		least = 0x80;
		cp = p[0] & 0x1fU;
	} else if ((p[0] & 0xf0U) == 0xe0) {
		len = 3;
		least = 0x800;
		cp = p[0] & 0x0fU;
	} else if (p[0] >= 0xf0 && p[0] <= 0xf4) {
		len = 4;
		least = 0x10000;
		cp = p[0] & 0x07U;
	} else
		return -1;
	if (left < len)
		return -1;
	for (size_t i = 1; i < len; i++) {
		if ((p[i] & 0xc0U) != 0x80)
			return -1;
		cp = cp << 6 | (p[i] & 0x3fU);
	}
	if (cp < least || cp > 0x10ffff || (cp >= 0xd800 && cp <= 0xdfff))
		return -1;
	*pos += len;
	return (int32_t)cp;
}

size_t
str_utf8_put(uint32_t c, char dst[STR_UTF8_MAX])
{
	size_t n = 0;

	if (c < 0x80) {
		dst[n++] = (char)c;
		return n;
	}
	if (c < 0x800) {
		dst[n++] = (char)(0xc0 | c >> 6);
	} else {
		if (c < 0x10000) {
			dst[n++] = (char)(0xe0 | c >> 12);
		} else {
			dst[n++] = (char)(0xf0 | c >> 18);
			dst[n++] = (char)(0x80 | (c >> 12 & 0x3f));
		}
		dst[n++] = (char)(0x80 | (c >> 6 & 0x3f));
	}
	dst[n++] = (char)(0x80 | (c & 0x3f));
	return n;
}

ptrdiff_t
str_utf8_count(struct str s)
{
	size_t pos = 0;
	ptrdiff_t n = 0;

	while (pos < s.n) {
		if (str_utf8_next(s, &pos) < 0)
			return -1;
		n++;
	}
	return n;
}

uint64_t
str_hash(struct str s)
{
	uint64_t h = UINT64_C(0xcbf29ce484222325);

	for (size_t i = 0; i < s.n; i++)
		h = (h ^ (unsigned char)s.p[i]) * UINT64_C(0x100000001b3);
	return h;
}
