/*
 * turn_runner: a turn under way: its state machine, what it has read, and what
 * it is waiting for.
 *
 * Events are fed to the machine; the actions it emits are executed in order by
 * the handlers of a table.  An action with an effect outside the process is
 * preceded by a check of the session's queue, so that an evicted turn stops.
 * While Redis is down such actions are retried.  Loop thread only.
 *
 * Actions and jobs of a turn are executed in fibers, one at a time: events that
 * are fed while one waits for Redis are applied at once, and what results from
 * them is executed after it.
 */
#ifndef LLM_ORCHESTRATOR_TURN_RUNNER_H
#define LLM_ORCHESTRATOR_TURN_RUNNER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

#include "core/arena.h"
#include "core/buf.h"
#include "core/clock.h"
#include "core/id.h"
#include "core/loop.h"
#include "core/rc.h"
#include "core/str.h"
#include "core/trace.h"
#include "llm/llm.h"
#include "model/model.h"
#include "reply/reply_compose.h"
#include "reply/spoken_text.h"
#include "state/turn.h"
#include "tools/provider_table.h"
#include "tools/tool_set.h"
#include "turn/turn_detail.h"
#include "turn/turn_fsm.h"
#include "wire/msgs.h"

struct invoke;
struct orch;
struct peer_request;
struct provided_call;
struct reply_stream;
struct svc_call;
struct tool_catalog;
struct turn_run;
struct turn_timeline;
struct unconfirmed;

TAILQ_HEAD(peer_request_list, peer_request);
TAILQ_HEAD(invoke_list, invoke);
TAILQ_HEAD(provided_call_list, provided_call);

/* Actions of a turn that wait to be executed. */
#define TURN_PENDING_MAX 64
/* Jobs: one for each call of the model, and a few more. */
#define TURN_JOBS_MAX 64

/* What an action needs before it is executed. */
enum turn_fence {
	TURN_FENCE_NONE,
	TURN_FENCE_HEAD, /* the turn is head of the queue */
	TURN_FENCE_BODY  /* the same, recorded: a body may act from now on */
};

/* Work of a turn that may wait for Redis, besides its actions. */
struct turn_job {
	void (*fn)(struct turn_run *r, size_t arg);
	size_t arg;
};

struct turn_prefetch;

/* The request to intent-filter that was sent before the turn began. */
struct early_filter {
	bool sent;
	bool replied; /* rc and reply are valid */
	bool wanted;  /* the turn waits for the reply */
	enum rc rc;
	const void *reply; /* as peer_reply_fn has it */
};

struct turn_handler {
	enum rc (*fn)(struct turn_run *r, const struct turn_action *a);
	enum turn_fence fence;
	enum turn_event_kind on_outage; /* fed if Redis stays down */
};

/* Handlers of all actions, and what else a runner calls. */
struct turn_run_hooks {
	struct turn_handler handler[TURN_DO_N];
	void (*before_action)(struct turn_run *r, const struct turn_action *a);
	void (*before_event)(struct turn_run *r, const struct turn_event *e);
	void (*release)(struct turn_run *r); /* frees what handlers attached */
};

/* Read when the turn began. */
struct turn_facts {
	struct str user_text;
	struct str soul_id;
	struct str broker; /* of the body; absent: it never connected */
	struct str zone;   /* of the user; absent: the configured one */
	bool known, present;
	struct tool_catalog *tools;
	struct str summary;              /* absent: none */
	struct unconfirmed *unconfirmed; /* calls of earlier turns; or NULL */
	struct str approval;  /* a call that waits for one; absent: none */
	bool had_unconfirmed; /* the session stores some */
	struct session_notes notes; /* of its runs, which this turn reports */
	struct str mind_link;   /* its soul's suggestion, JSON; absent: none */
	struct str inner_voice; /* of the turn before; absent: none */
	struct buf filter;      /* the request to intent-filter; empty: none */
	struct wall filter_deadline;
};

/* The turn that a waiting one waits for (queue_head.h). */
struct queue_head {
	char instance[ID_MAX + 1], turn_id[ID_MAX + 1]; /* "": not known */
	struct mono checked; /* seen first, or its process was queried last */
	uint64_t request;    /* to its process; 0: none */
	bool orphan;         /* its process does not run it */
};

