#include "alarm_request.h"

#include <stdio.h>

#include "alarm/alarm_when.h"
#include "alarm/alarm_wire.h"
#include "alarm_select.h"
#include "alarm_store.h"
#include "alarm_view.h"
#include "context.h"
#include "core/buf.h"
#include "core/mem.h"
#include "core/zone.h"
#include "handlers.h"
#include "ring.h"
#include "state/speech.h"
#include "tool/tool_digest.h"
#include "wire/wire.h"

/* Digits of an id; ids that others have taken. */
#define ID_DIGITS 24
#define ID_TRIES  4
/* A change that others were faster than. */
#define CHANGE_TRIES 4
/* For how long an alarm that has rung may be snoozed. */
#define SNOOZE_MS INT64_C(3600000)
#define JSON_MAX  65536

/* The time of an alarm, as it is requested. */
struct alarm_time {
	struct str when, repeat, zone_name, now_text;
	const struct wire_alarm_rule *rule; /* NULL: when */
	int near_s;                         /* as of alarm_when_input */
	struct wall now;
	const struct zone *zone;
	/* Set. */
	struct wire_alarm_rule out;
	int64_t at_ms;
};

/* ---- times ---- */

static enum rc
time_zone(struct alarm_clock *c, struct alarm_time *t, struct str of_profile,
    struct alarm_rejection *why, struct arena *a)
{
	if (t->zone_name.n > 0) {
		t->zone = clock_zone(c, t->zone_name);
		if (t->zone == NULL)
			return alarm_reject(why, RC_INVALID,
			    arena_printf(a, "/zone: there is no time zone %.*s",
				STR_ARG(t->zone_name)));
	} else {
		t->zone = clock_zone(c, of_profile);
		t->zone = t->zone != NULL ? t->zone : c->zone;
	}
	if (t->now_text.n > 0 && wall_parse(t->now_text, &t->now) != RC_OK)
		return alarm_reject(
		    why, RC_INVALID, STR("/now: is no RFC 3339 time"));
	return RC_OK;
}

static enum rc
time_read(struct alarm_time *t, struct arena *a, struct alarm_rejection *why)
{
	const struct alarm_when_input in = { .when = t->when,
		.repeat = t->repeat,
		.now = t->now,
		.zone = t->zone,
		.near_s = t->near_s };
	struct alarm_rule rule;
	char text[ALARM_WHY_MAX];
	struct wall next;
	enum rc rc;

	if (t->rule != NULL)
		rc = alarm_rule_of_wire(t->rule, &rule, text, sizeof(text));
	else
		rc = alarm_when_read(&in, &rule, text, sizeof(text));
	if (rc != RC_OK)
		return alarm_reject(why, RC_INVALID,
		    t->rule != NULL ? arena_printf(a, "/rule%s", text)
				    : arena_str(a, str_of(text)));
	if (alarm_rule_next(&rule, t->zone, t->now, &next) != RC_OK)
		return alarm_reject(
		    why, RC_INVALID, STR("the time is over, or never comes"));
	t->at_ms = next.ms;
	rc = alarm_rule_to_wire(&rule, t->zone, a, &t->out);
	return rc == RC_OK ? RC_OK : alarm_reject_state(why, rc);
}

/* ---- put ---- */

static enum rc
put_id(const struct wire_alarm_record *r, int salt, char dst[RING_ID_MAX])
{
	struct buf rule = BUF_INIT(JSON_MAX), action = BUF_INIT(JSON_MAX);
	char digest[TOOL_DIGEST_MAX], number[STR_NUM_MAX];
	enum rc rc;

	rc = wire_encode(&wire_alarm_rule_desc, &r->rule, &rule, NULL);
	if (rc == RC_OK && r->has_action)
		rc = wire_encode(
		    &wire_alarm_action_desc, &r->action, &action, NULL);
	if (rc == RC_OK) {
		const struct str parts[] = { r->user_id, r->text, r->zone,
			wire_alarm_record_kind_names[r->kind], buf_str(&rule),
			buf_str(&action), str_num(salt, number) };

		tool_digest(parts, NELEM(parts), digest);
		(void)snprintf(dst, RING_ID_MAX, "al_%.*s", ID_DIGITS, digest);
	}
	buf_free(&rule);
	buf_free(&action);
	return rc;
}

