/*
 * A message is one item with one part.
 */
#include "openai/responses_view.h"

#include "core/buf.h"
#include "state/turn.h"
#include "wire/wire.h"

#define NONE ((struct str){ NULL, 0 })
/* Numbers for the events that one of ours becomes. */
#define NUMBERS 16

/* ---- responses ---- */

void
responses_put(const struct openai_head *h, struct str session,
    struct str status, struct wire_openai_response *out)
{
	*out = (struct wire_openai_response){ .id = h->id,
		.object = STR("response"),
		.created_at = h->created,
		.status = status,
		.model = h->model,
		.has_metadata = true,
		.metadata = { session } };
}

static struct wire_openai_output_item
responses_item(struct str id, struct str status)
{
	return (struct wire_openai_output_item){ .id = id,
		.type = STR("message"),
		.role = STR("assistant"),
		.status = status };
}

static struct wire_openai_output_part
responses_part(struct str text)
{
	return (struct wire_openai_output_part){ .type = STR("output_text"),
		.text = text };
}

static void
responses_put_message(const struct responses_message *m,
    struct responses_parts *parts, struct wire_openai_response *out)
{
	parts->part = responses_part(m->text);
	parts->item = responses_item(m->id, STR("completed"));
	parts->item.content = &parts->part;
	parts->item.n_content = 1;
	out->output = &parts->item;
	out->n_output = 1;
	out->soul = m->soul;
}

static void
responses_put_error(
    struct str message, struct str code, struct wire_openai_response *out)
{
	out->has_error = true;
	out->error = (struct wire_openai_response_error){ .code = code,
		.message = message.n > 0 ? message : code };
}

enum rc
responses_put_reply(const struct wire_chat_response *reply, struct arena *a,
    struct responses_parts *parts, struct wire_openai_response *out)
{
	struct responses_message m = { .id = out->id, .text = reply->reply };
	struct buf b = BUF_INIT(WIRE_MESSAGE_MAX);
	enum rc rc = wire_encode(&wire_chat_response_desc, reply, &b, NULL);

	m.soul = arena_str(a, buf_str(&b));
	if (rc == RC_OK && m.soul.p == NULL)
		rc = RC_TOOBIG;
	responses_put_message(&m, parts, out);
	buf_free(&b);
	return rc;
}

static enum rc
responses_put_end(const struct wire_turn_reply *rep, struct arena *a,
    struct responses_parts *parts, struct wire_openai_response *out)
{
	if (rep->state == WIRE_TURN_REPLY_STATE_CANCELED) {
		out->status = STR("cancelled");
	} else if (rep->state == WIRE_TURN_REPLY_STATE_FAILED) {
		out->status = STR("failed");
		responses_put_error(rep->error.error, rep->error.code, out);
	} else if (rep->has_response) {
		out->status = STR("completed");
		return responses_put_reply(&rep->response, a, parts, out);
	} else {
		return RC_INVALID;
	}
	return RC_OK;
}

enum rc
responses_put_record(const struct openai_head *h, const struct turn_record *rec,
    struct arena *a, struct responses_parts *parts,
    struct wire_openai_response *out)
{
	struct wire_turn_reply rep;
	enum rc rc;

	responses_put(h, rec->session_id, STR("in_progress"), out);
	if (rec->state == TURN_STATE_OPEN)
		return RC_OK;
	if (rec->state == TURN_STATE_LOST) {
		out->status = STR("failed");
		responses_put_error(
		    STR("the turn was lost"), STR("turn_lost"), out);
		return RC_OK;
	}
	rc = wire_decode(&wire_turn_reply_desc, rec->reply, a, &rep, NULL);
	return rc == RC_OK ? responses_put_end(&rep, a, parts, out) : rc;
}

/* ---- events ---- */

static void
responses_send(
    struct responses *r, struct str type, struct wire_openai_response_event *e)
{
	struct buf b = BUF_INIT(WIRE_MESSAGE_MAX);

	e->type = type;
	e->sequence_number = r->number++;
	if (r->rc == RC_OK && e->sequence_number > r->after) {
		r->rc =
		    wire_encode(&wire_openai_response_event_desc, e, &b, NULL);
		if (r->rc == RC_OK)
			r->rc = r->send(r->arg, type, buf_str(&b));
	}
	buf_free(&b);
}

static void
responses_send_state(struct responses *r, struct str type, struct str status)
{
	struct wire_openai_response_event e = { .has_response = true };

	responses_put(&r->head, r->session, status, &e.response);
	responses_send(r, type, &e);
}

static void
responses_begin(struct responses *r)
{
	const struct str status = STR("in_progress");

	if (r->begun)
		return;
	r->begun = true;
	responses_send_state(r, STR("response.created"), status);
	responses_send_state(r, STR("response.in_progress"), status);
}

static void
responses_send_item(struct responses *r, struct str type, struct str status,
    struct wire_openai_output_part *part)
{
	struct wire_openai_response_event e = { .has_output_index = true,
		.output_index = r->index,
		.has_item = true,
		.item = responses_item(str_of(r->message), status) };

	e.item.content = part;
	e.item.n_content = part != NULL;
	responses_send(r, type, &e);
}

