/*
 * Consumers: an item waits for what it needs, waits for its key, is handled, or
 * is being dead-lettered.
 */
#include "work/work.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "bus/bus.h"
#include "bus/jetstream.h"
#include "core/fiber.h"
#include "core/log.h"
#include "core/loop.h"
#include "core/mem.h"
#include "core/metric.h"
#include "core/rate.h"
#include "wire/subjects.h"
#include "work/dead_letter.h"

#define EVENTS_STREAM "SOUL_EVENTS"
#define JOBS_AGE_S    (7 * 24L * 3600)
#define JOBS_SIZE     (256L * 1024 * 1024)
#define DUPLICATES_S  600 /* message ids */
#define RETRY_MIN_MS  1000
#define RETRY_MAX_MS  60000
#define POLL_MS       1000
/* Pause between attempts while what items need is failing. */
#define PAUSE_MIN_MS 200
#define PAUSE_MAX_MS 30000
/* Between two counts of dead letters, and how long one may take. */
#define COUNT_EVERY_MS 15000
#define COUNT_MS       5000

TAILQ_HEAD(work_list, work_item);

/* Where items come from. */
struct work_source {
	struct work *w;
	const char *stream;
};

/* An item in hand. */
struct work_item {
	TAILQ_ENTRY(work_item) link;
	struct work *w; /* NULL: freed, and msg with it */
	const struct work_source *from;
	struct work_list *list;
	struct bus_msg *msg;
	struct arena *a;
	void *what;
	struct str key;
	struct trace trace;
	bool traced, repeated;
	char why[DEAD_LETTER_REASON_MAX + 1]; /* of its dead letter */
};

struct work {
	struct work_opts o;
	struct bus *bus;
	struct loop *loop;
	struct work_source jobs, events;
	char subject[sizeof(WIRE_SUBJECT_FMT_JOB) + WORK_KIND_MAX];
	char dead_subject[sizeof(DEAD_LETTER_SUBJECT_FMT) + WORK_KIND_MAX];
	struct work_list deferred, queued, handled, dead_lettering;
	struct loop_timer timer, count_timer;
	struct work_count *count; /* in progress; NULL: none */
	int64_t poll_ms;
	bool failing;         /* the last attempt was deferred */
	struct backoff pause; /* while failing one item at a time is tried */
	struct mono pause_until;
	struct metric *done, *retried, *dead, *waiting, *letters;
};

/* ---- items ---- */

struct str
work_item_data(const struct work_item *i)
{
	return bus_msg_data(i->msg);
}

struct str
work_item_id(const struct work_item *i)
{
	struct str id = bus_msg_header(i->msg, DEAD_LETTER_ID);

	return id.p != NULL ? id : bus_msg_id(i->msg);
}

bool
work_item_repeated(const struct work_item *i)
{
	return i->repeated;
}

const struct trace *
work_item_trace(const struct work_item *i)
{
	return i->traced ? &i->trace : NULL;
}

struct arena *
work_item_arena(const struct work_item *i)
{
	return i->a;
}

void
work_item_set(struct work_item *i, void *what)
{
	i->what = what;
}

void *
work_item_get(const struct work_item *i)
{
	return i->what;
}

void
work_item_set_key(struct work_item *i, struct str key)
{
	i->key = key;
}

static struct work_item *
work_item_new(const struct work_source *from, struct bus_msg *msg)
{
	struct work_item *i = mem_zalloc(sizeof(*i));

	i->w = from->w;
	i->from = from;
	i->msg = msg;
	i->a = arena_new(WIRE_ARENA_MAX);
	i->traced = bus_msg_trace(msg, &i->trace);
	return i;
}

static void
work_item_move(struct work_item *i, struct work_list *list)
{
	struct work *w = i->w;

	if (i->list != NULL)
		TAILQ_REMOVE(i->list, i, link);
	if (i->list == &w->deferred)
		metric_change(w->waiting, -1);
	i->list = list;
	if (list != NULL)
		TAILQ_INSERT_TAIL(list, i, link);
	if (list == &w->deferred)
		metric_change(w->waiting, 1);
}

/* Its message has been acknowledged or returned. */
static void
work_item_free(struct work_item *i)
{
	if (i->w != NULL)
		work_item_move(i, NULL);
	arena_free(i->a);
	free(i);
}

/* If this fails the item is delivered again. */
static void
work_item_ack(struct work_item *i)
{
	(void)!bus_ack(i->msg);
	work_item_free(i);
}

/* The server ignores its back-off after a nak without a delay. */
static void
work_item_retry(struct work_item *i)
{
	struct bus_delivery j = { .delivered = 1 };
	struct backoff b = { RETRY_MIN_MS, RETRY_MAX_MS, 0 };

	if (bus_msg_delivery(i->msg, &j) && j.delivered > 0)
		b.tries = (unsigned)(j.delivered > 32 ? 32 : j.delivered - 1);
	metric_add(i->w->retried, 1);
	(void)!bus_nak(i->msg, backoff_next_ms(&b));
	work_item_free(i);
}