/* To the second, as it is shown: 3分钟后 that is said two times. */
static bool
put_is_same(
    const struct wire_alarm_record *a, const struct wire_alarm_record *b)
{
	return a->kind == b->kind && a->at_ms / 1000 == b->at_ms / 1000 &&
	    str_eq(a->text, b->text) && a->has_action == b->has_action &&
	    a->rule.kind == b->rule.kind;
}

/* One that was set with the same request, or has the same text and time. */
static enum rc
put_find(struct alarm_clock *c, const struct wire_alarm_record *r,
    struct arena *a, struct alarm_stored **found)
{
	const struct alarm_entry which = { .type = ALARM_ENTRY_ALARM,
		.user_id = r->user_id };
	struct alarm_stored_list list;
	enum rc rc = alarm_store_list(c, &which, r->request_id.n > 0, a, &list);
	size_t i;

	*found = NULL;
	for (i = 0; rc == RC_OK && i < list.n; i++)
		if ((r->request_id.n > 0 &&
			str_eq(r->request_id, list.x[i].r.request_id)) ||
		    (!ring_has_ended(&list.x[i].r) &&
			put_is_same(&list.x[i].r, r)))
			*found = &list.x[i];
	return rc;
}

/* Store it under an id that no other alarm has; *x is what is stored. */
static enum rc
put_store(struct alarm_clock *c, struct alarm_stored *x, struct arena *a,
    bool *created)
{
	const struct wire_alarm_record r = x->r;
	char id[RING_ID_MAX];
	struct wall now;
	int salt;
	enum rc rc = RC_CONFLICT;

	*created = true;
	for (salt = 0; rc == RC_CONFLICT && salt < ID_TRIES; salt++) {
		x->r = r;
		rc = put_id(&r, salt, id);
		if (rc != RC_OK)
			return rc;
		x->r.id = arena_str(a, str_of(id));
		x->entry = (struct alarm_entry){ .type = ALARM_ENTRY_ALARM,
			.user_id = r.user_id,
			.id = x->r.id };
		rc = alarm_store_save(c, x, 0, a, &now);
		if (rc != RC_CONFLICT || x->entry.version == 0)
			continue;
		if (!ring_has_ended(&x->r) && put_is_same(&x->r, &r)) {
			*created = false;
			return RC_OK;
		}
		if (!ring_has_ended(&x->r))
			continue;
		/* It has ended, and is set anew. */
		x->r = r;
		x->r.id = x->entry.id;
		rc = alarm_store_save(c, x, 0, a, &now);
	}
	return rc;
}

static enum rc
put_reply(struct alarm_clock *c, const struct wire_alarm_record *r,
    struct wall now, struct arena *a, struct wire_alarm_reply *out)
{
	const struct zone *zone = clock_zone(c, r->zone);

	out->on_self = r->self_ringing;
	return alarm_view(
	    r, zone != NULL ? zone : c->zone, now, a, &out->alarm);
}

/* The record of a request, without its time. */
static struct wire_alarm_record
put_record(const struct wire_alarm_put_request *q, struct wall now)
{
	struct wire_alarm_record r;

	wire_init(&wire_alarm_record_desc, &r);
	r.type = WIRE_ALARM_RECORD_TYPE_ALARM;
	r.user_id = q->user_id;
	r.soul_id = q->soul_id;
	r.terminal_id = q->terminal_id;
	r.session_id = q->session_id;
	r.request_id = q->request_id;
	r.kind = (enum wire_alarm_record_kind)q->kind;
	r.text = q->text.p != NULL ? q->text : STR("");
	r.action = q->action;
	r.has_action = q->has_action;
	r.self_ringing = q->self_ringing;
	r.created_ms = now.ms;
	r.updated_ms = now.ms;
	return r;
}

static enum rc
put_new(struct alarm_clock *c, struct alarm_stored *x, struct wall now,
    struct arena *a, struct wire_alarm_reply *out, struct alarm_rejection *why)
{
	enum rc rc = put_store(c, x, a, &out->created);

