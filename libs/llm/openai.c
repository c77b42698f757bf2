/*
 * openai: chat completions.  Requests keep to what every server understands:
 * "system" and not "developer", content as a plain string, and no optional
 * member that was not requested.
 */
#include "core/mem.h"
#include "llm/llm_internal.h"
#include "wire/out.h"

/* ---- requests ---- */

static void
openai_put_text(struct wire_out *o, const char *key, struct str s)
{
	wire_out_key(o, str_of(key));
	wire_out_str(o, s);
}

/* Provider-specific members of the call. */
static void
openai_put_members(struct wire_out *o, const struct wire_tree *extra)
{
	const struct wire_tree *own = wire_tree_get(extra, STR("call"));
	struct wire_tree_member m;

	for (bool more = wire_tree_first(own, &m); more;
	     more = wire_tree_next(own, &m)) {
		wire_out_key(o, m.key);
		wire_tree_put(m.value, o);
	}
}

static void
openai_put_call(const struct provider *p, const struct llm_tool_call *call,
    struct wire_out *o)
{
	struct wire_tree *extra = call_extra_open(call->extra, str_of(p->by));

	wire_out_object(o);
	openai_put_text(o, "id", call->id);
	openai_put_text(o, "type", STR("function"));
	wire_out_key(o, STR("function"));
	wire_out_object(o);
	openai_put_text(o, "name", call->name);
	openai_put_text(o, "arguments", call->arguments);
	wire_out_object_end(o);
	openai_put_members(o, extra);
	wire_out_object_end(o);
	wire_tree_free(extra);
}

/* The reasoning of a message, if the provider wants it back. */
static void
openai_put_reasoning(
    const struct provider *p, const struct llm_message *m, struct wire_out *o)
{
	struct wire_tree *extra = NULL;
	struct str name, text = STR("");

	if (m->role != LLM_ASSISTANT || p->o.echo == LLM_ECHO_NEVER)
		return;
	if (m->ncalls > 0)
		extra = call_extra_open(m->calls[0].extra, str_of(p->by));
	name = wire_tree_text(wire_tree_get(extra, STR("name")));
	if (name.n > 0)
		text = wire_tree_text(wire_tree_get(extra, STR("reasoning")));
	else if (p->o.echo == LLM_ECHO_ALWAYS ||
	    (p->o.echo == LLM_ECHO_WITH_TOOL_CALLS && m->ncalls > 0))
		name = STR("reasoning_content");
	if (name.n > 0) {
		wire_out_key(o, name);
		wire_out_str(o, text);
	}
	wire_tree_free(extra);
}

static void
openai_put_message(
    const struct provider *p, const struct llm_message *m, struct wire_out *o)
{
	static const char *const roles[] = {
		[LLM_SYSTEM] = "system",
		[LLM_USER] = "user",
		[LLM_ASSISTANT] = "assistant",
		[LLM_TOOL] = "tool",
	};

	wire_out_object(o);
	openai_put_text(o, "role", str_of(roles[m->role]));
	/* Content may be omitted only with tool calls. */
	if (m->text.p != NULL || m->ncalls == 0)
		openai_put_text(o, "content", m->text);
	if (m->ncalls > 0) {
		wire_out_key(o, STR("tool_calls"));
		wire_out_array(o);
		for (size_t i = 0; i < m->ncalls; i++)
			openai_put_call(p, &m->calls[i], o);
		wire_out_array_end(o);
	}
	if (m->tool_call_id.p != NULL)
		openai_put_text(o, "tool_call_id", m->tool_call_id);
	openai_put_reasoning(p, m, o);
	wire_out_object_end(o);
}

static void
openai_put_image(const struct llm_message *m, struct wire_out *o)
{
	struct buf b = BUF_INIT(LLM_REQUEST_MAX);

	buf_printf(&b, "data:%.*s;base64,", STR_ARG(m->image_type));
	buf_put_str(&b, m->image);
	wire_out_object(o);
	openai_put_text(o, "type", STR("image_url"));
	wire_out_key(o, STR("image_url"));
	wire_out_object(o);
	openai_put_text(o, "url", buf_str(&b));
	wire_out_object_end(o);
	wire_out_object_end(o);
	buf_free(&b);
}

/*
 * The images of the results that end with message i: results are text here, and
 * must follow their calls, so the images are a message after them.
 */
