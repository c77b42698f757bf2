/*
 * Store, or park, or try again, or bury.
 */
#include "on_job.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/queue.h>

#include "builtin.h"
#include "bus/stream.h"
#include "core/backoff.h"
#include "core/log.h"
#include "core/loop.h"
#include "core/mem.h"
#include "core/metric.h"
#include "keeper.h"
#include "state/soul.h"
#include "state/state.h"
#include "svc/event.h"
#include "wire/subjects.h"

#define JOBS      "SOUL_JOBS"
#define DEAD      "SOUL_DEAD"
#define CONSUMER  "memory-worker"
#define DAY_S     (24L * 3600)
#define JOBS_S    (7 * DAY_S)
#define DEAD_S    (30 * DAY_S)
#define JOBS_SIZE (256L * 1024 * 1024)
#define DEAD_SIZE (64L * 1024 * 1024)
/* How long ids are remembered; the memory's id does it for ever. */
#define DUPLICATES_S 600
/* Jobs that all workers together have in hand. */
#define IN_FLIGHT_MAX 64
#define RETRY_MIN_MS  1000
#define RETRY_MAX_MS  60000
#define BURY_MS       5000
#define PARK_MS       1000

/* A job in hand: it waits for Redis, or for its grave. */
struct held {
	TAILQ_ENTRY(held) link;
	struct jobs *o; /* NULL: they are gone, and so is msg */
	struct bus_msg *msg;
};

TAILQ_HEAD(held_list, held);

struct jobs {
	struct keeper *k;
	struct held_list parked, buried;
	struct loop_timer timer;
	int64_t park_ms;
	struct arena *a;
	struct metric *stored, *retried, *dead, *waiting;
};

static void
hold(struct jobs *o, struct held_list *list, struct bus_msg *msg)
{
	struct held *h = mem_zalloc(sizeof(*h));

	h->o = o;
	h->msg = msg;
	TAILQ_INSERT_TAIL(list, h, link);
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
	struct bus_job j = { .delivered = 1 };
	struct backoff b = { RETRY_MIN_MS, RETRY_MAX_MS, 0 };

	(void)bus_msg_job(msg, &j);
	b.tries = (unsigned)(j.delivered > 32 ? 32 : j.delivered - 1);
	metric_add(o->retried, 1);
	(void)!bus_nak(msg, backoff_next_ms(&b));
}

/* ---- the dead --------------------------------------------------------------
 */

static void
on_buried(void *arg, enum rc rc, const struct bus_stored *stored)
{
	struct held *h = arg;
	struct jobs *o = h->o;

	(void)stored;
	if (o != NULL) {
		TAILQ_REMOVE(&o->buried, h, link);
		if (rc == RC_OK) {
			metric_add(o->dead, 1);
			done(h->msg);
		} else {
			again(o, h->msg);
		}
	}
	free(h);
}

