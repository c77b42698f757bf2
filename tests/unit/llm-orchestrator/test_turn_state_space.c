/*
 * Every state of a turn with up to two calls per completion, and every event
 * in each: a breadth-first search until no state is new. The search tracks
 * what the turn has requested. Only pending requests get replies; all other
 * events are applied too, and must change nothing. A memory search adds a
 * round, so turns with searches have one other round. Turns that forget have
 * up to three calls, and fewer kinds of completions; so have turns with tools
 * of providers, which may begin with a call that the user was asked about.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/map.h"
#include "core/mem.h"
#include "testkit/testkit.h"
#include "testkit/turn_fixture.h"

#define ROUNDS  2
#define KEY_MAX (64 + ROUNDS + 1 + 5 * TURN_CALLS_MAX)

/* Pending requests. */
struct owed {
	bool slot, load, observe, saved, filter, memory, tools, act, think,
	    store;
	bool call[TURN_CALLS_MAX];
};

/* The turn is last: only the calls in use are copied. */
struct node {
	struct owed owed;
	size_t finals;
	struct turn t;
};

static size_t
node_size(const struct node *n)
{
	return offsetof(struct node, t.calls) +
	    n->t.n_calls * sizeof(n->t.calls[0]);
}

struct search {
	struct map *seen;
	struct node **queue;
	size_t n, cap, next;
	size_t edges;
	unsigned sorts; /* kinds of completions */
	bool saves;     /* souls may be saved after the first reply */
	bool provides;  /* providers are present */
};

/* ---- events ---- */

static const struct turn_call two_recalls[] = { RECALL, RECALL };
static const struct turn_call two_forgets[] = { FORGET, FORGET };
static const struct turn_call all_kinds[] = { CALL("nod"), RECALL, FORGET };
static const struct turn_call approved[] = { WRITE("send") };
static const struct turn_call denied[] = { PROVIDED(
    "send", .outcome = TURN_DENIED) };
static const struct turn_call read_and_nod[] = { READ("read"), CALL("nod") };
static const struct turn_call recall_and_guarded[] = { RECALL,
	GUARDED("send") };
static const struct turn_call bad_forget[] = { { .kind = TURN_FORGET,
    .outcome = TURN_INVALID,
    .skill = STR_INIT("forget_memory") } };
static const struct turn_call bad_and_good[] = { BAD_CALL("nod", TURN_INVALID),
	CALL("light") };

static const struct turn_route *const routes[] = { NULL, &route_fallback,
	&route_silent, &route_direct, &route_rest, &route_question, &route_safe,
	&route_alarm };

/* Kinds of completions: skills, searches, forget_memory. */
enum { SKILLS = 1, SEARCHES = 2, FORGETS = 4, TOOLS = 8 };

static const struct {
	const char *text;
	const struct turn_call *calls;
	size_t n;
	unsigned sort;
} replies[] = {
	{ "", NULL, 0, SKILLS },
	{ "text", NULL, 0, SKILLS | FORGETS | TOOLS },
	{ "", call_read, 1, TOOLS },
	{ "text", call_write, 1, TOOLS },
	{ "text", call_guarded, 1, TOOLS },
	{ "", call_read_guarded, 2, TOOLS },
	{ "", call_two_guarded, 2, TOOLS },
	{ "text", call_more, 1, TOOLS },
	{ "text", read_and_nod, 2, TOOLS },
	{ "", recall_and_guarded, 2, TOOLS },
	{ "", call_nod, 1, SKILLS },
	{ "text", call_nod, 1, SKILLS },
	{ "", call_two, 2, SKILLS },
	{ "", call_same, 2, SKILLS },
	{ "", call_recall, 1, SEARCHES | FORGETS },
	{ "text", call_mixed, 2, SEARCHES },
	{ "", two_recalls, 2, SEARCHES },
	{ "", call_invalid, 1, SKILLS },
	{ "", bad_and_good, 2, SKILLS },
	{ "", call_unknown, 1, SKILLS },
	{ "text", call_safe, 1, SKILLS },
	{ "", call_safe_too, 2, SKILLS },
	{ "", call_forget, 1, FORGETS },
	{ "text", call_forget, 1, FORGETS },
	{ "text", call_forget_too, 2, FORGETS },
	{ "", two_forgets, 2, FORGETS },
	{ "", all_kinds, 3, FORGETS },
	{ "", bad_forget, 1, FORGETS },
};

