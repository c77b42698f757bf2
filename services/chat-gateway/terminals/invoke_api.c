/*
 * POST /v1/terminals/{terminal_id}/invoke: a skill, tried by a user.  The
 * device's record is read, the execution gate is requested, the command is
 * sent, and the result is awaited; both its delivery and its result are known,
 * or overdue, when the call ends.
 */
#include <stdio.h>
#include <stdlib.h>

#include "bus/bus.h"
#include "caller.h"
#include "core/arena.h"
#include "core/fiber.h"
#include "core/id.h"
#include "core/loop.h"
#include "core/mem.h"
#include "gateway.h"
#include "handlers.h"
#include "peer_request.h"
#include "state/terminal.h"
#include "svc/svc.h"
#include "wire/msgs.h"
#include "wire/schema.h"
#include "wire/subjects.h"
#include "wire/wire.h"

#define GATE_MS     2000
#define SUBJECT_MAX (2 * ID_TOKEN_MAX + 32)

struct invoke {
	struct gateway *g;
	struct svc_call *c;
	const struct wire_invoke_body *body;
	struct str terminal, user, soul, broker; /* of the call's memory */
	char id[ID_UUID_MAX];
	char subject[SUBJECT_MAX];
	struct bus_sub *sub;
	struct loop_timer timer;
	struct mono start;
	struct arena *a; /* of the result */
	struct wire_result result;
	bool has_result, is_due, has_delivery, is_polling;
	enum wire_delivery_state delivery; /* if has_delivery is RC_OK */
	enum rc delivery_rc;
};

static void
invoke_free(struct invoke *v)
{
	bus_unsubscribe(v->sub);
	loop_timer_cancel(svc_loop(v->g->svc), &v->timer);
	arena_free(v->a);
	free(v);
}

/* ---- the end ---- */

static bool
invoke_is_undelivered(const struct invoke *v)
{
	return v->has_delivery &&
	    (v->delivery_rc == RC_DOWN ||
		(v->delivery_rc == RC_OK &&
		    v->delivery != WIRE_DELIVERY_STATE_DELIVERED));
}

static void
invoke_put_outcome(const struct invoke *v, struct wire_invoke_result *out)
{
	if (v->has_result) {
		out->outcome = v->result.ok ? WIRE_INVOKE_RESULT_OUTCOME_OK
					    : WIRE_INVOKE_RESULT_OUTCOME_ERROR;
		out->output = v->result.output;
		out->error = v->result.error;
	} else if (invoke_is_undelivered(v)) {
		out->outcome = WIRE_INVOKE_RESULT_OUTCOME_NOT_DELIVERED;
		out->error = STR("the command did not reach the device");
	} else {
		out->outcome = WIRE_INVOKE_RESULT_OUTCOME_NOT_CONFIRMED;
		out->error = STR("the device sent no result in time");
	}
}

/* Ends the call if its outcome is known, and v with it. */
static void
invoke_try_end(struct invoke *v)
{
	struct wire_invoke_result rep = { .request_id = str_of(v->id),
		.terminal_id = v->terminal,
		.skill = v->body->skill,
		.duration_ms = mono_diff_ms(clock_mono(), v->start),
		.has_duration_ms = true };

	/* The request's memory is the call's: it must have ended. */
	if (!v->has_delivery || v->is_polling ||
	    (!v->has_result && !v->is_due && !invoke_is_undelivered(v)))
		return;
	invoke_put_outcome(v, &rep);
	svc_reply(v->c, &rep);
	invoke_free(v);
}

static bool
invoke_take(struct invoke *v, struct str json)
{
	struct wire_result m;

	if (v->has_result)
		return false;
	arena_reset(v->a);
	v->has_result =
	    wire_decode(&wire_result_desc, json, v->a, &m, NULL) == RC_OK &&
	    str_eq(m.request_id, str_of(v->id));
	if (v->has_result)
		v->result = m;
	return v->has_result;
}

static void
invoke_on_result(void *arg, struct bus_msg *m)
{
	struct invoke *v = arg;
	bool taken = invoke_take(v, bus_msg_data(m));

	bus_msg_free(m);
	if (taken)
		invoke_try_end(v);
}

