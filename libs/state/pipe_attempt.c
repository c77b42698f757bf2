/*
 * pipe_attempt: sending the commands of a pipeline, each to the server of its
 * slot, and repeating them.
 *
 * Repeated within the deadline are commands that a server rejected because it
 * does not serve them now, which are certainly not executed, and idempotent
 * scripts whose outcome is unknown.  Outside of clusters, where all goes to one
 * server, the first attempt sends the pipeline's own bytes.
 */
#include <poll.h>
#include <stdlib.h>

#include "core/fiber.h"
#include "core/mem.h"
#include "state/pipeline.h"

/* Redirections of a command that are followed without a pause. */
#define MOVES_MAX    4
#define PAUSE_MIN_MS 2
#define PAUSE_MAX_MS 50
/* No attempt begins later than this part of the deadline before its end. */
#define LAST_PART 4

struct pipe_group {
	struct node_call call;
	struct state_pipe *p;
	struct state_node *node;
	struct buf bytes;             /* not of a whole pipeline */
	struct state_reply **replies; /* likewise */
	size_t n;                     /* replies that it will have */
	bool submitted;
	enum rc rc; /* why not */
};

enum pipe_retry { PIPE_ENDS, PIPE_RETRY_NOW, PIPE_RETRY_LATER };

void
pipe_attempts_free(struct state_pipe *p)
{
	free(p->groups);
}

/* ---- groups ---- */

static size_t
attempt_group(struct state_pipe *p, struct state_node *node)
{
	struct pipe_group *g;
	size_t i;

	/* Neighbours often have the same server. */
	for (i = p->n_groups; i > 0; i--)
		if (p->groups[i - 1].node == node)
			return i - 1;
	if (p->n_groups == p->max_groups) {
		p->max_groups = p->max_groups * 2 + 1;
		p->groups =
		    mem_realloc(p->groups, p->max_groups * sizeof(*p->groups));
	}
	g = &p->groups[p->n_groups];
	*g = (struct pipe_group){ .p = p, .node = node };
	return p->n_groups++;
}

/* Give each pending command a server, or end it; whether one has one. */
static bool
attempt_route(struct state_pipe *p)
{
	struct pipe_entry *e;
	size_t i;

	p->n_groups = 0;
	for (i = 0; i < p->n; i++) {
		e = &p->entries[i];
		if (!e->pending)
			continue;
		e->reply = NULL;
		e->rc = RC_DOWN;
		if (!e->importing)
			e->node = state_route(p->s, e->slot);
		if (e->node == NULL)
			continue;
		e->group = attempt_group(p, e->node);
		p->groups[e->group].n += 1U + e->load + e->importing;
	}
	return p->n_groups > 0;
}

/* Whether an entry before e in its group loads the same script. */
static bool
attempt_is_loaded(const struct state_pipe *p, const struct pipe_entry *e)
{
	const struct pipe_entry *o;

	for (o = p->entries; o < e; o++)
		if (o->pending && o->load && o->group == e->group &&
		    o->node == e->node && o->script == e->script)
			return true;
	return false;
}

/* Copy the bytes of pending commands to their groups. */
static void
attempt_fill(struct state_pipe *p)
{
	struct pipe_entry *e;
	struct pipe_group *g;
	size_t i;

	for (i = 0; i < p->n_groups; i++) {
		g = &p->groups[i];
		buf_init(&g->bytes, 2 * STATE_SEND_MAX);
		g->replies = mem_calloc(g->n, sizeof(struct state_reply *));
		g->n = 0;
	}
	for (i = 0; i < p->n; i++) {
		e = &p->entries[i];
		if (!e->pending || e->node == NULL)
			continue;
		g = &p->groups[e->group];
		e->at = g->n;
		e->load = e->load && !attempt_is_loaded(p, e);
		if (e->load)
			resp_put(&g->bytes,
			    STATE_ARGS(STR("SCRIPT"), STR("LOAD"),
				str_of(e->script->text)));
		if (e->importing)
			resp_put(&g->bytes, STATE_ARGS(STR("ASKING")));
		buf_put(&g->bytes, p->out.p + e->start, e->end - e->start);
		g->n += 1U + e->load + e->importing;
	}
}

/* Whether the pipeline's bytes can be sent as they are. */
static bool
attempt_is_whole(const struct state_pipe *p)
{
	const struct pipe_entry *e;
	size_t i;

	if (p->n_groups != 1)
		return false;
	for (i = 0; i < p->n; i++) {
		e = &p->entries[i];
		if (!e->pending || e->node == NULL || e->load || e->importing)
			return false;
	}
	return true;
}

/* ---- exchanging ---- */

