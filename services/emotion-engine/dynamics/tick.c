/*
 * Periodic evolution of souls: claim a batch, evolve it, save it, publish to
 * the bodies.  While one batch waits for Redis, others are claimed and
 * evolved.
 */
#include "handlers.h"

#include <stdlib.h>
#include <string.h>

#include "bus/bus.h"
#include "change.h"
#include "core/arena.h"
#include "core/clock.h"
#include "core/fiber.h"
#include "core/log.h"
#include "core/loop.h"
#include "core/mem.h"
#include "core/metric.h"
#include "emotion_event.h"
#include "engine.h"
#include "persona/persona.h"
#include "soul_cache.h"
#include "soul_record.h"
#include "state/soul.h"
#include "state/state.h"
#include "state/timer_share.h"
#include "svc/svc.h"
#include "wire/msgs.h"
#include "wire/subjects.h"
#include "wire/wire.h"

/* Time between two claims: what is due meanwhile shares two round trips. */
#define POLL_MS 50
/* Batches that are in progress, and buckets of each. */
#define BATCHES       4
#define BATCH_BUCKETS (SOUL_TICK_BUCKETS_MAX / 2)
/* Claims that are done, and not recorded yet: a batch ends once, at most,
 * between two claims. */
#define DONE_MAX (BATCHES * BATCH_BUCKETS)
/* A bucket in which no soul ticks is looked at this often. */
#define SWEEP_MS 30000
/* Attempts: a soul that was changed concurrently is retried. */
#define ROUNDS 3
/* Memory limit of one batch. */
#define HINT_BYTES  4096
#define BATCH_BYTES ((size_t)32 * 1024 * 1024)

_Static_assert(DONE_MAX <= SOUL_TICK_DONE_MAX, "one call records them");

/* Buckets that were claimed; the remaining souls, and their bodies. */
struct batch {
	struct ticker *t;
	struct arena *arena; /* NULL: never used */
	bool running;
	struct soul_tick_bucket buckets[BATCH_BUCKETS];
	size_t n_buckets;
	struct stored_soul *souls;
	const struct soul_due **bodies;
	char (*logs)[CHANGE_MAX];
	size_t n;
};

struct ticker {
	struct engine *e;
	struct loop_timer timer;
	struct mono claim_at; /* no claim sooner */
	struct timer_share *share;
	struct batch batch[BATCHES];
	int64_t interval_ms;
	/* For the next claim. */
	struct soul_tick_bucket done[DONE_MAX];
	size_t n_done;
	struct arena *hints;
	bool renewing, stopped;
	struct metric *ticked, *sent, *lost, *conflicts, *owned, *batches;
};

static void
batch_publish(struct batch *b, size_t i)
{
	struct ticker *t = b->t;
	const struct soul_due *bodies = b->bodies[i];
	const struct record *r = &b->souls[i].record;
	struct gate gate =
	    gate_at(t->e->gate, &r->base, &r->state, r->state.last_updated);
	struct wire_emotion_update u;
	struct emotion_event_texts texts;
	size_t k;

	emotion_event_fill(&b->souls[i], &gate, &texts, &u);
	u.session_id = STR(EMOTION_EVENT_TICK_SESSION);
	u.user_emotion.confidence = 1;
	u.user_emotion.has_confidence = true;
	for (k = 0; k < bodies->n; k++) {
		u.terminal_id = bodies->terminal[k].terminal_id;
		if (emotion_event_send(
			t->e, bodies->terminal[k].broker, &u, NULL) == RC_OK)
			metric_add(t->sent, 1);
		else
			metric_add(t->lost, 1);
	}
}

/* False: no time has passed, another process has just evolved the soul. */
static bool
batch_evolve(struct engine *e, struct stored_soul *soul, int64_t now,
    char log[CHANGE_MAX])
{
	static const struct pad_input nothing;
	struct record *r = &soul->record;
	struct pad_state before = r->state;
	struct change change;

	if (now <= r->state.last_updated)
		return false;
	pad_update(&r->state, &r->base, &nothing, now, e->gate);
	if (change_by_time(&before, &r->state, &change)) {
		change.version = soul->version + 1;
		change.gate = gate_at(e->gate, &r->base, &r->state, now);
		soul->log = change_pack(&change, log);
	}
	return true;
}

/* Save all remaining souls once; those that lost the compare-and-set remain. */
static enum rc
batch_round(struct batch *b)
{
	int64_t now = pad_time(clock_wall());
	struct ticker *t = b->t;
	size_t i, left = 0;
	enum rc rc;

	for (i = 0; i < b->n; i++) {
		if (b->souls[i].rc == RC_OK &&
		    !batch_evolve(t->e, &b->souls[i], now, b->logs[i]))
			b->souls[i].rc = RC_RETRY;
	}
	rc = record_store_save(&t->e->store, b->souls, b->n, b->arena);
	if (rc != RC_OK)
		return rc;
	for (i = 0; i < b->n; i++) {
		if (b->souls[i].saved) {
			metric_add(t->ticked, 1);
			soul_cache_update(t->e->cache, &b->souls[i]);
			batch_publish(b, i);
		} else if (b->souls[i].rc == RC_OK) {
			metric_add(t->conflicts, 1);
			b->souls[left].user_id = b->souls[i].user_id;
			b->souls[left].id = b->souls[i].id;
			b->bodies[left++] = b->bodies[i];
		} else if (b->souls[i].rc == RC_RETRY) {
			batch_publish(b, i);
		}
	}
	b->n = left;
	return RC_OK;
}

