/*
 * GET /v1/turns/{turn_id} and POST /v1/turns/{turn_id}/cancel.
 */
#include "chat/chat_turn.h"

#include <stdio.h>

#include "bus/bus.h"
#include "caller.h"
#include "core/arena.h"
#include "core/buf.h"
#include "core/fiber.h"
#include "core/id.h"
#include "core/log.h"
#include "gateway.h"
#include "handlers.h"
#include "state/turn.h"
#include "svc/svc.h"
#include "wire/msgs.h"
#include "wire/subjects.h"
#include "wire/wire.h"

/* The stored timeline is a bare array; it is decoded as part of a record. */
#define TIMELINE_HEAD                                          \
	"{\"turn_id\":\"t\",\"user_id\":\"u\",\"session_id\":" \
	"\"s\",\"state\":\"running\",\"started_at\":"          \
	"\"1970-01-01T00:00:00Z\",\"timeline\":"

static enum rc
turn_view_timeline(
    struct str stored, struct arena *a, struct wire_turn_record *out)
{
	struct buf text = BUF_INIT(WIRE_MESSAGE_MAX);
	struct wire_turn_record whole;
	enum rc rc;

	if (stored.p == NULL)
		return RC_OK;
	buf_puts(&text, TIMELINE_HEAD);
	buf_put_str(&text, stored);
	buf_putc(&text, '}');
	/* The decoded message refers to the text it was decoded from. */
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

/* The commit had not ended when the timeline was stored. */
static void
turn_view_commit(int64_t us, struct wire_turn_record *out)
{
	size_t i;

	for (i = 0; i < out->n_timeline && us > 0; i++) {
		struct wire_turn_record_timeline *s = &out->timeline[i];

		if (s->has_ms || !str_eq(s->stage, STR("commit")))
			continue;
		s->ms = (double)us / 1000;
		s->has_ms = true;
		s->outcome = STR("ok");
	}
}

/* The total is the end of the last span. */
static void
turn_view_total(struct wire_turn_record *out)
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
turn_view_end(const struct turn_record *rec, struct arena *a,
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
	rc = turn_view_timeline(rec->timeline, a, out);
	if (rc == RC_OK) {
		turn_view_commit(rec->commit_us, out);
		turn_view_total(out);
	}
	return rc;
}

enum rc
turn_view_put(const struct turn_record *rec, struct str id, struct wall now,
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
		return turn_view_end(rec, a, out);
	if (rec->state == TURN_STATE_OPEN) {
		out->state = WIRE_TURN_RECORD_STATE_RUNNING;
		out->has_total_ms = true;
		if (now.ms > rec->started.ms)
			out->total_ms = (double)(now.ms - rec->started.ms);
	}
	return RC_OK;
}

#define NOT_FOUND "turn not found"

/* A call that waits for the process that runs the turn. */
struct turn_query {
	struct gateway *g;
	struct svc_call *c;
	struct turn_record rec;
	struct str id;
};

/*
 * The turn in the path, if it belongs to the user of the request.  NULL: c has
 * been ended.
 */
static struct turn_query *
turns_find(struct gateway *g, struct svc_call *c, struct str named)
{
	struct arena *a = svc_call_arena(c);
	struct turn_query *k = arena_alloc(a, sizeof(*k));
	struct str user;
	enum rc rc;

	*k = (struct turn_query){ .g = g, .c = c, .id = svc_call_param(c, 0) };
	if (!caller_user(g, c, named, &user) ||
	    !gateway_id(c, k->id, "turn_id"))
		return NULL;
	rc = turn_record_read(g->state, user, k->id, a, &k->rec);
	if (rc != RC_OK)
		gateway_fail(c, rc);
	else if (!k->rec.known || !str_eq(k->rec.user_id, user))
		svc_fail(c, RC_NOENT, NOT_FOUND);
	else
		return k;
	return NULL;
}

/* ---- GET ---- */

static void
turns_reply_record(struct turn_query *k)
{
	struct wire_turn_record out;
	enum rc rc = turn_view_put(
	    &k->rec, k->id, clock_wall(), svc_call_arena(k->c), &out);

	if (rc == RC_OK)
		svc_reply(k->c, &out);
	else
		gateway_fail(k->c, rc);
}

/* No process runs it any more: the record may have been updated. */
static void
turns_reply_stored(void *arg)
{
	struct turn_query *k = arg;
	enum rc rc = turn_record_read(
	    k->g->state, k->rec.user_id, k->id, svc_call_arena(k->c), &k->rec);

	if (rc != RC_OK)
		gateway_fail(k->c, rc);
	else if (!k->rec.known)
		svc_fail(k->c, RC_NOENT, NOT_FOUND);
	else
		turns_reply_record(k);
}

static void
turns_on_reply(void *arg, enum rc rc, struct str data)
{
	struct turn_query *k = arg;
	struct wire_turn_record out;

	log_trace_set(svc_call_trace(k->c)->trace_id);
	if (rc == RC_OK)
		rc = wire_decode(&wire_turn_record_desc, data,
		    svc_call_arena(k->c), &out, NULL);
	if (rc == RC_OK && str_eq(out.turn_id, k->id) &&
	    str_eq(out.user_id, k->rec.user_id))
		svc_reply(k->c, &out);
	else
		fiber_start(turns_reply_stored, k);
	log_trace_set("");
}

static enum rc
turns_query(struct turn_query *k)
{
	struct wire_turn_show_request req = { .turn_id = k->id };
	struct bus_meta meta = {
		.deadline = { clock_wall().ms + WIRE_DEADLINE_MS_TURN_SHOW },
		.trace = svc_call_trace(k->c),
	};
	char token[ID_TOKEN_MAX], subject[ID_TOKEN_MAX + 64];
	struct buf out = BUF_INIT(8192);
	enum rc rc;

	rc = id_token(k->rec.instance, token);
	if (rc == RC_OK)
		rc =
		    wire_encode(&wire_turn_show_request_desc, &req, &out, NULL);
	if (rc == RC_OK) {
		(void)snprintf(subject, sizeof(subject),
		    WIRE_SUBJECT_FMT_TURN_SHOW, token);
		rc = bus_request(svc_bus(k->g->svc), subject, buf_str(&out),
		    &meta,
		    (struct bus_reply_handler){
			.fn = turns_on_reply, .arg = k },
		    NULL);
	}
	buf_free(&out);
	return rc;
}

void
on_turns_get(void *app, struct svc_call *c)
{
	struct gateway *g = app;
	struct str id = svc_call_param(c, 0), user;

	/* Details outlive the record. */
	if (!caller_query_user(g, c, &user) || !gateway_id(c, id, "turn_id") ||
	    turn_detail_reply(g, c, user, id))
		return;
	struct turn_query *k = turns_find(g, c, svc_call_query(c, "user_id"));
	if (k != NULL &&
	    (k->rec.state != TURN_STATE_OPEN || turns_query(k) != RC_OK))
		turns_reply_record(k);
}

/* ---- cancel ---- */

static void
turns_reply_canceled(const struct turn_query *k, bool canceled)
{
	svc_reply(k->c,
	    &(struct wire_turn_cancel_reply){
		.turn_id = k->id, .canceled = canceled });
}

static void
turns_on_canceled(void *arg, enum rc rc, bool canceled)
{
	struct turn_query *k = arg;

	if (rc == RC_OK)
		turns_reply_canceled(k, canceled);
	else if (rc == RC_TIMEOUT)
		svc_fail(k->c, rc, "the turn's process does not answer");
	else
		gateway_fail_bus(k->c, rc);
}

void
on_turns_cancel(void *app, struct svc_call *c)
{
	struct gateway *g = app;
	const struct wire_turn_cancel_body *req = svc_call_request(c);
	struct turn_query *k = turns_find(g, c, req->user_id);

	if (k == NULL)
		return;
	if (k->rec.state != TURN_STATE_OPEN)
		turns_reply_canceled(k, false);
	else
		turn_cancel_start(g,
		    &(struct turn_cancel_opts){ k->id, k->rec.user_id,
			req->reason, svc_call_trace(c), turns_on_canceled, k });
}
