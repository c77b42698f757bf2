/*
 * Feeding events, executing actions, and the timers of a turn.
 */
#include "turn/turn_runner.h"

#include <assert.h>
#include <stdlib.h>

#include "bus/bus.h"
#include "context.h"
#include "core/fiber.h"
#include "core/log.h"
#include "core/mem.h"
#include "core/metric.h"
#include "svc/svc.h"
#include "turn/turn_steps.h"

/* Interval of the caller's progress messages. */
#define PROGRESS_MS 2000
/* Reserved for ending a turn with what it has done. */
#define MARGIN_MS 600
/* The turn is ended at this time before the deadline in any case. */
#define LAST_MS 200
/* How often a commit at that time is checked. */
#define COMMIT_MS 20
/*
 * How old a fence may be: the slot of a living process stays for longer, and
 * what is sent after it has the rest of its time left to act.
 */
#define FENCE_MS 500
/* While Redis is down: interval of retries, and for how long. */
#define RETRY_MS     100
#define RETRY_FOR_MS 5000

const struct wire_chat_request *
turn_chat(const struct turn_run *r)
{
	return &r->req->chat;
}

struct wall
turn_deadline(const struct turn_run *r, int64_t ms)
{
	struct wall end = svc_call_deadline(r->c);
	int64_t by = clock_wall().ms + ms;

	end.ms -= MARGIN_MS;
	return (struct wall){ by < end.ms ? by : end.ms };
}

struct str
turn_now(char dst[WALL_FORMAT_MAX])
{
	wall_format(clock_wall(), 0, dst);
	return str_of(dst);
}

/* ---- executing actions ---- */

static bool
run_is_outage(enum rc rc)
{
	return rc == RC_DOWN || rc == RC_RETRY || state_may_be_done(rc);
}

static bool
run_is_last(enum turn_action_kind kind)
{
	return kind >= TURN_DO_REPLY;
}

static struct turn_action
run_pop(struct turn_run *r)
{
	struct turn_action a = r->pending[0];

	r->n_pending--;
	memmove(&r->pending[0], &r->pending[1],
	    r->n_pending * sizeof(r->pending[0]));
	return a;
}

static void
run_push_front(struct turn_run *r, const struct turn_action *a)
{
	memmove(&r->pending[1], &r->pending[0],
	    r->n_pending * sizeof(r->pending[0]));
	r->pending[0] = *a;
	r->n_pending++;
}

static void run_pump(struct turn_run *r);

static void
run_on_retry(void *arg)
{
	struct turn_run *r = arg;

	run_pump(r);
}

/* Whether a body, or the memories, may have done something for the turn. */
static bool
run_may_have_acted(const struct turn_run *r)
{
	return r->acting &&
	    (turn_has_effect(&r->turn) || !TAILQ_EMPTY(&r->invokes) ||
		!TAILQ_EMPTY(&r->provided));
}

#define UNREPLICATED " too few replicas of Redis have it; "

struct turn_error
turn_unreplicated(const struct turn_run *r)
{
	struct turn_error error = { 503, rc_name(RC_UNREPLICATED), NULL };
	struct str text = { NULL, 0 };

	if (run_may_have_acted(r))
		text = arena_printf(r->a,
		    "what could be done was done, but is not stored "
		    "safely:" UNREPLICATED
		    "before you send it again, see GET /v1/turns/%.*s",
		    STR_ARG(r->slot.turn_id));
	else if (r->turn.phase == TURN_COMMITTING)
		text = STR("the reply is not stored safely:" UNREPLICATED
			   "no action was carried out: send it again");
	else
		text = STR("nothing was done: the input is not stored "
			   "safely:" UNREPLICATED "try again");
	error.text = text.p != NULL ? text.p : "it is not stored safely";
	return error;
}

/* Redis does not do what the first pending action needs. */
static void
run_fail(struct turn_run *r, enum rc rc)
{
	struct turn_event e = {
		.kind = r->hooks->handler[r->pending[0].kind].on_outage,
		.error = { 503, "unavailable",
		    "the state cannot be reached now; try again" }
	};

	log_error("turn.state", LOG_S("stage", turn_phase_name(&r->turn)),
	    LOG_RC(rc));
	if (rc == RC_CONFLICT)
		e.kind = TURN_LOST;
	else if (rc == RC_UNREPLICATED)
		e.error = turn_unreplicated(r);
	else if (!run_is_outage(rc))
		e.error = (struct turn_error){ 500, "internal",
			"the stored state could not be used" };
	if (e.kind == TURN_LOST && rc == RC_UNREPLICATED)
		e.unsent = !run_may_have_acted(r);
	else if (e.kind == TURN_LOST)
		e.error = (struct turn_error){ 0 };
	run_pop(r);
	turn_feed(r, &e);
}