static void
attempt_on_done(struct node_call *c)
{
	struct state_pipe *p = CONTAINER_OF(c, struct pipe_group, call)->p;

	if (--p->n_open == 0)
		fiber_resume(p->fiber);
}

static void
attempt_submit(struct state_pipe *p, bool whole)
{
	struct pipe_group *g;
	size_t i;

	for (i = 0; i < p->n_groups; i++) {
		g = &p->groups[i];
		g->call = (struct node_call){
			.bytes = buf_str(whole ? &p->out : &g->bytes),
			.w = { whole ? p->replies : g->replies, g->n, 0, p->a },
			.until = p->until,
			.done = p->fiber != NULL ? attempt_on_done : NULL,
		};
		g->rc = whole ? RC_OK : buf_rc(&g->bytes);
		if (g->rc == RC_OK)
			g->rc = state_node_submit(g->node, &g->call);
		g->submitted = g->rc == RC_OK;
		p->n_open += g->submitted;
	}
}

static void
attempt_wait(struct state_pipe *p)
{
	struct pipe_group *g;
	size_t i;

	if (p->fiber != NULL) {
		if (p->n_open > 0)
			fiber_suspend();
		return;
	}
	for (i = 0; i < p->n_groups; i++) {
		g = &p->groups[i];
		if (g->submitted)
			state_node_wait(g->node, &g->call);
	}
	p->n_open = 0;
}

/* The result of command i of a call. */
static enum rc
attempt_result_at(const struct node_call *c, size_t i)
{
	if (i < c->w.got)
		return reply_rc(c->w.reply[i]);
	/* Unknown after a reply that was too big. */
	return c->rc == RC_TOOBIG && i > c->w.got ? RC_TIMEOUT : c->rc;
}

static void
attempt_result(struct state_pipe *p, struct pipe_entry *e)
{
	const struct pipe_group *g;
	const struct node_call *c;
	size_t k = e->at;

	if (e->node == NULL)
		return;
	g = &p->groups[e->group];
	c = &g->call;
	if (!g->submitted) {
		e->rc = g->rc;
		return;
	}
	/* The reply to loading it says why it is not there. */
	if (!e->load || k >= c->w.got || reply_rc(c->w.reply[k]) == RC_OK)
		k += 0U + e->load + e->importing;
	e->rc = attempt_result_at(c, k);
	e->reply = k < c->w.got ? c->w.reply[k] : NULL;
}

/* Send all that is pending and set its results. */
static void
attempt_run(struct state_pipe *p)
{
	bool whole;
	size_t i;

	if (!attempt_route(p))
		return;
	whole = attempt_is_whole(p);
	if (whole)
		for (i = 0; i < p->n; i++)
			p->entries[i].at = i;
	else
		attempt_fill(p);
	attempt_submit(p, whole);
	attempt_wait(p);
	for (i = 0; i < p->n; i++)
		if (p->entries[i].pending)
			attempt_result(p, &p->entries[i]);
	for (i = 0; !whole && i < p->n_groups; i++) {
		buf_free(&p->groups[i].bytes);
		free(p->groups[i].replies);
	}
}

/* ---- retries ---- */

/* No reply: the call was not sent, or its outcome is unknown. */
static enum pipe_retry
attempt_retry_lost(struct state_pipe *p, struct pipe_entry *e)
{
	e->importing = false;
	if (e->rc == RC_TIMEOUT && e->script != NULL && e->script->idempotent) {
		e->unknown = true;
		e->persists = true;
	} else if (e->rc != RC_DOWN) {
		return PIPE_ENDS;
	} else if (p->s->cluster != NULL && e->node != NULL &&
	    state_node_is_new(e->node)) {
		return PIPE_RETRY_LATER;
	}
	return e->persists ? PIPE_RETRY_LATER : PIPE_ENDS;
}

static enum pipe_retry
attempt_follow(struct state_pipe *p, struct pipe_entry *e, struct redirect *d)
{
	if (d->to.host[0] == '\0')
		memcpy(d->to.host, state_node_address(e->node)->host,
		    sizeof(d->to.host));
	e->importing = d->kind == REDIRECT_IMPORTING;
	if (e->importing)
		e->node = cluster_slot_imported(p->s->cluster, d->slot, &d->to);
	else
		cluster_slot_moved(p->s->cluster, d->slot, &d->to);
	if (e->importing && e->node == NULL)
		return PIPE_ENDS;
	return e->moves++ < MOVES_MAX ? PIPE_RETRY_NOW : PIPE_RETRY_LATER;
}