static void
openai_put_images(const struct provider *p, const struct llm_chat *chat,
    size_t i, struct wire_out *o)
{
	const struct llm_message *all = chat->messages;
	size_t from = i, images = 0;

	if (!p->o.vision || all[i].role != LLM_TOOL ||
	    (i + 1 < chat->nmessages && all[i + 1].role == LLM_TOOL))
		return;
	while (from > 0 && all[from - 1].role == LLM_TOOL)
		from--;
	for (size_t k = from; k <= i; k++)
		images += all[k].image.n > 0;
	if (images == 0)
		return;
	wire_out_object(o);
	openai_put_text(o, "role", STR("user"));
	wire_out_key(o, STR("content"));
	wire_out_array(o);
	wire_out_object(o);
	openai_put_text(o, "type", STR("text"));
	openai_put_text(o, "text", STR("[images of the tool results]"));
	wire_out_object_end(o);
	for (size_t k = from; k <= i; k++) {
		if (all[k].image.n > 0)
			openai_put_image(&all[k], o);
	}
	wire_out_array_end(o);
	wire_out_object_end(o);
}

static void
openai_put_tools(
    const struct provider *p, const struct llm_chat *chat, struct wire_out *o)
{
	if (chat->ntools == 0)
		return;
	wire_out_key(o, STR("tools"));
	wire_out_array(o);
	for (size_t i = 0; i < chat->ntools; i++) {
		const struct llm_tool *t = &chat->tools[i];
		wire_out_object(o);
		openai_put_text(o, "type", STR("function"));
		wire_out_key(o, STR("function"));
		wire_out_object(o);
		openai_put_text(o, "name", t->name);
		if (t->description.p != NULL)
			openai_put_text(o, "description", t->description);
		wire_out_key(o, STR("parameters"));
		wire_out_raw(o,
		    t->parameters.p != NULL
			? t->parameters
			: STR("{\"type\":\"object\",\"properties\":{}}"));
		wire_out_object_end(o);
		wire_out_object_end(o);
	}
	wire_out_array_end(o);
	if (chat->choice != LLM_CHOICE_AUTO && !provider_has(p, "tool_choice"))
		openai_put_text(o, "tool_choice",
		    chat->choice == LLM_CHOICE_NONE ? STR("none")
						    : STR("required"));
}

static void
openai_put_options(
    const struct provider *p, const struct llm_chat *chat, struct wire_out *o)
{
	int64_t max_tokens =
	    chat->max_tokens > 0 ? chat->max_tokens : p->o.max_tokens;

	if (chat->stream) {
		wire_out_key(o, STR("stream"));
		wire_out_bool(o, true);
	}
	if (chat->stream && !provider_has(p, "stream_options")) {
		wire_out_key(o, STR("stream_options"));
		wire_out_raw(o, STR("{\"include_usage\":true}"));
	}
	if (chat->temperature >= 0 && !provider_has(p, "temperature")) {
		wire_out_key(o, STR("temperature"));
		wire_out_f64(o, chat->temperature);
	}
	if (max_tokens > 0 && !provider_has(p, p->o.max_tokens_member)) {
		wire_out_key(o, str_of(p->o.max_tokens_member));
		wire_out_i64(o, max_tokens);
	}
	provider_put_body(p, o);
}

static enum rc
openai_write(
    const struct provider *p, const struct llm_chat *chat, struct buf *out)
{
	struct wire_out o = { .b = out };

	wire_out_object(&o);
	openai_put_text(&o, "model", str_of(p->o.model));
	wire_out_key(&o, STR("messages"));
	wire_out_array(&o);
	for (size_t i = 0; i < chat->nmessages; i++) {
		openai_put_message(p, &chat->messages[i], &o);
		openai_put_images(p, chat, i, &o);
	}
	wire_out_array_end(&o);
	openai_put_tools(p, chat, &o);
	openai_put_options(p, chat, &o);
	wire_out_object_end(&o);
	return buf_rc(out);
}

/* ---- responses ---- */

static int64_t
openai_count(const struct wire_tree *v, const char *key, int64_t otherwise)
{
	const struct wire_tree *n = wire_tree_get(v, str_of(key));
	double d = wire_tree_number(n);

	if (wire_tree_kind(n) != WIRE_TREE_NUMBER || !(d >= 0 && d < 9e15))
		return otherwise;
	return (int64_t)d;
}

static void
openai_take_usage(struct accum *m, const struct wire_tree *v)
{
	const struct wire_tree *u = wire_tree_get(v, STR("usage"));

	m->prompt_tokens = openai_count(u, "prompt_tokens", m->prompt_tokens);
	m->completion_tokens =
	    openai_count(u, "completion_tokens", m->completion_tokens);
}

/* Text as a string, or as an array of parts. */
static enum rc
openai_take_content(
    struct accum *m, const struct wire_tree *v, struct str *delta)
{
	struct buf b = BUF_INIT(LLM_TEXT_MAX);
	enum rc rc;

