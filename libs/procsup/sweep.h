/*
 * sweep: killing marked processes, in steps on the loop.
 */
#ifndef PROCSUP_SWEEP_H
#define PROCSUP_SWEEP_H

#include <stdbool.h>
#include <stddef.h>

#include "core/str.h"

struct loop;
struct sweep;

/* Sweeps of a process at a time, without those of shims that died. */
#define SWEEPS_MAX 64

struct sweep_handler {
	bool (*is_doomed)(void *arg, struct str mark);
	/* The sweep is freed on return. */
	void (*done)(void *arg, size_t killed);
	void *arg;
};

/*
 * sweep_new(l, h): Start one; see procsup_sweep().
 * sweep_free(s): Without a callback; not in one.  NULL is allowed.
 */
struct sweep *sweep_new(struct loop *l, const struct sweep_handler *h);
void sweep_free(struct sweep *s);

#endif /* !PROCSUP_SWEEP_H */
