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
#include "turn/unasked.h"
#include "wire/msgs.h"
#include "wire/subjects.h"
#include "wire/wire.h"

/* One subscription for all requests about the turns of this process. */
#define CONTROL_SUBJECT_ALL    "soul.rpc.turn.*.%s"
#define CONTROL_SUBJECT_CANCEL "soul.rpc.turn.cancel."
#define CONTROL_SUBJECT_SHOW   "soul.rpc.turn.show."

/* ---- requests about a running turn ---- */

struct control_target {
	struct str turn_id, user_id;
};

static enum rc
control_reply(struct orch *o, struct bus_msg *m, const struct wire_desc *d,
    const void *rep)
{
	buf_reset(&o->out);
	if (wire_encode(d, rep, &o->out, NULL) != RC_OK)
		return bus_reply_error(m, RC_BUG, STR("{}"));
	return bus_reply(m, buf_str(&o->out));
}

static void
control_reject(struct orch *o, struct bus_msg *m, enum rc rc, const char *text)
{
	struct trace trace;

	if (!bus_msg_trace(m, &trace))
		trace_new(&trace);
	const struct wire_error rep = { .error = str_of(text),
		.code = str_of(rc_name(rc)),
		.trace_id = str_of(trace.trace_id) };
	buf_reset(&o->out);
	if (wire_encode(&wire_error_desc, &rep, &o->out, NULL) != RC_OK)
		buf_puts(&o->out, "{}");
	rc = bus_reply_error(m, rc, buf_str(&o->out));
	if (rc != RC_OK)
		log_debug("turn.reply_lost", LOG_RC(rc));
}

/*
 * The turn that a request (decoded: rc) names; NULL: m has been replied to with
 * an error.  user absent: any user's.  A user cannot tell whether another
 * user's turn exists.
 */
static struct turn_run *
control_find(struct orch *o, struct bus_msg *m, enum rc rc,
    const struct wire_err *err, const struct control_target *named)
{
	char text[WIRE_ERR_TEXT_MAX];
	struct turn_run *r;

	if (rc != RC_OK) {
		wire_err_text(err, text, sizeof(text));
		control_reject(o, m, rc, text);
		return NULL;
	}
	TAILQ_FOREACH (r, &o->runs, link) {
		if (str_eq(r->slot.turn_id, named->turn_id) &&
		    (named->user_id.p == NULL ||
			str_eq(r->req->user_id, named->user_id)))
			return r;
	}
	control_reject(o, m, RC_NOENT, "turn not found");
	return NULL;
}

static void
control_cancel(struct orch *o, struct bus_msg *m)
{
	struct wire_turn_cancel_request q = { .turn_id = { 0 } };
	struct wire_turn_cancel_reply rep;
	struct wire_err err = { "", "" };
	struct turn_run *r;

	enum rc rc = wire_decode(&wire_turn_cancel_request_desc,
	    bus_msg_data(m), o->scratch, &q, &err);
	r = control_find(
	    o, m, rc, &err, &(struct control_target){ q.turn_id, q.user_id });
	if (r == NULL)
		return;
	rep = (struct wire_turn_cancel_reply){ .turn_id = r->slot.turn_id,
		.canceled = !turn_is_committing(r) };
	log_trace_set(r->trace.trace_id);
	log_info("turn.cancel", LOG_V("turn", r->slot.turn_id),
	    LOG_I("canceled", rep.canceled));
	log_debug("turn.cancel_reason", LOG_V("reason", q.reason));
	rc = control_reply(o, m, &wire_turn_cancel_reply_desc, &rep);
	if (rc != RC_OK)
		log_debug("turn.reply_lost", LOG_RC(rc));
	if (rep.canceled)
		turn_feed_kind(r, TURN_CANCEL);
	log_trace_set("");
}

static void
control_show(struct orch *o, struct bus_msg *m)
{
	struct wire_turn_show_request q = { .turn_id = { 0 } };
	struct wire_err err = { "", "" };
	struct wire_turn_record rep;
	char started[WALL_FORMAT_MAX];
	struct turn_run *r;

	enum rc rc = wire_decode(&wire_turn_show_request_desc, bus_msg_data(m),
	    o->scratch, &q, &err);
	if (rc == RC_OK && queue_slot_is_deferred(o, q.turn_id)) {
		control_reject(o, m, RC_RETRY, "its end is not stored yet");
		return;
	}
	r = control_find(
	    o, m, rc, &err, &(struct control_target){ .turn_id = q.turn_id });
	if (r == NULL)
		return;
	wall_format(r->started, 0, started);
	rep = (struct wire_turn_record){ .turn_id = r->slot.turn_id,
		.user_id = r->req->user_id,
		.session_id = r->slot.key.session_id,
		.trace_id = str_of(r->trace.trace_id),
		.instance = r->slot.instance,
		.state = WIRE_TURN_RECORD_STATE_RUNNING,
		.stage = str_of(turn_phase_name(&r->turn)),
		.started_at = str_of(started),
		.total_ms = timeline_ms(r->start, clock_mono()),
		.has_total_ms = true,
		.timeline = timeline_items(r->timeline, o->scratch),
		.n_timeline = r->timeline->n };
	rep.has_timeline = rep.timeline != NULL;
	rc = control_reply(o, m, &wire_turn_record_desc, &rep);
	if (rc != RC_OK)
		log_debug("turn.reply_lost", LOG_RC(rc));
}

