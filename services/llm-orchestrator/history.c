/*
 * Stored messages for the model.
 */
#include "history.h"

#include "core/log.h"
#include "core/mem.h"
#include "reply.h"
#include "wire/out.h"
#include "wire/tree.h"
#include "wire/tree.h"
#include "wire/wire.h"

/* An assistant's silence, as the model itself writes it. */
#define SILENCE "<NO_REPLY>"

/* ---- a turn's own calls ------------------------------------------------ */

/* What a failure means for what the model says next. */
static const char *
advice(enum turn_outcome outcome)
{
	switch (outcome) {
	case TURN_NOT_CONFIRMED:
		return "it was sent, but nobody answered; nobody knows "
		       "whether it was done";
	case TURN_BLOCKED:
	case TURN_UNGATED:
		return "it was not sent and will not be done now";
	case TURN_DEFERRED:
		return "call it again if it is still wanted";
	case TURN_SKIPPED:
		return "the same skill did not answer before";
	default:
		return NULL;
	}
}

static void
put_output(struct wire_out *o, struct str output)
{
	if (output.p == NULL)
		return;
	wire_out_key(o, STR("output"));
	if (output.n <= HISTORY_OUTPUT_MAX) {
		wire_out_raw(o, output);
		return;
	}
	struct arena *a = arena_new(2 * HISTORY_OUTPUT_MAX);
	wire_out_str(o, reply_clean(output, HISTORY_OUTPUT_MAX, a));
	arena_free(a);
}

/* What was to be forgotten is named whatever came of it. */
static void
put_query(struct wire_out *o, struct str args)
{
	struct wire_tree *v;

	if (wire_tree_parse(args, &v) != RC_OK)
		return;
	struct str query = wire_tree_text(wire_tree_get(v, STR("query")));
	if (query.n > 0) {
		wire_out_key(o, STR("query"));
		wire_out_str(o, query);
	}
	wire_tree_free(v);
}

/* The content of the tool message of a deed. */
static struct str
result_of(const struct turn_deed *d, struct arena *a)
{
	struct buf b = BUF_INIT(HISTORY_TEXT_MAX);
	struct wire_out o = { .b = &b };

	if (d->kind == TURN_FORGET && d->output.p != NULL)
		return d->output;
	wire_out_object(&o);
	if (d->kind == TURN_FORGET)
		put_query(&o, d->args);
	wire_out_key(&o, STR("ok"));
	wire_out_bool(&o, d->outcome == TURN_OK);
	if (d->outcome != TURN_OK) {
		wire_out_key(&o, STR("error"));
		wire_out_str(&o, reply_why(d, a));
		if (advice(d->outcome) != NULL) {
			wire_out_key(&o, STR("advice"));
			wire_out_str(&o, str_of(advice(d->outcome)));
		}
	}
	put_output(&o, d->output);
	wire_out_object_end(&o);
	struct str s = arena_str(a, buf_str(&b));
	buf_free(&b);
	return s;
}

static struct llm_message *
add(struct history_list *l, enum llm_role role, struct str text)
{
	struct llm_message *m = &l->list[l->n++];

	*m = (struct llm_message){ .role = role, .text = text };
	return m;
}

/* Round r's calls and their results; round 0 are the direct deeds. */
static enum rc
add_round(
    const struct turn *t, size_t r, struct arena *a, struct history_list *out)
{
	struct llm_tool_call *calls =
	    arena_alloc(a, t->n_deeds * sizeof(*calls));
	size_t n = 0;

	if (calls == NULL)
		return RC_TOOBIG;
	for (size_t i = 0; i < t->n_deeds; i++) {
		const struct turn_deed *d = &t->deeds[i];
		if (d->round != r || d->tool.p == NULL)
			continue;
		calls[n++] = (struct llm_tool_call){ .id = d->call_id,
			.name = d->tool,
			.arguments = d->args,
			.extra = d->extra,
			.valid = true };
	}
	struct str said = r > 0 ? t->said[r - 1] : (struct str){ 0 };
	if (n == 0)
		return RC_OK;
	struct llm_message *m = add(out, LLM_ASSISTANT,
	    str_trim(said).n > 0 ? said : (struct str){ 0 });
	m->calls = calls;
	m->ncalls = n;
	for (size_t i = 0; i < t->n_deeds; i++) {
		const struct turn_deed *d = &t->deeds[i];
		if (d->round != r || d->tool.p == NULL)
			continue;
		m = add(out, LLM_TOOL, result_of(d, a));
		m->tool_call_id = d->call_id;
		if (m->text.p == NULL)
			return RC_TOOBIG;
	}
	return RC_OK;
}

enum rc
history_turn(const struct turn *t, struct arena *a, struct history_list *out)
{
	enum rc rc = RC_OK;

	out->n = 0;
	out->list =
	    arena_alloc(a, (t->n_deeds + t->round + 2) * sizeof(*out->list));
	if (out->list == NULL)
		return RC_TOOBIG;
	for (size_t r = 0; rc == RC_OK && r <= t->round; r++) {
		rc = add_round(t, r, a, out);
		if (r == 0 && t->route.rest.n > 0)
			add(out, LLM_USER, t->route.rest);
	}
	return rc;
}

