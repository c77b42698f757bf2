/*
 * Periodic evolution of souls: claim a batch, evolve it, save it, publish to
 * the bodies.
 */
#include "handlers.h"

#include <stdlib.h>

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

/* Time between two batches: what is due meanwhile shares two round trips. */
#define POLL_MS 50
/* A bucket in which no soul ticks is looked at this often. */
#define SWEEP_MS 30000
/* Attempts: a soul that was changed concurrently is retried. */
#define ROUNDS 3
/* Memory limit of one batch. */
#define HINT_BYTES  4096
#define BATCH_BYTES ((size_t)64 * 1024 * 1024)

struct ticker {
	struct engine *e;
	struct loop_timer timer;
	struct timer_share *share;
	struct soul_tick_bucket buckets[SOUL_TICK_BUCKETS_MAX];
	struct soul_tick opts; /* lists what is done, for the next claim */
	struct arena *arena, *before, *hints;
	bool running, stopped;
	struct metric *ticked, *sent, *lost, *conflicts, *owned;
};

/* The remaining souls of a batch, and their bodies. */
struct batch {
	struct stored_soul *souls;
	const struct soul_due **bodies;
	char (*logs)[CHANGE_MAX];
	size_t n;
};

static void
batch_publish(struct ticker *t, const struct batch *b, size_t i)
{
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
batch_round(struct ticker *t, struct batch *b)
{
	int64_t now = pad_time(clock_wall());
	size_t i, left = 0;
	enum rc rc;

	for (i = 0; i < b->n; i++) {
		if (b->souls[i].rc == RC_OK &&
		    !batch_evolve(t->e, &b->souls[i], now, b->logs[i]))
			b->souls[i].rc = RC_RETRY;
	}
	rc = record_store_save(&t->e->store, b->souls, b->n, t->arena);
	if (rc != RC_OK)
		return rc;
	for (i = 0; i < b->n; i++) {
		if (b->souls[i].saved) {
			metric_add(t->ticked, 1);
			soul_cache_update(t->e->cache, &b->souls[i]);
			batch_publish(t, b, i);
		} else if (b->souls[i].rc == RC_OK) {
			metric_add(t->conflicts, 1);
			b->souls[left].user_id = b->souls[i].user_id;
			b->souls[left].id = b->souls[i].id;
			b->bodies[left++] = b->bodies[i];
		} else if (b->souls[i].rc == RC_RETRY) {
			batch_publish(t, b, i);
		}
	}
	b->n = left;
	return RC_OK;
}

static enum rc
batch_run(struct ticker *t, const struct soul_due *list, size_t n)
{
	struct batch b = { arena_alloc(t->arena, n * sizeof(*b.souls)),
		arena_alloc(t->arena, n * sizeof(const struct soul_due *)),
		arena_alloc(t->arena, n * sizeof(*b.logs)), n };
	size_t i;
	int round;
	enum rc rc = RC_OK;

	if (b.souls == NULL || b.bodies == NULL || b.logs == NULL)
		return RC_TOOBIG;
	for (i = 0; i < n; i++) {
		b.souls[i].user_id = list[i].user_id;
		b.souls[i].id = list[i].soul_id;
		b.bodies[i] = &list[i];
		record_store_take(
		    &t->e->store, &b.souls[i], &list[i].state, t->arena);
	}
	for (round = 0; rc == RC_OK && b.n > 0 && round < ROUNDS; round++) {
		if (round > 0)
			rc = record_store_load(
			    &t->e->store, b.souls, b.n, t->arena);
		if (rc == RC_OK)
			rc = batch_round(t, &b);
	}
	return rc;
}

/* Buckets whose souls are to be claimed now. */
static void
ticker_take_buckets(struct ticker *t, struct mono now)
{
	unsigned due[SOUL_TICK_BUCKETS_MAX];
	size_t i;

	t->opts.bucket = t->buckets;
	t->opts.n_buckets =
	    timer_share_due(t->share, now, due, SOUL_TICK_BUCKETS_MAX);
	for (i = 0; i < t->opts.n_buckets; i++)
		t->buckets[i] = (struct soul_tick_bucket){ .number = due[i] };
}

/* After a failure the claims end half an interval later. */
static void
ticker_put_buckets(struct ticker *t, struct mono now, bool failed)
{
	const struct soul_tick_bucket *b = t->buckets;
	int64_t in_ms, half = t->opts.interval_ms / 2;
	size_t i;

	for (i = 0; i < t->opts.n_buckets; i++) {
		in_ms = b[i].in_ms;
		if (failed && (in_ms < 0 || in_ms > half))
			in_ms = half;
		timer_share_polled(t->share, b[i].number, now, in_ms);
	}
	t->opts.n_buckets = 0;
}

/*
 * Souls that are not done become due again for any replica when the claim
 * expires.
 */
static enum rc
ticker_batch(struct ticker *t, size_t *n)
{
	struct soul_tick opts = t->opts;
	struct arena *other = t->before;
	struct mono now = clock_mono();
	struct soul_due *list;
	enum rc rc, run = RC_OK;

	*n = 0;
	ticker_take_buckets(t, now);
	if (t->opts.n_buckets == 0 && opts.n_done == 0)
		return RC_OK;
	opts.bucket = t->opts.bucket;
	opts.n_buckets = t->opts.n_buckets;
	t->before = t->arena; /* opts.done refers to it */
	t->arena = other;
	arena_reset(t->arena);
	t->opts.n_done = 0;
	rc = soul_tick_claim(t->e->store.state, &opts, t->arena, &list, n);
	now = clock_mono(); /* a poll that is early finds nothing */
	if (*n > 0)
		run = batch_run(t, list, *n);
	ticker_put_buckets(t, now, run != RC_OK);
	if (run == RC_OK) {
		t->opts.done = list;
		t->opts.n_done = *n;
	}
	return rc != RC_OK ? rc : run;
}

static void ticker_on_timer(void *arg);

/* What is done is recorded soon, before its claim ends. */
static void
ticker_schedule(struct ticker *t)
{
	struct mono soonest = mono_add_ms(clock_mono(), POLL_MS);
	struct mono at = timer_share_next(t->share);

	if (t->stopped || t->running)
		return;
	if (t->opts.n_done > 0 || mono_diff_ns(soonest, at) > 0)
		at = soonest;
	loop_timer_set(svc_loop(t->e->svc), &t->timer, at, ticker_on_timer, t);
}

static void
ticker_run(void *arg)
{
	static struct log_rate rate;
	struct ticker *t = arg;
	size_t n = 0;
	int64_t missed;
	enum rc rc;

	/*
	 * Claiming souls whose updates cannot be published would keep them from
	 * the other replicas, and so would the membership.
	 */
	if (state_up(t->e->store.state) && bus_up(svc_bus(t->e->svc))) {
		rc = timer_share_renew(t->share, clock_mono());
		if (rc == RC_OK)
			rc = ticker_batch(t, &n);
		metric_set(t->owned, (int64_t)timer_share_owned(t->share));
		if (rc != RC_OK && log_every(&rate, 10, &missed))
			log_warn("tick.failed", LOG_RC(rc), LOG_I("souls", n),
			    LOG_I("missed", missed));
	}
	t->running = false;
	ticker_schedule(t);
	svc_release(t->e->svc);
}

static void
ticker_on_timer(void *arg)
{
	struct ticker *t = arg;

	/* A drain waits for the batch. */
	svc_hold(t->e->svc);
	t->running = true;
	fiber_start(ticker_run, t);
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

	t->e = e;
	t->opts.interval_ms = (int64_t)(clamp(e->conf->tick_s, 2, 5) * 1000);
	t->share = timer_share_new(&(struct timer_share_opts){
	    .state = e->store.state, .role = "ticks", .sweep_ms = SWEEP_MS });
	t->hints = arena_new(HINT_BYTES);
	t->arena = arena_new(BATCH_BYTES);
	t->before = arena_new(BATCH_BYTES);
	t->ticked = metric_counter(
	    set, "soul_emotion_ticks_total", "Souls evolved by a tick.", NULL);
	t->sent = metric_counter(set, "soul_emotion_tick_updates_total",
	    "Periodic updates sent to bodies.", NULL);
	t->lost = metric_counter(set, "soul_emotion_tick_updates_lost_total",
	    "Periodic updates that could not be sent.", NULL);
	t->conflicts = metric_counter(set, "soul_emotion_tick_conflicts_total",
	    "Compare-and-set conflicts of ticks.", NULL);
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
	if (t == NULL)
		return;
	ticker_stop(t);
	if (soul_tick_done(t->e->store.state, t->opts.done, t->opts.n_done) !=
	    RC_OK)
		log_warn("tick.claims_left", LOG_I("souls", t->opts.n_done));
	/* Otherwise its buckets would wait until its membership ends. */
	if (timer_share_leave(t->share) != RC_OK)
		log_debug("tick.membership_left");
	timer_share_free(t->share);
	arena_free(t->hints);
	arena_free(t->arena);
	arena_free(t->before);
	free(t);
}
