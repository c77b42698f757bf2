/*
 * turn_start: accepting a turn, and the requests about a running one (cancel,
 * show).
 */
#include <assert.h>

#include "bus/bus.h"
#include "context.h"
#include "core/log.h"
#include "handlers.h"
#include "peer/peer_request.h"
#include "reply/reply_stream.h"
#include "svc/svc.h"
#include "turn/turn_runner.h"
#include "turn/turn_steps.h"
#include "turn/turn_timeline.h"
#include "wire/msgs.h"
#include "wire/subjects.h"
#include "wire/wire.h"

/* One subscription for all requests about a turn. */
#define CONTROL_SUBJECT_ALL    "soul.rpc.turn.*.%s"
#define CONTROL_SUBJECT_CANCEL "soul.rpc.turn.cancel."
#define CONTROL_SUBJECT_SHOW   "soul.rpc.turn.show."

/* ---- requests about a running turn ---- */

static enum rc
control_reply(struct turn_run *r, struct bus_msg *m, const struct wire_desc *d,
    const void *rep)
{
	struct buf *b = &r->o->out;

	buf_reset(b);
	if (wire_encode(d, rep, b, NULL) != RC_OK)
		return bus_reply_error(m, RC_BUG, STR("{}"));
	return bus_reply(m, buf_str(b));
}

static enum rc
control_reject(
    struct turn_run *r, struct bus_msg *m, enum rc rc, const char *text)
{
	struct wire_error rep = { .error = str_of(text),
		.code = str_of(rc_name(rc)),
		.trace_id = str_of(r->trace.trace_id) };
	struct buf *b = &r->o->out;

	buf_reset(b);
	if (wire_encode(&wire_error_desc, &rep, b, NULL) != RC_OK)
		return bus_reply_error(m, rc, STR("{}"));
	return bus_reply_error(m, rc, buf_str(b));
}

/*
 * Whether the request was decoded (rc) and is for this turn; if not, m has been
 * replied to with an error.
 */
static bool
control_matches(struct turn_run *r, struct bus_msg *m, enum rc rc,
    struct str turn_id, const struct wire_err *err)
{
	char text[WIRE_ERR_TEXT_MAX];

	if (rc == RC_OK && str_eq(turn_id, r->slot.turn_id))
		return true;
	if (rc == RC_OK) {
		rc = control_reject(r, m, RC_NOENT, "turn not found");
	} else {
		wire_err_text(err, text, sizeof(text));
		rc = control_reject(r, m, rc, text);
	}
	if (rc != RC_OK)
		log_debug("turn.reply_lost", LOG_RC(rc));
	return false;
}

static void
control_cancel(struct turn_run *r, struct bus_msg *m)
{
	struct wire_turn_cancel_request q = { .turn_id = { 0 } };
	struct wire_turn_cancel_reply rep = { .turn_id = r->slot.turn_id,
		.canceled = !turn_is_committing(r) };
	struct wire_err err = { "", "" };

	enum rc rc = wire_decode(&wire_turn_cancel_request_desc,
	    bus_msg_data(m), r->o->scratch, &q, &err);
	/* A user cannot tell whether another user's turn exists. */
	if (rc == RC_OK && q.user_id.p != NULL &&
	    !str_eq(q.user_id, r->req->user_id))
		q.turn_id = (struct str){ 0 };
	if (!control_matches(r, m, rc, q.turn_id, &err))
		return;
	log_info("turn.cancel", LOG_V("turn", r->slot.turn_id),
	    LOG_I("canceled", rep.canceled));
	log_debug("turn.cancel_reason", LOG_V("reason", q.reason));
	rc = control_reply(r, m, &wire_turn_cancel_reply_desc, &rep);
	if (rc != RC_OK)
		log_debug("turn.reply_lost", LOG_RC(rc));
	if (rep.canceled)
		turn_feed_kind(r, TURN_CANCEL);
}

