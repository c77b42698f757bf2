#include "core/buf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"

#define FIRST_CAP 64

void
buf_init(struct buf *b, size_t max)
{
	*b = (struct buf)BUF_INIT(max);
}

void
buf_free(struct buf *b)
{
	free(b->p);
	buf_init(b, b->max);
}

void
buf_reset(struct buf *b)
{
	b->n = 0;
	b->over = false;
	if (b->p != NULL)
		b->p[0] = '\0';
}

bool
buf_reserve(struct buf *b, size_t n)
{
	size_t need, cap;

	if (b->over)
		return false;
	/* The sum may overflow. */
	if (n >= SIZE_MAX - b->n || b->n + n > b->max) {
		b->over = true;
		return false;
	}
	need = b->n + n + 1;
	if (need <= b->cap)
		return true;
	cap = b->cap != 0 ? b->cap : FIRST_CAP;
	while (cap < need)
		cap = cap <= SIZE_MAX / 2 ? cap * 2 : need;
	if (cap - 1 > b->max)
		cap = b->max + 1;
	b->p = mem_realloc(b->p, cap);
	b->cap = cap;
	return true;
}

void
buf_put_more(struct buf *b, const void *p, size_t n)
{
	if (!buf_reserve(b, n))
		return;
	if (n != 0)
		memcpy(b->p + b->n, p, n);
	b->n += n;
	b->p[b->n] = '\0';
}

void
buf_printf(struct buf *b, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	buf_vprintf(b, fmt, ap);
	va_end(ap);
}

void
buf_vprintf(struct buf *b, const char *fmt, va_list ap)
{
	va_list copy;
	size_t room;
	int n;

	if (b->over)
		return;
	va_copy(copy, ap);
	room = b->cap - b->n;
	n = vsnprintf(b->p != NULL ? b->p + b->n : NULL, room, fmt, copy);
	va_end(copy);
	if (n < 0)
		b->over = true;
	else if ((size_t)n < room)
		b->n += (size_t)n;
	else if (buf_reserve(b, (size_t)n)) {
		(void)vsnprintf(b->p + b->n, (size_t)n + 1, fmt, ap);
		b->n += (size_t)n;
	}
	/* The first call may have written beyond the end. */
	if (b->over && b->p != NULL)
		b->p[b->n] = '\0';
}

void
buf_put_i64(struct buf *b, int64_t v)
{
	char text[STR_NUM_MAX];

	buf_put_str(b, str_num(v, text));
}

void
buf_drop(struct buf *b, size_t n)
{
	if (n > b->n)
		n = b->n;
	if (n == 0)
		return;
	b->n -= n;
	memmove(b->p, b->p + n, b->n + 1);
}

struct str
buf_str(const struct buf *b)
{
	return (struct str){ b->p != NULL ? b->p : "", b->n };
}

enum rc
buf_rc(const struct buf *b)
{
	return b->over ? RC_TOOBIG : RC_OK;
}
