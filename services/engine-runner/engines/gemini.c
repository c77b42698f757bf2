/*
 * gemini --output-format stream-json: one row a line; and json, of older
 * versions: one document of many lines, on either stream, behind what people
 * are shown.
 *
 * A document begins with a line that begins with "{" and is no row; its last
 * line is its first that begins with "}" and makes it complete.
 */
#include <stdlib.h>

#include "core/buf.h"
#include "core/mem.h"
#include "engines/fact.h"
#include "spool/held_lines.h"
#include "wire/slice.h"

enum gemini_path {
	GEMINI_TYPE,
	GEMINI_SESSION,
	GEMINI_ROLE,
	GEMINI_CONTENT,
	GEMINI_DELTA,
	GEMINI_TOOL_NAME,
	GEMINI_TOOL_ID,
	GEMINI_PARAMETERS,
	GEMINI_STATUS,
	GEMINI_OUTPUT,
	GEMINI_ERROR,
	GEMINI_ERROR_MESSAGE,
	GEMINI_ERROR_CODE,
	GEMINI_MESSAGE,
	GEMINI_RESPONSE,
	GEMINI_INPUT_TOKENS,
	GEMINI_OUTPUT_TOKENS,
	GEMINI_CACHED,
	GEMINI_TOTAL_TOKENS,
	GEMINI_MODELS,
	GEMINI_PATHS_N
};

static const char *const gemini_paths[GEMINI_PATHS_N] = { "type", "session_id",
	"role", "content", "delta", "tool_name", "tool_id", "parameters",
	"status", "output", "error", "error.message", "error.code", "message",
	"response", "stats.input_tokens", "stats.output_tokens", "stats.cached",
	"stats.total_tokens", "stats.models" };

enum gemini_token {
	GEMINI_PROMPT,
	GEMINI_CANDIDATES,
	GEMINI_CACHED_TOKENS,
	GEMINI_THOUGHTS,
	GEMINI_TOKENS_N
};

static const char *const gemini_token_paths[GEMINI_TOKENS_N] = {
	"tokens.prompt", "tokens.candidates", "tokens.cached", "tokens.thoughts"
};

/* Of an error's text that is stored; of a longer one nothing is. */
#define GEMINI_ERROR_MAX 16384

/* Behind what people are shown a document is a little less sure. */
#define GEMINI_NOISY 0.9

struct adapter_state {
	struct fact_sink to;
	struct wire_paths *paths, *token_paths;
	struct wire_found found[GEMINI_PATHS_N];
	struct held_lines held[SPOOL_STREAMS_N]; /* what may be a document */
	/* Of the last row of an error, without the quotes: a result that failed
	 * may have no text of its own. */
	struct buf error;
	bool error_escaped;
	bool noisy;  /* a line was no row */
	bool stream; /* rows were seen */
};

static struct adapter_state *
gemini_create(const struct fact_sink *to)
{
	struct adapter_state *s = mem_zalloc(sizeof(*s));

	s->to = *to;
	buf_init(&s->error, GEMINI_ERROR_MAX);
	s->paths = wire_paths_new(gemini_paths, GEMINI_PATHS_N);
	s->token_paths = wire_paths_new(gemini_token_paths, GEMINI_TOKENS_N);
	for (size_t i = 0; i < SPOOL_STREAMS_N; i++)
		held_lines_init(&s->held[i]);
	return s;
}

static void
gemini_destroy(struct adapter_state *s)
{
	for (size_t i = 0; i < SPOOL_STREAMS_N; i++)
		held_lines_free(&s->held[i]);
	buf_free(&s->error);
	wire_paths_free(s->paths);
	wire_paths_free(s->token_paths);
	free(s);
}

static struct str
gemini_inside(const struct adapter_state *s, enum gemini_path p)
{
	return wire_found_inside(&s->found[p]);
}

static struct rasp_text
gemini_text(const struct adapter_state *s, enum gemini_path p)
{
	return (struct rasp_text){ gemini_inside(s, p), s->found[p].escaped };
}

static int64_t
gemini_number(const struct wire_found *f)
{
	int64_t v;

	return wire_found_i64(f, &v) == RC_OK && v >= 0 ? v : -1;
}

static void
gemini_report(struct adapter_state *s, const struct fact *f)
{
	s->to.fact(s->to.arg, f);
}

/* ---- rows ---- */

/* Another row ends a message. */
static void
gemini_message_end(struct adapter_state *s, const struct line *l)
{
	const struct fact f = fact_of(FACT_MESSAGE_END, l);

	gemini_report(s, &f);
}

static void
gemini_init(struct adapter_state *s, const struct line *l)
{
	struct fact f = fact_of(FACT_SESSION, l);

	f.text = gemini_text(s, GEMINI_SESSION);
	gemini_report(s, &f);
}

