#include "service_call.h"

#include "core/arena.h"
#include "core/mem.h"
#include "gateway.h"
#include "state/run.h"
#include "svc/svc.h"
#include "wire/wire.h"

/* A request, its route's errors, and who gets the reply. */
struct service_call {
	const struct service_call_peer *peer;
	service_call_fn fn;
	struct svc_call *c;
};

/* ---- errors of the service ---- */

/* Codes that stand for another status than their result code's. */
static const struct {
	const char *code;
	int status;
} service_call_codes[] = {
	{ RUN_WHY_KEY_REUSED, 409 },
	{ RUN_WHY_BUSY, 409 },
	{ RUN_WHY_NOT_RESUMABLE, 409 },
	{ RUN_WHY_NOT_WAITING, 409 },
	{ RUN_WHY_STALE, 409 },
	{ "too_many_runs", 429 },
	{ "queue_full", 429 },
	{ "output_gone", 410 },
	{ "too_many_alarms", 409 },
	{ "proactive_off", 409 },
};

/* Whether the error has such a code: c has been ended. */
static bool
service_call_fail_coded(struct peer_request *q, struct svc_call *c)
{
	struct str text = arena_str(svc_call_arena(c), q->error);
	size_t i;

	for (i = 0; i < NELEM(service_call_codes); i++)
		if (str_eq(q->code, str_of(service_call_codes[i].code))) {
			svc_fail_as(c,
			    &(struct svc_error){ service_call_codes[i].status,
				service_call_codes[i].code,
				text.p != NULL ? text.p
					       : service_call_codes[i].code });
			return true;
		}
	return false;
}

static void
service_call_fail(struct service_call *r, struct peer_request *q, enum rc rc)
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
	if (!service_call_fail_coded(q, c))
		gateway_reject(c, rc, "%.*s", STR_ARG(q->error));
}

static void
service_call_on_reply(struct peer_request *q, enum rc rc)
{
	struct service_call *r = q->arg;

	if (rc != RC_OK)
		service_call_fail(r, q, rc);
	else if (r->fn != NULL)
		r->fn(r->c, q);
	else
		svc_reply(r->c, q->reply);
}

void *
service_call_message(struct svc_call *c, size_t n)
{
	void *p = arena_alloc(svc_call_arena(c), n);

	if (p == NULL)
		gateway_fail(c, RC_TOOBIG);
	return p;
}

void
service_call_send(struct gateway *g, struct svc_call *c,
    const struct service_call_peer *peer, const void *msg, service_call_fn fn)
{
	struct peer_request *q = peer_request_new(g, c, service_call_on_reply);
	struct service_call *r;
	enum rc rc;

	if (q == NULL)
		return;
	r = arena_alloc(svc_call_arena(c), sizeof(*r));
	if (r == NULL) {
		gateway_fail(c, RC_TOOBIG);
		return;
	}
	*r = (struct service_call){ .peer = peer, .fn = fn, .c = c };
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
