/*
 * Cycles that are due: a bucket is polled by one replica (state/bucket_poll.h),
 * which claims as many as it may run.
 */
#include "bus/bus.h"
#include "context.h"
#include "core/log.h"
#include "cycle_run.h"
#include "state/bucket_poll.h"
#include "state/state.h"
#include "wire/msgs.h"
#include "wire/subjects.h"
#include "wire/wire.h"

#define SWEEP_MS    5000
#define CLAIM_BYTES (1UL * 1024 * 1024)
/* As many cycles run as may; then the bucket is polled again. */
#define FULL_MS  100
#define HINT_MAX 64

static bool
on_due_ready(void *arg)
{
	const struct navigator *n = arg;

	return state_up(n->state) && bus_up(n->bus) && !n->draining;
}

static size_t
on_due_room(const struct navigator *n)
{
	size_t max = (size_t)n->conf->max_cycles;

	return n->n_cycles < max ? max - n->n_cycles : 0;
}

static enum rc
on_due_poll(void *arg, unsigned bucket, int64_t *in_ms)
{
	struct navigator *n = arg;
	struct nav_claim claim = { .bucket = bucket,
		.lease_ms = n->conf->lease_s * 1000,
		.max = on_due_room(n),
		.per_day = n->conf->per_day };
	struct nav_cycle_list list;
	struct arena *a;
	enum rc rc;

	*in_ms = FULL_MS;
	if (claim.max == 0 || n->draining)
		return RC_OK;
	/* Many buckets are polled at a time, and few have a cycle: more than
	 * may run are claimed at most for a moment, and wait for the model. */
	a = arena_new(CLAIM_BYTES);
	rc = nav_claim(n->state, &claim, a, &list);
	for (size_t i = 0; rc == RC_OK && i < list.n; i++)
		cycle_run_start(n, &list.cycle[i]);
	if (rc == RC_OK)
		*in_ms = bucket_poll_in_ms(list.now, list.next);
	arena_free(a);
	return rc;
}

/* ---- hints ---- */

static void
on_due_hinted(void *arg, struct bus_msg *m)
{
	struct navigator *n = arg;
	struct arena *a = arena_new(CLAIM_BYTES);
	struct wire_timer_tick t;

	if (wire_decode(&wire_timer_tick_desc, bus_msg_data(m), a, &t, NULL) ==
	    RC_OK)
		bucket_poll_hint(n->poll, (unsigned)t.bucket);
	arena_free(a);
	bus_msg_free(m);
}

void
on_due_hint(struct navigator *n, const struct nav_key *key, struct wall due)
{
	struct wire_timer_tick t;
	struct buf b = BUF_INIT(HINT_MAX);
	unsigned bucket;
	enum rc rc = RC_NOENT;

	/* The others are found by polling. */
	if (due.ms == 0 || due.ms > clock_wall().ms + SWEEP_MS || n->draining)
		return;
	rc = state_bucket(key->user_id, &bucket);
	if (rc == RC_OK)
		bucket_poll_hint(n->poll, bucket);
	t.bucket = bucket;
	if (rc == RC_OK)
		rc = wire_encode(&wire_timer_tick_desc, &t, &b, NULL);
	if (rc == RC_OK)
		rc = bus_publish(
		    n->bus, WIRE_SUBJECT_NAV_HINT, buf_str(&b), NULL);
	if (rc != RC_OK)
		log_debug("nav.hint_lost", LOG_RC(rc));
	buf_free(&b);
}

bool
on_due_start(struct navigator *n)
{
	enum rc rc;

	n->poll = bucket_poll_new(&(struct bucket_poll_opts){ .loop = n->loop,
	    .state = n->state,
	    .role = "nav",
	    .sweep_ms = SWEEP_MS,
	    .ready = on_due_ready,
	    .poll = on_due_poll,
	    .arg = n });
	rc = bus_subscribe(
	    n->bus, WIRE_SUBJECT_NAV_HINT, NULL, on_due_hinted, n, NULL);
	if (rc != RC_OK)
		log_error("nav.no_hints", LOG_RC(rc));
	return rc == RC_OK;
}

void
on_due_drain(struct navigator *n)
{
	bucket_poll_stop(n->poll);
}
