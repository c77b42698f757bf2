/*
 * star: who is connected to a cluster of Star hubs, and where.
 *
 * An identity has one holder at a time: the hub that claimed it last.  Each
 * claim has a generation that rises, and what an older one still does changes
 * nothing.  A hub is alive while it renews that; the claims of one that is dead
 * do not count, and its members are removed from rooms by the other hubs.
 *
 * Everything here is a call (state.h).
 */
#ifndef STATE_STAR_H
#define STATE_STAR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/arena.h"
#include "state/state.h"

struct star_identity { /* ids (core/id.h) */
	struct str tenant;
	struct str class; /* "agent", "environment", "human" */
	struct str name;
};

/* An environment; ids. */
struct star_room {
	struct str tenant, name;
};

/* Who holds an identity. */
struct star_holder {
	struct str hub; /* absent: nobody */
	int64_t gen;    /* 0: nobody ever did */
};

struct star_claim {
	struct str hub, user, session; /* ids */
	bool any_user; /* it may belong to another user, whose it stays */
	/* Set: the claim's generation, over all before and not below the time
	 * in ms, so that it rises even if Redis has lost some; who held the
	 * identity before, and with which session; and the seq of an
	 * environment's newest event. */
	int64_t gen;
	struct star_holder before;
	struct str session_before; /* absent: none */
	int64_t seq;
};

/*
 * star_claim(s, id, c, a):
 * Take over the identity; texts are in a.  RC_DENIED: it belongs to another
 * user, for 24 hours after it was released.
 */
enum rc star_claim(struct state *s, const struct star_identity *id,
    struct star_claim *c, struct arena *a) RC_CHECK;

/*
 * star_release(s, id, h):
 * Let it go.  RC_CONFLICT: it was claimed since; RC_NOENT: it is not known.
 */
enum rc star_release(struct state *s, const struct star_identity *id,
    const struct star_holder *h) RC_CHECK;

/*
 * star_extend(s, id, h):
 * A claim expires after STAR_CLAIM_MS (keys.h) unless it is extended.
 * RC_CONFLICT, RC_NOENT: as star_release().
 */
enum rc star_extend(struct state *s, const struct star_identity *id,
    const struct star_holder *h) RC_CHECK;

/*
 * star_find(s, id, a, out):
 * Its holder, whose hub may be dead (star_hub_renew()); RC_NOENT: nobody.
 */
enum rc star_find(struct state *s, const struct star_identity *id,
    struct arena *a, struct star_holder *out) RC_CHECK;

/* ---- hubs ---- */

struct star_hub {
	struct str name;
	bool dead;
};

struct star_renewal {
	struct str hub; /* an id; never used again by another process */
	int64_t ttl_ms;
	bool first;  /* it is new: no renewal was done before */
	bool judges; /* hubs that have not renewed for ttl_ms are dead */
	/* Set: all hubs, dead ones until they are forgotten. */
	struct star_hub *list;
	size_t n;
};

/*
 * star_hub_renew(s, r, a): It is alive for ttl_ms; the list is in a.
 * RC_CONFLICT: it is dead, as others have decided, which is for ever.
 * star_hub_end(s, hub): It is dead.
 * star_hub_forget(s, hub): A dead one: there is nothing left of it.
 */
enum rc star_hub_renew(
    struct state *s, struct star_renewal *r, struct arena *a) RC_CHECK;
enum rc star_hub_end(struct state *s, struct str hub) RC_CHECK;
enum rc star_hub_forget(struct state *s, struct str hub) RC_CHECK;

/*
 * The rooms in which a hub has members, and perhaps some more; for those who
 * clean up after it.
 *
 * star_hub_add_room(s, hub, room), star_hub_drop_room(s, hub, room)
 * star_hub_rooms(s, hub, a, rooms, n): All of them, in a.
 */
enum rc star_hub_add_room(
    struct state *s, struct str hub, const struct star_room *room) RC_CHECK;
enum rc star_hub_drop_room(
    struct state *s, struct str hub, const struct star_room *room) RC_CHECK;
