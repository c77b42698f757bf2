/*
 * An attempt from its first byte to its exit.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "attempt_internal.h"
#include "core/mem.h"

static void
attempt_on_line(void *arg, const struct line *l)
{
	struct attempt *a = arg;

	a->ends[l->stream] = l->to;
	a->o.engine->adapter->line(a->adapter, l);
}

struct attempt *
attempt_new(const struct attempt_opts *o)
{
	struct attempt *a = mem_zalloc(sizeof(*a));
	const struct fact_sink to = { attempt_on_fact, a };

	a->o = *o;
	a->arena = arena_new(ATTEMPT_ARENA_MAX);
	a->adapter = o->engine->adapter->create(&to);
	lines_init(&a->lines, attempt_on_line, a);
	a->message.text = done_marker_new(ATTEMPT_MESSAGE_MAX);
	buf_init(&a->message.item, ID_MAX);
	for (size_t i = 0; i < SPOOL_STREAMS_N; i++) {
		buf_init(&a->blocks[i].text, 2UL * RASP_RAW_MAX);
		buf_init(&a->seen.output[i], ATTEMPT_EVIDENCE_MAX);
		buf_init(&a->scratch[i], ATTEMPT_MESSAGE_MAX);
	}
	buf_init(&a->seen.failure, FCMP_MESSAGE_MAX);
	buf_init(&a->seen.prompt, FCMP_PROMPT_MAX);
	buf_init(&a->seen.payload, DONE_OBJECT_MAX);
	buf_init(&a->handle, ID_MAX);
	a->result.rasp_seq = o->meta->rasp_seq;
	a->result.usage = (struct rasp_usage){ -1, -1, -1, -1, -1 };
	/* The session that is resumed is known before the engine names it. */
	if (id_valid(o->meta->handle))
		a->result.handle = o->meta->handle;
	a->ns = o->meta->started_ns;
	snprintf(a->question_id, sizeof(a->question_id), "ix_%" PRId64,
	    o->meta->attempt);
	return a;
}

void
attempt_free(struct attempt *a)
{
	if (a == NULL)
		return;
	a->o.engine->adapter->destroy(a->adapter);
	lines_free(&a->lines);
	done_marker_free(a->message.text);
	buf_free(&a->message.item);
	for (size_t i = 0; i < SPOOL_STREAMS_N; i++) {
		buf_free(&a->blocks[i].text);
		buf_free(&a->seen.output[i]);
		buf_free(&a->scratch[i]);
	}
	buf_free(&a->seen.failure);
	buf_free(&a->seen.prompt);
	buf_free(&a->seen.payload);
	buf_free(&a->handle);
	arena_free(a->arena);
	free(a);
}

const struct attempt_result *
attempt_result(const struct attempt *a)
{
	return &a->result;
}

/* The reply of the user, or what was decided without it. */
static void
attempt_begin_reply(struct attempt *a)
{
	const struct spool_meta *m = a->o.meta;
	struct rasp_event e = attempt_control(a, RASP_INPUT_AUTO);

	e.interaction_id = m->interaction_id;
	e.content = fcmp_truncate(m->reply, FCMP_CONTENT_MAX);
	if (m->auto_reply)
		attempt_emit(a, &e);
	e.type = RASP_INPUT_REPLIED;
	attempt_emit(a, &e);
}

void
attempt_begin(struct attempt *a)
{
	const struct spool_meta *m = a->o.meta;
	struct rasp_event e;

	if (id_valid(m->interaction_id))
		attempt_begin_reply(a);
	if (m->attempt <= 1) {
		e = attempt_control(a, RASP_RUN_STARTED);
		e.started.title = m->title;
		e.started.mode = m->mode;
		e.started.engine_version = m->engine_version;
		e.started.isolation = m->isolation;
	} else {
		e = attempt_control(a, RASP_RUN_STATUS);
		e.state = STR("running");
	}
	attempt_emit(a, &e);
}

