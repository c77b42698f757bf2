/*
 * Emotional state and history of a soul.  Ownership is checked here,
 * emotion-engine has the data.
 */
#include "gateway.h"
#include "handlers.h"
#include "peer_request.h"
#include "souls/souls_api.h"
#include "state/soul.h"
#include "svc/svc.h"
#include "wire/msgs.h"
#include "wire/subjects.h"

#define TIMEOUT_MS 2000

static void
emotion_on_reply(struct peer_request *q, enum rc rc)
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
emotion_request(struct gateway *g, struct svc_call *c, const char *subject,
    const struct wire_desc *request, const struct wire_desc *reply,
    const void *msg)
{
	struct peer_request *q = peer_request_new(g, c, emotion_on_reply);
	enum rc rc;

	if (q == NULL)
		return;
	q->subject = subject;
	q->request_desc = request;
	q->reply_desc = reply;
	q->timeout_ms = TIMEOUT_MS;
	rc = peer_request_send(q, msg);
	if (rc != RC_OK)
		gateway_fail_bus(c, rc);
}

void
on_emotion(void *app, struct svc_call *c)
{
	struct wire_emotion_state_request req = { 0 };
	struct gateway *g = app;

	if (souls_find_owned(g, c, &req.user_id, &req.soul_id))
		emotion_request(g, c, WIRE_SUBJECT_EMOTION_STATE,
		    &wire_emotion_state_request_desc,
		    &wire_emotion_state_reply_desc, &req);
}

void
on_emotion_history(void *app, struct svc_call *c)
{
	struct wire_emotion_history_request req = { .limit = SOUL_LOG_MAX };
	struct str limit = svc_call_query(c, "limit");
	struct gateway *g = app;
	struct wall ignored;

	req.since = svc_call_query(c, "since");
	if (req.since.p != NULL && wall_parse(req.since, &ignored) != RC_OK) {
		svc_fail(c, RC_INVALID,
		    "since: must be a time as 2026-02-22T10:20:30Z");
		return;
	}
	if (limit.p != NULL &&
	    str_to_i64(limit, 1, SOUL_LOG_MAX, &req.limit) != RC_OK) {
		gateway_reject(
		    c, RC_INVALID, "limit: must be 1 to %d", SOUL_LOG_MAX);
		return;
	}
	if (souls_find_owned(g, c, &req.user_id, &req.soul_id))
		emotion_request(g, c, WIRE_SUBJECT_EMOTION_HISTORY,
		    &wire_emotion_history_request_desc,
		    &wire_emotion_history_reply_desc, &req);
}
