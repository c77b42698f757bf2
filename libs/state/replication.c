/*
 * replication: waiting until replicas have what a master has answered.
 *
 * WAIT holds up what follows it on its connection, so it has one of its own,
 * which lives as long as the master's other one: when that is lost, there may
 * be a new master without the writes.  WAIT is about its connection's last
 * command, so a PING comes before it; the two cover all that the master
 * answered earlier, on any connection.  There is one pair at a time: those that
 * come meanwhile share the next.
 */
#include <stdlib.h>
#include <sys/queue.h>

#include "core/fiber.h"
#include "core/mem.h"
#include "state/cluster.h"
#include "state/state_internal.h"

#define REPLIES_MAX 4096
#define LOG_EVERY_S 10

TAILQ_HEAD(replication_calls, replication_call);

struct replication_call {
	TAILQ_ENTRY(replication_call) link;
	struct replication_calls *list; /* that it is in; NULL: none */
	struct fiber *fiber;
	struct loop_timer deadline;
	enum rc rc;
};

struct replication {
	struct state *s;
	struct state_node *master;
	struct state_node *node; /* for PING and WAIT; NULL: no master */
	struct replication_calls pending; /* for the next round */
	struct replication_calls current; /* for that in flight */
	struct replication_calls ended;

	struct node_call call;
	struct state_reply *replies[2];
	struct arena *a;
	struct buf bytes;
	bool in_flight;
	struct loop_deferred start, notify;
};

static void replication_start(void *arg);

/* ---- calls ---- */

static void
replication_move(struct replication_call *c, struct replication_calls *to)
{
	if (c->list != NULL)
		TAILQ_REMOVE(c->list, c, link);
	c->list = to;
	if (to != NULL)
		TAILQ_INSERT_TAIL(to, c, link);
}

static void
replication_notify(void *arg)
{
	struct replication *r = arg;
	struct replication_call *c;

	while ((c = TAILQ_FIRST(&r->ended)) != NULL) {
		replication_move(c, NULL);
		loop_timer_cancel(r->s->loop, &c->deadline);
		fiber_resume(c->fiber);
	}
}

/* Later, because the fibers may use the connection that is being closed. */
static void
replication_end_calls(
    struct replication *r, struct replication_calls *list, enum rc rc)
{
	struct replication_call *c;

	while ((c = TAILQ_FIRST(list)) != NULL) {
		c->rc = rc;
		replication_move(c, &r->ended);
	}
	if (!TAILQ_EMPTY(&r->ended))
		loop_defer(r->s->loop, &r->notify, replication_notify, r);
}

static void
replication_on_deadline(void *arg)
{
	struct replication_call *c = arg;

	replication_move(c, NULL);
	fiber_resume(c->fiber);
}

/* ---- rounds ---- */

static void
replication_put_wait(struct state *s, struct buf *bytes, int64_t ms)
{
	char n[STR_NUM_MAX], t[STR_NUM_MAX];

	resp_put(bytes, STATE_ARGS(STR("PING")));
	resp_put(bytes,
	    STATE_ARGS(
		STR("WAIT"), str_num(s->wait_replicas, n), str_num(ms, t)));
}

/* RC_OK, RC_UNREPLICATED, or RC_DOWN: there is no reply. */
static enum rc
replication_result(const struct replication *r, const struct node_call *c)
{
	const struct state_reply *n = c->w.reply[1];
	static struct log_rate rate;
	int64_t missed;

	if (c->rc != RC_OK)
		return RC_DOWN;
	if (state_reply_kind(n) == STATE_INT &&
	    state_reply_int(n) >= r->s->wait_replicas)
		return RC_OK;
	state_node_verify(r->master);
	if (log_every(&rate, LOG_EVERY_S, &missed))
		log_warn("state.unreplicated",
		    LOG_I("replicas", state_reply_int(n)),
		    LOG_I("wanted", r->s->wait_replicas),
		    LOG_V("why", state_reply_str(n)), LOG_I("missed", missed));
	return RC_UNREPLICATED;
}

static void
replication_on_done(struct node_call *c)
{
	struct replication *r = CONTAINER_OF(c, struct replication, call);
	enum rc rc = replication_result(r, c);
	struct replication_call *first;

	r->in_flight = false;
	if (rc == RC_DOWN)
		/* While the master's other connection lives, the next one
		 * tells the same. */
		while ((first = TAILQ_FIRST(&r->current)) != NULL)
			replication_move(first, &r->pending);
	else
		replication_end_calls(r, &r->current, rc);
	replication_start(r);
}

static void
replication_start(void *arg)
{
	struct replication *r = arg;
	struct replication_call *c;

	if (r->in_flight || r->node == NULL || TAILQ_EMPTY(&r->pending) ||
	    !state_node_up(r->node))
		return;
	arena_reset(r->a);
	r->call = (struct node_call){
		.bytes = buf_str(&r->bytes),
		.w = { r->replies, NELEM(r->replies), 0, r->a },
		.until = mono_add_ms(clock_mono(),
		    r->s->wait_ms + r->s->connection_opts.deadline_ms),
		.done = replication_on_done,
	};
	if (state_node_submit(r->node, &r->call) != RC_OK)
		return;
	r->in_flight = true;
	while ((c = TAILQ_FIRST(&r->pending)) != NULL)
		replication_move(c, &r->current);
}

