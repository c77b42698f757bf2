/*
 * What is due for the runs of any runner: a queued run whose runner does not
 * know of it, or is dead; a question that nobody has answered in time; a
 * running run whose runner is lost; one that is to be canceled.
 *
 * The runners share the buckets; for a moment two may do the same, of which the
 * records permit one.
 */
#include <stdlib.h>

#include "context.h"
#include "core/arena.h"
#include "core/fiber.h"
#include "core/log.h"
#include "core/mem.h"
#include "handlers.h"
#include "run_abort.h"
#include "run_choice.h"
#include "run_stream.h"
#include "runner_list.h"
#include "state/bucket_poll.h"
#include "state/run_runner.h"

#define SWEEP_MS 10000
/* What is due is done again after this, unless that has changed it. */
#define LEASE_MS 5000
/* This runner has renewed itself for so long. */
#define CERTAIN_MS 5000
#define ARENA_MAX  (16UL * 1024 * 1024)

struct due {
	struct runner *runner;
	struct bucket_poll *poll;
};

/* ---- one run ---- */

static void
due_log(struct str run, const char *what, enum rc rc)
{
	if (rc != RC_OK)
		log_debug("run.due", LOG_V("run", run), LOG_S("what", what),
		    LOG_RC(rc));
}

static void
due_abort(
    struct due *d, const struct run_due *u, const struct attempt_abort *why)
{
	due_log(u->run_id, why->code,
	    run_adopt_and_abort(d->runner, u->run_id, u->epoch, why));
}

/*
 * Whether its runner is gone for good; alive is whether it is up now.  After an
 * outage of Redis all runners seem dead until they have renewed themselves.
 */
static bool
due_is_lost(const struct due *d, const struct runner_list *list,
    struct str runner, bool *alive)
{
	const struct run_runner *x = runner_list_find(list, runner);

	*alive = x != NULL && x->alive;
	if (d->runner->renewed_since.ns == 0 ||
	    mono_diff_ms(clock_mono(), d->runner->renewed_since) < CERTAIN_MS)
		return false;
	return x == NULL || x->dead_ms > d->runner->conf->lost_after_s * 1000;
}

/* No engine has been started for it: it may run anywhere. */
static void
due_move(struct due *d, const struct runner_list *list,
    const struct run_record *rec, struct arena *a)
{
	struct wire_run_start_request q;
	struct run_choice c = { .engine = rec->engine, .tenant = rec->tenant };
	struct str to;
	enum rc rc =
	    wire_decode(&wire_run_start_request_desc, rec->spec, a, &q, NULL);

	c.model = rc == RC_OK ? q.model : c.model;
	if (rc == RC_OK)
		rc = run_choice_make(&c, list->status, list->n_status, &to);
	if (rc == RC_OK)
		rc = run_assign(d->runner->state, rec->run_id, rec->runner, to);
	if (rc == RC_OK)
		rc = run_enqueue(d->runner, to, rec->run_id);
	due_log(rec->run_id, "move", rc);
}

static void
due_queued(struct due *d, const struct runner_list *list,
    const struct run_due *u, struct arena *a)
{
	struct run_record rec;
	bool alive, lost = due_is_lost(d, list, u->runner, &alive);
	enum rc rc;

	if (alive) {
		rc = run_enqueue(d->runner, u->runner, u->run_id);
		due_log(u->run_id, "add", rc);
		return;
	}
	rc = run_read(d->runner->state, u->run_id, a, &rec);
	if (rc != RC_OK || rec.status != RUN_IS_QUEUED)
		return;
	if (rec.attempt == 0 && rec.resumes.n == 0)
		due_move(d, list, &rec, a);
	else if (lost)
		due_abort(d, u, &run_abort_no_workspace);
}

static enum rc
due_auto_reply(struct due *d, const struct run_record *rec, struct str reply)
{
	struct run_publish p = { .run_id = rec->run_id,
		.user_id = rec->user_id,
		.workspace = rec->workspace,
		.epoch = rec->epoch,
		.fcmp = rec->fcmp,
		.rasp = rec->rasp,
		.status = RUN_IS_QUEUED,
		.reply = reply };
	enum rc rc = run_stream_append(d->runner, &p);

	return rc == RC_OK ? run_enqueue(d->runner, rec->runner, rec->run_id)
			   : rc;
}

