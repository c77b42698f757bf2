#include "alarm_view.h"

#include "alarm/alarm_moment.h"
#include "alarm/alarm_when.h"
#include "context.h"
#include "core/mem.h"
#include "core/zone.h"
#include "ring.h"
#include "svc/event.h"
#include "wire/subjects.h"

/* Times of an event. */
#define EVENT_MAX 4096

/* RFC 3339 in UTC; absent for 0. */
static struct str
view_time(int64_t ms, struct arena *a)
{
	char text[WALL_FORMAT_MAX];

	if (ms == 0)
		return (struct str){ NULL, 0 };
	wall_format((struct wall){ ms }, 0, text);
	return arena_str(a, str_of(text));
}

/* An optional text: an empty one is absent. */
static struct str
view_text(struct str s)
{
	return s.n > 0 ? s : (struct str){ NULL, 0 };
}

enum rc
alarm_view(const struct wire_alarm_record *r, const struct zone *zone,
    struct wall now, struct arena *a, struct wire_alarm *out)
{
	char moment[ALARM_MOMENT_MAX], id[RING_ID_MAX];
	bool began = ring_is_ringing(r);

	*out = (struct wire_alarm){ .alarm_id = r->id,
		.user_id = r->user_id,
		.soul_id = r->soul_id,
		.terminal_id = r->terminal_id,
		.session_id = r->session_id,
		.kind = (enum wire_alarm_kind)r->kind,
		.text = r->text,
		.rule = r->rule,
		.zone = r->zone,
		.action = r->action,
		.has_action = r->has_action,
		.self_ringing = r->self_ringing,
		.state = (enum wire_alarm_state)r->state,
		.has_last_state = r->has_last_state || began,
		.last_state = began ? WIRE_ALARM_LAST_STATE_DUE
				    : (enum wire_alarm_last_state)r->last_state,
		.attempts = r->attempts,
		.rang_on = r->rang_on,
		.reason = view_text(r->reason) };
	if (!began && r->next_ms > 0) {
		alarm_moment_write((struct wall){ r->at_ms }, now, zone,
		    alarm_is_chinese(r->text), moment);
		out->moment = arena_str(a, str_of(moment));
		out->next_at = view_time(r->at_ms, a);
	}
	if (began || r->last_at_ms > 0) {
		struct wire_alarm_record ended = *r;

		ended.at_ms = began ? r->at_ms : r->last_at_ms;
		ring_occurrence(&ended, id);
		out->occurrence = arena_str(a, str_of(id));
		out->occurred_at = view_time(ended.at_ms, a);
	}
	out->created_at = view_time(r->created_ms, a);
	out->updated_at = view_time(r->updated_ms, a);
	return out->created_at.p != NULL && out->updated_at.p != NULL
	    ? RC_OK
	    : RC_TOOBIG;
}

/* ---- pushes ---- */

enum wire_push_state
alarm_view_push_state(const struct wire_alarm_record *r)
{
	static const struct {
		struct str reason;
		enum wire_push_state state;
	} waits[] = {
		{ STR_INIT("quiet_hours"), WIRE_PUSH_STATE_QUIET },
		{ STR_INIT("no_body"), WIRE_PUSH_STATE_NO_BODY },
		{ STR_INIT("no_skill"), WIRE_PUSH_STATE_NO_SKILL },
	};
	static const struct str failures[] = { STR_INIT("proactive"),
		STR_INIT("too_many"), STR_INIT("failed") };

	if (r->state == WIRE_ALARM_RECORD_STATE_RUNG)
		return WIRE_PUSH_STATE_SPOKEN;
	if (ring_has_ended(r)) {
		for (size_t i = 0; i < NELEM(failures); i++)
			if (str_eq(r->reason, failures[i]))
				return WIRE_PUSH_STATE_FAILED;
		return WIRE_PUSH_STATE_EXPIRED;
	}
	for (size_t i = 0; i < NELEM(waits); i++)
		if (str_eq(r->reason, waits[i].reason))
			return waits[i].state;
	return r->body.n > 0 && r->reason.n == 0 ? WIRE_PUSH_STATE_SPEAKING
						 : WIRE_PUSH_STATE_WAITING;
}

enum rc
alarm_view_push(
    const struct wire_alarm_record *r, struct arena *a, struct wire_push *out)
{
	*out = (struct wire_push){ .push_id = r->id,
		.user_id = r->user_id,
		.soul_id = r->soul_id,
		.terminal_id = r->terminal_id,
		.request_id = r->request_id,
		.text = r->text,
		.verbatim = r->verbatim,
		.title = view_text(r->title),
		.source = (enum wire_push_source)r->source,
		.urgent = r->urgent,
		.state = alarm_view_push_state(r),
		.reason = view_text(r->reason),
		.spoken_on = r->rang_on,
		.attempts = r->attempts,
		.next_at = view_time(ring_has_ended(r) ? 0 : r->next_ms, a),
		.expires_at = view_time(r->expires_ms, a),
		.created_at = view_time(r->created_ms, a),
		.updated_at = view_time(r->updated_ms, a) };
	return out->created_at.p != NULL && out->updated_at.p != NULL
	    ? RC_OK
	    : RC_TOOBIG;
}

/* ---- events ---- */

static void
view_publish_push(struct alarm_clock *c, const struct wire_alarm_record *r,
    const struct trace *trace)
{
	const struct wire_push_changed m = { .push_id = r->id,
		.user_id = r->user_id,
		.soul_id = r->soul_id,
		.terminal_id = r->rang_on.n > 0 ? r->rang_on : r->body,
		.request_id = r->request_id,
		.source = (enum wire_push_changed_source)r->source,
		.state = (enum wire_push_changed_state)alarm_view_push_state(r),
		.reason = view_text(r->reason),
		.attempts = r->attempts };

	svc_event(c->svc, WIRE_EVENT_PUSH_STATE, r->id, &wire_push_changed_desc,
	    &m, trace);
}

void
alarm_view_publish(struct alarm_clock *c, const struct wire_alarm_record *r,
    enum wire_alarm_record_state state, const struct trace *trace)
{
	struct arena *a = arena_new(EVENT_MAX);
	struct wire_alarm_record of = *r;
	char id[RING_ID_MAX];
	struct wire_alarm_changed m;

	if (r->type == WIRE_ALARM_RECORD_TYPE_PUSH) {
		view_publish_push(c, r, trace);
		arena_free(a);
		return;
	}
	m = (struct wire_alarm_changed){ .alarm_id = r->id,
		.user_id = r->user_id,
		.soul_id = r->soul_id,
		.kind = (enum wire_alarm_changed_kind)r->kind,
		.text = r->text,
		.state = (enum wire_alarm_changed_state)state,
		.attempts = r->attempts,
		.terminal_id = r->rang_on.n > 0 ? r->rang_on : r->body,
		.reason = state == WIRE_ALARM_RECORD_STATE_MISSED
		    ? view_text(r->reason)
		    : (struct str){ NULL, 0 } };
	if (state != WIRE_ALARM_RECORD_STATE_SET) {
		if (!ring_is_ringing(r) && r->last_at_ms > 0)
			of.at_ms = r->last_at_ms;
		ring_occurrence(&of, id);
		m.occurrence = str_of(id);
		m.due_at = view_time(of.at_ms, a);
	}
	if (!ring_is_ringing(r))
		m.next_at = view_time(r->next_ms, a);
	svc_event(c->svc, WIRE_EVENT_ALARM_STATE, r->id,
	    &wire_alarm_changed_desc, &m, trace);
	arena_free(a);
}
