/*
 * run_request: what a user does with runs: start, reply, cancel.  Done by a
 * script in Redis, so that any runner does it for the runs of any other.
 *
 * Everything here is a call (state.h).
 */
#ifndef ENGINE_RUNNER_RUN_REQUEST_H
#define ENGINE_RUNNER_RUN_REQUEST_H

#include <stdbool.h>

#include "core/arena.h"
#include "core/rc.h"
#include "core/str.h"
#include "state/run.h"
#include "svc/svc.h"
#include "wire/msgs.h"

struct runner;

/*
 * Why a request was rejected: constants.  error.code NULL: the code and status
 * of rc.
 */
struct run_rejection {
	enum rc rc;
	struct svc_error error;
	bool may_be_done; /* it is not known whether it was */
};

/*
 * run_request_start(r, q, body, a, out, why):
 * Store a queued run of q, whose JSON is body; one that q's idempotency_key has
 * started is not started a second time.  *out is its record, in a.
 */
enum rc run_request_start(struct runner *r,
    const struct wire_run_start_request *q, struct str body, struct arena *a,
    struct run_record *out, struct run_rejection *why) RC_CHECK;

/* run_request_reply(r, q, a, out, why): Answer the question of a run. */
enum rc run_request_reply(struct runner *r,
    const struct wire_run_reply_request *q, struct arena *a,
    struct run_record *out, struct run_rejection *why) RC_CHECK;

/*
 * run_request_cancel(r, q, a, out, why):
 * Cancel it; *out is its record, with the state that it has now.  accepted is
 * false if it had ended before.
 */
struct run_canceling {
	struct str run_id, user_id;
	bool accepted; /* set */
};
enum rc run_request_cancel(struct runner *r, struct run_canceling *q,
    struct arena *a, struct run_record *out,
    struct run_rejection *why) RC_CHECK;

#endif /* !ENGINE_RUNNER_RUN_REQUEST_H */
