/*
 * crowd: an end for connections that hold workers others need.  Private.
 *
 * civetweb gives a worker to a connection before anything is known of it, and
 * one that says nothing keeps it for SERVER_HEADER_MS.  A thread looks at all
 * connections, those that wait for a worker too,
 *
 * - while there are more than one address may have: it cuts those over the
 *   limit that have no request in hand (one that has so many requests in hand
 *   is answered 429: gate.h);
 * - while all workers but HTTPD_SPARE_WORKERS are held: it cuts those of any
 * address that have no request in hand, and have said nothing new, after
 *   CROWD_IDLE_MS, and those whose body has not come after CROWD_BODY_MS.
 */
#ifndef HTTPD_CROWD_H
#define HTTPD_CROWD_H

#include "httpd/server.h"

/* Patience with one connection while others wait. */
#define CROWD_IDLE_MS 150
#define CROWD_BODY_MS 300

struct crowd;

/*
 * crowd_new(h): Start for h->per_address (> 0).  The caller blocks signals
 * meanwhile.
 */
struct crowd *crowd_new(struct httpd *h);

/* crowd_free(c): End it.  NULL is allowed. */
void crowd_free(struct crowd *c);

/* crowd_note(c, n): There are n connections that hold a worker.  Any thread. */
void crowd_note(struct crowd *c, size_t n);

#endif /* !HTTPD_CROWD_H */
