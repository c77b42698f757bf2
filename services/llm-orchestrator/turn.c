/*
 * One handler per phase.
 */
#include "turn.h"

#include <assert.h>

#include "core/mem.h"
#include "round.h"

/* Senses that have not answered yet. */
enum { FEELING = 1, INTENTS = 2, MEMORY = 4 };

static const struct turn_fault lost = { 502, "turn_lost", "the turn was lost" };
static const struct turn_fault expired = { 504, "deadline_exceeded",
	"deadline exceeded" };

void
turn_init(struct turn *t, size_t max_rounds)
{
	*t = (struct turn){ .phase = TURN_WAITING, .max_rounds = max_rounds };
	assert(max_rounds >= 1 && max_rounds <= TURN_ROUNDS_MAX);
}

/* ---- actions ----------------------------------------------------------- */

static struct turn_action *
act(struct turn_actions *out, enum turn_action_kind kind)
{
	assert(out->n < TURN_ACTIONS_MAX);
	out->list[out->n] = (struct turn_action){ .kind = kind };
	return &out->list[out->n++];
}

/* Nothing may stay open when a turn ends. */
static void
close_deeds(struct turn *t, enum turn_outcome unsent)
{
	for (size_t i = 0; i < t->n_deeds; i++) {
		if (t->deeds[i].outcome == TURN_SENT)
			t->deeds[i].outcome = TURN_NOT_CONFIRMED;
		else if (t->deeds[i].outcome == TURN_OPEN)
			t->deeds[i].outcome = unsent;
	}
}

static void
fail(struct turn *t, const struct turn_fault *fault, struct turn_actions *out)
{
	close_deeds(t, TURN_STOPPED);
	t->phase = TURN_ENDED;
	act(out, TURN_DO_FAIL)->fault = *fault;
}

static void
finish(struct turn *t, struct turn_actions *out)
{
	close_deeds(t, TURN_LATE);
	t->awaited = 0;
	t->phase = TURN_REPLYING;
	act(out, TURN_DO_STORE);
}

/*
 * Whether the user is to hear of something though the model says nothing.  A
 * search is no deed, and a call that could not even be tried is none.
 */
static bool
something_done(const struct turn *t)
{
	for (size_t i = 0; i < t->n_deeds; i++) {
		const struct turn_deed *d = &t->deeds[i];
		if (d->kind == TURN_DIRECT)
			return true;
		if (d->kind != TURN_RECALL && d->outcome != TURN_INVALID &&
		    d->outcome != TURN_UNKNOWN && d->outcome != TURN_DEFERRED)
			return true;
	}
	return t->route.n_questions > 0;
}

static bool
gate_open(const struct turn *t)
{
	return t->felt && t->mode == WIRE_EXEC_MODE_AUTO_EXECUTE;
}

static enum turn_outcome
gate_outcome(const struct turn *t)
{
	if (gate_open(t))
		return TURN_OPEN;
	return t->felt ? TURN_BLOCKED : TURN_UNGATED;
}

/* ---- thinking ---------------------------------------------------------- */

static bool
is_silent(const struct turn *t)
{
	return t->routed && t->route.action == WIRE_DECISION_ACTION_NO_ACTION;
}

static enum turn_offer
offer_of(const struct turn *t)
{
	if (!t->memory)
		return TURN_OFFER_SKILLS;
	return t->recalled ? TURN_OFFER_FORGET : TURN_OFFER_ALL;
}

/* Ask the model; what it may do with memories is memory's to say. */
static void
think(struct turn *t, bool may_call, struct turn_actions *out)
{
	bool tools = !is_silent(t);

	t->phase = TURN_THINKING;
	t->offered = may_call && tools;
	t->held = tools && (t->awaited & MEMORY) != 0;
	if (t->held)
		return;
	struct turn_action *a = act(out, TURN_DO_THINK);
	a->may_call = t->offered;
	if (tools)
		a->offer = offer_of(t);
}

/* After the direct deeds, or without any. */
static void
think_of_rest(struct turn *t, struct turn_actions *out)
{
	if (t->routed &&
	    t->route.action == WIRE_DECISION_ACTION_EXECUTE_INTENTS &&
	    t->route.rest.n == 0)
		finish(t, out);
	else
		think(t, true, out);
}

/* ---- sensing and acting ------------------------------------------------ */

