/*
 * records: identities and rooms as Redis has them.  Pure.
 *
 * Redis' ids are shorter than those of the protocol may be: of a longer one it
 * has a hash.  Without authentication all are of one tenant and user.
 */
#ifndef STAR_HUB_RECORDS_H
#define STAR_HUB_RECORDS_H

#include "client_identity.h"
#include "core/rc.h"
#include "state/star.h"

/* Their strings point into text, or into what they were made of. */
struct record_identity {
	struct star_identity star;
	char text[2 * STAR_ID_BYTES + 2];
};
struct record_room {
	struct star_room star;
	char text[STAR_ID_BYTES + 1];
};

/*
 * record_identity(i, out), record_room(tenant, env, out).
 * record_identity_of(key, out), record_room_of(key, out): Of an identity_key(),
 * and of an identity_env_key().  RC_INVALID: it is none.
 */
void record_identity(const struct identity *i, struct record_identity *out);
void record_room(struct str tenant, struct str env, struct record_room *out);
enum rc record_identity_of(
    struct str key, struct record_identity *out) RC_CHECK;
enum rc record_room_of(struct str key, struct record_room *out) RC_CHECK;

/*
 * record_member(i, hub, gen): Of a room.
 * record_member_key(room, m, dst): The identity_key() of a member of the room
 * of an identity_env_key(); absent if m is none.
 */
struct star_member record_member(
    const struct identity *i, struct str hub, int64_t gen);
struct str record_member_key(
    struct str room, const struct star_member *m, char dst[IDENTITY_KEY_MAX]);

/* record_user(user): As an id. */
struct str record_user(struct str user);

#endif /* !STAR_HUB_RECORDS_H */
