/*
 * Requests and their replies.
 *
 * One subscription per connection receives all replies.  The last token of a
 * reply's subject is the id of the request: its slot in a table and a serial
 * number, so that a late reply to an earlier request in the same slot is
 * recognised and dropped.
 */
#include <stdio.h>
#include <stdlib.h>

#include "bus/bus_internal.h"
#include "core/mem.h"

#define SLOT_BITS 14

_Static_assert(BUS_INFLIGHT_MAX == 1 << SLOT_BITS, "ids hold a slot");
_Static_assert(BUS_INFLIGHT_MAX % BUS_PENDING_CHUNK == 0, "chunks are whole");

static struct bus_pending *
pending_at(const struct bus *b, uint32_t slot)
{
	return &b->pending_chunks[slot / BUS_PENDING_CHUNK]
				 [slot % BUS_PENDING_CHUNK];
}

/* The pending request id, or NULL. */
static struct bus_pending *
pending_find(const struct bus *b, uint64_t id)
{
	uint32_t slot = (uint32_t)(id & (BUS_INFLIGHT_MAX - 1));
	struct bus_pending *p;

	if (id == 0 || slot >= b->n_pending_slots)
		return NULL;
	p = pending_at(b, slot);
	return p->id == id ? p : NULL;
}

/* A free slot, made pending; NULL when all are. */
static struct bus_pending *
pending_alloc(struct bus *b)
{
	struct bus_pending *p = TAILQ_FIRST(&b->free_slots);
	uint32_t i;

	if (p == NULL && b->n_pending_slots == BUS_INFLIGHT_MAX)
		return NULL;
	if (p == NULL) {
		b->pending_chunks[b->n_pending_slots / BUS_PENDING_CHUNK] =
		    mem_calloc(BUS_PENDING_CHUNK, sizeof(*p));
		for (i = 0; i < BUS_PENDING_CHUNK; i++) {
			p = pending_at(b, b->n_pending_slots);
			p->bus = b;
			p->slot = b->n_pending_slots++;
			TAILQ_INSERT_TAIL(&b->free_slots, p, link);
		}
		p = TAILQ_FIRST(&b->free_slots);
	}
	TAILQ_REMOVE(&b->free_slots, p, link);
	TAILQ_INSERT_TAIL(&b->pending, p, link);
	p->id = ++b->serial << SLOT_BITS | p->slot;
	b->n_pending++;
	metric_set(b->metric.inflight, b->n_pending);
	return p;
}

static void
resend_free(struct bus_resend *r)
{
	if (r == NULL)
		return;
	free(r->subject);
	free(r->msg_id);
	buf_free(&r->data);
	free(r);
}

/* Free p's slot; return its handler. */
static struct bus_reply_handler
pending_release(struct bus_pending *p)
{
	struct bus *b = p->bus;

	resend_free(p->resend);
	p->resend = NULL;
	loop_timer_cancel(b->loop, &p->timer);
	TAILQ_REMOVE(&b->pending, p, link);
	TAILQ_INSERT_HEAD(&b->free_slots, p, link);
	p->id = 0;
	b->n_flushes -= p->ping != 0;
	p->ping = 0;
	b->n_pending--;
	metric_set(b->metric.inflight, b->n_pending);
	return p->to;
}

static void
pending_complete(struct bus_pending *p, enum rc rc, struct str data)
{
	struct bus_reply_handler to = pending_release(p);

	to.fn(to.arg, rc, data);
}

static void
pending_on_deadline(void *arg)
{
	pending_complete(arg, RC_TIMEOUT, (struct str){ NULL, 0 });
}

/* Send the request; the last token of its reply subject is p's id. */
static enum rc
pending_send(struct bus_pending *p, const struct bus_request_out *q)
{
	char reply[BUS_INBOX_MAX + 16];
	struct bus_out_msg out = {
		.subject = q->subject, .reply = reply, .data = q->data
	};

	(void)snprintf(reply, sizeof(reply), "%s%llx", p->bus->inbox_prefix,
	    (unsigned long long)p->id);
	if (q->headers != NULL) {
		out.headers = q->headers->v;
		out.n_headers = q->headers->n;
	}
	return bus_send(p->bus, &out);
}

