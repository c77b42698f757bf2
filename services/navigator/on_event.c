/*
 * Events that souls think about: each is counted in Redis, then acknowledged.
 * One that cannot be read is acknowledged, too: it is only a reason to think.
 */
#include <stdlib.h>

#include "bus/bus.h"
#include "bus/jetstream.h"
#include "context.h"
#include "core/fiber.h"
#include "core/log.h"
#include "core/mem.h"
#include "core/metric.h"
#include "state/session.h"
#include "state/state.h"
#include "svc/svc.h"
#include "trigger.h"
#include "wire/subjects.h"
#include "wire/wire.h"

#define EVENTS_STREAM "SOUL_EVENTS"
#define ACK_WAIT_MS   30000
#define IN_FLIGHT_MAX 64
#define RETRY_MS      1000
/* What is older is no reason to think now. */
#define AGE_MAX_S 600

struct on_event {
	struct navigator *n;
	struct bus_msg *msg;
	struct arena *a;
	const struct on_event_kind *kind;
};

/*
 * Fill in *out of a payload; RC_NOENT: it is no reason to think.  Other
 * results: it is not known yet.
 */
typedef enum rc (*on_event_read_fn)(
    struct on_event *e, const void *payload, struct nav_event *out);

struct on_event_kind {
	const char *consumer, *filter;
	const struct wire_desc *payload;
	on_event_read_fn read;
};

static enum rc
on_event_read_turn(
    struct on_event *e, const void *payload, struct nav_event *out)
{
	const struct wire_turn_completed *t = payload;

	(void)e;
	if (t->soul_id.n == 0 || t->unasked ||
	    t->state != WIRE_TURN_COMPLETED_STATE_COMPLETED)
		return RC_NOENT;
	*out = (struct nav_event){ .key = { t->user_id, t->soul_id },
		.id = t->turn_id,
		.session_id = t->session_id,
		.terminal_id = t->terminal_id,
		.turn = true,
		.trigger = trigger_of_turn(t) };
	return RC_OK;
}

static enum rc
on_event_read_alarm(
    struct on_event *e, const void *payload, struct nav_event *out)
{
	const struct wire_alarm_changed *c = payload;

	(void)e;
	if (c->soul_id.n == 0 || trigger_of_alarm(c) == NAV_NONE)
		return RC_NOENT;
	*out = (struct nav_event){ .key = { c->user_id, c->soul_id },
		.id = c->occurrence.n > 0 ? c->occurrence : c->alarm_id,
		.trigger = trigger_of_alarm(c) };
	return RC_OK;
}

/* Of the soul that its session is with. */
static enum rc
on_event_read_run(
    struct on_event *e, const void *payload, struct nav_event *out)
{
	const struct wire_run_ended *r = payload;
	const struct session_key k = { r->user_id, r->session_id };
	struct session s;
	enum rc rc;

	if (trigger_of_run(r) == NAV_NONE)
		return RC_NOENT;
	rc = session_read(e->n->state, &k, e->a, &s);
	if (rc != RC_OK)
		return rc;
	*out = (struct nav_event){ .key = { r->user_id, s.soul_id },
		.id = r->run_id,
		.trigger = trigger_of_run(r) };
	return s.soul_id.n > 0 ? RC_OK : RC_NOENT;
}

static enum rc
on_event_read_memory(
    struct on_event *e, const void *payload, struct nav_event *out)
{
	const struct wire_memory_stored *m = payload;

	(void)e;
	if (trigger_of_memory(m) == NAV_NONE)
		return RC_NOENT;
	*out = (struct nav_event){ .key = { m->user_id, m->soul_id },
		.id = m->memory_id,
		.trigger = trigger_of_memory(m) };
	return RC_OK;
}

static const struct on_event_kind on_event_kinds[] = {
	{ "navigator-turns", "soul.event." WIRE_EVENT_TURN_COMPLETED ".*",
	    &wire_turn_completed_desc, on_event_read_turn },
	{ "navigator-alarms", "soul.event." WIRE_EVENT_ALARM_STATE ".*",
	    &wire_alarm_changed_desc, on_event_read_alarm },
	{ "navigator-runs", "soul.event." WIRE_EVENT_RUN_ENDED ".*",
	    &wire_run_ended_desc, on_event_read_run },
	{ "navigator-memories", "soul.event." WIRE_EVENT_MEMORY_STORED ".*",
	    &wire_memory_stored_desc, on_event_read_memory },
};

