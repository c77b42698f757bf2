/*
 * broadcast: one frame to many.
 */
#include "hub.h"

static bool
broadcast_send(struct hub *h, struct client *c, enum client_class audience,
    const struct client *from, struct frame *f)
{
	enum rc rc;

	if (c == from ||
	    (audience != CLASS_HUB && c->identity.class != audience))
		return false;
	rc = client_send(h, c, f);
	if (rc == RC_RETRY)
		client_drop(h, c);
	return rc == RC_OK;
}

void
broadcast_room(struct hub *h, struct str key, enum client_class audience,
    const struct client *from, struct frame *f)
{
	const struct room *room = rooms_find(h->rooms, key);
	size_t i, n = room_count(room), sent = 0;

	for (i = 0; i < n; i++)
		sent +=
		    broadcast_send(h, room_client(room, i), audience, from, f);
	metric_add(h->metrics.deliveries, (int64_t)sent);
}

void
broadcast_all(struct hub *h, enum client_class audience,
    const struct client *from, struct frame *f)
{
	struct client *c;
	size_t pos, sent = 0;
	int class;

	for (class = 0; class < CLASS_HUB; class ++)
		for (pos = 0; (c = directory_next(h->directory,
				   (enum client_class) class, &pos)) != NULL;)
			if (str_eq(c->identity.tenant, from->identity.tenant))
				sent += broadcast_send(h, c, audience, from, f);
	metric_add(h->metrics.deliveries, (int64_t)sent);
}
