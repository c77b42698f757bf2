/*
 * peer_send: records to other hubs: those of one iteration of the loop leave in
 * one message of NATS.
 */
#include <stdio.h>

#include "bus/bus.h"
#include "cluster/handlers.h"
#include "core/log.h"
#include "wire/subjects.h"

/* Of a message of NATS that is left for lines. */
#define SPARE_BYTES (2UL * LINK_RECORD_MAX)
#define PART_BYTES  (BUS_PAYLOAD_MAX - SPARE_BYTES)

/* ---- what became of a message ---- */

/* NULL: it is there. */
static void
outgoing_close(struct peers *c, struct outgoing *o, const char *error)
{
	if (o->span != NULL)
		message_span_delivered(c->hub, o, error);
	client_unref(c->hub, o->from);
	outgoing_free(o);
}

void
outgoing_end(struct peers *c, struct outgoing *o)
{
	outgoing_close(c, o, NULL);
}

/* The client that has its session now, at this hub; else the one that sent it.
 */
static struct client *
outgoing_sender(const struct peers *c, const struct outgoing *o)
{
	char text[IDENTITY_KEY_MAX];
	struct client *now =
	    directory_find(c->hub->directory, client_key(o->from, text));

	return now != NULL &&
		str_eq(str_of(now->session), str_of(o->from->session))
	    ? now
	    : o->from;
}

void
outgoing_fail(struct peers *c, struct outgoing *o, enum hub_error error)
{
	const struct hub_failure f = {
		.error = error, .message_id = o->message_id, .seq = o->seq
	};

	if (o->seq > 0)
		client_fail(c->hub, outgoing_sender(c, o), &f);
	outgoing_close(c, o, hub_error_code(error));
}

/* ---- records ---- */

static void
peer_flush(void *arg)
{
	struct peer *p = arg;
	enum rc rc;

	if (p->out.n == 0)
		return;
	/* What is lost with it has no confirmation. */
	rc =
	    bus_publish(p->peers->hub->bus, p->subject, buf_str(&p->out), NULL);
	if (rc != RC_OK && rc != RC_DOWN)
		log_error("star.link", LOG_S("hub", p->name), LOG_RC(rc));
	buf_reset(&p->out);
}

/* Begin a message of NATS, or add to it. */
static void
peer_begin(struct peer *p, size_t bytes)
{
	struct hub *h = p->peers->hub;

	if (p->out.n > 0 && p->out.n + bytes > PEERS_BATCH_BYTES)
		peer_flush(p);
	if (p->out.n > 0)
		return;
	link_record_write(
	    &(struct link_record){ .kind = LINK_HUB, .text = str_of(h->name) },
	    &p->out);
	loop_defer(h->loop, &p->flush, peer_flush, p);
}

void
peer_put(struct peer *p, const struct link_record *r)
{
	struct link_record rest = *r;

	/* Of a message with its largest size, a part goes before. */
	while (rest.bytes.n > PART_BYTES) {
		const struct str part = { rest.bytes.p, PART_BYTES };

		peer_begin(p, part.n + SPARE_BYTES);
		link_record_write(
		    &(struct link_record){ .kind = LINK_PART, .bytes = part },
		    &p->out);
		rest.prefix += (int64_t)part.n;
		rest.bytes.p += part.n;
		rest.bytes.n -= part.n;
	}
	peer_begin(p, rest.bytes.n + SPARE_BYTES);
	link_record_write(&rest, &p->out);
}

enum rc
peer_send(struct peer *p, struct link_record *r, struct outgoing *o)
{
	struct hub *h = p->peers->hub;

	if (!bus_up(h->bus))
		return RC_DOWN;
	r->n = peer_link_add(p->messages, o, clock_mono());
	if (r->n == 0)
		return RC_RETRY;
	metric_change(h->metrics.unconfirmed, 1);
	peer_put(p, r);
	return RC_OK;
}

/* ---- what was not confirmed ---- */

static void
peer_fail_before(struct peer *p, struct mono before)
{
	struct peers *c = p->peers;
	struct link_sent s;
	int64_t n = 0;

	for (; peer_link_take_overdue(p->messages, before, &s); n++) {
		metric_change(c->hub->metrics.unconfirmed, -1);
		outgoing_fail(c, s.message, HUB_ERROR_UNKNOWN);
	}
	if (n == 0)
		return;
	log_warn("star.delivery_unknown", LOG_S("hub", p->name),
	    LOG_I("messages", n));
	remote_peer_done(c, p);
}

void
peer_check_overdue(struct peer *p)
{
	peer_fail_before(p, mono_add_ms(clock_mono(), -PEERS_CONFIRM_MAX_MS));
}

void
peer_end(struct peer *p)
{
	peer_fail_before(p, (struct mono){ INT64_MAX });
}

/* ---- notices ---- */

static void
notice_flush(void *arg)
{
	struct peers *c = arg;
	enum rc rc;

	if (c->notices.n == 0)
		return;
	/* Who missed it compares with Redis when NATS is back. */
	rc = bus_publish(c->hub->bus, WIRE_SUBJECT_STAR_DIRECTORY,
	    buf_str(&c->notices), NULL);
	if (rc != RC_OK && rc != RC_DOWN)
		log_error("star.notice", LOG_RC(rc));
	buf_reset(&c->notices);
}

void
notice_put(struct peers *c, const struct link_record *r)
{
	struct hub *h = c->hub;

	if (c->notices.n > PEERS_BATCH_BYTES)
		notice_flush(c);
	if (c->notices.n == 0) {
		link_record_write(&(struct link_record){ .kind = LINK_HUB,
				      .text = str_of(h->name) },
		    &c->notices);
		loop_defer(h->loop, &c->flush, notice_flush, c);
	}
	link_record_write(r, &c->notices);
}
