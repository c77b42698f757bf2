/*
 * mem: heap allocation that aborts instead of failing.
 *
 * Callers limit sizes from outside, so a failure means that the machine is out
 * of memory; the process logs it and aborts.
 */
#ifndef CORE_MEM_H
#define CORE_MEM_H

#include <stddef.h>

/* mem_exhausted(n): Log that n bytes were not to be had, and abort. */
void mem_exhausted(size_t n) __attribute__((noreturn));

#define NELEM(a) (sizeof(a) / sizeof((a)[0]))

/* The struct of type t whose member m is at p. */
#define CONTAINER_OF(p, t, m) ((t *)(void *)((char *)(p)-offsetof(t, m)))

/*
 * mem_alloc(n), mem_zalloc(n), mem_calloc(n, size), mem_realloc(p, n):
 * As malloc, calloc(1, n), calloc and realloc, but never NULL.  Freed with
 * free().
 */
void *mem_alloc(size_t n) __attribute__((malloc, alloc_size(1)));
void *mem_zalloc(size_t n) __attribute__((malloc, alloc_size(1)));
void *mem_calloc(size_t n, size_t size) __attribute__((malloc));
void *mem_realloc(void *p, size_t n) __attribute__((alloc_size(2)));

/* mem_strdup(s): A heap copy of the C string s; never NULL. */
char *mem_strdup(const char *s) __attribute__((malloc));

#endif /* !CORE_MEM_H */
