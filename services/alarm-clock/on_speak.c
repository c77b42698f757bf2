/*
 * Speech that no user has asked for: a push is stored, and delivered as an
 * alarm that is due now.
 */
#include <stdio.h>

#include "alarm_store.h"
#include "alarm_view.h"
#include "context.h"
#include "core/zone.h"
#include "handlers.h"
#include "ring.h"
#include "speech_rule.h"
#include "state/speech.h"
#include "svc/svc.h"
#include "tool/tool_digest.h"
#include "wire/msgs.h"
#include "wire/wire.h"

#define EXPIRES_MS     INT64_C(600000)
#define EXPIRES_MS_MAX INT64_C(604800000)
/* Pushes of a user that wait. */
#define PUSHES_MAX 20
#define ID_DIGITS  24

static void
speak_fail(struct svc_call *c, enum rc rc)
{
	svc_fail(c, rc,
	    rc == RC_NOENT ? "push not found"
			   : "Redis is unavailable: try again later");
}

static struct str
speak_id(const struct wire_speak_request *q, struct arena *a)
{
	const struct str parts[] = { q->user_id, q->request_id };
	char digest[TOOL_DIGEST_MAX];

	tool_digest(parts, NELEM(parts), digest);
	return arena_printf(a, "pu_%.*s", ID_DIGITS, digest);
}

static struct wire_alarm_record
speak_record(const struct wire_speak_request *q, struct str id, struct wall now)
{
	struct wire_alarm_record r;

	wire_init(&wire_alarm_record_desc, &r);
	r.type = WIRE_ALARM_RECORD_TYPE_PUSH;
	r.id = id;
	r.user_id = q->user_id;
	r.soul_id = q->soul_id;
	r.terminal_id = q->terminal_id;
	r.session_id = q->session_id;
	r.request_id = q->request_id;
	r.text = q->text;
	r.title = q->title;
	r.source = (enum wire_alarm_record_source)q->reason;
	r.verbatim = q->verbatim;
	r.urgent = q->urgent;
	r.created_ms = now.ms;
	r.updated_ms = now.ms;
	r.expires_ms = now.ms + EXPIRES_MS;
	ring_schedule(&r, now.ms);
	return r;
}

/* How many of the user's wait. */
static enum rc
speak_count(struct alarm_clock *c, struct str user, struct arena *a, size_t *n)
{
	const struct alarm_entry which = { .type = ALARM_ENTRY_PUSH,
		.user_id = user };
	struct alarm_entry_list list;
	enum rc rc = alarm_entry_list(c->state, &which, false, a, &list);

	*n = list.n;
	return rc;
}

/* The state it has from the beginning, by its rules. */
static enum rc
speak_begin(struct alarm_clock *c, struct wire_alarm_record *r,
    const struct speech_context *x, struct arena *a)
{
	const struct zone *zone = clock_zone(c, x->zone);
	struct speech_decision s = speech_decide(
	    r, x, zone != NULL ? zone : c->zone, c->conf->speak_per_day);
	size_t waiting;
	enum rc rc = speak_count(c, r->user_id, a, &waiting);

	ring_begin(r, x->now.ms);
	if (s.verdict == SPEECH_NEVER || waiting >= PUSHES_MAX) {
		r->reason = s.verdict == SPEECH_NEVER ? str_of(s.reason)
						      : STR("too_many");
		ring_end(r, false, x->now.ms, 0);
	} else if (s.verdict == SPEECH_WAIT) {
		ring_wait(r, s.until_ms, s.reason);
	}
	return rc;
}

static enum rc
speak_put(struct alarm_clock *c, struct svc_call *call, struct arena *a,
    struct alarm_stored *x)
{
	const struct wire_speak_request *q = svc_call_request(call);
	struct speech_context s;
	struct wall until, now;
	enum rc rc =
	    speech_context_read(c->state, q->user_id, q->soul_id, a, &s);

	if (rc == RC_OK && q->soul_id.n == 0 && s.session_soul.n > 0)
		rc = speech_context_read(
		    c->state, q->user_id, s.session_soul, a, &s);
	if (rc != RC_OK)
		return rc;
	x->r = speak_record(q, speak_id(q, a), s.now);
	if (q->expires_at.n > 0 && wall_parse(q->expires_at, &until) == RC_OK)
		x->r.expires_ms = until.ms < s.now.ms + EXPIRES_MS_MAX
		    ? until.ms
		    : s.now.ms + EXPIRES_MS_MAX;
	if (x->r.expires_ms < 0)
		x->r.expires_ms = 0;
	x->entry = (struct alarm_entry){
		.type = ALARM_ENTRY_PUSH, .user_id = q->user_id, .id = x->r.id
	};
	rc = speak_begin(c, &x->r, &s, a);
	if (rc == RC_OK)
		rc = alarm_store_save(c, x, 0, a, &now);
	if (rc == RC_OK) {
		alarm_view_publish(c, &x->r, x->r.state, svc_call_trace(call));
		due_hint(c, q->user_id);
	}
	/* The same request: what became of it. */
	return rc == RC_CONFLICT ? RC_OK : rc;
}

void
on_speak(void *app, struct svc_call *c)
{
	struct alarm_stored x = { 0 };
	struct wire_speak_reply rep;
	enum rc rc = speak_put(app, c, svc_call_arena(c), &x);

	if (rc != RC_OK) {
		speak_fail(c, rc);
		return;
	}
	rep = (struct wire_speak_reply){ .push_id = x.r.id,
		.state =
		    (enum wire_speak_reply_state)alarm_view_push_state(&x.r),
		.reason =
		    x.r.reason.n > 0 ? x.r.reason : (struct str){ NULL, 0 } };
	svc_reply(c, &rep);
}

void
on_push_get(void *app, struct svc_call *c)
{
	const struct wire_push_get_request *q = svc_call_request(c);
	struct alarm_stored x = { .entry = { .type = ALARM_ENTRY_PUSH,
				      .user_id = q->user_id,
				      .id = q->push_id } };
	struct arena *a = svc_call_arena(c);
	struct wire_push rep;
	struct wall now;
	enum rc rc = alarm_store_read(app, &x, a, &now);

	if (rc == RC_OK)
		rc = alarm_view_push(&x.r, a, &rep);
	if (rc == RC_OK)
		svc_reply(c, &rep);
	else
		speak_fail(c, rc);
}
