/*
 * membership: who is in which environment, and what environments and members
 * are notified of that.
 *
 * The hub of an environment has a set of its members at all hubs, from notices
 * and, where those may be missing, from Redis.
 */
#include <stdlib.h>

#include "cluster/handlers.h"
#include "core/fiber.h"
#include "core/log.h"
#include "core/mem.h"
#include "handlers.h"
#include "records.h"
#include "state/star.h"

/* Of all members of an environment, and of where one is. */
#define LOAD_ARENA     (16UL * 1024 * 1024)
#define LOCATION_ARENA (16UL * 1024)

static void membership_find_location(struct hub *h, struct str key);

/* ---- notices to an environment ---- */

static struct client *
membership_environment(const struct hub *h, struct str key)
{
	struct client *env = directory_find(h->directory, key);

	return env != NULL && env->members != NULL ? env : NULL;
}

static void
membership_notify_entered(struct hub *h, struct client *env, struct str member,
    int64_t before, int64_t gen)
{
	if (before >= gen)
		return;
	if (before > 0)
		presence_member(h, env, member, "left", "replaced");
	presence_member(h, env, member, "joined", NULL);
}

void
membership_entered(struct hub *h, struct str key, struct str member,
    struct peer *peer, int64_t gen)
{
	struct client *env = membership_environment(h, key);

	if (env != NULL)
		membership_notify_entered(h, env, member,
		    member_set_put(env->members, member, peer, gen), gen);
}

void
membership_resumed(struct hub *h, struct str key, struct str member,
    struct peer *peer, int64_t gen)
{
	struct client *env = membership_environment(h, key);
	int64_t before;

	if (env == NULL)
		return;
	before = member_set_put(env->members, member, peer, gen);
	if (before == 0)
		presence_member(h, env, member, "joined", NULL);
	else if (before < gen)
		presence_member(h, env, member, "resumed", NULL);
}

void
membership_send_cursor(
    struct hub *h, struct str key, struct str member, struct peer *peer)
{
	const struct client *env = membership_environment(h, key);

	if (env != NULL)
		peer_put(peer,
		    &(struct link_record){ .kind = LINK_CURSOR,
			.gen = env->gen,
			.to = member,
			.from = key,
			.seq = env->cursor });
}

void
membership_exited(struct hub *h, struct str key, struct str member, int64_t gen,
    const char *reason)
{
	struct client *env = membership_environment(h, key);

	if (env != NULL && member_set_remove(env->members, member, gen))
		presence_member(h, env, member, "left", reason);
}

void
membership_was_detached(
    struct hub *h, struct str key, struct str member, int64_t gen)
{
	struct client *env = membership_environment(h, key);

	if (env != NULL && member_set_gen(env->members, member) == gen)
		presence_member(h, env, member, "detached", NULL);
}

/* ---- members of this hub ---- */

static void
membership_notice(struct hub *h, enum link_kind kind, const struct client *c,
    struct str key, const char *reason)
{
	char text[IDENTITY_KEY_MAX];

	notice_put(h->peers,
	    &(struct link_record){ .kind = kind,
		.gen = c->gen,
		.to = client_key(c, text),
		.from = key,
		.text = str_of(reason != NULL ? reason : "") });
}

void
membership_enter(
    struct hub *h, struct room_member *m, struct str key, bool resumed)
{
	struct client *c = m->client, *env = membership_environment(h, key);
	char text[IDENTITY_KEY_MAX];
	struct str member = client_key(c, text);

	room_join(h->rooms, key, m);
	membership_notice(
	    h, resumed ? LINK_RESUMED : LINK_ENTERED, c, key, NULL);
	if (resumed)
		membership_resumed(h, key, member, NULL, c->gen);
	else
		membership_entered(h, key, member, NULL, c->gen);
	if (env != NULL)
		broadcast_skip(h, m, env->gen, env->cursor);
	if (room_count(m->room) == 1)
		membership_find_location(h, key);
}

void
membership_exit(struct hub *h, struct room_member *m, const char *reason)
{
	struct client *c = m->client;
	char room[IDENTITY_KEY_MAX], text[IDENTITY_KEY_MAX];
	struct str key = room_key(m->room);

	memcpy(room, key.p, key.n);
	key.p = room;
	room_leave(m);
	membership_notice(h, LINK_EXITED, c, key, reason);
	membership_exited(h, key, client_key(c, text), c->gen, reason);
	claims_leave(h->claims, c, key);
}

void
membership_exit_all(struct hub *h, struct client *c, const char *reason)
{
	size_t i;

	for (i = 0; i < c->nrooms; i++)
		if (c->rooms[i].room != NULL)
			membership_exit(h, &c->rooms[i], reason);
}

