/*
 * opencode run --format json: one row a line, each with its session.
 *
 * A step that begins with the message of the one before is a repeated call of
 * the model.  An error counts unless a step finishes with stop behind it.
 */
#include <stdlib.h>

#include "core/buf.h"
#include "core/mem.h"
#include "engines/fact.h"
#include "wire/slice.h"

enum opencode_path {
	OPENCODE_TYPE,
	OPENCODE_SESSION,
	OPENCODE_MESSAGE_ID,
	OPENCODE_PART_ID,
	OPENCODE_CALL,
	OPENCODE_TOOL,
	OPENCODE_TEXT,
	OPENCODE_REASON,
	OPENCODE_COST,
	OPENCODE_INPUT,
	OPENCODE_OUTPUT,
	OPENCODE_REASONING,
	OPENCODE_CACHED,
	OPENCODE_CACHE_WRITTEN,
	OPENCODE_STATUS,
	OPENCODE_TOOL_INPUT,
	OPENCODE_TOOL_OUTPUT,
	OPENCODE_TOOL_ERROR,
	OPENCODE_TOOL_EXIT,
	OPENCODE_ERROR_NAME,
	OPENCODE_ERROR_MESSAGE,
	OPENCODE_ERROR_DATA_MESSAGE,
	OPENCODE_ERROR_CODE,
	OPENCODE_PATHS_N
};

static const char *const opencode_paths[OPENCODE_PATHS_N] = { "type",
	"sessionID", "part.messageID", "part.id", "part.callID", "part.tool",
	"part.text", "part.reason", "part.cost", "part.tokens.input",
	"part.tokens.output", "part.tokens.reasoning", "part.tokens.cache.read",
	"part.tokens.cache.write", "part.state.status", "part.state.input",
	"part.state.output", "part.state.error", "part.state.metadata.exit",
	"error.name", "error.message", "error.data.message",
	"error.data.statusCode" };

#define OPENCODE_ID_MAX 128

struct adapter_state {
	struct fact_sink to;
	struct wire_paths *paths;
	struct wire_found found[OPENCODE_PATHS_N];
	struct buf session, step; /* of the rows before */
	struct rasp_usage usage;  /* of all steps */
};

static struct adapter_state *
opencode_create(const struct fact_sink *to)
{
	struct adapter_state *s = mem_zalloc(sizeof(*s));

	s->to = *to;
	s->paths = wire_paths_new(opencode_paths, OPENCODE_PATHS_N);
	buf_init(&s->session, OPENCODE_ID_MAX);
	buf_init(&s->step, OPENCODE_ID_MAX);
	s->usage = (struct rasp_usage){ -1, -1, -1, -1, -1 };
	return s;
}

static void
opencode_destroy(struct adapter_state *s)
{
	wire_paths_free(s->paths);
	buf_free(&s->session);
	buf_free(&s->step);
	free(s);
}

static struct str
opencode_inside(const struct adapter_state *s, enum opencode_path p)
{
	return wire_found_inside(&s->found[p]);
}

static struct rasp_text
opencode_text(const struct adapter_state *s, enum opencode_path p)
{
	return (struct rasp_text){ opencode_inside(s, p), s->found[p].escaped };
}

static void
opencode_report(struct adapter_state *s, const struct fact *f)
{
	s->to.fact(s->to.arg, f);
}

/* Whether an id differs from the one before, which it replaces. */
static bool
opencode_changed(struct buf *before, struct str id)
{
	if (id.n == 0 || id.n > OPENCODE_ID_MAX || str_eq(id, buf_str(before)))
		return false;
	buf_reset(before);
	buf_put_str(before, id);
	return true;
}

static void
opencode_session(struct adapter_state *s, const struct line *l)
{
	struct fact f = fact_of(FACT_SESSION, l);

	f.text = opencode_text(s, OPENCODE_SESSION);
	if (opencode_changed(&s->session, f.text.s))
		opencode_report(s, &f);
}

/* ---- rows ---- */

static void
opencode_step_start(struct adapter_state *s, const struct line *l)
{
	struct str id = opencode_inside(s, OPENCODE_MESSAGE_ID);
	struct fact f = fact_of(FACT_RETRYING, l);

	if (opencode_changed(&s->step, id) || id.n == 0) {
		fact_status(&s->to, l, "step_started");
		return;
	}
	f.text.s = STR("the call of the model is repeated");
	opencode_report(s, &f);
}

static void
opencode_add(struct adapter_state *s, enum opencode_path p, int64_t *sum)
{
	int64_t v;

	if (wire_found_i64(&s->found[p], &v) != RC_OK || v < 0)
		return;
	if (*sum < 0)
		*sum = 0;
	*sum = v > INT64_MAX - *sum ? INT64_MAX : *sum + v;
}

static void
opencode_add_cost(struct adapter_state *s)
{
	double v;

	if (str_to_f64(s->found[OPENCODE_COST].value, 0, 1e9, &v) != RC_OK)
		return;
	s->usage.cost = (s->usage.cost < 0 ? 0 : s->usage.cost) + v;
}

