/*
 * run_abort: the end of a run at which no engine of this process runs.
 */
#ifndef ENGINE_RUNNER_RUN_ABORT_H
#define ENGINE_RUNNER_RUN_ABORT_H

#include "attempt.h"
#include "state/run.h"

struct runner;

/*
 * run_abort(r, rec, why):
 * End a run whose writer this process is, by the epoch of rec.  RC_CONFLICT,
 * RC_NOENT: it is not any more; RC_DOWN: the process stops.
 *
 * run_adopt_and_abort(r, run, epoch, why): Become the writer before.
 *
 * Both wait for Redis, in a fiber.
 */
enum rc run_abort(struct runner *r, const struct run_record *rec,
    const struct attempt_abort *why) RC_CHECK;
enum rc run_adopt_and_abort(struct runner *r, struct str run, int64_t epoch,
    const struct attempt_abort *why) RC_CHECK;

/* Why, as users see it. */
extern const struct attempt_abort run_abort_canceled, run_abort_lost,
    run_abort_no_workspace, run_abort_disk;

#endif /* !ENGINE_RUNNER_RUN_ABORT_H */
