#include "runs/run_call.h"

#include "caller.h"
#include "gateway.h"
#include "svc/svc.h"

bool
run_call_user(struct gateway *g, struct svc_call *c, struct str named,
    struct str *user, struct str *run)
{
	unsigned bucket;

	*run = svc_call_param(c, 0);
	if (!caller_user(g, c, named, user))
		return false;
	if (run_id_bucket(*run, &bucket) == RC_OK)
		return true;
	svc_fail(c, RC_NOENT, RUN_NOT_FOUND);
	return false;
}

bool
run_call_read(struct gateway *g, struct svc_call *c, struct run_record *rec)
{
	struct str user, run;
	enum rc rc;

	if (!run_call_user(g, c, svc_call_query(c, "user_id"), &user, &run))
		return false;
	rc = run_read(g->state, run, svc_call_arena(c), rec);
	if (rc == RC_OK && !str_eq(rec->user_id, user))
		rc = RC_NOENT;
	if (rc != RC_OK)
		gateway_fail_missing(c, rc, RUN_NOT_FOUND);
	return rc == RC_OK;
}
