/*
 * action_dispatch: sends a turn's actions to the body and collects results.
 *
 * A direct action ends with its delivery, an invoke with its result.  A result
 * arrives over NATS, subscribed to before the invoke, and is stored in Redis
 * too: the store is polled, because a message may be lost, and because a
 * draining process loses its subscriptions before its turns end.
 */
#include <stdio.h>
#include <stdlib.h>

#include "bus/bus.h"
#include "context.h"
#include "core/fiber.h"
#include "core/id.h"
#include "core/log.h"
#include "core/mem.h"
#include "core/metric.h"
#include "handlers.h"
#include "peer/peer_request.h"
#include "reply/reply_compose.h"
#include "reply/turn_event.h"
#include "state/terminal.h"
#include "svc/svc.h"
#include "tools/alarm_call.h"
#include "tools/intent_route.h"
#include "tools/tool_catalog.h"
#include "turn/turn_runner.h"
#include "wire/msgs.h"
#include "wire/subjects.h"
#include "wire/wire.h"

#define WHY_MAX 1024
/* How long after a fence a body may still act. */
#define ACT_MS 1000
/* Interval of polling the stored result. */
#define RESULT_POLL_MS 1000

static enum turn_outcome
dispatch_outcome(enum wire_delivery_state state)
{
	switch (state) {
	case WIRE_DELIVERY_STATE_DELIVERED:
		return TURN_OK;
	case WIRE_DELIVERY_STATE_NO_SUBSCRIBER:
		return TURN_NO_SUBSCRIBER;
	case WIRE_DELIVERY_STATE_LATE:
		return TURN_NO_TIME;
	case WIRE_DELIVERY_STATE_FAILED:
		return TURN_ERROR;
	case WIRE_DELIVERY_STATE_OFFLINE:
		break;
	}
	return TURN_OFFLINE;
}

/*
 * The outcome without a delivery report: an error reply means that it was not
 * sent; without a reply, or with an invalid one, it may have been.
 */
static enum turn_outcome
dispatch_outcome_rc(enum rc rc)
{
	return rc == RC_TIMEOUT || rc == RC_INVALID ? TURN_NOT_CONFIRMED
						    : TURN_OFFLINE;
}

/* ---- direct actions ---- */

static void
dispatch_on_delivery(
    struct turn_run *r, size_t call, enum rc rc, const void *msg)
{
	const struct wire_delivery *d = msg;
	struct turn_event e = { .kind = TURN_INTENT_RESULT,
		.outcome = rc == RC_OK ? dispatch_outcome(d->state)
				       : dispatch_outcome_rc(rc),
		.why = rc == RC_OK ? reply_clean(d->error, WHY_MAX, r->a)
				   : (struct str){ 0 } };

	(void)call;
	for (size_t i = 0; i < r->turn.n_calls; i++)
		if (r->turn.calls[i].kind == TURN_DIRECT &&
		    r->turn.calls[i].outcome == TURN_SENT)
			alarm_call_copy(r, i, e.outcome);
	turn_feed(r, &e);
}

static struct str
dispatch_normalized(const struct turn_call *d, struct arena *a)
{
	struct buf b = BUF_INIT(WIRE_MESSAGE_MAX);

	intent_route_normalized(d, &b);
	struct str s = arena_str(a, buf_str(&b));
	buf_free(&b);
	return s;
}

static enum rc
dispatch_fill_intents(struct turn_run *r, struct wire_intent_action *m)
{
	m->intents =
	    arena_alloc(r->a, INTENT_ROUTE_CALLS_MAX * sizeof(*m->intents));
	if (m->intents == NULL)
		return RC_TOOBIG;
	for (size_t i = 0; i < r->turn.n_calls; i++) {
		const struct turn_call *d = &r->turn.calls[i];
		if (d->kind != TURN_DIRECT || d->outcome != TURN_SENT)
			continue;
		const struct wire_intent_filter_response_intents *from =
		    &r->intents->intents[d->intent];
		struct str what = dispatch_normalized(d, r->a);
		if (what.p == NULL)
			return RC_TOOBIG;
		m->intents[m->n_intents++] =
		    (struct wire_intent_action_intents){
			    .intent_id = from->intent_id,
			    .intent_name = from->intent_name,
			    .confidence = from->confidence,
			    .parameters = from->parameters,
			    .normalized = what,
		    };
	}
	return m->n_intents > 0 ? RC_OK : RC_BUG;
}