/* The first pending action failed with rc. */
static void
run_retry_or_fail(struct turn_run *r, enum rc rc)
{
	struct mono now = clock_mono();

	if (r->retry_until.ns == 0)
		r->retry_until = mono_add_ms(now, RETRY_FOR_MS);
	if (run_is_outage(rc) && mono_diff_ns(r->retry_until, now) > 0) {
		loop_timer_set(svc_loop(r->o->svc), &r->retry,
		    mono_add_ms(now, RETRY_MS), run_on_retry, r);
		return;
	}
	run_fail(r, rc);
}

void
turn_run_stop_timers(struct turn_run *r)
{
	struct loop *l = svc_loop(r->o->svc);

	loop_timer_cancel(l, &r->progress);
	loop_timer_cancel(l, &r->poll);
	loop_timer_cancel(l, &r->expire);
	loop_timer_cancel(l, &r->retry);
}

void
turn_run_free(struct turn_run *r)
{
	turn_run_stop_timers(r);
	r->hooks->release(r);
	turn_prefetch_drop(r);
	arena_free(r->scratch);
	buf_free(&r->facts.filter);
	TAILQ_REMOVE(&r->o->runs, r, link);
	r->o->n_runs--;
	metric_change(r->o->metrics.running, -1);
	free(r);
}

/*
 * Whether the turn is to commit or end.  That discards what was pending; if it
 * was decided while an action waited, that action has no effect any more.
 */
static bool
run_is_ending(const struct turn_run *r)
{
	return r->n_pending > 0 &&
	    (r->pending[0].kind == TURN_DO_COMMIT ||
		run_is_last(r->pending[0].kind));
}

static bool
run_is_fenced(const struct turn_run *r, enum turn_fence fence)
{
	int64_t age_ms = clock_wall().ms - r->fenced.ms;

	return age_ms >= 0 && age_ms <= FENCE_MS &&
	    (fence == TURN_FENCE_HEAD || r->acting);
}

/* *fence is the strongest one that this run of the pump has passed. */
static enum rc
run_execute(
    struct turn_run *r, const struct turn_action *a, enum turn_fence *fence)
{
	const struct turn_handler *h = &r->hooks->handler[a->kind];

	if (h->fence > *fence && !run_is_fenced(r, h->fence)) {
		struct wall before = clock_wall();
		enum rc rc = h->fence == TURN_FENCE_BODY
		    ? turn_mark_acting(r->o->state, &r->slot)
		    : turn_check_head(r->o->state, &r->slot);
		if (rc != RC_OK)
			return rc;
		*fence = h->fence;
		r->fenced = before;
		r->acting |= h->fence == TURN_FENCE_BODY;
		if (run_is_ending(r))
			return RC_OK;
	}
	r->hooks->before_action(r, a);
	return h->fn(r, a);
}

static bool
run_has_work(const struct turn_run *r)
{
	return !r->ended &&
	    (r->n_jobs > 0 || (r->n_pending > 0 && r->retry.pos == 0));
}

static void
run_do_job(struct turn_run *r)
{
	struct turn_job job = r->jobs[0];

	r->n_jobs--;
	memmove(&r->jobs[0], &r->jobs[1], r->n_jobs * sizeof(r->jobs[0]));
	job.fn(r, job.arg);
}

static void
run_do_action(struct turn_run *r, enum turn_fence *fence)
{
	struct turn_action a = run_pop(r);
	enum rc rc = run_execute(r, &a, fence);

	if (rc == RC_OK) {
		r->retry_until = (struct mono){ 0 };
	} else if (!run_is_ending(r)) {
		run_push_front(r, &a);
		run_retry_or_fail(r, rc);
	}
}

/* A handler may feed the turn, which adds actions. */
static void
run_pump_owned(void *arg)
{
	struct turn_run *r = arg;
	enum turn_fence fence = TURN_FENCE_NONE;

	log_trace_set(r->trace.trace_id);
	while (run_has_work(r)) {
		if (r->n_jobs > 0)
			run_do_job(r);
		else
			run_do_action(r, &fence);
	}
	r->pumping = false;
	if (r->ended)
		turn_run_free(r);
}

/* Execute what is pending, in order, until something has to happen first. */
static void
run_pump(struct turn_run *r)
{
	if (r->pumping || !run_has_work(r))
		return;
	r->pumping = true;
	fiber_call(run_pump_owned, r);
}

static bool
run_is_storing(const struct turn_run *r)
{
	return r->turn.phase == TURN_COMMITTING && r->pumping;
}

