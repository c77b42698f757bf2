/*
 * unasked: turns that nobody has asked for: an alarm, a push, a run that has
 * ended.
 *
 * No input is stored and no intents, emotion or tools are requested.  What is
 * to be said is sent to the body's skill speak, with the request's request_id:
 * whatever dies, the body executes it once, and the session has it as one
 * message, from when the body has confirmed it.  A turn that reached nobody
 * leaves nothing in the session.
 */
#ifndef LLM_ORCHESTRATOR_TURN_UNASKED_H
#define LLM_ORCHESTRATOR_TURN_UNASKED_H

#include <stdbool.h>

#include "core/arena.h"
#include "core/buf.h"
#include "core/rc.h"
#include "core/str.h"
#include "turn/turn_fsm.h"
#include "wire/msgs.h"

struct tool_catalog;
struct turn_run;

/* What a turn is to do, and the body that is to do it. */
struct unasked_plan {
	const struct wire_turn_start_request *req; /* with unasked */
	bool bound;                 /* the body is the user's and the soul's */
	bool present;               /* it is connected */
	struct tool_catalog *tools; /* its skills; NULL: not bound */
};

/*
 * unasked_calls(p, a, calls, n):
 * The calls to make, of which an outcome but TURN_UNSENT says why not.  Pure;
 * RC_TOOBIG if a is full.
 */
enum rc unasked_calls(const struct unasked_plan *p, struct arena *a,
    struct turn_call **calls, size_t *n) RC_CHECK;

/*
 * unasked_outcome(t, detail, a):
 * What has become of an ended one; *detail: why not, absent if there is nothing
 * to say.  Pure.
 */
enum wire_turn_reply_unasked_outcome unasked_outcome(
    const struct turn *t, struct str *detail, struct arena *a);

/* unasked_is_confirmed(t): Whether all of its calls are.  Pure. */
bool unasked_is_confirmed(const struct turn *t);

/*
 * unasked_error(req): What is wrong with a request; status 0: nothing, or it is
 * of another kind.
 * unasked_fingerprint(r, b): Append what attempts have in common.
 */
struct turn_error unasked_error(const struct wire_turn_start_request *req);
void unasked_fingerprint(const struct turn_run *r, struct buf *b);

/*
 * unasked_ended_before(r, first, out):
 * The turn first has the same request: whether *out is the reply that it ended
 * with.  RC_NOENT: it was lost, and r has to do what it did not.
 */
enum rc unasked_ended_before(struct turn_run *r, struct str first, bool *ended,
    struct wire_turn_reply *out) RC_CHECK;

/*
 * unasked_put_reply(r, rep): Add what has become of r to its final reply.
 * unasked_compose(r): Set r->reply to what it has said; empty: nothing.
 * unasked_announce(r): Make the session known, log the start of the turn.
 * RC_NOENT: the soul does not exist any more.
 */
void unasked_put_reply(const struct turn_run *r, struct wire_turn_reply *rep);
enum rc unasked_compose(struct turn_run *r) RC_CHECK;
enum rc unasked_announce(struct turn_run *r) RC_CHECK;

#endif /* !LLM_ORCHESTRATOR_TURN_UNASKED_H */
