/*
 * star_clients: many clients of several star-hubs, of one thread, that talk,
 * leave and come back; their history is recorded.
 *
 * Each environment has agents and a few humans that have joined it.  A client
 * sends messages to others of its environment, an environment to all of them,
 * too.  A client whose connection has ended comes back to its session, at some
 * hub, after a random and growing time.
 */
#ifndef TESTKIT_STAR_CLIENTS_H
#define TESTKIT_STAR_CLIENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "testkit/star_history.h"

struct star_clients_opts {
	size_t clients;
	const int *port; /* of the hubs */
	size_t hubs;
	int64_t begin_ms; /* they begin to connect within so long; 0: at once */
	int64_t resume_ms;   /* of the hubs */
	int64_t interval_ms; /* between two messages of a client, on average */
	uint64_t random;     /* seed */
};

struct star_clients;

/* star_clients_new(o): o is copied, but for the ports, which may change. Nobody
 * is connected. */
struct star_clients *star_clients_new(const struct star_clients_opts *o);
void star_clients_free(struct star_clients *w);

/* star_clients_now(w): The time of its history. */
int64_t star_clients_now(const struct star_clients *w);
struct star_history *star_clients_history(struct star_clients *w);

/* star_clients_random(w, n): A random number below n. */
size_t star_clients_random(struct star_clients *w, size_t n);

/*
 * star_clients_run(w, ms): Serve all clients for about so long.
 *
 * star_clients_set_quiet(w, quiet): Nobody sends, or leaves, any more; those
 * that have left come back. star_clients_open(w): How many are connected.
 */
void star_clients_run(struct star_clients *w, int ms);
void star_clients_set_quiet(struct star_clients *w, bool quiet);
size_t star_clients_open(const struct star_clients *w);

/* How connections ended, for the summary of a test; and how many are being
 * made, or are of humans that have not joined their environment yet. */
struct star_clients_ends {
	size_t closed[5]; /* 1001, 1012, 1013, 4409, others */
	size_t broken, refused, rejected, slow;
	size_t connecting, unjoined;
	char rejection[400]; /* the last one */
};
void star_clients_ends(
    const struct star_clients *w, struct star_clients_ends *e);

#endif /* !TESTKIT_STAR_CLIENTS_H */
