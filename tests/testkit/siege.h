/*
 * tk_siege: clients that hold connections and say too little, from one address
 * or many: each is opened again as soon as it is ended.
 */
#ifndef TESTKIT_SIEGE_H
#define TESTKIT_SIEGE_H

#include <stddef.h>
#include <stdint.h>

struct tk_siege;

struct tk_siege_opts {
	int port;       /* of 127.0.0.1 */
	size_t n;       /* connections at a time */
	uint32_t from;  /* the first client's address, host order */
	size_t clients; /* addresses, one after the other; 0: one */
	/*
	 * What every second connection begins with; the others say nothing.
	 * NULL: none says anything.
	 */
	const char *say;
	int drip_ms;     /* after which each of these says 'x' more; 0: never */
	int opens_per_s; /* most connections it opens in a second */
};

/* tk_siege_begin(o): A thread of its own begins. */
struct tk_siege *tk_siege_begin(const struct tk_siege_opts *o);

/*
 * tk_siege_open(s):   How many connections are open now, as the client sees
 *                      it; a condition for tk_until() is the caller's.
 * tk_siege_ended(s):  How many the server has ended so far.
 * tk_siege_failed(s): How many could not be opened.
 */
size_t tk_siege_open(const struct tk_siege *s);
size_t tk_siege_ended(const struct tk_siege *s);
size_t tk_siege_failed(const struct tk_siege *s);

/* tk_siege_end(s): Close them all and free s. */
void tk_siege_end(struct tk_siege *s);

#endif /* !TESTKIT_SIEGE_H */
