/*
 * GET /v1/engines: what the runners that live offer to the caller's tenant.
 */
#include "caller.h"
#include "core/arena.h"
#include "core/log.h"
#include "core/mem.h"
#include "gateway.h"
#include "handlers.h"
#include "runs/engine_view.h"
#include "state/run_runner.h"
#include "svc/svc.h"
#include "wire/msgs.h"

/* Decoded; what is invalid is left out. */
static enum rc
engines_read(struct gateway *g, struct arena *a,
    struct wire_runner_status **out, size_t *n)
{
	struct run_runner *list;
	struct wire_err err;
	size_t i, len;
	enum rc rc = run_runner_list(g->state, a, &list, &len);

	*n = 0;
	if (rc != RC_OK)
		return rc;
	*out = arena_alloc(a, (len + 1) * sizeof(**out));
	if (*out == NULL)
		return RC_TOOBIG;
	for (i = 0; i < len; i++) {
		if (!list[i].alive)
			continue;
		rc = wire_decode(&wire_runner_status_desc, list[i].status, a,
		    &(*out)[*n], &err);
		if (rc == RC_OK)
			++*n;
		else
			log_error("gateway.runner_status",
			    LOG_V("runner", list[i].id),
			    LOG_S("path", err.path), LOG_S("why", err.why));
	}
	return RC_OK;
}

void
on_engines_list(void *app, struct svc_call *c)
{
	struct arena *a = svc_call_arena(c);
	struct wire_runner_status *list;
	struct wire_engine_list rep;
	size_t n;
	enum rc rc = engines_read(app, a, &list, &n);

	if (rc == RC_OK)
		rc = engine_view(list, n, svc_call_caller(c) != NULL,
		    caller_tenant(c), a, &rep);
	if (rc == RC_OK)
		svc_reply(c, &rep);
	else
		gateway_fail(c, rc);
}
