/*
 * idle_scan: finds the sessions that are idle, and claims as many as there may
 * be jobs.
 *
 * The timers of a bucket are read by one replica (state/timer_share.h), in one
 * round trip for all buckets of a moment; only a bucket in which a session is
 * due gets a claim.
 */
#include <math.h>
#include <stdlib.h>

#include "bus/bus.h"
#include "core/clock.h"
#include "core/fiber.h"
#include "core/log.h"
#include "core/loop.h"
#include "core/mem.h"
#include "core/metric.h"
#include "core/rate.h"
#include "memory_worker.h"
#include "state/state.h"
#include "state/timer_share.h"
#include "summary/summary_job.h"
#include "svc/svc.h"

#define SCAN_MIN_MS 10
#define CLAIM_BYTES (256UL * 1024)
/* Buckets are read together that are due within this part of an interval. */
#define SCAN_PART     50
#define SCAN_PART_MAX 250
/* A bucket that could not be read is read again after this. */
#define SCAN_RETRY_MS 1000

static void idle_scan_run(void *arg);

static void
idle_scan_schedule(struct idle_scan *o, struct mono at)
{
	loop_timer_set(svc_loop(o->w->svc), &o->timer, at, idle_scan_run, o);
}

static size_t
idle_scan_room(const struct idle_scan *o)
{
	size_t max = (size_t)o->w->conf->max_jobs;

	return o->n < max ? max - o->n : 0;
}

static void
idle_scan_warn(enum rc rc)
{
	static struct log_rate rate;
	int64_t missed;

	if (log_every(&rate, 10, &missed))
		log_warn(
		    "idle.claim_failed", LOG_RC(rc), LOG_I("missed", missed));
}

/* The bucket's next session is due at next; {0}: it has none. */
static void
idle_scan_polled(struct idle_scan *o, unsigned bucket, struct wall next)
{
	int64_t in_ms = next.ms - clock_wall().ms;

	if (next.ms == 0)
		in_ms = -1;
	else if (in_ms < SCAN_MIN_MS)
		in_ms = SCAN_MIN_MS;
	timer_share_polled(o->share, bucket, clock_mono(), in_ms);
}

static void
idle_scan_failed(struct idle_scan *o, unsigned bucket, enum rc rc)
{
	idle_scan_warn(rc);
	timer_share_polled(o->share, bucket, clock_mono(), SCAN_RETRY_MS);
}

static void
idle_scan_claim(struct idle_scan *o, unsigned bucket)
{
	const struct session_idle_claim claim = { bucket, o->claim_ms,
		idle_scan_room(o) };
	struct session_idle_list list;
	size_t i;
	enum rc rc;

	arena_reset(o->a);
	rc = session_idle_claim(o->w->state, &claim, o->a, &list);
	if (rc != RC_OK) {
		idle_scan_failed(o, bucket, rc);
		return;
	}
	idle_scan_polled(o, bucket, list.next);
	for (i = 0; i < list.n && !o->stopping; i++)
		summary_job_start(o, &list.idle[i]);
}

/* Claim in the buckets in which a session is due. */
static void
idle_scan_claim_waiting(struct idle_scan *o)
{
	size_t i = 0;

	while (i < o->n_waiting && idle_scan_room(o) > 0 && !o->stopping)
		idle_scan_claim(o, o->waiting[i++]);
	o->n_waiting -= i;
	memmove(
	    o->waiting, o->waiting + i, o->n_waiting * sizeof(o->waiting[0]));
}

/* Read when the first session of each bucket is due. */
static void
idle_scan_poll(struct idle_scan *o)
{
	unsigned bucket[STATE_BUCKETS];
	struct wall next[STATE_BUCKETS], now;
	size_t i, n;
	enum rc rc;

	n = timer_share_due(o->share, clock_mono(), bucket, STATE_BUCKETS);
	rc = session_idle_next(o->w->state, bucket, n, next);
	now = clock_wall();
	for (i = 0; i < n; i++)
		if (next[i].ms < 0)
			idle_scan_failed(o, bucket[i], rc);
		else if (next[i].ms > 0 && next[i].ms <= now.ms)
			o->waiting[o->n_waiting++] = bucket[i];
		else
			idle_scan_polled(o, bucket[i], next[i]);
}

/* Without NATS a summary's jobs could not be published. */
static bool
idle_scan_may_run(const struct idle_scan *o)
{
	return state_up(o->w->state) && bus_up(o->w->bus);
}

