/*
 * arena: allocations for one message, which are freed together.
 *
 * Not thread-safe.  Memory is valid until arena_reset() or arena_free().
 */
#ifndef CORE_ARENA_H
#define CORE_ARENA_H

#include <stddef.h>

#include "core/str.h"

struct arena;

/*
 * arena_new(limit):
 * An empty arena for at most limit bytes between two resets.
 */
struct arena *arena_new(size_t limit);

/* arena_free(a): Free everything.  NULL is allowed. */
void arena_free(struct arena *a);

/*
 * arena_reset(a):
 * Invalidate all allocations; up to 64 KiB are reused for the next message, so
 * that a steady load does not allocate.
 */
void arena_reset(struct arena *a);

/*
 * arena_alloc(a, n):
 * n zeroed bytes aligned for any type, or NULL beyond the limit, after which
 * the arena is still usable.  Not NULL for n 0.
 */
void *arena_alloc(struct arena *a, size_t n);

/*
 * arena_bytes(a, n): The same, not zeroed: for what is written before it is
 * read.
 */
void *arena_bytes(struct arena *a, size_t n);

/*
 * arena_str(a, s):
 * A copy of s, followed by a NUL, which counts for the limit but not for the
 * length.  Absent if s is, or beyond the limit.
 */
struct str arena_str(struct arena *a, struct str s);

/* arena_printf(a, fmt, ...): Formatted text, as by arena_str(). */
struct str arena_printf(struct arena *a, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/*
 * arena_mark(a):      How far a is filled.
 * arena_rewind(a, m): Free what was allocated since arena_mark() returned m,
 *                     without an arena_reset() in between.
 */
struct arena_mark {
	void *block; /* private */
	size_t n, used;
};
struct arena_mark arena_mark(const struct arena *a);
void arena_rewind(struct arena *a, struct arena_mark m);

/* arena_used(a): Bytes allocated since the last reset, without padding. */
size_t arena_used(const struct arena *a);

#endif /* !CORE_ARENA_H */
