/*
 * Anthropic Messages: asking.  Users and assistants take turns strictly, so
 * neighbours of one role become blocks of one message; what the system says
 * stands on top; no block of text may be empty.
 */
#include "core/mem.h"
#include "llm/anthropic.h"
#include "llm/extra.h"
#include "wire/out.h"
#include "wire/tree.h"

#define MAX_TOKENS 1024
/* What the user is taken to have said where the talk begins otherwise. */
#define BEGINNING "…"

/* The message that is being written. */
struct turn {
	struct wire_out *o;
	const struct provider *p;
	enum llm_role role; /* LLM_SYSTEM: none is open */
};

static void
put_text(struct wire_out *o, const char *key, struct str s)
{
	wire_out_key(o, str_of(key));
	wire_out_str(o, s);
}

/* An id as they must be here; the same of the call and its result. */
static void
put_id(struct wire_out *o, const char *key, struct str id)
{
	struct buf b = BUF_INIT(1024);

	for (size_t i = 0; i < id.n; i++) {
		char c = id.p[i];
		bool ok = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
		    (c >= '0' && c <= '9') || c == '_' || c == '-';
		buf_putc(&b, ok ? c : '_');
	}
	put_text(o, key, b.n > 0 ? buf_str(&b) : STR("_"));
	buf_free(&b);
}

static void
turn_end(struct turn *t)
{
	if (t->role == LLM_SYSTEM)
		return;
	wire_out_array_end(t->o);
	wire_out_object_end(t->o);
	t->role = LLM_SYSTEM;
}

static void
turn_of(struct turn *t, enum llm_role role)
{
	if (t->role == role)
		return;
	turn_end(t);
	t->role = role;
	wire_out_object(t->o);
	put_text(
	    t->o, "role", role == LLM_USER ? STR("user") : STR("assistant"));
	wire_out_key(t->o, STR("content"));
	wire_out_array(t->o);
}

static bool
is_blank(struct str s)
{
	return str_trim(s).n == 0;
}

static void
put_block(struct turn *t, enum llm_role role, struct str text)
{
	if (is_blank(text))
		return;
	turn_of(t, role);
	wire_out_object(t->o);
	put_text(t->o, "type", STR("text"));
	put_text(t->o, "text", text);
	wire_out_object_end(t->o);
}

/* The signed thoughts that led to the calls stand before them. */
static void
put_thoughts(struct turn *t, const struct llm_message *m)
{
	struct wire_tree *extra;
	const struct wire_tree *blocks;

	if (m->ncalls == 0)
		return;
	extra = extra_open(m->calls[0].extra, str_of(t->p->by));
	blocks = wire_tree_get(extra, STR("blocks"));
	for (size_t i = 0; i < wire_tree_len(blocks); i++)
		wire_tree_put(wire_tree_at(blocks, i), t->o);
	wire_tree_free(extra);
}

static void
put_assistant(struct turn *t, const struct llm_message *m)
{
	if (is_blank(m->text) && m->ncalls == 0)
		return;
	turn_of(t, LLM_ASSISTANT);
	put_thoughts(t, m);
	put_block(t, LLM_ASSISTANT, m->text);
	for (size_t i = 0; i < m->ncalls; i++) {
		const struct llm_tool_call *c = &m->calls[i];
		wire_out_object(t->o);
		put_text(t->o, "type", STR("tool_use"));
		put_id(t->o, "id", c->id);
		put_text(t->o, "name", c->name);
		wire_out_key(t->o, STR("input"));
		wire_out_raw(t->o,
		    wire_is_object(c->arguments) ? c->arguments : STR("{}"));
		wire_out_object_end(t->o);
	}
}

static void
put_result(struct turn *t, const struct llm_message *m)
{
	turn_of(t, LLM_USER);
	wire_out_object(t->o);
	put_text(t->o, "type", STR("tool_result"));
	put_id(t->o, "tool_use_id", m->tool_call_id);
	put_text(t->o, "content", m->text);
	wire_out_object_end(t->o);
}

