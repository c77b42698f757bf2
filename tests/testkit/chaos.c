/* Recording; chaos_check.c has the rules. */
#include "testkit/chaos.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "testkit/chaos_internal.h"

/* Make room for one more element; arrays grow at powers of two. */
#define CHAOS_ADD(list, n)                                                \
	(((n) & ((n)-1)) == 0                                             \
		? (void)((list) = mem_realloc((list),                     \
			     ((n) == 0 ? 1 : 2 * (n)) * sizeof(*(list)))) \
		: (void)0,                                                \
	    memset(&(list)[n], 0, sizeof(*(list))), &(list)[(n)++])

static char *
chaos_copy(const char *text)
{
	return text != NULL ? mem_strdup(text) : NULL;
}

struct chaos *
chaos_new(void)
{
	struct chaos *h = mem_zalloc(sizeof(*h));

	pthread_mutex_init(&h->lock, NULL);
	h->sessions = map_new();
	h->turns_by_id = map_new();
	h->registers = map_new();
	h->published = map_new();
	return h;
}

/* ---- entries ---- */

static void __attribute__((format(printf, 4, 5)))
chaos_note(struct chaos *h, int64_t at, int input, const char *fmt, ...)
{
	struct chaos_entry *e = CHAOS_ADD(h->entries, h->n_entries);
	char text[600];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	*e = (struct chaos_entry){ at, input, false, mem_strdup(text) };
}

static struct chaos_session *
chaos_session(struct chaos *h, const char *name)
{
	struct chaos_session *s = map_get(h->sessions, str_of(name));

	if (s == NULL) {
		s = mem_zalloc(sizeof(*s));
		s->name = mem_strdup(name);
		map_put(h->sessions, str_of(s->name), s);
	}
	return s;
}

/* ---- turns ---- */

int
chaos_input(struct chaos *h, int64_t at, const char *session, const char *body)
{
	struct chaos_in *x;
	int input;

	pthread_mutex_lock(&h->lock);
	input = (int)h->n_inputs;
	x = CHAOS_ADD(h->inputs, h->n_inputs);
	x->session = chaos_session(h, session);
	x->body = chaos_copy(body);
	x->first_at = at;
	x->done = CHAOS_NONE;
	*CHAOS_ADD(x->session->inputs, x->session->n_inputs) = input;
	pthread_mutex_unlock(&h->lock);
	return input;
}

void
chaos_text(int input, const char *text, char *dst, size_t size)
{
	snprintf(dst, size, "第%d句：%s", input, text);
}

int
chaos_send(struct chaos *h, int64_t at, int input)
{
	struct chaos_attempt *a;
	struct chaos_in *x;
	int attempt;

	pthread_mutex_lock(&h->lock);
	x = &h->inputs[input];
	attempt = (int)h->n_attempts;
	a = CHAOS_ADD(h->attempts, h->n_attempts);
	a->input = input;
	a->at = at;
	a->canceled_at = -1;
	*CHAOS_ADD(x->attempts, x->n_attempts) = attempt;
	chaos_note(h, at, input, "%s: input %d is sent (attempt %d)",
	    x->session->name, input, attempt);
	pthread_mutex_unlock(&h->lock);
	return attempt;
}

void
chaos_trace(int attempt, char dst[CHAOS_TRACE_MAX])
{
	snprintf(dst, CHAOS_TRACE_MAX, "c0de%028x", (unsigned)attempt + 1);
}

int
chaos_attempt_of(const struct chaos *h, const char *trace)
{
	unsigned long n;

	if (trace == NULL || strncmp(trace, "c0de", 4) != 0)
		return CHAOS_NONE;
	n = strtoul(trace + 4, NULL, 16);
	return n >= 1 && n <= h->n_attempts ? (int)(n - 1) : CHAOS_NONE;
}

static const char *const chaos_end_names[] = { "open", "done", "failed",
	"canceled", "lost", "lost, may have acted" };

