/*
 * Facts as events.  Lines that were not read are collected into blocks, text of
 * a message into one delta per record of the journal; both are reported before
 * the next event.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "attempt_internal.h"
#include "core/mem.h"
#include "failure_class.h"
#include "interaction.h"
#include "wire/slice.h"

/* Longest text of reasoning in an event. */
#define REASONING_MAX 65536
/* Each retry is reported up to so many, then each power of two. */
#define RETRIES_EACH 8
/* Below it an event is reported as unsure. */
#define CONFIDENCE_LOW 0.7

/* ---- events ---- */

void
attempt_emit(struct attempt *a, struct rasp_event *e)
{
	/* Numbers are those of the run's log, in which each is used. */
	if (rasp_in_log(e->type))
		a->result.rasp_seq++;
	e->seq = a->result.rasp_seq;
	e->attempt = a->o.meta->attempt;
	e->session_id = a->result.handle;
	a->ns = e->ns;
	/* Events of one read have the same time. */
	if (a->ts[0] == '\0' || a->ts_ns != e->ns) {
		a->ts_ns = e->ns;
		(void)rasp_ts(e->ns, a->ts);
	}
	e->ts = str_of(a->ts);
	a->o.event(a->o.arg, e);
}

static struct fcmp_raw_ref
attempt_range(const struct attempt *a, const struct fact *f)
{
	struct fcmp_raw_ref r = { 0 };

	(void)a;
	if (f->stream == SPOOL_OUT) {
		r.stdout_from = (int64_t)f->from;
		r.stdout_to = (int64_t)f->to;
	} else {
		r.stderr_from = (int64_t)f->from;
		r.stderr_to = (int64_t)f->to;
	}
	return r;
}

struct rasp_event
attempt_at(const struct attempt *a, enum rasp_type type, const struct fact *f)
{
	return (struct rasp_event){ .type = type,
		.ns = f->ns,
		.stream = f->stream == SPOOL_OUT ? RASP_STDOUT : RASP_STDERR,
		.confidence = f->confidence,
		.raw = attempt_range(a, f) };
}

struct rasp_event
attempt_control(const struct attempt *a, enum rasp_type type)
{
	return (struct rasp_event){ .type = type,
		.ns = a->ns,
		.stream = RASP_CONTROL,
		.confidence = 1,
		.raw = { (int64_t)a->ends[SPOOL_OUT],
		    (int64_t)a->ends[SPOOL_OUT], (int64_t)a->ends[SPOOL_ERR],
		    (int64_t)a->ends[SPOOL_ERR] } };
}

void
attempt_warn(struct attempt *a, const struct fact *f, const char *code,
    struct str message, int64_t count)
{
	struct rasp_event e = f != NULL
	    ? attempt_at(a, RASP_PARSER_WARNING, f)
	    : attempt_control(a, RASP_PARSER_WARNING);

	e.level = RASP_WARNING;
	e.warning = (struct fcmp_warning){
		.code = str_of(code), .message = message, .count = count
	};
	attempt_emit(a, &e);
}

/* ---- lines that were not read ---- */

static void
attempt_unparsed(struct attempt *a, const struct fact *f, int64_t n)
{
	if (n == 0)
		return;
	a->result.unparsed_lines += n;
	if (!a->unparsed_reported) {
		a->unparsed_reported = true;
		attempt_warn(a, f, "UNPARSED_OUTPUT",
		    STR("Lines of the output are no events of the engine."), n);
		return;
	}
	/* The rest is reported at the end, in one event. */
	if (a->unreported == 0)
		a->unreported_at = *f;
	a->unreported_at.to = f->to;
	a->unreported_at.ns = f->ns;
	a->unreported += n;
}

static void
attempt_block_flush(struct attempt *a, enum spool_stream stream)
{
	struct attempt_block *b = &a->blocks[stream];
	const struct fact f = { .stream = stream,
		.from = b->from,
		.to = b->to,
		.ns = b->ns,
		.confidence = 1 };
	struct rasp_event e = attempt_at(
	    a, stream == SPOOL_OUT ? RASP_RAW_STDOUT : RASP_RAW_STDERR, &f);
	int64_t unparsed = b->unparsed;

	e.block.lines = b->lines;
	e.block.bytes = (int64_t)(b->to - b->from);
	e.block.text = buf_str(&b->text);
	attempt_emit(a, &e);
	b->used = false;
	b->lines = b->unparsed = 0;
	buf_reset(&b->text);
	attempt_unparsed(a, &f, unparsed);
}

