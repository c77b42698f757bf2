/*
 * One handler per phase; the calls of one completion form a round.
 */
#include "turn/turn_fsm.h"

#include <assert.h>

#include "core/mem.h"

/* ---- rounds ---- */

/* Whether it is of an intent, not of the model. */
static bool
call_is_intent(const struct turn_call *c)
{
	return c->kind == TURN_DIRECT || c->kind == TURN_ALARM;
}

static bool
round_has_call(const struct turn *t, size_t i)
{
	return t->calls[i].round == t->round && !call_is_intent(&t->calls[i]);
}

/* Completions with calls of the turn. */
static size_t
round_limit(const struct turn *t)
{
	return t->max_rounds + t->recalled + t->searched;
}

/* In the last round nothing can be done with the tools. */
static bool
round_may_search(const struct turn *t, size_t round)
{
	return t->more && (!t->searched || round < round_limit(t));
}

bool
turn_may_search(const struct turn *t)
{
	return round_may_search(t, t->round + 1);
}

/* Whether the tool of such a call is not offered now. */
static bool
round_lacks_tool(const struct turn *t, enum turn_call_kind kind)
{
	if (kind == TURN_RECALL)
		return !t->memory || t->recalled;
	if (kind == TURN_MORE)
		return !round_may_search(t, t->round);
	return kind == TURN_FORGET && !t->memory;
}

const struct turn_call *
turn_unapproved(const struct turn *t)
{
	for (size_t i = 0; i < t->n_calls; i++) {
		if (t->calls[i].outcome == TURN_UNAPPROVED)
			return &t->calls[i];
	}
	return NULL;
}

/* The user is asked about one call of a turn. */
static void
round_suspend(struct turn *t, struct turn_call *c)
{
	c->outcome =
	    turn_unapproved(t) != NULL ? TURN_DEFERRED : TURN_UNAPPROVED;
}

/*
 * Begin a round with the calls of a completion; true: memories are to be
 * searched.  gate is TURN_UNSENT, or the outcome of skills it holds back.
 */
static bool
round_take(struct turn *t, const struct turn_event *e, enum turn_outcome gate)
{
	bool searches = false;

	t->round_text[t->round++] = e->text;
	for (size_t i = 0; i < e->n_calls; i++) {
		if (i == TURN_ROUND_CALLS_MAX || t->n_calls == TURN_CALLS_MAX) {
			t->overflow = true;
			break;
		}
		struct turn_call *c = &t->calls[t->n_calls++];
		*c = e->calls[i];
		c->round = t->round;
		if (c->outcome != TURN_UNSENT)
			continue;
		if (round_lacks_tool(t, c->kind))
			c->outcome = TURN_UNKNOWN;
		else if (c->kind == TURN_RECALL)
			searches = true;
		else if ((c->kind == TURN_INVOKE || c->kind == TURN_PROVIDED) &&
		    !c->safety)
			c->outcome = gate;
		if (c->outcome == TURN_UNSENT && c->needs_approval)
			round_suspend(t, c);
	}
	return searches;
}

static bool
round_has(const struct turn *t, enum turn_outcome outcome)
{
	for (size_t i = 0; i < t->n_calls; i++) {
		if (round_has_call(t, i) && t->calls[i].outcome == outcome)
			return true;
	}
	return false;
}

static bool
round_is_open(const struct turn *t)
{
	return round_has(t, TURN_UNSENT) || round_has(t, TURN_SENT);
}

static bool
round_ok(const struct turn *t)
{
	for (size_t i = 0; i < t->n_calls; i++) {
		if (round_has_call(t, i) && t->calls[i].outcome != TURN_OK)
			return false;
	}
	return true;
}

/*
 * What was forgotten, and what a tool replies, is known only from the result,
 * so text beside such a call is not final.
 */
static bool
round_has_news(const struct turn *t)
{
	for (size_t i = 0; i < t->n_calls; i++) {
		enum turn_call_kind kind = t->calls[i].kind;

		if (round_has_call(t, i) &&
		    (kind == TURN_FORGET || kind == TURN_PROVIDED ||
			kind == TURN_MORE))
			return true;
	}
	return false;
}

/* Whether a call of the round came to something beside a question. */
static bool
round_has_result(const struct turn *t)
{
	for (size_t i = 0; i < t->n_calls; i++) {
		enum turn_outcome outcome = t->calls[i].outcome;

		if (round_has_call(t, i) && outcome != TURN_UNAPPROVED &&
		    outcome != TURN_DEFERRED)
			return true;
	}
	return false;
}