void
chaos_result(
    struct chaos *h, int64_t at, int attempt, const struct chaos_result *r)
{
	char *executed =
	    r->executed != NULL ? json_dumps(r->executed, 0) : NULL;
	struct chaos_attempt *a;

	pthread_mutex_lock(&h->lock);
	a = &h->attempts[attempt];
	a->ended = true;
	a->end_at = at;
	a->end = r->end;
	a->turn_id = chaos_copy(r->turn_id);
	a->reply = chaos_copy(r->reply);
	a->executed = json_incref(r->executed);
	if (r->end == CHAOS_DONE)
		h->inputs[a->input].done = attempt;
	chaos_note(h, at, a->input, "attempt %d: %d, %s, turn %s %s \"%s\"",
	    attempt, r->status, chaos_end_names[r->end],
	    r->turn_id != NULL ? r->turn_id : "unknown",
	    executed != NULL ? executed : "", r->reply != NULL ? r->reply : "");
	pthread_mutex_unlock(&h->lock);
	free(executed);
}

void
chaos_canceled(struct chaos *h, int64_t at, int attempt)
{
	pthread_mutex_lock(&h->lock);
	h->attempts[attempt].canceled_at = at;
	chaos_note(h, at, h->attempts[attempt].input,
	    "attempt %d: the cancellation is acknowledged", attempt);
	pthread_mutex_unlock(&h->lock);
}

/* ---- commands ---- */

void
chaos_publish(
    struct chaos *h, int64_t at, const char *trace, const char *request_id)
{
	int *attempt;

	pthread_mutex_lock(&h->lock);
	if (map_get(h->published, str_of(request_id)) == NULL) {
		attempt = mem_alloc(sizeof(*attempt));
		*attempt = chaos_attempt_of(h, trace);
		map_put(h->published, str_of(request_id), attempt);
		chaos_note(h, at,
		    *attempt != CHAOS_NONE ? h->attempts[*attempt].input
					   : CHAOS_NONE,
		    "command %s is published", request_id);
	}
	pthread_mutex_unlock(&h->lock);
}

void
chaos_deliver(struct chaos *h, int64_t at, const struct chaos_delivery *d)
{
	struct chaos_command *c;
	const int *attempt;

	pthread_mutex_lock(&h->lock);
	c = CHAOS_ADD(h->commands, h->n_commands);
	c->at = at;
	c->body = chaos_copy(d->body);
	c->request_id = chaos_copy(d->request_id);
	c->session = chaos_copy(d->session);
	c->skills = json_incref(d->skills);
	attempt = map_get(h->published, str_of(d->request_id));
	chaos_note(h, at,
	    attempt != NULL && *attempt != CHAOS_NONE
		? h->attempts[*attempt].input
		: CHAOS_NONE,
	    "%s receives command %s", d->body, d->request_id);
	pthread_mutex_unlock(&h->lock);
}

void
chaos_disconnected(struct chaos *h, int64_t at, const char *body)
{
	pthread_mutex_lock(&h->lock);
	*CHAOS_ADD(h->drops, h->n_drops) =
	    (struct chaos_drop){ at, mem_strdup(body) };
	chaos_note(h, at, CHAOS_NONE, "%s is disconnected", body);
	h->entries[h->n_entries - 1].outage = true;
	pthread_mutex_unlock(&h->lock);
}

void
chaos_outage(struct chaos *h, int64_t at, const char *what)
{
	pthread_mutex_lock(&h->lock);
	*CHAOS_ADD(h->outages, h->n_outages) =
	    (struct chaos_window){ at, INT64_MAX, false };
	chaos_note(h, at, CHAOS_NONE, "fault: %s", what);
	h->entries[h->n_entries - 1].outage = true;
	pthread_mutex_unlock(&h->lock);
}

void
chaos_outage_end(struct chaos *h, int64_t at, bool held)
{
	struct chaos_window *w;

	pthread_mutex_lock(&h->lock);
	w = &h->outages[h->n_outages - 1];
	w->to = at;
	w->held = held;
	chaos_note(h, at, CHAOS_NONE, "the fault is over");
	h->entries[h->n_entries - 1].outage = true;
	pthread_mutex_unlock(&h->lock);
}

