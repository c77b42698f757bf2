/*
 * The record is stored before a body is requested to speak, and after its
 * result: a process that dies between the two leaves a claim that expires, and
 * the next attempt on that body has the same request_id.
 */
#include "delivery.h"

#include <stdlib.h>

#include "alarm/alarm_wire.h"
#include "alarm_store.h"
#include "alarm_view.h"
#include "bus/bus.h"
#include "context.h"
#include "core/fiber.h"
#include "core/log.h"
#include "core/mem.h"
#include "core/metric.h"
#include "core/trace.h"
#include "handlers.h"
#include "ring.h"
#include "ring_turn.h"
#include "speech_rule.h"
#include "state/run.h"
#include "state/speech.h"
#include "state/terminal.h"
#include "svc/svc.h"
#include "wire/wire.h"

#define ARENA_MAX ((size_t)8 * 1024 * 1024)
/* Attempts of one claim: what follows at once, as on other bodies. */
#define STEPS_MAX 64
/* A change that could not be stored is tried so often, so long after. */
#define SAVES_MAX 100
#define SAVE_MS   200
/* A clock that has gained or lost so much was set. */
#define CLOCK_STEP_MS INT64_C(5000)
/* What was due for so long before its claim was nobody's. */
#define UNATTENDED_MS INT64_C(60000)
/* The session of users who have none. */
#define SESSION_ID "unasked"

struct delivery {
	LIST_ENTRY(delivery) link;
	struct alarm_clock *c;
	struct arena *a;
	struct alarm_stored x;
	struct speech_context context;
	struct wall now; /* Redis' time at mono */
	struct mono at;
	struct trace trace;
	unsigned bucket;
	bool first;   /* no attempt of this claim was made yet */
	bool in_turn; /* a body speaks: the claim is to be extended */
};

/* Redis' time now. */
static int64_t
delivery_now(const struct delivery *d)
{
	return d->now.ms + mono_diff_ms(clock_mono(), d->at);
}

/* Until Redis has it, or is never going to. */
static enum rc
delivery_store(struct delivery *d, int64_t due_ms, struct wall *now)
{
	enum rc rc = RC_DOWN;
	int i;

	d->x.r.updated_ms = delivery_now(d);
	for (i = 0; i < SAVES_MAX && !d->c->stopping; i++) {
		rc = alarm_store_save(d->c, &d->x, due_ms, d->a, now);
		if (rc == RC_OK || rc == RC_UNREPLICATED)
			return RC_OK;
		if (rc == RC_CONFLICT || rc == RC_NOENT || rc == RC_INVALID ||
		    rc == RC_TOOBIG)
			break;
		clock_sleep(d->c, SAVE_MS);
	}
	if (rc != RC_CONFLICT && rc != RC_NOENT)
		log_warn(
		    "alarm.not_stored", LOG_V("id", d->x.entry.id), LOG_RC(rc));
	return rc;
}

/*
 * Store the record; false: the delivery is not this process's any more, or
 * cannot be stored.  If the clock was set meanwhile, it is stored once more.
 */
static bool
delivery_save(struct delivery *d, int64_t due_ms)
{
	struct wall now;
	int64_t step;
	int i;

	for (i = 0; i < 2; i++) {
		if (delivery_store(d, due_ms, &now) != RC_OK)
			return false;
		step = now.ms - delivery_now(d);
		d->now = now;
		d->at = clock_mono();
		if (!ring_is_ringing(&d->x.r) ||
		    (step < CLOCK_STEP_MS && step > -CLOCK_STEP_MS))
			break;
		log_warn("alarm.clock_set", LOG_I("step_ms", step));
		ring_set_clock(&d->x.r, step);
		due_ms = due_ms > 0 ? due_ms + step : 0;
	}
	return true;
}

/* ---- what happens after an occurrence ---- */

static int64_t
delivery_next_ms(struct delivery *d)
{
	const struct wire_alarm_record *r = &d->x.r;
	const struct zone *zone = clock_zone(d->c, r->zone);
	int64_t now = delivery_now(d), after = now - RING_ALARM_MS;
	struct alarm_rule rule;
	struct wall next;
	char why[ALARM_WHY_MAX];

	/* Of those that nobody could hear, as after an outage, one is missed.
	 */
	after = r->at_ms > after ? r->at_ms : after;
	if (r->type == WIRE_ALARM_RECORD_TYPE_PUSH || !r->has_rule ||
	    zone == NULL ||
	    alarm_rule_of_wire(&r->rule, &rule, why, sizeof(why)) != RC_OK ||
	    alarm_rule_next(&rule, zone, (struct wall){ after }, &next) !=
		RC_OK)
		return 0;
	return next.ms;
}

