/*
 * run: a turn under way: its state machine, and all that it waits for.
 *
 * What happens is fed to the machine, and what that wants done is done in its
 * order.  Before an action with an effect outside the turn's place is asked
 * for: an evicted turn stops.  While Redis is away such actions wait.
 */
#ifndef LLM_ORCHESTRATOR_RUN_H
#define LLM_ORCHESTRATOR_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

#include "core/arena.h"
#include "core/buf.h"
#include "core/clock.h"
#include "core/loop.h"
#include "core/rc.h"
#include "core/str.h"
#include "core/trace.h"
#include "history.h"
#include "late.h"
#include "llm/llm.h"
#include "reply.h"
#include "state/turn.h"
#include "stream.h"
#include "timeline.h"
#include "turn.h"
#include "wire/msgs.h"

struct ask;
struct bus_sub;
struct invoke;
struct orch;
struct svc_call;
struct tools;

TAILQ_HEAD(ask_list, ask);
TAILQ_HEAD(invoke_list, invoke);

/* Actions of a turn that wait to be done. */
#define RUN_TODO_MAX 64

/* What was read when the turn began. */
struct run_facts {
	struct str said; /* by the user */
	struct str soul_id;
	struct str broker; /* of the body; absent: it was never there */
	bool known, present;
	struct tools *tools;
	struct str summary;    /* absent: none */
	struct late_list late; /* what earlier turns left open */
	bool had_late;
	struct buf filter;     /* the request to intent-filter; empty: none */
	struct wall filter_by; /* when its answer is waited for no more */
};

struct run {
	TAILQ_ENTRY(run) link;
	struct orch *o;
	struct svc_call *c;
	const struct wire_turn_start_request *req;
	struct arena *a; /* as long as the turn */
	struct trace trace;
	struct turn turn;
	struct turn_slot place;
	struct str input;   /* the turn that stored its input; absent: none */
	struct wall fenced; /* before it was last known to be head */
	int64_t ahead;
	bool entered;  /* it has a place, or may have one */
	bool begun;    /* its beginning was told, or may have been */
	bool engine;   /* what it heard last is the model's */
	bool in_doubt; /* an append may have been done */
	struct wall started;
	struct run_facts facts;
	bool felt;
	struct wire_emotion_observe_reply feeling;
	const struct wire_intent_filter_response *intents;
	struct str reply;
	struct reply_skills skills;
	struct history_stored outcome; /* what is stored at the end */
	/* What it tells of itself. */
	struct stream stream;
	struct timeline timeline;
	struct turn_ending ending; /* its reply absent: not made yet */
	struct str told[TURN_EVENTS_MAX];
	/* What is under way. */
	struct turn_action todo[RUN_TODO_MAX];
	size_t n_todo;
	bool pumping, ended;
	struct mono patience; /* until then the action in front waits; 0 */
	struct ask_list asks;
	struct invoke_list invokes;
	struct llm_call *llm;
	enum llm_reason no_answer; /* of the last call of the model */
	struct bus_sub *asked;     /* how far it is, and to stop */
	struct loop_timer beat, poll, expire, again;
};

/*
 * run_new(o, c):
 * A turn for a turn_start_request; c is its to end.  It does not begin before
 * it is fed.
 */
struct run *run_new(struct orch *o, struct svc_call *c);

/*
 * run_feed(r, e):
 * Tell the turn what happened and do what it wants.  r may be freed when it
 * returns.
 */
void run_feed(struct run *r, const struct turn_event *e);

/* run_feed_kind(r, kind): An event without anything else. */
void run_feed_kind(struct run *r, enum turn_event_kind kind);

/* run_free(r): It has ended, and its call too. */
void run_free(struct run *r);

/* run_trace(r): The trace of the turn. */
const struct trace *run_trace(const struct run *r);

/*
 * run_by(r, ms):
 * The moment ms from now, or when the turn runs out of time if that is sooner.
 */
struct wall run_by(const struct run *r, int64_t ms);

/* run_chat(r): The chat request. */
const struct wire_chat_request *run_chat(const struct run *r);

#endif /* !LLM_ORCHESTRATOR_RUN_H */