/* ---- dead letters ---- */

/* A count cannot be cancelled; w is NULL once it is freed. */
struct work_count {
	struct work *w;
};

static void
work_on_count(void *arg, enum rc rc, const struct bus_stream_result *r)
{
	struct work_count *c = arg;

	if (c->w != NULL) {
		c->w->count = NULL;
		if (rc == RC_OK)
			metric_set(c->w->letters, r->count);
	}
	free(c);
}

/* How many dead letters wait for an operator. */
static void
work_count_letters(void *arg)
{
	struct work *w = arg;
	struct work_count *c;
	struct bus_stream_query q = { .stream = DEAD_LETTER_STREAM,
		.deadline = { clock_wall().ms + COUNT_MS },
		.fn = work_on_count };

	loop_timer_set(w->loop, &w->count_timer,
	    mono_add_ms(clock_mono(), COUNT_EVERY_MS), work_count_letters, w);
	if (w->count != NULL)
		return;
	c = mem_zalloc(sizeof(*c));
	c->w = w;
	q.arg = c;
	if (bus_stream_count(w->bus, &q, w->dead_subject) == RC_OK)
		w->count = c;
	else
		free(c);
}

static void
work_item_on_dead_lettered(
    void *arg, enum rc rc, const struct bus_pub_ack *stored)
{
	struct work_item *i = arg;
	struct work *w = i->w;

	(void)stored;
	if (w == NULL) {
		work_item_free(i);
	} else if (rc != RC_OK) {
		work_item_retry(i);
	} else {
		metric_add(w->dead, 1);
		work_count_letters(w);
		if (w->o.dead != NULL)
			w->o.dead(w->o.arg, i, i->why);
		work_item_ack(i);
	}
}

static void
work_item_dead_letter(struct work_item *i, const char *why)
{
	struct work *w = i->w;
	const struct dead_letter_source from = { .msg = i->msg,
		.stream = i->from->stream,
		.kind = w->o.kind,
		.id = work_item_id(i) };
	enum rc rc;

	work_item_move(i, &w->dead_lettering);
	str_copy(str_of(why), i->why, sizeof(i->why));
	rc = dead_letter_publish(w->bus, &from, i->why,
	    (struct bus_pub_ack_handler){ work_item_on_dead_lettered, i });
	if (rc != RC_OK)
		work_item_on_dead_lettered(i, rc, NULL);
}

/* The item itself fails: retry it, or dead-letter it. */
static void
work_item_failed(struct work_item *i, const char *why)
{
	struct bus_delivery j = { 0 };

	log_warn("work.failed", LOG_S("consumer", i->w->o.consumer),
	    LOG_V("item", work_item_id(i)), LOG_S("why", why));
	if (bus_msg_delivery(i->msg, &j) &&
	    j.delivered >= i->w->o.max_deliveries)
		work_item_dead_letter(i, why);
	else
		work_item_retry(i);
}

/* ---- handling ---- */

static void
work_item_defer(struct work_item *i)
{
	struct work *w = i->w;

	/* Items that are deferred together count as one failure. */
	if (!w->failing || mono_diff_ns(clock_mono(), w->pause_until) >= 0)
		w->pause_until =
		    mono_add_ms(clock_mono(), backoff_next_ms(&w->pause));
	w->failing = true;
	i->repeated = true;
	work_item_move(i, &w->deferred);
}

static void work_start_queued(struct work *w);

void
work_end(struct work_item *i, enum work_outcome outcome, const char *why)
{
	struct work *w = i->w;

	if (w == NULL) {
		work_item_free(i);
		return;
	}
	if (outcome == WORK_DEFERRED) {
		work_item_defer(i);
		work_start_queued(w);
		return;
	}
	w->failing = false;
	backoff_reset(&w->pause);
	if (why == NULL)
		why = "it failed";
	if (outcome == WORK_FAILED) {
		work_item_failed(i, why);
	} else if (outcome == WORK_INVALID) {
		work_item_dead_letter(i, why);
	} else {
		metric_add(w->done, 1);
		work_item_ack(i);
	}
	work_start_queued(w);
}

/* In a fiber of its own. */
static void
work_item_handle(void *arg)
{
	struct work_item *i = arg;

	i->w->o.handle(i->w->o.arg, i);
}

/* Not while one of the same key is being handled. */
static bool
work_item_may_start(const struct work_item *i)
{
	const struct work_item *other;

	if (i->key.p == NULL)
		return true;
	TAILQ_FOREACH (other, &i->w->handled, link)
		if (other->key.p != NULL && str_eq(other->key, i->key))
			return false;
	return true;
}