static void
dispatch_feed_intents(struct turn_run *r, enum turn_outcome outcome)
{
	struct turn_event e = { .kind = TURN_INTENT_RESULT,
		.outcome = outcome };

	turn_feed(r, &e);
}

enum rc
dispatch_intents(struct turn_run *r, const struct turn_action *a)
{
	const struct wire_chat_request *chat = turn_chat(r);
	char now[WALL_FORMAT_MAX], id[ID_UUID_MAX], subject[PEER_SUBJECT_MAX];
	struct wire_intent_action m = { .session_id = chat->session_id,
		.terminal_id = chat->terminal_id,
		.soul_id = r->facts.soul_id,
		.exec_probability = r->emotion.exec_probability,
		.ts = turn_now(now) };

	(void)a;
	if (r->facts.broker.p == NULL ||
	    peer_subject(subject, WIRE_SUBJECT_FMT_BODY_INTENT_ACTION,
		r->facts.broker, chat->terminal_id) != RC_OK) {
		dispatch_feed_intents(r, TURN_OFFLINE);
		return RC_OK;
	}
	id_uuid(id);
	m.request_id = arena_printf(r->a, "ia-%s", id);
	enum rc rc = dispatch_fill_intents(r, &m);
	if (rc != RC_OK) {
		log_error("turn.intent_action", LOG_RC(rc));
		dispatch_feed_intents(r, TURN_NO_TIME);
		return RC_OK;
	}
	metric_add(r->o->metrics.direct, 1);
	peer_request_send(r,
	    &(struct peer_request_opts){ .subject = subject,
		.request = &wire_intent_action_desc,
		.msg = &m,
		.reply = &wire_delivery_desc,
		.timeout_ms = WIRE_DEADLINE_MS_BODY_INTENT_ACTION,
		.act_by = { r->fenced.ms + ACT_MS },
		.fn = dispatch_on_delivery });
	turn_publish_intent_action(r, &m);
	return RC_OK;
}

static void
dispatch_unmark(void *arg)
{
	struct turn_run *r = arg;
	/* r may end meanwhile. */
	enum rc rc = turn_unmark_acting(r->o->state, &r->slot);

	if (rc != RC_OK)
		log_debug("turn.acting_not_unmarked", LOG_RC(rc));
}

void
dispatch_none(struct turn_run *r)
{
	if (!r->acting || r->turn.round > 0)
		return;
	for (size_t i = 0; i < r->turn.n_calls; i++) {
		enum turn_outcome outcome = r->turn.calls[i].outcome;

		if (outcome == TURN_OK || outcome == TURN_ERROR ||
		    outcome == TURN_NOT_CONFIRMED)
			return;
	}
	r->acting = false;
	fiber_start(dispatch_unmark, r);
}

/* ---- invokes ---- */

/* A skill invoked on the body, without a result yet. */
struct invoke {
	TAILQ_ENTRY(invoke) link;
	struct turn_run *run;
	size_t call;
	char id[ID_MAX + 1];
	struct bus_sub *sub;
	struct loop_timer timer;
	struct mono start, due;
};

static void
invoke_free(struct invoke *v)
{
	loop_timer_cancel(svc_loop(v->run->o->svc), &v->timer);
	bus_unsubscribe(v->sub);
	TAILQ_REMOVE(&v->run->invokes, v, link);
	free(v);
}

void
dispatch_cancel_all(struct turn_run *r)
{
	struct invoke *v;

	while ((v = TAILQ_FIRST(&r->invokes)) != NULL)
		invoke_free(v);
}

