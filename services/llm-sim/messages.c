/*
 * messages: an Anthropic request, decoded block by block.
 */
#include "rules.h"

#include "core/buf.h"
#include "core/mem.h"
#include "wire/tree.h"
#include "wire/wire.h"

#define MESSAGES_N_MAX     4096
#define MESSAGES_CALLS_MAX 64

struct messages_reader {
	struct arena *a;
	struct wire_llm_chat_request *out;
	struct str open[MESSAGES_CALLS_MAX]; /* calls without a result */
	size_t nopen;
	const char *why;
};

static enum rc
messages_reject(struct messages_reader *r, const char *why)
{
	r->why = why;
	return RC_INVALID;
}

static enum rc
messages_add(struct messages_reader *r,
    enum wire_llm_chat_request_messages_role role, struct str content,
    struct str id)
{
	struct wire_llm_chat_request_messages *m;

	if (r->out->n_messages == MESSAGES_N_MAX)
		return RC_TOOBIG;
	m = &r->out->messages[r->out->n_messages++];
	m->role = role;
	m->content = arena_str(r->a, content);
	m->tool_call_id = arena_str(r->a, id);
	return m->content.p != NULL || content.p == NULL ? RC_OK : RC_TOOBIG;
}

static enum rc
messages_take_result(struct messages_reader *r, const struct wire_tree *b)
{
	struct str id = wire_tree_text(wire_tree_get(b, STR("tool_use_id")));
	size_t i = 0;

	while (i < r->nopen && !str_eq(r->open[i], id))
		i++;
	if (i == r->nopen)
		return messages_reject(r, "a tool_result without its tool_use");
	r->open[i] = r->open[--r->nopen];
	return messages_add(r, WIRE_LLM_CHAT_REQUEST_MESSAGES_ROLE_TOOL,
	    wire_tree_text(wire_tree_get(b, STR("content"))), id);
}

static enum rc
messages_take_text(struct messages_reader *r, bool user, struct str text)
{
	if (str_trim(text).n == 0)
		return messages_reject(
		    r, "text content blocks must be non-empty");
	if (user && r->nopen > 0)
		return messages_reject(
		    r, "tool_use without tool_result behind it");
	return messages_add(r,
	    user ? WIRE_LLM_CHAT_REQUEST_MESSAGES_ROLE_USER
		 : WIRE_LLM_CHAT_REQUEST_MESSAGES_ROLE_ASSISTANT,
	    text, (struct str){ 0 });
}

static enum rc
messages_take_block(
    struct messages_reader *r, bool user, const struct wire_tree *b)
{
	struct str type = wire_tree_text(wire_tree_get(b, STR("type")));

	if (str_eq(type, STR("text")))
		return messages_take_text(
		    r, user, wire_tree_text(wire_tree_get(b, STR("text"))));
	if (user && str_eq(type, STR("tool_result")))
		return messages_take_result(r, b);
	if (!user && str_eq(type, STR("tool_use"))) {
		if (r->nopen == MESSAGES_CALLS_MAX)
			return RC_TOOBIG;
		r->open[r->nopen++] = arena_str(
		    r->a, wire_tree_text(wire_tree_get(b, STR("id"))));
		return RC_OK;
	}
	if (!user && str_eq(type, STR("thinking")))
		return RC_OK;
	return messages_reject(r, "a block of an unknown type");
}

static enum rc
messages_take_message(struct messages_reader *r, bool user, struct str content)
{
	struct wire_tree *v;
	enum rc rc = wire_tree_parse(content, &v);

	if (rc != RC_OK)
		return rc;
	if (wire_tree_kind(v) == WIRE_TREE_TEXT)
		rc = messages_take_text(r, user, wire_tree_text(v));
	else if (wire_tree_len(v) == 0)
		rc = messages_reject(r, "a message without content");
	for (size_t i = 0; rc == RC_OK && i < wire_tree_len(v); i++)
		rc = messages_take_block(r, user, wire_tree_at(v, i));
	wire_tree_free(v);
	return rc;
}

static enum rc
messages_take_tools(
    struct messages_reader *r, const struct wire_llm_messages_request *in)
{
	r->out->n_tools = in->n_tools;
	r->out->tools =
	    arena_alloc(r->a, (in->n_tools + 1) * sizeof(*r->out->tools));
	if (r->out->tools == NULL)
		return RC_TOOBIG;
	/* tool_choice none: no tool is offered. */
	if (in->has_tool_choice &&
	    in->tool_choice.type ==
		WIRE_LLM_MESSAGES_REQUEST_TOOL_CHOICE_TYPE_NONE)
		r->out->n_tools = 0;
	for (size_t i = 0; i < r->out->n_tools; i++)
		r->out->tools[i].function.name = in->tools[i].name;
	r->out->has_tools = r->out->n_tools > 0;
	return RC_OK;
}

enum rc
messages_read(const struct wire_llm_messages_request *in, struct arena *a,
    struct wire_llm_chat_request *out, const char **why)
{
	struct messages_reader r = { .a = a, .out = out };
	struct str system = { 0 };
	bool user = false;
	enum rc rc;

	*out = (struct wire_llm_chat_request){ .model = in->model };
	out->messages = arena_alloc(a, MESSAGES_N_MAX * sizeof(*out->messages));
	rc = out->messages != NULL ? messages_take_tools(&r, in) : RC_TOOBIG;
	if (rc == RC_OK && in->system.p != NULL &&
	    wire_tree_string(in->system, a, &system) == RC_OK)
		rc =
		    messages_add(&r, WIRE_LLM_CHAT_REQUEST_MESSAGES_ROLE_SYSTEM,
			system, (struct str){ 0 });
	for (size_t i = 0; rc == RC_OK && i < in->n_messages; i++) {
		bool is = in->messages[i].role ==
		    WIRE_LLM_MESSAGES_REQUEST_MESSAGES_ROLE_USER;
		if (is == user)
			rc = messages_reject(
			    &r, "roles must alternate, user first");
		else
			rc = messages_take_message(
			    &r, is, in->messages[i].content);
		if (rc == RC_OK && is && r.nopen > 0)
			rc = messages_reject(
			    &r, "tool_use without tool_result behind it");
		user = is;
	}
	*why = r.why;
	return rc;
}