/* The last two: of forget_memory, of tools of providers only. */
static const enum turn_outcome results[] = { TURN_OK, TURN_ERROR,
	TURN_NOT_CONFIRMED, TURN_NO_MATCH, TURN_UNAPPROVED };

/* ---- states ---- */

/* The state as a key; texts count as empty or not. */
static struct str
key_of(const struct node *n, char dst[KEY_MAX])
{
	const struct turn *t = &n->t;
	size_t at = 0;

	/* All ended turns are one state. */
	if (t->phase == TURN_ENDED)
		return STR("ended");
	const size_t parts[] = { t->phase, t->awaited, t->model_deferred,
		t->emotion_known, t->mode, t->memory, t->routed,
		t->route.action, t->route.rest.n > 0, t->round, t->offered,
		t->corrected, t->recalled, t->searched, t->overflow,
		t->has_text, t->model_failed, t->text.n > 0, n->owed.slot,
		n->owed.load, n->owed.observe, n->owed.filter, n->owed.memory,
		n->owed.tools, t->listed, t->more, t->replies, n->owed.act,
		n->owed.think, n->owed.store, n->owed.saved, t->unsaved,
		t->committed };
	for (size_t i = 0; i < NELEM(parts); i++)
		dst[at++] = (char)parts[i];
	for (size_t i = 0; i < t->round; i++)
		dst[at++] = t->round_text[i].n > 0;
	for (size_t i = 0; i < t->n_calls; i++) {
		dst[at++] = (char)t->calls[i].kind;
		dst[at++] = (char)t->calls[i].outcome;
		dst[at++] = (char)t->calls[i].round;
		dst[at++] = t->calls[i].skill.p[0];
		dst[at++] = n->owed.call[i];
	}
	return (struct str){ dst, at };
}

static void
push(struct search *w, const struct node *n)
{
	char text[KEY_MAX];
	struct str key = key_of(n, text);

	if (map_get(w->seen, key) != NULL)
		return;
	if (w->n == w->cap) {
		w->cap = w->cap > 0 ? 2 * w->cap : 1024;
		w->queue =
		    mem_realloc(w->queue, w->cap * sizeof(const struct node *));
	}
	struct node *copy = mem_alloc(node_size(n));
	memcpy(copy, n, node_size(n));
	map_put(w->seen, key, copy);
	w->queue[w->n++] = copy;
}

/* ---- guarantees ---- */

static bool
gate_open(const struct turn *t)
{
	return t->emotion_known && t->mode == WIRE_EXEC_MODE_AUTO_EXECUTE;
}

static void
note_call(struct node *n, const struct turn_action *a)
{
	const struct turn_call *d = &n->t.calls[a->call];

	ck_assert_uint_lt(a->call, n->t.n_calls);
	ck_assert_int_eq(d->outcome, TURN_SENT);
	ck_assert_msg(!n->owed.call[a->call], "sent twice");
	if (a->kind == TURN_DO_INVOKE) {
		ck_assert_int_eq(d->kind, TURN_INVOKE);
		ck_assert(gate_open(&n->t) || d->safety);
	} else if (a->kind == TURN_DO_CALL_ALARM) {
		ck_assert_int_eq(d->kind, TURN_ALARM);
	} else if (a->kind == TURN_DO_CALL_TOOL) {
		ck_assert_int_eq(d->kind, TURN_PROVIDED);
		ck_assert(gate_open(&n->t) && !d->safety && !d->needs_approval);
	} else if (a->kind == TURN_DO_READ_TOOL) {
		ck_assert_int_eq(d->kind, TURN_PROVIDED);
		ck_assert(d->safety && !d->needs_approval);
	} else if (a->kind == TURN_DO_FIND_TOOLS) {
		ck_assert_int_eq(d->kind, TURN_MORE);
		ck_assert(n->t.more);
	} else if (a->kind == TURN_DO_FORGET) {
		ck_assert_int_eq(d->kind, TURN_FORGET);
		ck_assert(n->t.memory);
	} else {
		ck_assert_int_eq(d->kind, TURN_RECALL);
		ck_assert(n->t.memory);
	}
	/* Never two pending calls of one skill. */
	for (size_t i = 0; i < n->t.n_calls; i++)
		ck_assert(!n->owed.call[i] || d->kind == TURN_RECALL ||
		    !str_eq(n->t.calls[i].skill, d->skill));
	n->owed.call[a->call] = true;
}

