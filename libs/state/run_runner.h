/*
 * run_runner: the processes that run coding engines: which live, what they
 * offer, and a hint of the runs that each has.
 *
 * A runner's id stays the same over restarts, because its disk does.  Which
 * runs are a runner's is in their records; its list here may lack some for a
 * while, and have some more.
 *
 * Everything here is a call (state.h).  Lists are in the caller's arena.
 */
#ifndef STATE_RUN_RUNNER_H
#define STATE_RUN_RUNNER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/arena.h"
#include "core/clock.h"
#include "state/state.h"

/* Runners, and bytes of what one offers. */
#define RUN_RUNNERS_MAX       256
#define RUN_RUNNER_STATUS_MAX 65536
/* How long a runner counts as alive after it has renewed that. */
#define RUN_RUNNER_ALIVE_MS 3000

/*
 * run_runner_renew(s, runner, status):
 * It lives for RUN_RUNNER_ALIVE_MS, and offers this (runner_status, JSON).
 * RC_RETRY: there are RUN_RUNNERS_MAX.
 * run_runner_end(s, runner): It does not live any more.
 */
enum rc run_runner_renew(
    struct state *s, struct str runner, struct str status) RC_CHECK;
enum rc run_runner_end(struct state *s, struct str runner) RC_CHECK;

struct run_runner {
	struct str id;
	struct str status; /* as it renewed it last */
	bool alive;
	int64_t dead_ms; /* 0 if alive: for how long it is not */
};

/* run_runner_list(s, a, list, n): All that were alive in the last day. */
enum rc run_runner_list(struct state *s, struct arena *a,
    struct run_runner **list, size_t *n) RC_CHECK;

/*
 * run_runner_add(s, runner, run), run_runner_drop(s, runner, run):
 * A queued or running run of the runner; it is not any more.
 * run_runner_runs(s, runner, a, list, n): All of them.
 * run_runner_count(s, runner, n): How many.
 */
enum rc run_runner_add(
    struct state *s, struct str runner, struct str run) RC_CHECK;
enum rc run_runner_drop(
    struct state *s, struct str runner, struct str run) RC_CHECK;
enum rc run_runner_runs(struct state *s, struct str runner, struct arena *a,
    struct str **list, size_t *n) RC_CHECK;
enum rc run_runner_count(
    struct state *s, struct str runner, int64_t *n) RC_CHECK;

#endif /* !STATE_RUN_RUNNER_H */
