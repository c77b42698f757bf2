/*
 * broadcast: one frame to many, at this hub.
 */
#include "cluster/link_record.h"
#include "hub.h"

static bool
broadcast_send(struct hub *h, struct client *c, enum client_class audience,
    struct frame *f)
{
	enum rc rc;

	if (audience != CLASS_HUB && c->identity.class != audience)
		return false;
	rc = client_send(h, c, f);
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

static bool
broadcast_to_member(
    struct hub *h, struct room_member *m, const struct broadcast *b)
{
	if (b->seq > 0 && !broadcast_advance(h, m, b->gen, b->seq, b->seq))
		return false;
	return broadcast_send(h, m->client, b->audience, b->frame);
}

/* In a large room nothing of a member is in the processor's cache: fetch the
 * next ones' meanwhile, one pointer after the other. */
static void
broadcast_fetch(const struct room *room, size_t i)
{
	size_t n = room_count(room);
	const struct client *c;

	if (i + 3 < n)
		__builtin_prefetch(room_member_at(room, i + 3));
	if (i + 2 < n) {
		c = room_member_at(room, i + 2)->client;
		__builtin_prefetch(c);
		__builtin_prefetch(&c->identity);
	}
	if (i + 1 < n) {
		c = room_member_at(room, i + 1)->client;
		__builtin_prefetch(c->peer);
		replay_fetch(&c->replay);
	}
}

static void
broadcast_to_room(
    struct hub *h, struct str key, const struct broadcast *b, size_t n)
{
	const struct room *room = rooms_find(h->rooms, key);
	size_t i, k, members = room_count(room), sent = 0;
	struct room_member *m;

	for (i = 0; i < members; i++) {
		broadcast_fetch(room, i);
		m = room_member_at(room, i);
		for (k = 0; k < n; k++)
			sent += broadcast_to_member(h, m, &b[k]);
	}
	metric_add(h->metrics.deliveries, (int64_t)sent);
}

static struct broadcast
broadcast_of(const struct link_record *r, struct frame *f)
{
	f->seq = r->seq;
	return (struct broadcast){ f, (enum client_class)r->audience, r->gen,
		r->seq };
}

void
broadcast_here(struct hub *h, const struct link_record *r, struct frame *f)
{
	const struct broadcast b = broadcast_of(r, f);

	broadcast_to_room(h, r->to, &b, 1);
}

void
broadcast_soon(struct hub *h, const struct link_record *r, struct frame *f)
{
	struct broadcasts *soon = &h->soon;

	if (soon->n == HUB_BROADCASTS ||
	    (soon->n > 0 && !str_eq(str_of(soon->room), r->to)))
		broadcast_now(h);
	if (soon->n == 0)
		str_copy(r->to, soon->room, sizeof(soon->room));
	soon->item[soon->n++] = broadcast_of(r, frame_ref(f));
}

void
broadcast_now(struct hub *h)
{
	struct broadcasts *soon = &h->soon;
	size_t i;

	if (soon->n == 0)
		return;
	broadcast_to_room(h, str_of(soon->room), soon->item, soon->n);
	for (i = 0; i < soon->n; i++)
		frame_unref(soon->item[i].frame);
	soon->n = 0;
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
				sent += broadcast_send(h, c, audience, f);
	metric_add(h->metrics.deliveries, (int64_t)sent);
}
