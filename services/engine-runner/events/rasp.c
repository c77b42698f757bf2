/*
 * One function per kind of data.
 */
#include "events/rasp.h"

#include <string.h>

#include "core/clock.h"
#include "core/mem.h"
#include "wire/msgs.h"
#include "wire/out.h"

#define NS_PER_MS 1000000

static const struct {
	const char *category, *name;
	bool in_log;
} rasp_types[RASP_TYPES_N] = {
	[RASP_RUN_STARTED] = { "lifecycle", "run.started", true },
	[RASP_RUN_STATUS] = { "lifecycle", "run.status", true },
	[RASP_RUN_COMPLETED] = { "lifecycle", "run.completed", true },
	[RASP_RUN_FAILED] = { "lifecycle", "run.failed", true },
	[RASP_RUN_CANCELED] = { "lifecycle", "run.canceled", true },
	[RASP_RUN_USAGE] = { "lifecycle", "run.usage", true },
	[RASP_MESSAGE_DELTA] = { "agent", "agent.message.delta", true },
	[RASP_MESSAGE_FINAL] = { "agent", "agent.message.final", true },
	[RASP_REASONING] = { "agent", "agent.reasoning.summary", true },
	[RASP_INPUT_REQUESTED] = { "interaction", "interaction.requested",
	    true },
	[RASP_INPUT_REPLIED] = { "interaction", "interaction.replied", true },
	[RASP_INPUT_TIMEOUT] = { "interaction", "interaction.timeout", true },
	[RASP_INPUT_AUTO] = { "interaction", "interaction.auto_decision",
	    true },
	[RASP_TOOL_STARTED] = { "tool", "tool.call.started", true },
	[RASP_TOOL_COMPLETED] = { "tool", "tool.call.completed", true },
	[RASP_TOOL_FAILED] = { "tool", "tool.call.failed", true },
	[RASP_ARTIFACT] = { "artifact", "artifact.created", true },
	[RASP_PARSER_WARNING] = { "diagnostic", "parser.warning", true },
	[RASP_PARSER_ERROR] = { "diagnostic", "parser.error", true },
	[RASP_ENGINE_ERROR] = { "diagnostic", "engine.error", true },
	[RASP_RAW_STDOUT] = { "raw", "raw.stdout", false },
	[RASP_RAW_STDERR] = { "raw", "raw.stderr", false },
};

const char *
rasp_type_name(enum rasp_type t)
{
	return rasp_types[t].name;
}

bool
rasp_in_log(enum rasp_type t)
{
	return rasp_types[t].in_log;
}

struct str
rasp_ts(int64_t ns, char to[RASP_TS_MAX])
{
	struct wall t = { ns / NS_PER_MS };
	struct str s;

	_Static_assert(RASP_TS_MAX >= WALL_FORMAT_MAX + 4, "room");
	wall_format(t, 0, to);
	s = str_of(to);
	/* Milliseconds are written even if they are 0. */
	if (t.ms % 1000 == 0) {
		memcpy(to + s.n - 1, ".000Z", sizeof(".000Z"));
		s.n += 4;
	}
	return s;
}

/* ---- members ---- */

static void
rasp_put(struct wire_out *o, const char *key, struct str text)
{
	wire_out_name(o, key);
	wire_out_text(o, text);
}

static void
rasp_put_any(struct wire_out *o, const char *key, struct str text)
{
	if (text.n > 0)
		rasp_put(o, key, text);
}

static void
rasp_put_num(struct wire_out *o, const char *key, int64_t v)
{
	wire_out_name(o, key);
	wire_out_i64(o, v);
}

static void
rasp_put_count(struct wire_out *o, const char *key, int64_t v)
{
	if (v >= 0)
		rasp_put_num(o, key, v);
}

static void
rasp_put_bool(struct wire_out *o, const char *key, bool v)
{
	wire_out_name(o, key);
	wire_out_bool(o, v);
}

/* The inside of a JSON string is written as it is. */
static void
rasp_put_text(struct wire_out *o, const char *key, struct rasp_text text)
{
	if (!text.json) {
		rasp_put(o, key, text.s);
		return;
	}
	wire_out_name(o, key);
	wire_out_raw(o, STR("\""));
	buf_put_str(o->b, text.s);
	buf_putc(o->b, '"');
}

/* ---- data ---- */