/* Results are published by the bridge, which sees late ones too. */
static void
invoke_publish_no_result(const struct invoke *v, enum turn_outcome outcome)
{
	struct turn_run *r = v->run;
	struct wire_invoke_result res = { .request_id = str_of(v->id),
		.terminal_id = turn_chat(r)->terminal_id,
		.skill = r->turn.calls[v->call].skill,
		.outcome = WIRE_INVOKE_RESULT_OUTCOME_NOT_DELIVERED,
		.duration_ms = mono_diff_ms(clock_mono(), v->start),
		.has_duration_ms = true,
		.turn_id = r->slot.turn_id };

	if (outcome == TURN_OK || outcome == TURN_ERROR)
		return;
	if (outcome == TURN_NOT_CONFIRMED) {
		res.outcome = WIRE_INVOKE_RESULT_OUTCOME_NOT_CONFIRMED;
		metric_add(r->o->metrics.not_confirmed, 1);
	}
	turn_publish_result(r, &res);
}

static void
invoke_end(struct invoke *v, enum turn_outcome outcome, struct str output,
    struct str why)
{
	struct turn_run *r = v->run;
	struct turn_event e = { .kind = TURN_CALL_RESULT,
		.call = v->call,
		.outcome = outcome,
		.output = arena_str(r->a, output),
		.why = reply_clean(why, WHY_MAX, r->a) };

	invoke_publish_no_result(v, outcome);
	alarm_call_copy(r, v->call, outcome);
	invoke_free(v);
	turn_feed(r, &e);
}

/* Whether json is the result of v; then v is freed. */
static bool
invoke_take_result(struct invoke *v, struct str json)
{
	struct arena *a = arena_new(WIRE_ARENA_MAX);
	struct wire_result m;
	struct wire_err err = { "", "" };

	enum rc rc = wire_decode(&wire_result_desc, json, a, &m, &err);
	if (rc == RC_OK && !str_eq(m.request_id, str_of(v->id))) {
		rc = RC_INVALID;
		snprintf(err.why, sizeof(err.why), "is of another request");
	}
	if (rc != RC_OK)
		log_warn("turn.result", LOG_S("request", v->id),
		    LOG_S("path", err.path), LOG_S("why", err.why));
	else if (m.ok)
		invoke_end(v, TURN_OK, m.output, (struct str){ 0 });
	else
		invoke_end(v, TURN_ERROR, m.output, m.error);
	arena_free(a);
	return rc == RC_OK;
}

static void
invoke_on_result(void *arg, struct bus_msg *m)
{
	(void)invoke_take_result(arg, bus_msg_data(m));
	bus_msg_free(m);
}

static struct invoke *
invoke_find(struct turn_run *r, size_t call)
{
	struct invoke *v;

	TAILQ_FOREACH (v, &r->invokes, link) {
		if (v->call == call)
			return v;
	}
	return NULL;
}

static void invoke_on_timer(void *arg);

/* The result may arrive while it is looked for. */
static void
invoke_poll(struct turn_run *r, size_t call)
{
	struct arena *a = arena_new(WIRE_ARENA_MAX);
	struct invoke *v = invoke_find(r, call);
	struct mono now = clock_mono();
	struct str json = { NULL, 0 };
	bool taken;
	enum rc rc = RC_NOENT;

	if (v != NULL)
		rc = terminal_get_result(r->o->state, turn_chat(r)->terminal_id,
		    str_of(v->id), a, &json);
	v = invoke_find(r, call);
	taken = v == NULL || (rc == RC_OK && invoke_take_result(v, json));
	arena_free(a);
	if (taken)
		return;
	if (mono_diff_ns(v->due, now) <= 0) {
		invoke_end(v, TURN_NOT_CONFIRMED, (struct str){ 0 },
		    (struct str){ 0 });
		return;
	}
	struct mono next = mono_add_ms(now, RESULT_POLL_MS);
	loop_timer_set(svc_loop(v->run->o->svc), &v->timer,
	    mono_diff_ns(next, v->due) < 0 ? next : v->due, invoke_on_timer, v);
}

