/*
 * spare: a few objects that have served their purpose and wait for the next.
 *
 * Any thread; takes no lock, so that no thread waits for one that was
 * interrupted.  What was put last is mostly taken first: its memory is cached.
 */
#ifndef CORE_SPARE_H
#define CORE_SPARE_H

#include <stdatomic.h>
#include <stdbool.h>

/* Of more that are in use at a time, the rest is allocated anew. */
#define SPARE_MAX 8

/* Zero at first. */
struct spare {
	_Atomic(void *) all[SPARE_MAX];
};

/* spare_take(s): One of them, the caller's then; NULL: there is none. */
void *spare_take(struct spare *s);

/*
 * spare_put(s, p): Give p, not NULL, to s.  False: it has SPARE_MAX already,
 * and p is still the caller's, to be freed.
 */
bool spare_put(struct spare *s, void *p);

#endif /* !CORE_SPARE_H */
