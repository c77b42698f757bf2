/*
 * The bounds of a schema, and the texts that say which one is broken.
 */
#include "wire/check.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "core/buf.h"
#include "wire/out.h"

/* The JSON Pointer of at, escaped. */
static void
check_put_pointer(struct buf *b, const struct wire_at *at)
{
	if (at->up == NULL)
		return;
	check_put_pointer(b, at->up);
	if (at->key.p == NULL) {
		buf_printf(b, "/%zu", at->index);
		return;
	}
	buf_putc(b, '/');
	for (size_t i = 0; i < at->key.n; i++) {
		char c = at->key.p[i];
		if (c == '~')
			buf_puts(b, "~0");
		else if (c == '/')
			buf_puts(b, "~1");
		else
			buf_putc(b, c);
	}
}

enum rc
wire_fail(const struct wire_at *at, enum rc rc, const char *fmt, ...)
{
	if (at->err == NULL)
		return rc;
	/* Far above what fits, so that cutting happens in one place. */
	struct buf b = BUF_INIT(64 * 1024);
	check_put_pointer(&b, at);
	str_copy(buf_str(&b), at->err->path, sizeof(at->err->path));
	buf_reset(&b);
	va_list ap;
	va_start(ap, fmt);
	buf_vprintf(&b, fmt, ap);
	va_end(ap);
	str_copy(buf_str(&b), at->err->why, sizeof(at->err->why));
	buf_free(&b);
	return rc;
}

/* The reason for a rejected text of each class. */
static const char *const check_class_text[] = {
	[WIRE_CHARS_ANY] = "",
	[WIRE_CHARS_ID] = "must not have control characters",
	[WIRE_CHARS_TERMINAL] = "must not have control characters, /, + or #",
	[WIRE_CHARS_SNAKE] = "may only have a-z, 0-9 and _",
	[WIRE_CHARS_TOKEN] = "may only have letters, digits, _ and -",
	[WIRE_CHARS_HEX32] = "must be 32 of 0-9 and a-f",
	[WIRE_CHARS_HEX64] = "must be 64 of 0-9 and a-f",
};

static inline bool
check_char_allowed(enum wire_chars class, unsigned char c)
{
	bool digit = c >= '0' && c <= '9';
	bool lower = c >= 'a' && c <= 'z';
	switch (class) {
	case WIRE_CHARS_ANY:
		return true;
	case WIRE_CHARS_ID:
		return c >= 0x20 && c != 0x7f;
	case WIRE_CHARS_TERMINAL:
		return c >= 0x20 && c != 0x7f && c != '/' && c != '+' &&
		    c != '#';
	case WIRE_CHARS_SNAKE:
		return digit || lower || c == '_';
	case WIRE_CHARS_TOKEN:
		return digit || lower || (c >= 'A' && c <= 'Z') || c == '_' ||
		    c == '-';
	case WIRE_CHARS_HEX32:
	case WIRE_CHARS_HEX64:
		return digit || (c >= 'a' && c <= 'f');
	}
	return false;
}

static inline bool
check_all_allowed(enum wire_chars class, struct str s)
{
	bool ok = true;

	for (size_t i = 0; i < s.n; i++)
		ok = ok && check_char_allowed(class, (unsigned char)s.p[i]);
	return ok;
}

/* One loop for each class, without a decision for each byte. */
static bool
check_chars(enum wire_chars class, struct str s)
{
	switch (class) {
	case WIRE_CHARS_ANY:
		return true;
	case WIRE_CHARS_ID:
		return check_all_allowed(WIRE_CHARS_ID, s);
	case WIRE_CHARS_TERMINAL:
		return check_all_allowed(WIRE_CHARS_TERMINAL, s);
	case WIRE_CHARS_SNAKE:
		return check_all_allowed(WIRE_CHARS_SNAKE, s);
	case WIRE_CHARS_TOKEN:
		return check_all_allowed(WIRE_CHARS_TOKEN, s);
	case WIRE_CHARS_HEX32:
		return s.n == 32 && check_all_allowed(WIRE_CHARS_HEX32, s);
	case WIRE_CHARS_HEX64:
		return s.n == 64 && check_all_allowed(WIRE_CHARS_HEX64, s);
	}
	return false;
}

static enum rc
check_class(enum wire_chars class, struct str s, const struct wire_at *at)
{
	if (class == WIRE_CHARS_ANY)
		return RC_OK;
	if (s.n == 0)
		return wire_fail(at, RC_INVALID, WIRE_WHY_EMPTY);
	if (!check_chars(class, s))
		return wire_fail(at, RC_INVALID, "%s", check_class_text[class]);
	return RC_OK;
}

/* Whether s is ASCII without U+0000, by eight bytes at once. */
static bool
check_is_plain_ascii(struct str s)
{
	const uint64_t ones = UINT64_C(0x0101010101010101);
	size_t i = 0;
	for (; s.n - i >= sizeof(uint64_t); i += sizeof(uint64_t)) {
		uint64_t w;
		memcpy(&w, s.p + i, sizeof(w));
		/* A zero byte borrows, and so sets its high bit. */
		if (((w | (w - ones)) & (ones << 7)) != 0)
			return false;
	}
	for (; i < s.n; i++)
		if ((signed char)s.p[i] <= 0)
			return false;
	return true;
}

enum rc
wire_check_utf8(struct str s, const struct wire_at *at)
{
	/* The first byte differs in most cases. */
	if (s.n == 0 || (s.p[0] > 0 && check_is_plain_ascii(s)))
		return RC_OK;
	if (str_utf8_count(s) < 0)
		return wire_fail(at, RC_INVALID, "is not UTF-8");
	if (memchr(s.p, '\0', s.n) != NULL)
		return wire_fail(at, RC_INVALID, "must not have U+0000");
	return RC_OK;
}

