/*
 * Store, or park, or try again, or bury.
 */
#include "on_job.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/queue.h>

#include "bus/jetstream.h"
#include "core/log.h"
#include "core/loop.h"
#include "core/mem.h"
#include "core/metric.h"
#include "core/rate.h"
#include "grave.h"
#include "keeper.h"
#include "letter.h"
#include "settle.h"
#include "state/soul.h"
#include "state/state.h"
#include "store.h"
#include "svc/event.h"
#include "wire/subjects.h"

#define CONSUMER      "memory-worker"
#define JOBS_S        (7 * 24L * 3600)
#define JOBS_SIZE     (256L * 1024 * 1024)
#define DUPLICATES_S  600 /* ids; the memory's id does it for ever */
#define IN_FLIGHT_MAX 64  /* jobs that all workers together have in hand */
#define RETRY_MIN_MS  1000
#define RETRY_MAX_MS  60000
#define PARK_MS       1000
/* Between tries of a store that fails; the longest wait for one. */
#define REST_MIN_MS 200
#define REST_MAX_MS 30000
#define STORE_MS    60000

TAILQ_HEAD(held_list, held);

/* A job in hand. */
struct held {
	TAILQ_ENTRY(held) link;
	struct jobs *o; /* NULL: they are gone, and so is msg */
	struct held_list *list;
	struct bus_msg *msg;
	struct arena *a; /* of what follows */
	struct wire_memory_job job;
	struct store_put put;
	struct trace trace;
};

struct jobs {
	struct keeper *k;
	/* They wait for the store; it has them; they wait for their grave. */
	struct held_list parked, stored_now, buried;
	struct loop_timer timer;
	int64_t park_ms;
	bool failing;        /* the store did, when it was last asked */
	struct backoff rest; /* then one job at a time is tried */
	struct mono rest_until;
	struct metric *stored, *retried, *dead, *waiting;
};

static struct held *
held_new(struct jobs *o, struct bus_msg *msg)
{
	struct held *h = mem_zalloc(sizeof(*h));

	h->o = o;
	h->msg = msg;
	h->a = arena_new(WIRE_ARENA_MAX);
	return h;
}

static void
held_move(struct held *h, struct held_list *list)
{
	struct jobs *o = h->o;

	if (h->list != NULL)
		TAILQ_REMOVE(h->list, h, link);
	if (h->list == &o->parked)
		metric_change(o->waiting, -1);
	h->list = list;
	if (list != NULL)
		TAILQ_INSERT_TAIL(list, h, link);
	if (list == &o->parked)
		metric_change(o->waiting, 1);
}

/* Its message has been seen to. */
static void
held_free(struct held *h)
{
	if (h->o != NULL)
		held_move(h, NULL);
	arena_free(h->a);
	free(h);
}

/* What cannot be said is delivered again. */
static void
done(struct bus_msg *msg)
{
	(void)!bus_ack(msg);
}

static void
again(struct jobs *o, struct bus_msg *msg)
{
	struct bus_delivery j = { .delivered = 1 };
	struct backoff b = { RETRY_MIN_MS, RETRY_MAX_MS, 0 };

	if (bus_msg_delivery(msg, &j) && j.delivered > 0)
		b.tries = (unsigned)(j.delivered > 32 ? 32 : j.delivered - 1);
	metric_add(o->retried, 1);
	(void)!bus_nak(msg, backoff_next_ms(&b));
}

/* ---- the dead --------------------------------------------------------------
 */

static void
on_buried(void *arg, enum rc rc, const struct bus_pub_ack *stored)
{
	struct held *h = arg;

	(void)stored;
	if (h->o != NULL && rc == RC_OK) {
		metric_add(h->o->dead, 1);
		done(h->msg);
	} else if (h->o != NULL) {
		again(h->o, h->msg);
	}
	held_free(h);
}

static void
bury(struct held *h, const char *why)
{
	enum rc rc;

	held_move(h, &h->o->buried);
	rc = grave_lay(h->o->k->bus, h->msg, why,
	    (struct bus_pub_ack_handler){ on_buried, h });
	if (rc != RC_OK)
		on_buried(h, rc, NULL);
}

/* By its own fault: again, ever later, or aside if that was its last try. */
static void
failed(struct held *h, enum rc rc)
{
	struct bus_delivery j = { 0 };
	char why[64];

	log_warn("job.failed", LOG_V("memory", h->job.job_id), LOG_RC(rc));
	if (bus_msg_delivery(h->msg, &j) &&
	    j.delivered >= h->o->k->conf->max_deliveries) {
		snprintf(
		    why, sizeof(why), "the store refuses it: %s", rc_name(rc));
		bury(h, why);
	} else {
		again(h->o, h->msg);
		held_free(h);
	}
}

/* ---- the living ------------------------------------------------------------
 */

