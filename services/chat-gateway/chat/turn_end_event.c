/*
 * Events made of a turn's record.
 */
#include "chat/turn_end_event.h"

#include "fcmp/fcmp_write.h"
#include "wire/wire.h"

enum rc
turn_end_event_text(const struct fcmp_head *h,
    const struct wire_turn_reply *rep, struct buf *text, struct fcmp_event *out)
{
	struct buf payload = BUF_INIT(WIRE_MESSAGE_MAX);
	enum rc rc;

	rc = wire_encode(
	    &wire_chat_response_desc, &rep->response, &payload, NULL);
	buf_reset(text);
	if (rc == RC_OK) {
		fcmp_final(
		    h, h->run_id, rep->response.reply, buf_str(&payload), text);
		rc = fcmp_event_made(
		    h, WIRE_CHAT_EVENT_TYPE_ASSISTANT_MESSAGE_FINAL, text, out);
	}
	buf_free(&payload);
	return rc;
}

enum rc
turn_end_event(const struct fcmp_head *h, const struct wire_turn_reply *rep,
    struct buf *text, struct fcmp_event *out)
{
	struct fcmp_error e = { WIRE_CHAT_EVENT_DATA_ERROR_CATEGORY_RUNTIME,
		STR("INTERNAL"), { NULL, 0 }, false };

	buf_reset(text);
	if (rep->state == WIRE_TURN_REPLY_STATE_COMPLETED) {
		fcmp_completed(h, FCMP_STRUCTURED, text);
		return fcmp_event_made(
		    h, WIRE_CHAT_EVENT_TYPE_CONVERSATION_COMPLETED, text, out);
	}
	if (rep->state == WIRE_TURN_REPLY_STATE_CANCELED) {
		e.code = STR("CANCELED");
		e.message = STR("the turn was canceled");
	} else if (rep->has_error) {
		e.message = rep->error.error;
		if (rep->error.code.n > 0)
			e.code = rep->error.code;
	}
	fcmp_failed(h, &e, text);
	return fcmp_event_made(
	    h, WIRE_CHAT_EVENT_TYPE_CONVERSATION_FAILED, text, out);
}
