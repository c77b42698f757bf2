#include "ring.h"

#include <stdio.h>
#include <string.h>

/* When a body is tried, after its first attempt. */
static const int64_t ring_delays[RING_ATTEMPTS] = { 0, 5000, 15000, 60000 };

static const char *const ring_reasons[] = {
	[RING_SPOKEN] = "",
	[RING_NOT_CONFIRMED] = "not_confirmed",
	[RING_NO_SKILL] = "no_skill",
	[RING_NO_BODY] = "no_body",
	[RING_BLOCKED] = "blocked",
	[RING_FAILED] = "failed",
	[RING_NO_SERVICE] = "no_service",
};

bool
ring_has_ended(const struct wire_alarm_record *r)
{
	return r->state == WIRE_ALARM_RECORD_STATE_RUNG ||
	    r->state == WIRE_ALARM_RECORD_STATE_MISSED ||
	    r->state == WIRE_ALARM_RECORD_STATE_CANCELED;
}

bool
ring_is_ringing(const struct wire_alarm_record *r)
{
	return r->state == WIRE_ALARM_RECORD_STATE_DUE;
}

/* The next attempt begins with the first body. */
static void
ring_forget_bodies(struct wire_alarm_record *r)
{
	r->n_tried = 0;
	r->body = (struct str){ NULL, 0 };
	r->body_attempts = 0;
	r->body_since_ms = 0;
}

void
ring_schedule(struct wire_alarm_record *r, int64_t at_ms)
{
	ring_forget_bodies(r);
	r->end_ms = 0;
	r->next_ms = at_ms;
	if (at_ms == 0)
		return;
	r->state = WIRE_ALARM_RECORD_STATE_SET;
	r->at_ms = at_ms;
}

static int64_t
ring_window(const struct wire_alarm_record *r)
{
	if (r->has_action)
		return RING_ACTION_MS;
	return r->kind == WIRE_ALARM_RECORD_KIND_REMINDER ? RING_REMINDER_MS
							  : RING_ALARM_MS;
}

void
ring_begin(struct wire_alarm_record *r, int64_t now_ms)
{
	ring_forget_bodies(r);
	r->state = WIRE_ALARM_RECORD_STATE_DUE;
	r->attempts = 0;
	r->reason = (struct str){ NULL, 0 };
	r->rang_on = (struct str){ NULL, 0 };
	r->next_ms = now_ms;
	r->end_ms = r->type == WIRE_ALARM_RECORD_TYPE_PUSH
	    ? r->expires_ms
	    : r->at_ms + ring_window(r);
	if (r->type != WIRE_ALARM_RECORD_TYPE_PUSH && !r->has_action &&
	    now_ms - r->at_ms <= RING_OUTAGE_MS &&
	    now_ms + RING_ALARM_MS > r->end_ms)
		r->end_ms = now_ms + RING_ALARM_MS;
}

void
ring_set_clock(struct wire_alarm_record *r, int64_t step_ms)
{
	if (r->type != WIRE_ALARM_RECORD_TYPE_PUSH &&
	    (step_ms < 0 || !r->has_action))
		r->end_ms += step_ms;
	if (r->body_since_ms > 0)
		r->body_since_ms += step_ms;
	r->next_ms += step_ms;
}

bool
ring_is_over(const struct wire_alarm_record *r, int64_t now_ms)
{
	return ring_is_ringing(r) && now_ms >= r->end_ms;
}

void
ring_wait(struct wire_alarm_record *r, int64_t until_ms, const char *reason)
{
	r->next_ms = until_ms < r->end_ms ? until_ms : r->end_ms;
	r->reason = str_of(reason);
}

static bool
ring_was_tried(const struct wire_alarm_record *r, struct str body)
{
	size_t i;

	for (i = 0; i < r->n_tried; i++)
		if (str_eq(r->tried[i], body))
			return true;
	return false;
}

/* The body cannot in this round. */
static void
ring_add_tried(struct wire_alarm_record *r, struct arena *a)
{
	struct str *list;

	if (r->body.n == 0 || ring_was_tried(r, r->body) ||
	    r->n_tried >= RING_BODIES_MAX)
		return;
	list = arena_alloc(a, (r->n_tried + 1) * sizeof(*list));
	if (list == NULL)
		return;
	if (r->n_tried > 0)
		memcpy(list, r->tried, r->n_tried * sizeof(*list));
	list[r->n_tried] = r->body;
	r->tried = list;
	r->n_tried++;
}

static void
ring_next_round(struct wire_alarm_record *r, int64_t now_ms)
{
	int64_t ms = now_ms - r->at_ms > RING_ALARM_MS ? RING_ROUND_SLOW_MS
						       : RING_ROUND_MS;

	ring_forget_bodies(r);
	r->next_ms = now_ms + ms < r->end_ms ? now_ms + ms : r->end_ms;
}