void
membership_detached(struct hub *h, const struct client *c)
{
	char text[IDENTITY_KEY_MAX];
	struct str key;
	size_t i;

	for (i = 0; i < c->nrooms; i++) {
		if (c->rooms[i].room == NULL)
			continue;
		key = room_key(c->rooms[i].room);
		membership_notice(h, LINK_DETACHED, c, key, NULL);
		membership_was_detached(h, key, client_key(c, text), c->gen);
	}
}

/* ---- environments ---- */

void
environment_came(struct hub *h, struct str key, struct peer *peer, int64_t gen)
{
	struct room *room = rooms_find(h->rooms, key);
	struct room_location *at;

	if (room == NULL)
		return;
	at = room_location(room);
	if (at->gen >= gen || at->ended >= gen)
		return;
	if (at->gen > 0)
		presence_environment(h, key, "replaced");
	*at = (struct room_location){ peer, gen, at->ended };
	presence_environment(h, key, NULL);
}

void
environment_went(struct hub *h, struct str key, int64_t gen, const char *reason)
{
	struct room *room = rooms_find(h->rooms, key);
	struct room_location *at;

	if (room == NULL)
		return;
	at = room_location(room);
	/* What is being read of Redis may be of before. */
	if (at->ended < gen)
		at->ended = gen;
	if (at->gen == 0 || at->gen > gen)
		return;
	*at = (struct room_location){ NULL, 0, at->ended };
	presence_environment(h, key, reason);
}

/* ---- from Redis ---- */

struct membership_load {
	struct hub *hub;
	struct client *env; /* with a reference */
	char *key;          /* or of a room whose environment is looked for */
	bool reload;        /* what is known of the room may be wrong */
};

/* Which hub has a member that Redis has; false: a dead one, or none. */
static bool
load_find_peer(struct hub *h, const struct star_member *m, struct str member,
    struct peer **out)
{
	const struct client *c;

	*out = NULL;
	if (str_eq(m->holder.hub, str_of(h->name))) {
		c = directory_find(h->directory, member);
		return c != NULL && c->gen == m->holder.gen;
	}
	*out = peers_find(h->peers, m->holder.hub);
	return *out != NULL;
}

static void
load_compare(struct hub *h, struct client *env, struct str room,
    const struct star_member *list, size_t n)
{
	struct member_set *members = env->members;
	const struct set_member *stale;
	char text[IDENTITY_KEY_MAX];
	struct str member;
	struct peer *peer;
	size_t i, pos = 0;

	for (i = 0; i < n; i++) {
		member = record_member_key(room, &list[i], text);
		if (member.p == NULL ||
		    !load_find_peer(h, &list[i], member, &peer))
			continue;
		membership_notify_entered(h, env, member,
		    member_set_load(members, member, peer, list[i].holder.gen),
		    list[i].holder.gen);
	}
	while (
	    (stale = member_set_load_stale(members, &pos, &member)) != NULL) {
		presence_member(h, env, member, "left", "closed");
		(void)member_set_remove(members, member, stale->gen);
	}
}

/* Redis was away: all is compared when it is back. */
static bool
load_is_to_be_repeated(enum rc rc)
{
	return rc == RC_DOWN || rc == RC_TIMEOUT || rc == RC_RETRY ||
	    rc == RC_CONFLICT;
}

static void
load_in_fiber(void *arg)
{
	struct membership_load *l = arg;
	struct hub *h = l->hub;
	struct client *env = l->env;
	struct arena *a = arena_new(LOAD_ARENA);
	struct star_member *list;
	struct record_room room;
	char text[IDENTITY_KEY_MAX];
	size_t n = 0;
	enum rc rc;

	record_room(env->identity.tenant, env->identity.id, &room);
	rc = star_room_read(h->state, &room.star, a, &list, &n);
	/* Hubs that have just started are to be known. */
	if (rc == RC_OK && n > 0)
		rc = peers_refresh(h->peers);
	if (env->members != NULL) {
		if (rc == RC_OK)
			load_compare(h, env, client_key(env, text), list, n);
		if (member_set_load_end(env->members, rc == RC_OK))
			membership_load(h, env);
	}
	if (rc != RC_OK) {
		log_warn(
		    "star.members", LOG_V("env", env->identity.id), LOG_RC(rc));
		h->peers->reload |= load_is_to_be_repeated(rc);
	}
	arena_free(a);
	client_unref(h, env);
	free(l);
}

