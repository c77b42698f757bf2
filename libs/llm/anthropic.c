/*
 * anthropic: the Messages API.  Users and assistants take turns strictly, so
 * adjacent messages of one role become blocks of one message; system messages
 * move to the top; no text block may be empty.
 */
#include "core/mem.h"
#include "llm/llm_internal.h"
#include "wire/out.h"
#include "wire/tree.h"

#define DEFAULT_MAX_TOKENS 1024
/* Inserted where the conversation does not begin with the user. */
#define FIRST_USER_TEXT "…"

/* The message being written. */
struct message_writer {
	struct wire_out *o;
	const struct provider *p;
	enum llm_role role; /* LLM_SYSTEM: none is open */
};

static void
anthropic_put_text(struct wire_out *o, const char *key, struct str s)
{
	wire_out_key(o, str_of(key));
	wire_out_str(o, s);
}

/* Ids of calls and results with only the characters allowed here. */
static void
anthropic_put_id(struct wire_out *o, const char *key, struct str id)
{
	struct buf b = BUF_INIT(1024);

	for (size_t i = 0; i < id.n; i++) {
		char c = id.p[i];
		bool ok = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
		    (c >= '0' && c <= '9') || c == '_' || c == '-';
		buf_putc(&b, ok ? c : '_');
	}
	anthropic_put_text(o, key, b.n > 0 ? buf_str(&b) : STR("_"));
	buf_free(&b);
}

static void
anthropic_close_message(struct message_writer *t)
{
	if (t->role == LLM_SYSTEM)
		return;
	wire_out_array_end(t->o);
	wire_out_object_end(t->o);
	t->role = LLM_SYSTEM;
}

static void
anthropic_open_message(struct message_writer *t, enum llm_role role)
{
	if (t->role == role)
		return;
	anthropic_close_message(t);
	t->role = role;
	wire_out_object(t->o);
	anthropic_put_text(
	    t->o, "role", role == LLM_USER ? STR("user") : STR("assistant"));
	wire_out_key(t->o, STR("content"));
	wire_out_array(t->o);
}

static bool
anthropic_is_blank(struct str s)
{
	return str_trim(s).n == 0;
}

static void
anthropic_put_block(
    struct message_writer *t, enum llm_role role, struct str text)
{
	if (anthropic_is_blank(text))
		return;
	anthropic_open_message(t, role);
	wire_out_object(t->o);
	anthropic_put_text(t->o, "type", STR("text"));
	anthropic_put_text(t->o, "text", text);
	wire_out_object_end(t->o);
}

/* Signed reasoning precedes the calls. */
static void
anthropic_put_reasoning(struct message_writer *t, const struct llm_message *m)
{
	struct wire_tree *extra;
	const struct wire_tree *blocks;

	if (m->ncalls == 0)
		return;
	extra = call_extra_open(m->calls[0].extra, str_of(t->p->by));
	blocks = wire_tree_get(extra, STR("blocks"));
	for (size_t i = 0; i < wire_tree_len(blocks); i++)
		wire_tree_put(wire_tree_at(blocks, i), t->o);
	wire_tree_free(extra);
}

static void
anthropic_put_assistant(struct message_writer *t, const struct llm_message *m)
{
	if (anthropic_is_blank(m->text) && m->ncalls == 0)
		return;
	anthropic_open_message(t, LLM_ASSISTANT);
	anthropic_put_reasoning(t, m);
	anthropic_put_block(t, LLM_ASSISTANT, m->text);
	for (size_t i = 0; i < m->ncalls; i++) {
		const struct llm_tool_call *c = &m->calls[i];
		wire_out_object(t->o);
		anthropic_put_text(t->o, "type", STR("tool_use"));
		anthropic_put_id(t->o, "id", c->id);
		anthropic_put_text(t->o, "name", c->name);
		wire_out_key(t->o, STR("input"));
		wire_out_raw(t->o,
		    wire_is_object(c->arguments) ? c->arguments : STR("{}"));
		wire_out_object_end(t->o);
	}
}

/* Text, then an image. */
static void
anthropic_put_parts(struct wire_out *o, const struct llm_message *m)
{
	wire_out_key(o, STR("content"));
	wire_out_array(o);
	wire_out_object(o);
	anthropic_put_text(o, "type", STR("text"));
	anthropic_put_text(o, "text", m->text);
	wire_out_object_end(o);
	wire_out_object(o);
	anthropic_put_text(o, "type", STR("image"));
	wire_out_key(o, STR("source"));
	wire_out_object(o);
	anthropic_put_text(o, "type", STR("base64"));
	anthropic_put_text(o, "media_type", m->image_type);
	anthropic_put_text(o, "data", m->image);
	wire_out_object_end(o);
	wire_out_object_end(o);
	wire_out_array_end(o);
}

