/*
 * takeover: a client that comes to another hub: this one gives it up, and that
 * one gets its session if the client resumes it.
 */
#include <stdio.h>

#include "bus/bus.h"
#include "cluster/handlers.h"
#include "core/fiber.h"
#include "core/log.h"
#include "wire/subjects.h"

/* Of a room in a reply: the environment's claim is not known; 0 is one that the
 * client has only written to. */
#define UNKNOWN_GEN 1

/* ---- giving it away ---- */

static void
takeover_put_rooms(const struct client *c, struct buf *out)
{
	size_t i;

	for (i = 0; i < c->nrooms; i++)
		if (c->rooms[i].room != NULL)
			link_record_write(
			    &(struct link_record){ .kind = LINK_ENTERED,
				.gen = c->rooms[i].gen > 0 ? c->rooms[i].gen
							   : UNKNOWN_GEN,
				.from = room_key(c->rooms[i].room),
				.seq = c->rooms[i].seq },
			    out);
	for (i = 0; i < c->naddressed; i++)
		link_record_write(&(struct link_record){ .kind = LINK_ENTERED,
				      .from = str_of(c->addressed[i]) },
		    out);
}

/* The frames after n, which are held; false: they are too many bytes. */
static bool
takeover_put_frames(const struct client *c, uint64_t n, struct buf *out)
{
	const struct frame *f;

	while (++n <= replay_sent(&c->replay)) {
		f = replay_at(&c->replay, n);
		if (out->n + f->bytes.n + LINK_RECORD_MAX > BUS_PAYLOAD_MAX)
			return false;
		link_record_write(&(struct link_record){ .kind = LINK_FRAME,
				      .seq = f->seq,
				      .n = f->by.ms,
				      .bytes = frame_payload(f) },
		    out);
	}
	return true;
}

/* Whether it is moved. */
static bool
takeover_reply(struct hub *h, const struct link_record *r, struct buf *out)
{
	struct client *c = directory_find(h->directory, r->to);
	struct link_record session = { .kind = LINK_SESSION,
		.text = STR("unknown") };

	if (c == NULL || c->gen >= r->gen ||
	    !str_eq(r->text, str_of(c->session))) {
		link_record_write(&session, out);
		return false;
	}
	session.n = (int64_t)replay_sent(&c->replay);
	session.text = STR("resumed");
	link_record_write(&session, out);
	takeover_put_rooms(c, out);
	if (replay_has_after(&c->replay, (uint64_t)r->n) &&
	    takeover_put_frames(c, (uint64_t)r->n, out))
		return true;
	buf_reset(out);
	session.text = STR("lost");
	link_record_write(&session, out);
	return false;
}

void
takeover_on_message(void *arg, struct bus_msg *m)
{
	struct peers *c = arg;
	struct hub *h = c->hub;
	struct str in = bus_msg_data(m);
	struct buf out = BUF_INIT(BUS_PAYLOAD_MAX + LINK_RECORD_MAX);
	struct link_record r;
	struct client *client;
	enum rc rc;

	if (peers_is_overdue(c, clock_mono()) ||
	    link_record_next(&in, &r) != RC_OK || r.kind != LINK_TAKEOVER) {
		bus_msg_free(m);
		return;
	}
	client = directory_find(h->directory, r.to);
	if (takeover_reply(h, &r, &out))
		claims_moved(h->claims, client);
	else
		claims_outdate(h->claims, r.to, r.gen);
	rc = bus_reply(m, buf_str(&out));
	if (rc != RC_OK)
		log_warn("star.takeover", LOG_RC(rc));
	buf_free(&out);
}

/* ---- getting it ---- */

struct takeover {
	struct fiber *fiber;
	struct hub *hub;
	struct client *client;
	struct client_beginning *first;
	bool done;
	enum rc rc;
};

static void
takeover_read_room(struct client *c, const struct link_record *r)
{
	if (r->gen == 0)
		client_add_addressed(c, r->from);
	else
		session_rejoin(
		    c, r->from, r->gen > UNKNOWN_GEN ? r->gen : 0, r->seq);
}

static void
takeover_read(struct takeover *t, struct str in)
{
	struct client *c = t->client;
	struct replay old = { 0 };
	struct link_record r;
	struct frame *f;

	while (link_record_next(&in, &r) == RC_OK) {
		if (r.kind == LINK_SESSION && str_eq(r.text, STR("lost")))
			t->first->lost =
			    r.n >= c->resume_last ? r.n - c->resume_last : -1;
		else if (r.kind == LINK_SESSION &&
		    str_eq(r.text, STR("resumed")))
			replay_begin(&old, (uint64_t)c->resume_last + 1);
		else if (r.kind == LINK_ENTERED)
			takeover_read_room(c, &r);
		if (r.kind != LINK_FRAME || old.next == 0)
			continue;
		f = frame_new(FRAME_TEXT, r.bytes);
		f->seq = r.seq;
		f->by.ms = r.n;
		replay_put(&old, f);
		frame_unref(f);
	}
	if (old.next > 0)
		session_resume(t->hub, c, &old, t->first);
	replay_clear(&old);
}

static void
takeover_on_reply(void *arg, enum rc rc, struct str data)
{
	struct takeover *t = arg;

	if (rc == RC_OK)
		takeover_read(t, data);
	t->rc = rc;
	t->done = true;
	if (t->fiber != NULL)
		fiber_resume(t->fiber);
}

/* RC_OK: it has given it up. */
static enum rc
takeover_request(struct peers *c, struct client *client,
    const struct peer *before, struct client_beginning *first)
{
	struct takeover t = { .hub = c->hub, .client = client, .first = first };
	const struct bus_meta meta = { .deadline = { clock_wall().ms +
					   WIRE_DEADLINE_MS_STAR_TAKEOVER } };
	char subject[128], key[IDENTITY_KEY_MAX];
	struct buf out = BUF_INIT(LINK_RECORD_MAX);
	enum rc rc;

	(void)snprintf(subject, sizeof(subject), WIRE_SUBJECT_FMT_STAR_TAKEOVER,
	    before->name);
	link_record_write(&(struct link_record){ .kind = LINK_TAKEOVER,
			      .gen = client->gen,
			      .to = client_key(client, key),
			      .n = client->resume_last,
			      .text = str_of(client->session) },
	    &out);
	rc = bus_request(c->hub->bus, subject, buf_str(&out), &meta,
	    (struct bus_reply_handler){ takeover_on_reply, &t, false }, NULL);
	buf_free(&out);
	if (rc != RC_OK || t.done)
		return rc != RC_OK ? rc : t.rc;
	t.fiber = fiber_self();
	fiber_suspend();
	return t.rc;
}

void
takeover_begin(struct peers *c, struct client *client,
    const struct peer *before, struct client_beginning *first)
{
	char hub[sizeof(c->hub->name)];
	enum rc rc;

	str_copy(str_of(before->name), hub, sizeof(hub));
	rc = takeover_request(c, client, before, first);
	/* Nobody listens: with NATS as it was, that hub is dead. */
	if (rc != RC_OK)
		outdated_give_up(c, client, str_of(hub),
		    rc != RC_NOENT || !peers_bus_is_steady(c, clock_mono()));
}
