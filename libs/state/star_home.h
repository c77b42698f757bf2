/*
 * star_home: where a soul lives: in an environment of the Star Protocol, as an
 * agent of it; and whom it has met there.
 *
 * The soul's home, in its user's bucket, has the truth.  The environment's
 * list of residents is a superset: an entry is written before the home and
 * removed after it, and what a home does not confirm counts as nothing, and is
 * removed once it is STEP_DEAD_MS old (keys.h).  An agent of an environment is
 * one soul's.
 *
 * A guest is a user who talks to a soul of another user there.  Its bucket gets
 * the soul's record, with an emotional state of its own, so that its sessions
 * and memories are its own, as those of any user.
 *
 * Everything here is a call (state.h).
 */
#ifndef STATE_STAR_HOME_H
#define STATE_STAR_HOME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/arena.h"
#include "state/star.h"
#include "state/state.h"

/* Bytes of the ids of an environment and an agent. */
#define STAR_HOME_TEXT_MAX 256

struct star_home {
	struct str user_id, soul_id;
	struct star_room room;       /* the environment */
	struct str env_id, agent_id; /* as the Star Protocol has them */
	struct str terminal_id;
	int64_t at; /* set: when the soul entered, ms, by Redis' clock */
};

/*
 * star_home_enter(s, p, a, before):
 * Put the soul there; *before is its home until now, soul_id absent: none.
 * RC_NOENT: the user has no such soul; RC_CONFLICT: another soul is this agent;
 * RC_RETRY: the environment has STAR_ROOM_MAX residents.  Repeated it is RC_OK.
 *
 * star_home_read(s, user, soul, a, out): RC_NOENT: it lives nowhere.
 * star_home_leave(s, user, soul, a, before): As star_home_read().
 */
enum rc star_home_enter(struct state *s, struct star_home *p, struct arena *a,
    struct star_home *before) RC_CHECK;
enum rc star_home_read(struct state *s, struct str user, struct str soul,
    struct arena *a, struct star_home *out) RC_CHECK;
enum rc star_home_leave(struct state *s, struct str user, struct str soul,
    struct arena *a, struct star_home *before) RC_CHECK;

/* ---- the residents of an environment ---- */

struct star_resident {
	struct str agent_id, user_id, soul_id;
	int64_t at;  /* as of star_home */
	bool is_old; /* it may be removed if its home does not confirm it */
};

/*
 * star_residents_read(s, room, a, list, n): All entries, in a.
 * star_resident_drop(s, room, r): Remove the entry unless it was written again.
 */
enum rc star_residents_read(struct state *s, const struct star_room *room,
    struct arena *a, struct star_resident **list, size_t *n) RC_CHECK;
enum rc star_resident_drop(struct state *s, const struct star_room *room,
    const struct star_resident *r) RC_CHECK;

/* ---- guests ---- */

/* Guests of a soul. */
#define STAR_GUESTS_MAX 10000

/*
 * star_guest_enter(s, user, soul, guest):
 * Make the soul known to the guest.  RC_NOENT: the user has no such soul;
 * RC_RETRY: it has STAR_GUESTS_MAX, or the guest knows SOUL_LIST_MAX.
 *
 * star_guest_leave(s, guest, soul):
 * The soul's own user does not know of the guest any more; RC_OK too if it is
 * no guest.  The guest's record of the soul stays until its soul_delete().
 *
 * star_guests_read(s, user, soul, a, list, n):
 * All of them, in a, also those of a soul that is being deleted: some may not
 * know it.  soul_delete() of each deletes what it knows.
 */
enum rc star_guest_enter(struct state *s, struct str user, struct str soul,
    struct str guest) RC_CHECK;
enum rc star_guest_leave(
    struct state *s, struct str guest, struct str soul) RC_CHECK;
enum rc star_guests_read(struct state *s, struct str user, struct str soul,
    struct arena *a, struct str **list, size_t *n) RC_CHECK;

/* ---- identities by user ---- */

/*
 * star_user_add(s, user, id): The user's token has claimed the identity.
 * star_user_read(s, user, a, list, n): All of them, in a; some may be another
 *     user's by now.
 * star_user_drop(s, user, id): Remove the entry, and before it the identity's
 *     record if it is still the user's.
 */
enum rc star_user_add(
    struct state *s, struct str user, const struct star_identity *id) RC_CHECK;
enum rc star_user_read(struct state *s, struct str user, struct arena *a,
    struct star_identity **list, size_t *n) RC_CHECK;
enum rc star_user_drop(
    struct state *s, struct str user, const struct star_identity *id) RC_CHECK;

#endif /* !STATE_STAR_HOME_H */