static void
anthropic_put_result(struct message_writer *t, const struct llm_message *m)
{
	anthropic_open_message(t, LLM_USER);
	wire_out_object(t->o);
	anthropic_put_text(t->o, "type", STR("tool_result"));
	anthropic_put_id(t->o, "tool_use_id", m->tool_call_id);
	if (t->p->o.vision && m->image.n > 0)
		anthropic_put_parts(t->o, m);
	else
		anthropic_put_text(t->o, "content", m->text);
	wire_out_object_end(t->o);
}

static void
anthropic_put_messages(
    const struct provider *p, const struct llm_chat *chat, struct wire_out *o)
{
	struct message_writer t = { o, p, LLM_SYSTEM };
	bool begun = false;

	wire_out_key(o, STR("messages"));
	wire_out_array(o);
	for (size_t i = 0; i < chat->nmessages; i++) {
		const struct llm_message *m = &chat->messages[i];
		if (m->role == LLM_ASSISTANT && !begun &&
		    (m->ncalls > 0 || !anthropic_is_blank(m->text)))
			anthropic_put_block(&t, LLM_USER, STR(FIRST_USER_TEXT));
		if (m->role == LLM_USER)
			anthropic_put_block(&t, LLM_USER, m->text);
		else if (m->role == LLM_ASSISTANT)
			anthropic_put_assistant(&t, m);
		else if (m->role == LLM_TOOL)
			anthropic_put_result(&t, m);
		begun = begun || t.role != LLM_SYSTEM;
	}
	if (!begun)
		anthropic_put_block(&t, LLM_USER, STR(FIRST_USER_TEXT));
	anthropic_close_message(&t);
	wire_out_array_end(o);
}

static void
anthropic_put_system(const struct llm_chat *chat, struct wire_out *o)
{
	struct buf b = BUF_INIT(LLM_REQUEST_MAX);

	for (size_t i = 0; i < chat->nmessages; i++) {
		const struct llm_message *m = &chat->messages[i];
		if (m->role != LLM_SYSTEM || anthropic_is_blank(m->text))
			continue;
		if (b.n > 0)
			buf_puts(&b, "\n\n");
		buf_put_str(&b, m->text);
	}
	if (b.n > 0)
		anthropic_put_text(o, "system", buf_str(&b));
	buf_free(&b);
}

/* ---- tools ---- */

static void
anthropic_put_tool(struct wire_out *o, const struct llm_tool *t)
{
	wire_out_object(o);
	anthropic_put_text(o, "name", t->name);
	if (t->description.n > 0)
		anthropic_put_text(o, "description", t->description);
	wire_out_key(o, STR("input_schema"));
	wire_out_raw(o,
	    t->parameters.p != NULL ? t->parameters
				    : STR("{\"type\":\"object\"}"));
	wire_out_object_end(o);
}

static bool
anthropic_is_repeated(const struct llm_chat *chat, size_t i, size_t k)
{
	struct str name = chat->messages[i].calls[k].name;

	for (size_t x = 0; x <= i; x++)
		for (size_t y = 0; y < (x < i ? chat->messages[x].ncalls : k);
		     y++)
			if (str_eq(chat->messages[x].calls[y].name, name))
				return true;
	return false;
}

/* A conversation with calls must declare their tools, even if none is offered.
 */
static size_t
anthropic_put_used_tools(const struct llm_chat *chat, struct wire_out *o)
{
	size_t n = 0;

	for (size_t i = 0; i < chat->nmessages; i++)
		for (size_t k = 0; k < chat->messages[i].ncalls; k++) {
			struct llm_tool t = {
				.name = chat->messages[i].calls[k].name
			};
			if (anthropic_is_repeated(chat, i, k))
				continue;
			if (n++ == 0) {
				wire_out_key(o, STR("tools"));
				wire_out_array(o);
			}
			anthropic_put_tool(o, &t);
		}
	if (n > 0)
		wire_out_array_end(o);
	return n;
}

