/*
 * Events in the format of FCMP/1.0, and the position of a reader among them.
 */
#include "streams/fcmp_event_view.h"

#include <ctype.h>

#include "wire/wire.h"

#define CODE_MAX 65

bool
fcmp_event_ends(enum wire_chat_event_type type)
{
	return type == WIRE_CHAT_EVENT_TYPE_CONVERSATION_COMPLETED ||
	    type == WIRE_CHAT_EVENT_TYPE_CONVERSATION_FAILED ||
	    type == WIRE_CHAT_EVENT_TYPE_USER_INPUT_REQUIRED;
}

enum rc
fcmp_event_decode(struct str json, struct arena *a, struct fcmp_event *out)
{
	struct wire_chat_event m;
	enum rc rc;

	rc = wire_decode(&wire_chat_event_desc, json, a, &m, NULL);
	if (rc == RC_OK)
		*out = (struct fcmp_event){ m.seq, m.run_id, m.type, json };
	return rc;
}

enum rc
fcmp_event_decode_stored(int64_t seq, struct str json, struct buf *text,
    struct arena *a, struct fcmp_event *out)
{
	json = str_trim(json);
	if (json.n < 2 || json.p[0] != '{')
		return RC_INVALID;
	buf_reset(text);
	buf_printf(text, "{\"seq\":%lld,", (long long)seq);
	buf_put(text, json.p + 1, json.n - 1);
	if (buf_rc(text) != RC_OK)
		return RC_TOOBIG;
	return fcmp_event_decode(buf_str(text), a, out);
}

static enum rc
fcmp_event_encode(const struct fcmp_event_origin *p, struct wire_chat_event *m,
    struct buf *text, struct fcmp_event *out)
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
	*out = (struct fcmp_event){ p->seq, p->run_id, m->type, buf_str(text) };
	return rc;
}

static enum rc
fcmp_event_encode_failed(const struct fcmp_event_origin *p, struct str code,
    struct str message, struct buf *text, struct fcmp_event *out)
{
	struct wire_chat_event m = {
		.type = WIRE_CHAT_EVENT_TYPE_CONVERSATION_FAILED,
		.data = { .has_error = true,
		    .error = { .category =
				   WIRE_CHAT_EVENT_DATA_ERROR_CATEGORY_RUNTIME,
			.code = code,
			.message = message } },
	};

	return fcmp_event_encode(p, &m, text, out);
}

enum rc
fcmp_event_lost(const struct fcmp_event_origin *p, bool acted, struct buf *text,
    struct fcmp_event *out)
{
	return fcmp_event_encode_failed(p, STR("TURN_LOST"),
	    acted ? STR(TURN_LOST_ACTED) : STR(TURN_LOST_TEXT), text, out);
}

enum rc
fcmp_event_expired(
    const struct fcmp_event_origin *p, struct buf *text, struct fcmp_event *out)
{
	struct wire_chat_event m = {
		.type = WIRE_CHAT_EVENT_TYPE_DIAGNOSTIC_WARNING,
		.data = { .code = STR("EVENTS_GONE"),
		    .message =
			STR("events before this are not kept any more") },
	};

	return fcmp_event_encode(p, &m, text, out);
}

enum rc
fcmp_event_final(const struct fcmp_event_origin *p,
    const struct wire_turn_reply *rep, struct buf *text, struct fcmp_event *out)
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
		rc = fcmp_event_encode(p, &m, text, out);
	buf_free(&payload);
	return rc;
}

/* Error codes are lower case, codes in events upper case. */
static struct str
fcmp_event_code(struct str code, char dst[CODE_MAX])
{
	size_t i;

	str_copy(code, dst, CODE_MAX);
	for (i = 0; dst[i] != '\0'; i++)
		dst[i] = (char)toupper((unsigned char)dst[i]);
	return str_of(dst);
}

enum rc
fcmp_event_end(const struct fcmp_event_origin *p,
    const struct wire_turn_reply *rep, struct buf *text, struct fcmp_event *out)
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
		return fcmp_event_encode(p, &m, text, out);
	if (rep->state == WIRE_TURN_REPLY_STATE_CANCELED)
		return fcmp_event_encode_failed(p, STR("CANCELED"),
		    STR("the turn was canceled"), text, out);
	if (rep->has_error && rep->error.code.n > 0)
		failed = fcmp_event_code(rep->error.code, code);
	return fcmp_event_encode_failed(p, failed,
	    rep->has_error ? rep->error.error : (struct str){ NULL, 0 }, text,
	    out);
}

/* Largest integer that JSON carries safely. */
#define EVENT_SEQ_MAX 9007199254740991

enum event_cursor_step
event_cursor_live(const struct event_cursor *c, int64_t seq)
{
	if (seq <= c->last)
		return EVENT_CURSOR_DROP;
	return seq == c->last + 1 ? EVENT_CURSOR_SEND : EVENT_CURSOR_READ;
}

bool
event_cursor_take(struct event_cursor *c, int64_t seq)
{
	if (seq <= c->last)
		return false;
	if (seq > c->last + 1)
		c->gap = true;
	c->last = seq;
	return true;
}

bool
event_cursor_end(struct event_cursor *c, int64_t newest)
{
	if (c->last > newest) {
		*c = (struct event_cursor){ .last = 0, .gap = true };
		return newest == 0;
	}
	if (c->last < newest)
		*c = (struct event_cursor){ .last = newest, .gap = true };
	return true;
}

enum rc
event_cursor_parse(struct str header, struct str query, int64_t *after)
{
	struct str text = header.p != NULL ? header : query;

	*after = -1;
	if (text.p == NULL)
		return RC_OK;
	return str_to_i64(text, 0, EVENT_SEQ_MAX, after);
}