/* No reply yet: send it a second time, then wait until the deadline. */
static void
pending_on_resend(void *arg)
{
	struct bus_pending *p = arg;
	struct bus_resend *r = p->resend;
	struct bus_headers h;

	p->resend = NULL;
	if (bus_headers_make(&r->meta, &h) == RC_OK &&
	    pending_send(p,
		&(struct bus_request_out){
		    r->subject, buf_str(&r->data), &h, p->deadline }) == RC_OK)
		metric_add(p->bus->metric.resent, 1);
	resend_free(r);
	loop_timer_set(p->bus->loop, &p->timer, clock_mono_of(p->deadline),
	    pending_on_deadline, p);
}

/* Copy the request, to send it a second time. */
static void
pending_schedule_resend(struct bus_pending *p, const char *subject,
    struct str data, const struct bus_meta *meta)
{
	struct bus_resend *r = mem_zalloc(sizeof(*r));

	r->subject = str_dup(str_of(subject));
	buf_init(&r->data, BUS_PAYLOAD_MAX);
	buf_put_str(&r->data, data);
	r->meta = *meta;
	if (meta->trace != NULL) {
		r->trace = *meta->trace;
		r->meta.trace = &r->trace;
	}
	if (meta->msg_id != NULL)
		r->meta.msg_id = r->msg_id = str_dup(str_of(meta->msg_id));
	p->resend = r;
	loop_timer_set(p->bus->loop, &p->timer,
	    mono_add_ms(clock_mono(), meta->resend_ms), pending_on_resend, p);
}

enum rc
bus_request_send(struct bus *b, const struct bus_request_out *q,
    struct bus_reply_handler handler, uint64_t *id)
{
	struct bus_pending *p;
	enum rc rc;

	if (!bus_subject_valid(q->subject, false))
		return RC_INVALID;
	if (clock_wall().ms > q->deadline.ms)
		return RC_TIMEOUT;
	if (b->conn == NULL)
		return RC_DOWN;
	p = pending_alloc(b);
	if (p == NULL)
		return RC_RETRY;
	p->to = handler;
	p->deadline = q->deadline;
	rc = pending_send(p, q);
	if (rc != RC_OK) {
		(void)pending_release(p);
		return rc;
	}
	loop_timer_set(b->loop, &p->timer, clock_mono_of(q->deadline),
	    pending_on_deadline, p);
	if (id != NULL)
		*id = p->id;
	return RC_OK;
}

enum rc
bus_request(struct bus *b, const char *subject, struct str data,
    const struct bus_meta *meta, struct bus_reply_handler handler, uint64_t *id)
{
	struct bus_headers h;
	uint64_t sent_id;
	enum rc rc;

	if (meta == NULL || meta->deadline.ms <= 0 || meta->resend_ms < 0 ||
	    (meta->resend_ms > 0 && (handler.many || meta->nheaders > 0)) ||
	    bus_headers_make(meta, &h) != RC_OK)
		return RC_INVALID;
	rc = bus_request_send(b,
	    &(struct bus_request_out){ subject, data, &h, meta->deadline },
	    handler, &sent_id);
	if (rc != RC_OK)
		return rc;
	if (meta->resend_ms > 0 &&
	    clock_wall().ms + meta->resend_ms < meta->deadline.ms)
		pending_schedule_resend(
		    pending_find(b, sent_id), subject, data, meta);
	if (id != NULL)
		*id = sent_id;
	return RC_OK;
}

void
bus_request_cancel(struct bus *b, uint64_t id)
{
	struct bus_pending *p = pending_find(b, id);

	if (p != NULL)
		(void)pending_release(p);
}

