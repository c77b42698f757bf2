#include "core/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Must not allocate, so it uses neither stdio streams nor the log. */
void
mem_exhausted(size_t n)
{
	char line[80];
	int len;

	len = snprintf(
	    line, sizeof(line), "lvl=error ev=mem.exhausted bytes=%zu\n", n);
	if (len > 0 && write(STDERR_FILENO, line, (size_t)len) < 0)
		abort();
	abort();
}

void *
mem_alloc(size_t n)
{
	void *p = malloc(n != 0 ? n : 1);

	if (p == NULL)
		mem_exhausted(n);
	return p;
}

void *
mem_zalloc(size_t n)
{
	return mem_calloc(1, n);
}

void *
mem_calloc(size_t n, size_t size)
{
	void *p;

	if (n == 0 || size == 0)
		n = size = 1;
	p = calloc(n, size);
	if (p == NULL)
		mem_exhausted(n * size);
	return p;
}

void *
mem_realloc(void *p, size_t n)
{
	void *q = realloc(p, n != 0 ? n : 1);

	if (q == NULL)
		mem_exhausted(n);
	return q;
}

char *
mem_strdup(const char *s)
{
	size_t n = strlen(s) + 1;

	return memcpy(mem_alloc(n), s, n);
}