void
attempt_bytes(
    struct attempt *a, enum spool_stream stream, struct str bytes, int64_t ns)
{
	lines_put(&a->lines, stream, bytes, ns);
}

void
attempt_record_end(struct attempt *a)
{
	/* Lines that were not read wait for more of them. */
	if (a->message.open && a->message.delta)
		attempt_flush(a);
}

void
attempt_note(struct attempt *a, const char *code, const char *message)
{
	attempt_warn(a, NULL, code, str_of(message), 0);
}

/* ---- the end ---- */

static void
attempt_files(struct attempt *a, struct str files)
{
	struct arena *names = arena_new(SPOOL_TEXT_MAX);
	struct rasp_event e;

	if (files.n > SPOOL_TEXT_MAX)
		files.n = SPOOL_TEXT_MAX;
	for (;;) {
		struct spool_file f;
		enum rc rc = spool_file_next(&files, names, &f);

		if (rc == RC_NOENT || rc == RC_TOOBIG)
			break;
		if (rc != RC_OK)
			continue;
		e = attempt_control(a, RASP_ARTIFACT);
		e.file = f;
		e.file.path = fcmp_truncate(f.path, FCMP_MESSAGE_MAX);
		attempt_emit(a, &e);
		arena_reset(names);
	}
	arena_free(names);
}

void
attempt_exit(struct attempt *a, const struct spool_exit *x, struct str files)
{
	const struct adapter_exit ax = {
		.failed = x->stop == SPOOL_STOP_NONE &&
		    (x->code != 0 || x->signal != 0 || x->not_started),
		.ns = x->ns,
	};

	lines_end(&a->lines);
	if (a->o.engine->adapter->finish != NULL)
		a->o.engine->adapter->finish(a->adapter, &ax);
	attempt_message_end(a);
	attempt_flush(a);
	if (a->unreported > 0)
		attempt_warn(a, &a->unreported_at, "UNPARSED_OUTPUT",
		    STR("More lines of the output are no events of the "
			"engine."),
		    a->unreported);
	if (x->ns > a->ns)
		a->ns = x->ns;
	attempt_files(a, files);
	if (x->orphans > 0)
		attempt_warn(a, NULL, "ORPHANS_KILLED",
		    STR("Processes of the engine had to be killed."),
		    x->orphans);
	if (x->stop == SPOOL_STOP_LINGERED)
		attempt_warn(a, NULL, "ENGINE_LINGERED",
		    STR("The engine was stopped behind its end signal."), 0);
	if (a->result.handle.n == 0)
		attempt_warn(a, NULL, "SESSION_ID_MISSING",
		    STR("The engine named no session: the run cannot be "
			"continued."),
		    0);
	attempt_decide(a, x);
}

void
attempt_abort(struct attempt *a, const struct attempt_abort *why, int64_t ns)
{
	bool canceled = str_eq(str_of(why->code), STR("CANCELED"));
	struct rasp_event e;

	if (ns > a->ns)
		a->ns = ns;
	if (why->timeout_id.n > 0) {
		e = attempt_control(a, RASP_INPUT_TIMEOUT);
		e.interaction_id = why->timeout_id;
		e.level = RASP_WARNING;
		attempt_emit(a, &e);
	}
	e = attempt_control(a, canceled ? RASP_RUN_CANCELED : RASP_RUN_FAILED);
	e.level = canceled ? RASP_INFO : RASP_ERROR;
	e.error = (struct fcmp_error){
		.category = WIRE_CHAT_EVENT_DATA_ERROR_CATEGORY_RUNTIME,
		.code = str_of(why->code),
		.message = str_of(why->message),
		.retryable = why->retryable,
	};
	a->result.end = canceled ? ATTEMPT_CANCELED : ATTEMPT_FAILED;
	a->result.error = e.error;
	attempt_emit(a, &e);
}
