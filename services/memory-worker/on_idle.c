/*
 * Looking for idle sessions, a few at a time.
 */
#include "on_idle.h"

#include <math.h>
#include <stdlib.h>

#include "bus/bus.h"
#include "core/log.h"
#include "core/loop.h"
#include "core/mem.h"
#include "core/metric.h"
#include "keeper.h"
#include "state/state.h"
#include "stretch.h"
#include "svc/svc.h"

#define MIN_MS      10
#define CLAIM_BYTES (256UL * 1024)

struct idle {
	struct keeper *k;
	struct stretch_bed bed;
	struct loop_timer timer;
	int64_t scan_ms;
	struct arena *a;
	bool more; /* the last look left some */
};

static void scan(void *arg);

static void
scan_in(struct idle *o, int64_t ms)
{
	loop_timer_set(svc_loop(o->k->svc), &o->timer,
	    mono_add_ms(clock_mono(), ms), scan, o);
}

static void
claim(struct idle *o, size_t max)
{
	static struct log_rate rate;
	struct session_idle_list list;
	int64_t missed;
	size_t i;
	enum rc rc;

	arena_reset(o->a);
	rc = session_idle_claim(o->k->state, o->bed.claim_ms, max, o->a, &list);
	if (rc != RC_OK && log_every(&rate, 10, &missed))
		log_warn(
		    "idle.claim_failed", LOG_RC(rc), LOG_I("missed", missed));
	o->more = rc == RC_OK && list.n == max;
	for (i = 0; i < list.n; i++)
		stretch_begin(&o->bed, &list.idle[i]);
}

static void
scan(void *arg)
{
	struct idle *o = arg;
	size_t max = (size_t)o->k->conf->at_once;

	scan_in(o, o->scan_ms);
	/* What cannot be published need not be summarised yet. */
	if (o->bed.n < max && state_up(o->k->state) && bus_up(o->k->bus))
		claim(o, max - o->bed.n);
}

static void
on_over(void *arg)
{
	struct idle *o = arg;

	if (o->more)
		scan_in(o, 0);
}

static int64_t
ms_of(double s)
{
	return (int64_t)fmax(s * 1000, MIN_MS);
}

struct idle *
idle_new(struct keeper *k)
{
	struct metric_set *set = svc_metrics(k->svc);
	struct idle *o = mem_zalloc(sizeof(*o));

	o->k = k;
	o->scan_ms = ms_of(k->conf->scan_s);
	o->a = arena_new(CLAIM_BYTES);
	o->bed.k = k;
	o->bed.timeout_ms = ms_of(k->conf->llm_timeout_s);
	o->bed.claim_ms = ms_of(k->conf->claim_s);
	o->bed.retry_ms = ms_of(k->conf->retry_s);
	o->bed.over = on_over;
	o->bed.arg = o;
	TAILQ_INIT(&o->bed.list);
	o->bed.made = metric_counter(set, "soul_memory_summaries_total",
	    "Summaries that were stored.", NULL);
	o->bed.failed = metric_counter(set, "soul_memory_summary_fails_total",
	    "Idle sessions that were put off.", NULL);
	o->bed.given_up =
	    metric_counter(set, "soul_memory_summary_refused_total",
		"Idle sessions whose summary the model refused.", NULL);
	o->bed.dropped = metric_counter(set, "soul_memory_not_admitted_total",
	    "Memories of summaries that were not worth keeping.", NULL);
	scan_in(o, 0);
	return o;
}

void
idle_free(struct idle *o)
{
	struct stretch *x;

	if (o == NULL)
		return;
	loop_timer_cancel(svc_loop(o->k->svc), &o->timer);
	o->bed.over = NULL;
	while ((x = TAILQ_FIRST(&o->bed.list)) != NULL)
		stretch_leave(x);
	arena_free(o->a);
	free(o);
}
