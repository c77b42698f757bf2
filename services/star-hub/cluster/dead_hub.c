/*
 * dead_hub: what a hub that died has left in Redis: its members of rooms.
 *
 * All others do this at the same time, and each step may be repeated; the last
 * is that the hub is forgotten.
 */
#include <stdlib.h>

#include "cluster/handlers.h"
#include "core/fiber.h"
#include "core/log.h"
#include "core/mem.h"
#include "state/star.h"

#define SWEEP_ARENA (16UL * 1024 * 1024)

static enum rc
dead_hub_sweep_room(
    struct peers *c, const struct star_room *room, struct str name)
{
	struct state *s = c->hub->state;
	struct arena *a = arena_new(SWEEP_ARENA);
	struct star_member *list;
	size_t n;
	enum rc rc;

	rc = star_room_sweep(s, room, name, a, &list, &n);
	if (rc == RC_OK || rc == RC_UNREPLICATED)
		rc = star_hub_drop_room(s, name, room);
	arena_free(a);
	return rc;
}

struct sweep {
	struct peers *peers;
	char *name;
};

static void
dead_hub_sweep_in_fiber(void *arg)
{
	struct sweep *w = arg;
	struct peers *c = w->peers;
	struct str name = str_of(w->name);
	struct arena *a = arena_new(SWEEP_ARENA);
	struct star_room *rooms;
	size_t n, i;
	enum rc rc;

	rc = star_hub_rooms(c->hub->state, name, a, &rooms, &n);
	for (i = 0; rc == RC_OK && i < n; i++)
		rc = dead_hub_sweep_room(c, &rooms[i], name);
	if (rc == RC_OK)
		rc = star_hub_forget(c->hub->state, name);
	if (rc == RC_OK)
		log_info("star.swept", LOG_V("hub", name),
		    LOG_I("rooms", (int64_t)n));
	arena_free(a);
	c->sweeping = false;
	free(w->name);
	free(w);
}

void
dead_hub_sweep(struct peers *c, struct str name)
{
	struct sweep *w;

	if (c->sweeping || c->stopped)
		return;
	c->sweeping = true;
	w = mem_zalloc(sizeof(*w));
	w->peers = c;
	w->name = str_dup(name);
	fiber_start(dead_hub_sweep_in_fiber, w);
}
