/*
 * One request, one answer.
 */
#include "question.h"

#include "bus/bus.h"
#include "core/arena.h"
#include "core/buf.h"
#include "core/log.h"
#include "gateway.h"
#include "svc/svc.h"
#include "wire/msgs.h"
#include "wire/wire.h"

struct question *
question_new(struct gateway *g, struct svc_call *c, question_fn fn)
{
	struct question *q = arena_alloc(svc_call_arena(c), sizeof(*q));

	if (q == NULL) {
		gateway_fail(c, RC_TOOBIG);
		return NULL;
	}
	*q = (struct question){ .g = g,
		.trace = svc_call_trace(c),
		.a = svc_call_arena(c),
		.fn = fn,
		.arg = c };
	return q;
}

static enum rc
read_answer(struct question *q, struct str data)
{
	struct wire_err err;

	q->reply = arena_alloc(q->a, wire_desc_size(q->answer));
	if (q->reply != NULL &&
	    wire_decode(q->answer, data, q->a, q->reply, &err) == RC_OK)
		return RC_OK;
	log_error("gateway.answer", LOG_S("subject", q->subject),
	    LOG_S("path", q->reply != NULL ? err.path : ""),
	    LOG_S("why", q->reply != NULL ? err.why : "is too large"));
	return RC_BUG;
}

/* What an error answer says, if it is one of ours. */
static struct str
read_error(struct question *q, struct str data)
{
	struct wire_error e;

	if (data.n == 0 ||
	    wire_decode(&wire_error_desc, data, q->a, &e, NULL) != RC_OK)
		return (struct str){ NULL, 0 };
	return e.error;
}

static void
on_answer(void *arg, enum rc rc, struct str data)
{
	struct question *q = arg;

	q->open = false;
	log_trace_set(q->trace->trace_id);
	q->told = (struct str){ NULL, 0 };
	if (rc == RC_OK)
		rc = read_answer(q, data);
	else if (rc == RC_NOENT && data.n == 0)
		rc = RC_DOWN;
	else
		q->told = read_error(q, data);
	q->fn(q, rc);
	log_trace_set("");
}

enum rc
question_ask(struct question *q, const void *msg)
{
	struct bus_meta meta = {
		.deadline = { clock_wall().ms + q->timeout_ms },
		.trace = q->trace,
	};
	struct buf out = BUF_INIT(WIRE_MESSAGE_MAX);
	char text[WIRE_ERR_TEXT_MAX];
	struct wire_err err;
	enum rc rc;

	rc = wire_encode(q->ask, msg, &out, &err);
	if (rc != RC_OK) {
		wire_err_text(&err, text, sizeof(text));
		q->told = arena_str(q->a, str_of(text));
	} else {
		rc = bus_request(svc_bus(q->g->svc), q->subject, buf_str(&out),
		    &meta,
		    (struct bus_reply_handler){ .fn = on_answer, .arg = q },
		    &q->id);
		q->open = rc == RC_OK;
	}
	buf_free(&out);
	return rc;
}

void
question_cancel(struct question *q)
{
	if (q->open)
		bus_request_cancel(svc_bus(q->g->svc), q->id);
	q->open = false;
}
