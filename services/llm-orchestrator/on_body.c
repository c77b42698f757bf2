/*
 * Direct actions end with their delivery, invokes with their result.
 *
 * A result comes over NATS to who subscribed before the invoke, and is kept in
 * Redis too: there it is looked for again and again, because a message may be
 * lost, and subscriptions end before the turns of a process that drains.
 */
#include "on_body.h"

#include <stdio.h>
#include <stdlib.h>

#include "ask.h"
#include "bus/bus.h"
#include "core/id.h"
#include "core/log.h"
#include "core/mem.h"
#include "core/metric.h"
#include "orch.h"
#include "reply.h"
#include "route.h"
#include "run.h"
#include "state/terminal.h"
#include "svc/svc.h"
#include "tell.h"
#include "tools.h"
#include "wire/msgs.h"
#include "wire/subjects.h"
#include "wire/wire.h"

#define WHY_MAX 1024
/* How long a fence lets a body act. */
#define ACT_MS 1000
/* How often a result is looked for where it is kept. */
#define LOOK_MS 1000

static enum turn_outcome
outcome_of(enum wire_delivery_state state)
{
	switch (state) {
	case WIRE_DELIVERY_STATE_DELIVERED:
		return TURN_OK;
	case WIRE_DELIVERY_STATE_NO_SUBSCRIBER:
		return TURN_UNHEARD;
	case WIRE_DELIVERY_STATE_LATE:
		return TURN_LATE;
	case WIRE_DELIVERY_STATE_OFFLINE:
		break;
	}
	return TURN_OFFLINE;
}

/*
 * What came of sending it, if there was no delivery: an error answer means that
 * it was not sent; no answer, or one that is none, means nothing.
 */
static enum turn_outcome
outcome_of_rc(enum rc rc)
{
	return rc == RC_TIMEOUT || rc == RC_INVALID ? TURN_NOT_CONFIRMED
						    : TURN_OFFLINE;
}

/* ---- direct actions ---------------------------------------------------- */

static void
acted(struct run *r, size_t deed, enum rc rc, const void *msg)
{
	const struct wire_delivery *d = msg;
	struct turn_event e = { .kind = TURN_ACTED,
		.outcome =
		    rc == RC_OK ? outcome_of(d->state) : outcome_of_rc(rc) };

	(void)deed;
	run_feed(r, &e);
}

static struct str
normalized(const struct turn_deed *d, struct arena *a)
{
	struct buf b = BUF_INIT(WIRE_MESSAGE_MAX);

	route_normalized(d, &b);
	struct str s = arena_str(a, buf_str(&b));
	buf_free(&b);
	return s;
}