static enum rc
batch_run(struct batch *b, const struct soul_due *list, size_t n)
{
	const struct record_store *store = &b->t->e->store;
	enum rc rc = RC_OK;
	size_t i;
	int round;

	b->n = n;
	b->souls = arena_alloc(b->arena, n * sizeof(*b->souls));
	b->bodies = arena_alloc(b->arena, n * sizeof(const struct soul_due *));
	b->logs = arena_alloc(b->arena, n * sizeof(*b->logs));
	if (b->souls == NULL || b->bodies == NULL || b->logs == NULL)
		return RC_TOOBIG;
	for (i = 0; i < n; i++) {
		b->souls[i].user_id = list[i].user_id;
		b->souls[i].id = list[i].soul_id;
		b->bodies[i] = &list[i];
		record_store_take(
		    store, &b->souls[i], &list[i].state, b->arena);
	}
	for (round = 0; rc == RC_OK && b->n > 0 && round < ROUNDS; round++) {
		if (round > 0)
			rc = record_store_load(store, b->souls, b->n, b->arena);
		if (rc == RC_OK)
			rc = batch_round(b);
	}
	return rc;
}

/* ---- claims ---- */

/* Buckets whose souls are to be claimed now. */
static void
batch_take_buckets(struct batch *b)
{
	unsigned due[BATCH_BUCKETS];
	size_t i;

	b->n_buckets =
	    timer_share_due(b->t->share, clock_mono(), due, BATCH_BUCKETS);
	for (i = 0; i < b->n_buckets; i++)
		b->buckets[i] = (struct soul_tick_bucket){ .number = due[i] };
}

/* After a failure the claims end half an interval later. */
static void
batch_put_buckets(struct batch *b, struct mono now, bool failed)
{
	int64_t in_ms, half = b->t->interval_ms / 2;
	size_t i;

	for (i = 0; i < b->n_buckets; i++) {
		in_ms = b->buckets[i].in_ms;
		if (failed && (in_ms < 0 || in_ms > half))
			in_ms = half;
		timer_share_polled(
		    b->t->share, b->buckets[i].number, now, in_ms);
	}
}

/* What is done is recorded with the next claim. */
static void
batch_done(struct batch *b)
{
	struct ticker *t = b->t;
	size_t i;

	for (i = 0; i < b->n_buckets; i++)
		if (b->buckets[i].n > 0)
			t->done[t->n_done++] = b->buckets[i];
	b->n_buckets = 0;
}

/*
 * Souls that are not done become due again for any replica when the claim
 * expires.
 */
static enum rc
batch_claim_and_run(struct batch *b, size_t *n)
{
	struct soul_tick_bucket done[DONE_MAX];
	struct ticker *t = b->t;
	struct soul_tick opts = { .interval_ms = t->interval_ms,
		.bucket = b->buckets,
		.n_buckets = b->n_buckets,
		.done = done,
		.n_done = t->n_done };
	struct soul_due *list;
	enum rc rc, run = RC_OK;
	struct mono now;

	*n = 0;
	if (opts.n_buckets == 0 && opts.n_done == 0)
		return RC_OK;
	/* Other batches end meanwhile. */
	memcpy(done, t->done, t->n_done * sizeof(*done));
	t->n_done = 0;
	if (b->arena == NULL)
		b->arena = arena_new(BATCH_BYTES);
	arena_reset(b->arena);
	metric_add(t->batches, 1);
	rc = soul_tick_claim(t->e->store.state, &opts, b->arena, &list, n);
	now = clock_mono(); /* a poll that is early finds nothing */
	if (*n > 0)
		run = batch_run(b, list, *n);
	batch_put_buckets(b, now, run != RC_OK);
	if (run == RC_OK)
		batch_done(b);
	return rc != RC_OK ? rc : run;
}

/* ---- the timer ---- */

static void ticker_on_timer(void *arg);

/* A batch that is not in progress; NULL: all are. */
static struct batch *
ticker_free_batch(struct ticker *t)
{
	size_t i;

	for (i = 0; i < BATCHES; i++)
		if (!t->batch[i].running)
			return &t->batch[i];
	return NULL;
}

/* What is done is recorded soon, before its claim ends. */
static void
ticker_schedule(struct ticker *t)
{
	struct mono at = timer_share_next(t->share);

	if (t->stopped || ticker_free_batch(t) == NULL)
		return;
	if (t->n_done > 0 || mono_diff_ns(t->claim_at, at) > 0)
		at = t->claim_at;
	loop_timer_set(svc_loop(t->e->svc), &t->timer, at, ticker_on_timer, t);
}

