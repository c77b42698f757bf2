/*
 * Start, reply, cancel: done by a script in Redis, so that any runner does it
 * for the runs of any other.
 */
#include <string.h>

#include "context.h"
#include "core/arena.h"
#include "core/log.h"
#include "fcmp/fcmp_write.h"
#include "handlers.h"
#include "run_abort.h"
#include "run_choice.h"
#include "run_reply_check.h"
#include "runner_list.h"
#include "state/run.h"
#include "state/run_runner.h"
#include "svc/svc.h"
#include "wire/msgs.h"

#define NO_ENGINE "no runner that is up has the engine"

static const struct svc_error run_queue_full = { 429, "queue_full",
	"too many runs wait: try again later" };
static const struct svc_error run_too_many = { 429, "too_many_runs",
	"the user has too many runs: wait until one has ended" };

/* The record as the reply; false: c was rejected. */
static void
run_reply_record(struct svc_call *c, const struct run_record *r)
{
	struct arena *a = svc_call_arena(c);
	char created[WALL_FORMAT_MAX], ended[WALL_FORMAT_MAX];
	struct wire_run rep = { .run_id = r->run_id,
		.user_id = r->user_id,
		.engine = r->engine,
		.title = r->title,
		.state = (enum wire_run_state)r->status,
		.attempt = r->attempt,
		.resumes = r->resumes };
	int i;

	for (i = 0; i <= WIRE_RUN_MODE_FILE_WRITE; i++)
		if (str_eq(wire_run_mode_names[i], r->mode))
			rep.mode = (enum wire_run_mode)i;
	wall_format(r->created, 0, created);
	rep.created_at = arena_str(a, str_of(created));
	if (r->ended.ms != 0) {
		wall_format(r->ended, 0, ended);
		rep.ended_at = arena_str(a, str_of(ended));
	}
	svc_reply(c, &rep);
}

