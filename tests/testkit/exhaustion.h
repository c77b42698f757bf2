/*
 * tk_exhaustion: clients that hold connections and send too little, from one
 * address or many; each connection is reopened when it is closed.
 */
#ifndef TESTKIT_EXHAUSTION_H
#define TESTKIT_EXHAUSTION_H

#include <stddef.h>
#include <stdint.h>

struct tk_exhaustion;

struct tk_exhaustion_opts {
	int port;       /* of 127.0.0.1 */
	size_t n;       /* concurrent connections */
	uint32_t from;  /* the first client's address, host order */
	size_t clients; /* addresses, consecutive; 0: one */
	/*
	 * Sent by every second connection; the others send nothing.
	 * NULL: none sends anything.
	 */
	const char *send;
	int drip_ms; /* interval at which these send another 'x'; 0: never */
	int opens_per_s; /* maximum number of new connections per second */
};

/* tk_exhaustion_begin(o): Start it on a thread of its own. */
struct tk_exhaustion *tk_exhaustion_begin(const struct tk_exhaustion_opts *o);

/*
 * tk_exhaustion_open(s): Connections open now, as the client sees it.
 * tk_exhaustion_closed(s): Connections the server has closed so far.
 * tk_exhaustion_failed(s): Connections that could not be opened.
 */
size_t tk_exhaustion_open(const struct tk_exhaustion *s);
size_t tk_exhaustion_closed(const struct tk_exhaustion *s);
size_t tk_exhaustion_failed(const struct tk_exhaustion *s);

/* tk_exhaustion_end(s): Close all connections and free s. */
void tk_exhaustion_end(struct tk_exhaustion *s);

#endif /* !TESTKIT_EXHAUSTION_H */