static enum pipe_retry
attempt_retry_rejected(struct state_pipe *p, struct pipe_entry *e)
{
	struct redirect d = { .kind = REDIRECT_NONE };

	if (reply_error_is(e->reply, STR("NOSCRIPT"))) {
		if (e->script == NULL || e->loaded)
			return PIPE_ENDS;
		e->load = true;
		e->loaded = true;
		return PIPE_RETRY_NOW;
	}
	if (reply_unusable(e->reply)) {
		state_node_break(e->node, e->reply->s.p);
		e->importing = false;
		e->persists = e->rc == RC_DOWN;
		return e->persists ? PIPE_RETRY_LATER : PIPE_ENDS;
	}
	if (reply_error_is(e->reply, STR("NOREPLICAS")))
		state_node_verify(e->node);
	if (p->s->cluster == NULL)
		return PIPE_ENDS;
	redirect_parse(e->reply->s, &d);
	if (d.kind != REDIRECT_NONE)
		return attempt_follow(p, e, &d);
	e->importing = false;
	if (reply_error_is(e->reply, STR("CLUSTERDOWN"))) {
		cluster_refresh(p->s->cluster);
		return PIPE_RETRY_LATER;
	}
	/* Some of its keys are moving to another server. */
	return reply_error_is(e->reply, STR("TRYAGAIN")) ||
		reply_script_moving(e->reply)
	    ? PIPE_RETRY_LATER
	    : PIPE_ENDS;
}

static enum pipe_retry
attempt_retry(struct state_pipe *p, struct pipe_entry *e)
{
	enum pipe_retry retry = PIPE_ENDS;

	e->load = false;
	if (e->reply == NULL)
		retry = attempt_retry_lost(p, e);
	else if (e->rc != RC_OK)
		retry = attempt_retry_rejected(p, e);
	/* The loop, which connects, does not run while the caller blocks. */
	if (retry == PIPE_RETRY_LATER && p->fiber == NULL &&
	    (e->node == NULL || !state_node_up(e->node)))
		retry = PIPE_ENDS;
	e->pending = retry != PIPE_ENDS;
	return retry;
}

static void
attempt_on_pause(void *arg)
{
	struct state_pipe *p = arg;

	*p->paused_prev = p->paused_next;
	if (p->paused_next != NULL)
		p->paused_next->paused_prev = p->paused_prev;
	p->paused_prev = NULL;
	loop_timer_cancel(p->s->loop, &p->pause);
	fiber_resume(p->fiber);
}

void
state_pauses_end(struct state *s)
{
	while (s->paused != NULL)
		attempt_on_pause(s->paused);
}

/* An attempt at that time can end before the deadline. */
static bool
attempt_has_time(const struct state_pipe *p, struct mono at)
{
	return !p->s->stopped &&
	    mono_diff_ms(p->until, at) >=
	    p->s->connection_opts.deadline_ms / LAST_PART;
}

/* Wait before the attempt with this number; false: it comes too late. */
static bool
attempt_pause(struct state_pipe *p, unsigned number)
{
	int64_t ms = PAUSE_MAX_MS;
	struct state *s = p->s;
	struct mono at;

	if (number < 5 && PAUSE_MIN_MS << number < PAUSE_MAX_MS)
		ms = PAUSE_MIN_MS << number;
	at = mono_add_ms(clock_mono(), ms);
	if (!attempt_has_time(p, at))
		return false;
	if (p->fiber == NULL) {
		(void)poll(NULL, 0, (int)ms);
		return true;
	}
	p->paused_next = s->paused;
	if (s->paused != NULL)
		s->paused->paused_prev = &p->paused_next;
	p->paused_prev = &s->paused;
	s->paused = p;
	loop_timer_set(s->loop, &p->pause, at, attempt_on_pause, p);
	fiber_suspend();
	return !s->stopped;
}

void
pipe_attempts(struct state_pipe *p)
{
	enum pipe_retry retry, slowest;
	struct pipe_entry *e;
	unsigned pauses = 0;
	size_t i;

	p->fiber = state_fiber(p->s);
	do {
		attempt_run(p);
		slowest = PIPE_ENDS;
		for (i = 0; i < p->n; i++) {
			if (!p->entries[i].pending)
				continue;
			retry = attempt_retry(p, &p->entries[i]);
			slowest = retry > slowest ? retry : slowest;
		}
	} while (
	    (slowest == PIPE_RETRY_NOW && attempt_has_time(p, clock_mono())) ||
	    (slowest == PIPE_RETRY_LATER && attempt_pause(p, pauses++)));
	for (i = 0; i < p->n; i++) {
		e = &p->entries[i];
		if (!e->unknown || (e->rc != RC_DOWN && e->rc != RC_RETRY))
			continue;
		/* Not executed now, but it may have been before. */
		e->rc = RC_TIMEOUT;
		e->reply = NULL;
	}
}
