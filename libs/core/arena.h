/*
 * arena: memory of one message, taken piece by piece, given back at once.
 *
 * Not thread-safe; one owner.  Pieces live until arena_reset() or arena_free().
 */
#ifndef CORE_ARENA_H
#define CORE_ARENA_H

#include <stddef.h>

#include "core/str.h"

struct arena;

/*
 * arena_new(limit):
 * An empty arena that gives out at most limit bytes between two resets.
 */
struct arena *arena_new(size_t limit);

/* arena_free(a): Give everything back.  NULL is allowed. */
void arena_free(struct arena *a);

/*
 * arena_reset(a):
 * Take back all pieces; up to 64 KiB of memory are kept for the next message,
 * so that a steady load allocates nothing.
 */
void arena_reset(struct arena *a);

/*
 * arena_alloc(a, n):
 * n zeroed bytes aligned for any type, or NULL when the limit would be passed.
 * The arena stays usable.  Not NULL of n 0.
 */
void *arena_alloc(struct arena *a, size_t n);

/*
 * arena_str(a, s):
 * A copy of s with a NUL behind it, which the result's length leaves out but
 * the limit counts.  Absent when s is, or when the limit would be passed.
 */
struct str arena_str(struct arena *a, struct str s);

/* arena_printf(a, fmt, ...): Formatted text, as arena_str(). */
struct str arena_printf(struct arena *a, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* arena_used(a): Bytes given out since the last reset, without padding. */
size_t arena_used(const struct arena *a);

#endif /* !CORE_ARENA_H */