/* An event within the open item. */
static struct wire_openai_response_event
responses_within(const struct responses *r)
{
	return (struct wire_openai_response_event){ .has_output_index = true,
		.output_index = r->index,
		.has_content_index = true,
		.item_id = str_of(r->message) };
}

static void
responses_send_part(struct responses *r, struct str type, struct str text)
{
	struct wire_openai_response_event e = responses_within(r);

	e.has_part = true;
	e.part = responses_part(text);
	responses_send(r, type, &e);
}

/* Text that was sent of another message is withdrawn. */
static void
responses_open_message(struct responses *r, struct str id)
{
	if (str_eq(str_of(r->message), id))
		return;
	if (r->message[0] != '\0') {
		responses_send_item(r, STR("response.output_item.done"),
		    STR("incomplete"), NULL);
		r->index++;
	}
	str_copy(id, r->message, sizeof(r->message));
	r->sent = 0;
	responses_send_item(
	    r, STR("response.output_item.added"), STR("in_progress"), NULL);
	responses_send_part(r, STR("response.content_part.added"), STR(""));
}

static void
responses_send_delta(struct responses *r, struct str text)
{
	struct wire_openai_response_event e = responses_within(r);

	if (text.n == 0)
		return;
	r->sent += text.n;
	e.delta = text;
	responses_send(r, STR("response.output_text.delta"), &e);
}

static void
responses_copy(
    struct responses *r, struct str id, struct str text, struct str soul)
{
	r->whole = (struct responses_message){ arena_str(r->lasting, id),
		arena_str(r->lasting, text), arena_str(r->lasting, soul) };
	if (r->whole.id.p == NULL || r->whole.text.p == NULL ||
	    (soul.p != NULL && r->whole.soul.p == NULL))
		r->rc = RC_TOOBIG;
}

/* The text that is missing, and the end of the message. */
static void
responses_end_message(
    struct responses *r, struct str id, struct str text, struct str soul)
{
	struct wire_openai_response_event e;
	struct wire_openai_output_part part = responses_part(text);

	responses_open_message(r, id);
	if (r->sent < text.n)
		responses_send_delta(
		    r, (struct str){ text.p + r->sent, text.n - r->sent });
	e = responses_within(r);
	e.text = text;
	responses_send(r, STR("response.output_text.done"), &e);
	responses_send_part(r, STR("response.content_part.done"), text);
	responses_send_item(
	    r, STR("response.output_item.done"), STR("completed"), &part);
	/* What is no object says nothing. */
	responses_copy(
	    r, id, text, soul.n > 0 && soul.p[0] == '{' ? soul : NONE);
	r->message[0] = '\0';
	r->index++;
}

static void
responses_complete(struct responses *r)
{
	struct wire_openai_response_event e = { .has_response = true };
	struct responses_parts parts;

	responses_put(&r->head, r->session, STR("completed"), &e.response);
	if (r->whole.id.p != NULL)
		responses_put_message(&r->whole, &parts, &e.response);
	responses_send(r, STR("response.completed"), &e);
}

static void
responses_fail(struct responses *r, struct str message, struct str code)
{
	struct wire_openai_response_event e = { .has_response = true };
	const bool canceled = str_eq_nocase(code, STR("canceled"));

	responses_put(&r->head, r->session,
	    canceled ? STR("cancelled") : STR("failed"), &e.response);
	responses_put_error(message, code, &e.response);
	responses_send(r, STR("response.failed"), &e);
}

enum rc
responses_convert(struct responses *r, const struct wire_chat_event *e)
{
	const struct wire_chat_event_data *d = &e->data;
	int64_t number;

	if (e->type == WIRE_CHAT_EVENT_TYPE_DIAGNOSTIC_WARNING ||
	    e->type == WIRE_CHAT_EVENT_TYPE_USER_INPUT_REPLIED)
		return RC_OK;
	number = e->seq * NUMBERS;
	if (number > r->number)
		r->number = number;
	responses_begin(r);
	switch (e->type) {
	case WIRE_CHAT_EVENT_TYPE_ASSISTANT_MESSAGE_DELTA:
		responses_open_message(r, d->message_id);
		responses_send_delta(r, d->text_delta);
		break;
	case WIRE_CHAT_EVENT_TYPE_ASSISTANT_MESSAGE_FINAL:
		responses_end_message(
		    r, d->message_id, d->text, d->structured_payload);
		break;
	case WIRE_CHAT_EVENT_TYPE_USER_INPUT_REQUIRED:
		if (r->whole.id.p == NULL)
			responses_end_message(
			    r, d->interaction_id, d->prompt, NONE);
		responses_complete(r);
		break;
	case WIRE_CHAT_EVENT_TYPE_CONVERSATION_COMPLETED:
		responses_complete(r);
		break;
	case WIRE_CHAT_EVENT_TYPE_CONVERSATION_FAILED:
		responses_fail(r, d->error.message, d->error.code);
		break;
	case WIRE_CHAT_EVENT_TYPE_CONVERSATION_STARTED:
	case WIRE_CHAT_EVENT_TYPE_USER_INPUT_REPLIED:
	case WIRE_CHAT_EVENT_TYPE_DIAGNOSTIC_WARNING:
		break;
	}
	return r->rc;
}

enum rc
responses_convert_error(struct responses *r, const struct wire_error *e)
{
	responses_fail(r, e->error, e->code);
	return r->rc;
}