static void
execute_intents(struct turn *t, struct turn_actions *out)
{
	bool any = false;

	for (size_t i = 0; i < t->route.n_deeds && t->n_deeds < TURN_DEEDS_MAX;
	     i++) {
		struct turn_deed *d = &t->deeds[t->n_deeds++];
		*d = t->route.deeds[i];
		if (d->outcome != TURN_OPEN)
			continue;
		d->outcome =
		    gate_open(t) || d->safety ? TURN_SENT : gate_outcome(t);
		any |= d->outcome == TURN_SENT;
	}
	if (!any) {
		think_of_rest(t, out);
		return;
	}
	t->phase = TURN_ACTING;
	act(out, TURN_DO_ACT);
}

static void
sensed(struct turn *t, struct turn_actions *out)
{
	if ((t->awaited & (FEELING | INTENTS)) != 0)
		return;
	if (t->routed &&
	    t->route.action == WIRE_DECISION_ACTION_EXECUTE_INTENTS)
		execute_intents(t, out);
	else
		think(t, true, out);
}

static void
on_loaded(struct turn *t, const struct turn_event *e, struct turn_actions *out)
{
	if (e->fault.status != 0) {
		fail(t, &e->fault, out);
		return;
	}
	t->phase = TURN_SENSING;
	t->late = e->text;
	t->awaited = FEELING | MEMORY;
	act(out, TURN_DO_FEEL);
	if (e->filter) {
		t->awaited |= INTENTS;
		act(out, TURN_DO_FILTER);
	}
	act(out, TURN_DO_ASK_MEMORY);
}

static void
on_felt(struct turn *t, const struct turn_event *e, struct turn_actions *out)
{
	if ((t->awaited & FEELING) == 0)
		return;
	t->awaited &= ~(unsigned)FEELING;
	t->felt = e->known;
	t->mode = e->mode;
	sensed(t, out);
}

static void
on_filtered(
    struct turn *t, const struct turn_event *e, struct turn_actions *out)
{
	if ((t->awaited & INTENTS) == 0)
		return;
	t->awaited &= ~(unsigned)INTENTS;
	t->routed = e->known;
	if (e->known)
		t->route = *e->route;
	sensed(t, out);
}

/* Comes in any phase; only thinking waits for it. */
static void
on_remembers(
    struct turn *t, const struct turn_event *e, struct turn_actions *out)
{
	if ((t->awaited & MEMORY) == 0)
		return;
	t->awaited &= ~(unsigned)MEMORY;
	t->memory = e->known;
	if (t->phase == TURN_THINKING && t->held)
		think(t, t->offered, out);
}

static void
on_acted(struct turn *t, const struct turn_event *e, struct turn_actions *out)
{
	for (size_t i = 0; i < t->n_deeds; i++) {
		if (t->deeds[i].outcome != TURN_SENT)
			continue;
		t->deeds[i].outcome = e->outcome;
		t->deeds[i].why = e->why;
	}
	think_of_rest(t, out);
}

/* ---- the model's calls ------------------------------------------------- */

/* All results of a round are there. */
static void
settle(struct turn *t, struct turn_actions *out)
{
	struct str *said = &t->said[t->round - 1];

	if (round_ok(t) && !round_forgets(t) && str_trim(*said).n > 0) {
		t->text = *said;
		t->answered = true;
		*said = (struct str){ 0 };
		finish(t, out);
		return;
	}
	think(t, round_may_go_on(t), out);
}

static void
invoke_next(struct turn *t, struct turn_actions *out)
{
	t->phase = TURN_INVOKING;
	for (size_t i = 0; i < t->n_deeds; i++) {
		if (!round_has_deed(t, i) || t->deeds[i].outcome != TURN_OPEN)
			continue;
		t->deeds[i].outcome = round_due(t, i);
		if (t->deeds[i].outcome == TURN_SENT)
			act(out,
			    t->deeds[i].kind == TURN_FORGET ? TURN_DO_FORGET
							    : TURN_DO_INVOKE)
			    ->deed = i;
	}
	if (!round_is_open(t))
		settle(t, out);
}

static void
search(struct turn *t, struct turn_actions *out)
{
	t->phase = TURN_SEARCHING;
	t->recalled = true;
	act(out, TURN_DO_SEARCHING);
	for (size_t i = 0; i < t->n_deeds; i++) {
		if (!round_has_deed(t, i) || t->deeds[i].outcome != TURN_OPEN)
			continue;
		if (t->deeds[i].kind != TURN_RECALL) {
			t->deeds[i].outcome = TURN_DEFERRED;
			continue;
		}
		t->deeds[i].outcome = TURN_SENT;
		act(out, TURN_DO_RECALL)->deed = i;
	}
}

