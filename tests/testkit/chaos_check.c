/* The rules of a history. */
#include "testkit/chaos.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "testkit/chaos_internal.h"

#define STARTED   "conversation.started"
#define COMPLETED "conversation.completed"
#define QUESTION  "user.input.required"
#define FAILED    "conversation.failed"

/* Entries of faults that are printed with an input: this long before it. */
#define AROUND_MS 10000

struct check {
	struct chaos *h;
	FILE *to;
	size_t n;
};

/* ---- printing ---- */

/* The entries of an input, and the faults at that time. */
static void
check_print_input(const struct check *c, int input)
{
	const struct chaos *h = c->h;
	const struct chaos_in *x = &h->inputs[input];
	int64_t from = x->first_at - AROUND_MS, to = INT64_MIN;
	const struct chaos_entry *e;
	size_t i;

	for (i = 0; i < h->n_entries; i++)
		if (h->entries[i].input == input)
			to = h->entries[i].at;
	for (i = 0; i < h->n_entries; i++) {
		e = &h->entries[i];
		if (e->input == input ||
		    (e->outage && e->at >= from && e->at <= to))
			fprintf(
			    c->to, "  %10lld %s\n", (long long)e->at, e->text);
	}
	for (i = 0; i < x->n_turns; i++)
		fprintf(c->to, "  turn %s: %s, of attempt %d\n",
		    h->turns[x->turns[i]]->id, h->turns[x->turns[i]]->state,
		    h->turns[x->turns[i]]->attempt);
}

/* Report what is wrong, about an input or CHAOS_NONE. */
static void __attribute__((format(printf, 3, 4)))
check_wrong(struct check *c, int input, const char *fmt, ...)
{
	va_list ap;

	if (c->n++ >= CHAOS_PRINT_MAX)
		return;
	fprintf(c->to, "wrong: ");
	va_start(ap, fmt);
	vfprintf(c->to, fmt, ap);
	va_end(ap);
	fprintf(c->to, "\n");
	if (input != CHAOS_NONE)
		check_print_input(c, input);
}

/* ---- messages ---- */

static bool
check_is_reply(const struct chaos_stored *m, const struct chaos_attempt *a)
{
	return strcmp(m->role, "assistant") == 0 && m->turn_id != NULL &&
	    a->turn_id != NULL && strcmp(m->turn_id, a->turn_id) == 0 &&
	    a->reply != NULL && strcmp(m->content, a->reply) == 0;
}

static void
check_input_messages(
    struct check *c, const struct chaos_session *s, int input, size_t stored)
{
	const struct chaos_in *x = &c->h->inputs[input];
	size_t i, replies = 0;

	if (stored > 1)
		check_wrong(c, input, "%s: input %d is stored %zu times",
		    s->name, input, stored);
	if (x->done == CHAOS_NONE)
		return;
	if (stored == 0)
		check_wrong(c, input, "%s: input %d is lost", s->name, input);
	for (i = 0; i < s->n_messages; i++)
		replies +=
		    check_is_reply(&s->messages[i], &c->h->attempts[x->done]);
	if (replies != 1)
		check_wrong(c, input,
		    "%s: the reply to input %d is stored %zu times", s->name,
		    input, replies);
}

/* Whether input a was acknowledged before b was sent first. */
static bool
check_precedes(const struct chaos *h, int a, int b)
{
	const struct chaos_in *x = &h->inputs[a];

	return x->done != CHAOS_NONE &&
	    h->attempts[x->done].end_at < h->inputs[b].first_at;
}

/* at: the place of each input's message, CHAOS_NONE if it has none. */
static void
check_order(struct check *c, const struct chaos_session *s, const int *at)
{
	size_t i, k;
	int a, b;

	for (i = 0; i < s->n_inputs; i++) {
		for (k = 0; k < s->n_inputs; k++) {
			a = s->inputs[i];
			b = s->inputs[k];
			if (at[a] == CHAOS_NONE || at[b] == CHAOS_NONE ||
			    at[a] < at[b] || !check_precedes(c->h, a, b))
				continue;
			check_wrong(c, b,
			    "%s: input %d is stored before input %d, which "
			    "was acknowledged before",
			    s->name, b, a);
		}
	}
}

