/*
 * work: items of durable streams, each of which is done once by effect.
 *
 * An item is a message on soul.job.<kind> (stream SOUL_JOBS) or, if wanted, an
 * event.  It goes to one replica of the consumer, and again to any of them
 * until it is acknowledged: after the death of a process, after ack_wait
 * without a sign of life (which items in hand give), and with back-off after a
 * failure.  So an item may be handled again after its effect; a handler must be
 * idempotent by work_item_id(), which is the same each time.
 *
 * An item that fails max_deliveries times, cannot be read, or kills processes
 * is stored as a dead letter (work/dead_letter.h), and acknowledged when it is.
 * An operator replays or drops it, with the command WORK_DEAD_COMMAND().
 *
 * Items with the same key are handled one after the other, in the order in
 * which they come.  Everything runs on the loop thread; handlers in fibers.
 */
#ifndef WORK_WORK_H
#define WORK_WORK_H

#include <stdbool.h>
#include <stdint.h>

#include "core/arena.h"
#include "core/rc.h"
#include "core/str.h"
#include "core/trace.h"
#include "svc/svc.h"
#include "wire/wire.h"

/* The stream of jobs, which every consumer of work creates. */
#define WORK_STREAM "SOUL_JOBS"

/* Bytes of a kind. */
#define WORK_KIND_MAX 64

struct work;
struct work_item;

enum work_outcome {
	WORK_DONE,     /* its effect is stored, or it has none any more */
	WORK_FAILED,   /* it may succeed another time: again, with back-off */
	WORK_INVALID,  /* it never can: a dead letter at once */
	WORK_DEFERRED, /* what it needs is unavailable: held, and tried again;
			  this is no failure of the item */
};

struct work_opts {
	struct svc *svc;
	const char *kind;     /* [a-z0-9_]{1,WORK_KIND_MAX} */
	const char *consumer; /* durable, [a-z0-9-]+; label of the metrics */
	/*
	 * Events that are items, too, as soul.event.turn_completed.>: one
	 * filter.  NULL: none.
	 */
	const char *events;
	int64_t ack_wait_ms;
	int64_t max_deliveries;
	int64_t max_in_flight; /* items in hand of all replicas */
	/*
	 * Read an item: work_item_set(), work_item_set_key(); not in a fiber.
	 * An error makes it a dead letter at once, with err as the reason.
	 */
	enum rc (*read)(void *arg, struct work_item *i, struct wire_err *err);
	/* Handle it, in a fiber of its own, and end it with work_end(), now or
	 * later. */
	void (*handle)(void *arg, struct work_item *i);
	/* Whether what the items need is available; NULL: always. */
	bool (*available)(void *arg);
	/*
	 * Its dead letter is stored, and it is about to be acknowledged; may be
	 * called again for the same item, and without read() before.  NULL:
	 * nothing.
	 */
	void (*dead)(void *arg, const struct work_item *i, const char *why);
	void *arg;
};

/*
 * work_new(o), work_free(w):
 * Join the consumer.  NULL if the streams cannot be requested, logged.  Freed
 * before the service's bus; items in hand are returned to the stream, except
 * those being handled, which work_end() frees.  NULL is allowed.
 *
 * A stream or consumer that this NATS does not have yet is requested again
 * until it has; a consumer with another filter ends the service
 * (svc_end_unusable()).
 */
struct work *work_new(const struct work_opts *o);
void work_free(struct work *w);

/*
 * work_end(i, outcome, why):
 * End the handling of i; why (may be NULL) is for the dead letter.  i is gone,
 * unless it is deferred: then handle() is called again.
 */
void work_end(struct work_item *i, enum work_outcome outcome, const char *why);

/*
 * work_item_data(i):    What was published.
 * work_item_id(i):      Its message id, the same in every delivery and replay;
 *                       absent if it was published without one.
 * work_item_repeated(i): Whether it may have been handled before.
 * work_item_trace(i):   The sender's trace; NULL: none.
 * work_item_arena(i):   Memory of WIRE_ARENA_MAX that lives as long as i.
 */
struct str work_item_data(const struct work_item *i);
struct str work_item_id(const struct work_item *i);
bool work_item_repeated(const struct work_item *i);
const struct trace *work_item_trace(const struct work_item *i);
struct arena *work_item_arena(const struct work_item *i);

/*
 * work_item_set(i, what), work_item_get(i): What read() has found, for
 * handle().
 * work_item_set_key(i, key): Items with this key are handled in order; without
 * one, in any.  key lives as long as i.
 */
void work_item_set(struct work_item *i, void *what);
void *work_item_get(const struct work_item *i);
void work_item_set_key(struct work_item *i, struct str key);

/*
 * WORK_DEAD_COMMAND(kinds):
 * The row of a service's commands for "<service> dead": list, show, replay and
 * drop the dead letters of its kinds (an array that ends with NULL).
 */
extern const char work_dead_usage[], work_dead_help[];
int work_dead_run(const struct svc_run *r);

#define WORK_DEAD_COMMAND(kinds)                                            \
	{                                                                   \
		.name = "dead", .usage = work_dead_usage,                   \
		.summary = "inspect, replay or drop dead-lettered jobs",    \
		.help = work_dead_help, .fn = work_dead_run, .arg = (kinds) \
	}

#endif /* !WORK_WORK_H */
