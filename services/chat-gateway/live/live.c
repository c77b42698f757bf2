/*
 * The readers, and the fiber that reads for them.
 */
#include "live/live.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/queue.h>

#include "core/fiber.h"
#include "core/log.h"
#include "core/loop.h"
#include "core/mem.h"
#include "core/metric.h"
#include "core/rate.h"
#include "live/event_log.h"
#include "live/event_view.h"
#include "svc/svc.h"
#include "wire/iface.h"
#include "wire/msgs.h"

/* Between two looks for new events, and after one that failed. */
#define POLL_MS    50
#define RETRY_MS   1000
#define NOTICE_MAX 512

struct live_reader {
	TAILQ_ENTRY(live_reader) link;
	struct live *l;
	struct svc_call *c;
	struct event_filter f;
	int64_t pos;     /* the last event that it has, or does not want */
	uint64_t joined; /* batches that were requested before */
};

TAILQ_HEAD(live_readers, live_reader);

struct live {
	struct svc *svc;
	struct event_log *log;
	bool (*has_room)(struct svc_call *c);
	struct live_readers readers;
	size_t n;
	struct event_batch batch;
	uint64_t requested; /* batches */
	int64_t newest;     /* of the stream, as known in this round; -1: not */
	bool running;       /* the fiber */
	bool draining;
	struct loop_timer timer;
	struct metric *open, *sent;
};

static void live_read(void *arg);

/* ---- readers ---- */

static void
live_reader_end(struct live_reader *r)
{
	struct live *l = r->l;

	TAILQ_REMOVE(&l->readers, r, link);
	l->n--;
	metric_change(l->open, -1);
	svc_stream_end(r->c, RC_OK);
	free(r);
}

static void
live_reader_on_abort(void *arg)
{
	live_reader_end(arg);
}

/* May end r. */
static void
live_reader_send(
    struct live_reader *r, const char *event, int64_t seq, struct str data)
{
	char id[24];

	(void)snprintf(id, sizeof(id), "%lld", (long long)seq);
	if (svc_sse_send(r->c, event, id, data) != RC_OK)
		live_reader_end(r);
}

/* The events between its position and cursor are gone. */
static void
live_reader_skip(struct live_reader *r, int64_t cursor)
{
	const struct wire_live_notice notice = {
		.code = WIRE_LIVE_NOTICE_CODE_EVENTS_GONE,
		.after = r->pos,
		.cursor = cursor,
	};
	struct buf out = BUF_INIT(NOTICE_MAX);
	struct wire_err err;

	r->pos = cursor;
	if (wire_encode(&wire_live_notice_desc, &notice, &out, &err) == RC_OK)
		live_reader_send(r, "notice", cursor, buf_str(&out));
	buf_free(&out);
}

/* Without room it stays where it is. */
static void
live_reader_take(struct live_reader *r, const struct event_view *e,
    const struct event_owner *owner)
{
	if (!event_filter_wants(&r->f, e) ||
	    !event_filter_allows(&r->f, e, owner)) {
		r->pos = e->seq;
	} else if (r->l->has_room(r->c)) {
		r->pos = e->seq;
		metric_add(r->l->sent, 1);
		live_reader_send(r, wire_events[e->type].type, e->seq, e->json);
	}
}

/* ---- one batch ---- */

/*
 * Those who have missed what is gone.  One that joined since the batch was
 * requested may be beyond what was the newest event then.
 */
static void
live_announce_expired(struct live *l)
{
	const struct event_batch *b = &l->batch;
	struct live_reader *r, *next;

	for (r = TAILQ_FIRST(&l->readers); r != NULL; r = next) {
		next = TAILQ_NEXT(r, link);
		if (r->joined < l->requested &&
		    (r->pos < b->after || r->pos > b->newest))
			live_reader_skip(r, b->after);
	}
}

/* Whether a reader at the event before e depends on whose its body is. */
static bool
live_needs_owner(
    const struct live *l, const struct event_view *e, int64_t before)
{
	const struct live_reader *r;

	TAILQ_FOREACH (r, &l->readers, link)
		if (r->pos >= before && r->pos < e->seq &&
		    event_filter_wants(&r->f, e) &&
		    event_filter_needs_owner(&r->f, e))
			return true;
	return false;
}

/* To all that have the event before it. */
static enum rc
live_send(struct live *l, const struct event_view *e, int64_t before)
{
	struct event_owner owner = { .since = { 0 } };
	struct live_reader *r, *next;
	enum rc rc = RC_OK;

	if (live_needs_owner(l, e, before))
		rc = event_log_owner(l->log, e, l->batch.a, &owner);
	for (r = TAILQ_FIRST(&l->readers); r != NULL && rc == RC_OK; r = next) {
		next = TAILQ_NEXT(r, link);
		if (r->pos >= before && r->pos < e->seq)
			live_reader_take(r, e, &owner);
	}
	return rc;
}

