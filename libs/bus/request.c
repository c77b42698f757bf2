/*
 * Requests that wait for an answer, without a thread of their own.
 *
 * One subscription per connection receives all answers.  The last token of an
 * answer's subject names the waiter: its place in a table, which makes finding
 * it a look-up, and a serial number, which makes a late answer to an earlier
 * request in the same place nobody's.
 */
#include <stdio.h>
#include <stdlib.h>

#include "bus/internal.h"
#include "core/mem.h"

#define PLACE_BITS 14

_Static_assert(BUS_INFLIGHT_MAX == 1 << PLACE_BITS, "ids hold a place");
_Static_assert(BUS_INFLIGHT_MAX % WAITER_CHUNK == 0, "chunks are whole");

static struct waiter *
waiter_at(const struct bus *b, uint32_t at)
{
	return &b->chunks[at / WAITER_CHUNK][at % WAITER_CHUNK];
}

/* The waiter of a request that still waits, or NULL. */
static struct waiter *
waiter_of(const struct bus *b, uint64_t id)
{
	uint32_t at = (uint32_t)(id & (BUS_INFLIGHT_MAX - 1));
	struct waiter *w;

	if (id == 0 || at >= b->n_waiters)
		return NULL;
	w = waiter_at(b, at);
	return w->id == id ? w : NULL;
}

/* An idle waiter; NULL when all wait. */
static struct waiter *
waiter_take(struct bus *b)
{
	struct waiter *w = TAILQ_FIRST(&b->idle);
	uint32_t i;

	if (w == NULL && b->n_waiters == BUS_INFLIGHT_MAX)
		return NULL;
	if (w == NULL) {
		b->chunks[b->n_waiters / WAITER_CHUNK] =
		    mem_calloc(WAITER_CHUNK, sizeof(*w));
		for (i = 0; i < WAITER_CHUNK; i++) {
			w = waiter_at(b, b->n_waiters);
			w->bus = b;
			w->at = b->n_waiters++;
			TAILQ_INSERT_TAIL(&b->idle, w, link);
		}
		w = TAILQ_FIRST(&b->idle);
	}
	TAILQ_REMOVE(&b->idle, w, link);
	TAILQ_INSERT_TAIL(&b->waiting, w, link);
	w->id = ++b->serial << PLACE_BITS | w->at;
	b->n_waiting++;
	metric_set(b->metric.inflight, b->n_waiting);
	return w;
}

static void
again_free(struct bus_again *a)
{
	if (a == NULL)
		return;
	free(a->subject);
	free(a->msg_id);
	buf_free(&a->data);
	free(a);
}

/* Make w idle; whom it called for. */
static struct bus_reply_handler
waiter_give(struct waiter *w)
{
	struct bus *b = w->bus;

	again_free(w->again);
	w->again = NULL;
	loop_timer_cancel(b->loop, &w->timer);
	TAILQ_REMOVE(&b->waiting, w, link);
	TAILQ_INSERT_HEAD(&b->idle, w, link);
	w->id = 0;
	b->n_waiting--;
	metric_set(b->metric.inflight, b->n_waiting);
	return w->to;
}

static void
waiter_end(struct waiter *w, enum rc rc, struct str data)
{
	struct bus_reply_handler to = waiter_give(w);

	to.fn(to.arg, rc, data);
}

static void
on_deadline(void *arg)
{
	waiter_end(arg, RC_TIMEOUT, (struct str){ NULL, 0 });
}

/* Send what w asks for; the answer's subject names w. */
static enum rc
send_for(struct waiter *w, const struct bus_question *q)
{
	char reply[INBOX_MAX + 16];
	struct conn_out out = {
		.subject = q->subject, .reply = reply, .data = q->data
	};

	(void)snprintf(reply, sizeof(reply), "%s%llx", w->bus->inbox_prefix,
	    (unsigned long long)w->id);
	if (q->headers != NULL) {
		out.headers = q->headers->v;
		out.n_headers = q->headers->n;
	}
	return bus_send(w->bus, &out);
}

/* Silence: once more, and then there is only the deadline. */
static void
on_silence(void *arg)
{
	struct waiter *w = arg;
	struct bus_again *a = w->again;
	struct bus_headers h;

	w->again = NULL;
	if (bus_headers_of(&a->meta, &h) == RC_OK &&
	    send_for(w,
		&(struct bus_question){
		    a->subject, buf_str(&a->data), &h, w->by }) == RC_OK)
		metric_add(w->bus->metric.again, 1);
	again_free(a);
	loop_timer_set(
	    w->bus->loop, &w->timer, clock_mono_of(w->by), on_deadline, w);
}