/*
 * The next outcome of an unsent call: TURN_SENT if it is due, TURN_UNSENT while
 * an earlier call of the same skill is pending, TURN_SKIPPED if that one was
 * not confirmed.
 */
static enum turn_outcome
round_due(const struct turn *t, size_t i)
{
	for (size_t k = 0; k < i; k++) {
		const struct turn_call *c = &t->calls[k];
		if (!round_has_call(t, k) ||
		    !str_eq(c->skill, t->calls[i].skill))
			continue;
		if (c->outcome <= TURN_SENT)
			return TURN_UNSENT;
		if (c->outcome == TURN_NOT_CONFIRMED ||
		    c->outcome == TURN_SKIPPED)
			return TURN_SKIPPED;
	}
	return TURN_SENT;
}

/* False: the turn does not expect this result. */
static bool
round_result(struct turn *t, const struct turn_event *e)
{
	if (e->call >= t->n_calls || !round_has_call(t, e->call))
		return false;
	struct turn_call *c = &t->calls[e->call];
	if (c->outcome != TURN_SENT || e->outcome <= TURN_SENT)
		return false;
	c->outcome = e->outcome;
	c->output = e->output;
	c->why = e->why;
	c->image = e->image;
	c->image_type = e->image_type;
	if (e->outcome == TURN_UNAPPROVED) {
		c->outcome = TURN_SENT;
		round_suspend(t, c);
	}
	return true;
}

/*
 * Whether the model may call tools after it has seen the results: not if the
 * gate held something back or the body does not respond, not after invalid
 * arguments a second time, and in round_limit() rounds at most.
 */
static bool
round_may_go_on(struct turn *t)
{
	static const enum turn_outcome absent[] = { TURN_NOT_CONFIRMED,
		TURN_OFFLINE, TURN_NO_SUBSCRIBER, TURN_NO_TIME, TURN_BLOCKED,
		TURN_GATE_UNKNOWN, TURN_UNAPPROVED };

	if (t->round >= round_limit(t))
		return false;
	for (size_t i = 0; i < sizeof(absent) / sizeof(absent[0]); i++) {
		if (round_has(t, absent[i]))
			return false;
	}
	if (!round_has(t, TURN_INVALID))
		return true;
	bool first = !t->corrected;
	t->corrected = true;
	return first;
}

/* The tools that were found cannot be called, so they are not named. */
static void
round_drop_found(struct turn *t)
{
	for (size_t i = 0; i < t->n_calls; i++) {
		struct turn_call *c = &t->calls[i];

		if (!round_has_call(t, i) || c->kind != TURN_MORE ||
		    c->outcome != TURN_OK)
			continue;
		c->outcome = TURN_DEFERRED;
		c->output = (struct str){ 0 };
	}
}

/* ---- the turn ---- */

/* Bits of turn.awaited. */
enum {
	AWAIT_EMOTION = 1,
	AWAIT_INTENTS = 2,
	AWAIT_MEMORY = 4,
	AWAIT_TOOLS = 8
};

static const struct turn_error fsm_lost = { 502, "turn_lost",
	"the turn was lost" };
static const struct turn_error fsm_expired = { 504, "deadline_exceeded",
	"deadline exceeded" };

void
turn_init(struct turn *t, size_t max_rounds)
{
	*t = (struct turn){ .phase = TURN_QUEUED, .max_rounds = max_rounds };
	assert(max_rounds >= 1 && max_rounds <= TURN_ROUNDS_MAX);
}

static struct turn_action *
fsm_do(struct turn_actions *out, enum turn_action_kind kind)
{
	assert(out->n < TURN_ACTIONS_MAX);
	out->list[out->n] = (struct turn_action){ .kind = kind };
	return &out->list[out->n++];
}

/* No call is left without a final outcome when a turn ends. */
static void
fsm_close_calls(struct turn *t, enum turn_outcome unsent)
{
	for (size_t i = 0; i < t->n_calls; i++) {
		if (t->calls[i].outcome == TURN_SENT)
			t->calls[i].outcome = TURN_NOT_CONFIRMED;
		else if (t->calls[i].outcome == TURN_UNSENT)
			t->calls[i].outcome = unsent;
	}
}