static void
bury(struct jobs *o, struct bus_msg *msg, const char *why)
{
	struct bus_job j = { 0 };
	struct bus_meta meta = { .deadline = { clock_wall().ms + BURY_MS } };
	struct trace trace;
	char id[64];
	enum rc rc;

	(void)bus_msg_job(msg, &j);
	snprintf(id, sizeof(id), JOBS ".%lld", (long long)j.seq);
	meta.msg_id = id;
	if (bus_msg_trace(msg, &trace))
		meta.trace = &trace;
	log_error("job.dead", LOG_I("seq", j.seq),
	    LOG_V("job", bus_msg_id(msg)), LOG_I("delivered", j.delivered),
	    LOG_S("why", why));
	hold(o, &o->buried, msg);
	rc = bus_stream_publish(o->k->bus, DEAD_SUBJECT, bus_msg_data(msg),
	    &meta,
	    (struct bus_stored_waiter){
		on_buried, TAILQ_LAST(&o->buried, held_list) });
	if (rc != RC_OK)
		on_buried(TAILQ_LAST(&o->buried, held_list), rc, NULL);
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
		.backend = STR(BUILTIN_NAME),
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
store(struct jobs *o, const struct wire_memory_job *job, struct wall made)
{
	struct soul soul;
	enum rc rc;

	rc = soul_read(o->k->state, job->soul_id, o->a, &soul);
	if (rc == RC_OK && !str_eq(soul.user_id, job->user_id))
		rc = RC_NOENT;
	if (rc == RC_OK)
		rc = builtin_put(o->k->store, job, made);
	return rc;
}

static void
work(struct jobs *o, struct bus_msg *msg)
{
	struct wire_memory_job job;
	char why[WIRE_ERR_TEXT_MAX];
	struct wire_err err;
	struct wall made;
	enum rc rc;

	arena_reset(o->a);
	if (record_job_read(bus_msg_data(msg), o->a, &job, &made, &err) !=
	    RC_OK) {
		wire_err_text(&err, why, sizeof(why));
		bury(o, msg, why);
		return;
	}
	rc = store(o, &job, made);
	switch (rc) {
	case RC_OK:
		metric_add(o->stored, 1);
		announce(o, msg, &job);
		done(msg);
		break;
	case RC_NOENT:
	case RC_CONFLICT:
		log_info("job.dropped", LOG_V("memory", job.job_id),
		    LOG_S("why",
			rc == RC_NOENT ? "the soul is gone"
				       : "it was forgotten"));
		done(msg);
		break;
	case RC_DOWN:
	case RC_TIMEOUT:
	case RC_AGAIN:
	case RC_DENIED:
		hold(o, &o->parked, msg);
		metric_change(o->waiting, 1);
		break;
	default:
		log_warn("job.failed", LOG_V("memory", job.job_id), LOG_RC(rc));
		again(o, msg);
	}
}

static void
on_job(void *arg, struct bus_msg *msg)
{
	struct jobs *o = arg;
	struct bus_job j;
	struct trace trace;

	if (!bus_msg_job(msg, &j)) {
		bus_msg_free(msg);
		return;
	}
	log_trace_set(bus_msg_trace(msg, &trace) ? trace.trace_id : "");
	if (j.delivered > o->k->conf->max_deliveries)
		bury(o, msg, "too many deliveries");
	else
		work(o, msg);
	log_trace_set("");
}

/* ---- those that wait for Redis ----------------------------------------------
 */

static void
look(void *arg)
{
	struct jobs *o = arg;
	struct held_list list = TAILQ_HEAD_INITIALIZER(list);
	struct held *h;

	TAILQ_CONCAT(&list, &o->parked, link);
	metric_set(o->waiting, 0);
	while ((h = TAILQ_FIRST(&list)) != NULL) {
		TAILQ_REMOVE(&list, h, link);
		if (!bus_up(o->k->bus)) {
			/* The server delivers it again, to anybody. */
			bus_msg_free(h->msg);
		} else if (state_up(o->k->state)) {
			work(o, h->msg);
		} else {
			(void)!bus_working(h->msg);
			hold(o, &o->parked, h->msg);
			metric_change(o->waiting, 1);
		}
		free(h);
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
keep(struct keeper *k, const char *name, const char *const *subject,
    int64_t max_age_s, int64_t max_bytes)
{
	const struct bus_stream s = {
		.name = name,
		.subjects = subject,
		.n_subjects = 1,
		.max_age_s = max_age_s,
		.max_bytes = max_bytes,
		.duplicates_s = DUPLICATES_S,
		.ready = on_wish,
	};

	return bus_stream_keep(k->bus, &s);
}

static enum rc
take_part(struct jobs *o)
{
	static const char *const subjects[] = { WIRE_SUBJECT_ALL_JOB,
		WIRE_SUBJECT_ALL_JOB_DEAD };
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
	rc = keep(o->k, JOBS, &subjects[0], JOBS_S, JOBS_SIZE);
	if (rc == RC_OK)
		rc = keep(o->k, DEAD, &subjects[1], DEAD_S, DEAD_SIZE);
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
	TAILQ_INIT(&o->buried);
	o->a = arena_new(WIRE_ARENA_MAX);
	o->stored = metric_counter(set, "soul_memory_jobs_stored_total",
	    "Jobs whose memory is stored.", NULL);
	o->retried = metric_counter(set, "soul_memory_jobs_retried_total",
	    "Jobs that were given back to be tried again.", NULL);
	o->dead = metric_counter(set, "soul_memory_jobs_dead_total",
	    "Jobs that were put aside.", NULL);
	o->waiting = metric_gauge(set, "soul_memory_jobs_waiting",
	    "Jobs in hand that wait for Redis.", NULL);
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

void
jobs_free(struct jobs *o)
{
	struct held *h;

	if (o == NULL)
		return;
	loop_timer_cancel(svc_loop(o->k->svc), &o->timer);
	while ((h = TAILQ_FIRST(&o->parked)) != NULL) {
		TAILQ_REMOVE(&o->parked, h, link);
		(void)!bus_nak(h->msg, 0);
		free(h);
	}
	/* Their answers come yet. */
	while ((h = TAILQ_FIRST(&o->buried)) != NULL) {
		TAILQ_REMOVE(&o->buried, h, link);
		bus_msg_free(h->msg);
		h->o = NULL;
	}
	arena_free(o->a);
	free(o);
}
