/*
 * run_outbox: events of an attempt that are not in the run's logs yet.
 *
 * Which they are follows from their number, so that an attempt whose spool is
 * read a second time skips those that had been published.  Not thread-safe.
 */
#ifndef ENGINE_RUNNER_RUN_OUTBOX_H
#define ENGINE_RUNNER_RUN_OUTBOX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

#include "core/str.h"

/* Events, and their bytes, beyond which the engine's output is not read on. */
#define RUN_OUTBOX_MAX   2048
#define RUN_OUTBOX_BYTES (8UL * 1024 * 1024)

enum run_log { RUN_LOG_FCMP, RUN_LOG_RASP, RUN_LOGS_N };

struct run_outbox_event;
TAILQ_HEAD(run_outbox_queue, run_outbox_event);

struct run_outbox {
	struct run_outbox_queue queue[RUN_LOGS_N];
	size_t n, bytes;
	int64_t made[RUN_LOGS_N];      /* events of the attempt */
	int64_t published[RUN_LOGS_N]; /* of these: in the logs */
};

/* run_outbox_init(o, fcmp, rasp): So many of the attempt are published. */
void run_outbox_init(struct run_outbox *o, int64_t fcmp, int64_t rasp);
void run_outbox_free(struct run_outbox *o);

/* run_outbox_put(o, log, json, ns): The attempt's next event; ns: its time. */
void run_outbox_put(
    struct run_outbox *o, enum run_log log, struct str json, int64_t ns);

/*
 * run_outbox_batch(o, log, json, max, bytes):
 * The oldest events that are not published, at most max, and of *bytes
 * together, of which theirs are subtracted; the first one fits always.  Valid
 * until run_outbox_published().
 */
size_t run_outbox_batch(const struct run_outbox *o, enum run_log log,
    struct str *json, size_t max, size_t *bytes);

/* run_outbox_published(o, log, n): So many of the attempt are in the log. */
void run_outbox_published(struct run_outbox *o, enum run_log log, int64_t n);

/* run_outbox_is_full(o), run_outbox_is_empty(o) */
bool run_outbox_is_full(const struct run_outbox *o);
bool run_outbox_is_empty(const struct run_outbox *o);

/* run_outbox_oldest_ns(o): Of its oldest event; 0: it is empty. */
int64_t run_outbox_oldest_ns(const struct run_outbox *o);

#endif /* !ENGINE_RUNNER_RUN_OUTBOX_H */