static void
fsm_fail(
    struct turn *t, const struct turn_error *error, struct turn_actions *out)
{
	fsm_close_calls(t, TURN_CANCELED);
	t->phase = TURN_ENDED;
	fsm_do(out, TURN_DO_FAIL)->error = *error;
}

static void
fsm_finish(struct turn *t, struct turn_actions *out)
{
	fsm_close_calls(t, TURN_NO_TIME);
	t->awaited = 0;
	t->phase = TURN_COMMITTING;
	fsm_do(out, TURN_DO_COMMIT);
}

static void
fsm_on_lost(
    struct turn *t, const struct turn_event *e, struct turn_actions *out)
{
	for (size_t i = 0; e->unsent && i < t->n_calls; i++)
		if (t->calls[i].outcome == TURN_SENT)
			t->calls[i].outcome = TURN_UNSENT;
	fsm_fail(t, e->error.status != 0 ? &e->error : &fsm_lost, out);
}

/* A call that changes nothing: its result is for the model. */
static bool
fsm_only_reads(const struct turn_call *c)
{
	return c->kind == TURN_RECALL || c->kind == TURN_MORE ||
	    (c->kind == TURN_PROVIDED && c->safety);
}

/*
 * Whether there is something to report without the model's text.  A search does
 * not count, nor does a call that could not be tried.
 */
static bool
fsm_has_effect(const struct turn *t)
{
	for (size_t i = 0; i < t->n_calls; i++) {
		const struct turn_call *c = &t->calls[i];
		if (call_is_intent(c))
			return true;
		if (!fsm_only_reads(c) && c->outcome != TURN_INVALID &&
		    c->outcome != TURN_UNKNOWN && c->outcome != TURN_DEFERRED)
			return true;
	}
	return t->route.n_questions > 0;
}

static bool
fsm_gate_open(const struct turn *t)
{
	return t->emotion_known && t->mode == WIRE_EXEC_MODE_AUTO_EXECUTE;
}

static enum turn_outcome
fsm_gate_outcome(const struct turn *t)
{
	if (fsm_gate_open(t))
		return TURN_UNSENT;
	return t->emotion_known ? TURN_BLOCKED : TURN_GATE_UNKNOWN;
}

/* ---- calling the model ---- */

static bool
fsm_is_silent(const struct turn *t)
{
	return t->routed && t->route.action == WIRE_DECISION_ACTION_NO_ACTION;
}

static enum turn_offer
fsm_offer(const struct turn *t)
{
	if (!t->memory)
		return TURN_OFFER_SKILLS;
	return t->recalled ? TURN_OFFER_FORGET : TURN_OFFER_ALL;
}

/* Once the model is sure to be called, and may call tools. */
static void
fsm_list_tools(struct turn *t, struct turn_actions *out)
{
	if (!t->providers || t->listed)
		return;
	t->listed = true;
	t->awaited |= AWAIT_TOOLS;
	fsm_do(out, TURN_DO_LIST_TOOLS);
}

/*
 * Deferred until memory and providers have replied, which decides on the tools
 * offered.
 */
static void
fsm_call_model(struct turn *t, bool may_call, struct turn_actions *out)
{
	bool tools = !fsm_is_silent(t);

	t->phase = TURN_COMPLETING;
	t->offered = may_call && tools;
	t->model_deferred =
	    tools && (t->awaited & (AWAIT_MEMORY | AWAIT_TOOLS)) != 0;
	if (t->model_deferred)
		return;
	struct turn_action *a = fsm_do(out, TURN_DO_CALL_MODEL);
	a->may_call = t->offered;
	if (tools)
		a->offer = fsm_offer(t);
}

/* After the direct calls, or without any. */
static void
fsm_call_model_for_rest(struct turn *t, struct turn_actions *out)
{
	if (t->routed &&
	    t->route.action == WIRE_DECISION_ACTION_EXECUTE_INTENTS &&
	    t->route.rest.n == 0)
		fsm_finish(t, out);
	else
		fsm_call_model(t, true, out);
}

/* ---- unasked turns ---- */

static void fsm_invoke_next(struct turn *t, struct turn_actions *out);

/* Whether a call may still be made, without the gate or at all. */
static bool
fsm_unasked_has_call(const struct turn *t, bool gated)
{
	for (size_t i = 0; i < t->n_calls; i++)
		if (t->calls[i].outcome == TURN_UNSENT &&
		    !(gated && t->calls[i].safety))
			return true;
	return false;
}

