/*
 * codex exec --json: one row a line.
 *
 * An error row is a warning: the engine repeats failed calls of its model, and
 * says with turn.failed that it does not any more.
 */
#include <stdlib.h>
#include <string.h>

#include "core/buf.h"
#include "core/mem.h"
#include "engines/fact.h"
#include "wire/slice.h"

enum codex_path {
	CODEX_TYPE,
	CODEX_THREAD,
	CODEX_MESSAGE,
	CODEX_ERROR_MESSAGE,
	CODEX_INPUT,
	CODEX_CACHED,
	CODEX_OUTPUT,
	CODEX_REASONING,
	CODEX_QUESTIONS,
	CODEX_ITEM,
	CODEX_ITEM_ID,
	CODEX_ITEM_TYPE,
	CODEX_ITEM_TEXT,
	CODEX_ITEM_COMMAND,
	CODEX_ITEM_AGGREGATED,
	CODEX_ITEM_EXIT,
	CODEX_ITEM_STATUS,
	CODEX_ITEM_CHANGES,
	CODEX_ITEM_SERVER,
	CODEX_ITEM_TOOL,
	CODEX_ITEM_ARGUMENTS,
	CODEX_ITEM_RESULT,
	CODEX_ITEM_ERROR,
	CODEX_ITEM_QUERY,
	CODEX_ITEM_MESSAGE,
	CODEX_ITEM_ITEMS,
	CODEX_PATHS_N
};

static const char *const codex_paths[CODEX_PATHS_N] = { "type", "thread_id",
	"message", "error.message", "usage.input_tokens",
	"usage.cached_input_tokens", "usage.output_tokens",
	"usage.reasoning_output_tokens", "questions", "item", "item.id",
	"item.type", "item.text", "item.command", "item.aggregated_output",
	"item.exit_code", "item.status", "item.changes", "item.server",
	"item.tool", "item.arguments", "item.result", "item.error.message",
	"item.query", "item.message", "item.items" };

#define CODEX_SCRATCH_MAX (8UL * 1024 * 1024)

struct adapter_state {
	struct fact_sink to;
	struct wire_paths *paths;
	struct wire_found found[CODEX_PATHS_N];
	struct buf scratch, name;
};

static struct adapter_state *
codex_create(const struct fact_sink *to)
{
	struct adapter_state *s = mem_zalloc(sizeof(*s));

	s->to = *to;
	s->paths = wire_paths_new(codex_paths, CODEX_PATHS_N);
	buf_init(&s->scratch, CODEX_SCRATCH_MAX);
	buf_init(&s->name, CODEX_SCRATCH_MAX);
	return s;
}

static void
codex_destroy(struct adapter_state *s)
{
	wire_paths_free(s->paths);
	buf_free(&s->scratch);
	buf_free(&s->name);
	free(s);
}

static struct str
codex_inside(const struct adapter_state *s, enum codex_path p)
{
	return wire_found_inside(&s->found[p]);
}

static bool
codex_is(const struct adapter_state *s, enum codex_path p, const char *text)
{
	return str_eq(codex_inside(s, p), str_of(text));
}

static int64_t
codex_number(const struct adapter_state *s, enum codex_path p)
{
	int64_t v;

	return wire_found_i64(&s->found[p], &v) == RC_OK && v >= 0 ? v : -1;
}

static struct rasp_text
codex_text(const struct adapter_state *s, enum codex_path p)
{
	return (struct rasp_text){ codex_inside(s, p), s->found[p].escaped };
}

static void
codex_report(struct adapter_state *s, const struct fact *f)
{
	s->to.fact(s->to.arg, f);
}

/* ---- items ---- */

/* An object of one member, as arguments. */
static struct str
codex_arguments(struct adapter_state *s, const char *key, enum codex_path p)
{
	struct str value = s->found[p].value;

	if (value.p == NULL)
		return value;
	buf_reset(&s->scratch);
	buf_puts(&s->scratch, "{\"");
	buf_puts(&s->scratch, key);
	buf_puts(&s->scratch, "\":");
	buf_put_str(&s->scratch, value);
	buf_putc(&s->scratch, '}');
	return buf_str(&s->scratch);
}

