#include "runs/run_view.h"

#include "core/log.h"
#include "core/mem.h"
#include "wire/wire.h"

/* The states of both are the same, in the same order. */
_Static_assert((int)WIRE_RUN_STATE_CANCELED == (int)RUN_IS_CANCELED &&
	(int)WIRE_RUN_STATE_WAITING_USER == (int)RUN_IS_WAITING,
    "states of runs");

static enum rc
run_view_time(struct wall t, struct arena *a, struct str *out)
{
	*out = wall_text(t, 0, a);
	return out->p != NULL ? RC_OK : RC_TOOBIG;
}

static enum rc
run_view_mode(struct str name, enum wire_run_mode *out)
{
	int i;

	for (i = WIRE_RUN_MODE_INTERACTIVE; i <= WIRE_RUN_MODE_FILE_WRITE; i++)
		if (str_eq(name, wire_run_mode_names[i])) {
			*out = (enum wire_run_mode)i;
			return RC_OK;
		}
	log_error("gateway.run_record", LOG_V("mode", name));
	return RC_INVALID;
}

enum rc
run_view(const struct run_record *r, struct arena *a, struct wire_run *out)
{
	enum rc rc;

	*out = (struct wire_run){ .run_id = r->run_id,
		.user_id = r->user_id,
		.engine = r->engine,
		.title = r->title,
		.state = (enum wire_run_state)r->status,
		.attempt = r->attempt,
		.resumes = r->resumes };
	rc = run_view_mode(r->mode, &out->mode);
	if (rc == RC_OK)
		rc = run_view_time(r->created, a, &out->created_at);
	if (rc == RC_OK && r->ended.ms != 0)
		rc = run_view_time(r->ended, a, &out->ended_at);
	return rc;
}

/* A part of the record that is JSON; it may be absent. */
static enum rc
run_view_decode(const struct run_record *r, const struct wire_desc *desc,
    struct str json, struct arena *a, void *out)
{
	struct wire_err err;
	enum rc rc;

	if (json.n == 0)
		return RC_OK;
	rc = wire_decode(desc, json, a, out, &err);
	if (rc != RC_OK)
		log_error("gateway.run_record", LOG_V("run", r->run_id),
		    LOG_S("path", err.path), LOG_S("why", err.why));
	return rc;
}

/* What only a run that waits has. */
static enum rc
run_view_waiting(
    const struct run_record *r, struct arena *a, struct wire_run_record *out)
{
	if (r->status != RUN_IS_WAITING)
		return RC_OK;
	out->has_interaction = r->question.n > 0;
	return run_view_time(r->reply_until, a, &out->reply_until) == RC_OK
	    ? run_view_decode(
		  r, &wire_run_question_desc, r->question, a, &out->interaction)
	    : RC_TOOBIG;
}

enum rc
run_view_record(
    const struct run_record *r, struct arena *a, struct wire_run_record *out)
{
	struct wire_run brief;
	enum rc rc = run_view(r, a, &brief);

	*out = (struct wire_run_record){ .run_id = r->run_id,
		.user_id = r->user_id,
		.engine = r->engine,
		.mode = (enum wire_run_record_mode)brief.mode,
		.title = r->title,
		.state = (enum wire_run_record_state)r->status,
		.attempt = r->attempt,
		.resumes = r->resumes,
		.created_at = brief.created_at,
		.ended_at = brief.ended_at,
		.runner = r->runner,
		.session_id = r->handle,
		.cancel_requested = r->cancel,
		.events = r->fcmp_last,
		.rasp_events = r->rasp_last };
	if (rc == RC_OK)
		rc = run_view_time(r->changed, a, &out->changed_at);
	if (rc == RC_OK)
		rc = run_view_decode(
		    r, &wire_run_facts_desc, r->facts, a, &out->facts);
	if (rc == RC_OK)
		rc = run_view_waiting(r, a, out);
	if (rc == RC_OK)
		rc = run_view_decode(
		    r, &wire_run_start_request_desc, r->spec, a, &out->request);
	out->has_request = r->spec.n > 0;
	return rc;
}