enum rc star_hub_rooms(struct state *s, struct str hub, struct arena *a,
    struct star_room **rooms, size_t *n) RC_CHECK;

/*
 * Identities that a hub is to give up because another one has claimed them, for
 * hubs that do not reach each other.
 */
#define STAR_OUTDATED_MAX 64   /* that are read at a time */
#define STAR_OUTDATED_KEY 4096 /* bytes of a key */
struct star_outdated {
	struct str key; /* the identity, as the hubs write it */
	int64_t gen;    /* of the newer claim */
};
struct star_outdated_list {
	struct star_outdated *v;
	size_t n;
};

/*
 * star_outdate(s, hub, o): hub is to give it up.
 * star_read_outdated(s, hub, done, a, out):
 * Those that it has not given up, in a; before, done (up to STAR_OUTDATED_MAX)
 * are removed, but not for a newer claim.
 * star_is_outdated(s, hub, key): RC_NOENT: it has given it up.
 */
enum rc star_outdate(
    struct state *s, struct str hub, const struct star_outdated *o) RC_CHECK;
enum rc star_read_outdated(struct state *s, struct str hub,
    const struct star_outdated_list *done, struct arena *a,
    struct star_outdated_list *out) RC_CHECK;
enum rc star_is_outdated(
    struct state *s, struct str hub, struct str key) RC_CHECK;

/* ---- rooms ---- */

struct star_member {
	struct str class, name;
	struct star_holder holder;
};

/*
 * star_room_join(s, room, m, new):
 * Enter a member, or its newer claim; *new is whether it was not there.
 * RC_CONFLICT: a newer claim is; RC_RETRY: there are STAR_ROOM_MAX.
 * star_room_leave(s, room, m): RC_NOENT: no entry of that claim.
 */
enum rc star_room_join(struct state *s, const struct star_room *room,
    const struct star_member *m, bool *new) RC_CHECK;
enum rc star_room_leave(struct state *s, const struct star_room *room,
    const struct star_member *m) RC_CHECK;

/*
 * star_room_read(s, room, a, list, n): All members, in a.
 * star_room_sweep(s, room, hub, a, list, n):
 * Remove those of a dead hub.  Each is in the list of one caller only.
 */
enum rc star_room_read(struct state *s, const struct star_room *room,
    struct arena *a, struct star_member **list, size_t *n) RC_CHECK;
enum rc star_room_sweep(struct state *s, const struct star_room *room,
    struct str hub, struct arena *a, struct star_member **list,
    size_t *n) RC_CHECK;

/* ---- events of an environment ---- */

/* Appended by one call; bytes of one, and of a page. */
#define STAR_APPEND_MAX 256
#define STAR_EVENT_MAX  (1024UL * 1024)
#define STAR_PAGE_BYTES (1024UL * 1024)

struct star_events {
	struct star_holder holder; /* of the environment */
	int64_t first;             /* seq of the first, 1 or more */
	const struct str *json;
	size_t n;
	int64_t retain; /* about so many are stored, for an hour */
};

/*
 * star_events_append(s, room, e):
 * Seqs are the holder's to give: without a hole, over all generations.
 * RC_CONFLICT: it is not the holder any more.
 */
enum rc star_events_append(struct state *s, const struct star_room *room,
    const struct star_events *e) RC_CHECK;

struct star_event {
	int64_t seq, gen;
	struct str json;
};

struct star_page {
	int64_t after; /* seq of the event before the page */
	size_t max;
	size_t bytes; /* at most, but for one event; 0: STAR_PAGE_BYTES */
	/* Set: in the caller's arena. */
	struct star_event *event;
	size_t n;
	int64_t newest; /* seq */
	bool more;
	bool gap; /* some of it, or right before it, have expired or were never
		     stored */
};

/* star_events_read(s, room, a, p): One page, of at most STAR_PAGE_BYTES. */
enum rc star_events_read(struct state *s, const struct star_room *room,
    struct arena *a, struct star_page *p) RC_CHECK;

#endif /* !STATE_STAR_H */