/* In the order in which they began to be received. */
static void
attempt_blocks_flush(struct attempt *a)
{
	bool err_first = a->blocks[SPOOL_ERR].ns < a->blocks[SPOOL_OUT].ns;
	enum spool_stream first = err_first ? SPOOL_ERR : SPOOL_OUT;
	enum spool_stream second = err_first ? SPOOL_OUT : SPOOL_ERR;

	if (a->blocks[first].used)
		attempt_block_flush(a, first);
	if (a->blocks[second].used)
		attempt_block_flush(a, second);
}

/* The last lines, from which a failure is understood. */
static void
attempt_evidence_put(struct attempt *a, const struct fact *f)
{
	struct buf *b = &a->seen.output[f->stream];
	struct str text = f->text.s;

	if (text.n > ATTEMPT_EVIDENCE_MAX / 4)
		text.n = ATTEMPT_EVIDENCE_MAX / 4;
	if (b->n + text.n + 1 > ATTEMPT_EVIDENCE_MAX)
		buf_drop(b, ATTEMPT_EVIDENCE_MAX / 2);
	buf_put_str(b, text);
	buf_putc(b, '\n');
}

static void
attempt_raw(struct attempt *a, const struct fact *f)
{
	struct attempt_block *b = &a->blocks[f->stream];
	struct str text = f->text.s;

	if (b->used &&
	    (b->lines == RASP_RAW_LINES || b->to != f->from ||
		f->to - b->from > RASP_RAW_MAX))
		attempt_block_flush(a, f->stream);
	if (!b->used) {
		b->used = true;
		b->from = f->from;
	}
	b->to = f->to;
	b->ns = f->ns;
	b->lines++;
	b->unparsed += f->unparsed;
	if (text.n >= RASP_RAW_MAX)
		text.n = RASP_RAW_MAX - 1;
	buf_put_str(&b->text, text);
	buf_putc(&b->text, '\n');
	attempt_evidence_put(a, f);
	if (f->to - f->from > LINE_MAX_BYTES) {
		attempt_block_flush(a, f->stream);
		attempt_warn(a, f, "LINE_TOO_LONG",
		    STR("A line is longer than 8 MiB and was not read."), 1);
	}
}

/* ---- messages ---- */

/* The text of a fact without escapes; in scratch, or as it is. */
static struct str
attempt_text(struct attempt *a, const struct rasp_text *text)
{
	if (!text->json)
		return text->s;
	buf_reset(&a->scratch[0]);
	wire_text_put(text->s, &a->scratch[0]);
	return buf_str(&a->scratch[0]);
}

/* The same for people: on one line, without secrets. */
static struct str
attempt_clean_text(struct attempt *a, const struct rasp_text *text)
{
	struct str s = fcmp_truncate(attempt_text(a, text), FCMP_MESSAGE_MAX);

	buf_reset(&a->scratch[1]);
	failure_clean(s, &a->scratch[1]);
	return fcmp_truncate(buf_str(&a->scratch[1]), FCMP_MESSAGE_MAX);
}

static struct fact
attempt_message_fact(const struct attempt_message *m, uint64_t from)
{
	return (struct fact){ .stream = m->stream,
		.from = from,
		.to = m->to,
		.ns = m->ns,
		.confidence = m->confidence };
}

/* Text that is released, in events of at most FCMP_DELTA_MAX. */
static void
attempt_delta(struct attempt *a, struct str text)
{
	struct attempt_message *m = &a->message;
	const struct fact f = attempt_message_fact(m, m->delta_from);

	while (text.n > 0) {
		struct rasp_event e = attempt_at(a, RASP_MESSAGE_DELTA, &f);

		e.message.id = str_of(m->id);
		e.message.text = fcmp_truncate(text, FCMP_DELTA_MAX);
		text = str_after(text, e.message.text.n);
		m->released += e.message.text.n;
		attempt_emit(a, &e);
	}
	m->delta_from = m->to;
}

static void
attempt_delta_flush(struct attempt *a)
{
	struct attempt_message *m = &a->message;

	if (!m->open || !m->delta)
		return;
	m->delta = false;
	attempt_delta(a, done_marker_release(m->text));
}

