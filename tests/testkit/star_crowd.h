/*
 * star_crowd: many clients of several star-hubs, of one thread, that talk,
 * leave and come back; their history is recorded.
 *
 * Each environment has agents and a few humans that have joined it.  A client
 * sends messages to others of its environment, an environment to all of them,
 * too.  A client whose connection has ended comes back to its session, at some
 * hub, after a random and growing time.
 */
#ifndef TESTKIT_STAR_CROWD_H
#define TESTKIT_STAR_CROWD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "testkit/star_history.h"

struct star_crowd_opts {
	size_t clients;
	const int *port; /* of the hubs */
	size_t hubs;
	int64_t begin_ms; /* they begin to connect within so long; 0: at once */
	int64_t resume_ms;   /* of the hubs */
	int64_t interval_ms; /* between two messages of a client, on average */
	uint64_t random;     /* seed */
};

struct star_crowd;

/* star_crowd_new(o): o is copied, but for the ports, which may change.  Nobody
 * is connected. */
struct star_crowd *star_crowd_new(const struct star_crowd_opts *o);
void star_crowd_free(struct star_crowd *w);

/* star_crowd_now(w): The time of its history. */
int64_t star_crowd_now(const struct star_crowd *w);
struct star_history *star_crowd_history(struct star_crowd *w);

/* star_crowd_random(w, n): A random number below n. */
size_t star_crowd_random(struct star_crowd *w, size_t n);

/*
 * star_crowd_run(w, ms): Serve all clients for about so long.
 *
 * star_crowd_set_quiet(w, quiet): Nobody sends, or leaves, any more; those that
 *     have left come back.
 * star_crowd_open(w): How many are connected.
 */
void star_crowd_run(struct star_crowd *w, int ms);
void star_crowd_set_quiet(struct star_crowd *w, bool quiet);
size_t star_crowd_open(const struct star_crowd *w);

/* How connections ended, for the summary of a test; and how many are being
 * made, or are of humans that have not joined their environment yet. */
struct star_crowd_ends {
	size_t closed[5]; /* 1001, 1012, 1013, 4409, others */
	size_t broken, refused, rejected, slow;
	size_t connecting, unjoined;
	char rejection[400]; /* the last one */
};
void star_crowd_ends(const struct star_crowd *w, struct star_crowd_ends *e);

#endif /* !TESTKIT_STAR_CROWD_H */
