#include "run_request.h"

#include "context.h"
#include "core/log.h"
#include "core/mem.h"
#include "fcmp/fcmp_write.h"
#include "handlers.h"
#include "run_abort.h"
#include "run_choice.h"
#include "run_reply_check.h"
#include "runner_list.h"
#include "state/run_runner.h"

#define NO_ENGINE "no runner that is up has the engine"

static const struct svc_error request_queue_full = { 429, "queue_full",
	"too many runs wait: try again later" };
static const struct svc_error request_too_many = { 429, "too_many_runs",
	"the user has too many runs: wait until one has ended" };

/* ---- rejections ---- */

static enum rc
request_reject(struct run_rejection *why, enum rc rc, const char *text)
{
	*why = (struct run_rejection){ .rc = rc, .error.text = text };
	return rc;
}

static enum rc
request_reject_as(
    struct run_rejection *why, enum rc rc, const struct svc_error *e)
{
	*why = (struct run_rejection){ .rc = rc, .error = *e };
	return rc;
}

static enum rc
request_reject_conflict(struct run_rejection *why, struct str reason)
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

	for (i = 0; i < NELEM(table); i++)
		if (str_eq(table[i].why, reason))
			return request_reject_as(why, RC_CONFLICT, &table[i].e);
	return request_reject(
	    why, RC_CONFLICT, "the run has changed: try again");
}

/* Of a call of state.h that reads. */
static enum rc
request_reject_rc(struct run_rejection *why, enum rc rc)
{
	if (rc == RC_NOENT)
		return request_reject(why, RC_NOENT, "run not found");
	if (rc == RC_BUG || rc == RC_INVALID)
		return request_reject(why, rc, "the request cannot be stored");
	return request_reject(why, rc, "Redis is unavailable: try again later");
}

/* Of one that writes. */
static enum rc
request_reject_write(struct run_rejection *why, enum rc rc)
{
	(void)request_reject_rc(why, rc);
	why->may_be_done = state_may_be_done(rc);
	return rc;
}

/* ---- start ---- */

/* The skill's name, or the prompt's first line. */
static struct str
request_title(const struct wire_run_start_request *q)
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

/* The runner for a new run. */
static enum rc
request_choose(struct runner *r, struct run_new *n, struct str model,
    struct arena *a, struct run_rejection *why)
{
	const struct run_choice choice = { n->engine, n->tenant, model };
	struct runner_list list;
	int64_t queued;
	enum rc rc = runner_list_read(r, a, &list);

	if (rc != RC_OK)
		return request_reject_rc(why, rc);
	rc = run_choice_make(&choice, list.status, list.n_status, &n->runner);
	if (rc == RC_DENIED)
		return request_reject(
		    why, rc, "engine: not allowed for this tenant");
	if (rc == RC_INVALID)
		return request_reject(
		    why, rc, "model: the engine does not have it");
	if (rc != RC_OK)
		return request_reject(why, rc, NO_ENGINE);
	rc = run_runner_count(r->state, n->runner, &queued);
	if (rc != RC_OK)
		return request_reject_rc(why, rc);
	if (queued >= r->conf->queue_max + r->conf->runs_max)
		return request_reject_as(why, RC_RETRY, &request_queue_full);
	return RC_OK;
}

static void
request_enqueue(struct runner *r, const struct run_record *rec)
{
	if (rec->status == RUN_IS_QUEUED &&
	    run_enqueue(r, rec->runner, rec->run_id) != RC_OK)
		log_debug("run.not_added", LOG_V("run", rec->run_id));
}

static enum rc
request_check(const struct wire_run_start_request *q, struct run_rejection *why)
{
	if (q->user_id.n == 0)
		return request_reject(why, RC_INVALID, "/user_id: is missing");
	if ((q->prompt.n > 0) == (q->skill.n > 0))
		return request_reject(
		    why, RC_INVALID, "either prompt or skill must be given");
	if (engine_find(q->engine) == NULL)
		return request_reject(why, RC_INVALID,
		    "/engine: must be codex, gemini, opencode or iflow");
	return RC_OK;
}