/* How many code points, of UTF-8. */
static int64_t
check_count_code_points(struct str s)
{
	int64_t n = 0;
	for (size_t i = 0; i < s.n; i++)
		n += ((unsigned char)s.p[i] & 0xc0) != 0x80;
	return n;
}

/* A code point has one to four bytes, so bytes are mostly enough to know. */
static enum rc
check_length(const struct wire_type *t, struct str s, const struct wire_at *at)
{
	if (s.n <= (size_t)t->max.i && (s.n + 3) / 4 >= (size_t)t->min.i)
		return RC_OK;
	int64_t n = check_count_code_points(s);
	if (n == 0 && t->min.i > 0)
		return wire_fail(at, RC_INVALID, WIRE_WHY_EMPTY);
	if (n < t->min.i)
		return wire_fail(at, RC_INVALID,
		    "must have at least %" PRId64 " characters", t->min.i);
	if (n > t->max.i)
		return wire_fail(at, RC_INVALID,
		    "must have at most %" PRId64 " characters", t->max.i);
	return RC_OK;
}

enum rc
wire_check_text(
    const struct wire_type *t, struct str s, const struct wire_at *at)
{
	/* As most texts are. */
	if (s.n <= (size_t)t->max.i && (s.n + 3) / 4 >= (size_t)t->min.i &&
	    (t->max_bytes == 0 || s.n <= t->max_bytes))
		return t->chars == WIRE_CHARS_ANY
		    ? RC_OK
		    : check_class((enum wire_chars)t->chars, s, at);
	enum rc rc = check_length(t, s, at);
	if (rc != RC_OK)
		return rc;
	if (t->max_bytes > 0 && s.n > t->max_bytes)
		return wire_fail(at, RC_INVALID,
		    "must have at most %" PRIu32 " bytes", t->max_bytes);
	return check_class((enum wire_chars)t->chars, s, at);
}

enum rc
wire_check_enum(const struct wire_type *t, size_t i, const struct wire_at *at)
{
	if (i < t->n_names)
		return RC_OK;
	struct buf b = BUF_INIT(512);
	for (size_t k = 0; k < t->n_names; k++) {
		buf_puts(&b, k > 0 ? ", " : "");
		buf_put_str(&b, t->names[k]);
	}
	(void)wire_fail(at, RC_INVALID,
	    t->n_names == 1 ? "must be %.*s" : "must be one of %.*s",
	    STR_ARG(buf_str(&b)));
	buf_free(&b);
	return RC_INVALID;
}

enum rc
wire_check_i64(const struct wire_type *t, int64_t i, const struct wire_at *at)
{
	if (i < t->min.i)
		return wire_fail(
		    at, RC_INVALID, "must be at least %" PRId64, t->min.i);
	if (i > t->max.i)
		return wire_fail(
		    at, RC_INVALID, "must be at most %" PRId64, t->max.i);
	return RC_OK;
}

/* A bound in its shortest form, as it stands in the schema. */
static enum rc
check_fail_f64(const char *what, double bound, const struct wire_at *at)
{
	struct buf b = BUF_INIT(64);
	struct wire_out o = { &b, false };
	wire_out_f64(&o, bound);
	(void)wire_fail(at, RC_INVALID, "must be at %s %s", what, b.p);
	buf_free(&b);
	return RC_INVALID;
}

enum rc
wire_check_f64(const struct wire_type *t, double f, const struct wire_at *at)
{
	if (!isfinite(f))
		return wire_fail(at, RC_INVALID, "must be a finite number");
	if (f < t->min.f)
		return check_fail_f64("least", t->min.f, at);
	if (f > t->max.f)
		return check_fail_f64("most", t->max.f, at);
	return RC_OK;
}

enum rc
wire_check_bool(const struct wire_type *t, bool v, const struct wire_at *at)
{
	if (v < t->min.i || v > t->max.i)
		return wire_fail(
		    at, RC_INVALID, "must be %s", t->min.i ? "true" : "false");
	return RC_OK;
}

enum rc
wire_check_count(const struct wire_type *t, size_t n, const struct wire_at *at)
{
	if (n == 0 && t->min.i > 0)
		return wire_fail(at, RC_INVALID, WIRE_WHY_EMPTY);
	if (n < (size_t)t->min.i)
		return wire_fail(at, RC_INVALID,
		    "must have at least %" PRId64 " items", t->min.i);
	if (n > (size_t)t->max.i)
		return wire_fail(at, RC_INVALID,
		    "must have at most %" PRId64 " items", t->max.i);
	return RC_OK;
}

enum rc
wire_check_choice(
    const struct wire_desc *d, uint64_t seen, const struct wire_at *at)
{
	uint64_t n_present = d->choice & seen;
	uint64_t others = n_present & (n_present - 1);
	if (d->choice == 0 || (n_present != 0 && others == 0))
		return RC_OK;
	struct wire_at child = { .up = at, .err = at->err };
	if (n_present == 0) {
		child.key = d->fields[__builtin_ctzll(d->choice)].name;
		return wire_fail(&child, RC_INVALID, WIRE_WHY_MISSING);
	}
	struct str first = d->fields[__builtin_ctzll(n_present)].name;
	child.key = d->fields[__builtin_ctzll(others)].name;
	return wire_fail(
	    &child, RC_INVALID, "must not stand beside %.*s", STR_ARG(first));
}