static void
invoke_on_timer(void *arg)
{
	struct invoke *v = arg;

	turn_do(v->run, invoke_poll, v->call);
}

/* Only what was certainly not delivered ends here. */
static void
invoke_on_delivery(struct turn_run *r, size_t call, enum rc rc, const void *msg)
{
	const struct wire_delivery *d = msg;
	enum turn_outcome outcome =
	    rc == RC_OK ? dispatch_outcome(d->state) : dispatch_outcome_rc(rc);
	struct invoke *v = invoke_find(r, call);

	if (v == NULL || outcome == TURN_OK || outcome == TURN_NOT_CONFIRMED)
		return;
	invoke_end(v, outcome, (struct str){ 0 }, (struct str){ 0 });
}

static int64_t
invoke_timeout_ms(const struct turn_run *r, struct str skill)
{
	const struct tool *tool = tool_catalog_by_skill(r->facts.tools, skill);

	if (tool != NULL && tool->timeout_s > 0)
		return tool->timeout_s * 1000;
	return r->o->conf->tool_timeout_s * 1000;
}

static struct invoke *
invoke_new(struct turn_run *r, size_t call, struct wall by)
{
	char subject[PEER_SUBJECT_MAX];
	struct invoke *v = mem_zalloc(sizeof(*v));

	v->run = r;
	v->call = call;
	/* That of an unasked turn is the same in all attempts. */
	if (r->turn.calls[call].request_id.n > 0)
		str_copy(r->turn.calls[call].request_id, v->id, sizeof(v->id));
	else
		id_uuid(v->id);
	v->start = clock_mono();
	v->due = clock_mono_of(by);
	r->turn.calls[call].request_id = arena_str(r->a, str_of(v->id));
	TAILQ_INSERT_TAIL(&r->invokes, v, link);
	enum rc rc = peer_subject(subject, WIRE_SUBJECT_FMT_BODY_RESULT,
	    turn_chat(r)->terminal_id, str_of(v->id));
	if (rc == RC_OK)
		rc = bus_subscribe(
		    r->o->bus, subject, NULL, invoke_on_result, v, &v->sub);
	if (rc != RC_OK)
		log_debug("turn.no_result_subscription", LOG_RC(rc));
	return v;
}

enum rc
dispatch_skill(struct turn_run *r, const struct turn_action *a)
{
	const struct turn_call *d = &r->turn.calls[a->call];
	char now[WALL_FORMAT_MAX], subject[PEER_SUBJECT_MAX];
	struct wall by = turn_deadline(r, invoke_timeout_ms(r, d->skill));
	struct invoke *v = invoke_new(r, a->call, by);
	struct wire_invoke m = { .request_id = str_of(v->id),
		.skill = d->skill,
		.arguments = d->args,
		.ts = turn_now(now),
		.deadline_ms = by.ms,
		.has_deadline_ms = true };

	if (r->facts.broker.p == NULL ||
	    peer_subject(subject, WIRE_SUBJECT_FMT_BODY_INVOKE, r->facts.broker,
		turn_chat(r)->terminal_id) != RC_OK) {
		invoke_end(
		    v, TURN_OFFLINE, (struct str){ 0 }, (struct str){ 0 });
		return RC_OK;
	}
	metric_add(r->o->metrics.invokes, 1);
	loop_timer_set(svc_loop(r->o->svc), &v->timer,
	    mono_add_ms(v->start, RESULT_POLL_MS), invoke_on_timer, v);
	peer_request_send(r,
	    &(struct peer_request_opts){ .subject = subject,
		.request = &wire_invoke_desc,
		.msg = &m,
		.reply = &wire_delivery_desc,
		.timeout_ms = WIRE_DEADLINE_MS_BODY_INVOKE,
		.act_by = { r->fenced.ms + ACT_MS },
		.call = a->call,
		.fn = invoke_on_delivery });
	turn_publish_invoke(r, &m);
	return RC_OK;
}