static void
check_messages(struct check *c, const struct chaos_session *s)
{
	size_t n = c->h->n_inputs, i;
	size_t *stored = mem_calloc(n + 1, sizeof(*stored));
	int *at = mem_calloc(n + 1, sizeof(*at));
	int input;

	for (i = 0; i < n; i++)
		at[i] = CHAOS_NONE;
	for (i = 0; i < s->n_messages; i++) {
		if (strcmp(s->messages[i].role, "user") != 0)
			continue;
		if (sscanf(s->messages[i].content, "第%d句", &input) != 1 ||
		    input < 0 || (size_t)input >= n ||
		    c->h->inputs[input].session != s) {
			check_wrong(c, CHAOS_NONE,
			    "%s: has a message that nobody sent: %s", s->name,
			    s->messages[i].content);
			continue;
		}
		stored[input]++;
		at[input] = (int)i;
	}
	for (i = 0; i < s->n_inputs; i++)
		check_input_messages(c, s, s->inputs[i], stored[s->inputs[i]]);
	check_order(c, s, at);
	free(stored);
	free(at);
}

/* ---- events and records ---- */

static bool
check_is_end(const char *type)
{
	return strcmp(type, COMPLETED) == 0 || strcmp(type, QUESTION) == 0 ||
	    strcmp(type, FAILED) == 0;
}

static int
check_turn_input(const struct check *c, const struct chaos_turn *t)
{
	return t->attempt != CHAOS_NONE ? c->h->attempts[t->attempt].input
					: CHAOS_NONE;
}

/* All events of a turn, behind what is wrong with it. */
static void
check_print_events(
    const struct check *c, const struct chaos_session *s, const char *turn)
{
	size_t i;

	for (i = 0; i < s->n_events && c->n <= CHAOS_PRINT_MAX; i++)
		if (strcmp(s->events[i].turn_id, turn) == 0)
			fprintf(c->to, "  event %lld of %zu: %s\n",
			    (long long)s->events[i].seq, s->n_events,
			    s->events[i].type);
}

/* A turn that was canceled while it waited has an end alone. */
static bool
check_was_never_started(
    const struct chaos_turn *t, const struct chaos_logged *e)
{
	return !t->started && strcmp(e->type, FAILED) == 0 &&
	    strcmp(t->state, "canceled") == 0;
}

static void
check_event(struct check *c, const struct chaos_session *s,
    const struct chaos_logged *e)
{
	struct chaos_turn *t = map_get(c->h->turns_by_id, str_of(e->turn_id));
	bool start = strcmp(e->type, STARTED) == 0;

	if (t == NULL) {
		check_wrong(c, CHAOS_NONE, "%s: turn %s has no record", s->name,
		    e->turn_id);
		check_print_events(c, s, e->turn_id);
		return;
	}
	if (t->ended) {
		check_wrong(c, check_turn_input(c, t),
		    "%s: turn %s has the event %lld, %s, after its end",
		    s->name, t->id, (long long)e->seq, e->type);
		check_print_events(c, s, e->turn_id);
		return;
	}
	if (start == t->started && !check_was_never_started(t, e))
		check_wrong(c, check_turn_input(c, t),
		    "%s: turn %s has the event %lld, %s, %s its start", s->name,
		    t->id, (long long)e->seq, e->type,
		    start ? "after" : "before");
	t->started = true;
	if (check_is_end(e->type)) {
		t->ended = true;
		t->completed = strcmp(e->type, FAILED) != 0;
	}
}

static void
check_events(struct check *c, const struct chaos_session *s)
{
	size_t i;

	for (i = 0; i < s->n_events; i++) {
		if (i > 0 && s->events[i].seq != s->events[i - 1].seq + 1)
			check_wrong(c, CHAOS_NONE,
			    "%s: event %lld follows event %lld", s->name,
			    (long long)s->events[i].seq,
			    (long long)s->events[i - 1].seq);
		check_event(c, s, &s->events[i]);
	}
}

static void
check_turns(struct check *c)
{
	const struct chaos_turn *t;
	bool completed;
	size_t i;

	for (i = 0; i < c->h->n_turns; i++) {
		t = c->h->turns[i];
		completed = strcmp(t->state, "completed") == 0;
		if (t->started && !t->ended)
			check_wrong(c, check_turn_input(c, t),
			    "turn %s has no end among its events", t->id);
		if (strcmp(t->state, "running") == 0)
			check_wrong(c, check_turn_input(c, t),
			    "turn %s has not ended", t->id);
		else if (t->ended && completed != t->completed)
			check_wrong(c, check_turn_input(c, t),
			    "turn %s is %s, but its events end otherwise",
			    t->id, t->state);
	}
}

