/*
 * queue_slot: a turn's slot in its session's queue: entering, waiting to become
 * head, releasing; and the liveness key of the process.
 *
 * The queue is in Redis (state/turn.h).  A waiting turn polls its position
 * twice a second, and is woken when the turn before it ends.
 */
#include "turn/turn_steps.h"
#include "turn/unasked.h"

#include <stdio.h>
#include <stdlib.h>

#include "bus/bus.h"
#include "context.h"
#include "core/fiber.h"
#include "core/log.h"
#include "core/mem.h"
#include "model/model.h"
#include "peer/peer_request.h"
#include "reply/reply_stream.h"
#include "state/turn.h"
#include "svc/svc.h"
#include "turn/commit_times.h"
#include "turn/queue_head.h"
#include "turn/turn_runner.h"
#include "wire/msgs.h"
#include "wire/subjects.h"
#include "wire/wire.h"

#define SLOT_POLL_MS 500
#define SLOT_TICK_MS 1000
/* Deferred releases; the others end with this process's liveness key. */
#define SLOT_RELEASES_MAX 4096
/* Bytes of one ending, and of all; beyond that only the slot is released. */
#define SLOT_RELEASE_BYTES  ((size_t)4 * 1024 * 1024)
#define SLOT_RELEASES_BYTES ((size_t)32 * 1024 * 1024)

/* A slot that could not be released yet. */
struct slot_release {
	TAILQ_ENTRY(slot_release) link;
	struct arena *a; /* of all its strings */
	struct turn_slot slot;
	struct turn_ending end;
	struct str events[TURN_EVENTS_MAX];
};

/* ---- digest of a request ---- */

/* The length comes first, so that no two lists of texts have one digest. */
static void
digest_put(struct buf *b, struct str s)
{
	buf_put_i64(b, (int64_t)s.n);
	buf_putc(b, ':');
	buf_put_str(b, s);
}

static bool
digest_has_id(const struct wire_chat_request *chat)
{
	for (size_t i = 0; i < chat->n_inputs; i++) {
		const struct wire_chat_request_inputs *in = &chat->inputs[i];
		if (history_is_user_text(in) &&
		    (in->input_id.n > 0 || in->ts.n > 0))
			return true;
	}
	return false;
}

bool
request_digest(const struct wire_chat_request *chat, struct buf *b)
{
	if (!digest_has_id(chat))
		return false;
	digest_put(b, chat->terminal_id);
	for (size_t i = 0; i < chat->n_inputs; i++) {
		const struct wire_chat_request_inputs *in = &chat->inputs[i];
		digest_put(b, wire_chat_request_inputs_type_names[in->type]);
		digest_put(b, in->input_id);
		digest_put(b, in->ts);
		digest_put(b, in->text);
	}
	return true;
}

/* ---- waiting ---- */

static void slot_on_poll(void *arg);

static void
slot_set_poll(struct turn_run *r)
{
	loop_timer_set(svc_loop(r->o->svc), &r->poll,
	    mono_add_ms(clock_mono(), SLOT_POLL_MS), slot_on_poll, r);
}

static void
slot_poll(struct turn_run *r, size_t arg)
{
	struct arena *a = arena_new(4096);
	struct turn_position at;
	struct turn_named orphan;
	enum rc rc;

	(void)arg;
	rc = turn_poll(
	    r->o->state, &r->slot, queue_head_orphan(r, &orphan), a, &at);
	if (rc == RC_OK) {
		r->ahead = at.ahead;
		if (r->ahead > 0)
			queue_head_see(r, &at.head);
		else
			queue_head_stop(r);
	}
	arena_free(a);
	if (rc == RC_OK)
		queue_slot_wait(r);
	else if (rc == RC_NOENT || rc == RC_INVALID)
		turn_feed_kind(r, TURN_LOST);
	else
		slot_set_poll(r);
}

static void
slot_on_poll(void *arg)
{
	turn_do(arg, slot_poll, 0);
}

void
queue_slot_poll_now(struct turn_run *r)
{
	if (r->turn.phase == TURN_QUEUED && r->poll.pos != 0)
		loop_timer_set(svc_loop(r->o->svc), &r->poll, clock_mono(),
		    slot_on_poll, r);
}

void
queue_slot_wait(struct turn_run *r)
{
	struct turn_event e = { .kind = TURN_POSITION, .ahead = r->ahead };

	if (r->ahead > 0)
		slot_set_poll(r);
	turn_feed(r, &e);
}

struct slot_entering {
	struct turn_run *r;
	struct turn_stored_input stored;
	struct turn_entered in;
	enum rc rc;
};

static enum rc
slot_put_input(struct slot_entering *s, struct turn_entry *e)
{
	enum rc rc = turn_load_input(s->r, &s->stored);

	e->input = &s->stored.input;
	e->messages = &s->stored.messages;
	e->events = &s->stored.events;
	e->acting = s->r->early.sent;
	return rc;
}