static void
gemini_message(struct adapter_state *s, const struct line *l)
{
	bool delta = str_eq(s->found[GEMINI_DELTA].value, STR("true"));
	struct fact f = fact_of(delta ? FACT_TEXT : FACT_MESSAGE, l);

	if (!str_eq(gemini_inside(s, GEMINI_ROLE), STR("assistant"))) {
		gemini_message_end(s, l);
		fact_status(&s->to, l, "prompt");
		return;
	}
	f.text = gemini_text(s, GEMINI_CONTENT);
	if (!delta)
		gemini_message_end(s, l);
	gemini_report(s, &f);
}

static void
gemini_tool_use(struct adapter_state *s, const struct line *l)
{
	struct fact f = fact_of(FACT_TOOL_STARTED, l);
	struct str parameters = s->found[GEMINI_PARAMETERS].value;

	f.id = gemini_inside(s, GEMINI_TOOL_ID);
	f.tool.name = gemini_inside(s, GEMINI_TOOL_NAME);
	if (parameters.n > 0 && parameters.p[0] == '{')
		f.tool.arguments = parameters;
	gemini_report(s, &f);
}

static void
gemini_tool_result(struct adapter_state *s, const struct line *l)
{
	struct fact f = fact_of(FACT_TOOL_COMPLETED, l);

	f.id = gemini_inside(s, GEMINI_TOOL_ID);
	f.tool.output = gemini_text(s, GEMINI_OUTPUT);
	if (str_eq(gemini_inside(s, GEMINI_STATUS), STR("error"))) {
		f.kind = FACT_TOOL_FAILED;
		if (f.tool.output.s.p == NULL)
			f.tool.output = gemini_text(s, GEMINI_ERROR_MESSAGE);
	}
	gemini_report(s, &f);
}

static void
gemini_error(struct adapter_state *s, const struct line *l)
{
	struct fact f = fact_of(FACT_ERROR, l);

	f.code = "ENGINE_ERROR_ROW";
	f.text = gemini_text(s, GEMINI_MESSAGE);
	buf_reset(&s->error);
	buf_put_str(&s->error, f.text.s);
	s->error_escaped = f.text.json;
	gemini_report(s, &f);
}

static void
gemini_result(struct adapter_state *s, const struct line *l)
{
	struct fact f = fact_of(FACT_USAGE, l);
	int64_t total;

	f.usage.input = gemini_number(&s->found[GEMINI_INPUT_TOKENS]);
	f.usage.output = gemini_number(&s->found[GEMINI_OUTPUT_TOKENS]);
	f.usage.cached = gemini_number(&s->found[GEMINI_CACHED]);
	/* Reasoning is in the total alone. */
	total = gemini_number(&s->found[GEMINI_TOTAL_TOKENS]);
	if (f.usage.input >= 0 && f.usage.output >= 0 &&
	    total - f.usage.input > f.usage.output)
		f.usage.output = total - f.usage.input;
	gemini_report(s, &f);
	f = fact_of(FACT_END, l);
	if (!str_eq(gemini_inside(s, GEMINI_STATUS), STR("success"))) {
		f.kind = FACT_FAILED;
		f.text = gemini_text(s, GEMINI_ERROR_MESSAGE);
		if (f.text.s.n == 0)
			f.text = (struct rasp_text){ buf_str(&s->error),
				s->error_escaped };
	}
	gemini_report(s, &f);
}

static const struct adapter_row gemini_rows[] = {
	{ "message", gemini_message },
	{ "tool_use", gemini_tool_use },
	{ "tool_result", gemini_tool_result },
	{ "init", gemini_init },
	{ "error", gemini_error },
	{ "result", gemini_result },
};

static bool
gemini_row(struct adapter_state *s, const struct line *l)
{
	const struct adapter_row *row = adapter_row_find(
	    gemini_rows, NELEM(gemini_rows), gemini_inside(s, GEMINI_TYPE));

	if (row == NULL)
		return false;
	s->stream = true;
	if (row->read != gemini_message)
		gemini_message_end(s, l);
	row->read(s, l);
	return true;
}

/* ---- a document ---- */

static void
gemini_add(int64_t *sum, const struct wire_found *f)
{
	int64_t v = gemini_number(f);

	if (v < 0)
		return;
	if (*sum < 0)
		*sum = 0;
	*sum = v > INT64_MAX - *sum ? INT64_MAX : *sum + v;
}

struct gemini_sum {
	struct adapter_state *s;
	struct rasp_usage usage;
};

static void
gemini_add_model(void *arg, const struct wire_slice *m)
{
	struct wire_found found[GEMINI_TOKENS_N];
	struct gemini_sum *sum = arg;

	if (wire_slice_paths(sum->s->token_paths, m->value, found) != RC_OK)
		return;
	gemini_add(&sum->usage.input, &found[GEMINI_PROMPT]);
	gemini_add(&sum->usage.output, &found[GEMINI_CANDIDATES]);
	gemini_add(&sum->usage.output, &found[GEMINI_THOUGHTS]);
	gemini_add(&sum->usage.cached, &found[GEMINI_CACHED_TOKENS]);
	gemini_add(&sum->usage.reasoning, &found[GEMINI_THOUGHTS]);
}