/* Handle it, after those of its key that came before. */
static void
work_item_start(struct work_item *i)
{
	struct work *w = i->w;
	bool may = work_item_may_start(i);

	work_item_move(i, may ? &w->handled : &w->queued);
	if (may)
		fiber_start(work_item_handle, i);
}

static struct work_item *
work_next(const struct work *w)
{
	struct work_item *i;

	TAILQ_FOREACH (i, &w->queued, link)
		if (work_item_may_start(i))
			break;
	return i;
}

/* An item has ended. */
static void
work_start_queued(struct work *w)
{
	struct work_item *i;

	while (w->failing && (i = TAILQ_FIRST(&w->queued)) != NULL)
		work_item_move(i, &w->deferred);
	while ((i = work_next(w)) != NULL)
		work_item_start(i);
}

static void
work_item_take(struct work_item *i)
{
	char why[WIRE_ERR_TEXT_MAX];
	struct wire_err err = { 0 };
	struct work *w = i->w;

	if (w->o.read(w->o.arg, i, &err) != RC_OK) {
		wire_err_text(&err, why, sizeof(why));
		work_item_dead_letter(i, why);
	} else if (w->failing) {
		work_item_move(i, &w->deferred);
	} else {
		work_item_start(i);
	}
}

static void
work_on_message(void *arg, struct bus_msg *msg)
{
	const struct work_source *from = arg;
	struct work_item *i;
	struct bus_delivery j;

	if (!bus_msg_delivery(msg, &j)) {
		bus_msg_free(msg);
		return;
	}
	i = work_item_new(from, msg);
	log_trace_set(i->traced ? i->trace.trace_id : "");
	/* What became a dead letter may have had its effect, too. */
	i->repeated = j.delivered > 1 ||
	    bus_msg_header(msg, DEAD_LETTER_REPLAYED).p != NULL;
	if (j.delivered > from->w->o.max_deliveries)
		work_item_dead_letter(i,
		    "delivered too often without an outcome; it may crash "
		    "workers");
	else
		work_item_take(i);
	log_trace_set("");
}

/* ---- items in hand ---- */

/* How many deferred items may be tried now. */
static size_t
work_may_try(const struct work *w)
{
	if (w->o.available != NULL && !w->o.available(w->o.arg))
		return 0;
	if (!w->failing)
		return SIZE_MAX;
	return TAILQ_EMPTY(&w->handled) &&
		mono_diff_ns(clock_mono(), w->pause_until) >= 0
	    ? 1
	    : 0;
}

static void
work_extend(const struct work_list *list)
{
	const struct work_item *i;

	TAILQ_FOREACH (i, list, link)
		(void)!bus_ack_progress(i->msg);
}

static void
work_poll(void *arg)
{
	struct work *w = arg;
	struct work_list list = TAILQ_HEAD_INITIALIZER(list);
	size_t n = work_may_try(w);
	struct work_item *i;

	work_extend(&w->handled);
	work_extend(&w->queued);
	TAILQ_FOREACH (i, &w->deferred, link)
		i->list = &list;
	TAILQ_CONCAT(&list, &w->deferred, link);
	metric_set(w->waiting, 0);
	while ((i = TAILQ_FIRST(&list)) != NULL) {
		if (!bus_up(w->bus)) {
			/* NATS delivers it again, to any replica. */
			bus_msg_free(i->msg);
			work_item_free(i);
		} else if (n > 0) {
			n--;
			work_item_start(i);
		} else {
			(void)!bus_ack_progress(i->msg);
			work_item_move(i, &w->deferred);
		}
	}
	loop_timer_set(w->loop, &w->timer,
	    mono_add_ms(clock_mono(), w->poll_ms), work_poll, w);
}

/* ---- start and end ---- */

static void
work_on_ready(void *arg, enum rc rc)
{
	static struct log_rate rate;
	int64_t missed;

	(void)arg;
	if (rc != RC_OK && log_every(&rate, 10, &missed))
		log_warn(
		    "work.no_stream_yet", LOG_RC(rc), LOG_I("missed", missed));
}

static void
work_on_dead_ready(void *arg, enum rc rc)
{
	work_on_ready(arg, rc);
	if (rc == RC_OK)
		work_count_letters(arg);
}

static void
work_on_consumer(void *arg, enum rc rc)
{
	const struct work_source *from = arg;

	work_on_ready(NULL, rc);
	if (rc != RC_CONFLICT)
		return;
	log_error("work.consumer_unusable", LOG_S("stream", from->stream),
	    LOG_S("consumer", from->w->o.consumer),
	    LOG_S("hint",
		"delete the consumer, or run a nats-server that has "
		"filter_subject"));
	svc_end_unusable(from->w->o.svc);
}