/* The result may be stored although its message was lost. */
static void
invoke_at_due(void *arg)
{
	struct invoke *v = arg;
	struct arena *a = arena_new(WIRE_ARENA_MAX);
	struct str json;

	if (terminal_get_result(
		v->g->state, v->terminal, str_of(v->id), a, &json) == RC_OK)
		(void)invoke_take(v, json);
	arena_free(a);
	v->is_due = true;
	v->is_polling = false;
	invoke_try_end(v);
}

static void
invoke_on_timer(void *arg)
{
	struct invoke *v = arg;

	v->is_polling = true;
	fiber_start(invoke_at_due, v);
}

/* ---- the command ---- */

static void
invoke_on_delivery(struct peer_request *q, enum rc rc)
{
	struct invoke *v = q->arg;
	const struct wire_delivery *d = q->reply;

	v->has_delivery = true;
	v->delivery_rc = rc;
	if (rc == RC_OK)
		v->delivery = d->state;
	invoke_try_end(v);
}

static void
invoke_fail(struct invoke *v, enum rc rc)
{
	gateway_fail_bus(v->c, rc);
	invoke_free(v);
}

static enum rc
invoke_subscribe(struct invoke *v, const char *terminal)
{
	char subject[SUBJECT_MAX];

	(void)snprintf(subject, sizeof(subject), WIRE_SUBJECT_FMT_BODY_RESULT,
	    terminal, v->id);
	return bus_subscribe(
	    svc_bus(v->g->svc), subject, NULL, invoke_on_result, v, &v->sub);
}

static enum rc
invoke_request(struct invoke *v, struct peer_request *q)
{
	char now[WALL_FORMAT_MAX];
	struct wall at = clock_wall();
	struct wire_invoke m = { .request_id = str_of(v->id),
		.skill = v->body->skill,
		.arguments = v->body->arguments.p != NULL ? v->body->arguments
							  : STR("{}"),
		.deadline_ms = at.ms + v->body->timeout_ms,
		.has_deadline_ms = true };

	wall_format(at, 0, now);
	m.ts = str_of(now);
	q->arg = v;
	q->subject = v->subject;
	q->request_desc = &wire_invoke_desc;
	q->reply_desc = &wire_delivery_desc;
	q->timeout_ms = WIRE_DEADLINE_MS_BODY_INVOKE;
	return peer_request_send(q, &m);
}

static void
invoke_send(struct invoke *v)
{
	char broker[ID_TOKEN_MAX], terminal[ID_TOKEN_MAX];
	struct peer_request *q =
	    peer_request_new(v->g, v->c, invoke_on_delivery);
	enum rc rc = RC_OK;

	if (q == NULL) {
		invoke_free(v);
		return;
	}
	if (v->broker.p == NULL || id_token(v->broker, broker) != RC_OK ||
	    id_token(v->terminal, terminal) != RC_OK) {
		v->has_delivery = true;
		v->delivery_rc = RC_DOWN;
		invoke_try_end(v);
		return;
	}
	(void)snprintf(v->subject, sizeof(v->subject),
	    WIRE_SUBJECT_FMT_BODY_INVOKE, broker, terminal);
	v->start = clock_mono();
	rc = invoke_subscribe(v, terminal);
	if (rc == RC_OK)
		rc = invoke_request(v, q);
	if (rc != RC_OK) {
		invoke_fail(v, rc);
		return;
	}
	loop_timer_set(svc_loop(v->g->svc), &v->timer,
	    mono_add_ms(v->start, v->body->timeout_ms), invoke_on_timer, v);
}

/* ---- the execution gate ---- */

static void
invoke_on_gate(struct peer_request *q, enum rc rc)
{
	struct invoke *v = q->arg;
	const struct wire_emotion_state_reply *rep = q->reply;

	if (rc == RC_OK &&
	    (v->body->force || rep->exec_mode != WIRE_EXEC_MODE_BLOCKED)) {
		invoke_send(v);
		return;
	}
	if (rc == RC_OK)
		svc_fail(
		    v->c, RC_CONFLICT, "the soul's execution gate is blocked");
	else
		svc_fail(v->c, RC_DOWN, "emotion-engine does not answer");
	invoke_free(v);
}