static void
anthropic_put_tools(
    const struct provider *p, const struct llm_chat *chat, struct wire_out *o)
{
	enum llm_choice choice = chat->choice;

	if (chat->ntools > 0) {
		wire_out_key(o, STR("tools"));
		wire_out_array(o);
		for (size_t i = 0; i < chat->ntools; i++)
			anthropic_put_tool(o, &chat->tools[i]);
		wire_out_array_end(o);
	} else {
		if (anthropic_put_used_tools(chat, o) == 0)
			return;
		choice = LLM_CHOICE_NONE;
	}
	if (choice == LLM_CHOICE_AUTO || provider_has(p, "tool_choice"))
		return;
	wire_out_key(o, STR("tool_choice"));
	wire_out_raw(o,
	    choice == LLM_CHOICE_NONE ? STR("{\"type\":\"none\"}")
				      : STR("{\"type\":\"any\"}"));
}

static int64_t
anthropic_max_tokens(const struct provider *p, const struct llm_chat *chat)
{
	if (chat->max_tokens > 0)
		return chat->max_tokens;
	return p->o.max_tokens > 0 ? p->o.max_tokens : DEFAULT_MAX_TOKENS;
}

static enum rc
anthropic_write(
    const struct provider *p, const struct llm_chat *chat, struct buf *out)
{
	struct wire_out o = { .b = out };

	wire_out_object(&o);
	anthropic_put_text(&o, "model", str_of(p->o.model));
	if (!provider_has(p, p->o.max_tokens_member)) {
		wire_out_key(&o, str_of(p->o.max_tokens_member));
		wire_out_i64(&o, anthropic_max_tokens(p, chat));
	}
	anthropic_put_system(chat, &o);
	anthropic_put_messages(p, chat, &o);
	anthropic_put_tools(p, chat, &o);
	if (chat->stream) {
		wire_out_key(&o, STR("stream"));
		wire_out_bool(&o, true);
	}
	if (chat->temperature >= 0 && !provider_has(p, "temperature")) {
		wire_out_key(&o, STR("temperature"));
		wire_out_f64(&o, chat->temperature < 1 ? chat->temperature : 1);
	}
	provider_put_body(p, &o);
	wire_out_object_end(&o);
	return buf_rc(out);
}

static struct str
anthropic_text(const struct wire_tree *v, const char *key)
{
	return wire_tree_text(wire_tree_get(v, str_of(key)));
}

static int64_t
anthropic_count(const struct wire_tree *v, const char *key)
{
	double d = wire_tree_number(wire_tree_get(v, str_of(key)));

	return d >= 0 && d < 9e15 ? (int64_t)d : 0;
}

/* Tokens read from a cache are part of the prompt. */
static void
anthropic_take_usage(struct accum *m, const struct wire_tree *v)
{
	const struct wire_tree *u = wire_tree_get(v, STR("usage"));

	if (wire_tree_get(u, STR("input_tokens")) != NULL)
		m->prompt_tokens = anthropic_count(u, "input_tokens") +
		    anthropic_count(u, "cache_read_input_tokens") +
		    anthropic_count(u, "cache_creation_input_tokens");
	if (wire_tree_get(u, STR("output_tokens")) != NULL)
		m->completion_tokens = anthropic_count(u, "output_tokens");
}

/* In OpenAI's terms. */
static void
anthropic_take_stop(struct accum *m, struct str reason)
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

/* ---- blocks: reasoning is signed, and stored, by the block ---- */

static void
anthropic_end_reasoning(struct accum *m)
{
	struct wire_out o = { .b = &m->blocks, .comma = m->blocks.n > 0 };

	if (!m->in_reasoning)
		return;
	m->in_reasoning = false;
	if (m->signature.n == 0)
		return;
	wire_out_object(&o);
	wire_out_key(&o, STR("type"));
	wire_out_str(&o, STR("thinking"));
	wire_out_key(&o, STR("thinking"));
	wire_out_str(&o,
	    (struct str){
		m->reasoning.n > 0 ? m->reasoning.p + m->reasoning_from : "",
		m->reasoning.n - m->reasoning_from });
	wire_out_key(&o, STR("signature"));
	wire_out_str(&o, buf_str(&m->signature));
	wire_out_object_end(&o);
	buf_reset(&m->signature);
}

static enum rc
anthropic_take_reasoning(struct accum *m, const struct wire_tree *v)
{
	enum rc rc = accum_reasoning(m, NULL, anthropic_text(v, "thinking"));

	buf_put_str(&m->signature, anthropic_text(v, "signature"));
	return rc == RC_OK ? buf_rc(&m->signature) : rc;
}

