/*
 * human: humans join environments.
 */
#include <stdlib.h>

#include "cluster/handlers.h"
#include "core/fiber.h"
#include "core/mem.h"
#include "envelope.h"
#include "payload.h"
#include "records.h"
#include "state/star.h"

#define JOIN_ARENA 4096
#define LEAVE_MS   5

/* Redis has its membership; meanwhile other requests may have been done. */
static enum rc
human_enter(struct hub *h, struct client *c, struct str key)
{
	size_t i;

	for (i = 0; i < c->nrooms && c->rooms[i].room != NULL; i++)
		;
	if (client_membership(h, c, key) != NULL)
		return RC_OK;
	if (c->held && i < c->nrooms && claims_undo_leave(h->claims, c, key)) {
		membership_enter(h, &c->rooms[i], key, false);
		return RC_OK;
	}
	claims_leave(h->claims, c, key);
	return i == c->nrooms ? RC_TOOBIG : RC_DOWN;
}

/* Where Redis can be reached, and the environment is connected. */
static enum rc
human_join_record(struct hub *h, const struct client *c, struct str key)
{
	struct star_member m =
	    record_member(&c->identity, str_of(h->name), c->gen);
	struct arena *a = arena_new(JOIN_ARENA);
	struct remote_location at;
	struct record_room room;
	enum rc rc;
	bool new;

	rc = remote_locate(h->peers, key, a, &at);
	arena_free(a);
	if (rc == RC_OK)
		rc = record_room_of(key, &room);
	if (rc == RC_OK)
		rc = star_hub_add_room(h->state, str_of(h->name), &room.star);
	if (rc == RC_OK || rc == RC_UNREPLICATED)
		rc = star_room_join(h->state, &room.star, &m, &new);
	return rc == RC_UNREPLICATED ? RC_OK : rc;
}

enum rc
human_join(struct hub *h, struct client *c, struct str key)
{
	enum rc rc;
	size_t i;

	if (client_membership(h, c, key) != NULL)
		return RC_OK;
	for (i = 0; i < c->nrooms && c->rooms[i].room != NULL; i++)
		;
	if (i == c->nrooms)
		return RC_TOOBIG;
	/* Of an earlier one, which failed or has ended: it would end this one.
	 */
	while (!claims_undo_leave(h->claims, c, key))
		hub_pause(h, LEAVE_MS);
	rc = human_join_record(h, c, key);
	if (rc == RC_OK)
		return human_enter(h, c, key);
	/* Redis may have it nevertheless. */
	if (rc != RC_NOENT && client_membership(h, c, key) == NULL)
		claims_leave(h->claims, c, key);
	return rc;
}

/* ---- by an action ---- */

struct autojoin {
	struct hub *hub;
	struct client *client;
	char *key;
};

/* What fails is a message as any other, and no member. */
static void
autojoin_in_fiber(void *arg)
{
	struct autojoin *j = arg;

	(void)!human_join(j->hub, j->client, str_of(j->key));
	j->client->commands--;
	client_unref(j->hub, j->client);
	free(j->key);
	free(j);
}

static bool
autojoin_is_wanted(struct hub *h, const struct envelope *e)
{
	struct payload p;

	return h->conf->human_autojoin &&
	    payload_read(e->payload, &p) == RC_OK &&
	    str_eq(payload_text(p.type, h->arena), STR("action")) &&
	    str_eq(payload_text(p.action, h->arena), STR("join_environment"));
}

void
human_autojoin(
    struct hub *h, struct client *c, const struct envelope *e, struct str key)
{
	struct autojoin *j;

	if (c->commands == HUB_ENVIRONMENTS_MAX || !autojoin_is_wanted(h, e))
		return;
	j = mem_zalloc(sizeof(*j));
	j->hub = h;
	j->client = client_ref(c);
	j->key = str_dup(key);
	c->commands++;
	fiber_start(autojoin_in_fiber, j);
}