/* ---- other writes ---- */

static struct chaos_register *
chaos_register(struct chaos *h, const char *name)
{
	struct chaos_register *r = map_get(h->registers, str_of(name));

	if (r == NULL) {
		r = mem_zalloc(sizeof(*r));
		r->name = mem_strdup(name);
		map_put(h->registers, str_of(r->name), r);
	}
	return r;
}

int
chaos_write(struct chaos *h, int64_t at, const char *record, const char *value)
{
	struct chaos_write *w;
	int write;

	pthread_mutex_lock(&h->lock);
	write = (int)h->n_writes;
	w = CHAOS_ADD(h->writes, h->n_writes);
	w->at = at;
	w->of = chaos_register(h, record);
	w->value = mem_strdup(value);
	*CHAOS_ADD(w->of->writes, w->of->n_writes) = write;
	pthread_mutex_unlock(&h->lock);
	return write;
}

void
chaos_written(struct chaos *h, int64_t at, int write)
{
	pthread_mutex_lock(&h->lock);
	h->writes[write].acknowledged = true;
	chaos_note(h, at, CHAOS_NONE, "%s = \"%s\" is acknowledged",
	    h->writes[write].of->name, h->writes[write].value);
	pthread_mutex_unlock(&h->lock);
}

void
chaos_wrong(struct chaos *h, int64_t at, const char *text)
{
	pthread_mutex_lock(&h->lock);
	*CHAOS_ADD(h->wrong, h->n_wrong) = mem_strdup(text);
	chaos_note(h, at, CHAOS_NONE, "wrong: %s", text);
	pthread_mutex_unlock(&h->lock);
}

void
chaos_forget(struct chaos *h, const char *session)
{
	pthread_mutex_lock(&h->lock);
	chaos_session(h, session)->deleted = true;
	pthread_mutex_unlock(&h->lock);
}

/* ---- what is stored in the end ---- */

void
chaos_message(
    struct chaos *h, const char *session, const struct chaos_message *m)
{
	struct chaos_session *s;

	pthread_mutex_lock(&h->lock);
	s = chaos_session(h, session);
	*CHAOS_ADD(s->messages, s->n_messages) =
	    (struct chaos_stored){ chaos_copy(m->role), chaos_copy(m->content),
		    chaos_copy(m->turn_id) };
	pthread_mutex_unlock(&h->lock);
}

void
chaos_event(struct chaos *h, const char *session, const struct chaos_event *e)
{
	struct chaos_session *s;

	pthread_mutex_lock(&h->lock);
	s = chaos_session(h, session);
	*CHAOS_ADD(s->events, s->n_events) = (struct chaos_logged){ e->seq,
		chaos_copy(e->turn_id), chaos_copy(e->type) };
	pthread_mutex_unlock(&h->lock);
}

void
chaos_record(
    struct chaos *h, const char *turn_id, const char *state, const char *trace)
{
	struct chaos_turn *t;
	struct chaos_in *x;

	pthread_mutex_lock(&h->lock);
	if (map_get(h->turns_by_id, str_of(turn_id)) == NULL) {
		t = mem_zalloc(sizeof(*t));
		t->id = mem_strdup(turn_id);
		t->state = mem_strdup(state);
		t->attempt = chaos_attempt_of(h, trace);
		if (t->attempt != CHAOS_NONE) {
			x = &h->inputs[h->attempts[t->attempt].input];
			*CHAOS_ADD(x->turns, x->n_turns) = (int)h->n_turns;
		}
		*CHAOS_ADD(h->turns, h->n_turns) = t;
		map_put(h->turns_by_id, str_of(t->id), t);
	}
	pthread_mutex_unlock(&h->lock);
}

void
chaos_read(struct chaos *h, const char *record, const char *value)
{
	struct chaos_register *r;

	pthread_mutex_lock(&h->lock);
	r = chaos_register(h, record);
	free(r->found);
	r->found = mem_strdup(value);
	pthread_mutex_unlock(&h->lock);
}

