/*
 * One function per type of event.
 */
#include "say.h"

#include <ctype.h>
#include <inttypes.h>

#include "wire/out.h"

#define CODE_MAX 64

static void
put(struct wire_out *o, const char *key, struct str value)
{
	wire_out_key(o, str_of(key));
	wire_out_str(o, value);
}

static void
begin(struct wire_out *o, const struct say *s, const char *type)
{
	wire_out_object(o);
	put(o, "protocol_version", STR("fcmp/1.0"));
	put(o, "run_id", s->turn_id);
	put(o, "ts", s->now);
	put(o, "engine", STR("soul"));
	put(o, "session_id", s->session_id);
	put(o, "type", str_of(type));
	wire_out_key(o, STR("data"));
	wire_out_object(o);
}

static void
end(struct wire_out *o)
{
	wire_out_object_end(o);
	wire_out_object_end(o);
}

void
say_started(const struct say *s, struct buf *b)
{
	struct wire_out o = { .b = b };

	begin(&o, s, "conversation.started");
	put(&o, "mode", STR("interactive"));
	end(&o);
}

void
say_delta(
    const struct say *s, struct str message_id, struct str text, struct buf *b)
{
	struct wire_out o = { .b = b };

	begin(&o, s, "assistant.message.delta");
	put(&o, "message_id", message_id);
	put(&o, "text_delta", text);
	end(&o);
}

void
say_final(const struct say *s, struct str message_id, struct str text,
    struct str payload, struct buf *b)
{
	struct wire_out o = { .b = b };

	begin(&o, s, "assistant.message.final");
	put(&o, "message_id", message_id);
	put(&o, "text", text);
	wire_out_key(&o, STR("structured_payload"));
	if (payload.p != NULL)
		wire_out_raw(&o, payload);
	else
		wire_out_null(&o);
	end(&o);
}

void
say_completed(const struct say *s, struct buf *b)
{
	struct wire_out o = { .b = b };

	begin(&o, s, "conversation.completed");
	put(&o, "state", STR("completed"));
	put(&o, "reason_code", STR("FINAL_STRUCTURED_OUTPUT_SELECTED"));
	wire_out_key(&o, STR("skill_done"));
	wire_out_bool(&o, true);
	end(&o);
}

void
say_asks(const struct say *s, struct str interaction_id, struct str prompt,
    struct buf *b)
{
	struct wire_out o = { .b = b };

	begin(&o, s, "user.input.required");
	put(&o, "interaction_id", interaction_id);
	put(&o, "kind", STR("free_text"));
	put(&o, "prompt", prompt);
	wire_out_key(&o, STR("options"));
	wire_out_array(&o);
	wire_out_array_end(&o);
	end(&o);
}

void
say_failed(const struct say *s, const struct say_fault *f, struct buf *b)
{
	struct wire_out o = { .b = b };
	char code[CODE_MAX + 1];
	size_t n;

	for (n = 0; n < CODE_MAX && f->code[n] != '\0'; n++)
		code[n] = (char)toupper((unsigned char)f->code[n]);
	code[n] = '\0';
	begin(&o, s, "conversation.failed");
	wire_out_key(&o, STR("error"));
	wire_out_object(&o);
	put(&o, "category", str_of(f->category));
	put(&o, "code", str_of(code));
	put(&o, "message", str_of(f->message));
	wire_out_object_end(&o);
	end(&o);
}

void
say_warning(const struct say *s, const struct say_warning *w, struct buf *b)
{
	struct wire_out o = { .b = b };

	begin(&o, s, "diagnostic.warning");
	put(&o, "code", str_of(w->code));
	put(&o, "message", str_of(w->message));
	if (w->message_id[0] != '\0')
		put(&o, "message_id", str_of(w->message_id));
	end(&o);
}

void
say_numbered(struct str event, int64_t seq, struct buf *b)
{
	buf_printf(b, "{\"seq\":%" PRId64 ",", seq);
	/* An event is an object, and never empty. */
	buf_put(b, event.p + 1, event.n - 1);
}