static enum rc
on_event_decode(struct on_event *e, struct nav_event *out)
{
	struct wire_event_envelope env;
	struct wire_err err = { 0 };
	void *payload = arena_alloc(e->a, wire_desc_size(e->kind->payload));
	enum rc rc = payload == NULL ? RC_TOOBIG : RC_OK;

	if (rc == RC_OK)
		rc = wire_decode(&wire_event_envelope_desc,
		    bus_msg_data(e->msg), e->a, &env, &err);
	if (rc == RC_OK)
		rc = wire_decode(
		    e->kind->payload, env.payload, e->a, payload, &err);
	if (rc != RC_OK) {
		metric_add(e->n->events_invalid, 1);
		log_warn("nav.event_unreadable", LOG_RC(rc),
		    LOG_S("consumer", e->kind->consumer),
		    LOG_S("path", err.path), LOG_S("why", err.why));
		return rc;
	}
	if (env.meta.timestamp * 1000 <
	    (double)(clock_wall().ms - AGE_MAX_S * 1000))
		return RC_NOENT;
	return e->kind->read(e, payload, out);
}

/* Whether it is done, for good or bad. */
static bool
on_event_note(struct on_event *e)
{
	struct nav_rule rule = navigator_rule(e->n);
	struct nav_event event;
	struct wall due;
	enum rc rc = on_event_decode(e, &event);

	if (rc == RC_DOWN || rc == RC_RETRY || rc == RC_TIMEOUT)
		return false;
	if (rc != RC_OK)
		return true;
	rc = nav_note(e->n->state, &event, &rule, &due);
	if (rc == RC_OK || rc == RC_UNREPLICATED) {
		metric_add(e->n->events, 1);
		on_due_hint(e->n, &event.key, due);
		return true;
	}
	if (rc != RC_NOENT)
		log_warn("nav.event_not_counted", LOG_RC(rc));
	return rc == RC_NOENT || rc == RC_INVALID || rc == RC_TOOBIG;
}

static void
on_event_main(void *arg)
{
	struct on_event *e = arg;
	bool done = state_up(e->n->state) && on_event_note(e);

	/* If this fails it is delivered again. */
	(void)!(done ? bus_ack(e->msg) : bus_nak(e->msg, RETRY_MS));
	arena_free(e->a);
	svc_release(e->n->svc);
	free(e);
}

static void
on_event_message(
    struct navigator *n, const struct on_event_kind *kind, struct bus_msg *msg)
{
	struct on_event *e = mem_zalloc(sizeof(*e));

	*e = (struct on_event){ n, msg, arena_new(WIRE_ARENA_MAX), kind };
	svc_hold(n->svc);
	fiber_start(on_event_main, e);
}

static void
on_event_turn_message(void *arg, struct bus_msg *msg)
{
	on_event_message(arg, &on_event_kinds[0], msg);
}

static void
on_event_alarm_message(void *arg, struct bus_msg *msg)
{
	on_event_message(arg, &on_event_kinds[1], msg);
}

static void
on_event_run_message(void *arg, struct bus_msg *msg)
{
	on_event_message(arg, &on_event_kinds[2], msg);
}

static void
on_event_memory_message(void *arg, struct bus_msg *msg)
{
	on_event_message(arg, &on_event_kinds[3], msg);
}

static void
on_event_ready(void *arg, enum rc rc)
{
	struct navigator *n = arg;

	if (rc != RC_CONFLICT)
		return;
	log_error("nav.consumer_unusable", LOG_S("stream", EVENTS_STREAM),
	    LOG_S("hint",
		"delete the consumers navigator-turns, -alarms, -runs and "
		"-memories"));
	svc_end_unusable(n->svc);
}

bool
on_event_start(struct navigator *n)
{
	static const bus_msg_fn fns[] = { on_event_turn_message,
		on_event_alarm_message, on_event_run_message,
		on_event_memory_message };
	enum rc rc = RC_OK;
	size_t i;

	for (i = 0; i < NELEM(on_event_kinds) && rc == RC_OK; i++)
		rc = bus_consume(n->bus,
		    &(struct bus_consumer){ .stream = EVENTS_STREAM,
			.name = on_event_kinds[i].consumer,
			.filter = on_event_kinds[i].filter,
			.ack_wait_ms = ACK_WAIT_MS,
			.max_in_flight = IN_FLIGHT_MAX,
			.fn = fns[i],
			.ready = on_event_ready,
			.arg = n });
	if (rc != RC_OK)
		log_error("nav.no_consumer", LOG_RC(rc));
	return rc == RC_OK;
}