static void
control_show(struct turn_run *r, struct bus_msg *m)
{
	struct wire_turn_show_request q = { .turn_id = { 0 } };
	struct wire_err err = { "", "" };
	char started[WALL_FORMAT_MAX];
	struct wire_turn_record rep = { .turn_id = r->slot.turn_id,
		.user_id = r->req->user_id,
		.session_id = r->slot.key.session_id,
		.trace_id = str_of(r->trace.trace_id),
		.instance = r->slot.instance,
		.state = WIRE_TURN_RECORD_STATE_RUNNING,
		.stage = str_of(turn_phase_name(&r->turn)),
		.total_ms = timeline_ms(r->start, clock_mono()),
		.has_total_ms = true,
		.timeline = timeline_items(r->timeline, r->o->scratch),
		.n_timeline = r->timeline->n };

	rep.has_timeline = rep.timeline != NULL;
	wall_format(r->started, 0, started);
	rep.started_at = str_of(started);
	enum rc rc = wire_decode(&wire_turn_show_request_desc, bus_msg_data(m),
	    r->o->scratch, &q, &err);
	if (!control_matches(r, m, rc, q.turn_id, &err))
		return;
	rc = control_reply(r, m, &wire_turn_record_desc, &rep);
	if (rc != RC_OK)
		log_debug("turn.reply_lost", LOG_RC(rc));
}

static void
control_on_message(void *arg, struct bus_msg *m)
{
	struct str subject = bus_msg_subject(m);
	struct turn_run *r = arg;

	arena_reset(r->o->scratch);
	if (str_starts(subject, STR(CONTROL_SUBJECT_CANCEL)))
		control_cancel(r, m);
	else if (str_starts(subject, STR(CONTROL_SUBJECT_SHOW)))
		control_show(r, m);
	else
		bus_msg_free(m);
}

/* ---- start ---- */

static void
start_accept(struct turn_run *r)
{
	struct wire_turn_reply rep = { .turn_id = r->slot.turn_id,
		.state = WIRE_TURN_REPLY_STATE_ACCEPTED,
		.instance = r->slot.instance,
		.has_ahead = true,
		.ahead = r->ahead };

	svc_progress(r->c, &rep);
}

static struct turn_error
start_error(enum rc rc)
{
	switch (rc) {
	case RC_RETRY:
		return (struct turn_error){ 429, "overloaded",
			"too many turns of this session are waiting" };
	case RC_CONFLICT:
		return (struct turn_error){ 409, "conflict",
			"this turn is running already" };
	case RC_DOWN:
	case RC_TIMEOUT:
		return (struct turn_error){ 503, "unavailable",
			"the state cannot be reached now; try again" };
	default:
		return (struct turn_error){ 500, "internal",
			"the stored state could not be used" };
	}
}

void
turn_start(void *arg, struct svc_call *c)
{
	struct turn_event e = { .kind = TURN_LOADED };
	char subject[PEER_SUBJECT_MAX];
	struct orch *o = arg;
	struct str first = { 0 };

	if (o->n_runs >= (size_t)o->conf->turns_max) {
		svc_fail_as(
		    c, &(struct svc_error){ 503, "overloaded", "overloaded" });
		return;
	}
	struct turn_run *r = turn_run_new(o, c, &turn_action_hooks);
	turn_trace_begin(r);
	reply_stream_new(r);
	/* Its deadline may pass meanwhile; it ends once it has a slot. */
	bool owned = turn_own(r);
	assert(owned);
	e.error = turn_load_given(r);
	enum rc rc = RC_OK;
	if (e.error.status == 0)
		rc = queue_slot_enter(r, &first);
	if (rc == RC_CONFLICT && first.p != NULL) {
		turn_end_repeated(r, first);
		return;
	}
	if (rc != RC_OK)
		e.error = start_error(rc);
	if (e.error.status != 0) {
		/* It ends like a turn whose records cannot be read. */
		if (r->turn.phase == TURN_QUEUED)
			r->turn.phase = TURN_LOADING;
		turn_feed(r, &e);
		turn_disown(r);
		return;
	}
	timeline_begin(r->timeline,
	    &(struct timeline_phase){
		.kind = TIMELINE_QUEUE, .begin = r->start });
	rc = peer_subject(
	    subject, CONTROL_SUBJECT_ALL, r->slot.turn_id, (struct str){ 0 });
	if (rc == RC_OK)
		rc = bus_subscribe(
		    o->bus, subject, NULL, control_on_message, r, &r->control);
	if (rc != RC_OK)
		log_debug("turn.no_control", LOG_RC(rc));
	/* A turn that runs at once says so with its end. */
	if (!r->begun)
		start_accept(r);
	queue_slot_wait(r);
	turn_disown(r);
}
