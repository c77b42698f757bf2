/*
 * A patch is of the moment it comes, by Redis' clock: who has been answered and
 * patches again is later, whichever worker he asks.
 */
#include "on_profile.h"

#include "keeper.h"
#include "profile.h"
#include "svc/svc.h"
#include "wire/msgs.h"

static void
answer(struct svc_call *c, struct str user_id, const struct profile *p)
{
	char updated[WALL_FORMAT_MAX];
	struct wire_memory_profile_reply rep = {
		.user_id = user_id,
		.user_profile = p->user_profile,
		.system_state = p->system_state,
	};

	wall_format(p->updated, 0, updated);
	if (p->updated.ms != 0)
		rep.updated_at = str_of(updated);
	svc_reply(c, &rep);
}

static void
fail(struct svc_call *c, enum rc rc, const struct wire_err *err)
{
	char text[WIRE_ERR_TEXT_MAX];

	if (rc == RC_INVALID) {
		wire_err_text(err, text, sizeof(text));
		svc_fail(c, rc, text);
	} else if (rc == RC_BUG || rc == RC_TOOBIG) {
		svc_fail(c, RC_BUG, "the profile is not readable");
	} else {
		svc_fail(c, rc, "the profiles cannot be reached now");
	}
}

void
on_profile(void *app, struct svc_call *c)
{
	struct keeper *k = app;
	const struct wire_memory_profile_request *req = svc_call_request(c);
	struct wire_err err = { "/user_id", "is no id" };
	struct profile p;
	enum rc rc = RC_OK;

	if (req->patch.p != NULL)
		rc = profile_merge(k->state, req->user_id, req->patch,
		    (struct wall){ 0 }, &err);
	if (rc == RC_OK)
		rc = profile_parts(
		    k->state, req->user_id, svc_call_arena(c), &p);
	if (rc != RC_OK)
		fail(c, rc, &err);
	else
		answer(c, req->user_id, &p);
}