static void
check_input_turns(struct check *c, int input)
{
	const struct chaos_in *x = &c->h->inputs[input];
	const struct chaos_attempt *a =
	    x->done != CHAOS_NONE ? &c->h->attempts[x->done] : NULL;
	const struct chaos_turn *t;
	size_t i, completed = 0;

	for (i = 0; i < x->n_turns; i++)
		completed +=
		    strcmp(c->h->turns[x->turns[i]]->state, "completed") == 0;
	if (completed > 1)
		check_wrong(c, input, "input %d was completed by %zu turns",
		    input, completed);
	if (a == NULL || a->turn_id == NULL || x->session->deleted)
		return;
	t = map_get(c->h->turns_by_id, str_of(a->turn_id));
	if (t == NULL || strcmp(t->state, "completed") != 0)
		check_wrong(c, input,
		    "input %d was acknowledged, but its turn %s is %s", input,
		    a->turn_id, t != NULL ? t->state : "not recorded");
}

/* ---- commands ---- */

/* Whether messages were held back at some time from a to b. */
static bool
check_was_held(const struct chaos *h, int64_t a, int64_t b)
{
	size_t i;

	for (i = 0; i < h->n_outages; i++)
		if (h->outages[i].held && h->outages[i].from <= b &&
		    h->outages[i].to >= a - CHAOS_SLACK_MS)
			return true;
	return false;
}

static bool
check_was_dropped(const struct chaos *h, const char *body, int64_t a, int64_t b)
{
	size_t i;

	for (i = 0; i < h->n_drops; i++)
		if (strcmp(h->drops[i].body, body) == 0 &&
		    h->drops[i].at >= a && h->drops[i].at <= b)
			return true;
	return false;
}

/* Each command to its input; and none comes twice. */
static void
check_assign(struct check *c)
{
	struct chaos *h = c->h;
	struct map *seen = map_new();
	struct chaos_command *m;
	struct chaos_in *x;
	const int *attempt;
	size_t i;
	int input;

	for (i = 0; i < h->n_commands; i++) {
		m = &h->commands[i];
		attempt = map_get(h->published, str_of(m->request_id));
		m->attempt = attempt != NULL ? *attempt : CHAOS_NONE;
		input = m->attempt != CHAOS_NONE ? h->attempts[m->attempt].input
						 : CHAOS_NONE;
		if (map_put(seen, str_of(m->request_id), m) != NULL)
			check_wrong(c, input, "%s received command %s twice",
			    m->body, m->request_id);
		if (input == CHAOS_NONE)
			continue;
		x = &h->inputs[input];
		x->commands = mem_realloc(
		    x->commands, (x->n_commands + 1) * sizeof(*x->commands));
		x->commands[x->n_commands++] = (int)i;
	}
	map_free(seen);
}

/*
 * Whether it is known what became of the turn of an attempt, which acted: it
 * was completed, or is reported as lost after that.
 */
static bool
check_is_settled(const struct chaos *h, int attempt)
{
	const struct chaos_in *x = &h->inputs[h->attempts[attempt].input];
	const struct chaos_turn *t;
	size_t i;

	for (i = 0; i < x->n_attempts; i++)
		if (h->attempts[x->attempts[i]].end == CHAOS_LOST_ACTED)
			return true;

	for (i = 0; i < x->n_turns; i++) {
		t = h->turns[x->turns[i]];
		if (t->attempt == attempt && strcmp(t->state, "completed") == 0)
			return true;
	}
	return false;
}

/*
 * A command of attempt m->attempt, and how attempt a of the same input ended:
 * a may have been a retry that reported on the turn of an earlier attempt, or
 * whose own turn was lost before it found that.
 */
static void
check_against_end(struct check *c, const struct chaos_command *m, int a)
{
	const struct chaos_attempt *x = &c->h->attempts[a];
	int64_t end = x->end_at + CHAOS_SLACK_MS;

	if (m->attempt > a || !x->ended || x->end == CHAOS_OPEN)
		return;
	if (x->end == CHAOS_LOST && m->attempt != a &&
	    check_is_settled(c->h, m->attempt))
		return;
	if (x->end == CHAOS_LOST)
		check_wrong(c, x->input,
		    "attempt %d was lost without a command, but %s received "
		    "%s",
		    a, m->body, m->request_id);
	else if (m->at > end && !check_was_held(c->h, x->at, m->at))
		check_wrong(c, x->input,
		    "%s received %s %lld ms after the end of attempt %d",
		    m->body, m->request_id, (long long)(m->at - x->end_at), a);
}