/* Direct calls obey the gate, and at least one is sent. */
static void
check_sent(const struct turn *t)
{
	size_t sent = 0;

	for (size_t i = 0; i < t->n_calls; i++) {
		if (t->calls[i].outcome != TURN_SENT ||
		    t->calls[i].kind == TURN_ALARM)
			continue;
		ck_assert(gate_open(t) || t->calls[i].safety);
		sent++;
	}
	ck_assert_uint_gt(sent, 0);
}

/* The gate never holds back safety skills. */
static void
check_safe(const struct turn *t)
{
	for (size_t i = 0; i < t->n_calls; i++)
		ck_assert(!t->calls[i].safety ||
		    (t->calls[i].outcome != TURN_BLOCKED &&
			t->calls[i].outcome != TURN_GATE_UNKNOWN));
}

static void
note(struct node *n, const struct turn_action *a)
{
	bool none = false, *owed = &none;

	ck_assert_msg(n->finals == 0, "an action after the last one");
	switch (a->kind) {
	case TURN_DO_LOAD:
		owed = &n->owed.load;
		break;
	case TURN_DO_OBSERVE_EMOTION:
	case TURN_DO_CHECK_GATE:
		owed = &n->owed.observe;
		break;
	case TURN_DO_FILTER_INTENTS:
		owed = &n->owed.filter;
		break;
	case TURN_DO_CHECK_MEMORY:
		owed = &n->owed.memory;
		break;
	case TURN_DO_LIST_TOOLS:
		owed = &n->owed.tools;
		break;
	case TURN_DO_SEND_INTENTS:
		check_sent(&n->t);
		owed = &n->owed.act;
		break;
	case TURN_DO_CALL_MODEL:
		ck_assert(a->offer < TURN_OFFER_FORGET || n->t.memory);
		ck_assert(a->offer != TURN_OFFER_NONE || !a->may_call);
		owed = &n->owed.think;
		break;
	case TURN_DO_COMMIT:
		owed = &n->owed.store;
		break;
	case TURN_DO_INVOKE:
	case TURN_DO_CALL_ALARM:
	case TURN_DO_SPEAK:
	case TURN_DO_FORGET:
	case TURN_DO_CALL_TOOL:
	case TURN_DO_READ_TOOL:
	case TURN_DO_FIND_TOOLS:
	case TURN_DO_RECALL:
		note_call(n, a);
		return;
	case TURN_DO_REPORT_SEARCHING:
	case TURN_DO_REPORT_FOUND:
	case TURN_DO_REPORT_FAILED:
		return;
	case TURN_DO_REPLY:
	case TURN_DO_FAIL:
	case TURN_DO_CANCELED:
		n->finals++;
		return;
	}
	ck_assert_msg(!*owed, "asked twice: %s", turn_fixture_names[a->kind]);
	*owed = true;
}

/* No call is confirmed without its result. */
static void
check_calls(const struct node *before, const struct node *after,
    const struct turn_event *e)
{
	for (size_t i = 0; i < after->t.n_calls; i++) {
		enum turn_outcome was = i < before->t.n_calls
		    ? before->t.calls[i].outcome
		    : TURN_UNSENT;
		if (after->t.calls[i].outcome != TURN_OK || was == TURN_OK)
			continue;
		ck_assert_int_eq(was, TURN_SENT);
		ck_assert_int_eq(e->outcome, TURN_OK);
		ck_assert(e->kind == TURN_INTENT_RESULT ||
		    (e->kind == TURN_CALL_RESULT && e->call == i));
	}
	if (after->t.phase < TURN_COMMITTING)
		return;
	for (size_t i = 0; i < after->t.n_calls; i++)
		ck_assert_int_ge(after->t.calls[i].outcome, TURN_OK);
}

/* The model sees what was forgotten before the final text. */
static void
check_known(const struct node *after, const struct turn_event *e)
{
	const struct turn *t = &after->t;

	if (e->kind != TURN_CALL_RESULT || t->phase != TURN_COMMITTING)
		return;
	for (size_t i = 0; i < t->n_calls; i++)
		ck_assert((t->calls[i].kind != TURN_FORGET &&
			      t->calls[i].kind != TURN_PROVIDED) ||
		    t->calls[i].round < t->round ||
		    t->calls[i].outcome == TURN_UNAPPROVED ||
		    t->calls[i].outcome == TURN_DEFERRED);
}