static enum rc
ticker_renew(struct ticker *t)
{
	enum rc rc;

	if (t->renewing)
		return RC_OK;
	t->renewing = true;
	rc = timer_share_renew(t->share, clock_mono());
	t->renewing = false;
	metric_set(t->owned, (int64_t)timer_share_owned(t->share));
	return rc;
}

static void
ticker_run(void *arg)
{
	static struct log_rate rate;
	struct batch *b = arg;
	struct ticker *t = b->t;
	size_t n = 0;
	int64_t missed;
	enum rc rc;

	/*
	 * Claiming souls whose updates cannot be published would keep them from
	 * the other replicas, and so would the membership.
	 */
	if (state_up(t->e->store.state) && bus_up(svc_bus(t->e->svc))) {
		rc = ticker_renew(t);
		if (rc == RC_OK) {
			batch_take_buckets(b);
			ticker_schedule(t);
			rc = batch_claim_and_run(b, &n);
		}
		if (rc != RC_OK && log_every(&rate, 10, &missed))
			log_warn("tick.failed", LOG_RC(rc), LOG_I("souls", n),
			    LOG_I("missed", missed));
	}
	b->running = false;
	ticker_schedule(t);
	svc_release(t->e->svc);
}

static void
ticker_on_timer(void *arg)
{
	struct ticker *t = arg;
	struct batch *b = ticker_free_batch(t);

	if (b == NULL) /* the first that ends schedules the next */
		return;
	/* A drain waits for the batch. */
	svc_hold(t->e->svc);
	t->claim_at = mono_add_ms(clock_mono(), POLL_MS);
	b->running = true;
	fiber_start(ticker_run, b);
}

static void
ticker_on_hint(void *arg, struct bus_msg *m)
{
	struct ticker *t = arg;
	struct wire_timer_tick msg;
	struct wire_err err;

	arena_reset(t->hints);
	if (wire_decode(&wire_timer_tick_desc, bus_msg_data(m), t->hints, &msg,
		&err) == RC_OK &&
	    timer_share_hint(t->share, (unsigned)msg.bucket, clock_mono()))
		ticker_schedule(t);
	bus_msg_free(m);
}

static void
ticker_listen(struct ticker *t)
{
	enum rc rc = bus_subscribe(svc_bus(t->e->svc), WIRE_SUBJECT_TIMER_TICK,
	    NULL, ticker_on_hint, t, NULL);

	if (rc != RC_OK)
		log_warn("tick.no_hints", LOG_RC(rc));
}

struct ticker *
ticker_new(struct engine *e)
{
	struct metric_set *set = svc_metrics(e->svc);
	struct ticker *t = mem_zalloc(sizeof(*t));
	size_t i;

	t->e = e;
	for (i = 0; i < BATCHES; i++)
		t->batch[i].t = t;
	t->claim_at = mono_add_ms(clock_mono(), POLL_MS);
	t->interval_ms = (int64_t)(clamp(e->conf->tick_s, 2, 5) * 1000);
	t->share = timer_share_new(&(struct timer_share_opts){
	    .state = e->store.state, .role = "ticks", .sweep_ms = SWEEP_MS });
	t->hints = arena_new(HINT_BYTES);
	t->ticked = metric_counter(
	    set, "soul_emotion_ticks_total", "Souls evolved by a tick.", NULL);
	t->sent = metric_counter(set, "soul_emotion_tick_updates_total",
	    "Periodic updates sent to bodies.", NULL);
	t->lost = metric_counter(set, "soul_emotion_tick_updates_lost_total",
	    "Periodic updates that could not be sent.", NULL);
	t->conflicts = metric_counter(set, "soul_emotion_tick_conflicts_total",
	    "Compare-and-set conflicts of ticks.", NULL);
	t->batches = metric_counter(set, "soul_emotion_tick_batches_total",
	    "Claims of due souls: a round trip to Redis each.", NULL);
	t->owned = metric_gauge(set, "soul_emotion_tick_buckets",
	    "Buckets of users whose souls this process ticks.", NULL);
	ticker_listen(t);
	ticker_schedule(t);
	return t;
}

void
ticker_stop(struct ticker *t)
{
	t->stopped = true;
	loop_timer_cancel(svc_loop(t->e->svc), &t->timer);
}

void
ticker_free(struct ticker *t)
{
	size_t i;

	if (t == NULL)
		return;
	ticker_stop(t);
	if (soul_tick_done(t->e->store.state, t->done, t->n_done) != RC_OK)
		log_warn("tick.claims_left", LOG_I("buckets", t->n_done));
	/* Otherwise its buckets would wait until its membership ends. */
	if (timer_share_leave(t->share) != RC_OK)
		log_debug("tick.membership_left");
	timer_share_free(t->share);
	for (i = 0; i < BATCHES; i++)
		arena_free(t->batch[i].arena);
	arena_free(t->hints);
	free(t);
}