/* ---- what was stored --------------------------------------------------- */

struct items {
	struct wire_session_messages_items *list;
	size_t n;
};

static enum rc
items_read(const struct history_stored *in, struct str turn_id, struct arena *a,
    struct items *out)
{
	static struct log_rate rate;
	struct wire_err err;
	int64_t missed;

	out->n = 0;
	out->list = arena_alloc(a, (in->n + 1) * sizeof(*out->list));
	if (out->list == NULL)
		return RC_TOOBIG;
	for (size_t i = 0; i < in->n; i++) {
		struct wire_session_messages_items *m = &out->list[out->n];
		enum rc rc = wire_decode(
		    &wire_session_messages_items_desc, in->list[i], a, m, &err);
		if (rc == RC_TOOBIG)
			return rc;
		if (rc != RC_OK && log_every(&rate, 10, &missed))
			log_error("history.message", LOG_S("path", err.path),
			    LOG_S("why", err.why), LOG_I("missed", missed));
		if (rc == RC_OK && !str_eq(m->turn_id, turn_id))
			out->n++;
	}
	return RC_OK;
}

/* The calls of a stored assistant's message; NULL if they are none. */
static struct llm_tool_call *
calls_read(struct str json, struct arena *a, size_t *n)
{
	struct wire_llm_chat_request_messages m;
	struct str all = arena_printf(
	    a, "{\"role\":\"assistant\",\"tool_calls\":%.*s}", STR_ARG(json));

	*n = 0;
	if (all.p == NULL ||
	    wire_decode(&wire_llm_chat_request_messages_desc, all, a, &m,
		NULL) != RC_OK)
		return NULL;
	struct llm_tool_call *calls =
	    arena_alloc(a, (m.n_tool_calls + 1) * sizeof(*calls));
	if (calls == NULL)
		return NULL;
	for (size_t i = 0; i < m.n_tool_calls; i++) {
		const struct wire_llm_tool_call *c = &m.tool_calls[i];
		calls[i] = (struct llm_tool_call){ .id = c->id,
			.name = c->function.name,
			.extra = c->extra_content,
			.valid = true };
		if (wire_text(c->function.arguments, a, &calls[i].arguments) !=
		    RC_OK)
			return NULL;
	}
	*n = m.n_tool_calls;
	return calls;
}

/* How many tool messages follow item i; whether they answer its n calls. */
static bool
answered(const struct items *in, size_t i, const struct llm_tool_call *calls,
    size_t n, size_t *follow)
{
	size_t found = 0;

	*follow = 0;
	for (size_t k = i + 1; k < in->n &&
	     in->list[k].role == WIRE_SESSION_MESSAGES_ITEMS_ROLE_TOOL;
	     k++)
		++*follow;
	for (size_t c = 0; c < n; c++) {
		for (size_t k = 1; k <= *follow; k++) {
			if (str_eq(in->list[i + k].tool_call_id, calls[c].id)) {
				found++;
				break;
			}
		}
	}
	return n > 0 && found == n && *follow == n;
}

/* An assistant's message with what answers it; how many items that were. */
static size_t
add_assistant(
    struct history_list *out, const struct items *in, size_t i, struct arena *a)
{
	const struct wire_session_messages_items *m = &in->list[i];
	size_t n = 0, follow;

	if (m->tool_calls.p == NULL) {
		add(out, LLM_ASSISTANT,
		    m->content.n > 0 ? m->content : STR(SILENCE));
		return 1;
	}
	const struct llm_tool_call *calls = calls_read(m->tool_calls, a, &n);
	if (!answered(in, i, calls, n, &follow)) {
		if (m->content.n > 0)
			add(out, LLM_ASSISTANT, m->content);
		return 1 + follow;
	}
	struct llm_message *to = add(out, LLM_ASSISTANT,
	    m->content.n > 0 ? m->content : (struct str){ 0 });
	to->calls = calls;
	to->ncalls = n;
	for (size_t k = 1; k <= follow; k++)
		add(out, LLM_TOOL, in->list[i + k].content)->tool_call_id =
		    in->list[i + k].tool_call_id;
	return 1 + follow;
}

enum rc
history_read(const struct history_stored *in, struct str turn_id,
    struct arena *a, struct history_list *out)
{
	struct items items;

	out->n = 0;
	enum rc rc = items_read(in, turn_id, a, &items);
	out->list = arena_alloc(a, (items.n + 1) * sizeof(*out->list));
	if (rc != RC_OK || out->list == NULL)
		return RC_TOOBIG;
	for (size_t i = 0; i < items.n;) {
		const struct wire_session_messages_items *m = &items.list[i];
		size_t taken = 1;
		switch (m->role) {
		case WIRE_SESSION_MESSAGES_ITEMS_ROLE_USER:
		case WIRE_SESSION_MESSAGES_ITEMS_ROLE_OBSERVATION:
			add(out, LLM_USER, m->content);
			break;
		case WIRE_SESSION_MESSAGES_ITEMS_ROLE_ASSISTANT:
			taken = add_assistant(out, &items, i, a);
			break;
		case WIRE_SESSION_MESSAGES_ITEMS_ROLE_TOOL:
			break;
		}
		i += taken;
	}
	return RC_OK;
}