static void
idle_scan_schedule_next(struct idle_scan *o)
{
	int64_t part = o->scan_ms / SCAN_PART;
	struct mono next, soonest;

	part = part < SCAN_MIN_MS ? SCAN_MIN_MS : part;
	soonest = mono_add_ms(
	    clock_mono(), part < SCAN_PART_MAX ? part : SCAN_PART_MAX);
	next = timer_share_next(o->share);
	if (o->n_waiting > 0 && idle_scan_room(o) > 0)
		next = soonest = clock_mono();
	idle_scan_schedule(o, mono_diff_ns(next, soonest) > 0 ? next : soonest);
}

static void
idle_scan_main(void *arg)
{
	struct idle_scan *o = arg;
	enum rc rc;

	if (idle_scan_may_run(o)) {
		rc = timer_share_renew(o->share, clock_mono());
		if (rc != RC_OK)
			idle_scan_warn(rc);
		idle_scan_poll(o);
		idle_scan_claim_waiting(o);
	}
	o->running = false;
	if (!o->stopping)
		idle_scan_schedule_next(o);
	svc_release(o->w->svc);
}

static void
idle_scan_run(void *arg)
{
	struct idle_scan *o = arg;

	if (o->running)
		return;
	o->running = true;
	svc_hold(o->w->svc);
	fiber_start(idle_scan_main, o);
}

void
idle_scan_on_job_end(struct idle_scan *o)
{
	if (o->n_waiting > 0 && !o->stopping && !o->running)
		idle_scan_schedule(o, clock_mono());
}

static int64_t
idle_scan_ms(double s)
{
	return (int64_t)fmax(s * 1000, SCAN_MIN_MS);
}

static void
idle_scan_metrics(struct idle_scan *o, struct metric_set *set)
{
	o->made = metric_counter(
	    set, "soul_memory_summaries_total", "Summaries stored.", NULL);
	o->failed = metric_counter(set, "soul_memory_summaries_failed_total",
	    "Summaries that failed and are retried later.", NULL);
	o->given_up = metric_counter(set, "soul_memory_summaries_refused_total",
	    "Summaries given up because the model rejected them.", NULL);
	o->dropped = metric_counter(set, "soul_memory_not_admitted_total",
	    "Extracted memories that the policy rejected.", NULL);
}

struct idle_scan *
idle_scan_new(struct memory_worker *w)
{
	struct idle_scan *o = mem_zalloc(sizeof(*o));

	o->w = w;
	o->a = arena_new(CLAIM_BYTES);
	o->scan_ms = idle_scan_ms(w->conf->scan_s);
	o->timeout_ms = idle_scan_ms(w->conf->llm_timeout_s);
	o->claim_ms = idle_scan_ms(w->conf->claim_s);
	o->retry_ms = idle_scan_ms(w->conf->retry_s);
	TAILQ_INIT(&o->jobs);
	idle_scan_metrics(o, svc_metrics(w->svc));
	o->share = timer_share_new(&(struct timer_share_opts){
	    .state = w->state, .role = "idle", .sweep_ms = o->scan_ms });
	idle_scan_schedule(o, clock_mono());
	return o;
}

static void
idle_scan_leave(void *arg)
{
	struct idle_scan *o = arg;

	/* If this fails the membership expires. */
	(void)!timer_share_leave(o->share);
	svc_release(o->w->svc);
}

/* Jobs that wait for Redis find out by themselves. */
void
idle_scan_drain(struct idle_scan *o)
{
	struct summary_job *x;

	loop_timer_cancel(svc_loop(o->w->svc), &o->timer);
	o->stopping = true;
	svc_hold(o->w->svc);
	fiber_start(idle_scan_leave, o);
	do {
		TAILQ_FOREACH (x, &o->jobs, link)
			if (summary_job_waits(x))
				break;
		if (x != NULL)
			fiber_start(summary_job_abandon, x);
	} while (x != NULL);
}

void
idle_scan_free(struct idle_scan *o)
{
	struct summary_job *x;

	if (o == NULL)
		return;
	loop_timer_cancel(svc_loop(o->w->svc), &o->timer);
	o->stopping = true;
	while ((x = TAILQ_FIRST(&o->jobs)) != NULL)
		summary_job_free(x);
	timer_share_free(o->share);
	arena_free(o->a);
	free(o);
}
