/*
 * One function per event type.
 */
#include "fcmp/fcmp_write.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "core/mem.h"
#include "wire/out.h"

#define REPLACEMENT "\xef\xbf\xbd"

struct fcmp_head
fcmp_chat_head(struct str turn_id, struct str session_id, struct str ts)
{
	return (struct fcmp_head){ .run_id = turn_id,
		.engine = STR("soul"),
		.session_id = session_id,
		.ts = ts,
		.seq = FCMP_UNNUMBERED,
		.confidence = 1,
		.attempt = 1 };
}

/* ---- texts ---- */

static void
fcmp_put(struct wire_out *o, const char *key, struct str text)
{
	wire_out_key(o, str_of(key));
	wire_out_text(o, text);
}

static void
fcmp_put_num(struct wire_out *o, const char *key, int64_t v)
{
	wire_out_key(o, str_of(key));
	wire_out_i64(o, v);
}

static void
fcmp_put_code(struct wire_out *o, struct str code)
{
	char upper[FCMP_CODE_MAX + 1];

	str_copy(code, upper, sizeof(upper));
	for (char *p = upper; *p != '\0'; p++)
		*p = (char)toupper((unsigned char)*p);
	fcmp_put(o, "code", str_of(upper));
}

/* Bytes of a character in a JSON string; n: of its UTF-8. */
static size_t
fcmp_escaped_size(unsigned char c, size_t n)
{
	if (c >= 0x20)
		return c == '"' || c == '\\' ? 2 : n;
	if (c == '\0')
		return strlen(REPLACEMENT);
	return strchr("\b\t\n\f\r", c) != NULL ? 2 : strlen("\\u0000");
}

struct str
fcmp_truncate(struct str text, size_t max)
{
	size_t used = 0, at = 0;

	if (text.n <= max / strlen("\\u0000"))
		return text;
	while (at < text.n) {
		size_t next = at;

		if (str_utf8_next(text, &next) < 0) {
			next++;
			used += strlen(REPLACEMENT);
		} else {
			used += fcmp_escaped_size(
			    (unsigned char)text.p[at], next - at);
		}
		if (used > max)
			break;
		at = next;
	}
	return (struct str){ text.p, at };
}

static struct str
fcmp_title(struct str text)
{
	struct str line;
	size_t n, at = 0;

	text = str_trim(text);
	for (n = 0; n < text.n && text.p[n] != '\n' && text.p[n] != '\r'; n++)
		;
	line = (struct str){ text.p, n };
	for (n = 0; n < FCMP_TITLE_CHARS && at < line.n; n++) {
		if (str_utf8_next(line, &at) < 0)
			at++;
	}
	return str_trim((struct str){ line.p, at });
}

/* ---- envelope ---- */

static void
fcmp_begin(struct wire_out *o, const struct fcmp_head *h, const char *type)
{
	wire_out_object(o);
	fcmp_put(o, "protocol_version", STR("fcmp/1.0"));
	fcmp_put(o, "run_id", h->run_id);
	if (h->seq != FCMP_UNNUMBERED)
		fcmp_put_num(o, "seq", h->seq);
	fcmp_put(o, "ts", h->ts);
	fcmp_put(o, "engine", h->engine);
	if (h->session_id.n > 0)
		fcmp_put(o, "session_id", h->session_id);
	fcmp_put(o, "type", str_of(type));
	wire_out_key(o, STR("data"));
	wire_out_object(o);
}

static void
fcmp_end(struct wire_out *o, const struct fcmp_head *h)
{
	wire_out_object_end(o);
	wire_out_key(o, STR("meta"));
	wire_out_object(o);
	wire_out_key(o, STR("confidence"));
	wire_out_f64(o, h->confidence);
	fcmp_put_num(o, "attempt", h->attempt);
	wire_out_object_end(o);
	wire_out_key(o, STR("raw_ref"));
	wire_out_object(o);
	fcmp_put_num(o, "stdout_from", h->raw.stdout_from);
	fcmp_put_num(o, "stdout_to", h->raw.stdout_to);
	fcmp_put_num(o, "stderr_from", h->raw.stderr_from);
	fcmp_put_num(o, "stderr_to", h->raw.stderr_to);
	wire_out_object_end(o);
	wire_out_object_end(o);
}

void
fcmp_number(struct str event, int64_t seq, struct buf *b)
{
	buf_printf(b, "{\"seq\":%" PRId64 ",", seq);
	/* An event is an object, and never empty. */
	buf_put(b, event.p + 1, event.n - 1);
}

/* ---- events ---- */

void
fcmp_started(const struct fcmp_head *h, struct str title,
    enum wire_chat_event_data_mode mode, struct buf *b)
{
	struct wire_out o = { .b = b };

	fcmp_begin(&o, h, "conversation.started");
	fcmp_put(&o, "title", fcmp_title(title));
	fcmp_put(&o, "mode", wire_chat_event_data_mode_names[mode]);
	fcmp_end(&o, h);
}