	if (rc == RC_RETRY || rc == RC_CONFLICT) {
		(void)alarm_reject(why, RC_CONFLICT,
		    arena_printf(a,
			"the user has %lld alarms: cancel some first",
			(long long)c->conf->per_user));
		why->code = "too_many_alarms";
		return RC_CONFLICT;
	}
	if (rc != RC_OK)
		return alarm_reject_state(why, rc);
	if (out->created) {
		alarm_view_publish(
		    c, &x->r, WIRE_ALARM_RECORD_STATE_SET, why->trace);
		due_hint(c, x->r.user_id);
	}
	rc = put_reply(c, &x->r, now, a, out);
	return rc == RC_OK ? RC_OK : alarm_reject_state(why, rc);
}

static enum rc
put_check(const struct wire_alarm_put_request *q, struct alarm_rejection *why)
{
	if ((q->when.n > 0) == q->has_rule)
		return alarm_reject(why, RC_INVALID,
		    STR("exactly one of /when and /rule is required"));
	if (q->has_action != (q->kind == WIRE_ALARM_PUT_REQUEST_KIND_ACTION))
		return alarm_reject(why, RC_INVALID,
		    STR("/action: is required with kind action only"));
	return RC_OK;
}

enum rc
alarm_request_put(struct alarm_clock *c, const struct wire_alarm_put_request *q,
    struct arena *a, struct wire_alarm_reply *out, struct alarm_rejection *why)
{
	struct alarm_time t = { .when = q->when,
		.repeat = q->repeat,
		.zone_name = q->zone,
		.now_text = q->now,
		.rule = q->has_rule ? &q->rule : NULL,
		.near_s = -1 };
	struct alarm_stored x = { 0 }, *found;
	struct speech_context s;
	enum rc rc = put_check(q, why);

	wire_init(&wire_alarm_reply_desc, out);
	if (rc != RC_OK)
		return rc;
	rc = speech_context_read(c->state, q->user_id, q->soul_id, a, &s);
	if (rc != RC_OK)
		return alarm_reject_state(why, rc);
	if (s.soul.proactive == SPEECH_OFF) {
		(void)alarm_reject(why, RC_CONFLICT,
		    STR("the soul may not speak unasked: its setting proactive "
			"is off"));
		why->code = "proactive_off";
		return RC_CONFLICT;
	}
	out->on = q->terminal_id.n > 0 ? q->terminal_id : s.body;
	t.now = s.now;
	x.r = put_record(q, s.now);
	rc = time_zone(c, &t, s.zone, why, a);
	if (rc == RC_OK)
		rc = time_read(&t, a, why);
	if (rc != RC_OK)
		return rc;
	x.r.rule = t.out;
	x.r.has_rule = true;
	x.r.zone = str_of(zone_name(t.zone));
	ring_schedule(&x.r, t.at_ms);
	rc = put_find(c, &x.r, a, &found);
	if (rc != RC_OK)
		return alarm_reject_state(why, rc);
	if (found == NULL)
		return put_new(c, &x, s.now, a, out, why);
	rc = put_reply(c, &found->r, s.now, a, out);
	return rc == RC_OK ? RC_OK : alarm_reject_state(why, rc);
}

/* ---- list ---- */

enum rc
alarm_request_list(struct alarm_clock *c,
    const struct wire_alarm_list_request *q, struct arena *a,
    struct wire_alarm_list *out, struct alarm_rejection *why)
{
	struct alarm_selection s = { .user_id = q->user_id,
		.alarm_id = q->alarm_id,
		.when = q->when,
		.match_text = q->match_text,
		.ended = q->all || q->alarm_id.n > 0 };
	const struct zone *zone;
	size_t i;
	enum rc rc = alarm_select(c, &s, a, why);

	*out = (struct wire_alarm_list){ 0 };
	if (rc != RC_OK)
		return rc;
	out->alarms = arena_alloc(a, (s.n + 1) * sizeof(*out->alarms));
	if (out->alarms == NULL)
		return alarm_reject_state(why, RC_TOOBIG);
	/* Those that have ended are first, and cut off. */
	for (i = s.n > ALARMS_SHOWN_MAX ? s.n - ALARMS_SHOWN_MAX : 0;
	     rc == RC_OK && i < s.n; i++) {
		zone = clock_zone(c, s.x[i].r.zone);
		rc = alarm_view(&s.x[i].r, zone != NULL ? zone : c->zone, s.now,
		    a, &out->alarms[out->n_alarms++]);
	}
	return rc == RC_OK ? RC_OK : alarm_reject_state(why, rc);
}

