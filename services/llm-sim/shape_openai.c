/*
 * shape_openai: chat completions.
 */
#include "shape.h"
#include "wire/tree.h"

/* Code points of a chunk. */
#define CHUNK_CODE_POINTS 4

/* A choice being written. */
struct choice_writer {
	const struct shape *s;
	struct buf b;
	struct wire_out o;
};

static void
openai_begin(struct choice_writer *p, const struct shape *s)
{
	p->s = s;
	buf_init(&p->b, SHAPE_MAX);
	p->o = (struct wire_out){ .b = &p->b };
	wire_out_object(&p->o);
	shape_text(&p->o, "id", s->id);
	shape_text(&p->o, "object",
	    shape_is_stream(s) ? STR("chat.completion.chunk")
			       : STR("chat.completion"));
	shape_text(&p->o, "model", STR(SHAPE_MODEL));
	wire_out_key(&p->o, STR("choices"));
	wire_out_array(&p->o);
}

static void
openai_put_usage(struct choice_writer *p)
{
	wire_out_key(&p->o, STR("usage"));
	wire_out_raw(&p->o,
	    STR("{\"prompt_tokens\":40,\"completion_tokens\":9,"
		"\"total_tokens\":49}"));
}

static void
openai_end(struct choice_writer *p, struct shape_out *out)
{
	wire_out_array_end(&p->o);
	if (SHAPE_HAS(p->s, USAGE_EACH) || !shape_is_stream(p->s))
		openai_put_usage(p);
	wire_out_object_end(&p->o);
	if (shape_is_stream(p->s))
		shape_event(p->s, out, NULL, buf_str(&p->b));
	else
		buf_put_str(&out->b, buf_str(&p->b));
	buf_free(&p->b);
}

/* An extra choice. */
static void
openai_other_choice(struct choice_writer *p)
{
	wire_out_raw(&p->o,
	    shape_is_stream(p->s)
		? STR("{\"index\":1,\"delta\":{\"content\":\"no\"}}")
		: STR("{\"index\":1,\"message\":{\"content\":\"no\"}}"));
}

static void
openai_choice_begin(struct choice_writer *p)
{
	if (SHAPE_HAS(p->s, TWO_CHOICES))
		openai_other_choice(p);
	wire_out_object(&p->o);
	wire_out_key(&p->o, STR("index"));
	wire_out_i64(&p->o, 0);
	wire_out_key(
	    &p->o, shape_is_stream(p->s) ? STR("delta") : STR("message"));
	wire_out_object(&p->o);
}

static void
openai_choice_end(struct choice_writer *p, struct str finish)
{
	wire_out_object_end(&p->o);
	wire_out_key(&p->o, STR("finish_reason"));
	if (finish.p != NULL)
		wire_out_str(&p->o, finish);
	else
		wire_out_null(&p->o);
	wire_out_object_end(&p->o);
}

static struct str
openai_finish_reason(const struct shape *s)
{
	if (SHAPE_HAS(s, NO_FINISH))
		return (struct str){ 0 };
	if (s->finish.p != NULL)
		return s->finish;
	if (SHAPE_HAS(s, FINISH_STOP))
		return STR("stop");
	if (s->ncalls > 0 || SHAPE_HAS(s, FINISH_CALLS))
		return STR("tool_calls");
	return STR("stop");
}

static void
openai_put_reasoning(struct choice_writer *p, struct str text)
{
	static const char *const names[] = {
		[WIRE_LLM_SIM_SCRIPT_FAULTS_REASONING_AS_REASONING_CONTENT] =
		    "reasoning_content",
		[WIRE_LLM_SIM_SCRIPT_FAULTS_REASONING_AS_REASONING] =
		    "reasoning",
	};

	if (p->s->reasoning_as !=
	    WIRE_LLM_SIM_SCRIPT_FAULTS_REASONING_AS_REASONING_DETAILS) {
		shape_text(&p->o, names[p->s->reasoning_as], text);
		return;
	}
	wire_out_key(&p->o, STR("reasoning_details"));
	wire_out_array(&p->o);
	wire_out_object(&p->o);
	shape_text(&p->o, "text", text);
	wire_out_object_end(&p->o);
	wire_out_array_end(&p->o);
}

static void
openai_put_content(struct choice_writer *p, struct str text)
{
	wire_out_key(&p->o, STR("content"));
	if (!SHAPE_HAS(p->s, CONTENT_PARTS)) {
		wire_out_str(&p->o, text);
		return;
	}
	wire_out_array(&p->o);
	wire_out_object(&p->o);
	shape_text(&p->o, "type", STR("text"));
	shape_text(&p->o, "text", text);
	wire_out_object_end(&p->o);
	wire_out_array_end(&p->o);
}