static enum rc
fill_intents(struct run *r, struct wire_intent_action *m)
{
	m->intents = arena_alloc(r->a, ROUTE_DEEDS_MAX * sizeof(*m->intents));
	if (m->intents == NULL)
		return RC_TOOBIG;
	for (size_t i = 0; i < r->turn.n_deeds; i++) {
		const struct turn_deed *d = &r->turn.deeds[i];
		if (d->kind != TURN_DIRECT || d->outcome != TURN_SENT)
			continue;
		const struct wire_intent_filter_response_intents *from =
		    &r->intents->intents[d->intent];
		struct str what = normalized(d, r->a);
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
feed_acted(struct run *r, enum turn_outcome outcome)
{
	struct turn_event e = { .kind = TURN_ACTED, .outcome = outcome };

	run_feed(r, &e);
}

enum rc
on_act(struct run *r, const struct turn_action *a)
{
	const struct wire_chat_request *chat = run_chat(r);
	char now[WALL_FORMAT_MAX], id[ID_UUID_MAX], subject[ASK_SUBJECT_MAX];
	struct wire_intent_action m = { .session_id = chat->session_id,
		.terminal_id = chat->terminal_id,
		.soul_id = r->facts.soul_id,
		.exec_probability = r->feeling.exec_probability,
		.ts = orch_now(now) };

	(void)a;
	if (r->facts.broker.p == NULL ||
	    ask_subject(subject, WIRE_SUBJECT_FMT_BODY_INTENT_ACTION,
		r->facts.broker, chat->terminal_id) != RC_OK) {
		feed_acted(r, TURN_OFFLINE);
		return RC_OK;
	}
	id_uuid(id);
	m.request_id = arena_printf(r->a, "ia-%s", id);
	enum rc rc = fill_intents(r, &m);
	if (rc != RC_OK) {
		log_error("turn.act", LOG_RC(rc));
		feed_acted(r, TURN_LATE);
		return RC_OK;
	}
	metric_add(r->o->metrics.direct, 1);
	ask_send(r,
	    &(struct ask_opts){ .subject = subject,
		.request = &wire_intent_action_desc,
		.msg = &m,
		.reply = &wire_delivery_desc,
		.timeout_ms = WIRE_DEADLINE_MS_BODY_INTENT_ACTION,
		.act_by = { r->fenced.ms + ACT_MS },
		.fn = acted });
	tell_intent_action(r, &m);
	return RC_OK;
}

/* ---- invokes ----------------------------------------------------------- */

/* A skill that is being carried out. */
struct invoke {
	TAILQ_ENTRY(invoke) link;
	struct run *run;
	size_t deed;
	char id[ID_UUID_MAX];
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
body_cancel_all(struct run *r)
{
	struct invoke *v;

	while ((v = TAILQ_FIRST(&r->invokes)) != NULL)
		invoke_free(v);
}

/* A result is told by the bridge, which sees late ones too. */
static void
tell_no_result(const struct invoke *v, enum turn_outcome outcome)
{
	struct run *r = v->run;
	struct wire_invoke_result res = { .request_id = str_of(v->id),
		.terminal_id = run_chat(r)->terminal_id,
		.skill = r->turn.deeds[v->deed].skill,
		.outcome = WIRE_INVOKE_RESULT_OUTCOME_NOT_DELIVERED,
		.duration_ms = mono_diff_ms(clock_mono(), v->start),
		.has_duration_ms = true,
		.turn_id = r->place.turn_id };

	if (outcome == TURN_OK || outcome == TURN_ERROR)
		return;
	if (outcome == TURN_NOT_CONFIRMED) {
		res.outcome = WIRE_INVOKE_RESULT_OUTCOME_NOT_CONFIRMED;
		metric_add(r->o->metrics.not_confirmed, 1);
	}
	tell_result(r, &res);
}

static void
invoke_end(struct invoke *v, enum turn_outcome outcome, struct str output,
    struct str why)
{
	struct run *r = v->run;
	struct turn_event e = { .kind = TURN_RESULT,
		.deed = v->deed,
		.outcome = outcome,
		.output = arena_str(r->a, output),
		.why = reply_clean(why, WHY_MAX, r->a) };

	tell_no_result(v, outcome);
	invoke_free(v);
	run_feed(r, &e);
}

/* Whether json is the result of v; then v has ended. */
static bool
take_result(struct invoke *v, struct str json)
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
on_result(void *arg, struct bus_msg *m)
{
	(void)take_result(arg, bus_msg_data(m));
	bus_msg_free(m);
}

/* Whether the result is where all results are kept; then v has ended. */
static bool
look(struct invoke *v)
{
	struct run *r = v->run;
	struct arena *a = arena_new(WIRE_ARENA_MAX);
	struct str json;
	bool is = false;

	if (terminal_get_result(r->o->state, run_chat(r)->terminal_id,
		str_of(v->id), a, &json) == RC_OK)
		is = take_result(v, json);
	arena_free(a);
	return is;
}

static void
on_look(void *arg)
{
	struct invoke *v = arg;
	struct mono now = clock_mono();

	if (look(v))
		return;
	if (mono_diff_ns(v->due, now) <= 0) {
		invoke_end(v, TURN_NOT_CONFIRMED, (struct str){ 0 },
		    (struct str){ 0 });
		return;
	}
	struct mono next = mono_add_ms(now, LOOK_MS);
	loop_timer_set(svc_loop(v->run->o->svc), &v->timer,
	    mono_diff_ns(next, v->due) < 0 ? next : v->due, on_look, v);
}

static struct invoke *
invoke_of(struct run *r, size_t deed)
{
	struct invoke *v;

	TAILQ_FOREACH (v, &r->invokes, link) {
		if (v->deed == deed)
			return v;
	}
	return NULL;
}

/* What was delivered, or may have been, is waited for. */
static void
delivered(struct run *r, size_t deed, enum rc rc, const void *msg)
{
	const struct wire_delivery *d = msg;
	enum turn_outcome outcome =
	    rc == RC_OK ? outcome_of(d->state) : outcome_of_rc(rc);
	struct invoke *v = invoke_of(r, deed);

	if (v == NULL || outcome == TURN_OK || outcome == TURN_NOT_CONFIRMED)
		return;
	invoke_end(v, outcome, (struct str){ 0 }, (struct str){ 0 });
}

/* How long the skill's result is waited for. */
static int64_t
patience_ms(const struct run *r, struct str skill)
{
	const struct tool *tool = tools_skill(r->facts.tools, skill);

	if (tool != NULL && tool->timeout_s > 0)
		return tool->timeout_s * 1000;
	return r->o->conf->tool_timeout_s * 1000;
}

static struct invoke *
invoke_new(struct run *r, size_t deed, struct wall by)
{
	char subject[ASK_SUBJECT_MAX];
	struct invoke *v = mem_zalloc(sizeof(*v));

	v->run = r;
	v->deed = deed;
	id_uuid(v->id);
	v->start = clock_mono();
	v->due = clock_mono_of(by);
	r->turn.deeds[deed].request_id = arena_str(r->a, str_of(v->id));
	TAILQ_INSERT_TAIL(&r->invokes, v, link);
	enum rc rc = ask_subject(subject, WIRE_SUBJECT_FMT_BODY_RESULT,
	    run_chat(r)->terminal_id, str_of(v->id));
	if (rc == RC_OK)
		rc = bus_subscribe(
		    r->o->bus, subject, NULL, on_result, v, &v->sub);
	if (rc != RC_OK)
		log_debug("turn.result_unheard", LOG_RC(rc));
	return v;
}

enum rc
on_invoke(struct run *r, const struct turn_action *a)
{
	const struct turn_deed *d = &r->turn.deeds[a->deed];
	char now[WALL_FORMAT_MAX], subject[ASK_SUBJECT_MAX];
	struct wall by = run_by(r, patience_ms(r, d->skill));
	struct invoke *v = invoke_new(r, a->deed, by);
	struct wire_invoke m = { .request_id = str_of(v->id),
		.skill = d->skill,
		.arguments = d->args,
		.ts = orch_now(now),
		.deadline_ms = by.ms,
		.has_deadline_ms = true };

	if (r->facts.broker.p == NULL ||
	    ask_subject(subject, WIRE_SUBJECT_FMT_BODY_INVOKE, r->facts.broker,
		run_chat(r)->terminal_id) != RC_OK) {
		invoke_end(
		    v, TURN_OFFLINE, (struct str){ 0 }, (struct str){ 0 });
		return RC_OK;
	}
	metric_add(r->o->metrics.invokes, 1);
	loop_timer_set(svc_loop(r->o->svc), &v->timer,
	    mono_add_ms(v->start, LOOK_MS), on_look, v);
	ask_send(r,
	    &(struct ask_opts){ .subject = subject,
		.request = &wire_invoke_desc,
		.msg = &m,
		.reply = &wire_delivery_desc,
		.timeout_ms = WIRE_DEADLINE_MS_BODY_INVOKE,
		.act_by = { r->fenced.ms + ACT_MS },
		.deed = a->deed,
		.fn = delivered });
	tell_invoke(r, &m);
	return RC_OK;
}