static void
invoke_check_gate(struct invoke *v)
{
	const struct wire_emotion_state_request m = { .user_id = v->user,
		.soul_id = v->soul };
	struct peer_request *q = peer_request_new(v->g, v->c, invoke_on_gate);
	enum rc rc;

	if (q == NULL) {
		invoke_free(v);
		return;
	}
	q->arg = v;
	q->subject = WIRE_SUBJECT_EMOTION_STATE;
	q->request_desc = &wire_emotion_state_request_desc;
	q->reply_desc = &wire_emotion_state_reply_desc;
	q->timeout_ms = GATE_MS;
	rc = peer_request_send(q, &m);
	if (rc != RC_OK)
		invoke_fail(v, rc);
}

/* ---- the device and its skill ---- */

/* False: c has been ended. */
static bool
invoke_check_arguments(
    struct svc_call *c, const struct wire_invoke_body *b, struct str schema)
{
	struct str args = b->arguments.p != NULL ? b->arguments : STR("{}");
	struct wire_schema *s;
	struct wire_err err = { "", "" };
	enum rc rc;

	/* One that is no schema rejects nothing, as of a turn. */
	if (schema.p == NULL || wire_schema_new(schema, &s, NULL) != RC_OK)
		return true;
	rc = wire_schema_check(s, args, &err);
	wire_schema_free(s);
	if (rc != RC_OK)
		gateway_reject(
		    c, RC_INVALID, "arguments: %s %s", err.path, err.why);
	return rc == RC_OK;
}

/* False: c has been ended. */
static bool
invoke_check_skill(struct svc_call *c, const struct wire_invoke_body *b,
    const struct terminal *t, struct arena *a)
{
	struct wire_skills_report r = { 0 };
	size_t i;

	/* One that is absent gets no command: it may have other skills. */
	if (!t->present || t->skills.p == NULL)
		return true;
	if (wire_decode(&wire_skills_report_desc, t->skills, a, &r, NULL) !=
	    RC_OK)
		r.n_skills = 0;
	for (i = 0; i < r.n_skills; i++)
		if (str_eq(r.skills[i].name, b->skill))
			return invoke_check_arguments(
			    c, b, r.skills[i].input_schema);
	svc_fail(c, RC_INVALID, "skill: the device has not reported it");
	return false;
}

/* NULL: c has been ended. */
static struct invoke *
invoke_new(struct gateway *g, struct svc_call *c, struct str user,
    const struct terminal *t)
{
	struct arena *a = svc_call_arena(c);
	struct invoke *v = mem_zalloc(sizeof(*v));

	v->g = g;
	v->c = c;
	v->body = svc_call_request(c);
	v->terminal = svc_call_param(c, 0);
	v->user = user;
	v->soul = arena_str(a, t->soul_id);
	v->broker = arena_str(a, t->present ? t->broker : STR(""));
	v->start = clock_mono();
	v->a = arena_new(WIRE_ARENA_MAX);
	id_uuid(v->id);
	if (v->soul.p != NULL && v->broker.p != NULL)
		return v;
	gateway_fail(c, RC_TOOBIG);
	invoke_free(v);
	return NULL;
}

void
on_terminals_invoke(void *app, struct svc_call *c)
{
	struct gateway *g = app;
	const struct wire_invoke_body *b = svc_call_request(c);
	struct str id = svc_call_param(c, 0), user;
	struct terminal t = { 0 };
	struct invoke *v = NULL;
	struct arena *a;
	enum rc rc;

	if (!caller_user(g, c, b->user_id, &user) ||
	    !gateway_id(c, id, "terminal_id"))
		return;
	if (b->force && !caller_is_unlimited(c)) {
		svc_fail(c, RC_DENIED, "force: for operators only");
		return;
	}
	a = arena_new(GATEWAY_RECORD_MAX);
	rc = terminal_read_brief(g->state, id, gateway_ttl_ms(g), a, &t);
	if (rc == RC_OK &&
	    (!t.known || t.soul_id.p == NULL || !str_eq(t.user_id, user)))
		rc = RC_NOENT;
	if (rc != RC_OK)
		gateway_fail_missing(c, rc, "terminal not found");
	else if (invoke_check_skill(c, b, &t, a))
		v = invoke_new(g, c, user, &t);
	arena_free(a);
	if (v != NULL)
		invoke_check_gate(v);
}