/*
 * The next conversation mentions it; false: not stored, another claim tries
 * again.
 */
static bool
delivery_note_missed(struct delivery *d)
{
	const struct wire_alarm_record *r = &d->x.r;
	struct buf json = BUF_INIT(RUN_NOTE_MAX);
	char id[RING_ID_MAX];
	struct wire_run_note m;
	struct wire_alarm_record ended = *r;
	enum rc rc;

	ended.at_ms = r->last_at_ms;
	ring_occurrence(&ended, id);
	m = (struct wire_run_note){ .run_id = str_of(id),
		.engine = STR("alarm_clock"),
		.title = r->text,
		.state = WIRE_RUN_NOTE_STATE_MISSED,
		.text = r->reason };
	rc = wire_encode(&wire_run_note_desc, &m, &json, NULL);
	if (rc == RC_OK)
		rc = run_note_put(
		    d->c->state, r->user_id, str_of(id), buf_str(&json));
	buf_free(&json);
	if (rc != RC_OK)
		log_warn("alarm.no_note", LOG_V("id", r->id), LOG_RC(rc));
	/* What is no message never will be. */
	return rc == RC_OK || rc == RC_UNREPLICATED || rc == RC_INVALID ||
	    rc == RC_TOOBIG;
}

static void
delivery_count_speech(struct delivery *d)
{
	const struct wire_alarm_record *r = &d->x.r;
	const struct zone *zone = clock_zone(d->c, d->context.zone);
	char day[SPEECH_DAY_TEXT_MAX];
	enum rc rc;

	speech_day(delivery_now(d), zone != NULL ? zone : d->c->zone, day);
	rc = speech_count(d->c->state, r->user_id, r->id, str_of(day));
	if (rc != RC_OK)
		log_warn("speech.not_counted", LOG_V("id", r->id), LOG_RC(rc));
}

/* The occurrence has ended. */
static void
delivery_end(struct delivery *d, bool rung)
{
	struct wire_alarm_record *r = &d->x.r;

	ring_end(r, rung, delivery_now(d), delivery_next_ms(d));
	/* First: a process that dies between the two has not ended it. */
	if (!rung && r->type == WIRE_ALARM_RECORD_TYPE_ALARM &&
	    !delivery_note_missed(d))
		return;
	if (!delivery_save(d, 0))
		return;
	metric_add(rung ? d->c->metrics.rung : d->c->metrics.missed, 1);
	log_debug("alarm.ended", LOG_V("id", r->id), LOG_I("rung", rung),
	    LOG_V("reason", r->reason));
	alarm_view_publish(d->c, r,
	    rung ? WIRE_ALARM_RECORD_STATE_RUNG
		 : WIRE_ALARM_RECORD_STATE_MISSED,
	    &d->trace);
	if (rung && r->source == WIRE_ALARM_RECORD_SOURCE_NAVIGATOR)
		delivery_count_speech(d);
}

/* Store what it waits for; before is what that was. */
static void
delivery_save_wait(struct delivery *d, struct str before)
{
	if (delivery_save(d, 0) && !str_eq(before, d->x.r.reason))
		alarm_view_publish(d->c, &d->x.r, d->x.r.state, &d->trace);
}

static void
delivery_wait(struct delivery *d, int64_t until_ms, const char *reason)
{
	struct str before = d->x.r.reason;

	ring_wait(&d->x.r, until_ms, reason);
	delivery_save_wait(d, before);
}

/* ---- an attempt ---- */

