/*
 * room: the members of environments: agents, and humans that have joined.  An
 * environment is no member of itself.  Pure.
 */
#ifndef STAR_HUB_ROOM_H
#define STAR_HUB_ROOM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/str.h"

struct rooms;
struct room;

/* One membership; zero-initialised by its owner, valid while it is in a room.
 */
struct room_member {
	void *client;      /* the owner's */
	int64_t seq;       /* the owner's: of the newest broadcast; 0: none */
	int64_t gen;       /* the owner's: of its environment; 0: not known */
	struct room *room; /* private: NULL: in none */
	size_t at;         /* private */
};

struct peer;

/* Where the environment of a room is. */
struct room_location {
	struct peer *peer; /* NULL: at this hub, or nowhere */
	int64_t gen;       /* of its claim; 0: nowhere, as far as is known */
	int64_t ended;     /* the newest claim that has ended */
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

/* room_key(r): The key of its environment.  room_location(r): The caller's to
 * set; nowhere at first. */
struct str room_key(const struct room *r);
struct room_location *room_location(struct room *r);

/* rooms_next(r, pos): Iterate: *pos starts at 0; NULL at the end. */
struct room *rooms_next(const struct rooms *r, size_t *pos);

/* room_is_of(r, tenant): Whether it is in a tenant. */
bool room_is_of(const struct room *r, struct str tenant);

/* room_count(r), room_member_at(r, i): The members; NULL has none.  Their order
 * changes when one leaves. */
size_t room_count(const struct room *r);
struct room_member *room_member_at(const struct room *r, size_t i);

#endif /* !STAR_HUB_ROOM_H */
