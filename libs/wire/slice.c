/*
 * A validating scanner of JSON text, and a quick one that finds an end.
 */
#include "wire/slice.h"

#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "core/buf.h"
#include "core/mem.h"
#include "wire/wire.h"
#include "wire/wire_internal.h"

/* ---- the members of the open objects ---- */

/* Keys that take no allocation. */
#define KEYS_INLINE 64
/* Members of an object that are compared with each other one by one. */
#define KEYS_PAIRWISE 16

struct slice_key {
	const char *p;
	uint32_t n;
	bool escaped;
};

struct slice_level {
	bool object;
	bool sorted; /* its keys are compared when it ends */
	size_t keys; /* where its keys begin */
};

struct slice_scan {
	const char *p;
	const char *end; /* of what may be scanned */
	const char *text_end;
	size_t depth;
	size_t containers;
	struct slice_level open[WIRE_DEPTH_MAX];
	struct slice_key *keys;
	size_t n_keys, cap_keys;
	struct slice_key some[KEYS_INLINE];
};

/* The code point at *i of a key that is valid, or -1 at its end. */
static int32_t
slice_key_next(const struct slice_key *k, size_t *i)
{
	static const char plain[] = "\"\"\\\\//b\bf\fn\nr\rt\t";
	struct str s = { k->p, k->n };
	int32_t c = 0, low = 0;

	if (*i == k->n || k->p[*i] != '\\')
		return str_utf8_next(s, i);
	if (k->p[*i + 1] != 'u') {
		c = (unsigned char)strchr(plain, k->p[*i + 1])[1];
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
slice_key_cmp(const void *pa, const void *pb)
{
	const struct slice_key *a = pa, *b = pb;
	size_t i = 0, j = 0;
	int32_t c, d;

	if (!a->escaped && !b->escaped)
		return str_cmp(
		    (struct str){ a->p, a->n }, (struct str){ b->p, b->n });
	do {
		c = slice_key_next(a, &i);
		d = slice_key_next(b, &j);
	} while (c == d && c >= 0);
	return (c > d) - (c < d);
}

/* Whether a plain key is one of the n before it, which are plain, too. */
static bool
slice_key_is_among(const struct slice_key *keys, size_t n)
{
	const struct slice_key *last = &keys[n];

	for (size_t i = 0; i < n; i++) {
		if (keys[i].n == last->n &&
		    memcmp(keys[i].p, last->p, last->n) == 0)
			return true;
	}
	return false;
}

/* Adds a key of the innermost object; false: it surely has it already. */
static bool
slice_key_add(struct slice_scan *s, struct slice_key k)
{
	struct slice_level *l = &s->open[s->depth - 1];
	size_t n = s->n_keys - l->keys;

	if (s->n_keys == s->cap_keys) {
		struct slice_key *more =
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
	return l->sorted || !slice_key_is_among(&s->keys[l->keys], n);
}

/* The end of the innermost object or array; false: it has a key twice. */
static bool
slice_level_end(struct slice_scan *s)
{
	struct slice_level *l = &s->open[--s->depth];
	struct slice_key *keys = &s->keys[l->keys];
	size_t n = s->n_keys - l->keys;

	s->n_keys = l->keys;
	if (!l->sorted)
		return true;
	qsort(keys, n, sizeof(*keys), slice_key_cmp);
	for (size_t i = 1; i < n; i++) {
		if (slice_key_cmp(&keys[i - 1], &keys[i]) == 0)
			return false;
	}
	return true;
}

/* ---- strings ---- */

enum slice_class {
	SLICE_BAD, /* no byte of a string */
	SLICE_PLAIN,
	SLICE_QUOTE,
	SLICE_ESCAPE,
	SLICE_TWO, /* the first of so many bytes */
	SLICE_THREE,
	SLICE_RARE /* the first of three or four, with limits on the second */
};

#define SLICE_4(c)  (c), (c), (c), (c)
#define SLICE_16(c) SLICE_4(c), SLICE_4(c), SLICE_4(c), SLICE_4(c)
#define SLICE_P     SLICE_PLAIN
#define SLICE_3     SLICE_THREE

static const unsigned char slice_classes[256] = {
	/* 00 */ SLICE_16(SLICE_BAD), SLICE_16(SLICE_BAD),
	/* 20 */ SLICE_P, SLICE_P, SLICE_QUOTE, SLICE_P, SLICE_4(SLICE_P),
	SLICE_4(SLICE_P), SLICE_4(SLICE_P), SLICE_16(SLICE_P),
	/* 40 */ SLICE_16(SLICE_P), SLICE_4(SLICE_P), SLICE_4(SLICE_P),
	SLICE_4(SLICE_P), SLICE_ESCAPE, SLICE_P, SLICE_P, SLICE_P,
	/* 60 */ SLICE_16(SLICE_P), SLICE_16(SLICE_P),
	/* 80 */ SLICE_16(SLICE_BAD), SLICE_16(SLICE_BAD),
	/* a0 */ SLICE_16(SLICE_BAD), SLICE_16(SLICE_BAD),
	/* c0 */ SLICE_BAD, SLICE_BAD, SLICE_TWO, SLICE_TWO, SLICE_4(SLICE_TWO),
	SLICE_4(SLICE_TWO), SLICE_4(SLICE_TWO), SLICE_16(SLICE_TWO),
	/* e0 */ SLICE_RARE, SLICE_3, SLICE_3, SLICE_3, SLICE_4(SLICE_3),
	SLICE_4(SLICE_3), SLICE_3, SLICE_RARE, SLICE_3, SLICE_3,
	/* f0 */ SLICE_RARE, SLICE_RARE, SLICE_RARE, SLICE_RARE, SLICE_RARE,
	SLICE_BAD, SLICE_BAD, SLICE_BAD, SLICE_4(SLICE_BAD), SLICE_4(SLICE_BAD)
};

/* The value of the four hexadecimal digits at p, or -1. */
static int32_t
slice_hex4(const char *p, const char *end)
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

/* The byte behind the escape that begins at p, or NULL. */
static const char *
slice_escape(const char *p, const char *end)
{
	int32_t c;

	p++;
	if (p == end)
		return NULL;
	if (*p != 'u')
		return *p != '\0' && strchr("\"\\/bfnrt", *p) != NULL ? p + 1
								      : NULL;
	c = slice_hex4(++p, end);
	if (c <= 0 || (c >= 0xdc00 && c <= 0xdfff))
		return NULL;
	p += 4;
	if (c < 0xd800 || c > 0xdfff)
		return p;
	if (end - p < 6 || p[0] != '\\' || p[1] != 'u')
		return NULL;
	c = slice_hex4(p + 2, end);
	return c >= 0xdc00 && c <= 0xdfff ? p + 6 : NULL;
}

static bool
slice_is_tail(char c)
{
	return ((unsigned char)c & 0xc0U) == 0x80;
}

/* The byte behind the code point of several bytes at p, or NULL. */
static const char *
slice_code_point(enum slice_class class, const char *p, const char *end)
{
	struct str s = { p, (size_t)(end - p) };
	size_t n = 0;

	if (class == SLICE_TWO)
		return s.n >= 2 && slice_is_tail(p[1]) ? p + 2 : NULL;
	return str_utf8_next(s, &n) >= 0 ? p + n : NULL;
}

/*
 * Past the string that begins at s->p, quotes included; false: it is not valid.
 */
static inline bool
slice_string(struct slice_scan *s, bool *escaped)
{
	const char *p = s->p + 1;
	const char *end = s->end;

	*escaped = false;
	while (p != NULL && p < end) {
		enum slice_class class = slice_classes[(unsigned char)*p];

		switch (class) {
		case SLICE_PLAIN:
			p++;
			continue;
		case SLICE_QUOTE:
			s->p = p + 1;
			return true;
		case SLICE_BAD:
			return false;
		case SLICE_ESCAPE:
			*escaped = true;
			p = slice_escape(p, end);
			break;
		case SLICE_THREE:
			if (end - p < 3 || !slice_is_tail(p[1]) ||
			    !slice_is_tail(p[2]))
				return false;
			p += 3;
			continue;
		default:
			p = slice_code_point(class, p, end);
			break;
		}
	}
	return false;
}

/* ---- numbers and words ---- */

static size_t
slice_digits(struct slice_scan *s)
{
	const char *from = s->p;

	while (s->p < s->end && *s->p >= '0' && *s->p <= '9')
		s->p++;
	return (size_t)(s->p - from);
}

/* Whether an integer without superfluous zeros is beyond int64_t. */
static bool
slice_integer_overflows(const char *digits, size_t n, bool negative)
{
	const char *limit =
	    negative ? "9223372036854775808" : "9223372036854775807";

	return n > 19 || (n == 19 && memcmp(digits, limit, n) > 0);
}

/* An exponent, capped far beyond what matters for a message's digits. */
static int64_t
slice_exponent(const char *p, const char *end)
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
slice_real_overflows(const char *from, const char *end, int64_t e)
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

static bool
slice_number(struct slice_scan *s)
{
	bool negative = *s->p == '-';
	const char *first, *end;
	int64_t e = 0;
	size_t n;

	s->p += negative;
	first = s->p;
	n = slice_digits(s);
	if (n == 0 || (n > 1 && *first == '0'))
		return false;
	if (s->p == s->end || (*s->p != '.' && (*s->p | 0x20) != 'e'))
		return !slice_integer_overflows(first, n, negative);
	if (*s->p == '.') {
		s->p++;
		if (slice_digits(s) == 0)
			return false;
	}
	end = s->p;
	if (s->p < s->end && (*s->p | 0x20) == 'e') {
		const char *from = ++s->p;

		if (s->p < s->end && (*s->p == '+' || *s->p == '-'))
			s->p++;
		if (slice_digits(s) == 0)
			return false;
		e = slice_exponent(from, s->p);
	}
	return !slice_real_overflows(first, end, e);
}

static bool
slice_word(struct slice_scan *s, struct str word)
{
	if (!str_starts((struct str){ s->p, (size_t)(s->end - s->p) }, word))
		return false;
	s->p += word.n;
	return true;
}

/* ---- values ---- */

static inline void
slice_space(struct slice_scan *s)
{
	while (s->p < s->end &&
	    (*s->p == ' ' || *s->p == '\n' || *s->p == '\t' || *s->p == '\r'))
		s->p++;
}

/* Whether c is next, behind white space; then past it. */
static inline bool
slice_take(struct slice_scan *s, char c)
{
	slice_space(s);
	if (s->p == s->end || *s->p != c)
		return false;
	s->p++;
	return true;
}

/* Past a key and its colon, up to the value. */
static bool
slice_key(struct slice_scan *s, struct slice_key *k)
{
	const char *from;
	bool escaped;

	slice_space(s);
	from = s->p;
	if (from == s->end || *from != '"' || !slice_string(s, &escaped))
		return false;
	*k = (struct slice_key){ from + 1, (uint32_t)(s->p - from - 2),
		escaped };
	if (!slice_key_add(s, *k) || !slice_take(s, ':'))
		return false;
	slice_space(s);
	return true;
}

static enum rc
slice_open(struct slice_scan *s)
{
	if (s->depth == WIRE_DEPTH_MAX)
		return RC_INVALID;
	if (++s->containers > WIRE_CONTAINERS_MAX)
		return RC_TOOBIG;
	s->open[s->depth++] =
	    (struct slice_level){ .object = *s->p == '{', .keys = s->n_keys };
	s->p++;
	return RC_OK;
}

static enum rc
slice_rc(bool ok)
{
	return ok ? RC_OK : RC_INVALID;
}

/*
 * Past a value; of an object or array only what opens it, up to its first
 * value.  *whole: the value is complete.
 */
static enum rc
slice_begin_value(struct slice_scan *s, bool *whole)
{
	struct slice_key k;
	bool escaped, object;
	enum rc rc;

	*whole = true;
	if (s->p == s->end)
		return RC_INVALID;
	switch (*s->p) {
	case '"':
		return slice_rc(slice_string(s, &escaped));
	case 't':
		return slice_rc(slice_word(s, STR("true")));
	case 'f':
		return slice_rc(slice_word(s, STR("false")));
	case 'n':
		return slice_rc(slice_word(s, STR("null")));
	case '{':
	case '[':
		break;
	default:
		return slice_rc(slice_number(s));
	}
	object = *s->p == '{';
	rc = slice_open(s);
	if (rc != RC_OK)
		return rc;
	if (slice_take(s, object ? '}' : ']'))
		return slice_rc(slice_level_end(s));
	*whole = false;
	return slice_rc(!object || slice_key(s, &k));
}

/* Past one value, which begins at s->p. */
static enum rc
slice_value(struct slice_scan *s)
{
	size_t outside = s->depth;
	struct slice_key k;
	bool whole;
	enum rc rc;

	for (;;) {
		rc = slice_begin_value(s, &whole);
		if (rc != RC_OK)
			return rc;
		while (whole) {
			if (s->depth == outside)
				return RC_OK;
			bool object = s->open[s->depth - 1].object;

			if (slice_take(s, object ? '}' : ']')) {
				if (!slice_level_end(s))
					return RC_INVALID;
			} else if (slice_take(s, ',')) {
				whole = false;
				if (object && !slice_key(s, &k))
					return RC_INVALID;
				slice_space(s);
			} else {
				return RC_INVALID;
			}
		}
	}
}

/* ---- members ---- */

/* Past one value of the text's object or array. */
static enum rc
slice_member(struct slice_scan *s, const struct wire_slice_handler *h,
    struct wire_slice *m)
{
	struct wire_slice_extent x;
	const char *from = s->p;
	enum rc rc = RC_NOENT;

	if (h != NULL && h->known != NULL && from < s->end) {
		m->value = (struct str){ from, (size_t)(s->text_end - from) };
		rc = h->known(h->arg, m, &x);
	}
	if (rc == RC_OK) {
		s->p += x.n;
		s->end = (size_t)(s->text_end - s->end) > x.n ? s->end + x.n
							      : s->text_end;
		s->containers += x.containers;
		if (s->containers > WIRE_CONTAINERS_MAX)
			return RC_TOOBIG;
	} else if (rc == RC_NOENT) {
		rc = slice_value(s);
	}
	if (rc == RC_OK && h != NULL && h->each != NULL) {
		m->value = (struct str){ from, (size_t)(s->p - from) };
		h->each(h->arg, m);
	}
	return rc;
}

static enum rc
slice_members(struct slice_scan *s, const struct wire_slice_handler *h)
{
	bool object = *s->p == '{';
	char close = object ? '}' : ']';
	enum rc rc = slice_open(s);

	if (rc == RC_OK && slice_take(s, close))
		return slice_rc(slice_level_end(s));
	while (rc == RC_OK) {
		struct wire_slice m = { 0 };
		struct slice_key k = { 0 };

		slice_space(s);
		if (object && !slice_key(s, &k))
			return RC_INVALID;
		m.key = (struct str){ k.p, k.n };
		m.escaped = k.escaped;
		rc = slice_member(s, h, &m);
		if (rc == RC_OK && slice_take(s, close))
			return slice_rc(slice_level_end(s));
		if (rc == RC_OK && !slice_take(s, ','))
			return RC_INVALID;
	}
	return rc;
}

enum rc
wire_slice_each(struct str in, const struct wire_slice_handler *h)
{
	struct slice_scan s;
	enum rc rc;

	if (in.n > WIRE_MESSAGE_MAX)
		return RC_TOOBIG;
	s.p = s.end = s.text_end = in.p;
	if (in.n > 0) {
		s.text_end += in.n;
		s.end +=
		    h != NULL && h->max > 0 && h->max < in.n ? h->max : in.n;
	}
	s.depth = s.containers = s.n_keys = 0;
	s.keys = s.some;
	s.cap_keys = KEYS_INLINE;
	slice_space(&s);
	rc = RC_INVALID;
	if (s.p < s.end && (*s.p == '{' || *s.p == '['))
		rc = slice_members(&s, h);
	slice_space(&s);
	if (rc == RC_OK && s.p != s.end)
		rc = RC_INVALID;
	/* What is wrong may be that the rest was not scanned. */
	if ((rc == RC_OK || rc == RC_INVALID) && s.end < s.text_end)
		rc = RC_TOOBIG;
	if (s.keys != s.some)
		free(s.keys);
	return rc;
}

/* ---- the end of a value ---- */

/*
 * Bytes are classified 64 at a time, a bit for each, without a branch for each
 * byte: an end is then where as many brackets outside of strings have closed as
 * have opened.
 */
#define BLOCK 64
#define BYTES UINT64_C(0x0101010101010101)

struct slice_masks {
	uint64_t quotes, escapes, opens, closes;
};

/* A bit for each of the eight bytes of word that is 0. */
static inline uint64_t
slice_zero_bytes(uint64_t word)
{
	uint64_t low = BYTES * 0x7f;

	/* 0x80 in each byte that is 0, and nothing elsewhere. */
	word = ~(((word & low) + low) | word | low);
	return ((word >> 7) * UINT64_C(0x0102040810204080)) >> 56;
}

static inline uint64_t
slice_word_at(const char *p)
{
	uint64_t word;

	memcpy(&word, p, sizeof(word));
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	word = __builtin_bswap64(word);
#endif
	return word;
}

static struct slice_masks
slice_classify_words(const char *p)
{
	struct slice_masks m = { 0 };

	for (unsigned i = 0; i < BLOCK; i += 8) {
		uint64_t word = slice_word_at(p + i);
		/* Both brackets of a kind differ in this bit only. */
		uint64_t folded = word | BYTES * 0x20;

		m.quotes |= slice_zero_bytes(word ^ BYTES * '"') << i;
		m.escapes |= slice_zero_bytes(word ^ BYTES * '\\') << i;
		m.opens |= slice_zero_bytes(folded ^ BYTES * '{') << i;
		m.closes |= slice_zero_bytes(folded ^ BYTES * '}') << i;
	}
	return m;
}

#ifdef __SSE2__
static inline uint64_t
slice_equal_bytes(__m128i bytes, char c)
{
	return (uint64_t)(uint32_t)_mm_movemask_epi8(
	    _mm_cmpeq_epi8(bytes, _mm_set1_epi8(c)));
}

/* Four times as fast; the last block is left to the other in any case. */
static inline struct slice_masks
slice_classify(const char *p)
{
	struct slice_masks m = { 0 };

	for (unsigned i = 0; i < BLOCK; i += 16) {
		__m128i bytes = _mm_loadu_si128((const void *)(p + i));
		__m128i folded = _mm_or_si128(bytes, _mm_set1_epi8(0x20));

		m.quotes |= slice_equal_bytes(bytes, '"') << i;
		m.escapes |= slice_equal_bytes(bytes, '\\') << i;
		m.opens |= slice_equal_bytes(folded, '{') << i;
		m.closes |= slice_equal_bytes(folded, '}') << i;
	}
	return m;
}
#else
static inline struct slice_masks
slice_classify(const char *p)
{
	return slice_classify_words(p);
}
#endif

/* A block, or the last bytes. */
static inline struct slice_masks
slice_block(struct str in)
{
	char last[BLOCK] = { 0 };

	if (in.n >= BLOCK)
		return slice_classify(in.p);
	memcpy(last, in.p, in.n);
	return slice_classify_words(last);
}

/* The bytes behind an escape; *carry: the first byte of the next block is. */
static uint64_t
slice_escaped(uint64_t escapes, uint64_t *carry)
{
	uint64_t escaped = *carry;

	escapes &= ~escaped;
	*carry = 0;
	while (escapes != 0) {
		uint64_t first = escapes & -escapes;

		escaped |= first << 1;
		*carry = first >> 63;
		escapes &= ~(first | first << 1);
	}
	return escaped;
}

/* Each bit becomes the parity of itself and all below it. */
static uint64_t
slice_parity(uint64_t v)
{
	for (unsigned shift = 1; shift < 64; shift *= 2)
		v ^= v << shift;
	return v;
}

static size_t
slice_count(uint64_t v)
{
	v -= v >> 1 & BYTES * 0x55;
	v = (v & BYTES * 0x33) + (v >> 2 & BYTES * 0x33);
	v = (v + (v >> 4)) & BYTES * 0x0f;
	return (size_t)(v * BYTES >> 56);
}

/* The offset behind the bracket that closes the last open one; BLOCK: none. */
static size_t
slice_block_end(uint64_t opens, uint64_t closes, size_t *depth)
{
	for (uint64_t left = opens | closes; left != 0; left &= left - 1) {
		uint64_t first = left & -left;

		if ((opens & first) != 0)
			++*depth;
		else if (--*depth == 0)
			return (size_t)__builtin_ctzll(first);
	}
	return BLOCK;
}

enum rc
wire_slice_extent(struct str in, struct wire_slice_extent *x)
{
	uint64_t inside = 0, carry = 0;
	size_t depth = 0, containers = 0;

	if (in.n == 0 || (in.p[0] != '{' && in.p[0] != '['))
		return RC_INVALID;
	for (size_t i = 0; i < in.n; i += BLOCK) {
		struct slice_masks m =
		    slice_block((struct str){ in.p + i, in.n - i });

		if ((m.escapes | carry) != 0)
			m.quotes &= ~slice_escaped(m.escapes, &carry);
		inside ^= slice_parity(m.quotes);
		m.opens &= ~inside;
		m.closes &= ~inside;
		inside = 0 - (inside >> 63);
		size_t opened = slice_count(m.opens);
		size_t closed = slice_count(m.closes);
		if (closed < depth) {
			depth += opened - closed;
			containers += opened;
			continue;
		}
		size_t end = slice_block_end(m.opens, m.closes, &depth);
		if (end < BLOCK) {
			uint64_t before = (UINT64_C(1) << end) - 1;

			x->n = i + end + 1;
			x->containers =
			    containers + slice_count(m.opens & before);
			return RC_OK;
		}
		containers += opened;
	}
	return RC_INVALID;
}
