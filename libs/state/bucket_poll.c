#include "state/bucket_poll.h"

#include <stdlib.h>

#include "core/clock.h"
#include "core/fiber.h"
#include "core/log.h"
#include "core/mem.h"
#include "state/timer_share.h"

/* Time between two rounds: what is due meanwhile shares round trips. */
#define ROUND_MS 20
/* Buckets of a round. */
#define ROUND_BUCKETS 128

struct bucket_round;

struct bucket_job {
	struct bucket_round *round;
	unsigned bucket;
};

struct bucket_round {
	struct bucket_poll *p;
	struct bucket_job job[ROUND_BUCKETS];
	struct fiber_group group;
	enum rc rc;
};

struct bucket_poll {
	struct bucket_poll_opts o;
	struct timer_share *share;
	struct loop_timer timer;
	struct bucket_round round;
	struct mono not_before;
	bool running, stopped;
};

static void
bucket_poll_one(void *arg)
{
	struct bucket_job *j = arg;
	struct bucket_poll *p = j->round->p;
	int64_t in_ms = -1;
	enum rc rc = p->o.poll(p->o.arg, j->bucket, &in_ms);

	if (rc != RC_OK)
		j->round->rc = rc;
	timer_share_polled(
	    p->share, j->bucket, clock_mono(), rc == RC_OK ? in_ms : 0);
}

static void bucket_poll_schedule(struct bucket_poll *p);

static void
bucket_poll_main(void *arg)
{
	static struct log_rate rate;
	struct bucket_poll *p = arg;
	struct bucket_round *r = &p->round;
	unsigned due[ROUND_BUCKETS];
	int64_t missed;
	size_t n = 0, i;

	r->rc = RC_OK;
	if (p->o.ready(p->o.arg)) {
		r->rc = timer_share_renew(p->share, clock_mono());
		if (r->rc == RC_OK && !p->stopped)
			n = timer_share_due(
			    p->share, clock_mono(), due, ROUND_BUCKETS);
		for (i = 0; i < n; i++) {
			r->job[i] = (struct bucket_job){ r, due[i] };
			fiber_group_start(
			    &r->group, bucket_poll_one, &r->job[i]);
		}
		fiber_group_wait(&r->group);
	}
	if (r->rc != RC_OK && !p->stopped && log_every(&rate, 10, &missed))
		log_warn("timers.not_polled", LOG_S("role", p->o.role),
		    LOG_RC(r->rc), LOG_I("missed", missed));
	p->running = false;
	bucket_poll_schedule(p);
}

static void
bucket_poll_on_timer(void *arg)
{
	struct bucket_poll *p = arg;

	p->not_before = mono_add_ms(clock_mono(), ROUND_MS);
	p->running = true;
	fiber_start(bucket_poll_main, p);
}

static void
bucket_poll_schedule(struct bucket_poll *p)
{
	struct mono at = timer_share_next(p->share);

	if (p->stopped || p->running)
		return;
	if (mono_diff_ns(p->not_before, at) > 0)
		at = p->not_before;
	loop_timer_set(p->o.loop, &p->timer, at, bucket_poll_on_timer, p);
}

struct bucket_poll *
bucket_poll_new(const struct bucket_poll_opts *o)
{
	const struct timer_share_opts share = {
		.state = o->state, .role = o->role, .sweep_ms = o->sweep_ms
	};
	struct bucket_poll *p = mem_zalloc(sizeof(*p));

	p->o = *o;
	p->round.p = p;
	p->share = timer_share_new(&share);
	p->not_before = mono_add_ms(clock_mono(), ROUND_MS);
	bucket_poll_schedule(p);
	return p;
}

void
bucket_poll_stop(struct bucket_poll *p)
{
	p->stopped = true;
	loop_timer_cancel(p->o.loop, &p->timer);
}

enum rc
bucket_poll_leave(struct bucket_poll *p)
{
	return timer_share_leave(p->share);
}

void
bucket_poll_free(struct bucket_poll *p)
{
	if (p == NULL)
		return;
	loop_timer_cancel(p->o.loop, &p->timer);
	timer_share_free(p->share);
	free(p);
}

void
bucket_poll_hint(struct bucket_poll *p, unsigned bucket)
{
	if (timer_share_hint(p->share, bucket, clock_mono()))
		bucket_poll_schedule(p);
}

size_t
bucket_poll_owned(const struct bucket_poll *p)
{
	return timer_share_owned(p->share);
}