static enum rc
work_consume(struct work_source *from, const char *filter)
{
	struct work *w = from->w;
	const struct bus_consumer c = {
		.stream = from->stream,
		.name = w->o.consumer,
		.filter = filter,
		.ack_wait_ms = w->o.ack_wait_ms,
		.max_in_flight = w->o.max_in_flight,
		.fn = work_on_message,
		.ready = work_on_consumer,
		.arg = from,
	};

	return bus_consume(w->bus, &c);
}

static bool
work_manages(const struct work *w, const char *manager)
{
	return strcmp(svc_name(w->o.svc), manager) == 0;
}

static enum rc
work_subscribe(struct work *w)
{
	static const char *const subjects[] = { WIRE_SUBJECT_ALL_JOB };
	const struct bus_stream s = {
		.name = WORK_STREAM,
		.subjects = subjects,
		.n_subjects = NELEM(subjects),
		.max_age_s = JOBS_AGE_S,
		.max_bytes = JOBS_SIZE,
		.duplicates_s = DUPLICATES_S,
		.no_update = !work_manages(w, WIRE_MANAGER_SOUL_JOBS),
		.ready = work_on_ready,
	};
	enum rc rc;

	w->jobs = (struct work_source){ w, WORK_STREAM };
	w->events = (struct work_source){ w, EVENTS_STREAM };
	rc = bus_stream_ensure(w->bus, &s);
	if (rc == RC_OK)
		rc = dead_letter_ensure_stream(w->bus,
		    work_manages(w, WIRE_MANAGER_SOUL_DEAD), work_on_dead_ready,
		    w);
	if (rc == RC_OK)
		rc = work_consume(&w->jobs, w->subject);
	if (rc == RC_OK && w->o.events != NULL)
		rc = work_consume(&w->events, w->o.events);
	return rc;
}

static void
work_count_metrics(struct work *w)
{
	struct metric_set *set = svc_metrics(w->o.svc);
	char labels[128];

	snprintf(labels, sizeof(labels), "consumer=\"%s\"", w->o.consumer);
	w->done = metric_counter(set, "soul_work_done_total",
	    "Items whose effect is stored.", labels);
	w->retried = metric_counter(set, "soul_work_retried_total",
	    "Items returned to their stream for a retry.", labels);
	w->dead = metric_counter(set, "soul_work_dead_total",
	    "Items that became dead letters.", labels);
	w->waiting = metric_gauge(set, "soul_work_waiting",
	    "Items deferred until what they need is available.", labels);
	w->letters = metric_gauge(set, "soul_dead_letters",
	    "Dead letters that wait for an operator.", labels);
}

struct work *
work_new(const struct work_opts *o)
{
	struct work *w = mem_zalloc(sizeof(*w));
	enum rc rc;

	w->o = *o;
	w->bus = svc_bus(o->svc);
	w->loop = svc_loop(o->svc);
	TAILQ_INIT(&w->deferred);
	TAILQ_INIT(&w->queued);
	TAILQ_INIT(&w->handled);
	TAILQ_INIT(&w->dead_lettering);
	w->pause = (struct backoff){ PAUSE_MIN_MS, PAUSE_MAX_MS, 0 };
	w->poll_ms =
	    o->ack_wait_ms / 3 < POLL_MS ? o->ack_wait_ms / 3 : POLL_MS;
	snprintf(w->subject, sizeof(w->subject), WIRE_SUBJECT_FMT_JOB, o->kind);
	snprintf(w->dead_subject, sizeof(w->dead_subject),
	    DEAD_LETTER_SUBJECT_FMT, o->kind);
	work_count_metrics(w);
	rc = work_subscribe(w);
	if (rc != RC_OK) {
		log_error("work.no_stream", LOG_S("consumer", o->consumer),
		    LOG_RC(rc));
		work_free(w);
		return NULL;
	}
	loop_timer_set(w->loop, &w->timer,
	    mono_add_ms(clock_mono(), w->poll_ms), work_poll, w);
	return w;
}

static void
work_return(struct work_list *list)
{
	struct work_item *i;

	while ((i = TAILQ_FIRST(list)) != NULL) {
		(void)!bus_nak(i->msg, 0);
		work_item_free(i);
	}
}

static void
work_orphan(struct work_list *list)
{
	struct work_item *i;

	while ((i = TAILQ_FIRST(list)) != NULL) {
		TAILQ_REMOVE(list, i, link);
		bus_msg_free(i->msg);
		i->w = NULL;
	}
}

void
work_free(struct work *w)
{
	if (w == NULL)
		return;
	loop_timer_cancel(w->loop, &w->timer);
	loop_timer_cancel(w->loop, &w->count_timer);
	if (w->count != NULL)
		w->count->w = NULL;
	work_return(&w->queued);
	work_return(&w->deferred);
	/* Their ends are still to come. */
	work_orphan(&w->handled);
	work_orphan(&w->dead_lettering);
	free(w);
}