/* ---- calls ---- */

static void
openai_put_index(struct choice_writer *p, size_t i)
{
	if (SHAPE_HAS(p->s, NO_INDEX) || !shape_is_stream(p->s))
		return;
	wire_out_key(&p->o, STR("index"));
	wire_out_i64(&p->o, SHAPE_HAS(p->s, INDEX_ZERO) ? 0 : (int64_t)i);
}

static void
openai_put_id(struct choice_writer *p, const struct shape_call *c)
{
	if (SHAPE_HAS(p->s, NO_ID))
		return;
	shape_text(
	    &p->o, "id", SHAPE_HAS(p->s, ID_REPEATED) ? STR("0") : c->id);
	shape_text(&p->o, "type", STR("function"));
}

static void
openai_put_members(struct choice_writer *p, const struct shape_call *c)
{
	struct wire_tree_member m;
	struct wire_tree *v;

	if (c->members.p == NULL || wire_tree_parse(c->members, &v) != RC_OK)
		return;
	for (bool more = wire_tree_first(v, &m); more;
	     more = wire_tree_next(v, &m)) {
		wire_out_key(&p->o, m.key);
		wire_tree_put(m.value, &p->o);
	}
	wire_tree_free(v);
}

/* The first part of a call, with these arguments. */
static void
openai_put_call(struct choice_writer *p, size_t i, struct str arguments)
{
	const struct shape_call *c = &p->s->calls[i];

	wire_out_object(&p->o);
	openai_put_index(p, i);
	openai_put_id(p, c);
	wire_out_key(&p->o, STR("function"));
	wire_out_object(&p->o);
	shape_text(&p->o, "name", c->name);
	wire_out_key(&p->o, STR("arguments"));
	if (SHAPE_HAS(p->s, ARGS_NULL))
		wire_out_null(&p->o);
	else if (SHAPE_HAS(p->s, ARGS_OBJECT))
		wire_out_raw(&p->o, c->arguments);
	else
		wire_out_str(&p->o, arguments);
	wire_out_object_end(&p->o);
	openai_put_members(p, c);
	wire_out_object_end(&p->o);
}

/* A later part. */
static void
openai_put_call_part(struct choice_writer *p, size_t i, struct str arguments)
{
	wire_out_object(&p->o);
	openai_put_index(p, i);
	if (SHAPE_HAS(p->s, ID_EACH))
		openai_put_id(p, &p->s->calls[i]);
	else if (SHAPE_HAS(p->s, ID_EMPTY_LATER))
		shape_text(&p->o, "id", STR(""));
	wire_out_key(&p->o, STR("function"));
	wire_out_object(&p->o);
	if (SHAPE_HAS(p->s, ID_EMPTY_LATER)) {
		wire_out_key(&p->o, STR("name"));
		wire_out_null(&p->o);
	}
	shape_text(&p->o, "arguments", arguments);
	wire_out_object_end(&p->o);
	wire_out_object_end(&p->o);
}

/* ---- stream ---- */

enum part { PART_ROLE, PART_REASONING, PART_TEXT, PART_CALL, PART_ARGUMENTS };

static void
openai_put_delta(const struct shape *s, struct shape_out *out, enum part part,
    size_t i, struct str text)
{
	struct choice_writer p;

	openai_begin(&p, s);
	openai_choice_begin(&p);
	if (part == PART_ROLE)
		shape_text(&p.o, "role", STR("assistant"));
	else if (part == PART_REASONING)
		openai_put_reasoning(&p, text);
	else if (part == PART_TEXT)
		openai_put_content(&p, text);
	if (part == PART_CALL || part == PART_ARGUMENTS) {
		wire_out_key(&p.o, STR("tool_calls"));
		wire_out_array(&p.o);
		if (part == PART_CALL)
			openai_put_call(&p, i, text);
		else
			openai_put_call_part(&p, i, text);
		wire_out_array_end(&p.o);
	}
	openai_choice_end(&p, (struct str){ 0 });
	openai_end(&p, out);
}

/* A text in chunks; cumulative ones repeat what came before. */
static void
openai_stream_text(const struct shape *s, struct shape_out *out, enum part part,
    struct str text)
{
	size_t at = 0;

	while (at < text.n) {
		struct str chunk = shape_chunk(text, &at, CHUNK_CODE_POINTS);
		if (chunk.n == 0)
			return;
		if (SHAPE_HAS(s, CUMULATIVE))
			chunk = (struct str){ text.p, at };
		openai_put_delta(s, out, part, 0, chunk);
	}
}