/* Whether its rules allow it now; otherwise that is stored. */
static bool
delivery_is_allowed(struct delivery *d)
{
	struct wire_alarm_record *r = &d->x.r;
	const struct zone *zone;
	struct speech_decision s;
	enum rc rc;

	rc = speech_context_read(
	    d->c->state, r->user_id, r->soul_id, d->a, &d->context);
	if (rc == RC_OK && r->soul_id.n == 0 && d->context.session_soul.n > 0)
		rc = speech_context_read(d->c->state, r->user_id,
		    d->context.session_soul, d->a, &d->context);
	if (rc != RC_OK) {
		delivery_wait(d, delivery_now(d) + RING_SERVICE_MS, "failed");
		return false;
	}
	zone = clock_zone(d->c, d->context.zone);
	s = speech_decide(r, &d->context, zone != NULL ? zone : d->c->zone,
	    d->c->conf->speak_per_day);
	if (s.verdict == SPEECH_NEVER) {
		r->reason = str_of(s.reason);
		delivery_end(d, false);
	} else if (s.verdict == SPEECH_WAIT) {
		delivery_wait(d, s.until_ms, s.reason);
	}
	return s.verdict == SPEECH_NOW;
}

static void
delivery_add_body(struct str *list, size_t *n, struct str body)
{
	size_t i;

	for (i = 0; i < *n; i++)
		if (str_eq(list[i], body))
			return;
	if (body.n > 0 && *n < RING_BODIES_MAX)
		list[(*n)++] = body;
}

/* The body that is named, the one that was used last, the user's others. */
static enum rc
delivery_bodies(struct delivery *d, struct str list[RING_BODIES_MAX], size_t *n)
{
	const struct wire_alarm_record *r = &d->x.r;
	struct terminal_listed *all;
	size_t i, n_all;
	enum rc rc;

	*n = 0;
	delivery_add_body(list, n, r->terminal_id);
	/* Another body's light is another light. */
	if (r->has_action && *n > 0)
		return RC_OK;
	delivery_add_body(list, n, d->context.body);
	if (*n > 0 && r->n_tried == 0 && r->body.n == 0)
		return RC_OK;
	if (r->type == WIRE_ALARM_RECORD_TYPE_PUSH && r->terminal_id.n > 0) {
		*n = 1;
		return RC_OK;
	}
	rc = terminal_list(d->c->state, r->user_id, d->a, &all, &n_all);
	for (i = 0; rc == RC_OK && i < n_all; i++)
		delivery_add_body(list, n, all[i].id);
	return rc;
}

/*
 * Whether a body rings by itself, as far as is known: one that is not the
 * user's any more does not ring for the user.  RC_OK, or an error.
 */
static enum rc
delivery_check_self(struct delivery *d)
{
	struct wire_alarm_record *r = &d->x.r;
	struct terminal_listed *all;
	size_t i, n;
	enum rc rc;

	if (!r->self_ringing)
		return RC_OK;
	rc = terminal_list(d->c->state, r->user_id, d->a, &all, &n);
	if (rc != RC_OK)
		return rc;
	for (i = 0; i < n && !str_eq(all[i].id, r->terminal_id); i++)
		;
	r->self_ringing = i < n;
	if (!r->self_ringing)
		r->terminal_id = (struct str){ NULL, 0 };
	return RC_OK;
}

static void
delivery_observe_lag(struct delivery *d)
{
	if (d->first && d->x.r.attempts <= 1 &&
	    d->x.r.type == WIRE_ALARM_RECORD_TYPE_ALARM)
		metric_observe(d->c->metrics.lag,
		    (double)(delivery_now(d) - d->x.r.at_ms) / 1000);
	d->first = false;
}

static enum ring_outcome
delivery_speak(struct delivery *d)
{
	const struct wire_alarm_record *r = &d->x.r;
	int64_t lag = (delivery_now(d) - r->at_ms) / 1000;
	struct ring_turn_opts turn = { .r = r,
		.session_id = r->session_id,
		.lag_s = lag > d->c->conf->spoken_lag_s ? lag : 0,
		.trace = &d->trace,
		.a = d->a };
	enum ring_outcome o;

	if (turn.session_id.n == 0)
		turn.session_id = d->context.session_id;
	if (turn.session_id.n == 0)
		turn.session_id = STR(SESSION_ID);
	d->in_turn = true;
	o = ring_turn(d->c, &turn);
	d->in_turn = false;
	return o;
}