	if (wire_tree_kind(v) != WIRE_TREE_ARRAY)
		return accum_text(m, wire_tree_text(v), delta);
	for (size_t i = 0; i < wire_tree_len(v); i++)
		buf_put_str(&b,
		    wire_tree_text(
			wire_tree_get(wire_tree_at(v, i), STR("text"))));
	rc = accum_text(m, buf_str(&b), delta);
	buf_free(&b);
	return rc;
}

/* The same reasoning may come under several names; the first counts. */
static enum rc
openai_take_reasoning(struct accum *m, const struct wire_tree *v)
{
	static const char *const names[] = { "reasoning_content", "reasoning" };
	const struct wire_tree *details;

	for (size_t i = 0; i < NELEM(names); i++) {
		struct str s =
		    wire_tree_text(wire_tree_get(v, str_of(names[i])));
		if (s.n > 0)
			return accum_reasoning(m, names[i], s);
	}
	details = wire_tree_get(v, STR("reasoning_details"));
	for (size_t i = 0; i < wire_tree_len(details); i++) {
		enum rc rc = accum_reasoning(m, NULL,
		    wire_tree_text(
			wire_tree_get(wire_tree_at(details, i), STR("text"))));
		if (rc != RC_OK)
			return rc;
	}
	return RC_OK;
}

/* In a whole response each element is one call. */
static enum rc
openai_take_calls(struct accum *m, const struct wire_tree *list, bool whole)
{
	for (size_t i = 0; i < wire_tree_len(list); i++) {
		const struct wire_tree *c = wire_tree_at(list, i);
		const struct wire_tree *f = wire_tree_get(c, STR("function"));
		struct accum_chunk p = {
			.index =
			    whole ? (int64_t)i : openai_count(c, "index", -1),
			.id = wire_tree_text(wire_tree_get(c, STR("id"))),
			.name = wire_tree_text(wire_tree_get(f, STR("name"))),
			.arguments = wire_tree_get(f, STR("arguments")),
			.members = c,
		};
		enum rc rc = accum_call(m, &p);
		if (rc != RC_OK)
			return rc;
	}
	return RC_OK;
}

static enum rc
openai_take_choice(struct accum *m, const struct wire_tree *choice, bool whole,
    struct str *delta)
{
	const struct wire_tree *message =
	    wire_tree_get(choice, whole ? STR("message") : STR("delta"));
	enum rc rc;

	accum_finish(
	    m, wire_tree_text(wire_tree_get(choice, STR("finish_reason"))));
	rc = openai_take_content(
	    m, wire_tree_get(message, STR("content")), delta);
	if (rc == RC_OK)
		rc = openai_take_reasoning(m, message);
	if (rc == RC_OK)
		rc = openai_take_calls(
		    m, wire_tree_get(message, STR("tool_calls")), whole);
	return rc;
}

/* The choice with index 0; NULL: none. */
static const struct wire_tree *
openai_first_choice(const struct wire_tree *list)
{
	for (size_t i = 0; i < wire_tree_len(list); i++) {
		const struct wire_tree *c = wire_tree_at(list, i);
		if (openai_count(c, "index", 0) == 0)
			return c;
	}
	return NULL;
}

static enum rc
openai_read_event(struct accum *m, const struct wire_tree *v, struct str *delta,
    const char **why)
{
	const struct wire_tree *list = wire_tree_get(v, STR("choices"));
	const struct wire_tree *choice;

	*delta = (struct str){ "", 0 };
	if (wire_tree_kind(v) != WIRE_TREE_OBJECT ||
	    (wire_tree_kind(list) != WIRE_TREE_ARRAY &&
		wire_tree_kind(list) != WIRE_TREE_NULL)) {
		*why = "an event is not a chunk of a chat completion";
		return RC_INVALID;
	}
	openai_take_usage(m, v);
	choice = openai_first_choice(list);
	return choice != NULL ? openai_take_choice(m, choice, false, delta)
			      : RC_OK;
}

static enum rc
openai_read_response(
    struct accum *m, const struct wire_tree *v, const char **why)
{
	const struct wire_tree *list = wire_tree_get(v, STR("choices"));
	const struct wire_tree *choice = openai_first_choice(list);
	struct str delta;

	if (wire_tree_kind(list) != WIRE_TREE_ARRAY ||
	    (choice != NULL &&
		wire_tree_kind(wire_tree_get(choice, STR("message"))) !=
		    WIRE_TREE_OBJECT)) {
		*why = "the response is not a chat completion";
		return RC_INVALID;
	}
	openai_take_usage(m, v);
	m->done = true;
	return choice != NULL ? openai_take_choice(m, choice, true, &delta)
			      : RC_OK;
}

const struct dialect openai_dialect = { "/chat/completions", openai_write,
	openai_read_event, openai_read_response };