static void
openai_stream_call(const struct shape *s, struct shape_out *out, size_t i)
{
	struct str args = s->calls[i].arguments;
	bool openai_put_completion = SHAPE_HAS(s, ARGS_OBJECT) ||
	    SHAPE_HAS(s, ARGS_NULL) ||
	    (SHAPE_HAS(s, NO_INDEX) && SHAPE_HAS(s, NO_ID));
	size_t at = 0;

	if (openai_put_completion || SHAPE_HAS(s, CUMULATIVE)) {
		openai_put_delta(s, out, PART_CALL, i, args);
		return;
	}
	openai_put_delta(s, out, PART_CALL, i, STR(""));
	while (at < args.n) {
		struct str chunk = shape_chunk(args, &at, CHUNK_CODE_POINTS);
		if (chunk.n == 0)
			return;
		openai_put_delta(s, out, PART_ARGUMENTS, i, chunk);
	}
}

static void
openai_put_bare_chunk(const struct shape *s, struct shape_out *out, bool usage)
{
	struct choice_writer p;

	openai_begin(&p, s);
	wire_out_array_end(&p.o);
	if (usage)
		openai_put_usage(&p);
	wire_out_object_end(&p.o);
	shape_event(s, out, NULL, buf_str(&p.b));
	buf_free(&p.b);
}

static void
openai_stream_end(const struct shape *s, struct shape_out *out)
{
	struct choice_writer p;

	if (!SHAPE_HAS(s, NO_FINISH)) {
		openai_begin(&p, s);
		openai_choice_begin(&p);
		openai_choice_end(&p, openai_finish_reason(s));
		openai_end(&p, out);
	}
	if (!SHAPE_HAS(s, NO_USAGE))
		openai_put_bare_chunk(s, out, true);
	if (!SHAPE_HAS(s, NO_DONE))
		shape_event(s, out, NULL, STR("[DONE]"));
}

/* The text, preceded by the reasoning if that is part of it. */
static void
openai_full_text(const struct shape *s, struct buf *b)
{
	if (s->reasoning.n > 0 &&
	    s->reasoning_as == WIRE_LLM_SIM_SCRIPT_FAULTS_REASONING_AS_THINK)
		buf_printf(
		    b, "<think>\n%.*s\n</think>\n\n", STR_ARG(s->reasoning));
	buf_put_str(b, s->text);
}

static bool
openai_has_reasoning(const struct shape *s)
{
	return s->reasoning.n > 0 &&
	    s->reasoning_as != WIRE_LLM_SIM_SCRIPT_FAULTS_REASONING_AS_THINK;
}

static void
openai_put_completion(
    const struct shape *s, struct str text, struct shape_out *out)
{
	struct choice_writer p;

	if (SHAPE_HAS(s, BLANK_LINES))
		for (int i = 0; i < 3; i++) {
			buf_puts(&out->b, "\n");
			shape_end_chunk(out);
		}
	openai_begin(&p, s);
	openai_choice_begin(&p);
	shape_text(&p.o, "role", STR("assistant"));
	if (text.n > 0 || s->ncalls == 0)
		openai_put_content(&p, text);
	if (openai_has_reasoning(s))
		openai_put_reasoning(&p, s->reasoning);
	if (s->ncalls > 0) {
		wire_out_key(&p.o, STR("tool_calls"));
		wire_out_array(&p.o);
		for (size_t i = 0; i < s->ncalls; i++)
			openai_put_call(&p, i, s->calls[i].arguments);
		wire_out_array_end(&p.o);
	}
	openai_choice_end(&p, openai_finish_reason(s));
	openai_end(&p, out);
	shape_end_chunk(out);
}

void
shape_openai(const struct shape *s, struct shape_out *out)
{
	struct buf text = BUF_INIT(SHAPE_MAX);

	openai_full_text(s, &text);
	if (!shape_is_stream(s)) {
		openai_put_completion(s, buf_str(&text), out);
		buf_free(&text);
		return;
	}
	if (SHAPE_HAS(s, EMPTY_CHOICES))
		openai_put_bare_chunk(s, out, false);
	openai_put_delta(s, out, PART_ROLE, 0, STR(""));
	if (openai_has_reasoning(s))
		openai_stream_text(s, out, PART_REASONING, s->reasoning);
	openai_stream_text(s, out, PART_TEXT, buf_str(&text));
	buf_free(&text);
	if (shape_error(s, out))
		return;
	for (size_t i = 0; i < s->ncalls; i++)
		openai_stream_call(s, out, i);
	if (!SHAPE_HAS(s, CUT_SHORT))
		openai_stream_end(s, out);
}
