/*
 * GET /v1/responses/{response_id} and its cancellation.
 */
#include "openai/responses_record.h"

#include "caller.h"
#include "chat/chat_turn.h"
#include "chat/soul_chat.h"
#include "core/arena.h"
#include "core/fiber.h"
#include "core/log.h"
#include "fcmp/fcmp_read.h"
#include "gateway.h"
#include "handlers.h"
#include "openai/responses_stream.h"
#include "openai/responses_view.h"
#include "state/session.h"
#include "state/turn.h"
#include "streams/event_stream.h"
#include "svc/svc.h"
#include "wire/msgs.h"

#define SEQUENCE_MAX 9007199254740991

/* A call about a response, in its memory. */
struct responses_query {
	struct soul_chat soul; /* of it g, c and user */
	struct str id;
	struct turn_record rec;
	struct responses r; /* its head and session, streamed or not */
	bool canceled;
};

bool
responses_record_read(const struct soul_chat *s, const char *field,
    struct str id, struct turn_record *rec)
{
	enum rc rc = turn_record_read(
	    s->g->state, s->user, id, svc_call_arena(s->c), rec);

	if (rc != RC_OK)
		gateway_fail(s->c, rc);
	else if (!rec->known || !str_eq(rec->user_id, s->user))
		gateway_reject(s->c, RC_NOENT,
		    "%sno response of the last hour has this id", field);
	else
		return true;
	return false;
}

/* The model is the soul of the session. */
static bool
responses_put_head(struct responses_query *k)
{
	const struct session_key key = { k->soul.user, k->rec.session_id };
	struct arena *a = svc_call_arena(k->soul.c);
	struct session s;
	enum rc rc = session_read(k->soul.g->state, &key, a, &s);

	k->r.head = (struct openai_head){ .id = k->id,
		.model = s.known && rc == RC_OK
		    ? arena_printf(a, "soul/%.*s", STR_ARG(s.soul_id))
		    : STR("soul/"),
		.created = k->rec.started.ms / 1000 };
	k->r.session = k->rec.session_id;
	if (rc != RC_OK)
		gateway_fail(k->soul.c, rc);
	return rc == RC_OK;
}

/* NULL: c has been ended. */
static struct responses_query *
responses_find(struct gateway *g, struct svc_call *c)
{
	struct responses_query *k = gateway_alloc(c, sizeof(*k));

	if (k == NULL)
		return NULL;
	*k = (struct responses_query){ .soul = { .g = g, .c = c },
		.id = svc_call_param(c, 0) };
	return caller_query_user(g, c, &k->soul.user) &&
		gateway_id(c, k->id, "response_id") &&
		responses_record_read(&k->soul, "", k->id, &k->rec) &&
		responses_put_head(k)
	    ? k
	    : NULL;
}

static void
responses_reply_record(struct responses_query *k)
{
	struct wire_openai_response rep;
	struct responses_parts parts;
	enum rc rc;

	rc = responses_put_record(
	    &k->r.head, &k->rec, svc_call_arena(k->soul.c), &parts, &rep);
	if (rc != RC_OK) {
		gateway_fail(k->soul.c, rc);
		return;
	}
	if (k->canceled && k->rec.state == TURN_STATE_OPEN)
		rep.status = STR("cancelled");
	svc_reply(k->soul.c, &rep);
}

/* ---- GET ---- */

static enum rc
responses_send_event(struct svc_call *c, const struct fcmp_event *e)
{
	return responses_stream_send(svc_call_data(c), e);
}

static bool
responses_is_last(const struct fcmp_event *e)
{
	return fcmp_event_ends_turn(e->type);
}

static void
responses_stream_record(struct responses_query *k)
{
	const struct session_key key = { k->soul.user, k->rec.session_id };
	struct svc_call *c = k->soul.c;
	struct str from = svc_call_query(c, "starting_after");
	int64_t after = -1;

	if (from.p != NULL &&
	    str_to_i64(from, 0, SEQUENCE_MAX, &after) != RC_OK) {
		svc_fail(c, RC_INVALID,
		    "starting_after: must be the sequence_number of an event");
		return;
	}
	responses_stream_set(&k->r, c, after);
	svc_call_set_data(c, &k->r);
	event_stream_start(k->soul.g, c,
	    &(struct event_stream_opts){ .key = events_of_session(&key),
		.turn_id = k->id,
		.send = responses_send_event,
		.ends = responses_is_last });
}

void
on_openai_responses_get(void *app, struct svc_call *c)
{
	struct str stream = svc_call_query(c, "stream");
	const bool streamed = str_eq(stream, STR("true"));
	struct responses_query *k;

	if (stream.p != NULL && !streamed && !str_eq(stream, STR("false"))) {
		svc_fail(c, RC_INVALID, "stream: must be true or false");
		return;
	}
	if (streamed && !gateway_stream_begin(app, c))
		return;
	k = responses_find(app, c);
	if (k != NULL && streamed)
		responses_stream_record(k);
	else if (k != NULL)
		responses_reply_record(k);
}

/* ---- cancel ---- */

/* It may have ended by itself. */
static void
responses_reply_canceled(void *arg)
{
	struct responses_query *k = arg;

	log_trace_set(svc_call_trace(k->soul.c)->trace_id);
	if (responses_record_read(&k->soul, "", k->id, &k->rec))
		responses_reply_record(k);
}

static void
responses_on_canceled(void *arg, enum rc rc, bool canceled)
{
	struct responses_query *k = arg;

	k->canceled = canceled;
	if (rc == RC_OK)
		fiber_start(responses_reply_canceled, k);
	else if (rc == RC_TIMEOUT)
		svc_fail(k->soul.c, rc, "the turn's process does not answer");
	else
		gateway_fail_bus(k->soul.c, rc);
}

void
on_openai_responses_cancel(void *app, struct svc_call *c)
{
	struct responses_query *k = responses_find(app, c);

	if (k == NULL)
		return;
	if (k->rec.state != TURN_STATE_OPEN)
		responses_reply_record(k);
	else
		turn_cancel_start(k->soul.g,
		    &(struct turn_cancel_opts){ k->id, k->soul.user,
			STR("canceled by its client"), svc_call_trace(c),
			responses_on_canceled, k });
}
