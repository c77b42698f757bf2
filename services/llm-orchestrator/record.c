/*
 * A turn's messages for the session.
 */
#include "core/buf.h"
#include "history.h"
#include "reply.h"
#include "wire/out.h"
#include "wire/wire.h"

#define OBSERVED_MAX ((size_t)2048)
/* Calls of one message in bytes; a session's message holds 256 KiB. */
#define CALLS_MAX ((size_t)128 * 1024)
/* Sessions number their messages themselves. */
#define NO_ID "-"

/* ---- what came in ------------------------------------------------------ */

bool
history_is_said(const struct wire_chat_request_inputs *in)
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
		if (!history_is_said(&chat->inputs[i]) || s.n == 0)
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
put_pair(struct buf *b, const char *key, struct str value)
{
	if (value.n > 0)
		buf_printf(b, " %s=%.*s", key, STR_ARG(value));
}

struct str
history_observed(const struct wire_chat_request_inputs *in, struct arena *a)
{
	struct buf b = BUF_INIT((size_t)1024 * 1024);

	buf_printf(&b, "[%.*s]",
	    STR_ARG(wire_chat_request_inputs_type_names[in->type]));
	put_pair(&b, "source", in->source);
	put_pair(&b, "ts", in->ts);
	put_pair(&b, "text", str_trim(in->text));
	put_pair(&b, "data", in->data);
	put_pair(&b, "mime", in->media.mime);
	put_pair(&b, "url", in->media.url);
	put_pair(&b, "bucket", in->media.bucket);
	put_pair(&b, "object", in->media.object_key);
	struct str line = reply_clean(buf_str(&b), OBSERVED_MAX, a);
	buf_free(&b);
	if (line.p == NULL)
		return line;
	/* It is one line, whatever its sender put into it. */
	char *p = arena_alloc(a, line.n + 1);
	for (size_t i = 0; p != NULL && i < line.n; i++)
		p[i] = line.p[i] == '\n' || line.p[i] == '\t' ? ' ' : line.p[i];
	return (struct str){ p, p != NULL ? line.n : 0 };
}

/* ---- as JSON ----------------------------------------------------------- */

static enum rc
store(struct history_stored *out, struct wire_session_messages_items *m,
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
		if (history_is_said(&chat->inputs[i]) ||
		    out->n == HISTORY_INPUTS_MAX - 1)
			continue;
		struct wire_session_messages_items m = {
			.role = WIRE_SESSION_MESSAGES_ITEMS_ROLE_OBSERVATION,
			.content = history_observed(&chat->inputs[i], a),
		};
		rc = m.content.p != NULL ? store(out, &m, mark, a) : RC_TOOBIG;
	}
	struct wire_session_messages_items said = {
		.role = WIRE_SESSION_MESSAGES_ITEMS_ROLE_USER,
		.content = history_user_text(chat, a),
	};
	if (rc == RC_OK)
		rc = said.content.p != NULL ? store(out, &said, mark, a)
					    : RC_TOOBIG;
	return rc;
}

static void
put_call(struct wire_out *o, const struct llm_tool_call *c, bool whole)
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
 * The calls in the form of chat completions; where that is more than a message
 * may hold, without their arguments.
 */
static struct str
calls_json(const struct llm_message *m, struct arena *a)
{
	struct str s = { 0 };

	for (int whole = 1; whole >= 0 && s.p == NULL; whole--) {
		struct buf b = BUF_INIT(CALLS_MAX);
		struct wire_out o = { .b = &b };
		wire_out_array(&o);
		for (size_t i = 0; i < m->ncalls; i++)
			put_call(&o, &m->calls[i], whole == 1);
		wire_out_array_end(&o);
		if (buf_rc(&b) == RC_OK)
			s = arena_str(a, buf_str(&b));
		buf_free(&b);
	}
	return s;
}

/* The skill that a call of this turn was for. */
static struct str
skill_of(const struct turn *t, struct str call_id)
{
	for (size_t i = t->n_deeds; i > 0; i--) {
		if (str_eq(t->deeds[i - 1].call_id, call_id))
			return t->deeds[i - 1].skill;
	}
	return (struct str){ 0 };
}

static enum rc
store_message(const struct turn *t, const struct llm_message *from,
    const struct history_mark *mark, struct arena *a,
    struct history_stored *out)
{
	struct wire_session_messages_items m = {
		.role = WIRE_SESSION_MESSAGES_ITEMS_ROLE_TOOL,
		.content = reply_clean(from->text, HISTORY_TEXT_MAX, a),
	};

	if (from->role == LLM_ASSISTANT) {
		m.role = WIRE_SESSION_MESSAGES_ITEMS_ROLE_ASSISTANT;
		m.tool_calls = calls_json(from, a);
		if (m.tool_calls.p == NULL)
			return RC_TOOBIG;
	} else {
		m.tool_call_id = from->tool_call_id;
		m.name = skill_of(t, from->tool_call_id);
	}
	return m.content.p != NULL ? store(out, &m, mark, a) : RC_TOOBIG;
}

/* What came of earlier turns is told by this one's reply. */
static enum rc
store_late(const struct turn *t, const struct history_mark *mark,
    struct arena *a, struct history_stored *out)
{
	struct wire_session_messages_items m = {
		.role = WIRE_SESSION_MESSAGES_ITEMS_ROLE_OBSERVATION,
		.content =
		    arena_printf(a, "[late_result] %.*s", STR_ARG(t->late)),
	};

	return m.content.p != NULL ? store(out, &m, mark, a) : RC_TOOBIG;
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
	if (reply.p != NULL && t->late.n > 0)
		rc = store_late(t, mark, a, out);
	for (size_t i = 0; rc == RC_OK && i < done.n; i++) {
		if (done.list[i].role != LLM_USER)
			rc = store_message(t, &done.list[i], mark, a, out);
	}
	if (rc != RC_OK || reply.p == NULL)
		return rc;
	struct wire_session_messages_items m = {
		.role = WIRE_SESSION_MESSAGES_ITEMS_ROLE_ASSISTANT,
		.content = reply,
	};
	return store(out, &m, mark, a);
}