static void
replication_on_change(void *arg, bool up)
{
	struct replication *r = arg;

	if (up)
		replication_start(r);
}

/* ---- the interface ---- */

struct replication *
replication_new(struct state *s, struct state_node *n)
{
	struct replication *r = mem_zalloc(sizeof(*r));

	r->s = s;
	r->master = n;
	r->a = arena_new(REPLIES_MAX);
	TAILQ_INIT(&r->pending);
	TAILQ_INIT(&r->current);
	TAILQ_INIT(&r->ended);
	buf_init(&r->bytes, REPLIES_MAX);
	replication_put_wait(s, &r->bytes, s->wait_ms);
	return r;
}

void
replication_begin(struct replication *r, const struct redis_address *a)
{
	struct node_opts o = { .kind = NODE_REPLICATION,
		.address = *a,
		.changed = replication_on_change,
		.arg = r };

	r->node = state_node_new(r->s, &o);
}

void
replication_end(struct replication *r)
{
	struct state_node *node = r->node;

	r->node = NULL;
	state_node_free(node);
	replication_end_calls(r, &r->pending, RC_UNREPLICATED);
	replication_end_calls(r, &r->current, RC_UNREPLICATED);
}

void
replication_stop(struct replication *r)
{
	replication_end(r);
	replication_notify(r);
}

void
replication_free(struct replication *r)
{
	if (r == NULL)
		return;
	loop_defer_cancel(r->s->loop, &r->start);
	loop_defer_cancel(r->s->loop, &r->notify);
	buf_free(&r->bytes);
	arena_free(r->a);
	free(r);
}

/* The caller blocks: a pair of its own, behind that in flight. */
static enum rc
replication_block(struct replication *r, int64_t ms)
{
	struct buf bytes = BUF_INIT(REPLIES_MAX);
	struct state_reply *replies[2] = { NULL, NULL };
	struct node_call c = { .w = { replies, 2, 0, arena_new(REPLIES_MAX) } };
	enum rc rc;

	replication_put_wait(r->s, &bytes, ms);
	c.bytes = buf_str(&bytes);
	c.until =
	    mono_add_ms(clock_mono(), ms + r->s->connection_opts.deadline_ms);
	rc = r->node != NULL ? state_node_submit(r->node, &c) : RC_DOWN;
	if (rc == RC_OK) {
		state_node_wait(r->node, &c);
		rc = replication_result(r, &c);
	}
	buf_free(&bytes);
	arena_free(c.w.a);
	return rc == RC_OK ? RC_OK : RC_UNREPLICATED;
}

static enum rc
replication_wait(struct replication *r, struct mono until)
{
	struct replication_call c = { .rc = RC_UNREPLICATED };
	int64_t ms = mono_diff_ms(until, clock_mono());

	c.fiber = state_fiber(r->s);
	if (c.fiber == NULL)
		/* 0 is without a limit. */
		return replication_block(r, ms > 1 ? ms : 1);
	replication_move(&c, &r->pending);
	loop_timer_set(
	    r->s->loop, &c.deadline, until, replication_on_deadline, &c);
	/* At the end of the iteration, together with those that come yet. */
	loop_defer(r->s->loop, &r->start, replication_start, r);
	fiber_suspend();
	return c.rc;
}

struct state_mark
state_mark_now(const struct state *s, struct str key)
{
	return (struct state_mark){ s->version,
		s->cluster != NULL ? slot_of_key(key) : SLOT_ANY };
}

/* Whether the server n of a mark is the one that it was, all the time. */
static bool
mark_is_valid(const struct state_node *n, struct state_mark mark)
{
	return n != NULL && state_node_up(n) &&
	    !state_is_later(state_node_epoch(n), mark.version);
}

enum rc
state_wait_replicated(struct state *s, struct state_mark mark, int64_t ms)
{
	struct state_node *n, *importer = NULL;
	struct mono until;
	enum rc rc = RC_UNREPLICATED;

	if (s->wait_replicas == 0)
		return RC_OK;
	until = mono_add_ms(clock_mono(), ms > 0 ? ms : s->wait_ms);
	n = state_route(s, mark.slot);
	if (s->cluster != NULL && mark.slot >= 0) {
		importer = cluster_importer(s->cluster, mark.slot);
		if (state_is_later(cluster_owner_since(s->cluster, mark.slot),
			mark.version))
			n = NULL;
	}
	if (mark_is_valid(n, mark))
		rc = replication_wait(state_node_replication(n), until);
	/* Calls of keys that it has already were executed there. */
	if (rc == RC_OK && importer != NULL)
		rc = mark_is_valid(importer, mark)
		    ? replication_wait(state_node_replication(importer), until)
		    : RC_UNREPLICATED;
	if (rc != RC_OK)
		metric_add(s->m_unreplicated, 1);
	return rc;
}