void
attempt_flush(struct attempt *a)
{
	attempt_delta_flush(a);
	attempt_blocks_flush(a);
}

/* m_<attempt>_<n>; printf takes ten times as long. */
static void
attempt_message_name(struct attempt *a)
{
	char *id = a->message.id;
	size_t n = 0;

	_Static_assert(ATTEMPT_ID_MAX > 3 + 2 * STR_NUM_MAX, "room");
	id[n++] = 'm';
	id[n++] = '_';
	n += str_num(a->o.meta->attempt, id + n).n;
	id[n++] = '_';
	(void)str_num(++a->messages, id + n);
}

static void
attempt_message_begin(struct attempt *a, const struct fact *f)
{
	struct attempt_message *m = &a->message;

	m->open = true;
	m->delta = false;
	m->released = 0;
	attempt_message_name(a);
	buf_reset(&m->item);
	buf_put(&m->item, f->id.p, f->id.n < ID_MAX ? f->id.n : ID_MAX);
	m->stream = f->stream;
	m->from = m->delta_from = f->from;
	m->confidence = f->confidence;
	done_marker_reset(m->text);
}

static void
attempt_marker_seen(
    struct attempt *a, const struct fact *f, const struct done_result *r)
{
	if (r->markers == 0)
		return;
	if (!a->seen.marker) {
		a->seen.marker = true;
		a->seen.marker_at = *f;
	} else {
		attempt_warn(a, f, "MULTIPLE_DONE_MARKERS_IGNORED",
		    STR("Only the first done marker counts."), 0);
		return;
	}
	if (r->markers > 1)
		attempt_warn(a, f, "MULTIPLE_DONE_MARKERS_IGNORED",
		    STR("Only the first done marker counts."), 0);
}

/* What a question and the end are made from. */
static void
attempt_message_seen(struct attempt *a, const struct done_result *r)
{
	struct fcmp_question q;

	buf_reset(&a->seen.prompt);
	buf_put_str(&a->seen.prompt, fcmp_truncate(r->text, FCMP_PROMPT_MAX));
	buf_reset(&a->seen.payload);
	buf_put_str(&a->seen.payload, r->payload);
	if (a->seen.question_row)
		return;
	/* Only the last message prompts. */
	a->seen.question_set =
	    interaction_of_text(r->text, a->arena, &q) == RC_OK;
	if (a->seen.question_set)
		a->question = q;
}

void
attempt_message_end(struct attempt *a)
{
	struct attempt_message *m = &a->message;
	struct fact f = attempt_message_fact(m, m->from);
	struct rasp_event e;
	struct done_result r;
	struct str text;

	if (!m->open)
		return;
	m->open = false;
	done_marker_finish(m->text, &r);
	/* The deltas of a message are all of its text. */
	if ((m->delta || m->released > 0) && r.text.n > m->released)
		attempt_delta(a,
		    (struct str){
			r.text.p + m->released, r.text.n - m->released });
	attempt_blocks_flush(a);
	text = fcmp_truncate(r.text, FCMP_TEXT_MAX);
	if (text.n < r.text.n || r.truncated)
		attempt_warn(a, &f, "TEXT_TRUNCATED",
		    STR("The message is longer than an event may be."), 0);
	e = attempt_at(a, RASP_MESSAGE_FINAL, &f);
	e.message.id = str_of(m->id);
	e.message.text = text;
	e.message.payload = r.payload;
	attempt_emit(a, &e);
	attempt_marker_seen(a, &f, &r);
	attempt_message_seen(a, &r);
	if (m->confidence < CONFIDENCE_LOW && !a->unsure) {
		a->unsure = true;
		attempt_warn(a, &f, "LOW_CONFIDENCE_PARSE",
		    STR("What the message is was inferred."), 0);
	}
}

/* Whether *f goes on with the open message. */
static bool
attempt_message_goes_on(const struct attempt *a, const struct fact *f)
{
	return a->message.open && str_eq(buf_str(&a->message.item), f->id);
}

static void
attempt_message_bytes(struct attempt_message *m, const struct fact *f)
{
	if (f->stream == m->stream)
		m->to = f->to;
	m->ns = f->ns;
}

