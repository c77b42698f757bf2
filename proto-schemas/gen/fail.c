/*
 * Places in a schema, and refusing what stands there.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/mem.h"
#include "gen.h"

void
gen_fail(struct where w, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	(void)fprintf(
	    stderr, "%s: %s%s", w.file, w.path, w.path[0] != '\0' ? ": " : "");
	(void)vfprintf(stderr, fmt, ap);
	(void)fputc('\n', stderr);
	va_end(ap);
	exit(1);
}

char *
gen_printf(const char *fmt, ...)
{
	struct buf b = BUF_INIT(1024 * 1024);
	va_list ap;
	va_start(ap, fmt);
	buf_vprintf(&b, fmt, ap);
	va_end(ap);
	if (buf_rc(&b) != RC_OK)
		abort();
	return b.p != NULL ? b.p : mem_strdup("");
}

static void
put_step(struct buf *b, const char *step)
{
	buf_putc(b, '/');
	for (; *step != '\0'; step++) {
		if (*step == '~')
			buf_puts(b, "~0");
		else if (*step == '/')
			buf_puts(b, "~1");
		else
			buf_putc(b, *step);
	}
}

struct where
gen_down(struct where w, const char *a, const char *b)
{
	struct buf path = BUF_INIT(64 * 1024);
	buf_puts(&path, w.path);
	put_step(&path, a);
	if (b != NULL)
		put_step(&path, b);
	return (struct where){ w.file, path.p };
}

struct where
gen_item(struct where w, size_t i)
{
	return (struct where){ w.file, gen_printf("%s/%zu", w.path, i) };
}