enum rc
bus_flush(struct bus *b, struct wall deadline, struct bus_reply_handler handler,
    uint64_t *id)
{
	struct bus_pending *p;
	enum rc rc;

	if (clock_wall().ms > deadline.ms)
		return RC_TIMEOUT;
	if (b->conn == NULL)
		return RC_DOWN;
	p = pending_alloc(b);
	if (p == NULL)
		return RC_RETRY;
	p->to = handler;
	p->deadline = deadline;
	rc = bus_conn_ping(b->conn);
	if (rc != RC_OK) {
		(void)pending_release(p);
		return rc;
	}
	p->ping = ++b->pings;
	b->n_flushes++;
	loop_timer_set(b->loop, &p->timer, clock_mono_of(deadline),
	    pending_on_deadline, p);
	if (id != NULL)
		*id = p->id;
	return RC_OK;
}

/* The oldest one whose ping is back; NULL: none. */
static struct bus_pending *
pending_flushed(struct bus *b)
{
	struct bus_pending *p;

	if (b->n_flushes == 0)
		return NULL;
	TAILQ_FOREACH (p, &b->pending, link)
		if (p->ping != 0 && p->ping <= b->pongs)
			return p;
	return NULL;
}

void
bus_pending_flushed(struct bus *b)
{
	struct bus_pending *p;

	/* Handlers may begin and end others. */
	while ((p = pending_flushed(b)) != NULL)
		pending_complete(p, RC_OK, (struct str){ NULL, 0 });
}

/* ---- replies ---- */

/* The id in the last token of a reply's subject; 0 if it has none. */
static uint64_t
pending_parse_id(struct str subject)
{
	uint64_t id = 0;
	size_t i = subject.n;
	unsigned shift = 0;
	char c;

	while (i > 0 && subject.p[i - 1] != '.' && shift < 64) {
		c = subject.p[--i];
		if (c >= '0' && c <= '9')
			id |= (uint64_t)(c - '0') << shift;
		else if (c >= 'a' && c <= 'f')
			id |= (uint64_t)(c - 'a' + 10) << shift;
		else
			return 0;
		shift += 4;
	}
	return id;
}

/* RC_OK, or the code of an error reply. */
static enum rc
pending_reply_rc(const struct bus_msg *m)
{
	struct str name, status;
	int64_t number = 0;
	enum rc rc;

	if (bus_msg_is_unserved(m))
		return RC_NOENT;
	name = bus_headers_find(m->headers, HEADER_ERROR);
	status = bus_headers_find(m->headers, HEADER_ERROR_CODE);
	if (name.p == NULL && status.p == NULL)
		return RC_OK;
	for (rc = RC_OK + 1; rc < RC_N; rc++)
		if (str_eq(name, str_of(rc_name(rc))))
			return rc;
	/* A foreign service, whose codes are not ours: map its status. */
	if (str_to_i64(status, 100, 599, &number) == RC_OK)
		for (rc = RC_OK + 1; rc < RC_N; rc++)
			if (number == rc_http_status(rc))
				return rc;
	return number >= 500 ? RC_BUG : RC_INVALID;
}

void
bus_pending_reply(struct bus *b, struct bus_msg *m)
{
	struct bus_pending *p = pending_find(b, pending_parse_id(m->subject));
	enum rc rc;

	if (p != NULL) {
		rc = pending_reply_rc(m);
		if (rc == RC_OK && p->to.many)
			p->to.fn(p->to.arg, rc, m->data);
		else
			pending_complete(p, rc,
			    rc == RC_NOENT && bus_msg_is_unserved(m)
				? (struct str){ NULL, 0 }
				: m->data);
	}
	bus_msg_free(m);
}

void
bus_pending_fail(struct bus *b)
{
	struct bus_pending *p;

	while ((p = TAILQ_FIRST(&b->pending)) != NULL)
		pending_complete(p, RC_DOWN, (struct str){ NULL, 0 });
}

void
bus_pending_free(struct bus *b)
{
	size_t i;

	for (i = 0; i < BUS_PENDING_CHUNKS; i++)
		free(b->pending_chunks[i]);
}
