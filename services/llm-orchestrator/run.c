/*
 * Feeding and doing; the moments at which something is due by itself.
 */
#include "run.h"

#include <assert.h>
#include <stdlib.h>

#include "bus/bus.h"
#include "core/log.h"
#include "core/mem.h"
#include "core/metric.h"
#include "on_body.h"
#include "on_end.h"
#include "on_forget.h"
#include "on_load.h"
#include "on_recall.h"
#include "on_sense.h"
#include "on_think.h"
#include "orch.h"
#include "spans.h"
#include "svc/svc.h"
#include "tools.h"
#include "watch.h"

/* A sign of life for who waits for the reply. */
#define BEAT_MS 2000
/* The time a turn keeps for telling what came of it. */
#define MARGIN_MS 600
/* The end, whatever happens. */
#define LAST_MS 200
/* How often an action that needs Redis is tried again, and how long. */
#define AGAIN_MS    100
#define PATIENCE_MS 5000

const struct trace *
run_trace(const struct run *r)
{
	return &r->trace;
}

const struct wire_chat_request *
run_chat(const struct run *r)
{
	return &r->req->chat;
}

struct wall
run_by(const struct run *r, int64_t ms)
{
	struct wall end = svc_call_deadline(r->c);
	int64_t by = clock_wall().ms + ms;

	end.ms -= MARGIN_MS;
	return (struct wall){ by < end.ms ? by : end.ms };
}

/* ---- doing ------------------------------------------------------------- */

/* What each action needs before it is done, and who does it. */
static const struct {
	/* RC_DOWN and its like: Redis is needed and away; try again. */
	enum rc (*fn)(struct run *r, const struct turn_action *a);
	enum { FREE, FENCED, ACTS } fence; /* has an effect outside; a body's */
	/* What the turn hears if Redis stays away. */
	enum turn_event_kind heard;
} table[] = {
	[TURN_DO_LOAD] = { on_load, FREE, TURN_LOADED },
	[TURN_DO_FEEL] = { on_feel, FREE, TURN_LOST },
	[TURN_DO_FILTER] = { on_filter, FREE, TURN_LOST },
	[TURN_DO_ASK_MEMORY] = { on_ask_memory, FREE, TURN_LOST },
	[TURN_DO_ACT] = { on_act, ACTS, TURN_LOST },
	[TURN_DO_THINK] = { on_think, FREE, TURN_ANSWERED },
	[TURN_DO_INVOKE] = { on_invoke, ACTS, TURN_LOST },
	[TURN_DO_FORGET] = { on_forget, ACTS, TURN_LOST },
	[TURN_DO_SEARCHING] = { on_status, FENCED, TURN_LOST },
	[TURN_DO_RECALL] = { on_recall, FREE, TURN_LOST },
	[TURN_DO_SEARCHED] = { on_status, FENCED, TURN_LOST },
	[TURN_DO_NOT_FOUND] = { on_status, FENCED, TURN_LOST },
	[TURN_DO_STORE] = { on_store, FREE, TURN_STORED },
	[TURN_DO_REPLY] = { on_reply, FREE, TURN_LOST },
	[TURN_DO_FAIL] = { on_fail, FREE, TURN_LOST },
	[TURN_DO_CANCELED] = { on_canceled, FREE, TURN_LOST },
};

static bool
is_away(enum rc rc)
{
	return rc == RC_DOWN || rc == RC_TIMEOUT || rc == RC_RETRY;
}

static bool
is_last(enum turn_action_kind kind)
{
	return kind >= TURN_DO_REPLY;
}

static struct turn_action
take_front(struct run *r)
{
	struct turn_action a = r->todo[0];

	r->n_todo--;
	memmove(&r->todo[0], &r->todo[1], r->n_todo * sizeof(r->todo[0]));
	return a;
}

static void
put_front(struct run *r, const struct turn_action *a)
{
	memmove(&r->todo[1], &r->todo[0], r->n_todo * sizeof(r->todo[0]));
	r->todo[0] = *a;
	r->n_todo++;
}

static void pump(struct run *r);

static void
on_again(void *arg)
{
	struct run *r = arg;

	log_trace_set(run_trace(r)->trace_id);
	pump(r);
	log_trace_set("");
}

/* The action in front could not be done; rc says why. */
static void
wait_or_give_up(struct run *r, enum rc rc)
{
	struct turn_event e = { .kind = table[r->todo[0].kind].heard,
		.fault = { 503, "unavailable",
		    "the state cannot be reached now; try again" } };
	struct mono now = clock_mono();

	if (r->patience.ns == 0)
		r->patience = mono_add_ms(now, PATIENCE_MS);
	if (is_away(rc) && mono_diff_ns(r->patience, now) > 0) {
		loop_timer_set(svc_loop(r->o->svc), &r->again,
		    mono_add_ms(now, AGAIN_MS), on_again, r);
		return;
	}
	log_error(
	    "turn.state", LOG_S("stage", turn_stage(&r->turn)), LOG_RC(rc));
	if (rc == RC_CONFLICT)
		e.kind = TURN_LOST;
	else if (!is_away(rc))
		e.fault = (struct turn_fault){ 500, "internal",
			"the stored state could not be used" };
	take_front(r);
	run_feed(r, &e);
}

