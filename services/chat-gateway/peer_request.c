/*
 * A request to another service over NATS.
 */
#include "peer_request.h"

#include "bus/bus.h"
#include "core/arena.h"
#include "core/buf.h"
#include "core/fiber.h"
#include "core/log.h"
#include "gateway.h"
#include "svc/svc.h"
#include "wire/msgs.h"
#include "wire/wire.h"

struct peer_request *
peer_request_new(struct gateway *g, struct svc_call *c, peer_request_fn fn)
{
	struct peer_request *q = arena_alloc(svc_call_arena(c), sizeof(*q));

	if (q == NULL) {
		gateway_fail(c, RC_TOOBIG);
		return NULL;
	}
	*q = (struct peer_request){ .g = g,
		.trace = svc_call_trace(c),
		.a = svc_call_arena(c),
		.fn = fn,
		.arg = c };
	return q;
}

static enum rc
peer_request_decode(struct peer_request *q, struct str data)
{
	struct wire_err err;

	q->reply = arena_alloc(q->a, wire_desc_size(q->reply_desc));
	if (q->reply != NULL &&
	    wire_decode(q->reply_desc, data, q->a, q->reply, &err) == RC_OK)
		return RC_OK;
	log_error("gateway.invalid_reply", LOG_S("subject", q->subject),
	    LOG_S("path", q->reply != NULL ? err.path : ""),
	    LOG_S("why", q->reply != NULL ? err.why : "is too large"));
	return RC_BUG;
}

/* Text and code of an error reply in our format; absent otherwise. */
static void
peer_request_decode_error(struct peer_request *q, struct str data)
{
	struct wire_error e;

	if (data.n == 0 ||
	    wire_decode(&wire_error_desc, data, q->a, &e, NULL) != RC_OK)
		return;
	q->error = e.error;
	q->code = e.code;
}

static void
peer_request_end(void *arg)
{
	struct peer_request *q = arg;

	q->fn(q, q->rc);
}

static void
peer_request_on_reply(void *arg, enum rc rc, struct str data)
{
	struct peer_request *q = arg;

	q->open = false;
	log_trace_set(q->trace->trace_id);
	q->error = q->code = (struct str){ NULL, 0 };
	if (rc == RC_OK)
		rc = peer_request_decode(q, data);
	else if (rc == RC_NOENT && data.n == 0)
		rc = RC_DOWN;
	else
		peer_request_decode_error(q, data);
	q->rc = rc;
	fiber_start(peer_request_end, q);
	log_trace_set("");
}

enum rc
peer_request_send(struct peer_request *q, const void *msg)
{
	struct bus_meta meta = {
		.deadline = { clock_wall().ms + q->timeout_ms },
		.trace = q->trace,
	};
	struct buf out = BUF_INIT(WIRE_MESSAGE_MAX);
	char text[WIRE_ERR_TEXT_MAX];
	struct wire_err err;
	enum rc rc;

	rc = wire_encode(q->request_desc, msg, &out, &err);
	if (rc != RC_OK) {
		wire_err_text(&err, text, sizeof(text));
		q->error = arena_str(q->a, str_of(text));
	} else {
		rc = bus_request(svc_bus(q->g->svc), q->subject, buf_str(&out),
		    &meta,
		    (struct bus_reply_handler){
			.fn = peer_request_on_reply, .arg = q },
		    &q->id);
		q->open = rc == RC_OK;
	}
	buf_free(&out);
	return rc;
}

void
peer_request_cancel(struct peer_request *q)
{
	if (q->open)
		bus_request_cancel(svc_bus(q->g->svc), q->id);
	q->open = false;
}
