/*
 * turn_steps: what the steps of a turn (start, queue slot, load, commit) offer
 * each other.
 */
#ifndef LLM_ORCHESTRATOR_TURN_STEPS_H
#define LLM_ORCHESTRATOR_TURN_STEPS_H

#include <stdbool.h>

#include "core/buf.h"
#include "core/rc.h"
#include "core/str.h"
#include "state/turn.h"
#include "wire/msgs.h"

struct bus_msg;
struct orch;
struct turn;
struct turn_error;
struct turn_run;
struct turn_run_hooks;

/* The action table (turn_actions.c). */
extern const struct turn_run_hooks turn_action_hooks;

/*
 * turn_subscribe_control(o): Serve cancel and show of this process's turns.
 */
enum rc turn_subscribe_control(struct orch *o) RC_CHECK;

/* Why a turn does not run: its body has no soul, or one that was deleted. */
#define TURN_NO_SOUL "soul selection is required before chat"

/* ---- queue slot ---- */

/*
 * request_digest(chat, b):
 * Append what two requests of one session have in common exactly if one repeats
 * the other: the body, and type, input_id, ts and text of each input.  False,
 * and nothing is appended, if no text of the user has an id or a timestamp: an
 * identical request is then not a repetition.  Pure.
 */
bool request_digest(const struct wire_chat_request *chat, struct buf *b);

/*
 * queue_slot_enter(r, first):
 * Enter the session's queue; RC_OK: r->ahead turns are before it.  Otherwise as
 * the state library reports it, which sets *first; r then has no slot.
 */
enum rc queue_slot_enter(struct turn_run *r, struct str *first) RC_CHECK;

/*
 * queue_slot_wait(r):
 * Feed the turn its position, and poll until it is head.  r may be freed when
 * it returns.
 */
void queue_slot_wait(struct turn_run *r);

/*
 * queue_slot_leave(r): Release the slot with r->ending and wake the next turn.
 *                      While Redis is down this is deferred.
 * queue_slot_left(r):  r->ending has been written with the slot released:
 *                      publish its events and wake the next turn.
 */
void queue_slot_leave(struct turn_run *r);
void queue_slot_left(struct turn_run *r);

/*
 * queue_slot_poll_now(r): Where r is in the queue, if it waits for its next
 *                         poll.
 * queue_slot_is_deferred(o, turn): Its slot is still to be released.
 */
void queue_slot_poll_now(struct turn_run *r);
bool queue_slot_is_deferred(const struct orch *o, struct str turn);

/*
 * queue_slot_on_wake(o, m):        Another process has ended a turn; one of
 * ours may be next. queue_slot_on_tick(o):           Every second: the
 * process's liveness key, deferred releases, commit times.  Schedules itself.
 * queue_slot_free_releases(o):     Drop the deferred releases.
 */
void queue_slot_on_wake(void *o, struct bus_msg *m);
void queue_slot_on_tick(void *o);
void queue_slot_free_releases(struct orch *o);

/* ---- load and commit ---- */

struct fiber_group;

/*
 * turn_load_given(r):
 * Take the facts from the record of the body that the request carries, if it
 * has one (r->given), and request the intents, which has no effect.  Returns
 * why the turn must not begin; status 0: it may.
 *
 * turn_load_forget(r): The turn has to wait: what was read before it runs does
 *                      not count.
 */
struct turn_error turn_load_given(struct turn_run *r);
void turn_load_forget(struct turn_run *r);

/* What is stored of a request, taken from r->scratch. */
struct turn_stored_input {
	struct turn_input input;
	struct session_new messages;
	struct turn_events events;
};

/* turn_load_input(r, out): The facts must be known. */
enum rc turn_load_input(
    struct turn_run *r, struct turn_stored_input *out) RC_CHECK;

/*
 * turn_prefetch_start(r, g):
 * Read the records of turn_load() in fibers of g, so that they are requested
 * together with the slot in the queue, which must have been requested before:
 * only then are they as the turns before this one have left them.
 * turn_prefetch_drop(r): What was read is not up to date, or was used.
 */
void turn_prefetch_start(struct turn_run *r, struct fiber_group *g);
void turn_prefetch_drop(struct turn_run *r);

/*
 * turn_load_catalog(r):
 * Write the request to intent-filter anew, with the whole catalog; false if
 * there is none any more, or it cannot be read.
 */
bool turn_load_catalog(struct turn_run *r);

/*
 * turn_load_was_stored(r, last, is):
 * Whether an append whose result was not certain was done after all, and is
 * replicated: the session's last message is of this turn and role.
 */
enum rc turn_load_was_stored(struct turn_run *r,
    enum wire_session_messages_items_role last, bool *is) RC_CHECK;

/* turn_has_effect(t): Whether a call of t may have been executed. */
bool turn_has_effect(const struct turn *t);

/*
 * turn_end_repeated(r, first):
 * End a request that repeats the turn first; r never had a slot, and is freed.
 */
void turn_end_repeated(struct turn_run *r, struct str first);

/*
 * turn_end_as_before(r, rep):
 * End a request with the reply of the turn that it repeats; otherwise the same.
 */
void turn_end_as_before(struct turn_run *r, const struct wire_turn_reply *rep);

#endif /* !LLM_ORCHESTRATOR_TURN_STEPS_H */