/* More text of a message, which grows. */
static void
attempt_on_text(struct attempt *a, const struct fact *f)
{
	struct attempt_message *m = &a->message;
	struct str text = attempt_text(a, &f->text);

	if (!attempt_message_goes_on(a, f)) {
		attempt_message_end(a);
		attempt_blocks_flush(a);
		attempt_message_begin(a, f);
	}
	attempt_message_bytes(m, f);
	if (f->whole) {
		struct str before = done_marker_text(m->text);

		if (!str_starts(text, before))
			return;
		text = str_after(text, before.n);
	}
	done_marker_put(m->text, text);
	m->delta = true;
}

/* A message as a whole, of which a beginning may have been received. */
static void
attempt_on_message(struct attempt *a, const struct fact *f)
{
	struct attempt_message *m = &a->message;
	struct str text = attempt_text(a, &f->text);
	struct str before;

	if (!attempt_message_goes_on(a, f) || f->id.n == 0) {
		attempt_message_end(a);
		attempt_blocks_flush(a);
		attempt_message_begin(a, f);
	}
	attempt_message_bytes(m, f);
	before = done_marker_text(m->text);
	if (str_starts(text, before)) {
		text = str_after(text, before.n);
	} else {
		/* The engine has changed its text; this one counts. */
		m->delta = false;
		m->released = 0;
		done_marker_reset(m->text);
	}
	done_marker_put(m->text, text);
	attempt_message_end(a);
}

/* ---- other facts ---- */

static void
attempt_on_session(struct attempt *a, const struct fact *f)
{
	struct rasp_event e = attempt_at(a, RASP_RUN_STATUS, f);
	struct str id = attempt_text(a, &f->text);

	if (id_valid(id)) {
		buf_reset(&a->handle);
		buf_put_str(&a->handle, id);
		a->result.handle = buf_str(&a->handle);
	}
	e.state = STR("session_known");
	attempt_emit(a, &e);
}

static void
attempt_on_status(struct attempt *a, const struct fact *f)
{
	struct rasp_event e = attempt_at(a, RASP_RUN_STATUS, f);

	e.state = f->text.s;
	attempt_emit(a, &e);
}

/* A text that is long is written without escapes, so that it can be cut. */
static struct rasp_text
attempt_limit(struct attempt *a, const struct rasp_text *text, size_t max)
{
	struct rasp_text limited = *text;

	if (text->s.n <= max || !text->json)
		return limited;
	limited.s = attempt_text(a, text);
	limited.json = false;
	return limited;
}

static void
attempt_on_reasoning(struct attempt *a, const struct fact *f)
{
	struct rasp_event e = attempt_at(a, RASP_REASONING, f);

	e.text = attempt_limit(a, &f->text, REASONING_MAX);
	if (!e.text.json)
		e.text.s = fcmp_truncate(e.text.s, REASONING_MAX);
	attempt_emit(a, &e);
}

static void
attempt_on_tool(struct attempt *a, const struct fact *f)
{
	static const enum rasp_type types[] = {
		[FACT_TOOL_STARTED] = RASP_TOOL_STARTED,
		[FACT_TOOL_COMPLETED] = RASP_TOOL_COMPLETED,
		[FACT_TOOL_FAILED] = RASP_TOOL_FAILED,
	};
	struct rasp_event e = attempt_at(a, types[f->kind], f);

	e.tool = f->tool;
	e.tool.name = fcmp_truncate(f->tool.name, ID_MAX);
	e.tool.output = attempt_limit(a, &f->tool.output, RASP_TOOL_MAX);
	/* It has none yet. */
	if (f->kind == FACT_TOOL_STARTED)
		e.tool.output.s = (struct str){ NULL, 0 };
	if (id_valid(f->id))
		e.tool_call_id = f->id;
	if (f->kind == FACT_TOOL_FAILED)
		e.level = RASP_WARNING;
	attempt_emit(a, &e);
}

static void
attempt_on_usage(struct attempt *a, const struct fact *f)
{
	struct rasp_event e = attempt_at(a, RASP_RUN_USAGE, f);

	e.usage = a->result.usage = f->usage;
	attempt_emit(a, &e);
}