static void
rasp_put_started(struct wire_out *o, const struct rasp_event *e)
{
	rasp_put(o, "title", e->started.title);
	rasp_put_any(o, "mode", e->started.mode);
	rasp_put_any(o, "engine_version", e->started.engine_version);
	rasp_put_any(o, "isolation", e->started.isolation);
}

static void
rasp_put_error(struct wire_out *o, const struct fcmp_error *error)
{
	wire_out_name(o, "error");
	wire_out_object(o);
	rasp_put(o, "category",
	    wire_chat_event_data_error_category_names[error->category]);
	rasp_put(o, "code", error->code);
	rasp_put(o, "message", error->message);
	rasp_put_bool(o, "retryable", error->retryable);
	wire_out_object_end(o);
}

static void
rasp_put_usage(struct wire_out *o, const struct rasp_usage *u)
{
	rasp_put_count(o, "input", u->input);
	rasp_put_count(o, "output", u->output);
	rasp_put_count(o, "cached", u->cached);
	rasp_put_count(o, "reasoning", u->reasoning);
	if (u->cost >= 0) {
		wire_out_name(o, "cost");
		wire_out_f64(o, u->cost);
	}
}

static void
rasp_put_message(struct wire_out *o, const struct rasp_event *e)
{
	rasp_put(o, "message_id", e->message.id);
	rasp_put(o, "text", e->message.text);
	if (e->type != RASP_MESSAGE_FINAL)
		return;
	wire_out_name(o, "structured_payload");
	if (e->message.payload.p != NULL)
		wire_out_raw(o, e->message.payload);
	else
		wire_out_null(o);
}

static void
rasp_put_question(struct wire_out *o, const struct fcmp_question *q)
{
	rasp_put(o, "kind", wire_question_kind_names[q->kind]);
	rasp_put(o, "prompt", q->prompt);
	wire_out_name(o, "options");
	wire_out_array(o);
	for (size_t i = 0; i < q->n_options; i++) {
		wire_out_object(o);
		rasp_put(o, "value", q->options[i].value);
		rasp_put_any(o, "label", q->options[i].label);
		wire_out_object_end(o);
	}
	wire_out_array_end(o);
}

/* At most RASP_TOOL_MAX bytes of a tool's output, and how many it had. */
static void
rasp_put_output(struct wire_out *o, const struct rasp_text *output)
{
	struct rasp_text text = *output;

	if (text.s.p == NULL)
		return;
	if (text.s.n > RASP_TOOL_MAX) {
		rasp_put_num(o, "output_bytes", (int64_t)text.s.n);
		text.s = fcmp_truncate(text.s, RASP_TOOL_MAX);
	}
	rasp_put_text(o, "output", text);
}

static void
rasp_put_tool(struct wire_out *o, const struct rasp_tool *t)
{
	rasp_put(o, "name", t->name);
	if (t->arguments.p != NULL && t->arguments.n <= RASP_TOOL_MAX) {
		wire_out_name(o, "arguments");
		wire_out_raw(o, t->arguments);
	}
	rasp_put_output(o, &t->output);
	rasp_put_count(o, "exit_code", t->exit_code);
}

static void
rasp_put_file(struct wire_out *o, const struct spool_file *f)
{
	rasp_put(o, "path", f->path);
	rasp_put(o, "change", f->change);
	rasp_put_num(o, "bytes", f->bytes);
	rasp_put_any(o, "sha256", f->sha256);
}

static void
rasp_put_warning(struct wire_out *o, const struct fcmp_warning *w)
{
	rasp_put(o, "code", w->code);
	rasp_put(o, "message", w->message);
	rasp_put_any(o, "message_id", w->message_id);
	if (w->count > 0)
		rasp_put_num(o, "count", w->count);
}

static void
rasp_put_block(struct wire_out *o, const struct rasp_event *e)
{
	rasp_put_num(o, "lines", e->block.lines);
	rasp_put_num(o, "bytes", e->block.bytes);
	rasp_put(o, "text", e->block.text);
}

