/*
 * Consumes memory jobs: deduplicates and stores a memory, defers it, retries
 * it, or dead-letters its job.
 */
#include "memory_worker.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/queue.h>

#include "bus/jetstream.h"
#include "core/buf.h"
#include "core/fiber.h"
#include "core/log.h"
#include "core/loop.h"
#include "core/mem.h"
#include "core/metric.h"
#include "core/rate.h"
#include "jobs/dead_letter.h"
#include "search/tokenizer.h"
#include "state/soul.h"
#include "state/state.h"
#include "store/memory_record.h"
#include "store/memory_store.h"
#include "svc/event.h"
#include "wire/subjects.h"

/* Most similar memories that are checked for duplicates. */
#define NEAR_MAX 5

/* Search for equal memories, put, then supersede one by one. */
struct dedupe {
	struct store *s;
	struct store_request req; /* the caller's */
	struct store_put put;
	struct rank_query query;
	struct arena *a;
	struct wire_memory_job job; /* the put's, with duplicates */
	size_t at;                  /* the next to supersede */
};

static void
dedupe_end(struct dedupe *g, enum rc rc)
{
	struct store_request req = g->req;

	arena_free(g->a);
	free(g);
	req.fn(req.arg, rc, &(struct store_result){ 0 });
}

static struct store_request
dedupe_request(struct dedupe *g, store_fn fn)
{
	struct store_request req = g->req;

	req.fn = fn;
	req.arg = g;
	return req;
}

static void dedupe_supersede_next(struct dedupe *g);

static void
dedupe_on_superseded(void *arg, enum rc rc, const struct store_result *a)
{
	struct dedupe *g = arg;

	(void)a;
	/* RC_NOENT, RC_CONFLICT: it has been removed already. */
	if (rc != RC_OK && rc != RC_NOENT && rc != RC_CONFLICT) {
		dedupe_end(g, rc);
		return;
	}
	g->at++;
	dedupe_supersede_next(g);
}

static void
dedupe_supersede_next(struct dedupe *g)
{
	const struct wire_memory_job *job = &g->job;
	struct buf json = BUF_INIT(MEMORY_JSON_MAX);
	struct store_request own = dedupe_request(g, dedupe_on_superseded);
	struct memory_superseded old = { .made = { 0 }, .until = g->put.made };
	enum rc rc;

	if (g->at == job->n_supersedes) {
		dedupe_end(g, RC_OK);
		return;
	}
	old.id = job->supersedes[g->at].memory_id;
	if (wall_parse(job->supersedes[g->at].created_at, &old.made) != RC_OK ||
	    old.made.ms < 0)
		old.made = g->put.made;
	rc = memory_record_write_superseded(job, g->at, &json);
	old.json = buf_str(&json);
	if (rc == RC_OK && !str_eq(old.id, job->job_id))
		store_supersede(g->s, &own, &old);
	else
		dedupe_on_superseded(g, rc, NULL);
	buf_free(&json);
}

static void
dedupe_on_put(void *arg, enum rc rc, const struct store_result *a)
{
	struct dedupe *g = arg;

	(void)a;
	if (rc == RC_OK)
		dedupe_supersede_next(g);
	else
		dedupe_end(g, rc);
}

/* A duplicate that is older is superseded like those the job names. */
static enum rc
dedupe_add_superseded(struct dedupe *g, const struct rank_memory *m)
{
	struct wire_memory_job_supersedes *list;
	char made[WALL_FORMAT_MAX];
	size_t n = g->job.n_supersedes;

	list = arena_alloc(g->a, (n + 1) * sizeof(*list));
	if (list == NULL)
		return RC_TOOBIG;
	if (n > 0)
		memcpy(list, g->job.supersedes, n * sizeof(*list));
	wall_format(m->created, 0, made);
	list[n] = (struct wire_memory_job_supersedes){
		.memory_id = arena_str(g->a, m->id),
		.text = arena_str(g->a, m->text),
		.type = m->type,
		.created_at = arena_str(g->a, str_of(made)),
	};
	g->job.supersedes = list;
	g->job.n_supersedes = n + 1;
	return RC_OK;
}