/* Streamed arguments follow; the initial ones are then empty. */
static enum rc
anthropic_begin_call(
    struct accum *m, const struct wire_tree *block, int64_t index)
{
	const struct wire_tree *input = wire_tree_get(block, STR("input"));
	struct accum_chunk p = { .index = index,
		.id = anthropic_text(block, "id"),
		.name = anthropic_text(block, "name"),
		.arguments = wire_tree_len(input) > 0 ? input : NULL };

	return accum_call(m, &p);
}

static enum rc
anthropic_begin_block(struct accum *m, const struct wire_tree *block,
    int64_t index, struct str *delta)
{
	struct wire_out o = { .b = &m->blocks, .comma = m->blocks.n > 0 };
	struct str type = anthropic_text(block, "type");

	if (str_eq(type, STR("text")))
		return accum_text(m, anthropic_text(block, "text"), delta);
	if (str_eq(type, STR("tool_use")))
		return anthropic_begin_call(m, block, index);
	if (str_eq(type, STR("thinking"))) {
		m->in_reasoning = true;
		m->reasoning_from = m->reasoning.n;
		return anthropic_take_reasoning(m, block);
	}
	if (str_eq(type, STR("redacted_thinking")))
		wire_tree_put(block, &o);
	return buf_rc(&m->blocks);
}

static enum rc
anthropic_add_to_block(struct accum *m, const struct wire_tree *d,
    int64_t index, struct str *delta)
{
	struct str type = anthropic_text(d, "type");

	if (str_eq(type, STR("text_delta")))
		return accum_text(m, anthropic_text(d, "text"), delta);
	if (str_eq(type, STR("input_json_delta"))) {
		struct accum_chunk p = { .index = index,
			.arguments = wire_tree_get(d, STR("partial_json")) };
		return accum_call(m, &p);
	}
	if (str_eq(type, STR("thinking_delta")) ||
	    str_eq(type, STR("signature_delta")))
		return anthropic_take_reasoning(m, d);
	return RC_OK;
}

static enum rc
anthropic_read_event(struct accum *m, const struct wire_tree *v,
    struct str *delta, const char **why)
{
	struct str type = anthropic_text(v, "type");
	int64_t index = anthropic_count(v, "index");

	*delta = (struct str){ "", 0 };
	if (type.n == 0) {
		*why = "an event has no type";
		return RC_INVALID;
	}
	if (str_eq(type, STR("content_block_start")))
		return anthropic_begin_block(
		    m, wire_tree_get(v, STR("content_block")), index, delta);
	if (str_eq(type, STR("content_block_delta")))
		return anthropic_add_to_block(
		    m, wire_tree_get(v, STR("delta")), index, delta);
	if (str_eq(type, STR("content_block_stop"))) {
		anthropic_end_reasoning(m);
		return buf_rc(&m->blocks);
	}
	if (str_eq(type, STR("message_start"))) {
		anthropic_take_usage(m, wire_tree_get(v, STR("message")));
	} else if (str_eq(type, STR("message_delta"))) {
		anthropic_take_usage(m, v);
		anthropic_take_stop(m,
		    anthropic_text(
			wire_tree_get(v, STR("delta")), "stop_reason"));
	} else if (str_eq(type, STR("message_stop"))) {
		m->done = true;
	}
	return RC_OK;
}

static enum rc
anthropic_read_response(
    struct accum *m, const struct wire_tree *v, const char **why)
{
	const struct wire_tree *list = wire_tree_get(v, STR("content"));
	struct str delta;

	if (wire_tree_kind(list) != WIRE_TREE_ARRAY) {
		*why = "the response is not a message";
		return RC_INVALID;
	}
	anthropic_take_usage(m, v);
	anthropic_take_stop(m, anthropic_text(v, "stop_reason"));
	m->done = true;
	for (size_t i = 0; i < wire_tree_len(list); i++) {
		enum rc rc = anthropic_begin_block(
		    m, wire_tree_at(list, i), (int64_t)i, &delta);
		if (rc != RC_OK)
			return rc;
		anthropic_end_reasoning(m);
	}
	return buf_rc(&m->blocks);
}

const struct dialect anthropic_dialect = { "/v1/messages", anthropic_write,
	anthropic_read_event, anthropic_read_response };
