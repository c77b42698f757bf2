#include "runs/run_call.h"

#include "caller.h"
#include "core/arena.h"
#include "core/mem.h"
#include "gateway.h"
#include "svc/svc.h"
#include "wire/wire.h"

/* A request, its route's errors, and who gets the reply. */
struct run_call {
	const struct run_call_peer *peer;
	run_call_fn fn;
	struct svc_call *c;
};

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

/* ---- errors of engine-runner ---- */

/* Codes that stand for another status than their result code's. */
static const struct {
	const char *code;
	int status;
} run_call_codes[] = {
	{ RUN_WHY_KEY_REUSED, 409 },
	{ RUN_WHY_BUSY, 409 },
	{ RUN_WHY_NOT_RESUMABLE, 409 },
	{ RUN_WHY_NOT_WAITING, 409 },
	{ RUN_WHY_STALE, 409 },
	{ "too_many_runs", 429 },
	{ "queue_full", 429 },
	{ "output_gone", 410 },
};

/* Whether the error has such a code: c has been ended. */
static bool
run_call_fail_coded(struct peer_request *q, struct svc_call *c)
{
	struct str text = arena_str(svc_call_arena(c), q->error);
	size_t i;

	for (i = 0; i < NELEM(run_call_codes); i++)
		if (str_eq(q->code, str_of(run_call_codes[i].code))) {
			svc_fail_as(c,
			    &(struct svc_error){ run_call_codes[i].status,
				run_call_codes[i].code,
				text.p != NULL ? text.p
					       : run_call_codes[i].code });
			return true;
		}
	return false;
}

static void
run_call_fail(struct run_call *r, struct peer_request *q, enum rc rc)
{
	struct svc_call *c = r->c;

	if (rc == RC_DOWN && q->error.p == NULL) {
		svc_fail(c, rc, r->peer->missing);
		return;
	}
	if (q->error.p == NULL || rc == RC_BUG) {
		gateway_fail_bus(c, rc);
		return;
	}
	if (!run_call_fail_coded(q, c))
		gateway_reject(c, rc, "%.*s", STR_ARG(q->error));
}

static void
run_call_on_reply(struct peer_request *q, enum rc rc)
{
	struct run_call *r = q->arg;

	if (rc != RC_OK)
		run_call_fail(r, q, rc);
	else if (r->fn != NULL)
		r->fn(r->c, q);
	else
		svc_reply(r->c, q->reply);
}

void
run_call_send(struct gateway *g, struct svc_call *c,
    const struct run_call_peer *peer, const void *msg, run_call_fn fn)
{
	struct peer_request *q = peer_request_new(g, c, run_call_on_reply);
	struct run_call *r;
	enum rc rc;

	if (q == NULL)
		return;
	r = arena_alloc(svc_call_arena(c), sizeof(*r));
	if (r == NULL) {
		gateway_fail(c, RC_TOOBIG);
		return;
	}
	*r = (struct run_call){ .peer = peer, .fn = fn, .c = c };
	q->arg = r;
	q->subject = peer->subject;
	q->request_desc = peer->request;
	q->reply_desc = peer->reply;
	q->timeout_ms = peer->timeout_ms;
	q->msg = msg;
	rc = peer_request_send(q, msg);
	if (rc == RC_INVALID && q->error.p != NULL)
		gateway_reject(c, rc, "%.*s", STR_ARG(q->error));
	else if (rc != RC_OK)
		gateway_fail_bus(c, rc);
}