static void
dedupe_on_similar(void *arg, enum rc rc, const struct store_result *a)
{
	struct dedupe *g = arg;
	struct store_request own = dedupe_request(g, dedupe_on_put);
	bool known = false;
	size_t i;

	for (i = 0; i < a->n && rc == RC_OK; i++) {
		const struct rank_memory *m = a->hit[i].memory;

		if (str_eq(m->id, g->job.job_id) ||
		    !similarity_equal(m->text, g->job.text))
			continue;
		/* Without a time it may be this very memory. */
		if (m->created.ms == 0 || m->created.ms >= g->put.made.ms)
			known = true;
		else
			rc = dedupe_add_superseded(g, m);
	}
	if (rc != RC_OK) {
		dedupe_end(g, rc);
	} else if (known) {
		log_info("job.duplicate", LOG_V("memory", g->job.job_id));
		dedupe_on_put(g, RC_OK, NULL);
	} else {
		store_put(g->s, &own, &g->put);
	}
}

/*
 * Store a job's memory, unless an equal one exists that is not older, and
 * supersede those it replaces: older equal ones, and those the job names.  Can
 * be repeated from any point.  As store_put(); RC_OK too for a duplicate.
 */
static void
dedupe_put(struct store *s, const struct store_request *req,
    const struct store_put *put)
{
	struct dedupe *g = mem_zalloc(sizeof(*g));
	struct store_request own;

	g->s = s;
	g->req = *req;
	g->put = *put;
	g->job = *put->job;
	g->a = arena_new(WIRE_ARENA_MAX);
	g->query = (struct rank_query){
		.text = put->job->text, .now = put->made, .k = NEAR_MAX
	};
	own = dedupe_request(g, dedupe_on_similar);
	store_search(s, &own, &g->query);
}

/* ---- jobs in progress ---- */

#define CONSUMER      "memory-worker"
#define JOBS_AGE_S    (7 * 24L * 3600)
#define JOBS_SIZE     (256L * 1024 * 1024)
#define DUPLICATES_S  600 /* message ids */
#define IN_FLIGHT_MAX 64  /* jobs in progress in all workers together */
#define RETRY_MIN_MS  1000
#define RETRY_MAX_MS  60000
#define POLL_MS       1000
/* Pause between attempts while the store fails; deadline of an attempt. */
#define PAUSE_MIN_MS 200
#define PAUSE_MAX_MS 30000
#define STORE_MS     60000

TAILQ_HEAD(job_list, job);

/* A job in progress. */
struct job {
	TAILQ_ENTRY(job) link;
	struct memory_jobs *o; /* NULL: freed, and msg with it */
	struct job_list *list;
	struct bus_msg *msg;
	struct arena *a; /* of the members below */
	struct wire_memory_job job;
	struct store_put put;
	struct trace trace;
};

struct memory_jobs {
	struct memory_worker *w;
	/*
	 * Waiting for the store; waiting for another job of the same scope;
	 * being stored; being dead-lettered.
	 */
	struct job_list deferred, queued, storing, dead_lettering;
	struct loop_timer timer;
	int64_t poll_ms;
	bool failing;         /* the last attempt failed */
	struct backoff pause; /* while failing one job at a time is tried */
	struct mono pause_until;
	struct metric *stored, *retried, *dead, *waiting;
};

static struct job *
job_new(struct memory_jobs *o, struct bus_msg *msg)
{
	struct job *h = mem_zalloc(sizeof(*h));

	h->o = o;
	h->msg = msg;
	h->a = arena_new(WIRE_ARENA_MAX);
	return h;
}

static void
job_move(struct job *h, struct job_list *list)
{
	struct memory_jobs *o = h->o;

	if (h->list != NULL)
		TAILQ_REMOVE(h->list, h, link);
	if (h->list == &o->deferred)
		metric_change(o->waiting, -1);
	h->list = list;
	if (list != NULL)
		TAILQ_INSERT_TAIL(list, h, link);
	if (list == &o->deferred)
		metric_change(o->waiting, 1);
}

/* Its message has been acknowledged or returned. */
static void
job_free(struct job *h)
{
	if (h->o != NULL)
		job_move(h, NULL);
	arena_free(h->a);
	free(h);
}

/* If this fails the job is delivered again. */
static void
job_ack(struct bus_msg *msg)
{
	(void)!bus_ack(msg);
}

static void
job_retry(struct memory_jobs *o, struct bus_msg *msg)
{
	struct bus_delivery j = { .delivered = 1 };
	struct backoff b = { RETRY_MIN_MS, RETRY_MAX_MS, 0 };

	if (bus_msg_delivery(msg, &j) && j.delivered > 0)
		b.tries = (unsigned)(j.delivered > 32 ? 32 : j.delivered - 1);
	metric_add(o->retried, 1);
	(void)!bus_nak(msg, backoff_next_ms(&b));
}

