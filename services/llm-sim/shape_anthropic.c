/*
 * shape_anthropic: Anthropic Messages.
 */
#include "core/mem.h"
#include "shape.h"

#define CHUNK_CODE_POINTS 4

struct anthropic_block {
	enum { BLOCK_REASONING, BLOCK_TEXT, BLOCK_CALL } kind;
	const struct shape_call *call;
	struct str text; /* or arguments */
};

static size_t
anthropic_blocks(const struct shape *s, struct anthropic_block *list)
{
	size_t n = 0;

	if (s->reasoning.n > 0)
		list[n++] = (struct anthropic_block){ BLOCK_REASONING, NULL,
			s->reasoning };
	if (s->text.n > 0)
		list[n++] =
		    (struct anthropic_block){ BLOCK_TEXT, NULL, s->text };
	for (size_t i = 0; i < s->ncalls; i++)
		list[n++] = (struct anthropic_block){ BLOCK_CALL, &s->calls[i],
			s->calls[i].arguments };
	return n;
}

static struct str
anthropic_stop_reason(const struct shape *s)
{
	if (s->finish.p != NULL)
		return s->finish;
	return s->ncalls > 0 ? STR("tool_use") : STR("end_turn");
}

#define SIGNATURE "c2lnbmVk"

/* A block of a message, or, bare, the beginning of one in a stream. */
static void
anthropic_put_block(
    struct wire_out *o, const struct anthropic_block *k, bool bare)
{
	wire_out_object(o);
	switch (k->kind) {
	case BLOCK_REASONING:
		shape_text(o, "type", STR("thinking"));
		shape_text(o, "thinking", bare ? STR("") : k->text);
		shape_text(o, "signature", bare ? STR("") : STR(SIGNATURE));
		break;
	case BLOCK_TEXT:
		shape_text(o, "type", STR("text"));
		shape_text(o, "text", bare ? STR("") : k->text);
		break;
	case BLOCK_CALL:
		shape_text(o, "type", STR("tool_use"));
		shape_text(o, "id", k->call->id);
		shape_text(o, "name", k->call->name);
		wire_out_key(o, STR("input"));
		wire_out_raw(o, bare ? STR("{}") : k->text);
		break;
	}
	wire_out_object_end(o);
}

static void
anthropic_put_head(struct wire_out *o, const struct shape *s)
{
	shape_text(o, "id", s->id);
	shape_text(o, "type", STR("message"));
	shape_text(o, "role", STR("assistant"));
	shape_text(o, "model", STR(SHAPE_MODEL));
}

static void
anthropic_put_message(const struct shape *s, const struct anthropic_block *list,
    size_t n, struct shape_out *out)
{
	struct wire_out o = { .b = &out->b };

	wire_out_object(&o);
	anthropic_put_head(&o, s);
	wire_out_key(&o, STR("content"));
	wire_out_array(&o);
	for (size_t i = 0; i < n; i++)
		anthropic_put_block(&o, &list[i], false);
	wire_out_array_end(&o);
	shape_text(&o, "stop_reason", anthropic_stop_reason(s));
	wire_out_key(&o, STR("usage"));
	wire_out_raw(&o, STR("{\"input_tokens\":40,\"output_tokens\":9}"));
	wire_out_object_end(&o);
	shape_end_chunk(out);
}

/* ---- stream ---- */

struct anthropic_event {
	struct buf b;
	struct wire_out o;
	const char *type;
};

static void
anthropic_event_begin(struct anthropic_event *e, const char *type)
{
	e->type = type;
	buf_init(&e->b, SHAPE_MAX);
	e->o = (struct wire_out){ .b = &e->b };
	wire_out_object(&e->o);
	shape_text(&e->o, "type", str_of(type));
}

static void
anthropic_event_end(
    struct anthropic_event *e, const struct shape *s, struct shape_out *out)
{
	wire_out_object_end(&e->o);
	shape_event(s, out, e->type, buf_str(&e->b));
	buf_free(&e->b);
}

static void
anthropic_event_of_block(struct anthropic_event *e, const char *type, size_t i)
{
	anthropic_event_begin(e, type);
	wire_out_key(&e->o, STR("index"));
	wire_out_i64(&e->o, (int64_t)i);
}

