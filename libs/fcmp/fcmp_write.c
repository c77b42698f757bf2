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
	wire_out_name(o, key);
	wire_out_text(o, text);
}

static void
fcmp_put_num(struct wire_out *o, const char *key, int64_t v)
{
	wire_out_name(o, key);
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

/* Bytes of a character of ASCII in a JSON string. */
static inline size_t
fcmp_escaped_size(unsigned char c)
{
	switch (c) {
	case '\0':
		return strlen(REPLACEMENT);
	case '\b':
	case '\t':
	case '\n':
	case '\f':
	case '\r':
	case '"':
	case '\\':
		return 2;
	default:
		return c >= 0x20 ? 1 : strlen("\\u0000");
	}
}

struct str
fcmp_truncate(struct str text, size_t max)
{
	size_t used = 0, at = 0;

	if (text.n <= max / strlen("\\u0000"))
		return text;
	while (at < text.n) {
		unsigned char c = (unsigned char)text.p[at];
		size_t next = at;

		if (c < 0x80) {
			next++;
			used += fcmp_escaped_size(c);
		} else if (str_utf8_next(text, &next) < 0) {
			next++;
			used += strlen(REPLACEMENT);
		} else {
			used += next - at;
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

/*
 * Most events are short, so that their envelopes are most of the work: it is
 * written as text, but for what comes from outside.
 */
static void
fcmp_put_member(struct buf *b, const char *name, struct str text)
{
	struct wire_out o = { .b = b };

	buf_puts(b, name);
	wire_out_text(&o, text);
}

static void
fcmp_begin(struct wire_out *o, const struct fcmp_head *h, const char *type)
{
	struct buf *b = o->b;

	fcmp_put_member(
	    b, "{\"protocol_version\":\"fcmp/1.0\",\"run_id\":", h->run_id);
	if (h->seq != FCMP_UNNUMBERED) {
		buf_puts(b, ",\"seq\":");
		buf_put_i64(b, h->seq);
	}
	fcmp_put_member(b, ",\"ts\":", h->ts);
	fcmp_put_member(b, ",\"engine\":", h->engine);
	if (h->session_id.n > 0)
		fcmp_put_member(b, ",\"session_id\":", h->session_id);
	buf_puts(b, ",\"type\":\"");
	buf_puts(b, type);
	buf_puts(b, "\",\"data\":{");
}

static void
fcmp_end(struct wire_out *o, const struct fcmp_head *h)
{
	struct wire_out meta = { .b = o->b };
	struct buf *b = o->b;

	buf_puts(b, "},\"meta\":{\"confidence\":");
	wire_out_f64(&meta, h->confidence);
	buf_puts(b, ",\"attempt\":");
	buf_put_i64(b, h->attempt);
	buf_puts(b, "},\"raw_ref\":{\"stdout_from\":");
	buf_put_i64(b, h->raw.stdout_from);
	buf_puts(b, ",\"stdout_to\":");
	buf_put_i64(b, h->raw.stdout_to);
	buf_puts(b, ",\"stderr_from\":");
	buf_put_i64(b, h->raw.stderr_from);
	buf_puts(b, ",\"stderr_to\":");
	buf_put_i64(b, h->raw.stderr_to);
	buf_puts(b, "}}");
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
	wire_out_name(&o, "structured_payload");
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
	wire_out_name(o, "options");
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
	wire_out_name(o, "required");
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
		wire_out_name(&o, "fields");
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
	wire_out_name(&o, "skill_done");
	wire_out_bool(&o, true);
	fcmp_end(&o, h);
}

void
fcmp_failed(
    const struct fcmp_head *h, const struct fcmp_error *e, struct buf *b)
{
	struct wire_out o = { .b = b };

	fcmp_begin(&o, h, "conversation.failed");
	wire_out_name(&o, "error");
	wire_out_object(&o);
	fcmp_put(&o, "category",
	    wire_chat_event_data_error_category_names[e->category]);
	fcmp_put_code(&o, e->code);
	fcmp_put(&o, "message", fcmp_truncate(e->message, FCMP_MESSAGE_MAX));
	wire_out_name(&o, "retryable");
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