static void
rasp_put_data(struct wire_out *o, const struct rasp_event *e)
{
	switch (e->type) {
	case RASP_RUN_STARTED:
		rasp_put_started(o, e);
		break;
	case RASP_RUN_STATUS:
		rasp_put(o, "state", e->state);
		break;
	case RASP_RUN_COMPLETED:
		rasp_put(o, "reason_code", str_of(e->reason));
		break;
	case RASP_RUN_FAILED:
	case RASP_RUN_CANCELED:
		rasp_put_error(o, &e->error);
		break;
	case RASP_RUN_USAGE:
		rasp_put_usage(o, &e->usage);
		break;
	case RASP_MESSAGE_DELTA:
	case RASP_MESSAGE_FINAL:
		rasp_put_message(o, e);
		break;
	case RASP_REASONING:
		rasp_put_text(o, "text", e->text);
		break;
	case RASP_INPUT_REQUESTED:
		rasp_put_question(o, e->question);
		break;
	case RASP_INPUT_REPLIED:
	case RASP_INPUT_AUTO:
		rasp_put(o, "content", e->content);
		break;
	case RASP_TOOL_STARTED:
	case RASP_TOOL_COMPLETED:
	case RASP_TOOL_FAILED:
		rasp_put_tool(o, &e->tool);
		break;
	case RASP_ARTIFACT:
		rasp_put_file(o, &e->file);
		break;
	case RASP_PARSER_WARNING:
	case RASP_PARSER_ERROR:
	case RASP_ENGINE_ERROR:
		rasp_put_warning(o, &e->warning);
		break;
	case RASP_RAW_STDOUT:
	case RASP_RAW_STDERR:
		rasp_put_block(o, e);
		break;
	case RASP_INPUT_TIMEOUT:
	case RASP_TYPES_N:
		break;
	}
}

/* ---- envelope ---- */

/*
 * Most events are short, so that their envelopes are most of the work: it is
 * written as text, but for what comes from outside.
 */
static void
rasp_escaped(struct buf *b, struct str text)
{
	struct wire_out o = { .b = b };

	wire_out_str(&o, text);
}

static void
rasp_put_head(struct buf *b, struct str run_id, struct str engine,
    const struct rasp_event *e)
{
	static const char *const streams[] = { "stdout", "stderr", "control" };
	static const char *const levels[] = { "info", "warning", "error" };
	struct wire_out o = { .b = b };

	buf_puts(b, "{\"protocol_version\":\"rasp/1.0\",\"run_id\":");
	rasp_escaped(b, run_id);
	buf_puts(b, ",\"seq\":");
	buf_put_i64(b, e->seq);
	buf_puts(b, ",\"ts\":\"");
	buf_put_str(b, e->ts);
	buf_puts(b, "\",\"attempt\":");
	buf_put_i64(b, e->attempt);
	buf_puts(b, ",\"source\":{\"engine\":\"");
	buf_put_str(b, engine);
	buf_puts(b, "\",\"stream\":\"");
	buf_puts(b, streams[e->stream]);
	buf_puts(b, "\",\"parser\":\"");
	buf_put_str(b, engine);
	buf_puts(b, "\",\"confidence\":");
	wire_out_f64(&o, e->confidence);
	buf_puts(b, "},\"event\":{\"category\":\"");
	buf_puts(b, rasp_types[e->type].category);
	buf_puts(b, "\",\"type\":\"");
	buf_puts(b, rasp_types[e->type].name);
	buf_puts(b, "\",\"level\":\"");
	buf_puts(b, levels[e->level]);
	buf_puts(b, "\"},\"data\":");
}

static void
rasp_put_tail(struct buf *b, const struct rasp_event *e)
{
	struct wire_out o = { .b = b };

	buf_puts(b, ",\"correlation\":");
	wire_out_object(&o);
	rasp_put_any(&o, "session_id", e->session_id);
	rasp_put_any(&o, "interaction_id", e->interaction_id);
	rasp_put_any(&o, "tool_call_id", e->tool_call_id);
	wire_out_object_end(&o);
	buf_puts(b, ",\"raw_ref\":{\"stdout_from\":");
	buf_put_i64(b, e->raw.stdout_from);
	buf_puts(b, ",\"stdout_to\":");
	buf_put_i64(b, e->raw.stdout_to);
	buf_puts(b, ",\"stderr_from\":");
	buf_put_i64(b, e->raw.stderr_from);
	buf_puts(b, ",\"stderr_to\":");
	buf_put_i64(b, e->raw.stderr_to);
	buf_puts(b, "}}");
}

void
rasp_write(struct str run_id, struct str engine, const struct rasp_event *e,
    struct buf *b)
{
	struct wire_out o = { .b = b };

	rasp_put_head(b, run_id, engine, e);
	wire_out_object(&o);
	rasp_put_data(&o, e);
	wire_out_object_end(&o);
	rasp_put_tail(b, e);
}