static void
anthropic_put_delta(const struct shape *s, struct shape_out *out, size_t i,
    const char *const names[2], struct str text)
{
	struct anthropic_event e;

	anthropic_event_of_block(&e, "content_block_delta", i);
	wire_out_key(&e.o, STR("delta"));
	wire_out_object(&e.o);
	shape_text(&e.o, "type", str_of(names[0]));
	shape_text(&e.o, names[1], text);
	wire_out_object_end(&e.o);
	anthropic_event_end(&e, s, out);
}

static void
anthropic_stream_block(const struct shape *s, const struct anthropic_block *k,
    size_t i, struct shape_out *out)
{
	static const char *const names[][2] = {
		[BLOCK_REASONING] = { "thinking_delta", "thinking" },
		[BLOCK_TEXT] = { "text_delta", "text" },
		[BLOCK_CALL] = { "input_json_delta", "partial_json" },
	};
	static const char *const signature[2] = { "signature_delta",
		"signature" };
	struct anthropic_event e;
	size_t at = 0;

	anthropic_event_of_block(&e, "content_block_start", i);
	wire_out_key(&e.o, STR("content_block"));
	anthropic_put_block(&e.o, k, true);
	anthropic_event_end(&e, s, out);
	while (at < k->text.n) {
		struct str chunk = shape_chunk(k->text, &at, CHUNK_CODE_POINTS);
		if (chunk.n == 0)
			break;
		anthropic_put_delta(s, out, i, names[k->kind], chunk);
	}
	if (k->kind == BLOCK_REASONING)
		anthropic_put_delta(s, out, i, signature, STR(SIGNATURE));
	anthropic_event_of_block(&e, "content_block_stop", i);
	anthropic_event_end(&e, s, out);
}

static void
anthropic_stream_begin(const struct shape *s, struct shape_out *out)
{
	struct anthropic_event e;

	anthropic_event_begin(&e, "message_start");
	wire_out_key(&e.o, STR("message"));
	wire_out_object(&e.o);
	anthropic_put_head(&e.o, s);
	wire_out_key(&e.o, STR("content"));
	wire_out_raw(&e.o, STR("[]"));
	wire_out_key(&e.o, STR("usage"));
	wire_out_raw(&e.o, STR("{\"input_tokens\":40,\"output_tokens\":1}"));
	wire_out_object_end(&e.o);
	anthropic_event_end(&e, s, out);
	anthropic_event_begin(&e, "ping");
	anthropic_event_end(&e, s, out);
}

static void
anthropic_stream_end(const struct shape *s, struct shape_out *out)
{
	struct anthropic_event e;

	if (!SHAPE_HAS(s, NO_FINISH)) {
		anthropic_event_begin(&e, "message_delta");
		wire_out_key(&e.o, STR("delta"));
		wire_out_object(&e.o);
		shape_text(&e.o, "stop_reason", anthropic_stop_reason(s));
		wire_out_object_end(&e.o);
		wire_out_key(&e.o, STR("usage"));
		wire_out_raw(&e.o, STR("{\"output_tokens\":9}"));
		anthropic_event_end(&e, s, out);
	}
	if (SHAPE_HAS(s, NO_DONE))
		return;
	anthropic_event_begin(&e, "message_stop");
	anthropic_event_end(&e, s, out);
}

void
shape_anthropic(const struct shape *s, struct shape_out *out)
{
	struct anthropic_block list[SHAPE_CALLS_MAX + 2];
	size_t n = anthropic_blocks(s, list);

	if (!shape_is_stream(s)) {
		anthropic_put_message(s, list, n, out);
		return;
	}
	anthropic_stream_begin(s, out);
	for (size_t i = 0; i < n; i++) {
		if (list[i].kind == BLOCK_CALL && shape_error(s, out))
			return;
		anthropic_stream_block(s, &list[i], i, out);
	}
	if (s->ncalls == 0 && shape_error(s, out))
		return;
	if (!SHAPE_HAS(s, CUT_SHORT))
		anthropic_stream_end(s, out);
}