static void
announce(struct jobs *o, const struct bus_msg *msg,
    const struct wire_memory_job *job)
{
	const struct wire_memory_stored stored = {
		.memory_id = job->job_id,
		.user_id = job->user_id,
		.soul_id = job->soul_id,
		.session_id = job->session_id,
		.type = job->type,
		.backend = str_of(store_name(o->k->store)),
	};
	struct trace trace;
	struct svc_event e = {
		.type = WIRE_EVENT_MEMORY_STORED,
		.key = job->soul_id,
		.desc = &wire_memory_stored_desc,
		.payload = &stored,
		.id = job->job_id,
	};
	enum rc rc;

	if (bus_msg_trace(msg, &trace))
		e.trace = &trace;
	rc = svc_event_send(o->k->svc, &e);
	if (rc != RC_OK)
		log_warn(
		    "job.event_lost", LOG_V("memory", job->job_id), LOG_RC(rc));
}

/* RC_NOENT: the soul is gone, or another's, and nothing is to be stored. */
static enum rc
has_soul(struct held *h)
{
	struct soul soul;
	enum rc rc;

	rc = soul_read(h->o->k->state, h->job.soul_id, h->a, &soul);
	if (rc == RC_OK && !str_eq(soul.user_id, h->job.user_id))
		rc = RC_NOENT;
	return rc;
}

/* It is no fault of the job's. */
static void
park(struct held *h)
{
	struct jobs *o = h->o;

	/* Those that failed together are one failure. */
	if (!o->failing || mono_diff_ns(clock_mono(), o->rest_until) >= 0)
		o->rest_until =
		    mono_add_ms(clock_mono(), backoff_next_ms(&o->rest));
	o->failing = true;
	h->put.again = true;
	held_move(h, &o->parked);
}

static void
on_stored(void *arg, enum rc rc, const struct store_answer *a)
{
	struct held *h = arg;
	struct jobs *o = h->o;

	(void)a;
	if (o == NULL) {
		held_free(h);
		return;
	}
	switch (rc) {
	case RC_DOWN:
	case RC_TIMEOUT:
	case RC_RETRY:
	case RC_DENIED:
		park(h);
		return;
	case RC_OK:
		metric_add(o->stored, 1);
		announce(o, h->msg, &h->job);
		done(h->msg);
		break;
	case RC_NOENT:
	case RC_CONFLICT:
		log_info("job.dropped", LOG_V("memory", h->job.job_id),
		    LOG_S("why", rc == RC_NOENT ? "no soul" : "forgotten"));
		done(h->msg);
		break;
	default:
		o->failing = false;
		backoff_reset(&o->rest);
		failed(h, rc);
		return;
	}
	o->failing = false;
	backoff_reset(&o->rest);
	held_free(h);
}

static void
work(struct held *h)
{
	struct jobs *o = h->o;
	const struct store_ask ask = {
		.scope = { h->job.user_id, h->job.soul_id },
		.deadline = { clock_wall().ms + STORE_MS },
		.trace = bus_msg_trace(h->msg, &h->trace) ? &h->trace : NULL,
		.fn = on_stored,
		.arg = h,
	};
	enum rc rc;

	held_move(h, &o->stored_now);
	rc = has_soul(h);
	if (rc != RC_OK)
		on_stored(h, rc, NULL);
	else
		settle(o->k->store, &ask, &h->put);
}

static void
take(struct held *h)
{
	char why[WIRE_ERR_TEXT_MAX];
	struct wire_err err;

	if (record_job_read(bus_msg_data(h->msg), h->a, &h->job, &h->put.made,
		&err) != RC_OK) {
		wire_err_text(&err, why, sizeof(why));
		bury(h, why);
		return;
	}
	h->put.job = &h->job;
	if (h->o->failing)
		held_move(h, &h->o->parked);
	else
		work(h);
}

static void
on_job(void *arg, struct bus_msg *msg)
{
	struct jobs *o = arg;
	struct held *h;
	struct bus_delivery j;
	struct trace trace;

	if (!bus_msg_delivery(msg, &j)) {
		bus_msg_free(msg);
		return;
	}
	log_trace_set(bus_msg_trace(msg, &trace) ? trace.trace_id : "");
	h = held_new(o, msg);
	/* Put aside, it may have been stored by then. */
	h->put.again =
	    j.delivered > 1 || bus_msg_header(msg, LETTER_REPLAYED).p != NULL;
	if (j.delivered > o->k->conf->max_deliveries)
		bury(h,
		    "tried too often without an end: who tries may die of it");
	else
		take(h);
	log_trace_set("");
}

/* ---- those that wait for the store ------------------------------------------
 */

/* How many of the parked may be tried now. */
static size_t
may_try(const struct jobs *o)
{
	if (!store_up(o->k->store) || !state_up(o->k->state))
		return 0;
	if (!o->failing)
		return SIZE_MAX;
	return TAILQ_EMPTY(&o->stored_now) &&
		mono_diff_ns(clock_mono(), o->rest_until) >= 0
	    ? 1
	    : 0;
}

