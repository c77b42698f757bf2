#include "run_facts.h"

#include <inttypes.h>

#include "context.h"
#include "core/log.h"
#include "run_speech.h"
#include "svc/event.h"
#include "wire/subjects.h"

#define ARENA_MAX (1024UL * 1024)
/* Bytes of the texts of a note. */
#define NOTE_TEXT_MAX    2048
#define NOTE_MESSAGE_MAX 1024

/* The states are the same, in the same order; so are the categories. */
_Static_assert((int)WIRE_RUN_FACTS_ERROR_CATEGORY_RUNTIME ==
	    (int)WIRE_CHAT_EVENT_DATA_ERROR_CATEGORY_RUNTIME &&
	(int)WIRE_RUN_ENDED_ERROR_CATEGORY_RUNTIME ==
	    (int)WIRE_CHAT_EVENT_DATA_ERROR_CATEGORY_RUNTIME,
    "categories of errors");

void
run_facts_read(struct str json, struct arena *a, struct wire_run_facts *f)
{
	wire_init(&wire_run_facts_desc, f);
	if (json.n > 0 &&
	    wire_decode(&wire_run_facts_desc, json, a, f, NULL) != RC_OK)
		wire_init(&wire_run_facts_desc, f);
}

void
run_facts_isolation(struct wire_run_facts *f, const struct sandbox_report *s,
    struct str names[SANDBOX_RULES_N])
{
	int rule;

	f->isolation = names;
	f->n_isolation = 0;
	f->has_isolation = true;
	for (rule = 0; rule < SANDBOX_RULES_N; rule++)
		if (sandbox_enforces(s, (enum sandbox_rule)rule))
			names[f->n_isolation++] =
			    str_of(sandbox_rule_name((enum sandbox_rule)rule));
}

static void
facts_add(int64_t *to, bool *has, int64_t n)
{
	if (n < 0)
		return;
	*to = *has && *to <= INT64_MAX / 2 ? *to + n : n;
	*has = true;
}

void
run_facts_add_usage(struct wire_run_facts *f, const struct rasp_usage *u)
{
	struct wire_run_facts_usage *to = &f->usage;

	facts_add(&to->input_tokens, &to->has_input_tokens, u->input);
	facts_add(&to->output_tokens, &to->has_output_tokens, u->output);
	facts_add(&to->cached_tokens, &to->has_cached_tokens, u->cached);
	facts_add(
	    &to->reasoning_tokens, &to->has_reasoning_tokens, u->reasoning);
	f->has_usage = f->has_usage || to->has_input_tokens ||
	    to->has_output_tokens || to->has_cached_tokens ||
	    to->has_reasoning_tokens;
}

void
run_facts_set_error(struct wire_run_facts *f, const struct fcmp_error *e)
{
	f->has_error = true;
	f->error = (struct wire_run_facts_error){
		.category = (enum wire_run_facts_error_category)e->category,
		.code = e->code,
		.message = fcmp_truncate(e->message, FCMP_MESSAGE_MAX),
		.retryable = e->retryable,
	};
}

void
run_facts_write(const struct wire_run_facts *f, struct buf *out)
{
	struct wire_err err;

	if (wire_encode(&wire_run_facts_desc, f, out, &err) != RC_OK)
		log_error("run.facts", LOG_S("path", err.path),
		    LOG_S("why", err.why));
}

void
run_question_write(const struct fcmp_question *q, struct buf *out)
{
	const struct wire_run_question m = {
		.interaction_id = q->interaction_id,
		.kind = q->kind,
		.prompt = fcmp_truncate(q->prompt, FCMP_PROMPT_MAX),
		/* The encoder only reads them. */
		.options = (struct wire_question_option *)(uintptr_t)q->options,
		.n_options = q->n_options,
		.has_options = q->n_options > 0,
		.fields = (struct wire_question_field *)(uintptr_t)q->fields,
		.n_fields = q->n_fields,
		.has_fields = q->n_fields > 0,
	};
	struct wire_err err;

	if (wire_encode(&wire_run_question_desc, &m, out, &err) != RC_OK)
		log_error("run.question", LOG_S("path", err.path),
		    LOG_S("why", err.why));
}