/* Those that have the last event of the batch have all of it. */
static void
live_finish(struct live *l, int64_t last)
{
	struct live_reader *r;

	TAILQ_FOREACH (r, &l->readers, link)
		if (r->pos >= last && r->pos < l->batch.cursor)
			r->pos = l->batch.cursor;
}

static enum rc
live_read_batch(struct live *l, int64_t after)
{
	struct event_batch *b = &l->batch;
	int64_t before;
	size_t i;
	enum rc rc;

	l->requested++;
	rc = event_log_read(l->log, after, b);
	if (rc != RC_OK)
		return rc;
	l->newest = b->newest;
	if (b->expired)
		live_announce_expired(l);
	before = b->after;
	for (i = 0; i < b->n && rc == RC_OK; i++) {
		rc = live_send(l, &b->e[i], before);
		before = b->e[i].seq;
	}
	if (rc == RC_OK)
		live_finish(l, before);
	return rc;
}

/* ---- all of them, in turn ---- */

/* One that has room, and for which there may be events; NULL: none. */
static struct live_reader *
live_next(struct live *l)
{
	struct live_reader *r;

	TAILQ_FOREACH (r, &l->readers, link)
		if (r->pos != l->newest && l->has_room(r->c))
			break;
	if (r == NULL)
		return NULL;
	TAILQ_REMOVE(&l->readers, r, link);
	TAILQ_INSERT_TAIL(&l->readers, r, link);
	return r;
}

static void
live_schedule(struct live *l, int64_t ms)
{
	if (!l->running && l->n > 0)
		loop_timer_set(svc_loop(l->svc), &l->timer,
		    mono_add_ms(clock_mono(), ms), live_read, l);
}

static void
live_fiber(void *arg)
{
	static struct log_rate rate;
	struct live *l = arg;
	struct live_reader *r;
	int64_t missed;
	enum rc rc = RC_OK;

	l->newest = -1;
	while (rc == RC_OK && (r = live_next(l)) != NULL)
		rc = live_read_batch(l, r->pos);
	l->running = false;
	if (rc != RC_OK && log_every(&rate, 10, &missed))
		log_warn(
		    "gateway.live_failed", LOG_RC(rc), LOG_I("missed", missed));
	live_schedule(l, rc == RC_OK ? POLL_MS : RETRY_MS);
	svc_release(l->svc);
}

static void
live_read(void *arg)
{
	struct live *l = arg;

	l->running = true;
	svc_hold(l->svc);
	fiber_start(live_fiber, l);
}

bool
live_is_full(const struct live *l)
{
	return l->n >= LIVE_READERS_MAX;
}

void
live_start(struct live *l, struct svc_call *c, const struct event_filter *f,
    int64_t after)
{
	struct live_reader *r;

	if (l->draining || live_is_full(l)) {
		svc_fail(c, RC_RETRY, "too many streams at once");
		return;
	}
	r = mem_zalloc(sizeof(*r));
	r->l = l;
	r->c = c;
	r->f = *f;
	r->pos = after;
	r->joined = l->requested;
	TAILQ_INSERT_TAIL(&l->readers, r, link);
	l->n++;
	metric_change(l->open, 1);
	if (svc_sse_start(c) != RC_OK ||
	    svc_call_on_abort(c, live_reader_on_abort, r) != RC_OK)
		live_reader_end(r);
	else
		live_schedule(l, 0);
}

/* ---- start and end ---- */

struct live *
live_new(
    struct svc *s, struct event_log *log, bool (*has_room)(struct svc_call *c))
{
	struct metric_set *set = svc_metrics(s);
	struct live *l = mem_zalloc(sizeof(*l));

	l->svc = s;
	l->log = log;
	l->has_room = has_room;
	TAILQ_INIT(&l->readers);
	l->batch.a = arena_new(EVENT_BATCH_BYTES);
	l->open = metric_gauge(set, "soul_live_readers",
	    "Open streams of events of all souls.", NULL);
	l->sent = metric_counter(set, "soul_live_events_total",
	    "Events that were sent to them.", NULL);
	return l;
}

void
live_drain(struct live *l)
{
	struct live_reader *r;

	l->draining = true;
	while ((r = TAILQ_FIRST(&l->readers)) != NULL)
		live_reader_end(r);
}

void
live_free(struct live *l)
{
	if (l == NULL)
		return;
	loop_timer_cancel(svc_loop(l->svc), &l->timer);
	arena_free(l->batch.a);
	free(l);
}