/* The gate is known, or does not matter. */
static void
fsm_unasked_go_on(struct turn *t, struct turn_actions *out)
{
	struct turn_action *a;

	for (size_t i = 0; i < t->n_calls; i++)
		if (t->calls[i].outcome == TURN_UNSENT && !t->calls[i].safety)
			t->calls[i].outcome = fsm_gate_outcome(t);
	if (!fsm_unasked_has_call(t, false)) {
		fsm_finish(t, out);
	} else if (t->phrased) {
		t->phase = TURN_COMPLETING;
		a = fsm_do(out, TURN_DO_CALL_MODEL);
		a->offer = TURN_OFFER_NONE;
	} else {
		fsm_invoke_next(t, out);
	}
}

static void
fsm_unasked_begin(
    struct turn *t, const struct turn_event *e, struct turn_actions *out)
{
	t->phase = TURN_PERCEIVING;
	t->unasked = true;
	t->phrased = e->phrased;
	t->text = e->text;
	t->has_text = e->text.n > 0;
	t->round = 1;
	for (size_t i = 0; i < e->n_calls && t->n_calls < TURN_CALLS_MAX; i++) {
		t->calls[t->n_calls] = e->calls[i];
		t->calls[t->n_calls++].round = 1;
	}
	if (!fsm_unasked_has_call(t, true)) {
		fsm_unasked_go_on(t, out);
		return;
	}
	t->awaited = AWAIT_EMOTION;
	fsm_do(out, TURN_DO_CHECK_GATE);
}

/* Without the model's words it says what it was to say. */
static void
fsm_unasked_take_text(
    struct turn *t, const struct turn_event *e, struct turn_actions *out)
{
	if (e->error.status == 0 && str_trim(e->text).n > 0)
		t->text = str_trim(e->text);
	fsm_invoke_next(t, out);
}

/* ---- perceiving and acting ---- */

static void
fsm_execute_intents(struct turn *t, struct turn_actions *out)
{
	bool any = false, alarms = false;

	for (size_t i = 0; i < t->route.n_calls && t->n_calls < TURN_CALLS_MAX;
	     i++) {
		struct turn_call *c = &t->calls[t->n_calls++];
		*c = t->route.calls[i];
		if (c->outcome != TURN_UNSENT)
			continue;
		if (c->kind == TURN_ALARM) {
			/* The gate holds when it rings. */
			c->outcome = TURN_SENT;
			fsm_do(out, TURN_DO_CALL_ALARM)->call = t->n_calls - 1;
			alarms = true;
			continue;
		}
		c->outcome = fsm_gate_open(t) || c->safety
		    ? TURN_SENT
		    : fsm_gate_outcome(t);
		any |= c->outcome == TURN_SENT;
	}
	if (!any && !alarms) {
		fsm_call_model_for_rest(t, out);
		return;
	}
	t->phase = TURN_ACTING;
	if (any)
		fsm_do(out, TURN_DO_SEND_INTENTS);
}

/* The call that the user was asked about: a round of its own. */
static void
fsm_take_user_reply(struct turn *t, struct turn_actions *out)
{
	struct turn_event e = { .calls = &t->user_reply, .n_calls = 1 };
	bool denied = t->user_reply.outcome == TURN_DENIED;

	(void)round_take(t, &e, fsm_gate_outcome(t));
	if (denied)
		fsm_finish(t, out);
	else
		fsm_invoke_next(t, out);
}

static void
fsm_perceived(struct turn *t, struct turn_actions *out)
{
	if ((t->awaited & (AWAIT_EMOTION | AWAIT_INTENTS)) != 0)
		return;
	if (t->replies)
		fsm_take_user_reply(t, out);
	else if (t->routed &&
	    t->route.action == WIRE_DECISION_ACTION_EXECUTE_INTENTS)
		fsm_execute_intents(t, out);
	else
		fsm_call_model(t, true, out);
}