void
run_free(struct run *r)
{
	struct loop *l = svc_loop(r->o->svc);

	loop_timer_cancel(l, &r->beat);
	loop_timer_cancel(l, &r->poll);
	loop_timer_cancel(l, &r->expire);
	loop_timer_cancel(l, &r->again);
	stream_free(r);
	timeline_free(&r->timeline);
	tools_free(r->facts.tools);
	buf_free(&r->facts.filter);
	TAILQ_REMOVE(&r->o->runs, r, link);
	r->o->n_runs--;
	metric_change(r->o->metrics.running, -1);
	free(r);
}

static enum rc
perform(struct run *r, const struct turn_action *a, int *held)
{
	if ((int)table[a->kind].fence > *held) {
		struct wall before = clock_wall();
		enum rc rc = table[a->kind].fence == ACTS
		    ? turn_act(r->o->state, &r->place)
		    : turn_hold(r->o->state, &r->place);
		if (rc != RC_OK)
			return rc;
		*held = (int)table[a->kind].fence;
		r->fenced = before;
	}
	watch_action(r, a);
	return table[a->kind].fn(r, a);
}

/*
 * Do what is to be done, in its order, until something has to be waited for.
 * What is done may feed the turn, and so add to what is to be done.
 */
static void
pump(struct run *r)
{
	int held = FREE;

	if (r->pumping)
		return;
	r->pumping = true;
	while (!r->ended && r->n_todo > 0 && r->again.pos == 0) {
		struct turn_action a = take_front(r);
		enum rc rc = perform(r, &a, &held);
		if (rc == RC_OK) {
			r->patience = (struct mono){ 0 };
			continue;
		}
		put_front(r, &a);
		wait_or_give_up(r, rc);
	}
	r->pumping = false;
	if (r->ended)
		run_free(r);
}

/* What ends a phase for good leaves nothing else to be done. */
static void
put(struct run *r, const struct turn_action *a)
{
	if (a->kind == TURN_DO_STORE || is_last(a->kind)) {
		r->n_todo = 0;
		r->patience = (struct mono){ 0 };
		loop_timer_cancel(svc_loop(r->o->svc), &r->again);
	}
	assert(r->n_todo < RUN_TODO_MAX - 1);
	r->todo[r->n_todo++] = *a;
}

void
run_feed(struct run *r, const struct turn_event *e)
{
	struct turn_actions out;

	if (r->ended)
		return;
	watch_event(r, e);
	turn_step(&r->turn, e, &out);
	for (size_t i = 0; i < out.n; i++)
		put(r, &out.list[i]);
	log_trace_set(run_trace(r)->trace_id);
	pump(r);
	log_trace_set("");
}

void
run_feed_kind(struct run *r, enum turn_event_kind kind)
{
	run_feed(r, &(struct turn_event){ .kind = kind });
}

/* ---- what is due by itself --------------------------------------------- */

static void
on_beat(void *arg)
{
	struct run *r = arg;
	struct wire_turn_reply rep = { .turn_id = r->place.turn_id,
		.state = WIRE_TURN_REPLY_STATE_RUNNING,
		.instance = r->place.instance,
		.stage = str_of(turn_stage(&r->turn)) };

	rep.has_ahead = r->turn.phase == TURN_WAITING;
	rep.ahead = r->ahead;
	svc_progress(r->c, &rep);
	loop_timer_set(svc_loop(r->o->svc), &r->beat,
	    mono_add_ms(clock_mono(), BEAT_MS), on_beat, r);
}

static void
on_expire(void *arg)
{
	struct run *r = arg;
	struct wall end = svc_call_deadline(r->c);

	end.ms -= LAST_MS;
	loop_timer_set(
	    svc_loop(r->o->svc), &r->expire, clock_mono_of(end), on_expire, r);
	run_feed_kind(r, TURN_EXPIRED);
}

struct run *
run_new(struct orch *o, struct svc_call *c)
{
	struct run *r = mem_zalloc(sizeof(*r));
	struct wall end = svc_call_deadline(c);

	r->o = o;
	r->c = c;
	r->req = svc_call_request(c);
	r->a = svc_call_arena(c);
	r->started = clock_wall();
	r->timeline.start = clock_mono();
	spans_begin(r);
	stream_init(r);
	r->place = (struct turn_place){
		.key = { r->req->user_id, r->req->chat.session_id },
		.instance = str_of(o->instance),
		.turn_id = r->req->turn_id,
	};
	turn_init(&r->turn, (size_t)o->conf->max_rounds);
	TAILQ_INIT(&r->asks);
	TAILQ_INIT(&r->invokes);
	buf_init(&r->facts.filter, BUS_PAYLOAD_MAX);
	TAILQ_INSERT_TAIL(&o->runs, r, link);
	o->n_runs++;
	metric_change(o->metrics.running, 1);
	end.ms -= MARGIN_MS;
	loop_timer_set(
	    svc_loop(o->svc), &r->expire, clock_mono_of(end), on_expire, r);
	loop_timer_set(svc_loop(o->svc), &r->beat,
	    mono_add_ms(clock_mono(), BEAT_MS), on_beat, r);
	return r;
}
