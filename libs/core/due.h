/*
 * due: which of a loop's timers is the next: a binary heap, the next at its
 * root.  Loop thread.
 */
#ifndef CORE_DUE_H
#define CORE_DUE_H

#include <stddef.h>
#include <stdint.h>

struct loop_timer;

struct due {
	int64_t key;  /* when it runs, ns */
	uint64_t seq; /* order of setting */
	struct loop_timer *t;
};

/* Zero-initialised: empty.  p[0] is the next; seq is private. */
struct due_heap {
	struct due *p;
	size_t n, cap;
	uint64_t seq;
};

/* due_put(h, key, t): t, which is in no heap, is due at key. */
void due_put(struct due_heap *h, int64_t key, struct loop_timer *t);

/* due_del(h, t): Take it out; no-op if it is not in. */
void due_del(struct due_heap *h, struct loop_timer *t);

/* due_free(h): Take all out, and free the heap's memory. */
void due_free(struct due_heap *h);

#endif /* !CORE_DUE_H */