static void
fsm_on_loaded(
    struct turn *t, const struct turn_event *e, struct turn_actions *out)
{
	if (e->error.status != 0) {
		fsm_fail(t, &e->error, out);
		return;
	}
	if (e->unasked) {
		fsm_unasked_begin(t, e, out);
		return;
	}
	t->phase = TURN_PERCEIVING;
	t->earlier = e->text;
	t->awaited = AWAIT_EMOTION | AWAIT_MEMORY;
	t->providers = e->tools;
	t->replies = e->n_calls > 0;
	if (t->replies)
		t->user_reply = e->calls[0];
	fsm_do(out, TURN_DO_OBSERVE_EMOTION);
	if (e->filter && !t->replies) {
		t->awaited |= AWAIT_INTENTS;
		fsm_do(out, TURN_DO_FILTER_INTENTS);
	}
	fsm_do(out, TURN_DO_CHECK_MEMORY);
	if ((t->awaited & AWAIT_INTENTS) == 0 &&
	    t->user_reply.outcome != TURN_DENIED)
		fsm_list_tools(t, out);
}

static void
fsm_on_emotion(
    struct turn *t, const struct turn_event *e, struct turn_actions *out)
{
	if ((t->awaited & AWAIT_EMOTION) == 0)
		return;
	t->awaited &= ~(unsigned)AWAIT_EMOTION;
	t->emotion_known = e->known;
	t->mode = e->mode;
	t->unsaved = e->unsaved;
	if (t->unasked)
		fsm_unasked_go_on(t, out);
	else
		fsm_perceived(t, out);
}

static void
fsm_on_intents(
    struct turn *t, const struct turn_event *e, struct turn_actions *out)
{
	if ((t->awaited & AWAIT_INTENTS) == 0)
		return;
	t->awaited &= ~(unsigned)AWAIT_INTENTS;
	t->routed = e->known;
	if (e->known)
		t->route = *e->route;
	if (!t->routed ||
	    t->route.action == WIRE_DECISION_ACTION_FALLBACK_REASONING ||
	    (t->route.action == WIRE_DECISION_ACTION_EXECUTE_INTENTS &&
		t->route.rest.n > 0))
		fsm_list_tools(t, out);
	fsm_perceived(t, out);
}

/* Accepted in any phase; only the call of the model waits for it. */
static void
fsm_on_memory(
    struct turn *t, const struct turn_event *e, struct turn_actions *out)
{
	if ((t->awaited & AWAIT_MEMORY) == 0)
		return;
	t->awaited &= ~(unsigned)AWAIT_MEMORY;
	t->memory = e->known;
	if (t->phase == TURN_COMPLETING && t->model_deferred)
		fsm_call_model(t, t->offered, out);
}

/* As that of memory. */
static void
fsm_on_tools(
    struct turn *t, const struct turn_event *e, struct turn_actions *out)
{
	if ((t->awaited & AWAIT_TOOLS) == 0)
		return;
	t->awaited &= ~(unsigned)AWAIT_TOOLS;
	t->more = e->known;
	if (t->phase == TURN_COMPLETING && t->model_deferred)
		fsm_call_model(t, t->offered, out);
}

/* Once all calls of intents have their results. */
static void
fsm_acted(struct turn *t, struct turn_actions *out)
{
	for (size_t i = 0; i < t->n_calls; i++) {
		if (t->calls[i].outcome == TURN_SENT)
			return;
	}
	fsm_call_model_for_rest(t, out);
}

static void
fsm_on_intent_result(
    struct turn *t, const struct turn_event *e, struct turn_actions *out)
{
	for (size_t i = 0; i < t->n_calls; i++) {
		if (t->calls[i].outcome != TURN_SENT ||
		    t->calls[i].kind != TURN_DIRECT)
			continue;
		t->calls[i].outcome = e->outcome;
		t->calls[i].why = e->why;
	}
	fsm_acted(t, out);
}

static void
fsm_on_alarm_result(
    struct turn *t, const struct turn_event *e, struct turn_actions *out)
{
	struct turn_call *c;

	if (e->call >= t->n_calls)
		return;
	c = &t->calls[e->call];
	if (c->kind != TURN_ALARM || c->outcome != TURN_SENT ||
	    e->outcome <= TURN_SENT)
		return;
	c->outcome = e->outcome;
	c->output = e->output;
	c->why = e->why;
	fsm_acted(t, out);
}

/* ---- the model's calls ---- */

/* All results of a round are known. */
static void
fsm_end_round(struct turn *t, struct turn_actions *out)
{
	struct str *text = &t->round_text[t->round - 1];

	if (t->unasked) {
		fsm_finish(t, out);
		return;
	}
	/* The model has not seen what else came of the round. */
	if (round_has(t, TURN_UNAPPROVED) && !round_has_result(t)) {
		fsm_finish(t, out);
		return;
	}
	if (round_ok(t) && !round_has_news(t) && str_trim(*text).n > 0) {
		t->text = *text;
		t->has_text = true;
		*text = (struct str){ 0 };
		fsm_finish(t, out);
		return;
	}
	bool may_call = round_may_go_on(t);
	if (!may_call)
		round_drop_found(t);
	fsm_call_model(t, may_call, out);
}

