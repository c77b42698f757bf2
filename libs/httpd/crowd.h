/*
 * crowd: an end for connections of one address that are over its limit.
 * Private.
 *
 * civetweb gives a worker to a connection before anything is known of it, and
 * one that says nothing keeps it for SERVER_HEADER_MS.  A thread counts the
 * connections of each address, those that wait for a worker too, while there
 * are more in all than one address may have, and cuts those over the limit that
 * have no request in hand: half-open ones, idle ones.  A client that has so
 * many requests in hand is answered 429 (gate.h).
 */
#ifndef HTTPD_CROWD_H
#define HTTPD_CROWD_H

#include "httpd/server.h"

struct crowd;

/*
 * crowd_new(h): Start for h->per_address (> 0); trusted proxies are not
 * counted.  The caller blocks signals meanwhile.
 */
struct crowd *crowd_new(struct httpd *h);

/* crowd_free(c): End it.  NULL is allowed. */
void crowd_free(struct crowd *c);

/* crowd_wake(c): There may be too many now.  Any thread. */
void crowd_wake(struct crowd *c);

#endif /* !HTTPD_CROWD_H */
