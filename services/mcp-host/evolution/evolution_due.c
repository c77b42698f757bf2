#include "evolution/evolution_due.h"

#include "bus/bus.h"
#include "context.h"
#include "core/arena.h"
#include "core/fiber.h"
#include "core/log.h"
#include "evolution/evolution_item.h"
#include "state/bucket_poll.h"
#include "state/state.h"
#include "svc/svc.h"

#define SWEEP_MS    5000
#define LEASE_MS    20000
#define CLAIM_BYTES (8UL * 1024 * 1024)

static bool
evolution_due_ready(void *arg)
{
	const struct host *h = arg;

	return state_up(h->state) && bus_up(h->bus) && !h->draining;
}

static enum rc
evolution_due_poll(void *arg, unsigned bucket, int64_t *in_ms)
{
	struct arena *a = arena_new(CLAIM_BYTES);
	struct evolution_entries list;
	struct evolution_item item;
	struct host *h = arg;
	enum rc rc =
	    evolution_entry_claim(h->state, bucket, LEASE_MS, a, &list);

	for (size_t i = 0; rc == RC_OK && i < list.n && !h->draining; i++) {
		item.entry = list.entry[i];
		if (evolution_item_decode(&item, a) == RC_OK)
			evolution_item_publish(h, &item, NULL, a);
	}
	*in_ms = rc == RC_OK ? bucket_poll_in_ms(list.now, list.next) : -1;
	arena_free(a);
	return rc;
}

void
evolution_due_start(struct host *h)
{
	h->evolutions =
	    bucket_poll_new(&(struct bucket_poll_opts){ .loop = h->loop,
		.state = h->state,
		.role = "mcp",
		.sweep_ms = SWEEP_MS,
		.ready = evolution_due_ready,
		.poll = evolution_due_poll,
		.arg = h });
}

static void
evolution_due_leave(void *arg)
{
	struct host *h = arg;
	enum rc rc = bucket_poll_leave(h->evolutions);

	/* The membership expires. */
	if (rc != RC_OK)
		log_debug("mcp.timers_not_left", LOG_RC(rc));
	svc_release(h->svc);
}

void
evolution_due_drain(struct host *h)
{
	bucket_poll_stop(h->evolutions);
	svc_hold(h->svc);
	fiber_start(evolution_due_leave, h);
}
