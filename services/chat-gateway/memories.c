/*
 * The table of questions, and the words for what goes wrong.
 */
#include "memories.h"

#include "core/arena.h"
#include "gateway.h"
#include "svc/audit.h"
#include "svc/svc.h"
#include "wire/msgs.h"
#include "wire/subjects.h"

/* Many souls, each asked of a store that may be far away. */
#define FORGET_ALL_MS 30000

#define ROW(X, x)                                                              \
	{                                                                      \
		WIRE_SUBJECT_MEMORY_##X, &wire_memory_##x##_request_desc,      \
		    &wire_memory_##x##_reply_desc, WIRE_DEADLINE_MS_MEMORY_##X \
	}

static const struct {
	const char *subject;
	const struct wire_desc *ask, *answer;
	int64_t timeout_ms;
} asks[] = {
	[MEMORIES_LIST] = ROW(LIST, list),
	[MEMORIES_RECALL] = ROW(RECALL, recall),
	[MEMORIES_FORGET] = ROW(FORGET, forget),
	[MEMORIES_PROFILE] = ROW(PROFILE, profile),
};

void
memories_set(struct question *q, enum memories_ask what)
{
	q->subject = asks[what].subject;
	q->ask = asks[what].ask;
	q->answer = asks[what].answer;
	q->timeout_ms = asks[what].timeout_ms;
}

struct question *
memories_question(struct gateway *g, struct svc_call *c, enum memories_ask what,
    question_fn fn)
{
	struct question *q = question_new(g, c, fn);

	if (q != NULL)
		memories_set(q, what);
	return q;
}

void
memories_ask(struct question *q, const void *msg)
{
	struct svc_call *c = q->arg;
	enum rc rc;

	rc = question_ask(q, msg);
	if (rc == RC_INVALID || rc == RC_TOOBIG)
		memories_fail(c, q, rc);
	else if (rc != RC_OK)
		gateway_fail_bus(c, rc);
}

void
memories_forget(struct gateway *g, struct svc_call *c,
    const struct wire_memory_forget_request *req, question_fn fn)
{
	struct question *q = memories_question(g, c, MEMORIES_FORGET, fn);
	struct wire_memory_forget_request *kept;

	if (q == NULL)
		return;
	kept = arena_alloc(q->a, sizeof(*kept));
	if (kept == NULL) {
		gateway_fail(c, RC_TOOBIG);
		return;
	}
	*kept = *req;
	q->msg = kept;
	if (req->memory_id.p == NULL)
		q->timeout_ms = FORGET_ALL_MS;
	memories_ask(q, kept);
}

void
memories_audit_gone(
    struct svc_call *c, const struct wire_memory_forget_request *of, size_t n)
{
	svc_audit_call(c,
	    &(struct wire_audit){ .action = WIRE_AUDIT_ACTION_MEMORIES_DELETED,
		.user_id = of->user_id,
		.soul_id = of->soul_id,
		.has_count = true,
		.count = (int64_t)n });
}

void
memories_audit(struct question *q, enum rc rc)
{
	const struct wire_memory_forget_request *of = q->msg;
	const struct wire_memory_forget_reply *gone = q->reply;

	if (rc == RC_OK && (gone->forgotten > 0 || gone->profile))
		memories_audit_gone(q->arg, of, (size_t)gone->forgotten);
	if (rc == RC_OK && gone->profile)
		svc_audit_call(q->arg,
		    &(struct wire_audit){
			.action = WIRE_AUDIT_ACTION_PROFILE_CHANGED,
			.user_id = of->user_id,
			.reason = STR("deleted") });
	/* It began, or may have. */
	if (rc == RC_TIMEOUT || (rc != RC_OK && q->told.p != NULL))
		svc_audit_call(q->arg,
		    &(struct wire_audit){
			.action = WIRE_AUDIT_ACTION_MEMORIES_DELETED,
			.user_id = of->user_id,
			.soul_id = of->soul_id,
			.reason = STR("how much is not known") });
}

struct memories_failure
memories_failure(const struct question *q, enum rc rc)
{
	struct memories_failure f = { rc, q->told.p };

	/* What memory-worker says itself says more. */
	if (f.text != NULL)
		return f;
	if (rc == RC_TIMEOUT) {
		f.text = "memory-worker did not answer in time: try again";
	} else if (rc == RC_DOWN || rc == RC_RETRY) {
		f.text = "memory-worker does not answer: see that it runs, "
			 "then try again";
	} else {
		f.rc = RC_BUG;
		f.text = "memory-worker's answer cannot be read";
	}
	return f;
}

void
memories_fail(struct svc_call *c, const struct question *q, enum rc rc)
{
	struct memories_failure f = memories_failure(q, rc);

	svc_fail(c, f.rc, f.text);
}
