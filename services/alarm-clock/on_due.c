/*
 * What is due, of all users.  The replicas share the buckets; for a moment two
 * may poll the same, of which one claims an entry.
 */
#include <stdlib.h>

#include "bus/bus.h"
#include "context.h"
#include "core/arena.h"
#include "core/buf.h"
#include "core/fiber.h"
#include "core/log.h"
#include "core/mem.h"
#include "delivery.h"
#include "handlers.h"
#include "state/alarm_entry.h"
#include "state/bucket_poll.h"
#include "state/state.h"
#include "svc/svc.h"
#include "wire/msgs.h"
#include "wire/subjects.h"
#include "wire/wire.h"

#define SWEEP_MS   10000
#define ARENA_MAX  ((size_t)32 * 1024 * 1024)
#define HINT_BYTES 1024
/* While there is no room for deliveries, buckets are polled this often. */
#define FULL_MS 50

static bool
due_is_ready(void *arg)
{
	const struct alarm_clock *c = arg;

	return state_up(c->state) && bus_up(c->bus) && !c->draining;
}

static enum rc
due_poll(void *arg, unsigned bucket, int64_t *in_ms)
{
	struct alarm_clock *c = arg;
	size_t room = (size_t)c->conf->deliveries_max, i;
	struct alarm_entry_list list;
	struct arena *a;
	enum rc rc;

	*in_ms = FULL_MS;
	if (c->n_deliveries >= room)
		return RC_OK;
	room -= c->n_deliveries;
	a = arena_new(ARENA_MAX);
	rc = alarm_due_claim(c->state, bucket, DELIVERY_LEASE_MS,
	    room < ALARM_DUE_MAX ? room : ALARM_DUE_MAX, a, &list);
	for (i = 0; rc == RC_OK && i < list.n && !c->stopping; i++)
		delivery_start(c, &list.entry[i], list.now);
	if (rc == RC_OK)
		*in_ms = bucket_poll_in_ms(list.now, list.next);
	arena_free(a);
	return rc;
}

/* ---- claims ---- */

struct due_extension {
	struct alarm_clock *c;
	unsigned bucket;
	struct alarm_entry entry[ALARM_DUE_MAX];
	size_t n;
};

static void
due_extend_fiber(void *arg)
{
	struct due_extension *x = arg;
	enum rc rc = alarm_due_extend(
	    x->c->state, x->bucket, DELIVERY_LEASE_MS, x->entry, x->n);

	if (rc != RC_OK && !x->c->stopping)
		log_debug("alarm.not_extended", LOG_RC(rc));
	svc_release(x->c->svc);
	free(x);
}

/* Those of each bucket in one call; the call copies what it sends. */
static void
due_extend_all(struct alarm_clock *c)
{
	struct due_extension *of[STATE_BUCKETS] = { NULL };
	const struct delivery *d;
	struct alarm_entry e;
	unsigned bucket;

	for (d = LIST_FIRST(&c->deliveries); d != NULL; d = delivery_next(d)) {
		if (!delivery_is_claimed(d, &bucket, &e))
			continue;
		if (of[bucket] == NULL) {
			of[bucket] = mem_zalloc(sizeof(*of[bucket]));
			of[bucket]->c = c;
			of[bucket]->bucket = bucket;
		}
		if (of[bucket]->n < ALARM_DUE_MAX)
			of[bucket]->entry[of[bucket]->n++] = e;
	}
	for (bucket = 0; bucket < STATE_BUCKETS; bucket++)
		if (of[bucket] != NULL) {
			svc_hold(c->svc);
			fiber_start(due_extend_fiber, of[bucket]);
		}
}

static void
due_on_extend(void *arg)
{
	struct alarm_clock *c = arg;

	loop_timer_set(c->loop, &c->extend,
	    mono_add_ms(clock_mono(), DELIVERY_EXTEND_MS), due_on_extend, c);
	if (c->n_deliveries > 0 && state_up(c->state))
		due_extend_all(c);
}

/* ---- hints ---- */

static void
due_on_hint(void *arg, struct bus_msg *m)
{
	struct alarm_clock *c = arg;
	struct arena *a = arena_new(HINT_BYTES);
	struct wire_timer_tick msg;

	if (!c->draining &&
	    wire_decode(
		&wire_timer_tick_desc, bus_msg_data(m), a, &msg, NULL) == RC_OK)
		bucket_poll_hint(c->poll, (unsigned)msg.bucket);
	arena_free(a);
	bus_msg_free(m);
}

void
due_hint(struct alarm_clock *c, struct str user)
{
	struct buf json = BUF_INIT(HINT_BYTES);
	struct wire_timer_tick m = { 0 };
	unsigned bucket;

	if (c->draining || c->stopping || state_bucket(user, &bucket) != RC_OK)
		return;
	bucket_poll_hint(c->poll, bucket);
	m.bucket = bucket;
	/* All buckets are polled: a hint may be lost. */
	if (wire_encode(&wire_timer_tick_desc, &m, &json, NULL) == RC_OK)
		(void)!bus_publish(
		    c->bus, WIRE_SUBJECT_ALARM_HINT, buf_str(&json), NULL);
	buf_free(&json);
}

/* ---- begin and end ---- */

enum rc
due_begin(struct alarm_clock *c)
{
	const struct bucket_poll_opts o = { .loop = c->loop,
		.state = c->state,
		.role = "alarms",
		.sweep_ms = SWEEP_MS,
		.ready = due_is_ready,
		.poll = due_poll,
		.arg = c };

	c->poll = bucket_poll_new(&o);
	due_on_extend(c);
	return bus_subscribe(
	    c->bus, WIRE_SUBJECT_ALARM_HINT, NULL, due_on_hint, c, &c->hints);
}

void
due_end(struct alarm_clock *c)
{
	if (c->poll != NULL)
		bucket_poll_stop(c->poll);
}

void
due_leave(struct alarm_clock *c)
{
	enum rc rc = bucket_poll_leave(c->poll);

	if (rc != RC_OK)
		log_debug("alarm.timers_not_left", LOG_RC(rc));
}

void
due_free(struct alarm_clock *c)
{
	loop_timer_cancel(c->loop, &c->extend);
	bucket_poll_free(c->poll);
	c->poll = NULL;
}
