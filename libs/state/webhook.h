/*
 * webhook: webhooks of users, and the events that are to be sent to them.
 *
 * A webhook's events wait in the order of their numbers in SOUL_EVENTS.  The
 * sorted set of its bucket has when one is to be sent, by Redis' clock; a claim
 * moves that by its lease, so that a webhook whose claimer died is claimed by
 * another.
 *
 * Everything here is a call (state.h).  Texts that are set are in the caller's
 * arena.
 */
#ifndef STATE_WEBHOOK_H
#define STATE_WEBHOOK_H

#include <stddef.h>
#include <stdint.h>

#include "core/arena.h"
#include "core/clock.h"
#include "state/state.h"

/* Webhooks of a user; bytes of one, and of its types. */
#define WEBHOOKS_MAX       16
#define WEBHOOK_MAX        65536
#define WEBHOOK_TYPES_MAX  4096
#define WEBHOOK_CLAIM_MAX  64
#define WEBHOOK_EVENTS_MAX 16 /* of a claim */
#define WEBHOOK_WHY_MAX    256

struct webhook_key {
	struct str user_id, id;
};

/*
 * webhook_put(s, k, created, types, json):
 * Add it.  types: those of events that it wants, separated by commas; absent:
 * all.  RC_RETRY: the user has WEBHOOKS_MAX others.
 *
 * webhook_delete(s, k): And what waits for it.  RC_NOENT.
 * webhook_redeliver(s, k): Send what was given up, and what waits, at once.
 */
enum rc webhook_put(struct state *s, const struct webhook_key *k,
    struct wall created, struct str types, struct str json) RC_CHECK;
enum rc webhook_delete(struct state *s, const struct webhook_key *k) RC_CHECK;
enum rc webhook_redeliver(
    struct state *s, const struct webhook_key *k) RC_CHECK;

/* How the newest attempts ended. */
struct webhook_listed {
	struct str id, json;
	int64_t tries, status, dropped, pending, dead;
	struct wall at;
	struct str why;
};

/* webhook_list(s, user, a, list, n): All of a user, in the order of ids. */
enum rc webhook_list(struct state *s, struct str user, struct arena *a,
    struct webhook_listed **list, size_t *n) RC_CHECK;

struct webhook_event {
	struct str user_id;
	struct str type;
	struct wall at; /* webhooks that were created later do not want it */
	int64_t seq;
};

/*
 * webhook_enqueue(s, e, n): It is to be sent to *n webhooks of its user.
 */
enum rc webhook_enqueue(
    struct state *s, const struct webhook_event *e, size_t *n) RC_CHECK;

struct webhook_claimed {
	struct webhook_key key;
	struct str json;
	int64_t tries; /* of the first event */
	int64_t seq[WEBHOOK_EVENTS_MAX];
	size_t n;
};

struct webhook_claims {
	struct webhook_claimed *hook;
	size_t n;
	struct wall now;  /* Redis' time */
	struct wall next; /* when the next is due; 0: there is none */
};

/*
 * webhook_claim(s, bucket, lease_ms, max, a, out):
 * Claim at most max, up to WEBHOOK_CLAIM_MAX, of the bucket's webhooks that are
 * due, with the next events of each.
 */
enum rc webhook_claim(struct state *s, unsigned bucket, int64_t lease_ms,
    size_t max, struct arena *a, struct webhook_claims *out) RC_CHECK;

enum webhook_outcome {
	WEBHOOK_DONE,
	WEBHOOK_RETRY,
	WEBHOOK_DEAD,   /* given up */
	WEBHOOK_DROPPED /* the event does not exist any more */
};

struct webhook_attempt {
	int64_t seq;
	enum webhook_outcome outcome;
	int64_t status;  /* 0: no response */
	struct str why;  /* of a failure; up to WEBHOOK_WHY_MAX bytes */
	int64_t wait_ms; /* until an event is to be sent, this or the next */
};

/*
 * webhook_end(s, k, t):
 * The newest attempt of its first event has ended.  RC_NOENT: it was deleted.
 */
enum rc webhook_end(struct state *s, const struct webhook_key *k,
    const struct webhook_attempt *t) RC_CHECK;

#endif /* !STATE_WEBHOOK_H */
