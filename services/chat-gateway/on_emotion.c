/*
 * Emotions over HTTP: the owner is checked here, emotion-engine answers.
 */
#include "on_emotion.h"

#include "bus/bus.h"
#include "core/arena.h"
#include "core/buf.h"
#include "core/log.h"
#include "gateway.h"
#include "state/soul.h"
#include "svc/svc.h"
#include "wire/msgs.h"
#include "wire/subjects.h"
#include "wire/wire.h"

#define TIMEOUT_MS 2000

/* A question to emotion-engine, and whose it is; lives as long as the call. */
struct question {
	struct gateway *g;
	struct svc_call *c;
	const char *subject;
	const struct wire_desc *ask, *answer;
	void *reply; /* as answer has it */
};

static void
answer(struct question *q, struct str data)
{
	struct arena *a = svc_call_arena(q->c);
	struct wire_err err;

	if (wire_decode(q->answer, data, a, q->reply, &err) == RC_OK) {
		svc_reply(q->c, q->reply);
		return;
	}
	log_error("gateway.emotion", LOG_S("subject", q->subject),
	    LOG_S("path", err.path), LOG_S("why", err.why));
	svc_fail(q->c, RC_BUG, "the emotion of the soul cannot be read");
}

static void
on_answer(void *arg, enum rc rc, struct str data)
{
	struct question *q = arg;

	log_trace_set(svc_call_trace(q->c)->trace_id);
	if (rc == RC_OK)
		answer(q, data);
	else if (rc == RC_NOENT && data.n > 0)
		svc_fail(q->c, rc, "soul not found");
	else if (rc == RC_INVALID || rc == RC_BUG)
		svc_fail(
		    q->c, RC_BUG, "the emotion of the soul cannot be read");
	else
		svc_fail(q->c, RC_DOWN, "emotion-engine does not answer");
	log_trace_set("");
}

static void
ask(struct question *q, const void *msg)
{
	struct bus_meta meta = { .deadline = { clock_wall().ms + TIMEOUT_MS },
		.trace = svc_call_trace(q->c) };
	struct buf out = BUF_INIT(4096);
	enum rc rc;

	rc = wire_encode(q->ask, msg, &out, NULL);
	if (rc == RC_OK)
		rc = bus_request(svc_bus(q->g->svc), q->subject, buf_str(&out),
		    &meta, (struct bus_waiter){ .fn = on_answer, .arg = q },
		    NULL);
	buf_free(&out);
	if (rc != RC_OK)
		gateway_fail_bus(q->c, rc);
}

/* The soul of the path, if it is the user's; false: c has been answered. */
static bool
owned(struct gateway *g, struct svc_call *c, struct str *id)
{
	struct str user = gateway_query_user(g, c);
	struct soul soul;
	enum rc rc;

	*id = svc_call_param(c, 0);
	if (!gateway_id(c, user, "user_id") || !gateway_id(c, *id, "soul_id"))
		return false;
	rc = soul_read(g->state, *id, svc_call_arena(c), &soul);
	/* Another user's soul is none of this one's business. */
	if (rc == RC_OK && !str_eq(soul.user_id, user))
		rc = RC_NOENT;
	if (rc == RC_NOENT)
		svc_fail(c, rc, "soul not found");
	else if (rc != RC_OK)
		gateway_fail(c, rc);
	return rc == RC_OK;
}

/* A question with room for its answer; NULL: c has been answered. */
static struct question *
question(struct gateway *g, struct svc_call *c, size_t reply)
{
	struct question *q = arena_alloc(svc_call_arena(c), sizeof(*q));
	void *room = arena_alloc(svc_call_arena(c), reply);

	if (q == NULL || room == NULL) {
		gateway_fail(c, RC_TOOBIG);
		return NULL;
	}
	*q = (struct question){ .g = g, .c = c, .reply = room };
	return q;
}

void
on_emotion(void *app, struct svc_call *c)
{
	struct wire_emotion_state_request req = { 0 };
	struct gateway *g = app;
	struct question *q;

	if (!owned(g, c, &req.soul_id))
		return;
	q = question(g, c, sizeof(struct wire_emotion_state_reply));
	if (q == NULL)
		return;
	q->subject = WIRE_SUBJECT_EMOTION_STATE;
	q->ask = &wire_emotion_state_request_desc;
	q->answer = &wire_emotion_state_reply_desc;
	ask(q, &req);
}

void
on_emotion_history(void *app, struct svc_call *c)
{
	struct wire_emotion_history_request req = { .limit = SOUL_LOG_MAX };
	struct str limit = svc_call_query(c, "limit");
	struct gateway *g = app;
	struct question *q;
	struct wall ignored;

	req.since = svc_call_query(c, "since");
	if (req.since.p != NULL && wall_parse(req.since, &ignored) != RC_OK) {
		svc_fail(c, RC_INVALID,
		    "since: must be a time as 2026-02-22T10:20:30Z");
		return;
	}
	if (limit.p != NULL &&
	    str_to_i64(limit, 1, SOUL_LOG_MAX, &req.limit) != RC_OK) {
		gateway_refuse(
		    c, RC_INVALID, "limit: must be 1 to %d", SOUL_LOG_MAX);
		return;
	}
	if (!owned(g, c, &req.soul_id))
		return;
	q = question(g, c, sizeof(struct wire_emotion_history_reply));
	if (q == NULL)
		return;
	q->subject = WIRE_SUBJECT_EMOTION_HISTORY;
	q->ask = &wire_emotion_history_request_desc;
	q->answer = &wire_emotion_history_reply_desc;
	ask(q, &req);
}
