/*
 * One function per event type.
 */
#include "reply/fcmp_event.h"

#include <ctype.h>
#include <inttypes.h>

#include "wire/out.h"

#define CODE_MAX 64

static void
fcmp_put(struct wire_out *o, const char *key, struct str value)
{
	wire_out_key(o, str_of(key));
	wire_out_str(o, value);
}

static void
fcmp_begin(struct wire_out *o, const struct fcmp_head *h, const char *type)
{
	wire_out_object(o);
	fcmp_put(o, "protocol_version", STR("fcmp/1.0"));
	fcmp_put(o, "run_id", h->turn_id);
	fcmp_put(o, "ts", h->now);
	fcmp_put(o, "engine", STR("soul"));
	fcmp_put(o, "session_id", h->session_id);
	fcmp_put(o, "type", str_of(type));
	wire_out_key(o, STR("data"));
	wire_out_object(o);
}

static void
fcmp_end(struct wire_out *o)
{
	wire_out_object_end(o);
	wire_out_object_end(o);
}

void
fcmp_started(const struct fcmp_head *h, struct buf *b)
{
	struct wire_out o = { .b = b };

	fcmp_begin(&o, h, "conversation.started");
	fcmp_put(&o, "mode", STR("interactive"));
	fcmp_end(&o);
}

void
fcmp_delta(const struct fcmp_head *h, struct str message_id, struct str text,
    struct buf *b)
{
	struct wire_out o = { .b = b };

	fcmp_begin(&o, h, "assistant.message.delta");
	fcmp_put(&o, "message_id", message_id);
	fcmp_put(&o, "text_delta", text);
	fcmp_end(&o);
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
	fcmp_end(&o);
}

void
fcmp_completed(const struct fcmp_head *h, struct buf *b)
{
	struct wire_out o = { .b = b };

	fcmp_begin(&o, h, "conversation.completed");
	fcmp_put(&o, "state", STR("completed"));
	fcmp_put(&o, "reason_code", STR("FINAL_STRUCTURED_OUTPUT_SELECTED"));
	wire_out_key(&o, STR("skill_done"));
	wire_out_bool(&o, true);
	fcmp_end(&o);
}

void
fcmp_input_required(const struct fcmp_head *h, struct str interaction_id,
    struct str prompt, struct buf *b)
{
	struct wire_out o = { .b = b };

	fcmp_begin(&o, h, "user.input.required");
	fcmp_put(&o, "interaction_id", interaction_id);
	fcmp_put(&o, "kind", STR("free_text"));
	fcmp_put(&o, "prompt", prompt);
	wire_out_key(&o, STR("options"));
	wire_out_array(&o);
	wire_out_array_end(&o);
	fcmp_end(&o);
}

void
fcmp_failed(
    const struct fcmp_head *h, const struct fcmp_error *e, struct buf *b)
{
	struct wire_out o = { .b = b };
	char code[CODE_MAX + 1];
	size_t n;

	for (n = 0; n < CODE_MAX && e->code[n] != '\0'; n++)
		code[n] = (char)toupper((unsigned char)e->code[n]);
	code[n] = '\0';
	fcmp_begin(&o, h, "conversation.failed");
	wire_out_key(&o, STR("error"));
	wire_out_object(&o);
	fcmp_put(&o, "category", str_of(e->category));
	fcmp_put(&o, "code", str_of(code));
	fcmp_put(&o, "message", str_of(e->message));
	wire_out_object_end(&o);
	fcmp_end(&o);
}

void
fcmp_warning(
    const struct fcmp_head *h, const struct fcmp_warning *w, struct buf *b)
{
	struct wire_out o = { .b = b };

	fcmp_begin(&o, h, "diagnostic.warning");
	fcmp_put(&o, "code", str_of(w->code));
	fcmp_put(&o, "message", str_of(w->message));
	if (w->message_id[0] != '\0')
		fcmp_put(&o, "message_id", str_of(w->message_id));
	fcmp_end(&o);
}

void
fcmp_numbered(struct str event, int64_t seq, struct buf *b)
{
	buf_printf(b, "{\"seq\":%" PRId64 ",", seq);
	/* An event is an object, and never empty. */
	buf_put(b, event.p + 1, event.n - 1);
}
