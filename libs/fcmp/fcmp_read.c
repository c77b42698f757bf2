/*
 * Events as readers see them.
 */
#include "fcmp/fcmp_read.h"

#include "wire/wire.h"

bool
fcmp_event_ends_run(enum wire_chat_event_type type)
{
	return type == WIRE_CHAT_EVENT_TYPE_CONVERSATION_COMPLETED ||
	    type == WIRE_CHAT_EVENT_TYPE_CONVERSATION_FAILED;
}

bool
fcmp_event_ends_turn(enum wire_chat_event_type type)
{
	return fcmp_event_ends_run(type) ||
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
fcmp_event_decode_unnumbered(int64_t seq, struct str json, struct buf *text,
    struct arena *a, struct fcmp_event *out)
{
	json = str_trim(json);
	if (json.n < 2 || json.p[0] != '{')
		return RC_INVALID;
	buf_reset(text);
	fcmp_number(json, seq, text);
	if (buf_rc(text) != RC_OK)
		return RC_TOOBIG;
	return fcmp_event_decode(buf_str(text), a, out);
}

enum rc
fcmp_event_made(const struct fcmp_head *h, enum wire_chat_event_type type,
    const struct buf *text, struct fcmp_event *out)
{
	*out = (struct fcmp_event){ h->seq, h->run_id, type, buf_str(text) };
	return buf_rc(text);
}

enum rc
fcmp_event_lost(const struct fcmp_head *h, bool acted, struct buf *text,
    struct fcmp_event *out)
{
	const struct fcmp_error e = {
		WIRE_CHAT_EVENT_DATA_ERROR_CATEGORY_RUNTIME, STR("TURN_LOST"),
		acted ? STR(FCMP_TURN_LOST_ACTED) : STR(FCMP_TURN_LOST_TEXT),
		!acted
	};

	buf_reset(text);
	fcmp_failed(h, &e, text);
	return fcmp_event_made(
	    h, WIRE_CHAT_EVENT_TYPE_CONVERSATION_FAILED, text, out);
}

enum rc
fcmp_event_expired(
    const struct fcmp_head *h, struct buf *text, struct fcmp_event *out)
{
	const struct fcmp_warning w = { .code = STR("EVENTS_GONE"),
		.message = STR("events before this are not kept any more") };

	buf_reset(text);
	fcmp_warning(h, &w, text);
	return fcmp_event_made(
	    h, WIRE_CHAT_EVENT_TYPE_DIAGNOSTIC_WARNING, text, out);
}