/* The tool of an item: its name, arguments and output. */
static void
codex_tool(struct adapter_state *s, struct rasp_tool *t)
{
	buf_reset(&s->name);
	if (codex_is(s, CODEX_ITEM_TYPE, "mcp_tool_call")) {
		wire_found_put(&s->found[CODEX_ITEM_SERVER], &s->name);
		buf_putc(&s->name, '.');
		wire_found_put(&s->found[CODEX_ITEM_TOOL], &s->name);
		t->arguments = s->found[CODEX_ITEM_ARGUMENTS].value;
		t->output.s = s->found[CODEX_ITEM_RESULT].value;
	} else {
		wire_found_put(&s->found[CODEX_ITEM_TYPE], &s->name);
	}
	t->name = buf_str(&s->name);
	if (codex_is(s, CODEX_ITEM_TYPE, "command_execution")) {
		t->arguments =
		    codex_arguments(s, "command", CODEX_ITEM_COMMAND);
		t->output = codex_text(s, CODEX_ITEM_AGGREGATED);
		t->exit_code = codex_number(s, CODEX_ITEM_EXIT);
	} else if (codex_is(s, CODEX_ITEM_TYPE, "file_change")) {
		t->arguments =
		    codex_arguments(s, "changes", CODEX_ITEM_CHANGES);
	} else if (codex_is(s, CODEX_ITEM_TYPE, "web_search")) {
		t->arguments = codex_arguments(s, "query", CODEX_ITEM_QUERY);
	} else if (codex_is(s, CODEX_ITEM_TYPE, "todo_list")) {
		t->arguments = codex_arguments(s, "items", CODEX_ITEM_ITEMS);
	} else if (t->arguments.p == NULL) {
		t->arguments = s->found[CODEX_ITEM].value;
	}
	/* Arguments are an object: not null, nor a text. */
	if (t->arguments.n > 0 && t->arguments.p[0] != '{')
		t->arguments = (struct str){ NULL, 0 };
	if (str_eq(t->output.s, STR("null")))
		t->output.s = (struct str){ NULL, 0 };
	if (wire_found_is_text(&s->found[CODEX_ITEM_ERROR]))
		t->output = codex_text(s, CODEX_ITEM_ERROR);
}

static void
codex_tool_row(struct adapter_state *s, const struct line *l, const char *phase)
{
	struct fact f = fact_of(FACT_TOOL_COMPLETED, l);

	if (strcmp(phase, "updated") == 0) {
		fact_status(&s->to, l, "tool_updated");
		return;
	}
	f.id = codex_inside(s, CODEX_ITEM_ID);
	codex_tool(s, &f.tool);
	if (strcmp(phase, "started") == 0)
		f.kind = FACT_TOOL_STARTED;
	else if (codex_is(s, CODEX_ITEM_STATUS, "failed") ||
	    codex_is(s, CODEX_ITEM_STATUS, "declined") ||
	    wire_found_is_text(&s->found[CODEX_ITEM_ERROR]))
		f.kind = FACT_TOOL_FAILED;
	codex_report(s, &f);
}

static void
codex_message_row(
    struct adapter_state *s, const struct line *l, const char *phase)
{
	bool done = strcmp(phase, "completed") == 0;
	struct fact f = fact_of(done ? FACT_MESSAGE : FACT_TEXT, l);

	f.id = codex_inside(s, CODEX_ITEM_ID);
	f.text = codex_text(s, CODEX_ITEM_TEXT);
	f.whole = true;
	codex_report(s, &f);
}

