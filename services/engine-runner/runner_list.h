/*
 * runner_list: all runners, and what those that live offer.
 */
#ifndef ENGINE_RUNNER_RUNNER_LIST_H
#define ENGINE_RUNNER_RUNNER_LIST_H

#include "core/arena.h"
#include "core/rc.h"
#include "core/str.h"
#include "state/run_runner.h"
#include "wire/msgs.h"

struct runner;

struct runner_list {
	struct run_runner *all;
	size_t n_all;
	struct wire_runner_status *status; /* of those that live */
	size_t n_status;
};

/* runner_list_read(r, a, out): A call; all is in a. */
enum rc runner_list_read(
    struct runner *r, struct arena *a, struct runner_list *out) RC_CHECK;

/* runner_list_find(l, runner): NULL: it was not alive in the last day. */
const struct run_runner *runner_list_find(
    const struct runner_list *l, struct str runner);

#endif /* !ENGINE_RUNNER_RUNNER_LIST_H */