static void
check_input_commands(struct check *c, int input)
{
	const struct chaos *h = c->h;
	const struct chaos_in *x = &h->inputs[input];
	const struct chaos_attempt *a;
	const struct chaos_command *m;
	size_t i, k;

	if (x->n_commands > 1 &&
	    strcmp(h->commands[x->commands[0]].request_id,
		h->commands[x->commands[1]].request_id) != 0)
		check_wrong(c, input, "input %d was acted upon %zu times",
		    input, x->n_commands);
	for (i = 0; i < x->n_commands; i++) {
		m = &h->commands[x->commands[i]];
		a = &h->attempts[m->attempt];
		if (a->canceled_at >= 0 &&
		    m->at > a->canceled_at + CHAOS_SLACK_MS &&
		    !check_was_held(h, a->at, m->at))
			check_wrong(c, input,
			    "%s received %s after the turn was canceled",
			    m->body, m->request_id);
		for (k = 0; k < x->n_attempts; k++)
			check_against_end(c, m, x->attempts[k]);
	}
}

static bool
check_list_has(json_t *list, const char *text)
{
	json_t *v;
	size_t i;

	json_array_foreach (list, i, v)
		if (json_is_string(v) &&
		    strcmp(json_string_value(v), text) == 0)
			return true;
	return false;
}

/*
 * A command that was not seen on its way counts if it may be the input's by its
 * time and session.
 */
static bool
check_received(const struct chaos *h, const struct chaos_in *x,
    const char *skill, int64_t until)
{
	const struct chaos_command *m;
	size_t i;

	for (i = h->n_commands; i-- > 0;) {
		m = &h->commands[i];
		if (m->at < x->first_at)
			break;
		if (m->at > until || strcmp(m->body, x->body) != 0 ||
		    !check_list_has(m->skills, skill))
			continue;
		if (m->attempt != CHAOS_NONE
			? &h->inputs[h->attempts[m->attempt].input] == x
			: m->session == NULL ||
			    strcmp(m->session, x->session->name) == 0)
			return true;
	}
	return false;
}

static void
check_executed(struct check *c, int input)
{
	const struct chaos_in *x = &c->h->inputs[input];
	const struct chaos_attempt *a;
	const char *skill;
	int64_t until;
	json_t *v;
	size_t i;

	if (x->done == CHAOS_NONE || x->body == NULL)
		return;
	a = &c->h->attempts[x->done];
	until = a->end_at + CHAOS_SLACK_MS;
	json_array_foreach (a->executed, i, v) {
		skill = json_string_value(v);
		if (skill == NULL || check_received(c->h, x, skill, until) ||
		    check_was_dropped(c->h, x->body, x->first_at, until))
			continue;
		check_wrong(c, input,
		    "input %d: %s was executed, but %s has not received it",
		    input, skill, x->body);
	}
}

/* ---- other writes ---- */

static bool
check_may_be(const struct chaos *h, const struct chaos_register *r)
{
	const struct chaos_write *w, *last = NULL;
	size_t i;

	for (i = 0; i < r->n_writes; i++) {
		w = &h->writes[r->writes[i]];
		if (w->acknowledged)
			last = w;
		else if (strcmp(w->value, r->found) == 0)
			return true;
	}
	return strcmp(last != NULL ? last->value : "", r->found) == 0;
}

static void
check_register(struct check *c, const struct chaos_register *r)
{
	const struct chaos_write *w;
	size_t i;

	if (r->found != NULL && check_may_be(c->h, r))
		return;
	check_wrong(c, CHAOS_NONE, "%s is %s%s%s", r->name,
	    r->found != NULL ? "\"" : "not read", r->found ? r->found : "",
	    r->found != NULL ? "\"" : "");
	for (i = 0; i < r->n_writes && c->n <= CHAOS_PRINT_MAX; i++) {
		w = &c->h->writes[r->writes[i]];
		fprintf(c->to, "  %10lld = \"%s\"%s\n", (long long)w->at,
		    w->value, w->acknowledged ? "" : ", not acknowledged");
	}
}

/* ---- all ---- */

size_t
chaos_check(struct chaos *h, FILE *to)
{
	struct check c = { h, to, 0 };
	struct chaos_session *s;
	size_t pos, i;
	void *v;

	for (i = 0; i < h->n_wrong; i++)
		check_wrong(&c, CHAOS_NONE, "%s", h->wrong[i]);
	for (pos = 0; (s = map_next(h->sessions, &pos, NULL)) != NULL;) {
		if (s->deleted)
			continue;
		check_messages(&c, s);
		check_events(&c, s);
	}
	check_turns(&c);
	check_assign(&c);
	for (i = 0; i < h->n_inputs; i++) {
		check_input_turns(&c, (int)i);
		check_input_commands(&c, (int)i);
		check_executed(&c, (int)i);
	}
	for (pos = 0; (v = map_next(h->registers, &pos, NULL)) != NULL;)
		check_register(&c, v);
	return c.n;
}
