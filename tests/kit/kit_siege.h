/*
 * kit_siege: clients that hold connections and say too little, from one address
 * or many: each is opened again as soon as it is ended.
 */
#ifndef KIT_KIT_SIEGE_H
#define KIT_KIT_SIEGE_H

#include <stddef.h>
#include <stdint.h>

struct kit_siege;

struct kit_siege_opts {
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

/* kit_siege_begin(o): A thread of its own begins. */
struct kit_siege *kit_siege_begin(const struct kit_siege_opts *o);

/*
 * kit_siege_open(s):   How many connections are open now, as the client sees
 *                      it; a condition for kit_until() is the caller's.
 * kit_siege_ended(s):  How many the server has ended so far.
 * kit_siege_failed(s): How many could not be opened.
 */
size_t kit_siege_open(const struct kit_siege *s);
size_t kit_siege_ended(const struct kit_siege *s);
size_t kit_siege_failed(const struct kit_siege *s);

/* kit_siege_end(s): Close them all and free s. */
void kit_siege_end(struct kit_siege *s);

#endif /* !KIT_KIT_SIEGE_H */
