/*
 * The place is given up before the answer goes out, so that the user's next
 * turn finds it free.
 */
#include "on_end.h"

#include <string.h>

#include "ask.h"
#include "bus/bus.h"
#include "core/id.h"
#include "core/log.h"
#include "core/metric.h"
#include "ending.h"
#include "on_body.h"
#include "on_load.h"
#include "on_place.h"
#include "on_think.h"
#include "orch.h"
#include "run.h"
#include "spans.h"
#include "state/session.h"
#include "svc/svc.h"
#include "tell.h"
#include "wire/msgs.h"

static void
stop(struct run *r)
{
	ask_cancel_all(r);
	body_cancel_all(r);
	think_cancel(r);
	bus_unsubscribe(r->asked);
	r->asked = NULL;
}

/* The call takes the turn's memory with it. */
static void
answer(struct run *r, const struct wire_turn_reply *rep)
{
	struct svc_call *c = r->c;

	place_leave(r);
	if (rep->has_error)
		spans_end(r, rep->error.code.p);
	else
		spans_end(r,
		    rep->state == WIRE_TURN_REPLY_STATE_CANCELED ? "canceled"
								 : NULL);
	r->ended = true;
	log_debug("turn.ended", LOG_I("state", rep->state),
	    LOG_I("ms", mono_diff_ms(clock_mono(), r->timeline.start)));
	svc_reply(c, rep);
}

/* Ask for a summary of a long session; nobody waits for it. */
static void
summarise_if_long(struct orch *o, const struct session_key *k)
{
	struct session_length least = { o->conf->long_messages,
		o->conf->long_chars };
	bool asked;

	enum rc rc = session_request_summary(o->state, k, &least, &asked);
	if (rc != RC_OK)
		log_debug("session.length_unknown", LOG_RC(rc));
	else if (asked)
		log_debug("session.long", LOG_V("session", k->session_id));
}

enum rc
on_reply(struct run *r, const struct turn_action *a)
{
	char user[ID_MAX + 1], session[ID_MAX + 1];
	struct wire_turn_reply rep = ending_reply(r);

	(void)a;
	stop(r);
	tell_response(r);
	tell_completed(r, WIRE_TURN_COMPLETED_STATE_COMPLETED, NULL);
	metric_add(r->o->metrics.completed, 1);
	/* The answer takes the names with it. */
	str_copy(r->place.key.user_id, user, sizeof(user));
	str_copy(r->place.key.session_id, session, sizeof(session));
	struct orch *o = r->o;
	answer(r, &rep);
	summarise_if_long(
	    o, &(struct session_key){ str_of(user), str_of(session) });
	return RC_OK;
}

enum rc
on_fail(struct run *r, const struct turn_action *a)
{
	struct wire_turn_reply rep = { .turn_id = r->place.turn_id,
		.state = WIRE_TURN_REPLY_STATE_FAILED,
		.instance = r->place.instance,
		.has_status = true,
		.status = a->fault.status,
		.has_error = true,
		.error = { .error = str_of(a->fault.text),
		    .code = str_of(a->fault.code),
		    .reason = str_of(think_reason(r, &a->fault)),
		    .trace_id = str_of(run_trace(r)->trace_id) } };

	stop(r);
	load_keep(r);
	ending_badly(r, &rep, &a->fault);
	log_warn("turn.failed", LOG_V("turn", r->place.turn_id),
	    LOG_S("code", a->fault.code), LOG_S("why", a->fault.text));
	tell_completed(r, WIRE_TURN_COMPLETED_STATE_FAILED, a->fault.code);
	metric_add(r->o->metrics.failed, 1);
	answer(r, &rep);
	return RC_OK;
}

enum rc
on_canceled(struct run *r, const struct turn_action *a)
{
	struct wire_turn_reply rep = { .turn_id = r->place.turn_id,
		.state = WIRE_TURN_REPLY_STATE_CANCELED,
		.instance = r->place.instance };

	(void)a;
	stop(r);
	load_keep(r);
	ending_badly(r, &rep, NULL);
	tell_completed(r, WIRE_TURN_COMPLETED_STATE_CANCELED, NULL);
	metric_add(r->o->metrics.canceled, 1);
	answer(r, &rep);
	return RC_OK;
}

void
end_repeated(struct run *r, struct str first)
{
	struct wire_turn_reply rep = { .turn_id = r->place.turn_id,
		.state = WIRE_TURN_REPLY_STATE_REPEATED,
		.instance = r->place.instance,
		.first = first };
	struct svc_call *c = r->c;

	metric_add(r->o->metrics.repeated, 1);
	log_info("turn.repeated", LOG_V("turn", r->place.turn_id),
	    LOG_V("first", first));
	run_free(r);
	svc_reply(c, &rep);
}
