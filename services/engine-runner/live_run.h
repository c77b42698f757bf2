/*
 * live_run: a run of which this process is the writer: one attempt of it, from
 * its claim to what follows it, in one fiber.
 *
 *   prepare (folders, prompt, snapshot) → start the shim, or take it over →
 *   read the spool, publish its events → the engine has ended: what it changed
 *   → publish the end
 *
 * Whatever is not this attempt's (claims, timers, ends without an engine) is in
 * on_claim.c, on_due.c and run_abort.c.
 */
#ifndef ENGINE_RUNNER_LIVE_RUN_H
#define ENGINE_RUNNER_LIVE_RUN_H

#include <stdbool.h>
#include <stdint.h>

#include "attempt.h"
#include "core/arena.h"
#include "core/buf.h"
#include "core/loop.h"
#include "events/translate.h"
#include "procsup/procsup.h"
#include "run_outbox.h"
#include "state/run.h"
#include "wire/msgs.h"
#include "workspace.h"

struct fiber;
struct engine_entry;
struct metric;
struct runner;

struct live_run {
	struct runner *runner;
	struct arena *arena;   /* of record, request, meta */
	struct run_record rec; /* as claimed or adopted */
	struct wire_run_start_request request;
	struct engine_entry *engine;
	struct workspace_paths paths;
	struct spool_meta meta;
	struct attempt *attempt;
	struct translate translate;
	struct run_outbox outbox;
	struct buf line;   /* the event that is being written */
	struct buf file;   /* of events.jsonl: not written yet */
	int events_fd;     /* -1: none */
	struct shim *shim; /* NULL: not started, or it has ended */
	struct spool_exit exit;
	struct buf last_text;    /* of its last message */
	int64_t read[2];         /* bytes, by stream */
	struct metric *bytes[2]; /* set before the attempt begins */
	struct loop_deferred wake;
	struct loop_timer lingers;
	struct fiber *waits;  /* its own, for output */
	enum spool_stop stop; /* requested before it could be done */
	bool adopted;         /* it had begun in another process */
	bool exited;          /* exit is set; NULL spool: damaged */
	bool damaged;
	bool paused;
	bool fenced; /* another process is the writer */
};

/*
 * live_run_start(r, rec, a, adopted):
 * Go on with a run that was claimed or adopted: rec is in a, which becomes its
 * own.  The process drains until it has ended.
 */
void live_run_start(struct runner *r, const struct run_record *rec,
    struct arena *a, bool adopted);

/* live_run_stop(l, why): Stop the engine; no-op if it is stopped already. */
void live_run_stop(struct live_run *l, enum spool_stop why);

/* live_run_wake(l): Let its fiber see what has changed. */
void live_run_wake(struct live_run *l);

/*
 * live_run_fence(l): Another process is the writer: stop the engine and publish
 * nothing more.
 */
void live_run_fence(struct live_run *l);

/* ---- on_spool.c ---- */

/*
 * live_run_write_events(l): Write what is pending to events.jsonl.
 * live_run_on_event(l, e): An attempt's event.
 * live_run_on_chunk(l, c), live_run_on_end(l, e): As of procsup_handler.
 * live_run_publish(l): Publish what is pending, and more until the engine has
 * ended and all of its output is published but the end; false: fenced, or the
 * process stops.
 */
void live_run_write_events(struct live_run *l);
void live_run_on_event(void *l, const struct rasp_event *e);
void live_run_on_chunk(void *l, const struct spool_chunk *c);
void live_run_on_end(void *l, const struct spool_exit *e);
bool live_run_publish(struct live_run *l);

/* ---- on_exit.c ---- */

/* live_run_finish(l): After live_run_publish(): what follows the attempt. */
void live_run_finish(struct live_run *l);

#endif /* !ENGINE_RUNNER_LIVE_RUN_H */