void
membership_load(struct hub *h, struct client *env)
{
	struct membership_load *l;

	if (env->members == NULL ||
	    member_set_load_begin(env->members) != RC_OK)
		return;
	l = mem_zalloc(sizeof(*l));
	l->hub = h;
	l->env = client_ref(env);
	fiber_start(load_in_fiber, l);
}

static void
location_in_fiber(void *arg)
{
	struct membership_load *l = arg;
	struct hub *h = l->hub;
	struct str key = str_of(l->key);
	struct arena *a = arena_new(LOCATION_ARENA);
	struct remote_location at;
	struct room *room;
	enum rc rc;

	rc = remote_locate(h->peers, key, a, &at);
	h->peers->reload |= load_is_to_be_repeated(rc);
	room = rooms_find(h->rooms, key);
	if (room == NULL) {
		rc = RC_NOENT;
	} else if (rc == RC_OK && l->reload) {
		environment_came(h, key, at.peer, at.gen);
	} else if (rc == RC_OK && room_location(room)->gen < at.gen &&
	    room_location(room)->ended < at.gen) {
		/* Who has just joined knows nothing that would change. */
		*room_location(room) =
		    (struct room_location){ at.peer, at.gen, 0 };
	} else if (rc == RC_NOENT && l->reload &&
	    room_location(room)->peer != NULL) {
		environment_went(h, key, room_location(room)->gen, "closed");
	}
	arena_free(a);
	free(l->key);
	free(l);
}

static void
membership_find_location(struct hub *h, struct str key)
{
	const struct client *env = directory_find(h->directory, key);
	struct membership_load *l;

	if (env != NULL) {
		*room_location(rooms_find(h->rooms, key)) =
		    (struct room_location){ NULL, env->gen, 0 };
		return;
	}
	l = mem_zalloc(sizeof(*l));
	l->hub = h;
	l->key = str_dup(key);
	fiber_start(location_in_fiber, l);
}

/* All environments and rooms, one after the other. */
struct load_all {
	struct hub *hub;
	struct membership_load **v;
	size_t n, cap;
};

static void
load_all_add(struct load_all *all, struct client *env, struct str key)
{
	struct membership_load *l = mem_zalloc(sizeof(*l));

	l->hub = all->hub;
	l->env = env;
	l->key = env == NULL ? str_dup(key) : NULL;
	l->reload = true;
	if (all->n == all->cap) {
		all->cap = all->cap > 0 ? 2 * all->cap : 64;
		all->v = mem_realloc(all->v, all->cap * sizeof(void *));
	}
	all->v[all->n++] = l;
}

static void
load_all_in_fiber(void *arg)
{
	struct load_all *all = arg;
	size_t i;

	for (i = 0; i < all->n; i++) {
		if (all->v[i]->env != NULL)
			load_in_fiber(all->v[i]);
		else
			location_in_fiber(all->v[i]);
	}
	free(all->v);
	free(all);
}

void
membership_load_all(struct hub *h)
{
	struct load_all *all = mem_zalloc(sizeof(*all));
	struct client *env;
	struct room *room;
	size_t pos = 0;

	all->hub = h;
	while ((env = directory_next(h->directory, CLASS_ENVIRONMENT, &pos)) !=
	    NULL)
		if (env->members != NULL &&
		    member_set_load_begin(env->members) == RC_OK)
			load_all_add(all, client_ref(env), (struct str){ 0 });
	for (pos = 0; (room = rooms_next(h->rooms, &pos)) != NULL;)
		if (directory_find(h->directory, room_key(room)) == NULL)
			load_all_add(all, NULL, room_key(room));
	fiber_start(load_all_in_fiber, all);
}

/* ---- a dead hub ---- */

static void
membership_forget_members(
    struct hub *h, struct client *env, const struct peer *p)
{
	const struct set_member *m;
	struct str member;
	size_t pos = 0;

	while ((m = member_set_next(env->members, &pos, &member)) != NULL) {
		if (m->peer != p)
			continue;
		presence_member(h, env, member, "left", "hub_down");
		(void)member_set_remove(env->members, member, m->gen);
	}
}

void
membership_forget_peer(struct hub *h, const struct peer *p)
{
	struct client *env;
	struct room *room;
	size_t pos = 0;

	while ((env = directory_next(h->directory, CLASS_ENVIRONMENT, &pos)) !=
	    NULL)
		if (env->members != NULL && member_set_has(env->members, p))
			membership_forget_members(h, env, p);
	for (pos = 0; (room = rooms_next(h->rooms, &pos)) != NULL;)
		if (room_location(room)->peer == p)
			environment_went(h, room_key(room),
			    room_location(room)->gen, "hub_down");
}