void
run_note_write(const struct run_record *rec, const struct wire_run_facts *f,
    struct str text, struct buf *out)
{
	struct wire_run_note m = { .run_id = rec->run_id,
		.engine = rec->engine,
		.title = rec->title,
		.text = fcmp_truncate(text, NOTE_TEXT_MAX) };
	struct wire_err err;
	int i;

	if (rec->session_id.n == 0)
		return;
	for (i = 0; i <= WIRE_RUN_NOTE_STATE_CANCELED; i++)
		if (str_eq(wire_run_note_state_names[i],
			str_of(run_status_name(rec->status))))
			m.state = (enum wire_run_note_state)i;
	if (rec->status == RUN_IS_FAILED && f->has_error) {
		m.has_error = true;
		m.error.code = f->error.code;
		m.error.message =
		    fcmp_truncate(f->error.message, NOTE_MESSAGE_MAX);
	}
	if (wire_encode(&wire_run_note_desc, &m, out, &err) != RC_OK)
		log_error(
		    "run.note", LOG_S("path", err.path), LOG_S("why", err.why));
}

/* ---- events ---- */

static void
event_send(struct runner *r, const char *type, const struct run_record *rec,
    const struct wire_desc *desc, const void *payload)
{
	struct arena *a = arena_new(4096);
	struct svc_event e = { .type = type,
		.key = rec->run_id,
		.desc = desc,
		.payload = payload,
		.id = arena_printf(a, "%s-%.*s-%" PRId64, type,
		    STR_ARG(rec->run_id), rec->attempt) };
	enum rc rc = svc_event_send(r->svc, &e);

	if (rc != RC_OK)
		log_warn("run.event", LOG_S("type", type),
		    LOG_V("run", rec->run_id), LOG_RC(rc));
	arena_free(a);
}

void
run_event_started(struct runner *r, const struct run_record *rec)
{
	struct wire_run_started m = { .run_id = rec->run_id,
		.user_id = rec->user_id,
		.engine = rec->engine,
		.title = rec->title,
		.attempt = rec->attempt };
	int i;

	for (i = 0; i <= WIRE_RUN_STARTED_MODE_FILE_WRITE; i++)
		if (str_eq(wire_run_started_mode_names[i], rec->mode))
			m.mode = (enum wire_run_started_mode)i;
	event_send(r, WIRE_EVENT_RUN_STARTED, rec, &wire_run_started_desc, &m);
}

void
run_event_question(
    struct runner *r, const struct run_record *rec, struct str question)
{
	struct arena *a = arena_new(ARENA_MAX);
	struct wire_run_question q;
	enum rc rc =
	    wire_decode(&wire_run_question_desc, question, a, &q, NULL);

	if (rc == RC_OK) {
		const struct wire_run_asks m = { .run_id = rec->run_id,
			.user_id = rec->user_id,
			.engine = rec->engine,
			.title = rec->title,
			.attempt = rec->attempt,
			.interaction_id = q.interaction_id,
			.kind = q.kind,
			.prompt = q.prompt,
			.options = q.options,
			.n_options = q.n_options,
			.has_options = q.has_options,
			.fields = q.fields,
			.n_fields = q.n_fields,
			.has_fields = q.has_fields };

		event_send(
		    r, WIRE_EVENT_RUN_ASKS, rec, &wire_run_asks_desc, &m);
	}
	arena_free(a);
}

void
run_event_ended(struct runner *r, const struct run_record *rec,
    const struct wire_run_facts *f, struct str text)
{
	const struct wire_run_ended m = { .run_id = rec->run_id,
		.user_id = rec->user_id,
		.session_id = rec->session_id,
		.engine = rec->engine,
		.title = rec->title,
		.attempt = rec->attempt,
		.state = rec->status == RUN_IS_SUCCEEDED
		    ? WIRE_RUN_ENDED_STATE_SUCCEEDED
		    : rec->status == RUN_IS_CANCELED
		    ? WIRE_RUN_ENDED_STATE_CANCELED
		    : WIRE_RUN_ENDED_STATE_FAILED,
		.reason_code = f->reason_code,
		.has_error = f->has_error,
		.error = { (enum wire_run_ended_error_category)
			       f->error.category,
		    f->error.code, f->error.message, f->error.retryable },
		.text = text };

	event_send(r, WIRE_EVENT_RUN_ENDED, rec, &wire_run_ended_desc, &m);
	run_speech_send(r, rec, text);
}
