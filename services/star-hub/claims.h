/*
 * claims: identities that this hub's clients hold, as Redis knows them: a
 * connection claims its identity in a fiber, and what has ended is told to
 * Redis later, for as long as it takes.
 */
#ifndef STAR_HUB_CLAIMS_H
#define STAR_HUB_CLAIMS_H

#include "hub.h"

/* Of a connection whose identity a newer one has. */
#define CLOSE_REPLACED        4409
#define CLOSE_REPLACED_REASON "replaced by a newer connection"

struct claims;

/* claims_new(h), claims_free(c): NULL is allowed.  Fibers have ended. */
struct claims *claims_new(struct hub *h);
void claims_free(struct claims *c);

/*
 * claims_begin(s, c):
 * Claim c's identity; then its connection is accepted, or rejected.
 *
 * claims_end(s, c, reason):
 * c does not hold it any more, which environments are told.  No-op if it has
 * none.
 *
 * claims_lost(s, c, code, reason):
 * A newer connection has it: close c.
 * claims_moved(s, c): The same, which continues its session: it has not left.
 *
 * claims_detach(s, c, reason):
 * The connection of c has ended, but its client may come back for it; reason is
 * told if it does not.
 *
 * claims_drain(s): This hub drains: clients come back to another one soon, or
 * never.
 *
 * claims_extend(s, c): Redis is told that c still holds it.
 *
 * claims_leave(s, c, key): Redis is told that c is not in the room of key.
 *
 * claims_drop_all(s): This hub has none: close all clients.
 */
void claims_begin(struct claims *s, struct client *c);
void claims_end(struct claims *s, struct client *c, const char *reason);
void claims_lost(
    struct claims *s, struct client *c, unsigned code, const char *reason);
void claims_moved(struct claims *s, struct client *c);
void claims_detach(struct claims *s, struct client *c, const char *reason);
void claims_drain(struct claims *s);
void claims_extend(struct claims *s, struct client *c);
void claims_leave(struct claims *s, const struct client *c, struct str key);
void claims_drop_all(struct claims *s);

#endif /* !STAR_HUB_CLAIMS_H */