static void
attempt_on_retrying(struct attempt *a, const struct fact *f)
{
	struct rasp_event e = attempt_at(a, RASP_ENGINE_ERROR, f);

	a->retries++;
	if (a->retries > RETRIES_EACH && (a->retries & (a->retries - 1)) != 0) {
		e = attempt_at(a, RASP_RUN_STATUS, f);
		e.state = STR("retrying");
		attempt_emit(a, &e);
		return;
	}
	e.level = RASP_WARNING;
	e.warning = (struct fcmp_warning){ .code = STR("ENGINE_RETRYING"),
		.message = attempt_clean_text(a, &f->text),
		.count = a->retries };
	attempt_emit(a, &e);
}

static void
attempt_on_error(struct attempt *a, const struct fact *f)
{
	struct rasp_event e = attempt_at(a, RASP_ENGINE_ERROR, f);

	e.level = RASP_WARNING;
	e.warning = (struct fcmp_warning){ .code = str_of(f->code),
		.message = attempt_clean_text(a, &f->text) };
	attempt_emit(a, &e);
}

static void
attempt_on_failed(struct attempt *a, const struct fact *f)
{
	struct rasp_event e = attempt_at(a, RASP_ENGINE_ERROR, f);
	struct str text = attempt_text(a, &f->text);

	a->seen.failed = true;
	a->seen.failed_at = *f;
	a->seen.status = f->status;
	buf_reset(&a->seen.failure);
	buf_put_str(&a->seen.failure, fcmp_truncate(text, FCMP_MESSAGE_MAX));
	e.level = RASP_ERROR;
	e.warning = (struct fcmp_warning){ .code = STR("ENGINE_FAILED"),
		.message = attempt_clean_text(a, &f->text) };
	attempt_emit(a, &e);
}

static void
attempt_on_end(struct attempt *a, const struct fact *f)
{
	struct rasp_event e = attempt_at(a, RASP_RUN_STATUS, f);

	a->seen.end_signal = true;
	a->seen.end_at = *f;
	a->result.end_signal_ns = f->ns;
	if (a->seen.failed && a->seen.failed_at.recovers) {
		a->seen.failed = false;
		attempt_warn(a, &a->seen.failed_at, "ENGINE_ERROR_ROW",
		    buf_str(&a->seen.failure), 0);
	}
	e.state = STR("end_signal");
	attempt_emit(a, &e);
}

static void
attempt_on_question(struct attempt *a, const struct fact *f)
{
	struct rasp_event e = attempt_at(a, RASP_RUN_STATUS, f);
	struct fcmp_question q;

	if (interaction_of_codex(f->text.s, a->arena, &q) == RC_OK) {
		a->question = q;
		a->seen.question_set = a->seen.question_row = true;
	}
	e.state = STR("question");
	attempt_emit(a, &e);
}

static void
attempt_on_warning(struct attempt *a, const struct fact *f)
{
	attempt_warn(a, f, f->code, f->text.s, f->count);
}

static void
attempt_on_message_end(struct attempt *a, const struct fact *f)
{
	(void)f;
	attempt_message_end(a);
}

static void (*const attempt_facts[FACT_KINDS_N])(
    struct attempt *a, const struct fact *f) = {
	[FACT_SESSION] = attempt_on_session,
	[FACT_STATUS] = attempt_on_status,
	[FACT_TEXT] = attempt_on_text,
	[FACT_MESSAGE] = attempt_on_message,
	[FACT_MESSAGE_END] = attempt_on_message_end,
	[FACT_REASONING] = attempt_on_reasoning,
	[FACT_TOOL_STARTED] = attempt_on_tool,
	[FACT_TOOL_COMPLETED] = attempt_on_tool,
	[FACT_TOOL_FAILED] = attempt_on_tool,
	[FACT_USAGE] = attempt_on_usage,
	[FACT_RETRYING] = attempt_on_retrying,
	[FACT_ERROR] = attempt_on_error,
	[FACT_FAILED] = attempt_on_failed,
	[FACT_END] = attempt_on_end,
	[FACT_QUESTION] = attempt_on_question,
	[FACT_WARNING] = attempt_on_warning,
	[FACT_RAW] = attempt_raw,
};

void
attempt_on_fact(void *arg, const struct fact *f)
{
	struct attempt *a = arg;

	/* What collects flushes itself. */
	if (f->kind != FACT_RAW && f->kind != FACT_TEXT &&
	    f->kind != FACT_MESSAGE)
		attempt_flush(a);
	attempt_facts[f->kind](a, f);
}
