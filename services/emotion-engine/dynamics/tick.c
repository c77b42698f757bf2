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
#include "svc/svc.h"

/* Souls of one batch: two round trips, and one message per body. */
#define BATCH_MAX 1000
/* Poll interval; after a full batch the next one is claimed at once. */
#define POLL_MS 50
/* Attempts: a soul that was changed concurrently is retried. */
#define ROUNDS 3
/* Memory limit of one batch. */
#define BATCH_BYTES ((size_t)16 * 1024 * 1024)

struct ticker {
	struct engine *e;
	struct loop_timer timer;
	struct soul_tick opts; /* lists what is done, for the next claim */
	struct arena *arena, *before;
	bool stopped;
	struct metric *ticked, *sent, *lost, *conflicts;
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

/*
 * Souls that are not done become due again for any replica when the claim
 * expires.
 */
static enum rc
ticker_batch(struct ticker *t, size_t *n)
{
	struct soul_tick opts = t->opts;
	struct arena *other = t->before;
	struct soul_due *list;
	enum rc rc;

	t->before = t->arena; /* opts.done refers to it */
	t->arena = other;
	arena_reset(t->arena);
	t->opts.n_done = 0;
	rc = soul_tick_claim(t->e->store.state, &opts, t->arena, &list, n);
	if (rc == RC_OK && *n > 0)
		rc = batch_run(t, list, *n);
	if (rc == RC_OK) {
		t->opts.done = list;
		t->opts.n_done = *n;
	}
	return rc;
}

static void ticker_on_timer(void *arg);

static void
ticker_run(void *arg)
{
	static struct log_rate rate;
	struct ticker *t = arg;
	struct svc *s = t->e->svc;
	size_t n = 0;
	int64_t missed;
	enum rc rc = RC_DOWN;

	/*
	 * Claiming souls whose updates cannot be published would keep them from
	 * the other replicas.
	 */
	if (state_up(t->e->store.state) && bus_up(svc_bus(t->e->svc))) {
		rc = ticker_batch(t, &n);
		if (rc != RC_OK && log_every(&rate, 10, &missed))
			log_warn("tick.failed", LOG_RC(rc), LOG_I("souls", n),
			    LOG_I("missed", missed));
	}
	if (!t->stopped)
		loop_timer_set(svc_loop(s), &t->timer,
		    mono_add_ms(clock_mono(),
			rc == RC_OK && n == t->opts.max ? 0 : POLL_MS),
		    ticker_on_timer, t);
	svc_release(s);
}

static void
ticker_on_timer(void *arg)
{
	struct ticker *t = arg;

	/* A drain waits for the batch. */
	svc_hold(t->e->svc);
	fiber_start(ticker_run, t);
}

struct ticker *
ticker_new(struct engine *e)
{
	struct metric_set *set = svc_metrics(e->svc);
	struct ticker *t = mem_zalloc(sizeof(*t));

	t->e = e;
	t->opts.interval_ms = (int64_t)(clamp(e->conf->tick_s, 2, 5) * 1000);
	t->opts.ttl_ms = e->conf->ttl_s * 1000;
	t->opts.max = BATCH_MAX;
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
	loop_timer_set(svc_loop(e->svc), &t->timer,
	    mono_add_ms(clock_mono(), POLL_MS), ticker_on_timer, t);
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
	arena_free(t->arena);
	arena_free(t->before);
	free(t);
}
