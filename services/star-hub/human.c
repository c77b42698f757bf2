/*
 * human: humans join environments.
 */
#include "envelope.h"
#include "hub.h"
#include "payload.h"

const char *
human_join(struct hub *h, struct client *c, struct str key)
{
	size_t i;

	if (client_membership(h, c, key) != NULL)
		return NULL;
	for (i = 0; i < c->nrooms && c->rooms[i].room != NULL; i++)
		;
	if (i == c->nrooms)
		return "a human is in 16 environments at most: leave one first";
	if (room_count(rooms_find(h->rooms, key)) >= HUB_MEMBERS_MAX)
		return "the environment has too many members";
	room_join(h->rooms, key, &c->rooms[i]);
	presence_joined(h, c, key);
	return NULL;
}

void
human_autojoin(
    struct hub *h, struct client *c, const struct envelope *e, struct str key)
{
	struct payload p;

	/* Over a limit it is a message as any other, and no member. */
	if (h->conf->human_autojoin && payload_read(e->payload, &p) == RC_OK &&
	    str_eq(payload_text(p.type, h->arena), STR("action")) &&
	    str_eq(payload_text(p.action, h->arena), STR("join_environment")))
		(void)human_join(h, c, key);
}
