/*
 * places: of the connections that answers may hold that go on, how many are
 * whose.  Private to svc.
 *
 * A place is given back when the connection's worker has ended, not when the
 * handler has: a reader that takes nothing holds its worker for longer.
 */
#ifndef SVC_PLACES_H
#define SVC_PLACES_H

struct svc;
struct svc_places;

/* places_new(s), places_free(p): After, and before, the HTTP server. */
struct svc_places *places_new(const struct svc *s);
void places_free(struct svc_places *p);

#endif /* !SVC_PLACES_H */