enum rc
run_request_start(struct runner *r, const struct wire_run_start_request *q,
    struct str body, struct arena *a, struct run_record *out,
    struct run_rejection *why)
{
	struct run_new n = { .user_id = q->user_id,
		.tenant = q->tenant,
		.engine = q->engine,
		.mode = wire_run_start_request_mode_names[q->mode],
		.title = request_title(q),
		.spec = body,
		.resumes = q->resumes,
		.key = q->idempotency_key,
		.session_id = q->session_id,
		.per_user = r->conf->runs_per_user,
		.at = clock_wall() };
	enum rc rc = request_check(q, why);

	if (rc == RC_OK)
		rc = request_choose(r, &n, q->model, a, why);
	if (rc != RC_OK)
		return rc;
	if (q->resumes.n > 0)
		n.runner = (struct str){ NULL, 0 };
	rc = run_create(r->state, &n);
	if (rc == RC_RETRY && str_eq(n.why, STR(RUN_WHY_TOO_MANY)))
		return request_reject_as(why, rc, &request_too_many);
	if (rc == RC_CONFLICT)
		return request_reject_conflict(why, n.why);
	if (rc != RC_OK)
		return request_reject_write(why, rc);
	rc = run_read(r->state, str_of(n.run_id), a, out);
	if (rc != RC_OK) {
		(void)request_reject_rc(why, rc);
		why->may_be_done = true;
		return rc;
	}
	request_enqueue(r, out);
	log_info("run.start", LOG_V("run", out->run_id),
	    LOG_V("runner", out->runner), LOG_I("repeated", n.repeated));
	return RC_OK;
}

/* ---- reply ---- */

static enum rc
request_check_reply(struct runner *r, const struct wire_run_reply_request *q,
    struct arena *a, struct run_rejection *why)
{
	struct wire_run_question question;
	struct run_record rec;
	const char *text;
	enum rc rc = run_read(r->state, q->run_id, a, &rec);

	if (rc == RC_OK && !str_eq(rec.user_id, q->user_id))
		rc = RC_NOENT;
	if (rc != RC_OK)
		return request_reject_rc(why, rc == RC_INVALID ? RC_NOENT : rc);
	/* Others are conflicts, of which the script decides. */
	if (rec.status != RUN_IS_WAITING ||
	    !str_eq(rec.question_id, q->interaction_id))
		return RC_OK;
	rc = wire_decode(
	    &wire_run_question_desc, rec.question, a, &question, NULL);
	if (rc != RC_OK)
		return RC_OK;
	text = run_reply_check(&question, q->content);
	return text == NULL ? RC_OK : request_reject(why, RC_INVALID, text);
}

enum rc
run_request_reply(struct runner *r, const struct wire_run_reply_request *q,
    struct arena *a, struct run_record *out, struct run_rejection *why)
{
	struct run_user_reply reply = { .run_id = q->run_id,
		.user_id = q->user_id,
		.question_id = q->interaction_id,
		.content = q->content,
		.key = q->idempotency_key };
	enum rc rc = request_check_reply(r, q, a, why);

	if (rc != RC_OK)
		return rc;
	rc = run_reply(r->state, &reply, a, out);
	if (rc == RC_CONFLICT)
		return request_reject_conflict(why, reply.why);
	if (rc != RC_OK)
		return request_reject_write(why, rc);
	request_enqueue(r, out);
	return RC_OK;
}

/* ---- cancel ---- */

enum rc
run_request_cancel(struct runner *r, struct run_canceling *q, struct arena *a,
    struct run_record *out, struct run_rejection *why)
{
	enum rc rc = run_cancel(r->state, q->run_id, q->user_id, a, out);

	if (rc != RC_OK)
		return request_reject_rc(why, rc == RC_INVALID ? RC_NOENT : rc);
	q->accepted = !run_status_is_end(out->status);
	if (!q->accepted)
		return RC_OK;
	if (out->status != RUN_IS_RUNNING &&
	    run_adopt_and_abort(
		r, out->run_id, out->epoch, &run_abort_canceled) == RC_OK)
		out->status = RUN_IS_CANCELED;
	else
		run_wake(r, out->runner, out->run_id);
	return RC_OK;
}
