/*
 * broadcast: one frame to many, at this hub.
 */
#include "cluster/link_record.h"
#include "hub.h"

static bool
broadcast_send(struct hub *h, struct client *c, enum client_class audience,
    struct frame *f, int64_t seq)
{
	enum rc rc;

	if (audience != CLASS_HUB && c->identity.class != audience)
		return false;
	rc = client_send(h, c, f, seq);
	if (rc == RC_RETRY)
		client_drop(h, c);
	return rc == RC_OK;
}

/*
 * m will have all up to seq; those before from that it has not got, since they
 * were lost on their way to this hub, are reported.  False: it has them, or
 * they are of an older connection of the environment than the newest one, which
 * continues with what Redis has of the numbers of that.
 */
static bool
broadcast_advance(struct hub *h, struct room_member *m, int64_t gen,
    int64_t seq, int64_t from)
{
	bool known = m->gen > 0 || m->seq > 0;
	int64_t missed = known ? from - m->seq - 1 : 0;

	if (gen < m->gen || (gen == m->gen && known && seq <= m->seq))
		return false;
	m->gen = gen;
	m->seq = seq;
	while (missed-- > 0)
		client_drop(h, m->client);
	return true;
}

void
broadcast_skip(struct hub *h, struct room_member *m, int64_t gen, int64_t seq)
{
	struct client *c = m->client;

	/* It may get them of Redis yet. */
	if (c->phase == CLIENT_CLAIMING && c->after_cursor >= 0)
		return;
	if (broadcast_advance(h, m, gen, seq, seq + 1))
		(void)client_send_dropped(h, c);
}

void
broadcast_skip_all(struct hub *h, struct str key, int64_t gen, int64_t seq)
{
	const struct room *room = rooms_find(h->rooms, key);
	size_t i, n = room_count(room);

	for (i = 0; i < n; i++)
		broadcast_skip(h, room_member_at(room, i), gen, seq);
}

void
broadcast_here(struct hub *h, const struct link_record *r, struct frame *f)
{
	const enum client_class audience = (enum client_class)r->audience;
	const struct room *room = rooms_find(h->rooms, r->to);
	size_t i, n = room_count(room), sent = 0;
	struct room_member *m;

	for (i = 0; i < n; i++) {
		m = room_member_at(room, i);
		if (r->seq == 0 ||
		    broadcast_advance(h, m, r->gen, r->seq, r->seq))
			sent +=
			    broadcast_send(h, m->client, audience, f, r->seq);
	}
	metric_add(h->metrics.deliveries, (int64_t)sent);
}

void
broadcast_here_all(struct hub *h, struct str tenant, enum client_class audience,
    const struct client *from, struct frame *f)
{
	struct client *c;
	size_t pos, sent = 0;
	int class;

	for (class = 0; class < CLASS_HUB; class ++)
		for (pos = 0; (c = directory_next(h->directory,
				   (enum client_class) class, &pos)) != NULL;)
			if (c != from && str_eq(c->identity.tenant, tenant))
				sent += broadcast_send(h, c, audience, f, 0);
	metric_add(h->metrics.deliveries, (int64_t)sent);
}