static void
put_messages(
    const struct provider *p, const struct llm_chat *chat, struct wire_out *o)
{
	struct turn t = { o, p, LLM_SYSTEM };
	bool begun = false;

	wire_out_key(o, STR("messages"));
	wire_out_array(o);
	for (size_t i = 0; i < chat->nmessages; i++) {
		const struct llm_message *m = &chat->messages[i];
		if (m->role == LLM_ASSISTANT && !begun &&
		    (m->ncalls > 0 || !is_blank(m->text)))
			put_block(&t, LLM_USER, STR(BEGINNING));
		if (m->role == LLM_USER)
			put_block(&t, LLM_USER, m->text);
		else if (m->role == LLM_ASSISTANT)
			put_assistant(&t, m);
		else if (m->role == LLM_TOOL)
			put_result(&t, m);
		begun = begun || t.role != LLM_SYSTEM;
	}
	if (!begun)
		put_block(&t, LLM_USER, STR(BEGINNING));
	turn_end(&t);
	wire_out_array_end(o);
}

static void
put_system(const struct llm_chat *chat, struct wire_out *o)
{
	struct buf b = BUF_INIT(LLM_REQUEST_MAX);

	for (size_t i = 0; i < chat->nmessages; i++) {
		const struct llm_message *m = &chat->messages[i];
		if (m->role != LLM_SYSTEM || is_blank(m->text))
			continue;
		if (b.n > 0)
			buf_puts(&b, "\n\n");
		buf_put_str(&b, m->text);
	}
	if (b.n > 0)
		put_text(o, "system", buf_str(&b));
	buf_free(&b);
}

/* ---- tools -------------------------------------------------------------- */

static void
put_tool(struct wire_out *o, const struct llm_tool *t)
{
	wire_out_object(o);
	put_text(o, "name", t->name);
	if (t->description.n > 0)
		put_text(o, "description", t->description);
	wire_out_key(o, STR("input_schema"));
	wire_out_raw(o,
	    t->parameters.p != NULL ? t->parameters
				    : STR("{\"type\":\"object\"}"));
	wire_out_object_end(o);
}

static bool
named_before(const struct llm_chat *chat, size_t i, size_t k)
{
	struct str name = chat->messages[i].calls[k].name;

	for (size_t x = 0; x <= i; x++)
		for (size_t y = 0; y < (x < i ? chat->messages[x].ncalls : k);
		     y++)
			if (str_eq(chat->messages[x].calls[y].name, name))
				return true;
	return false;
}

/* A talk with calls must have tools, though none is on offer any more. */
static size_t
put_used_tools(const struct llm_chat *chat, struct wire_out *o)
{
	size_t n = 0;

	for (size_t i = 0; i < chat->nmessages; i++)
		for (size_t k = 0; k < chat->messages[i].ncalls; k++) {
			struct llm_tool t = {
				.name = chat->messages[i].calls[k].name
			};
			if (named_before(chat, i, k))
				continue;
			if (n++ == 0) {
				wire_out_key(o, STR("tools"));
				wire_out_array(o);
			}
			put_tool(o, &t);
		}
	if (n > 0)
		wire_out_array_end(o);
	return n;
}

static void
put_tools(
    const struct provider *p, const struct llm_chat *chat, struct wire_out *o)
{
	enum llm_choice choice = chat->choice;

	if (chat->ntools > 0) {
		wire_out_key(o, STR("tools"));
		wire_out_array(o);
		for (size_t i = 0; i < chat->ntools; i++)
			put_tool(o, &chat->tools[i]);
		wire_out_array_end(o);
	} else {
		if (put_used_tools(chat, o) == 0)
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
max_tokens_of(const struct provider *p, const struct llm_chat *chat)
{
	if (chat->max_tokens > 0)
		return chat->max_tokens;
	return p->o.max_tokens > 0 ? p->o.max_tokens : MAX_TOKENS;
}

enum rc
anthropic_write(
    const struct provider *p, const struct llm_chat *chat, struct buf *out)
{
	struct wire_out o = { .b = out };

	wire_out_object(&o);
	put_text(&o, "model", str_of(p->o.model));
	if (!provider_has(p, p->o.max_tokens_member)) {
		wire_out_key(&o, str_of(p->o.max_tokens_member));
		wire_out_i64(&o, max_tokens_of(p, chat));
	}
	put_system(chat, &o);
	put_messages(p, chat, &o);
	put_tools(p, chat, &o);
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
