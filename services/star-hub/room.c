#include "room.h"

#include <assert.h>
#include <stdlib.h>

#include "core/map.h"
#include "core/mem.h"

#define MEMBERS_FIRST 4

struct room {
	struct rooms *rooms;
	char *key;
	struct room_member **member;
	size_t n, cap;
	struct room_location location;
};

struct rooms {
	struct map *by_key;
};

struct rooms *
rooms_new(void)
{
	struct rooms *r = mem_zalloc(sizeof(*r));

	r->by_key = map_new();
	return r;
}

void
rooms_free(struct rooms *r)
{
	if (r == NULL)
		return;
	assert(map_len(r->by_key) == 0);
	map_free(r->by_key);
	free(r);
}

struct room *
rooms_find(const struct rooms *r, struct str key)
{
	return map_get(r->by_key, key);
}

void
room_join(struct rooms *r, struct str key, struct room_member *m)
{
	struct room *room = map_get(r->by_key, key);

	assert(m->room == NULL);
	if (room == NULL) {
		room = mem_zalloc(sizeof(*room));
		room->rooms = r;
		room->key = str_dup(key);
		map_put(r->by_key, key, room);
	}
	if (room->n == room->cap) {
		room->cap = room->cap > 0 ? 2 * room->cap : MEMBERS_FIRST;
		room->member = mem_realloc(
		    room->member, room->cap * sizeof(struct room_member *));
	}
	m->room = room;
	m->at = room->n;
	room->member[room->n++] = m;
}

void
room_leave(struct room_member *m)
{
	struct room *room = m->room;

	if (room == NULL)
		return;
	m->room = NULL;
	m->seq = m->gen = 0;
	room->member[m->at] = room->member[--room->n];
	room->member[m->at]->at = m->at;
	if (room->n > 0)
		return;
	map_del(room->rooms->by_key, str_of(room->key));
	free(room->key);
	free(room->member);
	free(room);
}

struct str
room_env(const struct room *r)
{
	struct str rest = str_of(r->key), part = rest;

	while (rest.p != NULL)
		part = str_split(&rest, '/');
	return part;
}

struct str
room_key(const struct room *r)
{
	return str_of(r->key);
}

struct room_location *
room_location(struct room *r)
{
	return &r->location;
}

bool
room_is_of(const struct room *r, struct str tenant)
{
	struct str rest = str_of(r->key);

	return str_eq(str_split(&rest, '/'), tenant);
}

struct room *
rooms_next(const struct rooms *r, size_t *pos)
{
	return map_next(r->by_key, pos, NULL);
}

size_t
room_count(const struct room *r)
{
	return r != NULL ? r->n : 0;
}

struct room_member *
room_member_at(const struct room *r, size_t i)
{
	return r->member[i];
}