static void
codex_item(struct adapter_state *s, const struct line *l, const char *phase)
{
	struct fact f;

	if (codex_is(s, CODEX_ITEM_TYPE, "agent_message") &&
	    wire_found_is_text(&s->found[CODEX_ITEM_TEXT])) {
		codex_message_row(s, l, phase);
	} else if (codex_is(s, CODEX_ITEM_TYPE, "error")) {
		f = fact_of(FACT_ERROR, l);
		f.code = "ENGINE_ERROR_ITEM";
		f.text = codex_text(s, CODEX_ITEM_MESSAGE);
		codex_report(s, &f);
	} else if (codex_is(s, CODEX_ITEM_TYPE, "reasoning") ||
	    codex_is(s, CODEX_ITEM_TYPE, "plan")) {
		f = fact_of(FACT_REASONING, l);
		f.text = codex_text(s, CODEX_ITEM_TEXT);
		if (strcmp(phase, "completed") == 0)
			codex_report(s, &f);
		else
			fact_status(&s->to, l, "reasoning");
	} else if (wire_found_is_text(&s->found[CODEX_ITEM_TYPE])) {
		codex_tool_row(s, l, phase);
	} else {
		fact_raw(&s->to, l, true);
	}
}

static void
codex_item_started(struct adapter_state *s, const struct line *l)
{
	codex_item(s, l, "started");
}

static void
codex_item_updated(struct adapter_state *s, const struct line *l)
{
	codex_item(s, l, "updated");
}

static void
codex_item_completed(struct adapter_state *s, const struct line *l)
{
	codex_item(s, l, "completed");
}

/* ---- rows ---- */

static void
codex_thread(struct adapter_state *s, const struct line *l)
{
	struct fact f = fact_of(FACT_SESSION, l);

	f.text = codex_text(s, CODEX_THREAD);
	codex_report(s, &f);
}

static void
codex_turn_started(struct adapter_state *s, const struct line *l)
{
	fact_status(&s->to, l, "turn_started");
}

static void
codex_turn_completed(struct adapter_state *s, const struct line *l)
{
	struct fact f = fact_of(FACT_USAGE, l);

	f.usage.input = codex_number(s, CODEX_INPUT);
	f.usage.cached = codex_number(s, CODEX_CACHED);
	f.usage.output = codex_number(s, CODEX_OUTPUT);
	f.usage.reasoning = codex_number(s, CODEX_REASONING);
	codex_report(s, &f);
	f = fact_of(FACT_END, l);
	codex_report(s, &f);
}

static void
codex_turn_failed(struct adapter_state *s, const struct line *l)
{
	struct fact f = fact_of(FACT_FAILED, l);

	f.text = codex_text(s, CODEX_ERROR_MESSAGE);
	codex_report(s, &f);
}

static void
codex_error(struct adapter_state *s, const struct line *l)
{
	struct fact f = fact_of(FACT_ERROR, l);

	f.text = codex_text(s, CODEX_MESSAGE);
	f.code = "ENGINE_ERROR_ROW";
	if (str_starts(f.text.s, STR("Reconnecting")))
		f.kind = FACT_RETRYING;
	codex_report(s, &f);
}

static void
codex_question(struct adapter_state *s, const struct line *l)
{
	struct fact f = fact_of(FACT_QUESTION, l);

	f.text.s = s->found[CODEX_QUESTIONS].value;
	codex_report(s, &f);
}

static const struct adapter_row codex_rows[] = {
	{ "item.completed", codex_item_completed },
	{ "item.started", codex_item_started },
	{ "item.updated", codex_item_updated },
	{ "thread.started", codex_thread },
	{ "turn.started", codex_turn_started },
	{ "turn.completed", codex_turn_completed },
	{ "turn.failed", codex_turn_failed },
	{ "error", codex_error },
	{ "request_user_input", codex_question },
};

static void
codex_line(struct adapter_state *s, const struct line *l)
{
	const struct adapter_row *row = NULL;

	if (l->stream == SPOOL_ERR || l->text.n == 0) {
		fact_raw(&s->to, l, false);
		return;
	}
	if (!l->too_long &&
	    wire_slice_paths(s->paths, l->text, s->found) == RC_OK)
		row = adapter_row_find(
		    codex_rows, NELEM(codex_rows), codex_inside(s, CODEX_TYPE));
	if (row == NULL) {
		fact_raw(&s->to, l, true);
		return;
	}
	row->read(s, l);
}

const struct adapter codex_adapter = { codex_create, codex_line, NULL,
	codex_destroy };