/* ---- dead letters ---- */

static void
job_on_dead_lettered(void *arg, enum rc rc, const struct bus_pub_ack *stored)
{
	struct job *h = arg;

	(void)stored;
	if (h->o != NULL && rc == RC_OK) {
		metric_add(h->o->dead, 1);
		job_ack(h->msg);
	} else if (h->o != NULL) {
		job_retry(h->o, h->msg);
	}
	job_free(h);
}

static void
job_dead_letter(struct job *h, const char *why)
{
	enum rc rc;

	job_move(h, &h->o->dead_lettering);
	rc = dead_letter_publish(h->o->w->bus, h->msg, why,
	    (struct bus_pub_ack_handler){ job_on_dead_lettered, h });
	if (rc != RC_OK)
		job_on_dead_lettered(h, rc, NULL);
}

/* The job itself is at fault: retry with back-off, or dead-letter it. */
static void
job_failed(struct job *h, enum rc rc)
{
	struct bus_delivery j = { 0 };
	char why[64];

	log_warn("job.failed", LOG_V("memory", h->job.job_id), LOG_RC(rc));
	if (bus_msg_delivery(h->msg, &j) &&
	    j.delivered >= h->o->w->conf->max_deliveries) {
		snprintf(
		    why, sizeof(why), "the store rejected it: %s", rc_name(rc));
		job_dead_letter(h, why);
	} else {
		job_retry(h->o, h->msg);
		job_free(h);
	}
}

/* ---- storing ---- */

