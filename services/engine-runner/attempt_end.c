/*
 * How an attempt ended: the first of the rules below that applies.
 */
#include <string.h>

#include "attempt_internal.h"
#include "core/mem.h"
#include "failure_class.h"
#include "wire/schema.h"

/* What an end that does not suit its mode takes from the confidence. */
#define MODE_DOUBT 0.25

/* ---- 1: the runner stopped it ---- */

static const struct {
	const char *code;
	const char *message;
	bool retryable;
} attempt_stops[SPOOL_STOPS_N] = {
	[SPOOL_STOP_CANCELED] = { "CANCELED", "The run was canceled.", false },
	[SPOOL_STOP_DEADLINE] = { "DEADLINE_EXCEEDED",
	    "The run took longer than it may.", false },
	[SPOOL_STOP_STALLED] = { "ENGINE_STALLED",
	    "The engine printed nothing for too long.", true },
	[SPOOL_STOP_OUTPUT] = { "OUTPUT_LIMIT",
	    "The engine printed more than it may, or the disk is full.",
	    false },
	[SPOOL_STOP_WORKSPACE] = { "OUTPUT_LIMIT",
	    "The workspace is larger than it may be.", false },
	[SPOOL_STOP_BUDGET] = { "BUDGET_EXCEEDED",
	    "The run used more tokens than it may.", false },
	[SPOOL_STOP_RUNNER] = { "RUNNER_STOPPED",
	    "The runner was shut down before the run ended.", true },
};

static void
attempt_end_failed(struct attempt *a, struct rasp_event *e,
    enum wire_chat_event_data_error_category category, struct str code,
    struct str message, bool retryable)
{
	e->level = RASP_ERROR;
	e->error = (struct fcmp_error){ .category = category,
		.code = code,
		.message = arena_str(a->arena, message),
		.retryable = retryable };
	a->result.end = ATTEMPT_FAILED;
	a->result.error = e->error;
	attempt_emit(a, e);
}

static void
attempt_end_runtime(
    struct attempt *a, const char *code, const char *message, bool retryable)
{
	struct rasp_event e = attempt_control(a, RASP_RUN_FAILED);

	attempt_end_failed(a, &e, WIRE_CHAT_EVENT_DATA_ERROR_CATEGORY_RUNTIME,
	    str_of(code), str_of(message), retryable);
}

static bool
attempt_end_stopped(struct attempt *a, const struct spool_exit *x)
{
	struct rasp_event e;

	if (attempt_stops[x->stop].code == NULL)
		return false;
	if (x->stop == SPOOL_STOP_WORKSPACE)
		attempt_warn(a, NULL, "WORKSPACE_LIMIT",
		    str_of(attempt_stops[x->stop].message), 0);
	if (x->stop != SPOOL_STOP_CANCELED) {
		attempt_end_runtime(a, attempt_stops[x->stop].code,
		    attempt_stops[x->stop].message,
		    attempt_stops[x->stop].retryable);
		return true;
	}
	e = attempt_control(a, RASP_RUN_CANCELED);
	e.error = (struct fcmp_error){
		.category = WIRE_CHAT_EVENT_DATA_ERROR_CATEGORY_RUNTIME,
		.code = str_of(attempt_stops[x->stop].code),
		.message = str_of(attempt_stops[x->stop].message),
	};
	a->result.end = ATTEMPT_CANCELED;
	a->result.error = e.error;
	attempt_emit(a, &e);
	return true;
}

/* ---- 2: it failed ---- */

static bool
attempt_end_engine(struct attempt *a, const struct spool_exit *x)
{
	bool lingered = x->stop == SPOOL_STOP_LINGERED;
	const bool err = a->seen.output[SPOOL_ERR].n > 0;
	struct failure_facts f = { .message = buf_str(&a->seen.failure),
		.output = buf_str(&a->seen.output[err ? SPOOL_ERR : SPOOL_OUT]),
		.status = a->seen.status,
		.exit_code = lingered ? 0 : x->code,
		.signal = lingered ? 0 : x->signal,
		.not_started = x->not_started,
		.engine = a->o.engine->name,
		.resumed = a->o.meta->handle.n > 0 };
	struct buf message = BUF_INIT(FAILURE_MESSAGE_MAX);
	struct failure_class c;
	struct rasp_event e;

	if (!a->seen.failed && f.exit_code == 0 && f.signal == 0 &&
	    !x->not_started)
		return false;
	if (failure_is_budget(&f)) {
		attempt_end_runtime(a, attempt_stops[SPOOL_STOP_BUDGET].code,
		    attempt_stops[SPOOL_STOP_BUDGET].message,
		    attempt_stops[SPOOL_STOP_BUDGET].retryable);
		return true;
	}
	if (!a->seen.failed)
		f.message = (struct str){ NULL, 0 };
	if (a->seen.marker)
		attempt_warn(a, &a->seen.marker_at,
		    "DONE_MARKER_PROCESS_FAILURE_CONFLICT",
		    STR("The engine reported the work as done, and failed."),
		    0);
	c = failure_classify(&f);
	failure_message(&f, &message);
	e = attempt_control(a, RASP_RUN_FAILED);
	if (a->seen.failed) {
		e = attempt_at(a, RASP_RUN_FAILED, &a->seen.failed_at);
		e.ns = a->ns;
		e.confidence = 1;
	}
	attempt_end_failed(a, &e, WIRE_CHAT_EVENT_DATA_ERROR_CATEGORY_ENGINE,
	    str_of(c.code), buf_str(&message), c.retryable);
	buf_free(&message);
	return true;
}

