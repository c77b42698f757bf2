/*
 * Events in the words of FCMP/1.0.
 */
#include "event.h"

#include <ctype.h>

#include "wire/wire.h"

#define CODE_MAX 65

bool
event_ends(enum wire_chat_event_type type)
{
	return type == WIRE_CHAT_EVENT_TYPE_CONVERSATION_COMPLETED ||
	    type == WIRE_CHAT_EVENT_TYPE_CONVERSATION_FAILED ||
	    type == WIRE_CHAT_EVENT_TYPE_USER_INPUT_REQUIRED;
}

enum rc
event_read(struct str json, struct arena *a, struct event *out)
{
	struct wire_chat_event m;
	enum rc rc;

	rc = wire_decode(&wire_chat_event_desc, json, a, &m, NULL);
	if (rc == RC_OK)
		*out = (struct event){ m.seq, m.run_id, m.type, json };
	return rc;
}

enum rc
event_number(int64_t seq, struct str json, struct buf *text, struct arena *a,
    struct event *out)
{
	json = str_trim(json);
	if (json.n < 2 || json.p[0] != '{')
		return RC_INVALID;
	buf_reset(text);
	buf_printf(text, "{\"seq\":%lld,", (long long)seq);
	buf_put(text, json.p + 1, json.n - 1);
	if (buf_rc(text) != RC_OK)
		return RC_TOOBIG;
	return event_read(buf_str(text), a, out);
}

static enum rc
write_event(const struct event_place *p, struct wire_chat_event *m,
    struct buf *text, struct event *out)
{
	char at[WALL_FORMAT_MAX];
	enum rc rc;

	wall_format(p->at, 0, at);
	m->protocol_version = WIRE_CHAT_EVENT_PROTOCOL_VERSION_FCMP_1_0;
	m->run_id = p->run_id;
	m->seq = p->seq;
	m->ts = str_of(at);
	m->engine = STR("soul");
	m->session_id = p->session_id;
	buf_reset(text);
	rc = wire_encode(&wire_chat_event_desc, m, text, NULL);
	*out = (struct event){ p->seq, p->run_id, m->type, buf_str(text) };
	return rc;
}

static enum rc
write_failed(const struct event_place *p, struct str code, struct str message,
    struct buf *text, struct event *out)
{
	struct wire_chat_event m = {
		.type = WIRE_CHAT_EVENT_TYPE_CONVERSATION_FAILED,
		.data = { .has_error = true,
		    .error = { .category =
				   WIRE_CHAT_EVENT_DATA_ERROR_CATEGORY_RUNTIME,
			.code = code,
			.message = message } },
	};

	return write_event(p, &m, text, out);
}

enum rc
event_lost(const struct event_place *p, struct buf *text, struct event *out)
{
	return write_failed(
	    p, STR("TURN_LOST"), STR("the turn was lost"), text, out);
}

enum rc
event_gone(const struct event_place *p, struct buf *text, struct event *out)
{
	struct wire_chat_event m = {
		.type = WIRE_CHAT_EVENT_TYPE_DIAGNOSTIC_WARNING,
		.data = { .code = STR("EVENTS_GONE"),
		    .message =
			STR("events before this are not kept any more") },
	};

	return write_event(p, &m, text, out);
}

enum rc
event_final(const struct event_place *p, const struct wire_turn_reply *rep,
    struct buf *text, struct event *out)
{
	struct wire_chat_event m = {
		.type = WIRE_CHAT_EVENT_TYPE_ASSISTANT_MESSAGE_FINAL,
		.data = { .message_id = p->run_id,
		    .text = rep->response.reply },
	};
	struct buf payload = BUF_INIT(WIRE_MESSAGE_MAX);
	enum rc rc;

	rc = wire_encode(
	    &wire_chat_response_desc, &rep->response, &payload, NULL);
	m.data.structured_payload = buf_str(&payload);
	if (rc == RC_OK)
		rc = write_event(p, &m, text, out);
	buf_free(&payload);
	return rc;
}

/* Codes of errors are lower case, those of events upper. */
static struct str
upper(struct str code, char dst[CODE_MAX])
{
	size_t i;

	str_copy(code, dst, CODE_MAX);
	for (i = 0; dst[i] != '\0'; i++)
		dst[i] = (char)toupper((unsigned char)dst[i]);
	return str_of(dst);
}

enum rc
event_end(const struct event_place *p, const struct wire_turn_reply *rep,
    struct buf *text, struct event *out)
{
	struct wire_chat_event m = {
		.type = WIRE_CHAT_EVENT_TYPE_CONVERSATION_COMPLETED,
		.data = { .has_state = true,
		    .state = WIRE_CHAT_EVENT_DATA_STATE_COMPLETED,
		    .reason_code = STR("FINAL_STRUCTURED_OUTPUT_SELECTED"),
		    .has_skill_done = true,
		    .skill_done = true },
	};
	struct str failed = STR("INTERNAL");
	char code[CODE_MAX];

	if (rep->state == WIRE_TURN_REPLY_STATE_COMPLETED)
		return write_event(p, &m, text, out);
	if (rep->state == WIRE_TURN_REPLY_STATE_CANCELED)
		return write_failed(p, STR("CANCELED"),
		    STR("the turn was canceled"), text, out);
	if (rep->has_error && rep->error.code.n > 0)
		failed = upper(rep->error.code, code);
	return write_failed(p, failed,
	    rep->has_error ? rep->error.error : (struct str){ NULL, 0 }, text,
	    out);
}