static void
run_fail_why(struct svc_call *c, struct str why)
{
	static const struct {
		struct str why;
		struct svc_error e;
	} table[] = {
		{ STR_INIT(RUN_WHY_KEY_REUSED),
		    { 409, RUN_WHY_KEY_REUSED,
			"the idempotency_key was used for another request" } },
		{ STR_INIT(RUN_WHY_BUSY),
		    { 409, RUN_WHY_BUSY,
			"another run uses the workspace: wait until it has "
			"ended" } },
		{ STR_INIT(RUN_WHY_NOT_RESUMABLE),
		    { 409, RUN_WHY_NOT_RESUMABLE,
			"the run has not ended, or has no session, or another "
			"engine" } },
		{ STR_INIT(RUN_WHY_NOT_WAITING),
		    { 409, RUN_WHY_NOT_WAITING,
			"the run does not wait for a reply" } },
		{ STR_INIT(RUN_WHY_STALE),
		    { 409, RUN_WHY_STALE,
			"the question was answered, or is not the newest" } },
	};
	size_t i;

	for (i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		if (str_eq(table[i].why, why)) {
			svc_fail_as(c, &table[i].e);
			return;
		}
	svc_fail(c, RC_CONFLICT, "the run has changed: try again");
}

static void
run_fail(struct svc_call *c, enum rc rc)
{
	if (rc == RC_NOENT)
		svc_fail(c, RC_NOENT, "run not found");
	else if (rc == RC_BUG || rc == RC_INVALID)
		svc_fail(c, rc, "the request cannot be stored");
	else
		svc_fail(c, rc, "Redis is unavailable: try again later");
}

/* ---- start ---- */

/* The skill's name, or the prompt's first line. */
static struct str
run_title(const struct wire_run_start_request *q)
{
	struct str rest = q->prompt, line = q->skill;
	size_t pos = 0, n = 0;

	while (line.n == 0 && rest.p != NULL)
		line = str_trim(str_split(&rest, '\n'));
	while (n < FCMP_TITLE_CHARS && str_utf8_next(line, &pos) != -1)
		n++;
	line.n = pos;
	return line;
}

/* The runner for a new run; false: c was rejected. */
static bool
run_choose(
    struct runner *r, struct svc_call *c, struct run_new *n, struct str model)
{
	const struct run_choice choice = { n->engine, n->tenant, model };
	struct runner_list list;
	int64_t queued;
	enum rc rc = runner_list_read(r, svc_call_arena(c), &list);

	if (rc != RC_OK) {
		run_fail(c, rc);
		return false;
	}
	rc = run_choice_make(&choice, list.status, list.n_status, &n->runner);
	if (rc == RC_DENIED)
		svc_fail(c, rc, "engine: not allowed for this tenant");
	else if (rc == RC_INVALID)
		svc_fail(c, rc, "model: the engine does not have it");
	else if (rc != RC_OK)
		svc_fail(c, rc, NO_ENGINE);
	if (rc != RC_OK)
		return false;
	rc = run_runner_count(r->state, n->runner, &queued);
	if (rc != RC_OK)
		run_fail(c, rc);
	else if (queued >= r->conf->queue_max + r->conf->runs_max)
		svc_fail_as(c, &run_queue_full);
	else
		return true;
	return false;
}

static void
run_start_done(struct runner *r, struct svc_call *c, const struct run_new *n)
{
	struct run_record rec;
	enum rc rc =
	    run_read(r->state, str_of(n->run_id), svc_call_arena(c), &rec);

	if (rc != RC_OK) {
		run_fail(c, rc);
		return;
	}
	if (rec.status == RUN_IS_QUEUED &&
	    run_enqueue(r, rec.runner, rec.run_id) != RC_OK)
		log_debug("run.not_added", LOG_V("run", rec.run_id));
	log_info("run.start", LOG_V("run", rec.run_id),
	    LOG_V("runner", rec.runner), LOG_I("repeated", n->repeated));
	run_reply_record(c, &rec);
}

void
on_run_start(void *app, struct svc_call *c)
{
	struct runner *r = app;
	const struct wire_run_start_request *q = svc_call_request(c);
	struct run_new n = { .user_id = q->user_id,
		.tenant = q->tenant,
		.engine = q->engine,
		.mode = wire_run_start_request_mode_names[q->mode],
		.title = run_title(q),
		.spec = svc_call_body(c),
		.resumes = q->resumes,
		.key = q->idempotency_key,
		.per_user = r->conf->runs_per_user,
		.at = clock_wall() };
	enum rc rc;

	if (q->user_id.n == 0) {
		svc_fail(c, RC_INVALID, "/user_id: is missing");
		return;
	}
	if ((q->prompt.n > 0) == (q->skill.n > 0)) {
		svc_fail(c, RC_INVALID, "either prompt or skill must be given");
		return;
	}
	if (engine_find(q->engine) == NULL) {
		svc_fail(c, RC_INVALID,
		    "/engine: must be codex, gemini, opencode or iflow");
		return;
	}
	if (!run_choose(r, c, &n, q->model))
		return;
	if (q->resumes.n > 0)
		n.runner = (struct str){ NULL, 0 };
	rc = run_create(r->state, &n);
	if (rc == RC_OK)
		run_start_done(r, c, &n);
	else if (rc == RC_RETRY && str_eq(n.why, STR(RUN_WHY_TOO_MANY)))
		svc_fail_as(c, &run_too_many);
	else if (rc == RC_CONFLICT)
		run_fail_why(c, n.why);
	else
		run_fail(c, rc);
}

/* ---- reply ---- */

static bool
run_reply_is_valid(struct runner *r, struct svc_call *c,
    const struct wire_run_reply_request *q)
{
	struct wire_run_question question;
	struct run_record rec;
	const char *why;
	enum rc rc = run_read(r->state, q->run_id, svc_call_arena(c), &rec);

	if (rc == RC_OK && !str_eq(rec.user_id, q->user_id))
		rc = RC_NOENT;
	if (rc != RC_OK) {
		run_fail(c, rc == RC_INVALID ? RC_NOENT : rc);
		return false;
	}
	/* Others are conflicts, of which the script decides. */
	if (rec.status != RUN_IS_WAITING ||
	    !str_eq(rec.question_id, q->interaction_id))
		return true;
	rc = wire_decode(&wire_run_question_desc, rec.question,
	    svc_call_arena(c), &question, NULL);
	if (rc != RC_OK)
		return true;
	why = run_reply_check(&question, q->content);
	if (why != NULL)
		svc_fail(c, RC_INVALID, why);
	return why == NULL;
}

void
on_run_reply(void *app, struct svc_call *c)
{
	struct runner *r = app;
	const struct wire_run_reply_request *q = svc_call_request(c);
	struct run_user_reply reply = { .run_id = q->run_id,
		.user_id = q->user_id,
		.question_id = q->interaction_id,
		.content = q->content,
		.key = q->idempotency_key };
	struct run_record rec;
	enum rc rc;

	if (!run_reply_is_valid(r, c, q))
		return;
	rc = run_reply(r->state, &reply, svc_call_arena(c), &rec);
	if (rc == RC_CONFLICT) {
		run_fail_why(c, reply.why);
		return;
	}
	if (rc != RC_OK) {
		run_fail(c, rc);
		return;
	}
	if (rec.status == RUN_IS_QUEUED &&
	    run_enqueue(r, rec.runner, rec.run_id) != RC_OK)
		log_debug("run.not_added", LOG_V("run", rec.run_id));
	run_reply_record(c, &rec);
}

/* ---- cancel ---- */

void
on_run_cancel(void *app, struct svc_call *c)
{
	struct runner *r = app;
	const struct wire_run_cancel_request *q = svc_call_request(c);
	struct wire_run_cancel_reply rep = { .run_id = q->run_id };
	struct run_record rec;
	enum rc rc = run_cancel(
	    r->state, q->run_id, q->user_id, svc_call_arena(c), &rec);

	if (rc != RC_OK) {
		run_fail(c, rc == RC_INVALID ? RC_NOENT : rc);
		return;
	}
	rep.accepted = !run_status_is_end(rec.status);
	rep.state = (enum wire_run_cancel_reply_state)rec.status;
	if (rec.status == RUN_IS_RUNNING) {
		run_wake(r, rec.runner, rec.run_id);
	} else if (rep.accepted) {
		rc = run_adopt_and_abort(
		    r, rec.run_id, rec.epoch, &run_abort_canceled);
		if (rc == RC_OK)
			rep.state = WIRE_RUN_CANCEL_REPLY_STATE_CANCELED;
		else
			run_wake(r, rec.runner, rec.run_id);
	}
	svc_reply(c, &rep);
}
