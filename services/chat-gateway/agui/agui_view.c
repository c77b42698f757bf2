/*
 * A run is open from its start to its end, a message within it.
 */
#include "agui/agui_view.h"

#include "core/buf.h"
#include "wire/wire.h"

/* A conversion, and its first error. */
struct agui_out {
	struct agui *g;
	struct arena *a;
	struct agui_events *out;
	struct str thread, run;
	enum rc rc;
};

static void
agui_put(struct agui_out *o, const struct wire_agui_event *e)
{
	struct buf b = BUF_INIT(WIRE_MESSAGE_MAX);
	struct str json;

	if (o->rc == RC_OK)
		o->rc = wire_encode(&wire_agui_event_desc, e, &b, NULL);
	if (o->rc == RC_OK) {
		json = arena_str(o->a, buf_str(&b));
		if (json.p == NULL || o->out->n == AGUI_EVENTS_MAX)
			o->rc = RC_TOOBIG;
		else
			o->out->json[o->out->n++] = json;
	}
	buf_free(&b);
}

static void
agui_open_run(struct agui_out *o)
{
	if (o->g->open)
		return;
	o->g->open = true;
	agui_put(o,
	    &(struct wire_agui_event){ .type = STR("RUN_STARTED"),
		.threadid = o->thread,
		.runid = o->run });
}

static void
agui_close_message(struct agui_out *o)
{
	if (o->g->message[0] == '\0')
		return;
	agui_put(o,
	    &(struct wire_agui_event){ .type = STR("TEXT_MESSAGE_END"),
		.messageid = str_of(o->g->message) });
	o->g->message[0] = '\0';
}

static void
agui_open_message(struct agui_out *o, struct str id)
{
	if (str_eq(str_of(o->g->message), id))
		return;
	agui_close_message(o);
	str_copy(id, o->g->message, sizeof(o->g->message));
	o->g->sent = 0;
	agui_put(o,
	    &(struct wire_agui_event){ .type = STR("TEXT_MESSAGE_START"),
		.messageid = id,
		.role = STR("assistant") });
}

static void
agui_put_text(struct agui_out *o, struct str text)
{
	if (text.n == 0)
		return;
	o->g->sent += text.n;
	agui_put(o,
	    &(struct wire_agui_event){ .type = STR("TEXT_MESSAGE_CONTENT"),
		.messageid = str_of(o->g->message),
		.delta = text });
}

/* The text that is missing, and what was done. */
static void
agui_put_final(struct agui_out *o, const struct wire_chat_event_data *d)
{
	struct str text = d->text;

	if (text.n > 0) {
		agui_open_message(o, d->message_id);
		if (o->g->sent < text.n)
			agui_put_text(o,
			    (struct str){
				text.p + o->g->sent, text.n - o->g->sent });
	}
	agui_close_message(o);
	if (d->structured_payload.n > 0 && d->structured_payload.p[0] == '{')
		agui_put(o,
		    &(struct wire_agui_event){ .type = STR("CUSTOM"),
			.name = STR("soul.reply"),
			.value = d->structured_payload });
}

static void
agui_close_run(
    struct agui_out *o, const struct wire_agui_event_outcome *outcome)
{
	agui_close_message(o);
	agui_put(o,
	    &(struct wire_agui_event){ .type = STR("RUN_FINISHED"),
		.threadid = o->thread,
		.runid = o->run,
		.has_outcome = true,
		.outcome = *outcome });
	o->g->open = false;
}

static void
agui_put_question(struct agui_out *o, const struct wire_chat_event_data *d)
{
	struct wire_agui_event_outcome_interrupts question = {
		.id = d->interaction_id,
		.reason = STR("input_required"),
		.message = d->prompt,
	};

	agui_close_run(o,
	    &(struct wire_agui_event_outcome){ .type = STR("interrupt"),
		.has_interrupts = true,
		.interrupts = &question,
		.n_interrupts = 1 });
}

static void
agui_put_error(struct agui_out *o, struct str message, struct str code)
{
	agui_close_message(o);
	agui_put(o,
	    &(struct wire_agui_event){ .type = STR("RUN_ERROR"),
		.message = message.n > 0 ? message : code,
		.code = code });
	o->g->open = false;
}

static void
agui_put_warning(struct agui_out *o, const struct wire_chat_event_data *d)
{
	struct buf b = BUF_INIT(WIRE_MESSAGE_MAX);

	buf_printf(&b, "\"%.*s\"", STR_ARG(d->code));
	agui_put(o,
	    &(struct wire_agui_event){ .type = STR("CUSTOM"),
		.name = STR("soul.warning"),
		.value = buf_str(&b) });
	buf_free(&b);
}

enum rc
agui_convert(struct agui *g, const struct wire_chat_event *e, struct arena *a,
    struct agui_events *out)
{
	struct agui_out o = { .g = g,
		.a = a,
		.out = out,
		.thread = g->thread.n > 0 ? g->thread : e->session_id,
		.run = g->run.n > 0 ? g->run : e->run_id };
	const struct wire_chat_event_data *d = &e->data;

	out->n = 0;
	/* Of what was removed before it, there may be no run. */
	if (e->type == WIRE_CHAT_EVENT_TYPE_USER_INPUT_REPLIED ||
	    (e->type == WIRE_CHAT_EVENT_TYPE_DIAGNOSTIC_WARNING && !g->open))
		return RC_OK;
	/* An engine's session is not known at first. */
	if (o.thread.n == 0)
		o.thread = o.run;
	agui_open_run(&o);
	switch (e->type) {
	case WIRE_CHAT_EVENT_TYPE_CONVERSATION_STARTED:
	case WIRE_CHAT_EVENT_TYPE_USER_INPUT_REPLIED:
		break;
	case WIRE_CHAT_EVENT_TYPE_ASSISTANT_MESSAGE_DELTA:
		agui_open_message(&o, d->message_id);
		agui_put_text(&o, d->text_delta);
		break;
	case WIRE_CHAT_EVENT_TYPE_ASSISTANT_MESSAGE_FINAL:
		agui_put_final(&o, d);
		break;
	case WIRE_CHAT_EVENT_TYPE_USER_INPUT_REQUIRED:
		agui_put_question(&o, d);
		break;
	case WIRE_CHAT_EVENT_TYPE_CONVERSATION_COMPLETED:
		agui_close_run(&o,
		    &(struct wire_agui_event_outcome){
			.type = STR("success") });
		break;
	case WIRE_CHAT_EVENT_TYPE_CONVERSATION_FAILED:
		agui_put_error(&o, d->error.message, d->error.code);
		break;
	case WIRE_CHAT_EVENT_TYPE_DIAGNOSTIC_WARNING:
		agui_put_warning(&o, d);
		break;
	}
	return o.rc;
}

enum rc
agui_convert_error(struct agui *g, const struct wire_error *e, struct arena *a,
    struct agui_events *out)
{
	struct agui_out o = { .g = g, .a = a, .out = out };

	out->n = 0;
	agui_put_error(&o, e->error, e->code);
	return o.rc;
}
