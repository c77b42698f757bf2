/*
 * Emotions over HTTP: the owner is checked here, emotion-engine answers.
 */
#include "on_emotion.h"

#include "caller.h"
#include "gateway.h"
#include "question.h"
#include "state/soul.h"
#include "svc/svc.h"
#include "wire/msgs.h"
#include "wire/subjects.h"

#define TIMEOUT_MS 2000

static void
on_answer(struct question *q, enum rc rc)
{
	if (rc == RC_OK)
		svc_reply(q->arg, q->reply);
	else if (rc == RC_NOENT)
		svc_fail(q->arg, rc, "soul not found");
	else if (rc == RC_INVALID || rc == RC_BUG)
		svc_fail(
		    q->arg, RC_BUG, "the emotion of the soul cannot be read");
	else
		svc_fail(q->arg, RC_DOWN, "emotion-engine does not answer");
}

static void
ask(struct question *q, const void *msg)
{
	enum rc rc;

	q->timeout_ms = TIMEOUT_MS;
	rc = question_ask(q, msg);
	if (rc != RC_OK)
		gateway_fail_bus(q->arg, rc);
}

/* The soul of the path, if it is the user's; false: c has been answered. */
static bool
owned(struct gateway *g, struct svc_call *c, struct str *id)
{
	struct soul soul;
	struct str user;
	enum rc rc;

	*id = svc_call_param(c, 0);
	if (!caller_query_user(g, c, &user) || !gateway_id(c, *id, "soul_id"))
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

void
on_emotion(void *app, struct svc_call *c)
{
	struct wire_emotion_state_request req = { 0 };
	struct gateway *g = app;
	struct question *q;

	if (!owned(g, c, &req.soul_id))
		return;
	q = question_new(g, c, on_answer);
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
	q = question_new(g, c, on_answer);
	if (q == NULL)
		return;
	q->subject = WIRE_SUBJECT_EMOTION_HISTORY;
	q->ask = &wire_emotion_history_request_desc;
	q->answer = &wire_emotion_history_reply_desc;
	ask(q, &req);
}