static void
due_waiting(struct due *d, const struct run_due *u, struct arena *a)
{
	struct attempt_abort timeout = { .code = "REPLY_TIMEOUT",
		.message = "The question was not answered in time.",
		.retryable = true };
	struct wire_run_start_request q;
	struct run_record rec;
	enum rc rc = run_read(d->runner->state, u->run_id, a, &rec);

	if (rc != RC_OK || rec.status != RUN_IS_WAITING ||
	    rec.reply_until.ms > clock_wall().ms)
		return;
	timeout.timeout_id = rec.question_id;
	rc = wire_decode(&wire_run_start_request_desc, rec.spec, a, &q, NULL);
	if (rc != RC_OK || q.auto_reply.n == 0) {
		due_abort(d, u, &timeout);
		return;
	}
	rc = run_adopt(d->runner->state, u->run_id, u->epoch, a, &rec);
	if (rc == RC_OK)
		rc = due_auto_reply(d, &rec, q.auto_reply);
	due_log(u->run_id, "auto_reply", rc);
}

static void
due_running(
    struct due *d, const struct runner_list *list, const struct run_due *u)
{
	bool alive;

	if (due_is_lost(d, list, u->runner, &alive))
		due_abort(d, u, &run_abort_lost);
	else if (u->cancel && alive)
		run_wake(d->runner, u->runner, u->run_id);
}

static void
due_one(struct due *d, const struct runner_list *list, const struct run_due *u)
{
	struct arena *a = arena_new(ARENA_MAX);

	if (u->cancel && u->status != RUN_IS_RUNNING)
		due_abort(d, u, &run_abort_canceled);
	else if (u->status == RUN_IS_QUEUED)
		due_queued(d, list, u, a);
	else if (u->status == RUN_IS_WAITING)
		due_waiting(d, u, a);
	else if (u->status == RUN_IS_RUNNING)
		due_running(d, list, u);
	arena_free(a);
}

/* ---- buckets ---- */

static int64_t
due_in_ms(struct wall next)
{
	int64_t ms = next.ms - clock_wall().ms;

	if (next.ms == 0)
		return -1;
	return ms > 0 ? ms : 0;
}

static enum rc
due_bucket(void *arg, unsigned bucket, int64_t *in_ms)
{
	struct due *d = arg;
	struct arena *a = arena_new(ARENA_MAX);
	struct run_due_list due = { 0 };
	struct runner_list list = { 0 };
	size_t i;
	enum rc rc;

	rc = run_due_claim(
	    d->runner->state, bucket, LEASE_MS, RUN_DUE_MAX, a, &due);
	if (rc == RC_OK && due.n > 0)
		rc = runner_list_read(d->runner, a, &list);
	for (i = 0; rc == RC_OK && i < due.n && !d->runner->stopping; i++)
		due_one(d, &list, &due.run[i]);
	*in_ms = due_in_ms(due.next);
	arena_free(a);
	return rc;
}

static bool
due_is_ready(void *arg)
{
	const struct due *d = arg;

	return state_up(d->runner->state) && !d->runner->draining;
}

struct due *
due_new(struct runner *r)
{
	struct due *d = mem_zalloc(sizeof(*d));

	d->runner = r;
	d->poll = bucket_poll_new(&(struct bucket_poll_opts){ .loop = r->loop,
	    .state = r->state,
	    .role = "runs",
	    .sweep_ms = SWEEP_MS,
	    .ready = due_is_ready,
	    .poll = due_bucket,
	    .arg = d });
	return d;
}

void
due_leave(struct due *d)
{
	enum rc rc;

	bucket_poll_stop(d->poll);
	rc = bucket_poll_leave(d->poll);
	if (rc != RC_OK)
		log_debug("runner.timers_not_left", LOG_RC(rc));
}

void
due_free(struct due *d)
{
	if (d == NULL)
		return;
	bucket_poll_free(d->poll);
	free(d);
}
