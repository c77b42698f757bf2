/*
 * tk_exhaustion: clients that hold connections and send too little, from one
 * address or many: each is opened again as soon as it is ended.
 */
#ifndef TESTKIT_EXHAUSTION_H
#define TESTKIT_EXHAUSTION_H

#include <stddef.h>
#include <stdint.h>

struct tk_exhaustion;

struct tk_exhaustion_opts {
	int port;       /* of 127.0.0.1 */
	size_t n;       /* connections at a time */
	uint32_t from;  /* the first client's address, host order */
	size_t clients; /* addresses, one after the other; 0: one */
	/*
	 * Sent by every second connection; the others send nothing.
	 * NULL: none sends anything.
	 */
	const char *send;
	int drip_ms;     /* they send another 'x' each time; 0: never */
	int opens_per_s; /* most connections it opens in a second */
};

/* tk_exhaustion_begin(o): A thread of its own begins. */
struct tk_exhaustion *tk_exhaustion_begin(const struct tk_exhaustion_opts *o);

/*
 * tk_exhaustion_open(s):   How many connections are open now, as the client
 * sees it; a condition for tk_until() is the caller's. tk_exhaustion_closed(s):
 * How many the server has ended so far. tk_exhaustion_failed(s): How many could
 * not be opened.
 */
size_t tk_exhaustion_open(const struct tk_exhaustion *s);
size_t tk_exhaustion_closed(const struct tk_exhaustion *s);
size_t tk_exhaustion_failed(const struct tk_exhaustion *s);

/* tk_exhaustion_end(s): Close them all and free s. */
void tk_exhaustion_end(struct tk_exhaustion *s);

#endif /* !TESTKIT_EXHAUSTION_H */