static void
job_emit_stored(struct memory_jobs *o, const struct bus_msg *msg,
    const struct wire_memory_job *job)
{
	const struct wire_memory_stored stored = {
		.memory_id = job->job_id,
		.user_id = job->user_id,
		.soul_id = job->soul_id,
		.session_id = job->session_id,
		.type = job->type,
		.backend = str_of(store_name(o->w->store)),
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
	rc = svc_event_send(o->w->svc, &e);
	if (rc != RC_OK)
		log_warn(
		    "job.event_lost", LOG_V("memory", job->job_id), LOG_RC(rc));
}

/* RC_NOENT: the soul was deleted or is another user's; nothing is stored. */
static enum rc
job_check_soul(struct job *h)
{
	struct soul soul;

	return soul_read(
	    h->o->w->state, h->job.user_id, h->job.soul_id, h->a, &soul);
}

/* The store is at fault: try again later. */
static void
job_defer(struct job *h)
{
	struct memory_jobs *o = h->o;

	/* Jobs that fail together count as one failure. */
	if (!o->failing || mono_diff_ns(clock_mono(), o->pause_until) >= 0)
		o->pause_until =
		    mono_add_ms(clock_mono(), backoff_next_ms(&o->pause));
	o->failing = true;
	h->put.redelivered = true;
	job_move(h, &o->deferred);
}

static void
job_end(struct job *h, enum rc rc)
{
	struct memory_jobs *o = h->o;

	switch (rc) {
	case RC_DOWN:
	case RC_TIMEOUT:
	case RC_RETRY:
	case RC_DENIED:
	case RC_UNREPLICATED:
		job_defer(h);
		return;
	case RC_OK:
		metric_add(o->stored, 1);
		job_emit_stored(o, h->msg, &h->job);
		job_ack(h->msg);
		break;
	case RC_NOENT:
	case RC_CONFLICT:
		log_info("job.dropped", LOG_V("memory", h->job.job_id),
		    LOG_S("why", rc == RC_NOENT ? "no soul" : "forgotten"));
		job_ack(h->msg);
		break;
	default:
		o->failing = false;
		backoff_reset(&o->pause);
		job_failed(h, rc);
		return;
	}
	o->failing = false;
	backoff_reset(&o->pause);
	job_free(h);
}

static void jobs_start_queued(struct memory_jobs *o);

static void
job_on_stored(void *arg, enum rc rc, const struct store_result *a)
{
	struct job *h = arg;
	struct memory_jobs *o = h->o;

	(void)a;
	if (o == NULL) {
		job_free(h);
		return;
	}
	job_end(h, rc);
	jobs_start_queued(o);
}

/* In a fiber of its own. */
static void
job_store(void *arg)
{
	struct job *h = arg;
	struct memory_jobs *o = h->o;
	const struct store_request req = {
		.scope = { h->job.user_id, h->job.soul_id },
		.deadline = { clock_wall().ms + STORE_MS },
		.trace = bus_msg_trace(h->msg, &h->trace) ? &h->trace : NULL,
		.fn = job_on_stored,
		.arg = h,
	};
	enum rc rc;

	rc = job_check_soul(h);
	if (rc != RC_OK)
		job_on_stored(h, rc, NULL);
	else
		dedupe_put(o->w->store, &req, &h->put);
}

static bool
job_has_scope(const struct job *h, const struct job *as)
{
	return str_eq(h->job.user_id, as->job.user_id) &&
	    str_eq(h->job.soul_id, as->job.soul_id);
}

/* Two jobs of one scope at a time would not see each other's duplicates. */
static bool
job_may_start(const struct job *h)
{
	const struct job *other;

	TAILQ_FOREACH (other, &h->o->storing, link)
		if (job_has_scope(other, h))
			return false;
	return true;
}

/* Store it, after those of its scope that came before. */
static void
job_start(struct job *h)
{
	struct memory_jobs *o = h->o;
	bool may = job_may_start(h);

	job_move(h, may ? &o->storing : &o->queued);
	if (may)
		fiber_start(job_store, h);
}

static struct job *
jobs_next(const struct memory_jobs *o)
{
	struct job *h;

	TAILQ_FOREACH (h, &o->queued, link)
		if (job_may_start(h))
			break;
	return h;
}

/* A job has ended. */
static void
jobs_start_queued(struct memory_jobs *o)
{
	struct job *h;

	while (o->failing && (h = TAILQ_FIRST(&o->queued)) != NULL)
		job_move(h, &o->deferred);
	while ((h = jobs_next(o)) != NULL)
		job_start(h);
}

static void
job_take(struct job *h)
{
	char why[WIRE_ERR_TEXT_MAX];
	struct wire_err err;

	if (memory_job_read(bus_msg_data(h->msg), h->a, &h->job, &h->put.made,
		&err) != RC_OK) {
		wire_err_text(&err, why, sizeof(why));
		job_dead_letter(h, why);
		return;
	}
	h->put.job = &h->job;
	if (h->o->failing)
		job_move(h, &h->o->deferred);
	else
		job_start(h);
}

static void
job_on_message(void *arg, struct bus_msg *msg)
{
	struct memory_jobs *o = arg;
	struct job *h;
	struct bus_delivery j;
	struct trace trace;

	if (!bus_msg_delivery(msg, &j)) {
		bus_msg_free(msg);
		return;
	}
	log_trace_set(bus_msg_trace(msg, &trace) ? trace.trace_id : "");
	h = job_new(o, msg);
	/* A dead-lettered job may have been stored, too. */
	h->put.redelivered = j.delivered > 1 ||
	    bus_msg_header(msg, DEAD_LETTER_REPLAYED).p != NULL;
	if (j.delivered > o->w->conf->max_deliveries)
		job_dead_letter(h,
		    "delivered too often without an outcome; it may crash "
		    "workers");
	else
		job_take(h);
	log_trace_set("");
}

/* ---- deferred jobs ---- */

/* How many deferred jobs may be tried now. */
static size_t
jobs_may_try(const struct memory_jobs *o)
{
	if (!store_up(o->w->store) || !state_up(o->w->state))
		return 0;
	if (!o->failing)
		return SIZE_MAX;
	return TAILQ_EMPTY(&o->storing) &&
		mono_diff_ns(clock_mono(), o->pause_until) >= 0
	    ? 1
	    : 0;
}

static void
jobs_poll(void *arg)
{
	struct memory_jobs *o = arg;
	struct job_list list = TAILQ_HEAD_INITIALIZER(list);
	size_t n = jobs_may_try(o);
	struct job *h;

	TAILQ_FOREACH (h, &o->storing, link)
		(void)!bus_ack_progress(h->msg);
	TAILQ_FOREACH (h, &o->queued, link)
		(void)!bus_ack_progress(h->msg);
	TAILQ_FOREACH (h, &o->deferred, link)
		h->list = &list;
	TAILQ_CONCAT(&list, &o->deferred, link);
	metric_set(o->waiting, 0);
	while ((h = TAILQ_FIRST(&list)) != NULL) {
		if (!bus_up(o->w->bus)) {
			/* NATS delivers it again, to any worker. */
			bus_msg_free(h->msg);
			job_free(h);
		} else if (n > 0) {
			n--;
			job_start(h);
		} else {
			(void)!bus_ack_progress(h->msg);
			job_move(h, &o->deferred);
		}
	}
	loop_timer_set(svc_loop(o->w->svc), &o->timer,
	    mono_add_ms(clock_mono(), o->poll_ms), jobs_poll, o);
}

/* ---- start and end ---- */

static void
jobs_on_stream_ready(void *arg, enum rc rc)
{
	static struct log_rate rate;
	int64_t missed;

	(void)arg;
	if (rc != RC_OK && log_every(&rate, 10, &missed))
		log_warn(
		    "job.no_stream_yet", LOG_RC(rc), LOG_I("missed", missed));
}

static enum rc
jobs_subscribe(struct memory_jobs *o)
{
	static const char *const subjects[] = { WIRE_SUBJECT_ALL_JOB };
	const struct bus_stream s = {
		.name = JOBS_STREAM,
		.subjects = subjects,
		.n_subjects = NELEM(subjects),
		.max_age_s = JOBS_AGE_S,
		.max_bytes = JOBS_SIZE,
		.duplicates_s = DUPLICATES_S,
		.ready = jobs_on_stream_ready,
	};
	const struct bus_consumer c = {
		.stream = JOBS_STREAM,
		.name = CONSUMER,
		.filter = MEMORY_JOB_SUBJECT,
		.ack_wait_ms = (int64_t)fmax(o->w->conf->ack_wait_s * 1e3, 100),
		.max_in_flight = IN_FLIGHT_MAX,
		.fn = job_on_message,
		.ready = jobs_on_stream_ready,
		.arg = o,
	};
	enum rc rc;

	o->poll_ms = c.ack_wait_ms / 3 < POLL_MS ? c.ack_wait_ms / 3 : POLL_MS;
	rc = bus_stream_ensure(o->w->bus, &s);
	if (rc == RC_OK)
		rc = dead_letter_ensure_stream(o->w->bus, jobs_on_stream_ready);
	if (rc == RC_OK)
		rc = bus_consume(o->w->bus, &c);
	return rc;
}

struct memory_jobs *
memory_jobs_new(struct memory_worker *w)
{
	struct metric_set *set = svc_metrics(w->svc);
	struct memory_jobs *o = mem_zalloc(sizeof(*o));
	enum rc rc;

	o->w = w;
	TAILQ_INIT(&o->deferred);
	TAILQ_INIT(&o->queued);
	TAILQ_INIT(&o->storing);
	TAILQ_INIT(&o->dead_lettering);
	o->pause = (struct backoff){ PAUSE_MIN_MS, PAUSE_MAX_MS, 0 };
	o->stored = metric_counter(set, "soul_memory_jobs_stored_total",
	    "Jobs whose memory was stored.", NULL);
	o->retried = metric_counter(set, "soul_memory_jobs_retried_total",
	    "Jobs returned to the stream for a retry.", NULL);
	o->dead = metric_counter(set, "soul_memory_jobs_dead_total",
	    "Jobs that were dead-lettered.", NULL);
	o->waiting = metric_gauge(set, "soul_memory_jobs_waiting",
	    "Jobs deferred until the store is available.", NULL);
	rc = jobs_subscribe(o);
	if (rc != RC_OK) {
		log_error("job.no_stream", LOG_RC(rc));
		memory_jobs_free(o);
		return NULL;
	}
	loop_timer_set(svc_loop(w->svc), &o->timer,
	    mono_add_ms(clock_mono(), o->poll_ms), jobs_poll, o);
	return o;
}

static void
jobs_return(struct job_list *list)
{
	struct job *h;

	while ((h = TAILQ_FIRST(list)) != NULL) {
		(void)!bus_nak(h->msg, 0);
		job_free(h);
	}
}

static void
jobs_orphan(struct job_list *list)
{
	struct job *h;

	while ((h = TAILQ_FIRST(list)) != NULL) {
		TAILQ_REMOVE(list, h, link);
		bus_msg_free(h->msg);
		h->o = NULL;
	}
}

void
memory_jobs_free(struct memory_jobs *o)
{
	if (o == NULL)
		return;
	loop_timer_cancel(svc_loop(o->w->svc), &o->timer);
	jobs_return(&o->queued);
	jobs_return(&o->deferred);
	/* Their callbacks are still to come. */
	jobs_orphan(&o->storing);
	jobs_orphan(&o->dead_lettering);
	free(o);
}