void
fcmp_delta(const struct fcmp_head *h, struct str message_id, struct str text,
    struct buf *b)
{
	struct wire_out o = { .b = b };

	fcmp_begin(&o, h, "assistant.message.delta");
	fcmp_put(&o, "message_id", message_id);
	fcmp_put(&o, "text_delta", text);
	fcmp_end(&o, h);
}

void
fcmp_final(const struct fcmp_head *h, struct str message_id, struct str text,
    struct str payload, struct buf *b)
{
	struct wire_out o = { .b = b };

	fcmp_begin(&o, h, "assistant.message.final");
	fcmp_put(&o, "message_id", message_id);
	fcmp_put(&o, "text", text);
	wire_out_key(&o, STR("structured_payload"));
	if (payload.p != NULL)
		wire_out_raw(&o, payload);
	else
		wire_out_null(&o);
	fcmp_end(&o, h);
}

static void
fcmp_put_options(
    struct wire_out *o, const struct wire_question_option *options, size_t n)
{
	wire_out_key(o, STR("options"));
	wire_out_array(o);
	for (size_t i = 0; i < n; i++) {
		wire_out_object(o);
		fcmp_put(o, "value", options[i].value);
		if (options[i].label.p != NULL)
			fcmp_put(o, "label", options[i].label);
		wire_out_object_end(o);
	}
	wire_out_array_end(o);
}

static void
fcmp_put_field(struct wire_out *o, const struct wire_question_field *f)
{
	wire_out_object(o);
	fcmp_put(o, "name", f->name);
	if (f->label.p != NULL)
		fcmp_put(o, "label", f->label);
	fcmp_put(o, "kind", wire_question_kind_names[f->kind]);
	if (f->n_options > 0)
		fcmp_put_options(o, f->options, f->n_options);
	wire_out_key(o, STR("required"));
	wire_out_bool(o, f->required);
	wire_out_object_end(o);
}

void
fcmp_input_required(
    const struct fcmp_head *h, const struct fcmp_question *q, struct buf *b)
{
	struct wire_out o = { .b = b };

	fcmp_begin(&o, h, "user.input.required");
	fcmp_put(&o, "interaction_id", q->interaction_id);
	fcmp_put(&o, "kind", wire_question_kind_names[q->kind]);
	fcmp_put(&o, "prompt", fcmp_truncate(q->prompt, FCMP_PROMPT_MAX));
	fcmp_put_options(&o, q->options, q->n_options);
	if (q->kind == WIRE_QUESTION_KIND_FORM) {
		wire_out_key(&o, STR("fields"));
		wire_out_array(&o);
		for (size_t i = 0; i < q->n_fields; i++)
			fcmp_put_field(&o, &q->fields[i]);
		wire_out_array_end(&o);
	}
	fcmp_end(&o, h);
}

void
fcmp_input_replied(const struct fcmp_head *h, struct str interaction_id,
    struct str content, struct buf *b)
{
	struct wire_out o = { .b = b };

	fcmp_begin(&o, h, "user.input.replied");
	fcmp_put(&o, "interaction_id", interaction_id);
	fcmp_put(&o, "content", fcmp_truncate(content, FCMP_CONTENT_MAX));
	fcmp_end(&o, h);
}

void
fcmp_completed(
    const struct fcmp_head *h, const char *reason_code, struct buf *b)
{
	struct wire_out o = { .b = b };

	fcmp_begin(&o, h, "conversation.completed");
	fcmp_put(&o, "state", STR("completed"));
	fcmp_put(&o, "reason_code", str_of(reason_code));
	wire_out_key(&o, STR("skill_done"));
	wire_out_bool(&o, true);
	fcmp_end(&o, h);
}

void
fcmp_failed(
    const struct fcmp_head *h, const struct fcmp_error *e, struct buf *b)
{
	struct wire_out o = { .b = b };

	fcmp_begin(&o, h, "conversation.failed");
	wire_out_key(&o, STR("error"));
	wire_out_object(&o);
	fcmp_put(&o, "category",
	    wire_chat_event_data_error_category_names[e->category]);
	fcmp_put_code(&o, e->code);
	fcmp_put(&o, "message", fcmp_truncate(e->message, FCMP_MESSAGE_MAX));
	wire_out_key(&o, STR("retryable"));
	wire_out_bool(&o, e->retryable);
	wire_out_object_end(&o);
	fcmp_end(&o, h);
}

void
fcmp_warning(
    const struct fcmp_head *h, const struct fcmp_warning *w, struct buf *b)
{
	struct wire_out o = { .b = b };

	fcmp_begin(&o, h, "diagnostic.warning");
	fcmp_put_code(&o, w->code);
	fcmp_put(&o, "message", fcmp_truncate(w->message, FCMP_MESSAGE_MAX));
	if (w->message_id.n > 0)
		fcmp_put(&o, "message_id", w->message_id);
	if (w->count > 0)
		fcmp_put_num(&o, "count", w->count);
	fcmp_end(&o, h);
}