/* Keep what w asked, to ask it again. */
static void
again_keep(struct waiter *w, const char *subject, struct str data,
    const struct bus_meta *meta)
{
	struct bus_again *a = mem_zalloc(sizeof(*a));

	a->subject = str_dup(str_of(subject));
	buf_init(&a->data, BUS_PAYLOAD_MAX);
	buf_put_str(&a->data, data);
	a->meta = *meta;
	if (meta->trace != NULL) {
		a->trace = *meta->trace;
		a->meta.trace = &a->trace;
	}
	if (meta->msg_id != NULL)
		a->meta.msg_id = a->msg_id = str_dup(str_of(meta->msg_id));
	w->again = a;
	loop_timer_set(w->bus->loop, &w->timer,
	    mono_add_ms(clock_mono(), meta->resend_ms), on_silence, w);
}

enum rc
bus_ask(struct bus *b, const struct bus_question *q,
    struct bus_reply_handler waiter, uint64_t *id)
{
	struct waiter *w;
	enum rc rc;

	if (!names_subject_ok(q->subject, false))
		return RC_INVALID;
	if (clock_wall().ms > q->by.ms)
		return RC_TIMEOUT;
	if (b->conn == NULL)
		return RC_DOWN;
	w = waiter_take(b);
	if (w == NULL)
		return RC_RETRY;
	w->to = waiter;
	w->by = q->by;
	rc = send_for(w, q);
	if (rc != RC_OK) {
		(void)waiter_give(w);
		return rc;
	}
	loop_timer_set(
	    b->loop, &w->timer, clock_mono_of(q->by), on_deadline, w);
	if (id != NULL)
		*id = w->id;
	return RC_OK;
}

enum rc
bus_request(struct bus *b, const char *subject, struct str data,
    const struct bus_meta *meta, struct bus_reply_handler waiter, uint64_t *id)
{
	struct bus_headers h;
	uint64_t made;
	enum rc rc;

	if (meta == NULL || meta->deadline.ms <= 0 || meta->resend_ms < 0 ||
	    (meta->resend_ms > 0 && (waiter.many || meta->nheaders > 0)) ||
	    bus_headers_of(meta, &h) != RC_OK)
		return RC_INVALID;
	rc = bus_ask(b,
	    &(struct bus_question){ subject, data, &h, meta->deadline }, waiter,
	    &made);
	if (rc != RC_OK)
		return rc;
	if (meta->resend_ms > 0 &&
	    clock_wall().ms + meta->resend_ms < meta->deadline.ms)
		again_keep(waiter_of(b, made), subject, data, meta);
	if (id != NULL)
		*id = made;
	return RC_OK;
}

void
bus_request_cancel(struct bus *b, uint64_t id)
{
	struct waiter *w = waiter_of(b, id);

	if (w != NULL)
		(void)waiter_give(w);
}

/* ---- answers ------------------------------------------------------------ */

/* The number in the last token of an answer's subject; 0 if it has none. */
static uint64_t
id_in(struct str subject)
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

/* What an answer says: RC_OK, or the code of the error that it is. */
static enum rc
rc_of(const struct bus_msg *m)
{
	struct str name, status;
	int64_t number = 0;
	enum rc rc;

	if (conn_msg_unserved(m))
		return RC_NOENT;
	name = conn_msg_header(m, HEADER_ERROR);
	status = conn_msg_header(m, HEADER_ERROR_CODE);
	if (name.p == NULL && status.p == NULL)
		return RC_OK;
	for (rc = RC_OK + 1; rc < RC_N; rc++)
		if (str_eq(name, str_of(rc_name(rc))))
			return rc;
	/* Another suite's service: its status says enough. */
	if (str_to_i64(status, 100, 599, &number) == RC_OK)
		for (rc = RC_OK + 1; rc < RC_N; rc++)
			if (number == rc_http_status(rc))
				return rc;
	return number >= 500 ? RC_BUG : RC_INVALID;
}

void
bus_answered(struct bus *b, struct bus_msg *m)
{
	uint64_t id = id_in(conn_msg_subject(m));
	struct waiter *w = waiter_of(b, id);
	enum rc rc;

	if (id == 0 && m->gen == b->gen) {
		bus_greeted(b);
	} else if (w != NULL) {
		rc = rc_of(m);
		if (rc == RC_OK && w->to.many)
			w->to.fn(w->to.arg, rc, conn_msg_data(m));
		else
			waiter_end(w, rc,
			    rc == RC_NOENT && conn_msg_unserved(m)
				? (struct str){ NULL, 0 }
				: conn_msg_data(m));
	}
	bus_msg_free(m);
}

void
bus_waiters_fail(struct bus *b)
{
	struct waiter *w;

	while ((w = TAILQ_FIRST(&b->waiting)) != NULL)
		waiter_end(w, RC_DOWN, (struct str){ NULL, 0 });
}

void
bus_waiters_free(struct bus *b)
{
	size_t i;

	for (i = 0; i < WAITER_CHUNKS; i++)
		free(b->chunks[i]);
}
