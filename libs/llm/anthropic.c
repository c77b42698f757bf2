/*
 * Anthropic Messages: reading.
 */
#include "llm/anthropic.h"

#include "core/mem.h"
#include "wire/out.h"

static struct str
text_at(const struct wire_tree *v, const char *key)
{
	return wire_tree_text(wire_tree_get(v, str_of(key)));
}

static int64_t
count_at(const struct wire_tree *v, const char *key)
{
	double d = wire_tree_number(wire_tree_get(v, str_of(key)));

	return d >= 0 && d < 9e15 ? (int64_t)d : 0;
}

/* What was read from a cache was a part of the request all the same. */
static void
take_usage(struct accum *m, const struct wire_tree *v)
{
	const struct wire_tree *u = wire_tree_get(v, STR("usage"));

	if (wire_tree_get(u, STR("input_tokens")) != NULL)
		m->prompt_tokens = count_at(u, "input_tokens") +
		    count_at(u, "cache_read_input_tokens") +
		    count_at(u, "cache_creation_input_tokens");
	if (wire_tree_get(u, STR("output_tokens")) != NULL)
		m->completion_tokens = count_at(u, "output_tokens");
}

/* In OpenAI's words. */
static void
take_stop(struct accum *m, struct str reason)
{
	static const struct {
		struct str theirs, ours;
	} words[] = {
		{ STR_INIT("end_turn"), STR_INIT("stop") },
		{ STR_INIT("stop_sequence"), STR_INIT("stop") },
		{ STR_INIT("tool_use"), STR_INIT("tool_calls") },
		{ STR_INIT("max_tokens"), STR_INIT("length") },
		{ STR_INIT("model_context_window_exceeded"),
		    STR_INIT("length") },
		{ STR_INIT("refusal"), STR_INIT("content_filter") },
	};

	for (size_t i = 0; i < NELEM(words); i++)
		if (str_eq(reason, words[i].theirs))
			reason = words[i].ours;
	accum_finish(m, reason);
}

/* ---- blocks -------------------------------------------------------------
 * A block's thoughts are signed as a whole, so they are kept by the block.
 */

static void
keep_thoughts(struct accum *m)
{
	struct wire_out o = { .b = &m->blocks, .comma = m->blocks.n > 0 };

	if (!m->thinking)
		return;
	m->thinking = false;
	if (m->signature.n == 0)
		return;
	wire_out_object(&o);
	wire_out_key(&o, STR("type"));
	wire_out_str(&o, STR("thinking"));
	wire_out_key(&o, STR("thinking"));
	wire_out_str(&o,
	    (struct str){
		m->reasoning.n > 0 ? m->reasoning.p + m->thought_from : "",
		m->reasoning.n - m->thought_from });
	wire_out_key(&o, STR("signature"));
	wire_out_str(&o, buf_str(&m->signature));
	wire_out_object_end(&o);
	buf_reset(&m->signature);
}

static enum rc
take_thoughts(struct accum *m, const struct wire_tree *v)
{
	enum rc rc = accum_reasoning(m, NULL, text_at(v, "thinking"));

	buf_put_str(&m->signature, text_at(v, "signature"));
	return rc == RC_OK ? buf_rc(&m->signature) : rc;
}

/* A call's arguments follow; those it begins with are empty then. */
static enum rc
begin_call(struct accum *m, const struct wire_tree *block, int64_t index)
{
	const struct wire_tree *input = wire_tree_get(block, STR("input"));
	struct accum_piece p = { .index = index,
		.id = text_at(block, "id"),
		.name = text_at(block, "name"),
		.arguments = wire_tree_len(input) > 0 ? input : NULL };

	return accum_call(m, &p);
}

static enum rc
begin_block(struct accum *m, const struct wire_tree *block, int64_t index,
    struct str *delta)
{
	struct wire_out o = { .b = &m->blocks, .comma = m->blocks.n > 0 };
	struct str type = text_at(block, "type");

	if (str_eq(type, STR("text")))
		return accum_text(m, text_at(block, "text"), delta);
	if (str_eq(type, STR("tool_use")))
		return begin_call(m, block, index);
	if (str_eq(type, STR("thinking"))) {
		m->thinking = true;
		m->thought_from = m->reasoning.n;
		return take_thoughts(m, block);
	}
	if (str_eq(type, STR("redacted_thinking")))
		wire_tree_put(block, &o);
	return buf_rc(&m->blocks);
}

static enum rc
add_to_block(struct accum *m, const struct wire_tree *d, int64_t index,
    struct str *delta)
{
	struct str type = text_at(d, "type");

	if (str_eq(type, STR("text_delta")))
		return accum_text(m, text_at(d, "text"), delta);
	if (str_eq(type, STR("input_json_delta"))) {
		struct accum_piece p = { .index = index,
			.arguments = wire_tree_get(d, STR("partial_json")) };
		return accum_call(m, &p);
	}
	if (str_eq(type, STR("thinking_delta")) ||
	    str_eq(type, STR("signature_delta")))
		return take_thoughts(m, d);
	return RC_OK;
}

enum rc
anthropic_event(struct accum *m, const struct wire_tree *v, struct str *delta,
    const char **why)
{
	struct str type = text_at(v, "type");
	int64_t index = count_at(v, "index");

	*delta = (struct str){ "", 0 };
	if (type.n == 0) {
		*why = "an event has no type";
		return RC_INVALID;
	}
	if (str_eq(type, STR("content_block_start")))
		return begin_block(
		    m, wire_tree_get(v, STR("content_block")), index, delta);
	if (str_eq(type, STR("content_block_delta")))
		return add_to_block(
		    m, wire_tree_get(v, STR("delta")), index, delta);
	if (str_eq(type, STR("content_block_stop"))) {
		keep_thoughts(m);
		return buf_rc(&m->blocks);
	}
	if (str_eq(type, STR("message_start"))) {
		take_usage(m, wire_tree_get(v, STR("message")));
	} else if (str_eq(type, STR("message_delta"))) {
		take_usage(m, v);
		take_stop(
		    m, text_at(wire_tree_get(v, STR("delta")), "stop_reason"));
	} else if (str_eq(type, STR("message_stop"))) {
		m->done = true;
	}
	return RC_OK;
}

enum rc
anthropic_answer(struct accum *m, const struct wire_tree *v, const char **why)
{
	const struct wire_tree *list = wire_tree_get(v, STR("content"));
	struct str delta;

	if (wire_tree_kind(list) != WIRE_TREE_ARRAY) {
		*why = "the answer is no message";
		return RC_INVALID;
	}
	take_usage(m, v);
	take_stop(m, text_at(v, "stop_reason"));
	m->done = true;
	for (size_t i = 0; i < wire_tree_len(list); i++) {
		enum rc rc =
		    begin_block(m, wire_tree_at(list, i), (int64_t)i, &delta);
		if (rc != RC_OK)
			return rc;
		keep_thoughts(m);
	}
	return buf_rc(&m->blocks);
}

const struct dialect anthropic_dialect = { "/v1/messages", anthropic_write,
	anthropic_event, anthropic_answer };
