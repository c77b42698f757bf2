/*
 * history: the messages of a session: decoding for the model, trimming to its
 * context, encoding for the session's record.
 */
#include "core/buf.h"
#include "core/log.h"
#include "core/mem.h"
#include "model/model.h"
#include "reply/reply_compose.h"
#include "wire/out.h"
#include "wire/tree.h"
#include "wire/wire.h"

/* ---- tokens ---- */

/* Tokens of role and separators of a message or call. */
#define OVERHEAD 4
/* Code points from here on (CJK radicals) count as one token each. */
#define WIDE_MIN   0x2E80
#define LEFT_OUT   "……"
#define NARROW_PER 4
/* About what an image takes. */
#define IMAGE_TOKENS 1000

size_t
history_tokens(struct str s)
{
	size_t pos = 0, wide = 0, narrow = 0;

	while (pos < s.n) {
		size_t at = pos;
		int32_t c = str_utf8_next(s, &pos);
		if (c < 0)
			pos++;
		if (c >= WIDE_MIN)
			wide++;
		else
			narrow += pos - at;
	}
	return wide + (narrow + NARROW_PER - 1) / NARROW_PER;
}

size_t
history_message_tokens(const struct llm_message *m)
{
	size_t n = OVERHEAD + history_tokens(m->text) +
	    (m->image.n > 0 ? IMAGE_TOKENS : 0);

	for (size_t i = 0; i < m->ncalls; i++)
		n += OVERHEAD + history_tokens(m->calls[i].name) +
		    history_tokens(m->calls[i].arguments);
	return n;
}

/* The length of the longest prefix of at most max tokens. */
static size_t
history_head(struct str s, size_t max)
{
	size_t pos = 0, quarters = 0;

	while (pos < s.n) {
		size_t at = pos;
		int32_t c = str_utf8_next(s, &pos);
		if (c < 0)
			pos++;
		quarters += c >= WIDE_MIN ? NARROW_PER : pos - at;
		if (quarters > max * NARROW_PER)
			return at;
	}
	return pos;
}

/* The offset of the longest suffix of at most max tokens. */
static size_t
history_tail(struct str s, size_t max)
{
	size_t at = s.n, quarters = 0;

	while (at > 0) {
		size_t from = at - 1;
		while (from > 0 && ((unsigned char)s.p[from] & 0xC0) == 0x80)
			from--;
		size_t pos = from;
		quarters +=
		    str_utf8_next(s, &pos) >= WIDE_MIN ? NARROW_PER : at - from;
		if (quarters > max * NARROW_PER)
			return at;
		at = from;
	}
	return 0;
}

struct str
history_shorten(struct str s, size_t max, struct arena *a)
{
	if (history_tokens(s) <= max)
		return s;
	size_t front = history_head(s, max - max / 3),
	       back = history_tail(s, max / 3);
	if (back < front)
		back = front;
	return arena_printf(a, "%.*s" LEFT_OUT "%.*s", (int)front, s.p,
	    (int)(s.n - back), s.p + back);
}

static enum rc
history_shorten_message(struct llm_message *m, size_t each, struct arena *a)
{
	struct llm_tool_call *calls;
	bool had = m->text.p != NULL;

	m->text = history_shorten(m->text, each, a);
	if (had && m->text.p == NULL)
		return RC_TOOBIG;
	if (m->ncalls == 0 || history_message_tokens(m) <= 2 * each)
		return RC_OK;
	calls = arena_alloc(a, m->ncalls * sizeof(*calls));
	if (calls == NULL)
		return RC_TOOBIG;
	for (size_t i = 0; i < m->ncalls; i++) {
		calls[i] = m->calls[i];
		calls[i].arguments = STR("{}");
	}
	m->calls = calls;
	return RC_OK;
}

enum rc
history_trim(
    struct history_list *l, size_t tokens, size_t each, struct arena *a)
{
	size_t first = l->n, used = 0;

	for (size_t i = l->n; i > 0; i--) {
		struct llm_message *m = &l->list[i - 1];
		enum rc rc = history_shorten_message(m, each, a);
		if (rc != RC_OK)
			return rc;
		used += history_message_tokens(m);
		if (used > tokens)
			break;
		/* Results are not shown without their calls. */
		if (m->role != LLM_TOOL)
			first = i - 1;
	}
	l->list += first;
	l->n -= first;
	return RC_OK;
}