/* ---- changes of one alarm ---- */

/* False: x cannot be changed so; why is set. */
typedef bool (*alarm_edit_fn)(void *arg, struct alarm_stored *x,
    struct wall now, struct alarm_rejection *why);

/* Others may change it meanwhile: then it is edited again. */
static enum rc
alarm_edit(struct alarm_clock *c, struct alarm_stored *x, alarm_edit_fn edit,
    void *arg, struct arena *a, struct alarm_rejection *why)
{
	struct wall now;
	enum rc rc = alarm_store_read(c, x, a, &now);
	int i;

	for (i = 0; rc == RC_OK && i < CHANGE_TRIES; i++) {
		if (!edit(arg, x, now, why))
			return why->rc;
		x->r.updated_ms = now.ms;
		rc = alarm_store_save(c, x, 0, a, &now);
		if (rc == RC_OK)
			break;
		if (rc == RC_CONFLICT)
			rc = alarm_store_read(c, x, a, &now);
	}
	if (rc == RC_OK && i < CHANGE_TRIES)
		return RC_OK;
	if (rc == RC_NOENT)
		return alarm_reject(
		    why, RC_NOENT, STR("the user has no such alarm"));
	return alarm_reject_state(why, rc == RC_OK ? RC_RETRY : rc);
}

struct change_edit {
	const struct wire_alarm_change_request *q;
	const struct alarm_time *t; /* NULL: the time stays */
};

static bool
change_apply(void *arg, struct alarm_stored *x, struct wall now,
    struct alarm_rejection *why)
{
	const struct change_edit *e = arg;

	(void)now;
	(void)why;
	if (e->q->text.p != NULL)
		x->r.text = e->q->text;
	if (e->q->terminal_id.n > 0)
		x->r.terminal_id = e->q->terminal_id;
	if (e->t != NULL) {
		x->r.rule = e->t->out;
		x->r.has_rule = true;
		x->r.zone = str_of(zone_name(e->t->zone));
		/* The body's own alarm has the time before. */
		x->r.self_ringing = false;
		ring_schedule(&x->r, e->t->at_ms);
	}
	return true;
}

/* The time of day of r, by its zone. */
static int
change_near_s(struct alarm_clock *c, const struct wire_alarm_record *r)
{
	const struct zone *zone = clock_zone(c, r->zone);

	return (int)(zone_local_of(zone != NULL ? zone : c->zone,
			 (struct wall){ r->at_ms }) %
	    86400);
}

enum rc
alarm_request_change(struct alarm_clock *c,
    const struct wire_alarm_change_request *q, struct arena *a,
    struct wire_alarm_reply *out, struct alarm_rejection *why)
{
	struct alarm_selection s = { .user_id = q->user_id,
		.alarm_id = q->alarm_id,
		.when = q->select_when,
		.match_text = q->match_text,
		.one = true };
	struct alarm_time t = { .when = q->when,
		.repeat = q->repeat,
		.zone_name = q->zone,
		.now_text = q->now,
		.rule = q->has_rule ? &q->rule : NULL };
	struct change_edit e = { q, NULL };
	enum rc rc = alarm_select(c, &s, a, why);

	wire_init(&wire_alarm_reply_desc, out);
	if (rc != RC_OK)
		return rc;
	if (q->when.n > 0 || q->has_rule) {
		t.now = s.now;
		t.near_s = change_near_s(c, &s.x->r);
		if (t.zone_name.n == 0)
			t.zone_name = s.x->r.zone;
		rc = time_zone(c, &t, (struct str){ NULL, 0 }, why, a);
		if (rc == RC_OK)
			rc = time_read(&t, a, why);
		if (rc != RC_OK)
			return rc;
		e.t = &t;
	}
	out->own_alarm_stays = s.x->r.self_ringing && e.t != NULL;
	rc = alarm_edit(c, s.x, change_apply, &e, a, why);
	if (rc != RC_OK)
		return rc;
	alarm_view_publish(c, &s.x->r, s.x->r.state, why->trace);
	due_hint(c, q->user_id);
	out->on = s.x->r.terminal_id;
	rc = put_reply(c, &s.x->r, s.now, a, out);
	return rc == RC_OK ? RC_OK : alarm_reject_state(why, rc);
}

