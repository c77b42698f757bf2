/*
 * Profiles over HTTP.  A patch goes on as it came: in a struct a null would be
 * as nothing.
 */
#include "on_user_profile.h"

#include "caller.h"
#include "gateway.h"
#include "memories.h"
#include "svc/audit.h"
#include "svc/svc.h"
#include "wire/msgs.h"

static void
on_answer(struct question *q, enum rc rc)
{
	if (rc == RC_OK)
		svc_reply(q->arg, q->reply);
	else
		memories_fail(q->arg, q, rc);
}

static void
on_patched(struct question *q, enum rc rc)
{
	if (rc == RC_OK)
		svc_audit_call(q->arg,
		    &(struct wire_audit){
			.action = WIRE_AUDIT_ACTION_PROFILE_CHANGED,
			.user_id = svc_call_param(q->arg, 0) });
	on_answer(q, rc);
}

static void
ask(struct gateway *g, struct svc_call *c, struct str patch, question_fn fn)
{
	struct wire_memory_profile_request req = { .patch = patch };
	struct question *q;

	if (!caller_user(g, c, svc_call_param(c, 0), &req.user_id))
		return;
	q = memories_question(g, c, MEMORIES_PROFILE, fn);
	if (q != NULL)
		memories_ask(q, &req);
}

void
on_user_profile_get(void *app, struct svc_call *c)
{
	ask(app, c, (struct str){ NULL, 0 }, on_answer);
}

void
on_user_profile_patch(void *app, struct svc_call *c)
{
	ask(app, c, svc_call_body(c), on_patched);
}
