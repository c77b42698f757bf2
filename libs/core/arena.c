/*
 * arena: blocks of memory in a list; the newest is filled from the front.
 */
#include "core/arena.h"

#include <stdalign.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/mem.h"

#define BLOCK_MIN 1024
/* Largest block by growth, and most memory reused after a reset. */
#define BLOCK_MAX (64 * (size_t)1024)

/*
 * With the address sanitizer blocks are freed at a reset, so that it finds uses
 * of stale pointers.
 */
#if defined(__SANITIZE_ADDRESS__)
#define REUSE_BLOCK 0
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define REUSE_BLOCK 0
#endif
#endif
#ifndef REUSE_BLOCK
#define REUSE_BLOCK 1
#endif

struct block {
	struct block *older;
	size_t size; /* of data */
	size_t n;    /* allocated of data */
	alignas(max_align_t) unsigned char data[];
};

struct arena {
	struct block *newest;
	size_t limit;
	size_t used;
	size_t first; /* size of the first block, by earlier use */
};

struct arena *
arena_new(size_t limit)
{
	struct arena *a = mem_zalloc(sizeof(*a));

	a->limit = limit;
	a->first = BLOCK_MIN;
	return a;
}

static void
arena_free_blocks(struct arena *a)
{
	while (a->newest != NULL) {
		struct block *b = a->newest;

		a->newest = b->older;
		free(b);
	}
}

void
arena_free(struct arena *a)
{
	if (a == NULL)
		return;
	arena_free_blocks(a);
	free(a);
}

void
arena_reset(struct arena *a)
{
	struct block *b = a->newest;
	size_t total = 0;

	for (const struct block *i = b; i != NULL; i = i->older)
		total += i->size;
	if (REUSE_BLOCK && b != NULL && b->older == NULL && total <= BLOCK_MAX)
		b->n = 0;
	else {
		/* The next message of this size needs one block. */
		arena_free_blocks(a);
		if (total > a->first)
			a->first = total < BLOCK_MAX ? total : BLOCK_MAX;
	}
	a->used = 0;
}

/* A new newest block with room for n bytes. */
static struct block *
arena_add_block(struct arena *a, size_t n)
{
	size_t size = a->first;
	struct block *b;

	if (a->newest != NULL)
		size = a->newest->size * 2;
	if (size > BLOCK_MAX)
		size = BLOCK_MAX;
	if (size > a->limit)
		size = a->limit;
	if (size < n)
		size = n;
	b = mem_alloc(sizeof(*b) + size);
	b->older = a->newest;
	b->size = size;
	b->n = 0;
	a->newest = b;
	return b;
}

static void *
arena_take(struct arena *a, size_t n, size_t align)
{
	struct block *b = a->newest;
	size_t at = 0;

	if (n > SIZE_MAX - a->used || a->used + n > a->limit)
		return NULL;
	if (b != NULL)
		at = (b->n + align - 1) & ~(align - 1);
	if (b == NULL || n > SIZE_MAX - at || at + n > b->size) {
		b = arena_add_block(a, n);
		at = 0;
	}
	b->n = at + n;
	a->used += n;
	return b->data + at;
}

void *
arena_alloc(struct arena *a, size_t n)
{
	void *p = arena_take(a, n, alignof(max_align_t));

	return p != NULL ? memset(p, 0, n) : NULL;
}

void *
arena_bytes(struct arena *a, size_t n)
{
	return arena_take(a, n, alignof(max_align_t));
}

struct str
arena_str(struct arena *a, struct str s)
{
	char *p;

	if (s.p == NULL || s.n == SIZE_MAX)
		return (struct str){ NULL, 0 };
	p = arena_take(a, s.n + 1, 1);
	if (p == NULL)
		return (struct str){ NULL, 0 };
	memcpy(p, s.p, s.n);
	p[s.n] = '\0';
	return (struct str){ p, s.n };
}

struct str
arena_printf(struct arena *a, const char *fmt, ...)
{
	char small[256];
	va_list ap;
	char *p;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(small, sizeof(small), fmt, ap);
	va_end(ap);
	if (n < 0)
		return (struct str){ NULL, 0 };
	p = arena_take(a, (size_t)n + 1, 1);
	if (p == NULL)
		return (struct str){ NULL, 0 };
	if ((size_t)n < sizeof(small))
		memcpy(p, small, (size_t)n + 1);
	else {
		va_start(ap, fmt);
		n = vsnprintf(p, (size_t)n + 1, fmt, ap);
		va_end(ap);
	}
	return (struct str){ p, (size_t)n };
}

struct arena_mark
arena_mark(const struct arena *a)
{
	return (struct arena_mark){ a->newest,
		a->newest != NULL ? a->newest->n : 0, a->used };
}

void
arena_rewind(struct arena *a, struct arena_mark m)
{
	while (a->newest != m.block) {
		struct block *b = a->newest;

		a->newest = b->older;
		free(b);
	}
	if (a->newest != NULL)
		a->newest->n = m.n;
	a->used = m.used;
}

size_t
arena_used(const struct arena *a)
{
	return a->used;
}