static bool
cancel_apply(void *arg, struct alarm_stored *x, struct wall now,
    struct alarm_rejection *why)
{
	(void)arg;
	(void)why;
	ring_cancel(&x->r, now.ms);
	return true;
}

enum rc
alarm_request_cancel(struct alarm_clock *c,
    const struct wire_alarm_cancel_request *q, struct arena *a,
    struct wire_alarm_list *out, struct alarm_rejection *why)
{
	struct alarm_selection s = { .user_id = q->user_id,
		.alarm_id = q->alarm_id,
		.when = q->when,
		.match_text = q->match_text,
		.one = !q->all };
	size_t i;
	enum rc rc = alarm_select(c, &s, a, why);

	*out = (struct wire_alarm_list){ 0 };
	if (rc != RC_OK)
		return rc;
	out->alarms = arena_alloc(a, (s.n + 1) * sizeof(*out->alarms));
	if (out->alarms == NULL)
		return alarm_reject_state(why, RC_TOOBIG);
	for (i = 0; i < s.n && out->n_alarms < ALARMS_SHOWN_MAX; i++) {
		int64_t next_ms = s.x[i].r.next_ms;

		rc = alarm_edit(c, &s.x[i], cancel_apply, NULL, a, why);
		if (rc == RC_NOENT)
			continue;
		if (rc != RC_OK)
			return rc;
		alarm_view_publish(
		    c, &s.x[i].r, WIRE_ALARM_RECORD_STATE_CANCELED, why->trace);
		s.x[i].r.next_ms = next_ms; /* the moment it had */
		rc = alarm_view(
		    &s.x[i].r, s.zone, s.now, a, &out->alarms[out->n_alarms++]);
		if (rc != RC_OK)
			return alarm_reject_state(why, rc);
	}
	return RC_OK;
}

static bool
snooze_is_possible(const struct wire_alarm_record *r, struct wall now)
{
	return ring_is_ringing(r) ||
	    (r->last_end_ms > 0 && r->has_last_state &&
		r->state != WIRE_ALARM_RECORD_STATE_CANCELED &&
		now.ms - r->last_end_ms <= SNOOZE_MS);
}

static bool
snooze_apply(void *arg, struct alarm_stored *x, struct wall now,
    struct alarm_rejection *why)
{
	const struct wire_alarm_snooze_request *q = arg;

	if (!snooze_is_possible(&x->r, now)) {
		(void)alarm_reject(why, RC_CONFLICT,
		    STR("the alarm does not ring, and has not within an hour"));
		return false;
	}
	ring_snooze(&x->r, now.ms, now.ms + q->seconds * 1000);
	return true;
}

enum rc
alarm_request_snooze(struct alarm_clock *c,
    const struct wire_alarm_snooze_request *q, struct arena *a,
    struct wire_alarm_reply *out, struct alarm_rejection *why)
{
	struct alarm_selection s = {
		.user_id = q->user_id, .alarm_id = q->alarm_id, .ended = true
	};
	struct wire_alarm_snooze_request copy = *q;
	struct alarm_stored *x = NULL;
	size_t i;
	enum rc rc = alarm_select(c, &s, a, why);

	wire_init(&wire_alarm_reply_desc, out);
	if (rc != RC_OK)
		return rc;
	for (i = 0; i < s.n; i++)
		if ((q->alarm_id.n > 0 ||
			snooze_is_possible(&s.x[i].r, s.now)) &&
		    (x == NULL || ring_is_ringing(&s.x[i].r) ||
			(!ring_is_ringing(&x->r) &&
			    s.x[i].r.last_end_ms > x->r.last_end_ms)))
			x = &s.x[i];
	if (x == NULL)
		return alarm_reject(
		    why, RC_NOENT, STR("no alarm has rung within an hour"));
	rc = alarm_edit(c, x, snooze_apply, &copy, a, why);
	if (rc != RC_OK)
		return rc;
	alarm_view_publish(
	    c, &x->r, WIRE_ALARM_RECORD_STATE_SNOOZED, why->trace);
	due_hint(c, q->user_id);
	out->on = x->r.terminal_id;
	rc = put_reply(c, &x->r, s.now, a, out);
	return rc == RC_OK ? RC_OK : alarm_reject_state(why, rc);
}