/* One attempt; true: another follows at once. */
static bool
delivery_try(struct delivery *d)
{
	struct wire_alarm_record *r = &d->x.r;
	struct str list[RING_BODIES_MAX], before = r->reason;
	struct ring_bodies bodies = { list, 0 };
	enum rc rc = delivery_bodies(d, list, &bodies.n);
	enum ring_outcome o;

	if (rc != RC_OK) {
		delivery_wait(d, delivery_now(d) + RING_SERVICE_MS, "failed");
		return false;
	}
	if (!ring_pick(r, &bodies, delivery_now(d), d->a)) {
		delivery_save_wait(d, before);
		return false;
	}
	r->reason = (struct str){ NULL, 0 };
	if (!delivery_save(d, delivery_now(d) + DELIVERY_LEASE_MS))
		return false;
	delivery_observe_lag(d);
	if (r->type == WIRE_ALARM_RECORD_TYPE_PUSH && r->body_attempts == 1)
		alarm_view_publish(d->c, r, r->state, &d->trace);
	o = delivery_speak(d);
	if (d->c->stopping)
		return false;
	if (ring_outcome(r, o, delivery_now(d), d->a)) {
		delivery_end(d, o == RING_SPOKEN);
		return false;
	}
	if (r->next_ms <= delivery_now(d))
		return delivery_save(d, delivery_now(d) + DELIVERY_LEASE_MS);
	delivery_save_wait(d, before);
	return false;
}

/* Whether there is something to do now; the timers may be wrong by a claim. */
static bool
delivery_is_due(struct delivery *d)
{
	int64_t lag = d->now.ms - d->x.entry.due.ms;

	if (ring_has_ended(&d->x.r))
		return false;
	if (ring_is_ringing(&d->x.r) && lag >= UNATTENDED_MS &&
	    lag <= RING_OUTAGE_MS)
		ring_set_clock(&d->x.r, lag);
	if (d->x.r.next_ms <= delivery_now(d))
		return true;
	(void)delivery_save(d, 0);
	return false;
}

/* True: it goes on at once. */
static bool
delivery_step(struct delivery *d)
{
	struct wire_alarm_record *r = &d->x.r;

	if (!ring_is_ringing(r)) {
		ring_begin(r, delivery_now(d));
		/* Another claim tries again. */
		if (delivery_check_self(d) != RC_OK)
			return false;
		if (r->self_ringing) {
			delivery_end(d, true);
			return false;
		}
		if (r->type == WIRE_ALARM_RECORD_TYPE_ALARM &&
		    !ring_is_over(r, delivery_now(d)))
			alarm_view_publish(d->c, r, r->state, &d->trace);
	}
	if (ring_is_over(r, delivery_now(d))) {
		delivery_end(d, false);
		return false;
	}
	return delivery_is_allowed(d) && delivery_try(d);
}

static void
delivery_main(void *arg)
{
	struct delivery *d = arg;
	struct alarm_clock *c = d->c;
	int i;

	log_trace_set(d->trace.trace_id);
	if (alarm_store_decode(&d->x, d->a) == RC_OK && delivery_is_due(d))
		for (i = 0; i < STEPS_MAX && !c->stopping; i++)
			if (!delivery_step(d))
				break;
	if (!ring_has_ended(&d->x.r))
		due_hint(c, d->x.entry.user_id);
	LIST_REMOVE(d, link);
	c->n_deliveries--;
	metric_set(c->metrics.delivering, (int64_t)c->n_deliveries);
	arena_free(d->a);
	svc_release(c->svc);
	free(d);
}

void
delivery_start(
    struct alarm_clock *c, const struct alarm_entry *e, struct wall now)
{
	struct delivery *d = mem_zalloc(sizeof(*d));

	d->c = c;
	d->a = arena_new(ARENA_MAX);
	d->now = now;
	d->at = clock_mono();
	d->first = true;
	trace_new(&d->trace);
	d->x.entry = *e;
	d->x.entry.user_id = arena_str(d->a, e->user_id);
	d->x.entry.id = arena_str(d->a, e->id);
	d->x.entry.json = arena_str(d->a, e->json);
	if (state_bucket(e->user_id, &d->bucket) != RC_OK)
		abort(); /* it is the user of a key */
	LIST_INSERT_HEAD(&c->deliveries, d, link);
	c->n_deliveries++;
	metric_set(c->metrics.delivering, (int64_t)c->n_deliveries);
	svc_hold(c->svc);
	fiber_start(delivery_main, d);
}

bool
delivery_is_claimed(
    const struct delivery *d, unsigned *bucket, struct alarm_entry *e)
{
	*bucket = d->bucket;
	*e = d->x.entry;
	return d->in_turn;
}

struct delivery *
delivery_next(const struct delivery *d)
{
	return LIST_NEXT(d, link);
}
