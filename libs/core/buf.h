/*
 * buf: byte buffers that grow up to a limit.
 *
 * Overflow is sticky: the call that exceeds the limit and all later ones change
 * nothing, so a writer appends everything and checks buf_rc() at the end.
 * Not thread-safe.
 */
#ifndef CORE_BUF_H
#define CORE_BUF_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "core/rc.h"
#include "core/str.h"

struct buf {
	char *p;    /* followed by a NUL after the first append */
	size_t n;   /* used */
	size_t cap; /* allocated */
	size_t max; /* limit of n */
	bool over;  /* the limit was exceeded */
};

/* BUF_INIT(max), buf_init(b, max): Empty, without allocating. */
#define BUF_INIT(max)                    \
	{                                \
		NULL, 0, 0, (max), false \
	}
void buf_init(struct buf *b, size_t max);

/* buf_free(b): Free the bytes; b is then empty and usable. */
void buf_free(struct buf *b);

/* buf_reset(b): Empty b and clear an overflow; its memory is reused. */
void buf_reset(struct buf *b);

/*
 * buf_reserve(b, n): Make room for n more bytes at once, so that appending them
 * does not allocate; false, and an overflow, beyond the limit.
 */
bool buf_reserve(struct buf *b, size_t n);

/* buf_put_more(b, p, n): Private: as buf_put(), whether there is room or not.
 */
void buf_put_more(struct buf *b, const void *p, size_t n);

/* buf_put(b, p, n): Append bytes. */
static inline void
buf_put(struct buf *b, const void *p, size_t n)
{
	/* There is room for it and a NUL, as mostly. */
	if (n > 0 && n < PTRDIFF_MAX && b->cap - b->n > n && !b->over) {
		memcpy(b->p + b->n, p, n);
		b->n += n;
		b->p[b->n] = '\0';
	} else {
		buf_put_more(b, p, n);
	}
}

/* buf_puts(b, s): Append a C string. */
static inline void
buf_puts(struct buf *b, const char *s)
{
	buf_put(b, s, strlen(s));
}

/* buf_putc(b, c): Append one byte. */
static inline void
buf_putc(struct buf *b, char c)
{
	if ((b->cap - b->n <= 1 || b->over) && !buf_reserve(b, 1))
		return;
	b->p[b->n++] = c;
	b->p[b->n] = '\0';
}

/* buf_put_i64(b, v): Append a number, in decimal. */
void buf_put_i64(struct buf *b, int64_t v);

/* buf_put_str(b, s): Append a string. */
static inline void
buf_put_str(struct buf *b, struct str s)
{
	buf_put(b, s.p, s.n);
}
/* Append formatted text. */
void buf_printf(struct buf *b, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
void buf_vprintf(struct buf *b, const char *fmt, va_list ap)
    __attribute__((format(printf, 2, 0)));

/* buf_drop(b, n): Remove the first n bytes (at most all); over stays. */
void buf_drop(struct buf *b, size_t n);

/* buf_str(b): Its content, valid until b changes.  Never absent. */
struct str buf_str(const struct buf *b);

/* buf_rc(b): RC_TOOBIG after an overflow, else RC_OK. */
enum rc buf_rc(const struct buf *b) RC_CHECK;

#endif /* !CORE_BUF_H */
