/*
 * The beginning of a turn, and what it is asked under way.
 */
#include "on_turn.h"

#include "ask.h"
#include "bus/bus.h"
#include "core/log.h"
#include "on_end.h"
#include "on_place.h"
#include "orch.h"
#include "run.h"
#include "svc/svc.h"
#include "wire/msgs.h"
#include "wire/subjects.h"
#include "wire/wire.h"

/* One subscription for all that a turn is asked. */
#define SUBJECT_ALL    "soul.rpc.turn.*.%s"
#define SUBJECT_CANCEL "soul.rpc.turn.cancel."
#define SUBJECT_SHOW   "soul.rpc.turn.show."

/* ---- what a turn is asked ---------------------------------------------- */

static enum rc
answer(struct run *r, struct bus_msg *m, const struct wire_desc *d,
    const void *rep)
{
	struct buf *b = &r->o->out;

	buf_reset(b);
	if (wire_encode(d, rep, b, NULL) != RC_OK)
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

/* Answer and end m, with an error if rc or the turn's id says so. */
static bool
is_meant(struct run *r, struct bus_msg *m, enum rc rc, struct str turn_id,
    const struct wire_err *err)
{
	char text[WIRE_ERR_TEXT_MAX];

	if (rc == RC_OK && str_eq(turn_id, r->place.turn_id))
		return true;
	if (rc == RC_OK) {
		rc = refuse(r, m, RC_NOENT, "turn not found");
	} else {
		wire_err_text(err, text, sizeof(text));
		rc = refuse(r, m, rc, text);
	}
	if (rc != RC_OK)
		log_debug("turn.answer_lost", LOG_RC(rc));
	return false;
}

static void
cancel(struct run *r, struct bus_msg *m)
{
	struct wire_turn_cancel_request q = { .turn_id = { 0 } };
	struct wire_turn_cancel_reply rep = { .turn_id = r->place.turn_id,
		.canceled = true };
	struct wire_err err = { "", "" };

	enum rc rc = wire_decode(&wire_turn_cancel_request_desc,
	    bus_msg_data(m), r->o->scratch, &q, &err);
	/* A turn of somebody else is not found. */
	if (rc == RC_OK && q.user_id.p != NULL &&
	    !str_eq(q.user_id, r->req->user_id))
		q.turn_id = (struct str){ 0 };
	if (!is_meant(r, m, rc, q.turn_id, &err))
		return;
	log_info("turn.cancel", LOG_V("turn", r->place.turn_id));
	log_debug("turn.cancel_reason", LOG_V("reason", q.reason));
	rc = answer(r, m, &wire_turn_cancel_reply_desc, &rep);
	if (rc != RC_OK)
		log_debug("turn.answer_lost", LOG_RC(rc));
	run_feed_kind(r, TURN_CANCEL);
}

static void
show(struct run *r, struct bus_msg *m)
{
	struct wire_turn_show_request q = { .turn_id = { 0 } };
	struct wire_err err = { "", "" };
	char started[WALL_FORMAT_MAX];
	struct wire_turn_record rep = { .turn_id = r->place.turn_id,
		.user_id = r->req->user_id,
		.session_id = r->place.key.session_id,
		.trace_id = str_of(run_trace(r)->trace_id),
		.instance = r->place.instance,
		.state = WIRE_TURN_RECORD_STATE_RUNNING,
		.stage = str_of(turn_stage(&r->turn)),
		.total_ms = timeline_ms(r->timeline.start, clock_mono()),
		.has_total_ms = true,
		.timeline = timeline_items(&r->timeline, r->o->scratch),
		.n_timeline = r->timeline.n };

	rep.has_timeline = rep.timeline != NULL;
	wall_format(r->started, 0, started);
	rep.started_at = str_of(started);
	enum rc rc = wire_decode(&wire_turn_show_request_desc, bus_msg_data(m),
	    r->o->scratch, &q, &err);
	if (!is_meant(r, m, rc, q.turn_id, &err))
		return;
	rc = answer(r, m, &wire_turn_record_desc, &rep);
	if (rc != RC_OK)
		log_debug("turn.answer_lost", LOG_RC(rc));
}

/* Nobody else listens to this turn's subjects. */
static void
on_asked(void *arg, struct bus_msg *m)
{
	struct str subject = bus_msg_subject(m);
	struct run *r = arg;

	arena_reset(r->o->scratch);
	if (str_starts(subject, STR(SUBJECT_CANCEL)))
		cancel(r, m);
	else if (str_starts(subject, STR(SUBJECT_SHOW)))
		show(r, m);
	else
		bus_msg_free(m);
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
	case RC_RETRY:
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
	struct str first;

	if (o->n_runs >= (size_t)o->conf->turns_max) {
		svc_fail_as(
		    c, &(struct svc_error){ 503, "overloaded", "overloaded" });
		return;
	}
	struct run *r = run_new(o, c);
	enum rc rc = place_enter(r, &first);
	if (rc == RC_CONFLICT && first.p != NULL) {
		end_repeated(r, first);
		return;
	}
	if (rc != RC_OK) {
		/* It ends as a turn whose records cannot be read. */
		e.fault = no_place(rc);
		r->turn.phase = TURN_LOADING;
		run_feed(r, &e);
		return;
	}
	timeline_begin(&r->timeline,
	    &(struct timeline_stage){
		.kind = TIMELINE_QUEUE, .begin = r->timeline.start });
	rc = ask_subject(
	    subject, SUBJECT_ALL, r->place.turn_id, (struct str){ 0 });
	if (rc == RC_OK)
		rc = bus_subscribe(
		    o->bus, subject, NULL, on_asked, r, &r->asked);
	if (rc != RC_OK)
		log_debug("turn.unasked", LOG_RC(rc));
	accepted(r);
	place_wait(r);
}