static enum turn_action_kind
fsm_action_of(const struct turn_call *c)
{
	if (c->speech)
		return TURN_DO_SPEAK;
	switch (c->kind) {
	case TURN_FORGET:
		return TURN_DO_FORGET;
	case TURN_PROVIDED:
		return c->safety ? TURN_DO_READ_TOOL : TURN_DO_CALL_TOOL;
	case TURN_MORE:
		return TURN_DO_FIND_TOOLS;
	default:
		return TURN_DO_INVOKE;
	}
}

static void
fsm_invoke_next(struct turn *t, struct turn_actions *out)
{
	t->phase = TURN_INVOKING;
	for (size_t i = 0; i < t->n_calls; i++) {
		if (!round_has_call(t, i) || t->calls[i].outcome != TURN_UNSENT)
			continue;
		t->calls[i].outcome = round_due(t, i);
		if (t->calls[i].outcome != TURN_SENT)
			continue;
		t->searched |= t->calls[i].kind == TURN_MORE;
		fsm_do(out, fsm_action_of(&t->calls[i]))->call = i;
	}
	if (!round_is_open(t))
		fsm_end_round(t, out);
}

static void
fsm_search(struct turn *t, struct turn_actions *out)
{
	t->phase = TURN_SEARCHING;
	t->recalled = true;
	fsm_do(out, TURN_DO_REPORT_SEARCHING);
	for (size_t i = 0; i < t->n_calls; i++) {
		if (!round_has_call(t, i) ||
		    (t->calls[i].outcome != TURN_UNSENT &&
			t->calls[i].outcome != TURN_UNAPPROVED))
			continue;
		if (t->calls[i].kind != TURN_RECALL) {
			t->calls[i].outcome = TURN_DEFERRED;
			continue;
		}
		t->calls[i].outcome = TURN_SENT;
		fsm_do(out, TURN_DO_RECALL)->call = i;
	}
}

static void
fsm_on_completion(
    struct turn *t, const struct turn_event *e, struct turn_actions *out)
{
	if (t->model_deferred)
		return;
	if (t->unasked) {
		fsm_unasked_take_text(t, e, out);
		return;
	}
	if (e->error.status != 0) {
		t->model_failed = true;
		if (fsm_has_effect(t))
			fsm_finish(t, out);
		else
			fsm_fail(t, &e->error, out);
		return;
	}
	if (e->n_calls == 0 || !t->offered) {
		t->overflow |= e->n_calls > 0 && !fsm_is_silent(t);
		t->text = e->text;
		t->has_text = true;
		fsm_finish(t, out);
		return;
	}
	if (round_take(t, e, fsm_gate_outcome(t)))
		fsm_search(t, out);
	else
		fsm_invoke_next(t, out);
}

/* ---- results ---- */

static void
fsm_on_result(
    struct turn *t, const struct turn_event *e, struct turn_actions *out)
{
	if (round_result(t, e))
		fsm_invoke_next(t, out);
}

static void
fsm_on_recalled(
    struct turn *t, const struct turn_event *e, struct turn_actions *out)
{
	if (!round_result(t, e) || round_is_open(t))
		return;
	fsm_do(out,
	    round_has(t, TURN_OK) ? TURN_DO_REPORT_FOUND
				  : TURN_DO_REPORT_FAILED);
	fsm_call_model(t, true, out);
}

static void
fsm_reply(struct turn *t, struct turn_actions *out)
{
	t->phase = TURN_ENDED;
	fsm_do(out, TURN_DO_REPLY);
}

static void
fsm_on_committed(
    struct turn *t, const struct turn_event *e, struct turn_actions *out)
{
	if (t->committed)
		return;
	if (e->error.status != 0) {
		fsm_fail(t, &e->error, out);
		return;
	}
	t->committed = true;
	if (e->saved)
		t->unsaved = false;
	if (!t->unsaved)
		fsm_reply(t, out);
}