void
chaos_count(struct chaos *h, struct chaos_counts *n)
{
	size_t i;

	*n = (struct chaos_counts){ .inputs = h->n_inputs,
		.attempts = h->n_attempts,
		.commands = h->n_commands,
		.writes = h->n_writes,
		.turns = h->n_turns };
	for (i = 0; i < h->n_attempts; i++) {
		n->done += h->attempts[i].end == CHAOS_DONE;
		n->lost += h->attempts[i].end == CHAOS_LOST ||
		    h->attempts[i].end == CHAOS_LOST_ACTED;
		n->open += h->attempts[i].end == CHAOS_OPEN;
	}
	for (i = 0; i < h->n_commands; i++)
		n->unassigned += map_get(h->published,
				     str_of(h->commands[i].request_id)) == NULL;
}

void
chaos_print(struct chaos *h, int64_t since, FILE *to)
{
	size_t i;

	pthread_mutex_lock(&h->lock);
	for (i = 0; i < h->n_entries; i++)
		if (h->entries[i].at >= since)
			fprintf(to, "%10lld %s\n", (long long)h->entries[i].at,
			    h->entries[i].text);
	pthread_mutex_unlock(&h->lock);
}

/* ---- the end ---- */

static void
chaos_session_free(struct chaos_session *s)
{
	size_t i;

	for (i = 0; i < s->n_messages; i++) {
		free(s->messages[i].role);
		free(s->messages[i].content);
		free(s->messages[i].turn_id);
	}
	for (i = 0; i < s->n_events; i++) {
		free(s->events[i].turn_id);
		free(s->events[i].type);
	}
	free(s->messages);
	free(s->events);
	free(s->inputs);
	free(s->name);
	free(s);
}

static void
chaos_free_turns(struct chaos *h)
{
	size_t i;

	for (i = 0; i < h->n_inputs; i++) {
		free(h->inputs[i].body);
		free(h->inputs[i].attempts);
		free(h->inputs[i].commands);
		free(h->inputs[i].turns);
	}
	for (i = 0; i < h->n_attempts; i++) {
		free(h->attempts[i].turn_id);
		free(h->attempts[i].reply);
		json_decref(h->attempts[i].executed);
	}
	for (i = 0; i < h->n_commands; i++) {
		free(h->commands[i].body);
		free(h->commands[i].request_id);
		free(h->commands[i].session);
		json_decref(h->commands[i].skills);
	}
	for (i = 0; i < h->n_turns; i++) {
		free(h->turns[i]->id);
		free(h->turns[i]->state);
		free(h->turns[i]);
	}
	free(h->inputs);
	free(h->attempts);
	free(h->commands);
	free(h->turns);
}

static void
chaos_free_maps(struct chaos *h)
{
	struct chaos_register *r;
	struct str key;
	size_t pos;
	void *v;

	for (pos = 0; (v = map_next(h->sessions, &pos, &key)) != NULL;)
		chaos_session_free(v);
	for (pos = 0; (v = map_next(h->published, &pos, &key)) != NULL;)
		free(v);
	for (pos = 0; (v = map_next(h->registers, &pos, &key)) != NULL;) {
		r = v;
		free(r->name);
		free(r->found);
		free(r->writes);
		free(r);
	}
	map_free(h->sessions);
	map_free(h->published);
	map_free(h->registers);
	map_free(h->turns_by_id);
}

void
chaos_free(struct chaos *h)
{
	size_t i;

	chaos_free_turns(h);
	chaos_free_maps(h);
	for (i = 0; i < h->n_entries; i++)
		free(h->entries[i].text);
	for (i = 0; i < h->n_writes; i++)
		free(h->writes[i].value);
	for (i = 0; i < h->n_drops; i++)
		free(h->drops[i].body);
	for (i = 0; i < h->n_wrong; i++)
		free(h->wrong[i]);
	free(h->entries);
	free(h->writes);
	free(h->outages);
	free(h->drops);
	free(h->wrong);
	pthread_mutex_destroy(&h->lock);
	free(h);
}