/* ---- 3 and 4: it is done ---- */

static void
attempt_end_completed(
    struct attempt *a, const char *reason, const struct fact *at)
{
	struct rasp_event e = at != NULL
	    ? attempt_at(a, RASP_RUN_COMPLETED, at)
	    : attempt_control(a, RASP_RUN_COMPLETED);

	e.ns = a->ns;
	e.reason = reason;
	a->result.end = ATTEMPT_COMPLETED;
	a->result.reason = reason;
	attempt_emit(a, &e);
}

static bool
attempt_end_marker(struct attempt *a)
{
	if (!a->seen.marker)
		return false;
	attempt_end_completed(a, FCMP_DONE_MARKER, &a->seen.marker_at);
	return true;
}

static bool
attempt_end_structured(struct attempt *a)
{
	struct wire_schema *schema;
	bool valid;

	if (a->o.meta->output_schema.n == 0 || a->seen.payload.n == 0 ||
	    !a->seen.end_signal)
		return false;
	if (wire_schema_new(a->o.meta->output_schema, &schema, NULL) != RC_OK)
		return false;
	valid =
	    wire_schema_check(schema, buf_str(&a->seen.payload), NULL) == RC_OK;
	wire_schema_free(schema);
	if (valid)
		attempt_end_completed(a, FCMP_STRUCTURED, &a->seen.end_at);
	return valid;
}

/* ---- 5: the user is asked for more ---- */

static void
attempt_end_waiting(struct attempt *a)
{
	struct rasp_event e =
	    attempt_at(a, RASP_INPUT_REQUESTED, &a->seen.end_at);
	struct str mode = a->o.meta->mode;
	bool doubtful =
	    str_eq(mode, STR("auto")) || str_eq(mode, STR("file-write"));

	if (doubtful) {
		attempt_warn(a, &a->seen.end_at,
		    "SCENARIO_STATE_CONSTRAINT_VIOLATION",
		    STR("The engine ended without a result in a mode in which "
			"nobody is asked."),
		    0);
		e.confidence -= MODE_DOUBT;
	}
	if (!a->seen.question_set)
		a->question = (struct fcmp_question){
			.kind = WIRE_QUESTION_KIND_FREE_TEXT,
		};
	if (a->question.prompt.n == 0)
		a->question.prompt = buf_str(&a->seen.prompt);
	a->question.interaction_id = str_of(a->question_id);
	e.ns = a->ns;
	e.interaction_id = a->question.interaction_id;
	e.question = &a->question;
	a->result.end = ATTEMPT_WAITING;
	a->result.question = &a->question;
	attempt_emit(a, &e);
}

static bool
attempt_end_signal(struct attempt *a)
{
	const struct spool_meta *m = a->o.meta;

	if (!a->seen.end_signal)
		return false;
	if (m->attempts_max > 0 && m->attempt >= m->attempts_max)
		attempt_end_runtime(a, "ATTEMPTS_EXHAUSTED",
		    "The engine asks for more than the run has attempts.",
		    false);
	else
		attempt_end_waiting(a);
	return true;
}

/* ---- 6: nobody knows ---- */

static void
attempt_end_unknown(struct attempt *a)
{
	struct rasp_event e;

	attempt_warn(a, NULL, "INCOMPLETE_STATE_CLASSIFICATION",
	    STR("The engine exited without its end signal."), 0);
	e = attempt_control(a, RASP_RUN_FAILED);
	attempt_end_failed(a, &e, WIRE_CHAT_EVENT_DATA_ERROR_CATEGORY_PARSER,
	    STR("END_SIGNAL_MISSING"),
	    STR("The engine exited without its end signal."), true);
}

void
attempt_decide(struct attempt *a, const struct spool_exit *x)
{
	if (attempt_end_stopped(a, x) || attempt_end_engine(a, x) ||
	    attempt_end_marker(a) || attempt_end_structured(a) ||
	    attempt_end_signal(a))
		return;
	attempt_end_unknown(a);
}
