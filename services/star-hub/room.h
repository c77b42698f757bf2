/*
 * room: the members of environments: agents, and humans that have joined.  An
 * environment is no member of itself.  Pure.
 */
#ifndef STAR_HUB_ROOM_H
#define STAR_HUB_ROOM_H

#include <stddef.h>

#include "core/str.h"

struct rooms;
struct room;

/* One membership; zero-initialised by its owner, valid while it is in a room.
 */
struct room_member {
	void *client;      /* the owner's */
	struct room *room; /* private: NULL: in none */
	size_t at;         /* private */
};

/* rooms_new(), rooms_free(r): Empty, and only when it is. */
struct rooms *rooms_new(void);
void rooms_free(struct rooms *r);

/* rooms_find(r, key): By identity_env_key(); NULL: it has no member. */
struct room *rooms_find(const struct rooms *r, struct str key);

/*
 * room_join(r, key, m): Join the room of key, which is copied; m->client is
 * set, and m in no room.
 * room_leave(m): No-op if it is in none.  A room ends with its last member.
 */
void room_join(struct rooms *r, struct str key, struct room_member *m);
void room_leave(struct room_member *m);

/* room_env(r): The id of its environment. */
struct str room_env(const struct room *r);

/* room_count(r), room_client(r, i): The clients; NULL has none.  Their order
 * changes when one leaves. */
size_t room_count(const struct room *r);
void *room_client(const struct room *r, size_t i);

#endif /* !STAR_HUB_ROOM_H */