struct turn_run {
	TAILQ_ENTRY(turn_run) link;
	struct orch *o;
	const struct turn_run_hooks *hooks;
	struct svc_call *c;
	const struct wire_turn_start_request *req;
	struct arena *a;       /* lives as long as the turn */
	struct arena *scratch; /* of the job or action that is executed */
	struct trace trace;
	struct turn turn;
	struct turn_slot slot;
	struct str input;   /* turn that stored the same input; absent: none */
	struct str lost;    /* an attempt before that has no end; or absent */
	struct wall fenced; /* taken before the last successful fence */
	int64_t ahead;
	struct queue_head head; /* while it waits */
	bool entered;           /* it has a queue slot, or may have one */
	bool given;             /* the facts are those of the request */
	bool begun;             /* its input was stored with its slot */
	/* If begun: by turns before; absent: nothing, none. */
	struct str left_open, approval, before_voice;
	struct session_notes notes;
	struct str mind_link;
	bool acting;           /* recorded: a body may act */
	bool announced;        /* its start event was appended, or may be */
	bool model_last;       /* the last event was the model's */
	bool append_uncertain; /* an append timed out */
	struct wall started;
	struct mono start;
	struct turn_facts facts;
	struct turn_prefetch *prefetch; /* see turn_steps.h; NULL: none */
	struct early_filter early;
	bool observed;   /* the first reply of emotion-engine has come */
	enum rc save_rc; /* of the second: why the soul may not be saved */
	bool emotion_known;
	struct wire_emotion_observe_reply emotion;
	const struct wire_intent_filter_response *intents;
	struct str reply;
	struct suggestion suggestion; /* in the call of the model */
	struct spoken_rule spoken;    /* what its reply must not quote */
	/* What the model has said to itself, and how it names the emotion of
	 * its reply; empty: nothing, not at all. */
	struct str inner_voice, emotion_name;
	struct reply_skills skills;
	struct history_stored outcome;  /* messages to store at the end */
	struct turn_events start_event; /* logged, but not published yet */
	struct reply_stream *stream;
	struct turn_timeline *timeline;
	struct turn_ending ending; /* its reply absent: not made yet */
	struct str first_event, final_events[TURN_EVENTS_MAX];
	struct turn_action pending[TURN_PENDING_MAX];
	size_t n_pending;
	struct turn_job jobs[TURN_JOBS_MAX];
	size_t n_jobs;
	bool pumping, ended;
	struct mono retry_until; /* for the first pending action; 0: no retry */
	struct peer_request_list requests;
	struct invoke_list invokes;
	struct provided_call_list provided;
	struct tool_set tools;
	uint64_t list_marks[PROVIDERS_MAX]; /* when lists were requested */
	size_t lists_open;                  /* lists without a reply */
	bool lists_missing;
	size_t search_call, found_before; /* of the search for more tools */
	struct str search_query;
	/* The call that the turn asks about; its prompt absent: none. */
	struct wire_session_approval question;
	struct llm_call *llm;
	enum llm_reason llm_reason; /* of the last call of the model */
	struct turn_completion completions[TURN_DETAIL_COMPLETIONS_MAX];
	size_t n_completions;
	struct loop_timer progress, poll, expire, retry;
};

/* turn_is_committing(r): Whether its commit is being executed, or done. */
bool turn_is_committing(const struct turn_run *r);

/* turn_run_stop_timers(r): Its call is about to end. */
void turn_run_stop_timers(struct turn_run *r);

/*
 * turn_run_new(o, c, hooks):
 * A turn for a turn_start_request; it owns c.  Nothing happens before the first
 * event is fed.
 */
struct turn_run *turn_run_new(
    struct orch *o, struct svc_call *c, const struct turn_run_hooks *hooks);

/* turn_run_free(r): Free a turn whose call has ended. */
void turn_run_free(struct turn_run *r);

/*
 * turn_feed(r, e):         Apply an event and execute the resulting actions.  r
 *                          may be freed when it returns.
 * turn_feed_kind(r, kind): An event without data.
 */
void turn_feed(struct turn_run *r, const struct turn_event *e);
void turn_feed_kind(struct turn_run *r, enum turn_event_kind kind);

/*
 * turn_do(r, fn, arg):
 * Call fn(r, arg) in a fiber, as soon as nothing else of the turn is executed
 * and before its next action; not after its end.  No-op if that job waits
 * already.  r may be freed when it returns.
 */
void turn_do(
    struct turn_run *r, void (*fn)(struct turn_run *r, size_t arg), size_t arg);

/*
 * turn_own(r), turn_disown(r):
 * Around work that is not done with turn_do(): what is fed meanwhile waits for
 * turn_disown(), after which r may be freed.  turn_own() returns false if
 * something of the turn is being executed.
 */
bool turn_own(struct turn_run *r) RC_CHECK;
void turn_disown(struct turn_run *r);

/*
 * turn_deadline(r, ms):
 * ms from now, or the turn's deadline less the time to end it if that is
 * sooner.
 */
struct wall turn_deadline(const struct turn_run *r, int64_t ms);

/*
 * turn_unreplicated(r):
 * The error of a turn of whose writes too few replicas have the last: says
 * whether something was done, and what to do.
 */
struct turn_error turn_unreplicated(const struct turn_run *r);

/* turn_chat(r): The chat request. */
const struct wire_chat_request *turn_chat(const struct turn_run *r);

/* turn_now(dst): The time as RFC 3339, UTC. */
struct str turn_now(char dst[WALL_FORMAT_MAX]);

#endif /* !LLM_ORCHESTRATOR_TURN_RUNNER_H */