static void
opencode_step_finish(struct adapter_state *s, const struct line *l)
{
	struct fact f = fact_of(FACT_USAGE, l);

	/* Its input is without the cache, its output without reasoning. */
	opencode_add(s, OPENCODE_INPUT, &s->usage.input);
	opencode_add(s, OPENCODE_CACHED, &s->usage.input);
	opencode_add(s, OPENCODE_CACHE_WRITTEN, &s->usage.input);
	opencode_add(s, OPENCODE_OUTPUT, &s->usage.output);
	opencode_add(s, OPENCODE_REASONING, &s->usage.output);
	opencode_add(s, OPENCODE_REASONING, &s->usage.reasoning);
	opencode_add(s, OPENCODE_CACHED, &s->usage.cached);
	opencode_add_cost(s);
	f.usage = s->usage;
	opencode_report(s, &f);
	f = fact_of(FACT_END, l);
	if (str_eq(opencode_inside(s, OPENCODE_REASON), STR("stop")))
		opencode_report(s, &f);
	/* What begins next is no repetition. */
	buf_reset(&s->step);
}

static void
opencode_text_row(struct adapter_state *s, const struct line *l)
{
	struct fact f = fact_of(FACT_MESSAGE, l);

	f.text = opencode_text(s, OPENCODE_TEXT);
	if (f.text.s.p == NULL) {
		fact_raw(&s->to, l, true);
		return;
	}
	if (str_trim(f.text.s).n == 0) {
		fact_status(&s->to, l, "empty_text");
		return;
	}
	opencode_report(s, &f);
}

static void
opencode_reasoning_row(struct adapter_state *s, const struct line *l)
{
	struct fact f = fact_of(FACT_REASONING, l);

	f.text = opencode_text(s, OPENCODE_TEXT);
	opencode_report(s, &f);
}

static void
opencode_tool_use(struct adapter_state *s, const struct line *l)
{
	struct fact f = fact_of(FACT_TOOL_COMPLETED, l);
	struct str input = s->found[OPENCODE_TOOL_INPUT].value;

	f.id = opencode_inside(s, OPENCODE_CALL);
	if (f.id.p == NULL)
		f.id = opencode_inside(s, OPENCODE_PART_ID);
	f.tool.name = opencode_inside(s, OPENCODE_TOOL);
	if (input.n > 0 && input.p[0] == '{')
		f.tool.arguments = input;
	f.tool.output = opencode_text(s, OPENCODE_TOOL_OUTPUT);
	if (wire_found_i64(&s->found[OPENCODE_TOOL_EXIT], &f.tool.exit_code) !=
	    RC_OK)
		f.tool.exit_code = -1;
	if (str_eq(opencode_inside(s, OPENCODE_STATUS), STR("error"))) {
		f.kind = FACT_TOOL_FAILED;
		if (wire_found_is_text(&s->found[OPENCODE_TOOL_ERROR]))
			f.tool.output = opencode_text(s, OPENCODE_TOOL_ERROR);
	}
	opencode_report(s, &f);
}

static void
opencode_error(struct adapter_state *s, const struct line *l)
{
	struct fact f = fact_of(FACT_FAILED, l);

	f.text = opencode_text(s, OPENCODE_ERROR_DATA_MESSAGE);
	if (f.text.s.p == NULL)
		f.text = opencode_text(s, OPENCODE_ERROR_MESSAGE);
	if (f.text.s.p == NULL)
		f.text = opencode_text(s, OPENCODE_ERROR_NAME);
	if (wire_found_i64(&s->found[OPENCODE_ERROR_CODE], &f.status) != RC_OK)
		f.status = 0;
	/* The name is said by no text: a key that is missing, for example. */
	if (str_eq(opencode_inside(s, OPENCODE_ERROR_NAME),
		STR("ProviderAuthError")))
		f.status = 401;
	f.recovers = true;
	opencode_report(s, &f);
}

static void
opencode_done(struct adapter_state *s, const struct line *l)
{
	fact_status(&s->to, l, "done");
}

static const struct adapter_row opencode_rows[] = {
	{ "tool_use", opencode_tool_use },
	{ "text", opencode_text_row },
	{ "step_start", opencode_step_start },
	{ "step_finish", opencode_step_finish },
	{ "reasoning", opencode_reasoning_row },
	{ "error", opencode_error },
	{ "done", opencode_done },
};

static void
opencode_line(struct adapter_state *s, const struct line *l)
{
	const struct adapter_row *row = NULL;

	if (l->stream == SPOOL_ERR || l->text.n == 0) {
		fact_raw(&s->to, l, false);
		return;
	}
	if (!l->too_long &&
	    wire_slice_paths(s->paths, l->text, s->found) == RC_OK)
		row = adapter_row_find(opencode_rows, NELEM(opencode_rows),
		    opencode_inside(s, OPENCODE_TYPE));
	if (row == NULL) {
		fact_raw(&s->to, l, true);
		return;
	}
	opencode_session(s, l);
	row->read(s, l);
}

const struct adapter opencode_adapter = { opencode_create, opencode_line, NULL,
	opencode_destroy };
