/*
 * heartbeat: one to each client now and then.
 */
#include "handlers.h"

static void heartbeat_on_timer(void *arg);

static void
heartbeat_set_timer(struct hub *h)
{
	const struct client *c = TAILQ_FIRST(&h->clients);
	struct mono at = c != NULL
	    ? c->heartbeat
	    : mono_add_ms(clock_mono(), h->conf->heartbeat_ms);

	loop_timer_set(h->loop, &h->heartbeat, at, heartbeat_on_timer, h);
}

static void
heartbeat_on_timer(void *arg)
{
	struct hub *h = arg;
	struct mono now = clock_mono();
	struct client *c;

	/* All intervals are the same, so the list stays sorted. */
	while ((c = TAILQ_FIRST(&h->clients)) != NULL &&
	    c->heartbeat.ns <= now.ns) {
		TAILQ_REMOVE(&h->clients, c, link);
		TAILQ_INSERT_TAIL(&h->clients, c, link);
		c->heartbeat = mono_add_ms(now, h->conf->heartbeat_ms);
		claims_extend(h->claims, c);
		metric_observe(
		    h->metrics.queue_bytes, (double)ws_pending(c->peer));
		client_heartbeat(h, c, NULL);
	}
	heartbeat_set_timer(h);
}

void
heartbeats_start(struct hub *h)
{
	heartbeat_set_timer(h);
}

void
heartbeats_stop(struct hub *h)
{
	loop_timer_cancel(h->loop, &h->heartbeat);
}
