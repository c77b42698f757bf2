/*
 * The log of a soul, told.
 */
#include "on_history.h"

#include "change.h"
#include "core/log.h"
#include "engine.h"
#include "state/soul.h"
#include "svc/svc.h"
#include "tell.h"

static enum rc
tell_all(struct arena *a, const struct soul_log_entry *list, size_t n,
    struct wire_emotion_history_reply *out)
{
	static struct log_rate rate;
	struct change change;
	int64_t missed;
	enum rc rc = RC_OK;
	size_t i;

	out->items = arena_alloc(a, n * sizeof(*out->items));
	if (out->items == NULL)
		return RC_TOOBIG;
	for (i = 0; rc == RC_OK && i < n; i++) {
		if (change_unpack(list[i].bytes, &change) == RC_OK)
			rc = tell_change(&change, list[i].at, a,
			    &out->items[out->n_items++]);
		else if (log_every(&rate, 10, &missed))
			log_error("change.unreadable",
			    LOG_V("soul", out->soul_id),
			    LOG_I("bytes", list[i].bytes.n),
			    LOG_I("missed", missed));
	}
	return rc;
}

static enum rc
read_log(struct engine *e, const struct wire_emotion_history_request *req,
    struct arena *a, struct wire_emotion_history_reply *out)
{
	struct soul_log_page page = { .max = (size_t)req->limit };
	struct soul_state st = { .soul_id = req->soul_id };
	struct soul_log_entry *list;
	size_t n;
	enum rc rc;

	if (req->since.p != NULL &&
	    wall_parse(req->since, &page.since) != RC_OK)
		return RC_INVALID;
	rc = soul_state_get(e->store.state, &st, 1, a);
	if (rc == RC_OK && st.version == 0)
		rc = RC_NOENT;
	if (rc == RC_OK)
		rc = soul_log_read(
		    e->store.state, req->soul_id, &page, a, &list, &n);
	if (rc == RC_OK)
		rc = tell_all(a, list, n, out);
	return rc == RC_INVALID ? RC_BUG : rc;
}

void
on_history(void *arg, struct svc_call *c)
{
	struct engine *e = arg;
	const struct wire_emotion_history_request *req = svc_call_request(c);
	struct wire_emotion_history_reply rep = { .soul_id = req->soul_id };
	enum rc rc;

	rc = read_log(e, req, svc_call_arena(c), &rep);
	if (rc == RC_OK)
		svc_reply(c, &rep);
	else if (rc == RC_NOENT)
		svc_fail(c, rc, "soul not found");
	else if (rc == RC_INVALID)
		svc_fail(
		    c, rc, "since: must be a time as 2026-02-22T10:20:30Z");
	else if (rc == RC_BUG)
		svc_fail(c, rc, "the soul's log is not readable");
	else
		svc_fail(c, rc, "the state store does not answer");
}
