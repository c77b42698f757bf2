/*
 * buf: bytes that grow up to a ceiling.
 *
 * Overflow is sticky: the call that does not fit and all after it change
 * nothing, so a writer puts piece after piece and asks buf_rc() once.
 * Not thread-safe; one owner.
 */
#ifndef CORE_BUF_H
#define CORE_BUF_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

#include "core/rc.h"
#include "core/str.h"

struct buf {
	char *p;    /* bytes, always followed by a NUL once something was put */
	size_t n;   /* how many */
	size_t cap; /* allocated */
	size_t max; /* ceiling for n */
	bool over;  /* something did not fit */
};

/* BUF_INIT(max), buf_init(b, max): Empty, allocates nothing yet. */
#define BUF_INIT(max)                    \
	{                                \
		NULL, 0, 0, (max), false \
	}
void buf_init(struct buf *b, size_t max);

/* buf_free(b): Free the bytes; b is empty and usable again. */
void buf_free(struct buf *b);

/* buf_reset(b): Empty b, keep its memory, forget an overflow. */
void buf_reset(struct buf *b);

/* Append bytes, a string, one byte, formatted text. */
void buf_put(struct buf *b, const void *p, size_t n);
void buf_puts(struct buf *b, const char *s);
void buf_putc(struct buf *b, char c);
void buf_put_str(struct buf *b, struct str s);
void buf_printf(struct buf *b, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
void buf_vprintf(struct buf *b, const char *fmt, va_list ap)
    __attribute__((format(printf, 2, 0)));

/* buf_drop(b, n): Remove the first n bytes (at most all); over stays. */
void buf_drop(struct buf *b, size_t n);

/* buf_str(b): What is in b; valid until b changes.  Never absent. */
struct str buf_str(const struct buf *b);

/* buf_rc(b): RC_TOOBIG if something did not fit, else RC_OK. */
enum rc buf_rc(const struct buf *b) RC_CHECK;

#endif /* !CORE_BUF_H */
