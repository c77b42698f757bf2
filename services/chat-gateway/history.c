/*
 * From a turn's last reply to what became of it.
 */
#include "history.h"

#include "core/buf.h"
#include "state/turn.h"
#include "wire/wire.h"

/* The timeline is kept as the list it is; it is read as a part of a record. */
#define HEAD                                                   \
	"{\"turn_id\":\"t\",\"user_id\":\"u\",\"session_id\":" \
	"\"s\",\"state\":\"running\",\"started_at\":"          \
	"\"1970-01-01T00:00:00Z\",\"timeline\":"

static enum rc
read_timeline(struct str kept, struct arena *a, struct wire_turn_record *out)
{
	struct buf text = BUF_INIT(WIRE_MESSAGE_MAX);
	struct wire_turn_record whole;
	enum rc rc;

	if (kept.p == NULL)
		return RC_OK;
	buf_puts(&text, HEAD);
	buf_put_str(&text, kept);
	buf_putc(&text, '}');
	/* Texts of the message may be those of what it was read from. */
	struct str json = arena_str(a, buf_str(&text));
	buf_free(&text);
	if (json.p == NULL)
		return RC_TOOBIG;
	rc = wire_decode(&wire_turn_record_desc, json, a, &whole, NULL);
	if (rc == RC_OK) {
		out->timeline = whole.timeline;
		out->n_timeline = whole.n_timeline;
		out->has_timeline = true;
	}
	return rc;
}

/* It ended with the last of its stages. */
static void
put_total(struct wire_turn_record *out)
{
	size_t i;

	for (i = 0; i < out->n_timeline; i++) {
		const struct wire_turn_record_timeline *s = &out->timeline[i];
		double end = s->start_ms + (s->has_ms ? s->ms : 0);

		if (!out->has_total_ms || end > out->total_ms)
			out->total_ms = end;
		out->has_total_ms = true;
	}
}

static enum rc
put_end(const struct turn_record *rec, struct arena *a,
    struct wire_turn_record *out)
{
	struct wire_turn_reply rep;
	enum rc rc;

	rc = wire_decode(&wire_turn_reply_desc, rec->reply, a, &rep, NULL);
	if (rc != RC_OK)
		return rc;
	switch (rep.state) {
	case WIRE_TURN_REPLY_STATE_COMPLETED:
		out->state = WIRE_TURN_RECORD_STATE_COMPLETED;
		break;
	case WIRE_TURN_REPLY_STATE_FAILED:
		out->state = WIRE_TURN_RECORD_STATE_FAILED;
		if (rep.has_error)
			out->code = rep.error.code;
		break;
	case WIRE_TURN_REPLY_STATE_CANCELED:
		out->state = WIRE_TURN_RECORD_STATE_CANCELED;
		break;
	default:
		return RC_INVALID;
	}
	rc = read_timeline(rec->timeline, a, out);
	if (rc == RC_OK)
		put_total(out);
	return rc;
}

enum rc
history_put(const struct turn_record *rec, struct str id, struct wall now,
    struct arena *a, struct wire_turn_record *out)
{
	char at[WALL_FORMAT_MAX];

	wall_format(rec->started, 0, at);
	*out = (struct wire_turn_record){ .turn_id = id,
		.user_id = rec->user_id,
		.session_id = rec->session_id,
		.trace_id = rec->trace_id,
		.instance = rec->instance,
		.state = WIRE_TURN_RECORD_STATE_LOST,
		.started_at = arena_str(a, str_of(at)) };
	if (out->trace_id.n == 0)
		out->trace_id = (struct str){ NULL, 0 };
	if (out->started_at.p == NULL)
		return RC_TOOBIG;
	if (rec->state == TURN_STATE_ENDED)
		return put_end(rec, a, out);
	if (rec->state == TURN_STATE_OPEN) {
		out->state = WIRE_TURN_RECORD_STATE_RUNNING;
		out->has_total_ms = true;
		if (now.ms > rec->started.ms)
			out->total_ms = (double)(now.ms - rec->started.ms);
	}
	return RC_OK;
}