static void
look(void *arg)
{
	struct jobs *o = arg;
	struct held_list list = TAILQ_HEAD_INITIALIZER(list);
	size_t n = may_try(o);
	struct held *h;

	TAILQ_FOREACH (h, &o->stored_now, link)
		(void)!bus_ack_progress(h->msg);
	TAILQ_FOREACH (h, &o->parked, link)
		h->list = &list;
	TAILQ_CONCAT(&list, &o->parked, link);
	metric_set(o->waiting, 0);
	while ((h = TAILQ_FIRST(&list)) != NULL) {
		if (!bus_up(o->k->bus)) {
			/* The server delivers it again, to anybody. */
			bus_msg_free(h->msg);
			held_free(h);
		} else if (n > 0) {
			n--;
			work(h);
		} else {
			(void)!bus_ack_progress(h->msg);
			held_move(h, &o->parked);
		}
	}
	loop_timer_set(svc_loop(o->k->svc), &o->timer,
	    mono_add_ms(clock_mono(), o->park_ms), look, o);
}

/* ---- start and end ----------------------------------------------------------
 */

static void
on_wish(void *arg, enum rc rc)
{
	static struct log_rate rate;
	int64_t missed;

	(void)arg;
	if (rc != RC_OK && log_every(&rate, 10, &missed))
		log_warn(
		    "job.no_stream_yet", LOG_RC(rc), LOG_I("missed", missed));
}

static enum rc
take_part(struct jobs *o)
{
	static const char *const subjects[] = { WIRE_SUBJECT_ALL_JOB };
	const struct bus_stream s = {
		.name = JOBS,
		.subjects = subjects,
		.n_subjects = NELEM(subjects),
		.max_age_s = JOBS_S,
		.max_bytes = JOBS_SIZE,
		.duplicates_s = DUPLICATES_S,
		.ready = on_wish,
	};
	const struct bus_consumer c = {
		.stream = JOBS,
		.name = CONSUMER,
		.filter = JOBS_SUBJECT,
		.ack_wait_ms = (int64_t)fmax(o->k->conf->ack_wait_s * 1e3, 100),
		.max_in_flight = IN_FLIGHT_MAX,
		.fn = on_job,
		.ready = on_wish,
		.arg = o,
	};
	enum rc rc;

	o->park_ms = c.ack_wait_ms / 3 < PARK_MS ? c.ack_wait_ms / 3 : PARK_MS;
	rc = bus_stream_ensure(o->k->bus, &s);
	if (rc == RC_OK)
		rc = grave_keep(o->k->bus, on_wish);
	if (rc == RC_OK)
		rc = bus_consume(o->k->bus, &c);
	return rc;
}

struct jobs *
jobs_new(struct keeper *k)
{
	struct metric_set *set = svc_metrics(k->svc);
	struct jobs *o = mem_zalloc(sizeof(*o));
	enum rc rc;

	o->k = k;
	TAILQ_INIT(&o->parked);
	TAILQ_INIT(&o->stored_now);
	TAILQ_INIT(&o->buried);
	o->rest = (struct backoff){ REST_MIN_MS, REST_MAX_MS, 0 };
	o->stored = metric_counter(set, "soul_memory_jobs_stored_total",
	    "Jobs whose memory is stored.", NULL);
	o->retried = metric_counter(set, "soul_memory_jobs_retried_total",
	    "Jobs that were given back to be tried again.", NULL);
	o->dead = metric_counter(set, "soul_memory_jobs_dead_total",
	    "Jobs that were put aside.", NULL);
	o->waiting = metric_gauge(set, "soul_memory_jobs_waiting",
	    "Jobs in hand that wait for the store.", NULL);
	rc = take_part(o);
	if (rc != RC_OK) {
		log_error("job.no_stream", LOG_RC(rc));
		jobs_free(o);
		return NULL;
	}
	loop_timer_set(svc_loop(k->svc), &o->timer,
	    mono_add_ms(clock_mono(), o->park_ms), look, o);
	return o;
}

static void
forsake(struct held_list *list)
{
	struct held *h;

	while ((h = TAILQ_FIRST(list)) != NULL) {
		TAILQ_REMOVE(list, h, link);
		bus_msg_free(h->msg);
		h->o = NULL;
	}
}

void
jobs_free(struct jobs *o)
{
	struct held *h;

	if (o == NULL)
		return;
	loop_timer_cancel(svc_loop(o->k->svc), &o->timer);
	while ((h = TAILQ_FIRST(&o->parked)) != NULL) {
		(void)!bus_nak(h->msg, 0);
		held_free(h);
	}
	/* Their answers come yet. */
	forsake(&o->stored_now);
	forsake(&o->buried);
	free(o);
}
