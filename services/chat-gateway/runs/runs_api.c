/*
 * Runs of coding engines: start, list, read, delete, reply, cancel.
 *
 * Records are read here, so that they can be shown without a runner; what
 * starts or continues a run is done by engine-runner, any replica of it.
 */
#include "caller.h"
#include "core/arena.h"
#include "core/mem.h"
#include "gateway.h"
#include "handlers.h"
#include "runs/run_call.h"
#include "runs/run_view.h"
#include "runs/run_wake.h"
#include "state/run.h"
#include "svc/audit.h"
#include "svc/svc.h"
#include "wire/msgs.h"
#include "wire/subjects.h"

#define LIST_MAX     200
#define LIST_DEFAULT 50
#define NO_RUNNER                                                            \
	"no engine-runner is running: start one, or see why none is ready, " \
	"then try again"

static void
runs_audit(struct svc_call *c, enum wire_audit_action action, struct str user,
    struct str run, struct str reason)
{
	svc_audit_call(c,
	    &(struct wire_audit){ .action = action,
		.user_id = user,
		.run_id = run,
		.reason = reason });
}

/* ---- start ---- */

static void
runs_on_started(struct svc_call *c, const struct peer_request *q)
{
	const struct wire_run *run = q->reply;

	runs_audit(c, WIRE_AUDIT_ACTION_RUN_STARTED, run->user_id, run->run_id,
	    run->engine);
	svc_reply_accepted(c, run);
}

void
on_runs_start(void *app, struct svc_call *c)
{
	static const struct service_call_peer peer = { WIRE_SUBJECT_RUN_START,
		&wire_run_start_request_desc, &wire_run_desc,
		WIRE_DEADLINE_MS_RUN_START, NO_RUNNER };
	const struct wire_run_start_request *body = svc_call_request(c);
	struct wire_run_start_request *req =
	    arena_alloc(svc_call_arena(c), sizeof(*req));
	struct gateway *g = app;

	if (req == NULL) {
		gateway_fail(c, RC_TOOBIG);
		return;
	}
	*req = *body;
	if (!caller_user(g, c, body->user_id, &req->user_id))
		return;
	req->tenant = caller_user_tenant(c, req->user_id);
	service_call_send(g, c, &peer, req, runs_on_started);
}

/* ---- lists ---- */

/* False: c has been ended. */
static bool
runs_read_page(struct svc_call *c, struct run_page *p)
{
	struct str limit = svc_call_query(c, "limit");
	int64_t max = LIST_DEFAULT;
	unsigned bucket;

	if (limit.p != NULL && str_to_i64(limit, 1, LIST_MAX, &max) != RC_OK) {
		gateway_reject(
		    c, RC_INVALID, "limit: must be 1 to %d", LIST_MAX);
		return false;
	}
	*p = (struct run_page){ .after = svc_call_query(c, "cursor"),
		.max = (size_t)max };
	if (p->after.p == NULL || run_id_bucket(p->after, &bucket) == RC_OK)
		return true;
	svc_fail(c, RC_INVALID, "cursor: must be the next of the page before");
	return false;
}

void
on_runs_list(void *app, struct svc_call *c)
{
	struct gateway *g = app;
	struct arena *a = svc_call_arena(c);
	struct wire_run_list rep = { 0 };
	struct run_page p;
	struct str user;
	enum rc rc;
	size_t i;

	if (!caller_query_user(g, c, &user) || !runs_read_page(c, &p))
		return;
	rc = run_list(g->state, user, a, &p);
	rep.items = arena_alloc(a, (p.n + 1) * sizeof(*rep.items));
	if (rc == RC_OK && rep.items == NULL)
		rc = RC_TOOBIG;
	for (i = 0; rc == RC_OK && i < p.n; i++)
		rc = run_view(&p.run[i], a, &rep.items[i]);
	if (rc != RC_OK) {
		gateway_fail(c, rc);
		return;
	}
	rep.n_items = p.n;
	rep.next = p.next;
	svc_reply(c, &rep);
}

/* ---- one run ---- */

void
on_runs_get(void *app, struct svc_call *c)
{
	struct wire_run_record rep;
	struct run_record rec;
	enum rc rc;

	if (!run_call_read(app, c, &rec))
		return;
	rc = run_view_record(&rec, svc_call_arena(c), &rep);
	if (rc == RC_OK)
		svc_reply(c, &rep);
	else
		gateway_fail(c, rc);
}

void
on_runs_delete(void *app, struct svc_call *c)
{
	struct gateway *g = app;
	struct run_record rec;
	enum rc rc;

	if (!run_call_read(g, c, &rec))
		return;
	rc = run_delete(g->state, rec.run_id, rec.user_id, false);
	if (rc == RC_CONFLICT) {
		svc_fail_as(c,
		    &(struct svc_error){ 409, "run_not_ended",
			"the run has not ended: cancel it first" });
		return;
	}
	if (rc != RC_OK) {
		gateway_fail_missing(c, rc, RUN_NOT_FOUND);
		return;
	}
	run_wake(g, c, rec.runner, rec.run_id);
	runs_audit(c, WIRE_AUDIT_ACTION_RUN_DELETED, rec.user_id, rec.run_id,
	    (struct str){ NULL, 0 });
	svc_reply(c, &(struct wire_ok_response){ .ok = true });
}

/* ---- its user ---- */

void
on_runs_reply(void *app, struct svc_call *c)
{
	static const struct service_call_peer peer = { WIRE_SUBJECT_RUN_REPLY,
		&wire_run_reply_request_desc, &wire_run_desc,
		WIRE_DEADLINE_MS_RUN_REPLY, NO_RUNNER };
	const struct wire_interaction_reply *body = svc_call_request(c);
	struct wire_run_reply_request *req =
	    arena_alloc(svc_call_arena(c), sizeof(*req));
	struct gateway *g = app;

	if (req == NULL) {
		gateway_fail(c, RC_TOOBIG);
		return;
	}
	*req = (struct wire_run_reply_request){ .interaction_id =
						    body->interaction_id,
		.content = body->content,
		.idempotency_key = body->idempotency_key };
	if (run_call_user(g, c, body->user_id, &req->user_id, &req->run_id))
		service_call_send(g, c, &peer, req, NULL);
}

static void
runs_on_canceled(struct svc_call *c, const struct peer_request *q)
{
	const struct wire_run_cancel_request *req = q->msg;
	const struct wire_run_cancel_reply *rep = q->reply;

	if (rep->accepted)
		runs_audit(c, WIRE_AUDIT_ACTION_RUN_CANCELED, req->user_id,
		    req->run_id, (struct str){ NULL, 0 });
	svc_reply(c, rep);
}

void
on_runs_cancel(void *app, struct svc_call *c)
{
	static const struct service_call_peer peer = { WIRE_SUBJECT_RUN_CANCEL,
		&wire_run_cancel_request_desc, &wire_run_cancel_reply_desc,
		WIRE_DEADLINE_MS_RUN_CANCEL, NO_RUNNER };
	struct wire_run_cancel_request *req =
	    arena_alloc(svc_call_arena(c), sizeof(*req));
	struct gateway *g = app;

	if (req == NULL)
		gateway_fail(c, RC_TOOBIG);
	else if (run_call_user(g, c, svc_call_query(c, "user_id"),
		     &req->user_id, &req->run_id))
		service_call_send(g, c, &peer, req, runs_on_canceled);
}