bool
ring_pick(struct wire_alarm_record *r, const struct ring_bodies *bodies,
    int64_t now_ms, struct arena *a)
{
	bool same = r->body.n > 0 && !ring_was_tried(r, r->body);
	size_t i = 0;

	while (!same && i < bodies->n && ring_was_tried(r, bodies->id[i]))
		i++;
	if (!same && i >= bodies->n) {
		if (bodies->n == 0 || r->reason.n == 0)
			r->reason = str_of(ring_reasons[RING_NO_BODY]);
		ring_next_round(r, now_ms);
		return false;
	}
	if (!same) {
		r->body = arena_str(a, bodies->id[i]);
		r->body_attempts = 0;
		r->body_since_ms = now_ms;
	}
	if (r->body.p == NULL)
		return false;
	r->attempts++;
	r->body_attempts++;
	return true;
}

/* It is tried on this body, later; or on the next, now. */
static void
ring_retry(struct wire_alarm_record *r, int64_t now_ms, struct arena *a)
{
	int64_t at;

	if (r->body_attempts >= RING_ATTEMPTS) {
		ring_add_tried(r, a);
		r->next_ms = now_ms;
		return;
	}
	at = r->body_since_ms + ring_delays[r->body_attempts];
	at = at > now_ms ? at : now_ms + RING_SERVICE_MS;
	r->next_ms = at < r->end_ms ? at : r->end_ms;
}

bool
ring_outcome(struct wire_alarm_record *r, enum ring_outcome o, int64_t now_ms,
    struct arena *a)
{
	r->reason = str_of(ring_reasons[o]);
	switch (o) {
	case RING_SPOKEN:
		r->rang_on = r->body;
		return true;
	case RING_NO_SERVICE:
		if (r->attempts > 0)
			r->attempts--;
		if (r->body_attempts > 0)
			r->body_attempts--;
		ring_wait(r, now_ms + RING_SERVICE_MS, ring_reasons[o]);
		return false;
	case RING_BLOCKED:
		/* What was promised for this time is not done at another. */
		if (r->has_action)
			return true;
		ring_wait(r, now_ms + RING_ROUND_MS, ring_reasons[o]);
		return false;
	case RING_NO_SKILL:
	case RING_NO_BODY:
		ring_add_tried(r, a);
		r->next_ms = now_ms;
		return false;
	case RING_NOT_CONFIRMED:
	case RING_FAILED:
		ring_retry(r, now_ms, a);
		return false;
	}
	return false;
}

void
ring_end(
    struct wire_alarm_record *r, bool rung, int64_t now_ms, int64_t next_ms)
{
	if (!rung && r->reason.n == 0)
		r->reason = STR("expired");
	r->has_last_state = true;
	r->last_state = rung ? WIRE_ALARM_RECORD_LAST_STATE_RUNG
			     : WIRE_ALARM_RECORD_LAST_STATE_MISSED;
	r->last_at_ms = r->at_ms;
	r->last_end_ms = now_ms;
	r->state = rung ? WIRE_ALARM_RECORD_STATE_RUNG
			: WIRE_ALARM_RECORD_STATE_MISSED;
	ring_schedule(r, next_ms);
}

void
ring_cancel(struct wire_alarm_record *r, int64_t now_ms)
{
	ring_forget_bodies(r);
	r->state = WIRE_ALARM_RECORD_STATE_CANCELED;
	r->next_ms = 0;
	r->last_end_ms = now_ms;
}

void
ring_snooze(struct wire_alarm_record *r, int64_t now_ms, int64_t at_ms)
{
	if (ring_is_ringing(r)) {
		r->last_at_ms = r->at_ms;
		r->last_end_ms = now_ms;
	}
	r->has_last_state = true;
	r->last_state = WIRE_ALARM_RECORD_LAST_STATE_SNOOZED;
	ring_schedule(r, at_ms);
	r->state = WIRE_ALARM_RECORD_STATE_SNOOZED;
}

void
ring_occurrence(const struct wire_alarm_record *r, char dst[RING_ID_MAX])
{
	if (r->type == WIRE_ALARM_RECORD_TYPE_PUSH)
		str_copy(r->id, dst, RING_ID_MAX);
	else
		(void)snprintf(dst, RING_ID_MAX, "%.*s-%lld", STR_ARG(r->id),
		    (long long)(r->at_ms / 1000));
}

void
ring_request(const struct wire_alarm_record *r, char dst[RING_ID_MAX])
{
	uint32_t h = 2166136261U;
	char id[RING_ID_MAX];
	size_t i;

	for (i = 0; i < r->body.n; i++)
		h = (h ^ (unsigned char)r->body.p[i]) * 16777619U;
	ring_occurrence(r, id);
	(void)snprintf(dst, RING_ID_MAX, "%.80s-%08x", id, h);
}