static void
on_answered(
    struct turn *t, const struct turn_event *e, struct turn_actions *out)
{
	if (t->held)
		return;
	if (e->fault.status != 0) {
		t->speechless = true;
		if (something_done(t))
			finish(t, out);
		else
			fail(t, &e->fault, out);
		return;
	}
	if (e->n_deeds == 0 || !t->offered) {
		t->overflow |= e->n_deeds > 0 && !is_silent(t);
		t->text = e->text;
		t->answered = true;
		finish(t, out);
		return;
	}
	if (round_take(t, e, gate_outcome(t)))
		search(t, out);
	else
		invoke_next(t, out);
}

/* ---- results ----------------------------------------------------------- */

static void
on_result(struct turn *t, const struct turn_event *e, struct turn_actions *out)
{
	if (round_result(t, e))
		invoke_next(t, out);
}

static void
on_recalled(
    struct turn *t, const struct turn_event *e, struct turn_actions *out)
{
	if (!round_result(t, e) || round_is_open(t))
		return;
	act(out, round_has(t, TURN_OK) ? TURN_DO_SEARCHED : TURN_DO_NOT_FOUND);
	think(t, true, out);
}

static void
on_stored(struct turn *t, const struct turn_event *e, struct turn_actions *out)
{
	if (e->fault.status != 0) {
		fail(t, &e->fault, out);
		return;
	}
	t->phase = TURN_ENDED;
	act(out, TURN_DO_REPLY);
}

/* ---- at any time ------------------------------------------------------- */

/* What was done is told, even if there is no time for a better reply. */
static void
on_expired(struct turn *t, struct turn_actions *out)
{
	if (t->phase == TURN_REPLYING || !something_done(t)) {
		fail(t, &expired, out);
		return;
	}
	t->speechless |= t->phase == TURN_THINKING || t->route.rest.n > 0;
	finish(t, out);
}

static void
on_cancel(struct turn *t, struct turn_actions *out)
{
	close_deeds(t, TURN_STOPPED);
	t->phase = TURN_ENDED;
	act(out, TURN_DO_CANCELED);
}

static void
on_placed(struct turn *t, const struct turn_event *e, struct turn_actions *out)
{
	if (e->ahead > 0)
		return;
	t->phase = TURN_LOADING;
	act(out, TURN_DO_LOAD);
}

/* The event that a phase waits for, and what it then does. */
static const struct {
	enum turn_phase phase;
	enum turn_event_kind event;
	void (*fn)(struct turn *t, const struct turn_event *e,
	    struct turn_actions *out);
} table[] = {
	{ TURN_WAITING, TURN_PLACED, on_placed },
	{ TURN_LOADING, TURN_LOADED, on_loaded },
	{ TURN_SENSING, TURN_FELT, on_felt },
	{ TURN_SENSING, TURN_FILTERED, on_filtered },
	{ TURN_ACTING, TURN_ACTED, on_acted },
	{ TURN_THINKING, TURN_ANSWERED, on_answered },
	{ TURN_INVOKING, TURN_RESULT, on_result },
	{ TURN_SEARCHING, TURN_RESULT, on_recalled },
	{ TURN_REPLYING, TURN_STORED, on_stored },
};

void
turn_step(struct turn *t, const struct turn_event *e, struct turn_actions *out)
{
	out->n = 0;
	if (t->phase == TURN_ENDED)
		return;
	switch (e->kind) {
	case TURN_LOST:
		fail(t, &lost, out);
		return;
	case TURN_CANCEL:
		on_cancel(t, out);
		return;
	case TURN_EXPIRED:
		on_expired(t, out);
		return;
	case TURN_REMEMBERS:
		on_remembers(t, e, out);
		return;
	default:
		break;
	}
	for (size_t i = 0; i < NELEM(table); i++) {
		if (table[i].phase == t->phase && table[i].event == e->kind) {
			table[i].fn(t, e, out);
			return;
		}
	}
}

const char *
turn_stage(const struct turn *t)
{
	static const char *const names[] = {
		[TURN_WAITING] = "queued",
		[TURN_LOADING] = "sensing",
		[TURN_SENSING] = "sensing",
		[TURN_ACTING] = "acting",
		[TURN_THINKING] = "thinking",
		[TURN_INVOKING] = "invoking",
		[TURN_SEARCHING] = "searching",
		[TURN_REPLYING] = "replying",
		[TURN_ENDED] = "ended",
	};

	return names[t->phase];
}

bool
turn_failed(const struct turn *t, size_t i)
{
	const struct turn_deed *d = &t->deeds[i];

	if (d->outcome <= TURN_OK)
		return false;
	for (size_t k = i + 1; k < t->n_deeds; k++) {
		if (t->deeds[k].round > d->round &&
		    t->deeds[k].kind != TURN_DIRECT &&
		    str_eq(t->deeds[k].skill, d->skill))
			return false;
	}
	return true;
}