/* Accepted in any phase; only the reply waits for it. */
static void
fsm_on_saved(struct turn *t, struct turn_actions *out)
{
	t->unsaved = false;
	if (t->committed)
		fsm_reply(t, out);
}

/* ---- in any phase ---- */

/* What was done is reported even without the model's text. */
static void
fsm_on_expired(struct turn *t, struct turn_actions *out)
{
	if (t->committed) {
		fsm_reply(t, out);
		return;
	}
	if (t->phase == TURN_COMMITTING ||
	    (!t->unasked && !fsm_has_effect(t))) {
		fsm_fail(t, &fsm_expired, out);
		return;
	}
	t->model_failed |= t->phase == TURN_COMPLETING || t->route.rest.n > 0;
	fsm_finish(t, out);
}

static void
fsm_on_cancel(struct turn *t, struct turn_actions *out)
{
	fsm_close_calls(t, TURN_CANCELED);
	t->phase = TURN_ENDED;
	fsm_do(out, TURN_DO_CANCELED);
}

static void
fsm_on_position(
    struct turn *t, const struct turn_event *e, struct turn_actions *out)
{
	if (e->ahead > 0)
		return;
	t->phase = TURN_LOADING;
	fsm_do(out, TURN_DO_LOAD);
}

/* The event that a phase waits for, and its handler. */
static const struct {
	enum turn_phase phase;
	enum turn_event_kind event;
	void (*fn)(struct turn *t, const struct turn_event *e,
	    struct turn_actions *out);
} fsm_table[] = {
	{ TURN_QUEUED, TURN_POSITION, fsm_on_position },
	{ TURN_LOADING, TURN_LOADED, fsm_on_loaded },
	{ TURN_PERCEIVING, TURN_EMOTION_REPLY, fsm_on_emotion },
	{ TURN_PERCEIVING, TURN_INTENT_REPLY, fsm_on_intents },
	{ TURN_ACTING, TURN_INTENT_RESULT, fsm_on_intent_result },
	{ TURN_ACTING, TURN_CALL_RESULT, fsm_on_alarm_result },
	{ TURN_COMPLETING, TURN_COMPLETION, fsm_on_completion },
	{ TURN_INVOKING, TURN_CALL_RESULT, fsm_on_result },
	{ TURN_SEARCHING, TURN_CALL_RESULT, fsm_on_recalled },
	{ TURN_COMMITTING, TURN_COMMITTED, fsm_on_committed },
};

void
turn_step(struct turn *t, const struct turn_event *e, struct turn_actions *out)
{
	out->n = 0;
	if (t->phase == TURN_ENDED)
		return;
	switch (e->kind) {
	case TURN_LOST:
		if (!t->committed)
			fsm_on_lost(t, e, out);
		return;
	case TURN_CANCEL:
		if (!t->committed)
			fsm_on_cancel(t, out);
		return;
	case TURN_EXPIRED:
		fsm_on_expired(t, out);
		return;
	case TURN_MEMORY_REPLY:
		fsm_on_memory(t, e, out);
		return;
	case TURN_TOOLS_REPLY:
		fsm_on_tools(t, e, out);
		return;
	case TURN_EMOTION_SAVED:
		fsm_on_saved(t, out);
		return;
	default:
		break;
	}
	for (size_t i = 0; i < NELEM(fsm_table); i++) {
		if (fsm_table[i].phase == t->phase &&
		    fsm_table[i].event == e->kind) {
			fsm_table[i].fn(t, e, out);
			return;
		}
	}
}

const char *
turn_phase_name(const struct turn *t)
{
	static const char *const names[] = {
		[TURN_QUEUED] = "queued",
		[TURN_LOADING] = "sensing",
		[TURN_PERCEIVING] = "sensing",
		[TURN_ACTING] = "acting",
		[TURN_COMPLETING] = "thinking",
		[TURN_INVOKING] = "invoking",
		[TURN_SEARCHING] = "searching",
		[TURN_COMMITTING] = "replying",
		[TURN_ENDED] = "ended",
	};

	return names[t->phase];
}

bool
turn_call_failed(const struct turn *t, size_t i)
{
	const struct turn_call *c = &t->calls[i];

	if (c->outcome <= TURN_OK)
		return false;
	for (size_t k = i + 1; k < t->n_calls; k++) {
		if (t->calls[k].round > c->round &&
		    !call_is_intent(&t->calls[k]) &&
		    str_eq(t->calls[k].skill, c->skill))
			return false;
	}
	return true;
}