static struct rasp_usage
gemini_usage(struct adapter_state *s)
{
	struct gemini_sum sum = { s, { -1, -1, -1, -1, -1 } };
	const struct wire_slice_handler h = { .each = gemini_add_model,
		.arg = &sum };
	struct str models = s->found[GEMINI_MODELS].value;

	if (models.n == 0 || models.p[0] != '{' ||
	    wire_slice_each(models, &h) != RC_OK)
		return (struct rasp_usage){ -1, -1, -1, -1, -1 };
	return sum.usage;
}

static void
gemini_end(struct adapter_state *s, const struct line *l, double confidence)
{
	bool failed = s->found[GEMINI_ERROR].value.n > 0 &&
	    s->found[GEMINI_ERROR].value.p[0] == '{';
	struct fact f;

	if (wire_found_is_text(&s->found[GEMINI_RESPONSE])) {
		f = fact_of(FACT_MESSAGE, l);
		f.text = gemini_text(s, GEMINI_RESPONSE);
		f.confidence = confidence;
		gemini_report(s, &f);
	}
	f = fact_of(FACT_USAGE, l);
	f.usage = gemini_usage(s);
	gemini_report(s, &f);
	f = fact_of(failed ? FACT_FAILED : FACT_END, l);
	f.confidence = confidence;
	if (failed) {
		f.text = gemini_text(s, GEMINI_ERROR_MESSAGE);
		f.status = gemini_number(&s->found[GEMINI_ERROR_CODE]);
		if (f.status < 0)
			f.status = 0;
	}
	if (failed || wire_found_is_text(&s->found[GEMINI_RESPONSE]))
		gemini_report(s, &f);
}

/* What was found is a document; false: it is another object. */
static bool
gemini_document(struct adapter_state *s, const struct line *l)
{
	double confidence = s->noisy ? GEMINI_NOISY : 1;

	if (s->stream ||
	    (!wire_found_is_text(&s->found[GEMINI_RESPONSE]) &&
		s->found[GEMINI_ERROR].value.p == NULL))
		return false;
	if (wire_found_is_text(&s->found[GEMINI_SESSION]))
		gemini_init(s, l);
	gemini_end(s, l, confidence);
	return true;
}

/* ---- lines ---- */

static void
gemini_raw(struct adapter_state *s, const struct line *l)
{
	bool retries = l->stream == SPOOL_ERR &&
	    str_find(l->text, STR("Retrying with backoff")) >= 0;
	struct fact f = fact_of(FACT_RETRYING, l);

	if (l->text.n > 0)
		s->noisy = true;
	fact_raw(&s->to, l, l->stream == SPOOL_OUT && l->text.n > 0);
	f.text.s = l->text;
	if (retries)
		gemini_report(s, &f);
}

static void
gemini_drop(struct adapter_state *s, struct held_lines *h)
{
	for (size_t i = 0; i < h->n; i++) {
		struct line l = held_lines_at(h, i);

		gemini_raw(s, &l);
	}
	held_lines_reset(h);
}

/* A line that a document may have. */
static void
gemini_hold(struct adapter_state *s, struct held_lines *h, const struct line *l)
{
	struct line all = *l;

	if (!held_lines_put(h, l)) {
		gemini_drop(s, h);
		gemini_raw(s, l);
		return;
	}
	if (l->text.n == 0 || l->text.p[0] != '}')
		return;
	all.text = buf_str(&h->text);
	all.from = h->v[0].from;
	if (wire_slice_paths(s->paths, all.text, s->found) != RC_OK)
		return;
	if (gemini_document(s, &all))
		held_lines_reset(h);
	else
		gemini_drop(s, h);
}

static void
gemini_line(struct adapter_state *s, const struct line *l)
{
	struct held_lines *h = &s->held[l->stream];

	if (h->n > 0 || l->too_long || l->text.n == 0 || l->text.p[0] != '{') {
		if (h->n > 0)
			gemini_hold(s, h, l);
		else
			gemini_raw(s, l);
		return;
	}
	if (wire_slice_paths(s->paths, l->text, s->found) != RC_OK) {
		if (s->stream)
			gemini_raw(s, l);
		else
			gemini_hold(s, h, l);
		return;
	}
	if (!(l->stream == SPOOL_OUT && gemini_row(s, l)) &&
	    !gemini_document(s, l))
		gemini_raw(s, l);
}

static void
gemini_finish(struct adapter_state *s, const struct adapter_exit *x)
{
	(void)x;
	for (size_t i = 0; i < SPOOL_STREAMS_N; i++)
		gemini_drop(s, &s->held[i]);
}

const struct adapter gemini_adapter = { gemini_create, gemini_line,
	gemini_finish, gemini_destroy };