static void
slot_enter(void *arg)
{
	struct slot_entering *s = arg;
	struct turn_run *r = s->r;
	struct turn_entry e = { .trace_id = str_of(r->trace.trace_id) };
	struct buf digest = BUF_INIT(TURN_FINGERPRINT_MAX);

	/* A request whose digest is too long cannot be a repetition. */
	bool known = r->req->has_unasked;
	if (known)
		unasked_fingerprint(r, &digest);
	else
		known = request_digest(turn_chat(r), &digest);
	if (known && buf_rc(&digest) == RC_OK)
		e.fingerprint = buf_str(&digest);
	s->rc = r->given ? slot_put_input(s, &e) : RC_OK;
	if (s->rc == RC_OK)
		s->rc = turn_enter(r->o->state, &r->slot, &e, r->a, &s->in);
	/* The input may have been stored, and its start be announced. */
	r->announced = r->given && (s->in.begun || state_may_be_done(s->rc));
	buf_free(&digest);
}

/* The turn runs at once: entering it was a fence, too. */
static void
slot_begun(struct slot_entering *s, struct wall before)
{
	struct turn_run *r = s->r;

	r->begun = true;
	if (s->in.summary.n > 0)
		r->facts.summary = s->in.summary;
	r->left_open = s->in.pending;
	r->approval = s->in.approval;
	r->notes = s->in.notes;
	r->mind_link = s->in.mind_link;
	r->before_voice = s->in.inner_voice;
	r->acting = r->early.sent;
	r->fenced = before;
	reply_stream_started(r, &s->stored.events);
}

enum rc
queue_slot_enter(struct turn_run *r, struct str *first)
{
	struct slot_entering s = { .r = r };
	struct fiber_group g = { 0 };
	struct wall before = clock_wall();

	fiber_group_start(&g, slot_enter, &s);
	if (!r->given)
		turn_prefetch_start(r, &g);
	fiber_group_wait(&g);
	r->ahead = s.in.ahead;
	*first = s.in.first;
	r->input = s.in.input;
	/* It may have a slot, which must be released. */
	r->entered = s.rc == RC_OK || state_may_be_done(s.rc);
	if (s.rc == RC_OK && s.in.begun)
		slot_begun(&s, before);
	if (s.rc != RC_OK || r->ahead > 0)
		turn_load_forget(r);
	return s.rc;
}

/* ---- waking ---- */

static bool
slot_same_session(const struct turn_run *r, const struct turn_slot *p)
{
	return str_eq(r->slot.key.user_id, p->key.user_id) &&
	    str_eq(r->slot.key.session_id, p->key.session_id);
}

/* The session's first waiting turn in this process polls at once. */
static void
slot_wake_local(struct orch *o, const struct turn_slot *p)
{
	struct turn_run *r;

	TAILQ_FOREACH (r, &o->runs, link) {
		if (r->turn.phase != TURN_QUEUED || r->poll.pos == 0 ||
		    !slot_same_session(r, p))
			continue;
		queue_slot_poll_now(r);
		return;
	}
}

void
queue_slot_on_wake(void *arg, struct bus_msg *m)
{
	struct orch *o = arg;
	struct wire_turn_wake msg;
	struct wire_err err;

	arena_reset(o->scratch);
	enum rc rc = wire_decode(
	    &wire_turn_wake_desc, bus_msg_data(m), o->scratch, &msg, &err);
	if (rc == RC_OK)
		slot_wake_local(o,
		    &(struct turn_slot){
			.key = { msg.user_id, msg.session_id } });
	else
		log_warn("turn.wake", LOG_S("path", err.path),
		    LOG_S("why", err.why));
	bus_msg_free(m);
}

static void
slot_wake(struct orch *o, const struct turn_slot *p, struct str instance)
{
	struct wire_turn_wake msg = { .user_id = p->key.user_id,
		.session_id = p->key.session_id };
	char subject[PEER_SUBJECT_MAX];

	if (str_eq(instance, str_of(o->instance))) {
		slot_wake_local(o, p);
		return;
	}
	enum rc rc = peer_subject(
	    subject, WIRE_SUBJECT_FMT_TURN_WAKE, instance, (struct str){ 0 });
	buf_reset(&o->out);
	if (rc == RC_OK)
		rc = wire_encode(&wire_turn_wake_desc, &msg, &o->out, NULL);
	if (rc == RC_OK)
		rc = bus_publish(o->bus, subject, buf_str(&o->out), NULL);
	if (rc != RC_OK)
		log_debug("turn.wake_lost", LOG_RC(rc));
}

/* ---- releasing ---- */

static void
slot_release_free(struct orch *o, struct slot_release *l)
{
	TAILQ_REMOVE(&o->releases, l, link);
	o->n_releases--;
	o->release_bytes -= arena_used(l->a);
	arena_free(l->a);
	free(l);
}

void
queue_slot_free_releases(struct orch *o)
{
	struct slot_release *l;

	while ((l = TAILQ_FIRST(&o->releases)) != NULL)
		slot_release_free(o, l);
}

bool
queue_slot_is_deferred(const struct orch *o, struct str turn)
{
	const struct slot_release *l;

	TAILQ_FOREACH (l, &o->releases, link)
		if (str_eq(l->slot.turn_id, turn))
			return true;
	return false;
}

