/*
 * The beginning of a turn, and its cancel.
 */
#include "on_turn.h"

#include "ask.h"
#include "bus/bus.h"
#include "core/log.h"
#include "on_place.h"
#include "orch.h"
#include "run.h"
#include "svc/svc.h"
#include "wire/msgs.h"
#include "wire/subjects.h"
#include "wire/wire.h"

/* ---- cancel ------------------------------------------------------------ */

static enum rc
reply_canceled(struct run *r, struct bus_msg *m)
{
	struct wire_turn_cancel_reply rep = { .turn_id = r->place.turn_id,
		.canceled = true };
	struct buf *b = &r->o->out;

	buf_reset(b);
	if (wire_encode(&wire_turn_cancel_reply_desc, &rep, b, NULL) != RC_OK)
		return bus_reply_error(m, RC_BUG, STR("{}"));
	return bus_reply(m, buf_str(b));
}

static enum rc
refuse(struct run *r, struct bus_msg *m, enum rc rc, const char *text)
{
	struct wire_error rep = { .error = str_of(text),
		.code = str_of(rc_name(rc)),
		.trace_id = str_of(run_trace(r)->trace_id) };
	struct buf *b = &r->o->out;

	buf_reset(b);
	if (wire_encode(&wire_error_desc, &rep, b, NULL) != RC_OK)
		return bus_reply_error(m, rc, STR("{}"));
	return bus_reply_error(m, rc, buf_str(b));
}

/* Nobody else listens to this turn's subject. */
static void
on_cancel(void *arg, struct bus_msg *m)
{
	struct run *r = arg;
	struct wire_turn_cancel_request q;
	char text[WIRE_ERR_TEXT_MAX];
	struct wire_err err;

	arena_reset(r->o->scratch);
	enum rc rc = wire_decode(&wire_turn_cancel_request_desc,
	    bus_msg_data(m), r->o->scratch, &q, &err);
	if (rc != RC_OK) {
		wire_err_text(&err, text, sizeof(text));
		rc = refuse(r, m, rc, text);
	} else if (!str_eq(q.turn_id, r->place.turn_id) ||
	    (q.user_id.p != NULL && !str_eq(q.user_id, r->req->user_id))) {
		rc = refuse(r, m, RC_NOENT, "turn not found");
	} else {
		log_info("turn.cancel", LOG_V("turn", r->place.turn_id),
		    LOG_V("reason", q.reason));
		rc = reply_canceled(r, m);
		run_feed_kind(r, TURN_CANCEL);
	}
	if (rc != RC_OK && rc != RC_INVALID)
		log_debug("turn.cancel_reply_lost", LOG_RC(rc));
}

/* ---- start ------------------------------------------------------------- */

static void
accepted(struct run *r)
{
	struct wire_turn_reply rep = { .turn_id = r->place.turn_id,
		.state = WIRE_TURN_REPLY_STATE_ACCEPTED,
		.instance = r->place.instance,
		.has_ahead = true,
		.ahead = r->ahead };

	svc_progress(r->c, &rep);
}

static struct turn_fault
no_place(enum rc rc)
{
	switch (rc) {
	case RC_AGAIN:
		return (struct turn_fault){ 429, "overloaded",
			"too many turns of this session are waiting" };
	case RC_CONFLICT:
		return (struct turn_fault){ 409, "conflict",
			"this turn is running already" };
	case RC_DOWN:
	case RC_TIMEOUT:
		return (struct turn_fault){ 503, "unavailable",
			"the state cannot be reached now; try again" };
	default:
		return (struct turn_fault){ 500, "internal",
			"the stored state could not be used" };
	}
}

void
on_turn_start(void *arg, struct svc_call *c)
{
	struct turn_event e = { .kind = TURN_LOADED };
	char subject[ASK_SUBJECT_MAX];
	struct orch *o = arg;

	if (o->n_runs >= (size_t)o->conf->turns_max) {
		svc_fail_as(
		    c, &(struct svc_error){ 503, "overloaded", "overloaded" });
		return;
	}
	struct run *r = run_new(o, c);
	enum rc rc = place_enter(r);
	if (rc != RC_OK) {
		/* It ends as a turn whose records cannot be read. */
		e.fault = no_place(rc);
		r->turn.phase = TURN_LOADING;
		run_feed(r, &e);
		return;
	}
	rc = ask_subject(subject, WIRE_SUBJECT_FMT_TURN_CANCEL,
	    r->place.turn_id, (struct str){ 0 });
	if (rc == RC_OK)
		rc = bus_subscribe(
		    o->bus, subject, NULL, on_cancel, r, &r->cancel);
	if (rc != RC_OK)
		log_debug("turn.cancel_unheard", LOG_RC(rc));
	accepted(r);
	place_wait(r);
}