static void
control_on_message(void *arg, struct bus_msg *m)
{
	struct str subject = bus_msg_subject(m);
	struct orch *o = arg;

	arena_reset(o->scratch);
	if (str_starts(subject, STR(CONTROL_SUBJECT_CANCEL)))
		control_cancel(o, m);
	else if (str_starts(subject, STR(CONTROL_SUBJECT_SHOW)))
		control_show(o, m);
	else
		bus_msg_free(m);
}

enum rc
turn_subscribe_control(struct orch *o)
{
	char subject[PEER_SUBJECT_MAX];
	enum rc rc;

	rc = peer_subject(subject, CONTROL_SUBJECT_ALL, str_of(o->instance),
	    (struct str){ 0 });
	return rc != RC_OK
	    ? rc
	    : bus_subscribe(o->bus, subject, NULL, control_on_message, o, NULL);
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
start_error(const struct turn_run *r, enum rc rc)
{
	switch (rc) {
	case RC_NOENT:
		return (
		    struct turn_error){ 400, "invalid_request", TURN_NO_SOUL };
	case RC_UNREPLICATED:
		return turn_unreplicated(r);
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

static enum rc
start_enter(struct turn_run *r, struct str *first)
{
	struct timeline_phase begin = { .kind = TIMELINE_BEGIN,
		.begin = clock_mono() };
	enum rc rc;

	timeline_begin(r->timeline, &begin);
	rc = queue_slot_enter(r, first);
	timeline_end(r->timeline, TIMELINE_BEGIN, 0,
	    rc == RC_OK ? "ok" : rc_name(rc), clock_mono());
	return rc;
}

/* Attempts of one request that were lost. */
#define LOST_MAX 8

/*
 * r repeats the turn *first, whatever became of that: RC_OK and *first absent
 * if r has a slot after all, as that was lost; else r has been ended.
 */
static enum rc
start_repeat_unasked(struct turn_run *r, struct str *first)
{
	struct wire_turn_reply rep;
	bool ended;
	enum rc rc;

	for (int i = 0; i < LOST_MAX && first->p != NULL; i++) {
		rc = unasked_ended_before(r, *first, &ended, &rep);
		if (rc == RC_OK && ended)
			turn_end_as_before(r, &rep);
		else if (rc == RC_OK)
			turn_end_repeated(r, *first);
		if (rc != RC_NOENT)
			return rc;
		r->lost = *first;
		*first = (struct str){ NULL, 0 };
		rc = start_enter(r, first);
		if (rc != RC_CONFLICT)
			return rc;
	}
	return RC_CONFLICT;
}

void
turn_start(void *arg, struct svc_call *c)
{
	struct turn_event e = { .kind = TURN_LOADED };
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
	e.error = unasked_error(r->req);
	if (e.error.status == 0)
		e.error = turn_load_given(r);
	enum rc rc = RC_OK;
	if (e.error.status == 0)
		rc = start_enter(r, &first);
	if (rc == RC_CONFLICT && first.p != NULL && r->req->has_unasked) {
		rc = start_repeat_unasked(r, &first);
		if (rc == RC_OK && first.p != NULL)
			return;
	} else if (rc == RC_CONFLICT && first.p != NULL) {
		turn_end_repeated(r, first);
		return;
	}
	if (rc != RC_OK)
		e.error = start_error(r, rc);
	if (e.error.status != 0) {
		/* It ends like a turn whose records cannot be read. */
		if (r->turn.phase == TURN_QUEUED)
			r->turn.phase = TURN_LOADING;
		turn_feed(r, &e);
		turn_disown(r);
		return;
	}
	if (r->ahead > 0)
		timeline_begin(r->timeline,
		    &(struct timeline_phase){
			.kind = TIMELINE_QUEUE, .begin = clock_mono() });
	/* A turn that runs at once says so with its end. */
	if (!r->begun)
		start_accept(r);
	queue_slot_wait(r);
	turn_disown(r);
}