/* The user is asked about one call at most, which is not sent. */
static void
check_unapproved(const struct turn *t)
{
	size_t waiting = 0;

	for (size_t i = 0; i < t->n_calls; i++)
		waiting += t->calls[i].outcome == TURN_UNAPPROVED;
	ck_assert_uint_le(waiting, 1);
}

/*
 * Providers are requested only if the model is called with tools, or the turn
 * has ended before.
 */
static void
check_listed(const struct turn *t)
{
	if (!t->listed || !t->routed)
		return;
	ck_assert_int_ne(t->route.action, WIRE_DECISION_ACTION_NO_ACTION);
	ck_assert(t->route.action != WIRE_DECISION_ACTION_EXECUTE_INTENTS ||
	    t->route.rest.n > 0);
}

/* A turn that has not ended waits for something. */
static void
check_alive(const struct node *n)
{
	const struct owed *o = &n->owed;
	bool alive = o->slot || o->load || o->observe || o->filter || o->act ||
	    o->think || o->store || (n->t.committed && o->saved) ||
	    (n->t.model_deferred && (o->memory || o->tools));

	if (n->t.phase == TURN_ENDED) {
		ck_assert_uint_eq(n->finals, 1);
		return;
	}
	for (size_t i = 0; i < n->t.n_calls; i++)
		alive |= o->call[i];
	ck_assert_msg(
	    alive, "no pending request in %s", turn_phase_name(&n->t));
}

/* ---- search ---- */

/*
 * Step from; completion (may be NULL) is the pending request that e replies
 * to.
 */
static void
step(struct search *w, const struct node *from, struct turn_event e,
    size_t owed_at)
{
	struct node to;
	struct turn_actions out;

	memcpy(&to, from, node_size(from));

	if (owed_at != SIZE_MAX)
		((bool *)&to.owed)[owed_at] = false;
	turn_step(&to.t, &e, &out);
	w->edges++;
	to.owed.saved |= e.kind == TURN_EMOTION_REPLY && e.unsaved;
	for (size_t i = 0; i < out.n; i++)
		note(&to, &out.list[i]);
	/* Pending requests are dropped when a turn commits or ends. */
	if (to.t.phase >= TURN_COMMITTING) {
		bool store = to.owed.store, saved = to.owed.saved;
		to.owed = (struct owed){ 0 };
		to.owed.store = store && to.t.phase == TURN_COMMITTING;
		to.owed.saved = saved && to.t.phase == TURN_COMMITTING;
	}
	check_calls(from, &to, &e);
	check_known(&to, &e);
	check_safe(&to.t);
	check_unapproved(&to.t);
	check_listed(&to.t);
	check_alive(&to);
	push(w, &to);
}

/* Events that were not requested change nothing. */
static void
stray(struct search *w, const struct node *from, struct turn_event e)
{
	struct node to;
	struct turn_actions out;

	memcpy(&to, from, node_size(from));
	turn_step(&to.t, &e, &out);
	w->edges++;
	ck_assert_msg(out.n == 0 && memcmp(&to, from, node_size(from)) == 0,
	    "event %d in %s", e.kind, turn_phase_name(&from->t));
}

#define ON(member, ...)                                     \
	do {                                                \
		if (from->owed.member)                      \
			step(w, from, EV(__VA_ARGS__),      \
			    offsetof(struct owed, member)); \
		else                                        \
			stray(w, from, EV(__VA_ARGS__));    \
	} while (0)