/* Copies the ending as far as the limits allow. */
static void
slot_copy_ending(
    struct orch *o, struct slot_release *l, const struct turn_ending *end)
{
	struct turn_ending *to = &l->end;

	if (o->release_bytes > SLOT_RELEASES_BYTES)
		return;
	to->forget = end->forget;
	to->if_begun = end->if_begun;
	to->reply = arena_str(l->a, end->reply);
	to->timeline = arena_str(l->a, end->timeline);
	to->events.json = l->events;
	for (size_t i = 0; i < end->events.n; i++) {
		struct str s = arena_str(l->a, end->events.json[i]);
		if (s.p != NULL)
			l->events[to->events.n++] = s;
	}
}

static void
slot_defer_release(struct turn_run *r)
{
	struct orch *o = r->o;

	if (o->n_releases == SLOT_RELEASES_MAX) {
		log_error(
		    "turn.slot_not_released", LOG_V("turn", r->slot.turn_id));
		return;
	}
	struct slot_release *l = mem_zalloc(sizeof(*l));
	l->a = arena_new(SLOT_RELEASE_BYTES);
	l->slot = (struct turn_slot){
		.key = { arena_str(l->a, r->slot.key.user_id),
		    arena_str(l->a, r->slot.key.session_id) },
		.instance = str_of(o->instance),
		.turn_id = arena_str(l->a, r->slot.turn_id),
	};
	slot_copy_ending(o, l, &r->ending);
	o->n_releases++;
	o->release_bytes += arena_used(l->a);
	TAILQ_INSERT_TAIL(&o->releases, l, link);
}

/*
 * Readers of a stream get all events of the end at once, those who follow the
 * session read the log.
 */
static void
slot_released(struct orch *o, const struct turn_slot *p,
    const struct turn_ending *end, bool stream)
{
	if (stream)
		reply_stream_publish(o, p, &end->events);
	else if (end->events.followed)
		reply_stream_notify(o, p, &end->events);
	if (end->next.p != NULL)
		slot_wake(o, p, end->next);
}

void
queue_slot_left(struct turn_run *r)
{
	r->entered = false;
	slot_released(r->o, &r->slot, &r->ending, turn_chat(r)->stream);
}

/* Whether the slot is released, or did not exist any more. */
static bool
slot_release_now(struct orch *o, const struct turn_slot *p,
    struct turn_ending *end, bool stream)
{
	struct arena *a = arena_new(4096);

	enum rc rc = turn_leave(o->state, p, end, a);
	/* To repeat it would find nothing to release. */
	if (rc == RC_UNREPLICATED)
		rc = RC_OK;
	if (rc == RC_OK)
		slot_released(o, p, end, stream);
	arena_free(a);
	return rc == RC_OK || rc == RC_NOENT || rc == RC_INVALID;
}

void
queue_slot_leave(struct turn_run *r)
{
	if (!r->entered)
		return;
	r->entered = false;
	if (!slot_release_now(r->o, &r->slot, &r->ending, turn_chat(r)->stream))
		slot_defer_release(r);
}

/* ---- liveness ---- */

/* The buckets in which this process has slots. */
struct slot_buckets {
	bool has[STATE_BUCKETS];
	unsigned bucket[STATE_BUCKETS];
	size_t n;
};

static void
slot_buckets_add(struct slot_buckets *b, const struct turn_slot *p)
{
	unsigned bucket;

	if (state_bucket(p->key.user_id, &bucket) != RC_OK || b->has[bucket])
		return;
	b->has[bucket] = true;
	b->bucket[b->n++] = bucket;
}

/* Entering a queue lasts until the second tick after it, at least. */
static void
slot_stay_alive(struct orch *o)
{
	struct slot_buckets *b = mem_zalloc(sizeof(*b));
	struct mono now = clock_mono();
	struct slot_release *l;
	struct turn_run *r;

	TAILQ_FOREACH (r, &o->runs, link)
		if (r->entered && mono_diff_ms(now, r->start) >= SLOT_TICK_MS)
			slot_buckets_add(b, &r->slot);
	TAILQ_FOREACH (l, &o->releases, link)
		slot_buckets_add(b, &l->slot);
	if (turn_alive(o->state, str_of(o->instance), b->bucket, b->n,
		TURN_ALIVE_MS) != RC_OK)
		log_debug("turn.alive");
	free(b);
}

static void
slot_tick(void *arg)
{
	struct orch *o = arg;
	struct slot_release *l, *next;

	slot_stay_alive(o);
	for (l = TAILQ_FIRST(&o->releases); l != NULL; l = next) {
		next = TAILQ_NEXT(l, link);
		if (!slot_release_now(o, &l->slot, &l->end, false))
			break;
		slot_release_free(o, l);
	}
	commit_times_flush(o->commit_times);
	loop_timer_set(svc_loop(o->svc), &o->tick,
	    mono_add_ms(clock_mono(), SLOT_TICK_MS), queue_slot_on_tick, o);
}

void
queue_slot_on_tick(void *arg)
{
	fiber_start(slot_tick, arg);
}