/* An empty reply of the assistant, as the model writes it. */
#define HISTORY_NO_REPLY "<NO_REPLY>"

/* ---- calls of the running turn ---- */

/* Advice to the model about a failure; or NULL. */
static const char *
history_advice(enum turn_outcome outcome)
{
	switch (outcome) {
	case TURN_NOT_CONFIRMED:
		return "it was sent, but not confirmed; it is not known "
		       "whether it was done";
	case TURN_BLOCKED:
	case TURN_GATE_UNKNOWN:
		return "it was not sent and will not be done now";
	case TURN_DEFERRED:
		return "call it again if it is still needed";
	case TURN_UNAPPROVED:
		return "the user is asked; it is carried out when they approve "
		       "it, not before";
	case TURN_DENIED:
		return "do not try it";
	case TURN_SKIPPED:
		return "an earlier call of the same skill was not confirmed";
	default:
		return NULL;
	}
}

/* What a provider's tool returns is marked as its own words. */
static void
history_put_output(
    struct wire_out *o, enum turn_call_kind kind, struct str output)
{
	if (output.p == NULL)
		return;
	if (kind == TURN_PROVIDED) {
		wire_out_key(o, STR("tool_output"));
		wire_out_raw(o, output);
		return;
	}
	wire_out_key(o, STR("output"));
	if (output.n <= HISTORY_OUTPUT_MAX) {
		wire_out_raw(o, output);
		return;
	}
	struct arena *a = arena_new(2 * HISTORY_OUTPUT_MAX);
	wire_out_str(o, reply_clean(output, HISTORY_OUTPUT_MAX, a));
	arena_free(a);
}

/* The query is stored whatever the outcome. */
static void
history_put_query(struct wire_out *o, struct str args)
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

/* The content of the tool message of a call. */
static struct str
history_tool_result(const struct turn_call *c, struct arena *a)
{
	struct buf b = BUF_INIT(HISTORY_TEXT_MAX);
	struct wire_out o = { .b = &b };

	if (c->kind == TURN_FORGET && c->output.p != NULL)
		return c->output;
	wire_out_object(&o);
	if (c->kind == TURN_FORGET)
		history_put_query(&o, c->args);
	wire_out_key(&o, STR("ok"));
	wire_out_bool(&o, c->outcome == TURN_OK);
	if (c->outcome != TURN_OK) {
		wire_out_key(&o, STR("error"));
		wire_out_str(&o, reply_error_text(c, a));
		if (history_advice(c->outcome) != NULL) {
			wire_out_key(&o, STR("advice"));
			wire_out_str(&o, str_of(history_advice(c->outcome)));
		}
	}
	history_put_output(&o, c->kind, c->output);
	wire_out_object_end(&o);
	struct str s = arena_str(a, buf_str(&b));
	buf_free(&b);
	return s;
}

static struct llm_message *
history_add(struct history_list *l, enum llm_role role, struct str text)
{
	struct llm_message *m = &l->list[l->n++];

	*m = (struct llm_message){ .role = role, .text = text };
	return m;
}