bool
turn_is_committing(const struct turn_run *r)
{
	return r->turn.committed || run_is_storing(r);
}

bool
turn_own(struct turn_run *r)
{
	if (r->pumping || r->ended)
		return false;
	r->pumping = true;
	return true;
}

void
turn_disown(struct turn_run *r)
{
	r->pumping = false;
	run_pump(r);
}

void
turn_do(
    struct turn_run *r, void (*fn)(struct turn_run *r, size_t arg), size_t arg)
{
	size_t i;

	for (i = 0; i < r->n_jobs; i++)
		if (r->jobs[i].fn == fn && r->jobs[i].arg == arg)
			return;
	if (r->n_jobs == TURN_JOBS_MAX || r->ended)
		return;
	r->jobs[r->n_jobs++] = (struct turn_job){ fn, arg };
	run_pump(r);
}

/* Committing and ending discard whatever was still pending. */
static void
run_push(struct turn_run *r, const struct turn_action *a)
{
	if (a->kind == TURN_DO_COMMIT || run_is_last(a->kind)) {
		r->n_pending = 0;
		r->retry_until = (struct mono){ 0 };
		loop_timer_cancel(svc_loop(r->o->svc), &r->retry);
	}
	assert(r->n_pending < TURN_PENDING_MAX - 1);
	r->pending[r->n_pending++] = *a;
}

void
turn_feed(struct turn_run *r, const struct turn_event *e)
{
	struct turn_actions out;

	if (r->ended)
		return;
	r->hooks->before_event(r, e);
	turn_step(&r->turn, e, &out);
	for (size_t i = 0; i < out.n; i++)
		run_push(r, &out.list[i]);
	run_pump(r);
}

void
turn_feed_kind(struct turn_run *r, enum turn_event_kind kind)
{
	turn_feed(r, &(struct turn_event){ .kind = kind });
}

/* ---- timers ---- */

static void
run_on_progress(void *arg)
{
	struct turn_run *r = arg;
	struct wire_turn_reply rep = { .turn_id = r->slot.turn_id,
		.state = WIRE_TURN_REPLY_STATE_RUNNING,
		.instance = r->slot.instance,
		.stage = str_of(turn_phase_name(&r->turn)) };

	rep.has_ahead = r->turn.phase == TURN_QUEUED;
	rep.ahead = r->ahead;
	svc_progress(r->c, &rep);
	loop_timer_set(svc_loop(r->o->svc), &r->progress,
	    mono_add_ms(clock_mono(), PROGRESS_MS), run_on_progress, r);
}

static void
run_on_expire(void *arg)
{
	struct turn_run *r = arg;
	struct wall end = svc_call_deadline(r->c);

	/* Its outcome is certain once Redis has replied, or not. */
	if (run_is_storing(r)) {
		loop_timer_set(svc_loop(r->o->svc), &r->expire,
		    mono_add_ms(clock_mono(), COMMIT_MS), run_on_expire, r);
		return;
	}
	end.ms -= LAST_MS;
	loop_timer_set(svc_loop(r->o->svc), &r->expire, clock_mono_of(end),
	    run_on_expire, r);
	turn_feed_kind(r, TURN_EXPIRED);
}

struct turn_run *
turn_run_new(
    struct orch *o, struct svc_call *c, const struct turn_run_hooks *hooks)
{
	struct turn_run *r = mem_zalloc(sizeof(*r));
	struct wall end = svc_call_deadline(c);

	r->o = o;
	r->hooks = hooks;
	r->c = c;
	r->req = svc_call_request(c);
	r->a = svc_call_arena(c);
	r->scratch = arena_new(ORCH_SCRATCH_MAX);
	r->started = clock_wall();
	r->start = clock_mono();
	r->trace = *svc_call_trace(c);
	r->slot = (struct turn_slot){
		.key = { r->req->user_id, r->req->chat.session_id },
		.instance = str_of(o->instance),
		.turn_id = r->req->turn_id,
	};
	turn_init(&r->turn, (size_t)o->conf->max_rounds);
	TAILQ_INIT(&r->requests);
	TAILQ_INIT(&r->invokes);
	TAILQ_INIT(&r->provided);
	buf_init(&r->facts.filter, BUS_PAYLOAD_MAX);
	TAILQ_INSERT_TAIL(&o->runs, r, link);
	o->n_runs++;
	metric_change(o->metrics.running, 1);
	end.ms -= MARGIN_MS;
	loop_timer_set(
	    svc_loop(o->svc), &r->expire, clock_mono_of(end), run_on_expire, r);
	loop_timer_set(svc_loop(o->svc), &r->progress,
	    mono_add_ms(clock_mono(), PROGRESS_MS), run_on_progress, r);
	return r;
}
