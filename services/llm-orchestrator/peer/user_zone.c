#include "peer/user_zone.h"

#include <stdlib.h>
#include <sys/queue.h>

#include "core/clock.h"
#include "core/log.h"
#include "core/map.h"
#include "core/mem.h"
#include "core/zone.h"
#include "state/memory.h"

#define ARENA_MAX ((size_t)64 * 1024)
/* Bytes of a name, as intent_filter_request has it. */
#define NAME_MAX_BYTES 64

struct user_zone {
	TAILQ_ENTRY(user_zone) link;
	char *user, *name; /* name NULL: none */
	struct mono until;
};

struct user_zones {
	struct state *state;
	struct map *by_user;
	TAILQ_HEAD(, user_zone) list; /* the oldest first */
};

struct user_zones *
user_zones_new(struct state *s)
{
	struct user_zones *z = mem_zalloc(sizeof(*z));

	z->state = s;
	z->by_user = map_new();
	TAILQ_INIT(&z->list);
	return z;
}

static void
user_zone_remove(struct user_zones *z, struct user_zone *e)
{
	map_del(z->by_user, str_of(e->user));
	TAILQ_REMOVE(&z->list, e, link);
	free(e->user);
	free(e->name);
	free(e);
}

void
user_zones_free(struct user_zones *z)
{
	if (z == NULL)
		return;
	while (!TAILQ_EMPTY(&z->list))
		user_zone_remove(z, TAILQ_FIRST(&z->list));
	map_free(z->by_user);
	free(z);
}

/* The name, if there is such a zone: intent-filter rejects any other. */
static char *
user_zone_name(struct str name)
{
	struct zone *zone;
	char *s;

	if (name.n == 0 || name.n > NAME_MAX_BYTES)
		return NULL;
	s = str_dup(name);
	if (zone_load(s, &zone) != RC_OK) {
		free(s);
		return NULL;
	}
	zone_free(zone);
	return s;
}

static struct user_zone *
user_zone_put(struct user_zones *z, struct str user, struct str name)
{
	struct user_zone *e = map_get(z->by_user, user);

	/* Another turn may have read it meanwhile. */
	if (e != NULL)
		user_zone_remove(z, e);
	if (map_len(z->by_user) >= USER_ZONES_MAX)
		user_zone_remove(z, TAILQ_FIRST(&z->list));
	e = mem_zalloc(sizeof(*e));
	e->user = str_dup(user);
	e->name = user_zone_name(name);
	e->until = mono_add_ms(clock_mono(), USER_ZONE_MS);
	map_put(z->by_user, str_of(e->user), e);
	TAILQ_INSERT_TAIL(&z->list, e, link);
	return e;
}

struct str
user_zone(struct user_zones *z, struct str user, struct arena *a)
{
	const struct user_zone *e = map_get(z->by_user, user);
	struct arena *scratch;
	struct str name;
	enum rc rc;

	if (e == NULL || mono_diff_ns(e->until, clock_mono()) <= 0) {
		scratch = arena_new(ARENA_MAX);
		rc = profile_zone_read(z->state, user, scratch, &name);
		if (rc == RC_OK)
			e = user_zone_put(z, user, name);
		else
			log_debug("turn.zone_unknown", LOG_RC(rc));
		arena_free(scratch);
		if (rc != RC_OK)
			return (struct str){ NULL, 0 };
	}
	return arena_str(a, str_of(e->name));
}
