/*
 * Events of the stream, to the queues of webhooks.
 */
#include <stdlib.h>

#include "bus/bus.h"
#include "bus/jetstream.h"
#include "core/arena.h"
#include "core/fiber.h"
#include "core/log.h"
#include "core/mem.h"
#include "live/event_log.h"
#include "live/event_view.h"
#include "state/state.h"
#include "svc/svc.h"
#include "webhooks/webhooks.h"
#include "wire/iface.h"
#include "wire/wire.h"

#define EVENTS_STREAM "SOUL_EVENTS"
#define CONSUMER      "chat-gateway-webhooks"
#define ACK_WAIT_MS   10000
#define RETRY_MS      1000
/* The queues have the order of the stream only with one of all replicas. */
#define IN_FLIGHT_MAX 1
/* An event, and whose it is. */
#define ROUTE_ARENA (EVENT_ARENA_MAX + WIRE_ARENA_MAX)
/* Clocks may differ: an event of that moment is wanted. */
#define CLOCKS_MS 250

struct webhook_route {
	struct webhooks *w;
	struct bus_msg *msg;
	struct arena *a;
};

/* The user whose webhooks may have e; RC_NOENT: nobody. */
static enum rc
webhook_route_user(
    struct webhook_route *r, const struct event_view *e, struct str *user)
{
	struct event_filter f = { .scope = EVENT_SCOPE_USER };
	struct event_owner owner;
	struct str bad;
	enum rc rc;

	if (event_filter_types(&f, (struct str){ NULL, 0 }, &bad) != RC_OK ||
	    !event_filter_wants(&f, e))
		return RC_NOENT;
	*user = e->user_id;
	if (!event_filter_needs_owner(&f, e))
		return user->p != NULL ? RC_OK : RC_NOENT;
	rc = event_log_owner(r->w->o.log, e, r->a, &owner);
	if (rc != RC_OK)
		return rc;
	*user = f.user_id = owner.user_id;
	return user->p != NULL && event_filter_allows(&f, e, &owner) ? RC_OK
								     : RC_NOENT;
}

static enum rc
webhook_route_event(struct webhook_route *r, const struct bus_delivery *d)
{
	struct webhook_event q = { .at = d->stored, .seq = d->seq };
	struct event_view e;
	size_t n;
	enum rc rc = event_view_read(bus_msg_data(r->msg), r->a, &e);

	e.stored = d->stored;
	if (rc == RC_OK)
		rc = webhook_route_user(r, &e, &q.user_id);
	if (rc != RC_OK)
		return rc;
	q.type = str_of(wire_events[e.type].type);
	q.at.ms += CLOCKS_MS;
	rc = webhook_enqueue(r->w->o.state, &q, &n);
	if (n > 0)
		webhooks_hint(r->w, q.user_id);
	return rc;
}

/* Whether it is done, for good or bad. */
static bool
webhook_route_take(struct webhook_route *r)
{
	struct bus_delivery d;
	enum rc rc;

	if (!state_up(r->w->o.state) || !bus_msg_delivery(r->msg, &d))
		return false;
	rc = webhook_route_event(r, &d);
	switch (rc) {
	case RC_OK:
	case RC_UNREPLICATED:
	case RC_NOENT:
		return true;
	case RC_INVALID:
	case RC_TOOBIG:
		log_warn("webhook.event_unreadable", LOG_I("seq", d.seq),
		    LOG_RC(rc));
		return true;
	default:
		log_warn(
		    "webhook.event_waits", LOG_I("seq", d.seq), LOG_RC(rc));
		return false;
	}
}

static void
webhook_route_main(void *arg)
{
	struct webhook_route *r = arg;
	struct svc *s = r->w->o.svc;

	/* If this fails it is delivered again. */
	(void)!(webhook_route_take(r) ? bus_ack(r->msg)
				      : bus_nak(r->msg, RETRY_MS));
	arena_free(r->a);
	free(r);
	svc_release(s);
}

static void
webhook_route_on_message(void *arg, struct bus_msg *msg)
{
	struct webhook_route *r = mem_zalloc(sizeof(*r));

	*r = (struct webhook_route){ arg, msg, arena_new(ROUTE_ARENA) };
	svc_hold(r->w->o.svc);
	fiber_start(webhook_route_main, r);
}

static void
webhook_route_on_ready(void *arg, enum rc rc)
{
	static struct log_rate rate;
	int64_t missed;

	(void)arg;
	if (rc != RC_OK && log_every(&rate, 10, &missed))
		log_warn("webhook.no_stream_yet", LOG_RC(rc),
		    LOG_I("missed", missed));
}

enum rc
webhook_route_begin(struct webhooks *w)
{
	return bus_consume(svc_bus(w->o.svc),
	    &(struct bus_consumer){ .stream = EVENTS_STREAM,
		.name = CONSUMER,
		.ack_wait_ms = ACK_WAIT_MS,
		.max_in_flight = IN_FLIGHT_MAX,
		.fn = webhook_route_on_message,
		.ready = webhook_route_on_ready,
		.arg = w });
}
