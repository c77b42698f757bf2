/*
 * Members of a text by the scanner, and a quick search for the end of a value.
 */
#include "wire/slice.h"

#include <stdint.h>
#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "wire/wire.h"
#include "wire/wire_internal.h"

static enum rc
slice_rc(bool ok)
{
	return ok ? RC_OK : RC_INVALID;
}

/* ---- members ---- */

bool
wire_scan_skip(struct wire_scan *s, const struct wire_slice_extent *x)
{
	s->p += x->n;
	s->end =
	    (size_t)(s->text_end - s->end) > x->n ? s->end + x->n : s->text_end;
	s->containers += x->containers;
	return s->containers <= WIRE_CONTAINERS_MAX;
}

/* Past one value of the text's object or array. */
static enum rc
slice_member(struct wire_scan *s, const struct wire_slice_handler *h,
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
		if (!wire_scan_skip(s, &x))
			return RC_TOOBIG;
	} else if (rc == RC_NOENT) {
		rc = wire_scan_value(s);
	}
	if (rc == RC_OK && h != NULL && h->each != NULL) {
		m->value = (struct str){ from, (size_t)(s->p - from) };
		h->each(h->arg, m);
	}
	return rc;
}

static enum rc
slice_members(struct wire_scan *s, const struct wire_slice_handler *h)
{
	bool object = *s->p == '{';
	char close = object ? '}' : ']';
	enum rc rc = wire_scan_open(s);

	if (rc == RC_OK && wire_scan_take(s, close))
		return slice_rc(wire_scan_close(s));
	while (rc == RC_OK) {
		struct wire_slice m = { 0 };
		struct wire_scan_text k = { 0 };

		wire_scan_space(s);
		if (object && !wire_scan_key(s, &k))
			return RC_INVALID;
		m.key = (struct str){ k.p, k.n };
		m.escaped = k.escaped;
		rc = slice_member(s, h, &m);
		if (rc == RC_OK && wire_scan_take(s, close))
			return slice_rc(wire_scan_close(s));
		if (rc == RC_OK && !wire_scan_take(s, ','))
			return RC_INVALID;
	}
	return rc;
}

enum rc
wire_slice_each(struct str in, const struct wire_slice_handler *h)
{
	struct wire_scan s;
	enum rc rc;

	if (in.n > WIRE_MESSAGE_MAX && (h == NULL || in.n > h->max))
		return RC_TOOBIG;
	wire_scan_begin(&s, in);
	if (h != NULL && h->max > 0 && h->max < in.n)
		s.end = in.p + h->max;
	wire_scan_space(&s);
	rc = RC_INVALID;
	if (s.p < s.end && (*s.p == '{' || *s.p == '['))
		rc = slice_members(&s, h);
	wire_scan_space(&s);
	if (rc == RC_OK && s.p != s.end)
		rc = RC_INVALID;
	/* What is wrong may be that the rest was not scanned. */
	if ((rc == RC_OK || rc == RC_INVALID) && s.end < s.text_end)
		rc = RC_TOOBIG;
	wire_scan_end(&s);
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

/* Four times as fast; a text of less than a block is left to the other. */
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

/* The block that ends with the text, from i on. */
static struct slice_masks
slice_last_block(struct str in, size_t i)
{
	struct slice_masks m = slice_classify(in.p + in.n - BLOCK);
	unsigned shift = (unsigned)(BLOCK - (in.n - i));

	m.quotes >>= shift;
	m.escapes >>= shift;
	m.opens >>= shift;
	m.closes >>= shift;
	return m;
}

/* The block at i, or the last bytes. */
static inline struct slice_masks
slice_block(struct str in, size_t i)
{
	char all[BLOCK] = { 0 };

	if (in.n - i >= BLOCK)
		return slice_classify(in.p + i);
	if (in.n >= BLOCK)
		return slice_last_block(in, i);
	memcpy(all, in.p, in.n);
	return slice_classify_words(all);
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
		struct slice_masks m = slice_block(in, i);

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