/* The calls of round r with their results; round 0: direct calls. */
static enum rc
history_add_round(
    const struct turn *t, size_t r, struct arena *a, struct history_list *out)
{
	struct llm_tool_call *calls =
	    arena_alloc(a, t->n_calls * sizeof(*calls));
	size_t n = 0;

	if (calls == NULL)
		return RC_TOOBIG;
	for (size_t i = 0; i < t->n_calls; i++) {
		const struct turn_call *c = &t->calls[i];
		if (c->round != r || c->tool.p == NULL)
			continue;
		calls[n++] = (struct llm_tool_call){ .id = c->call_id,
			.name = c->tool,
			.arguments = c->args,
			.extra = c->extra,
			.valid = true };
	}
	struct str text = r > 0 ? t->round_text[r - 1] : (struct str){ 0 };
	if (n == 0)
		return RC_OK;
	struct llm_message *m = history_add(out, LLM_ASSISTANT,
	    str_trim(text).n > 0 ? text : (struct str){ 0 });
	m->calls = calls;
	m->ncalls = n;
	for (size_t i = 0; i < t->n_calls; i++) {
		const struct turn_call *c = &t->calls[i];
		if (c->round != r || c->tool.p == NULL)
			continue;
		m = history_add(out, LLM_TOOL, history_tool_result(c, a));
		m->tool_call_id = c->call_id;
		m->image = c->image;
		m->image_type = c->image_type;
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
	    arena_alloc(a, (t->n_calls + t->round + 2) * sizeof(*out->list));
	if (out->list == NULL)
		return RC_TOOBIG;
	for (size_t r = 0; rc == RC_OK && r <= t->round; r++) {
		rc = history_add_round(t, r, a, out);
		if (r == 0 && t->route.rest.n > 0)
			history_add(out, LLM_USER, t->route.rest);
	}
	return rc;
}

/* ---- decoding stored messages ---- */

struct history_items {
	struct wire_session_messages_items *list;
	size_t n;
};

static enum rc
history_decode_items(const struct history_stored *in, struct str turn_id,
    struct arena *a, struct history_items *out)
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

/* The calls of a stored assistant's message; NULL: invalid. */
static struct llm_tool_call *
history_decode_calls(struct str json, struct arena *a, size_t *n)
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

/* Whether the tool messages after item i are the results of its n calls. */
static bool
history_calls_complete(const struct history_items *in, size_t i,
    const struct llm_tool_call *calls, size_t n, size_t *follow)
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

/* An assistant's message with its results; returns how many items. */
static size_t
history_add_assistant(struct history_list *out, const struct history_items *in,
    size_t i, struct arena *a)
{
	const struct wire_session_messages_items *m = &in->list[i];
	size_t n = 0, follow;

	if (m->tool_calls.p == NULL) {
		history_add(out, LLM_ASSISTANT,
		    m->content.n > 0 ? m->content : STR(HISTORY_NO_REPLY));
		return 1;
	}
	const struct llm_tool_call *calls =
	    history_decode_calls(m->tool_calls, a, &n);
	if (!history_calls_complete(in, i, calls, n, &follow)) {
		if (m->content.n > 0)
			history_add(out, LLM_ASSISTANT, m->content);
		return 1 + follow;
	}
	struct llm_message *to = history_add(out, LLM_ASSISTANT,
	    m->content.n > 0 ? m->content : (struct str){ 0 });
	to->calls = calls;
	to->ncalls = n;
	for (size_t k = 1; k <= follow; k++)
		history_add(out, LLM_TOOL, in->list[i + k].content)
		    ->tool_call_id = in->list[i + k].tool_call_id;
	return 1 + follow;
}

enum rc
history_read(const struct history_stored *in, struct str turn_id,
    struct arena *a, struct history_list *out)
{
	struct history_items history_items;

	out->n = 0;
	enum rc rc = history_decode_items(in, turn_id, a, &history_items);
	out->list = arena_alloc(a, (history_items.n + 1) * sizeof(*out->list));
	if (rc != RC_OK || out->list == NULL)
		return RC_TOOBIG;
	for (size_t i = 0; i < history_items.n;) {
		const struct wire_session_messages_items *m =
		    &history_items.list[i];
		size_t taken = 1;
		switch (m->role) {
		case WIRE_SESSION_MESSAGES_ITEMS_ROLE_USER:
		case WIRE_SESSION_MESSAGES_ITEMS_ROLE_OBSERVATION:
			history_add(out, LLM_USER, m->content);
			break;
		case WIRE_SESSION_MESSAGES_ITEMS_ROLE_ASSISTANT:
			taken =
			    history_add_assistant(out, &history_items, i, a);
			break;
		case WIRE_SESSION_MESSAGES_ITEMS_ROLE_TOOL:
			break;
		}
		i += taken;
	}
	return RC_OK;
}

#define OBSERVED_MAX ((size_t)2048)
/* Calls of one message in bytes; a stored message may have 256 KiB. */
#define CALLS_MAX ((size_t)128 * 1024)
/* The session numbers its messages. */
#define NO_ID "-"

/* ---- input ---- */

bool
history_is_user_text(const struct wire_chat_request_inputs *in)
{
	return in->type == WIRE_CHAT_REQUEST_INPUTS_TYPE_KEYBOARD_TEXT ||
	    in->type == WIRE_CHAT_REQUEST_INPUTS_TYPE_SPEECH_TEXT;
}

struct str
history_user_text(const struct wire_chat_request *chat, struct arena *a)
{
	struct buf b = BUF_INIT(HISTORY_TEXT_MAX);

	for (size_t i = 0; i < chat->n_inputs; i++) {
		struct str s = str_trim(chat->inputs[i].text);
		if (!history_is_user_text(&chat->inputs[i]) || s.n == 0)
			continue;
		if (b.n > 0)
			buf_putc(&b, '\n');
		buf_put_str(&b, s);
	}
	struct str text = reply_clean(buf_str(&b), HISTORY_TEXT_MAX, a);
	buf_free(&b);
	return text;
}

static void
history_put_pair(struct buf *b, const char *key, struct str value)
{
	if (value.n > 0)
		buf_printf(b, " %s=%.*s", key, STR_ARG(value));
}

struct str
history_observation(const struct wire_chat_request_inputs *in, struct arena *a)
{
	struct buf b = BUF_INIT((size_t)1024 * 1024);

	buf_printf(&b, "[%.*s]",
	    STR_ARG(wire_chat_request_inputs_type_names[in->type]));
	history_put_pair(&b, "source", in->source);
	history_put_pair(&b, "ts", in->ts);
	history_put_pair(&b, "text", str_trim(in->text));
	history_put_pair(&b, "data", in->data);
	history_put_pair(&b, "mime", in->media.mime);
	history_put_pair(&b, "url", in->media.url);
	history_put_pair(&b, "bucket", in->media.bucket);
	history_put_pair(&b, "object", in->media.object_key);
	struct str line = reply_clean(buf_str(&b), OBSERVED_MAX, a);
	buf_free(&b);
	if (line.p == NULL)
		return line;
	/* It must stay one line. */
	char *p = arena_alloc(a, line.n + 1);
	for (size_t i = 0; p != NULL && i < line.n; i++)
		p[i] = line.p[i] == '\n' || line.p[i] == '\t' ? ' ' : line.p[i];
	return (struct str){ p, p != NULL ? line.n : 0 };
}

/* ---- encoding ---- */

static enum rc
history_store(struct history_stored *out, struct wire_session_messages_items *m,
    const struct history_mark *mark, struct arena *a)
{
	struct buf b = BUF_INIT(WIRE_MESSAGE_MAX);

	m->id = STR(NO_ID);
	m->turn_id = mark->turn_id;
	m->created_at = mark->now;
	enum rc rc =
	    wire_encode(&wire_session_messages_items_desc, m, &b, NULL);
	if (rc == RC_OK) {
		out->chars += (int64_t)str_utf8_count(m->content);
		out->list[out->n] = arena_str(a, buf_str(&b));
		rc = out->list[out->n++].p != NULL ? RC_OK : RC_TOOBIG;
	}
	buf_free(&b);
	return rc;
}

enum rc
history_input(const struct wire_chat_request *chat,
    const struct history_mark *mark, struct arena *a,
    struct history_stored *out)
{
	enum rc rc = RC_OK;

	*out = (struct history_stored){ 0 };
	out->list = arena_alloc(a, HISTORY_INPUTS_MAX * sizeof(*out->list));
	if (out->list == NULL)
		return RC_TOOBIG;
	for (size_t i = 0; rc == RC_OK && i < chat->n_inputs; i++) {
		if (history_is_user_text(&chat->inputs[i]) ||
		    out->n == HISTORY_INPUTS_MAX - 1)
			continue;
		struct wire_session_messages_items m = {
			.role = WIRE_SESSION_MESSAGES_ITEMS_ROLE_OBSERVATION,
			.content = history_observation(&chat->inputs[i], a),
		};
		rc = m.content.p != NULL ? history_store(out, &m, mark, a)
					 : RC_TOOBIG;
	}
	struct wire_session_messages_items user = {
		.role = WIRE_SESSION_MESSAGES_ITEMS_ROLE_USER,
		.content = history_user_text(chat, a),
	};
	if (rc == RC_OK)
		rc = user.content.p != NULL ? history_store(out, &user, mark, a)
					    : RC_TOOBIG;
	return rc;
}

static void
history_put_call(struct wire_out *o, const struct llm_tool_call *c, bool whole)
{
	wire_out_object(o);
	wire_out_key(o, STR("id"));
	wire_out_str(o, c->id);
	wire_out_key(o, STR("type"));
	wire_out_str(o, STR("function"));
	wire_out_key(o, STR("function"));
	wire_out_object(o);
	wire_out_key(o, STR("name"));
	wire_out_str(o, c->name);
	wire_out_key(o, STR("arguments"));
	wire_out_str(o, whole ? c->arguments : STR("{}"));
	wire_out_object_end(o);
	if (whole && c->extra.p != NULL) {
		wire_out_key(o, STR("extra_content"));
		wire_out_raw(o, c->extra);
	}
	wire_out_object_end(o);
}

/*
 * The calls as in chat completions; without their arguments if that exceeds
 * CALLS_MAX.
 */
static struct str
history_calls_json(const struct llm_message *m, struct arena *a)
{
	struct str s = { 0 };

	for (int whole = 1; whole >= 0 && s.p == NULL; whole--) {
		struct buf b = BUF_INIT(CALLS_MAX);
		struct wire_out o = { .b = &b };
		wire_out_array(&o);
		for (size_t i = 0; i < m->ncalls; i++)
			history_put_call(&o, &m->calls[i], whole == 1);
		wire_out_array_end(&o);
		if (buf_rc(&b) == RC_OK)
			s = arena_str(a, buf_str(&b));
		buf_free(&b);
	}
	return s;
}

/* The skill of a call of this turn. */
static struct str
history_skill_of(const struct turn *t, struct str call_id)
{
	for (size_t i = t->n_calls; i > 0; i--) {
		if (str_eq(t->calls[i - 1].call_id, call_id))
			return t->calls[i - 1].skill;
	}
	return (struct str){ 0 };
}

static enum rc
history_store_message(const struct turn *t, const struct llm_message *from,
    const struct history_mark *mark, struct arena *a,
    struct history_stored *out)
{
	struct wire_session_messages_items m = {
		.role = WIRE_SESSION_MESSAGES_ITEMS_ROLE_TOOL,
		.content = reply_clean(from->text, HISTORY_TEXT_MAX, a),
	};

	if (from->role == LLM_ASSISTANT) {
		m.role = WIRE_SESSION_MESSAGES_ITEMS_ROLE_ASSISTANT;
		m.tool_calls = history_calls_json(from, a);
		if (m.tool_calls.p == NULL)
			return RC_TOOBIG;
	} else {
		m.tool_call_id = from->tool_call_id;
		m.name = history_skill_of(t, from->tool_call_id);
	}
	return m.content.p != NULL ? history_store(out, &m, mark, a)
				   : RC_TOOBIG;
}

/* Results of earlier turns, which this turn's reply includes. */
static enum rc
history_store_earlier(const struct turn *t, const struct history_mark *mark,
    struct arena *a, struct history_stored *out)
{
	struct wire_session_messages_items m = {
		.role = WIRE_SESSION_MESSAGES_ITEMS_ROLE_OBSERVATION,
		.content =
		    arena_printf(a, "[late_result] %.*s", STR_ARG(t->earlier)),
	};

	return m.content.p != NULL ? history_store(out, &m, mark, a)
				   : RC_TOOBIG;
}

enum rc
history_outcome(const struct turn *t, struct str reply,
    const struct history_mark *mark, struct arena *a,
    struct history_stored *out)
{
	struct history_list done;

	*out = (struct history_stored){ 0 };
	enum rc rc = history_turn(t, a, &done);
	if (rc != RC_OK)
		return rc;
	out->list = arena_alloc(a, (done.n + 2) * sizeof(*out->list));
	if (out->list == NULL)
		return RC_TOOBIG;
	if (reply.p != NULL && t->earlier.n > 0)
		rc = history_store_earlier(t, mark, a, out);
	for (size_t i = 0; rc == RC_OK && i < done.n; i++) {
		if (done.list[i].role != LLM_USER)
			rc = history_store_message(
			    t, &done.list[i], mark, a, out);
	}
	if (rc != RC_OK || reply.p == NULL)
		return rc;
	struct wire_session_messages_items m = {
		.role = WIRE_SESSION_MESSAGES_ITEMS_ROLE_ASSISTANT,
		.content = reply,
	};
	return history_store(out, &m, mark, a);
}
