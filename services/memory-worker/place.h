/*
 * place: where in a list of memories a page ends, and the next begins.
 *
 * A list has the souls in the order they were made in, and of each the memories
 * in the order they came to be, ids deciding where times are equal.  A place
 * names its memory by that, not by a number, so that it stays good when
 * memories before or behind it come or go, itself included.  Pure.
 */
#ifndef MEMORY_WORKER_PLACE_H
#define MEMORY_WORKER_PLACE_H

#include "core/arena.h"
#include "core/clock.h"
#include "core/id.h"
#include "core/rc.h"
#include "core/str.h"

struct place {
	struct wall made; /* the soul; {0} of one that was named */
	struct str soul_id;
	struct wall created; /* the memory */
	struct str id;
};

/*
 * place_compare(a, b): < 0, 0, > 0 as a is before, at or behind b.
 * place_compare_soul(a, b): The same of their souls alone.
 */
int place_compare(const struct place *a, const struct place *b);
int place_compare_soul(const struct place *a, const struct place *b);

/* place_write(p, a): The text that place_read() takes; absent if a is full. */
struct str place_write(const struct place *p, struct arena *a);

/*
 * place_read(s, a, out):
 * RC_INVALID if place_write() never wrote that; RC_TOOBIG if a is full.
 */
enum rc place_read(struct str s, struct arena *a, struct place *out) RC_CHECK;

#endif /* !MEMORY_WORKER_PLACE_H */