static void
perception(struct search *w, const struct node *from)
{
	ON(load, .kind = TURN_LOADED, .filter = true);
	ON(load, .kind = TURN_LOADED, .filter = false);
	if (w->provides) {
		ON(load, .kind = TURN_LOADED, .filter = true, .tools = true);
		ON(load, .kind = TURN_LOADED, .tools = true);
		ON(load, .kind = TURN_LOADED, .filter = true, .tools = true,
		    .calls = approved, .n_calls = 1);
		ON(load, .kind = TURN_LOADED, .filter = true, .tools = true,
		    .calls = denied, .n_calls = 1);
	}
	ON(tools, .kind = TURN_TOOLS_REPLY, .known = true);
	ON(tools, .kind = TURN_TOOLS_REPLY);
	ON(load, .kind = TURN_LOADED, .error = { 503, "x", "x" });
	ON(observe, .kind = TURN_EMOTION_REPLY, .known = true);
	ON(observe, .kind = TURN_EMOTION_REPLY, .known = true,
	    .mode = WIRE_EXEC_MODE_BLOCKED);
	ON(observe, .kind = TURN_EMOTION_REPLY);
	if (w->saves)
		ON(observe, .kind = TURN_EMOTION_REPLY, .known = true,
		    .unsaved = true);
	ON(saved, .kind = TURN_EMOTION_SAVED);
	ON(memory, .kind = TURN_MEMORY_REPLY, .known = true);
	ON(memory, .kind = TURN_MEMORY_REPLY);
	for (size_t i = 0; i < NELEM(routes); i++)
		ON(filter, .kind = TURN_INTENT_REPLY,
		    .known = routes[i] != NULL, .route = routes[i]);
}

static void
works(struct search *w, const struct node *from)
{
	for (size_t i = 0; results[i] != TURN_NO_MATCH; i++)
		ON(act, .kind = TURN_INTENT_RESULT, .outcome = results[i]);
	for (size_t i = 0; i < NELEM(replies); i++) {
		if ((w->sorts & replies[i].sort) == 0)
			continue;
		ON(think, .kind = TURN_COMPLETION,
		    .text = str_of(replies[i].text), .calls = replies[i].calls,
		    .n_calls = replies[i].n);
	}
	ON(think, .kind = TURN_COMPLETION, .error = { 502, "x", "x" });
	ON(store, .kind = TURN_COMMITTED);
	ON(store, .kind = TURN_COMMITTED, .error = { 503, "x", "x" });
	for (size_t d = 0; d < from->t.n_calls + 1; d++) {
		for (size_t i = 0; i < NELEM(results); i++) {
			struct turn_event e =
			    turn_fixture_result(d, results[i]);
			if (results[i] == TURN_NO_MATCH &&
			    (d == from->t.n_calls ||
				from->t.calls[d].kind != TURN_FORGET))
				continue;
			if (results[i] == TURN_UNAPPROVED &&
			    (d == from->t.n_calls ||
				from->t.calls[d].kind != TURN_PROVIDED))
				continue;
			if (from->owed.call[d])
				step(w, from, e,
				    offsetof(struct owed, call) + d);
			else
				stray(w, from, e);
		}
	}
}

static void
expand(struct search *w, const struct node *from)
{
	if (from->owed.slot) {
		step(w, from, turn_fixture_position(2), SIZE_MAX);
		step(w, from, turn_fixture_position(0),
		    offsetof(struct owed, slot));
	} else {
		stray(w, from, turn_fixture_position(0));
	}
	perception(w, from);
	works(w, from);
	if (from->t.phase == TURN_ENDED) {
		stray(w, from, CANCEL);
		stray(w, from, LOST);
		stray(w, from, EXPIRED);
		return;
	}
	step(w, from, EXPIRED, SIZE_MAX);
	if (from->t.committed) {
		stray(w, from, CANCEL);
		stray(w, from, LOST);
		return;
	}
	step(w, from, CANCEL, SIZE_MAX);
	step(w, from, LOST, SIZE_MAX);
}

static void
search(size_t rounds, unsigned sorts, bool saves)
{
	struct search w = { .seen = map_new(),
		.sorts = sorts,
		.saves = saves,
		.provides = (sorts & TOOLS) != 0 };
	struct node start = { .owed = { .slot = true } };

	turn_init(&start.t, rounds);
	push(&w, &start);
	while (w.next < w.n)
		expand(&w, w.queue[w.next++]);
	printf("%zu states, %zu steps\n", w.n, w.edges);
	ck_assert_uint_gt(w.n, 1000);
	for (size_t i = 0; i < w.n; i++)
		free(w.queue[i]);
	free(w.queue);
	map_free(w.seen);
}

TEST_T(every_event_in_every_state, 300)
{
	search(ROUNDS, SKILLS, false);
}

TEST_T(every_state_with_a_delayed_save, 300)
{
	search(1, SKILLS, true);
}

TEST_T(every_state_with_searches, 300)
{
	search(1, SKILLS | SEARCHES, false);
}

TEST_T(every_state_with_forget_calls, 300)
{
	search(1, FORGETS, false);
}

TEST_T(every_state_with_tools_of_providers, 300)
{
	search(1, TOOLS, false);
}
