/*
 * str: borrowed text as pointer and length, by value.
 *
 * A struct str does not own its bytes and is not NUL-terminated; their lifetime
 * is documented where it comes from.  {NULL, 0} is "absent", {"", 0} is
 * "empty". Only str_dup() allocates.
 */
#ifndef CORE_STR_H
#define CORE_STR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "core/rc.h"

struct str {
	const char *p;
	size_t n;
};

/* A struct str of a string literal; as an initialiser, and as an expression. */
#define STR_INIT(lit)                  \
	{                              \
		(lit), sizeof(lit) - 1 \
	}
#define STR(lit) ((struct str)STR_INIT(lit))
/* Arguments for printf's "%.*s". */
#define STR_ARG(s) (int)(s).n, (s).p ? (s).p : ""

/* str_of(s): The view of a C string; {NULL, 0} of NULL. */
static inline struct str
str_of(const char *s)
{
	return (struct str){ s, s != NULL ? strlen(s) : 0 };
}

/* str_eq(a, b): Whether both have the same bytes (absent equals empty). */
static inline bool
str_eq(struct str a, struct str b)
{
	return a.n == b.n && (a.n == 0 || memcmp(a.p, b.p, a.n) == 0);
}

/* str_eq_nocase(a, b): As str_eq() with ASCII letters folded. */
bool str_eq_nocase(struct str a, struct str b);

/* str_cmp(a, b): Byte order, as strcmp(). */
int str_cmp(struct str a, struct str b);

/* str_hex_value(c): The value of a hexadecimal digit of either case, or -1. */
int str_hex_value(char c);

/* str_starts(s, prefix): The first byte differs in most cases. */
static inline bool
str_starts(struct str s, struct str prefix)
{
	return prefix.n == 0 ||
	    (s.n >= prefix.n && s.p[0] == prefix.p[0] &&
		memcmp(s.p, prefix.p, prefix.n) == 0);
}

/* str_after(s, n): s without its first n bytes, of which it has that many. */
static inline struct str
str_after(struct str s, size_t n)
{
	/* An empty text may have no address, to which C11 adds nothing. */
	return n == 0 ? s : (struct str){ s.p + n, s.n - n };
}

/* str_clip(s, max): At most the first max bytes of s, whole characters. */
struct str str_clip(struct str s, size_t max);

/* str_ends(s, suffix): The last byte differs in most cases. */
static inline bool
str_ends(struct str s, struct str suffix)
{
	return suffix.n == 0 ||
	    (s.n >= suffix.n && s.p[s.n - 1] == suffix.p[suffix.n - 1] &&
		memcmp(s.p + (s.n - suffix.n), suffix.p, suffix.n) == 0);
}

/*
 * str_starts_any(s, list, n), str_ends_any(s, list, n):
 * The length of the first of the n items that s starts or ends with; 0: none.
 */
size_t str_starts_any(struct str s, const struct str *list, size_t n);
size_t str_ends_any(struct str s, const struct str *list, size_t n);

/* str_find(s, needle): Offset of needle in s, or -1; 0 of an empty one. */
ptrdiff_t str_find(struct str s, struct str needle);

/* str_trim(s): s without ASCII white space (\t to \r, ' ') at both ends. */
struct str str_trim(struct str s);

/*
 * str_split(s, sep, rest):
 * The part of *s before the first byte sep; *s becomes the rest after it,
 * absent if there is no sep.  Call it until s->p is NULL to get all parts.
 */
struct str str_split(struct str *s, char sep);

/*
 * str_to_i64(s, min, max, out), str_to_f64(s, min, max, out):
 * All of s as a decimal number, independent of the locale: an optional '-',
 * digits, for the latter also a fraction and an exponent; no '+', blanks,
 * hexadecimal, "inf" or "nan", and at most 255 bytes.  RC_INVALID if it is not
 * a number or is not within [min, max], with *out unchanged.
 */
enum rc str_to_i64(
    struct str s, int64_t min, int64_t max, int64_t *out) RC_CHECK;
enum rc str_to_f64(struct str s, double min, double max, double *out) RC_CHECK;

/* Room for any result of str_num(), NUL included. */
#define STR_NUM_MAX 21

/* str_num(v, dst): v in decimal, with a NUL; in dst. */
struct str str_num(int64_t v, char dst[STR_NUM_MAX]);

/* str_dup(s): A NUL-terminated heap copy, freed with free(); NULL of absent. */
char *str_dup(struct str s);

/*
 * str_copy(s, dst, size):
 * Copy s with a NUL to dst, truncated between code points to size bytes (> 0).
 */
void str_copy(struct str s, char *dst, size_t size);

/* str_utf8_put(c, dst): Write the UTF-8 of a code point; its bytes. */
#define STR_UTF8_MAX 4
size_t str_utf8_put(uint32_t c, char dst[STR_UTF8_MAX]);

/* str_utf8_next_any(s, pos): Private: str_utf8_next() of any character. */
int32_t str_utf8_next_any(struct str s, size_t *pos);

/*
 * str_utf8_next(s, pos):
 * The code point at *pos, which is advanced; -1 at the end of s, or, without
 * advancing, where s is not UTF-8 (which excludes overlong forms and
 * surrogates).
 */
static inline int32_t
str_utf8_next(struct str s, size_t *pos)
{
	const unsigned char *p = (const unsigned char *)s.p + *pos;

	if (*pos >= s.n)
		return -1;
	if (p[0] < 0x80) {
		++*pos;
		return p[0];
	}
	/* Most Chinese text; no surrogate and nothing overlong begins so. */
	if (p[0] > 0xe0 && p[0] < 0xf0 && p[0] != 0xed && s.n - *pos >= 3 &&
	    ((p[1] | p[2] << 8) & 0xc0c0) == 0x8080) {
		*pos += 3;
		return (p[0] & 0x0f) << 12 | (p[1] & 0x3f) << 6 | (p[2] & 0x3f);
	}
	return str_utf8_next_any(s, pos);
}

/* str_hash(s): FNV-1a, the same in every process and version. */
uint64_t str_hash(struct str s);

/* str_utf8_count(s): The number of code points; -1 if s is not UTF-8. */
ptrdiff_t str_utf8_count(struct str s);

#endif /* !CORE_STR_H */
