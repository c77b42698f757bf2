/*
 * turn_fsm: one chat turn as a state machine, from its entry into the session's
 * queue to its reply.
 *
 * Events go in, actions come out; the runner (turn_runner.h) executes the
 * actions.  Two kinds of work must not be confused: a turn_action is what the
 * machine asks the runner to do next; a turn_call is what the turn does for the
 * user, an action of a recognised intent or a tool call of the model.
 *
 * Pure: no clock, no bus, no Redis, no allocation.  A struct turn may be
 * copied; the strings it refers to must live as long as the turn.
 *
 * Guarantees:
 *  - exactly one of TURN_DO_REPLY, TURN_DO_FAIL and TURN_DO_CANCELED is
 * emitted, and nothing after it;
 *  - decision.action alone selects the route;
 *  - while the gate is not known to be open, only safety skills reach the body;
 *  - a call is sent at most once, and is TURN_OK only if it was confirmed;
 *  - the calls of one completion are sent in parallel, calls of the same skill
 *    in order;
 *  - a provider's tool that needs an approval is not sent in the turn that
 *    calls it; the turn asks for one, and a later turn, which has the reply,
 *    sends it;
 *  - providers are requested for their tools only if the model is called, with
 *    tools;
 *  - the model sees what was forgotten before it has the last word;
 *  - an unasked turn makes the calls that it was loaded with, and no other; it
 *    calls the model only to phrase its text, and goes on without it;
 *  - the reply waits until the soul's state is saved, nothing else does.
 */
#ifndef LLM_ORCHESTRATOR_TURN_FSM_H
#define LLM_ORCHESTRATOR_TURN_FSM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/str.h"
#include "wire/msgs.h"

#define TURN_CALLS_MAX       64 /* calls of one turn */
#define TURN_ROUND_CALLS_MAX 16 /* calls of one completion */
#define TURN_ROUNDS_MAX      8  /* completions with calls */

/* ---- calls ---- */

enum turn_call_kind {
	TURN_DIRECT,   /* a recognised intent, sent as intent_action */
	TURN_INVOKE,   /* a skill of the body, called by the model */
	TURN_RECALL,   /* a memory search */
	TURN_FORGET,   /* permanent removal of a memory */
	TURN_PROVIDED, /* a tool of a provider */
	TURN_ALARM,    /* a recognised intent, sent to alarm-clock */
	TURN_MORE      /* a search for more of these */
};

enum turn_outcome {
	TURN_UNSENT,
	TURN_SENT, /* no result yet */
	TURN_OK,   /* confirmed */
	/* All others are failures. */
	TURN_ERROR,         /* the executor reports a failure; see why */
	TURN_NOT_CONFIRMED, /* sent, no result in time */
	TURN_OFFLINE,       /* the body is not connected */
	TURN_NO_SUBSCRIBER, /* the body does not subscribe to the command */
	TURN_NO_TIME,       /* the deadline passed before it was sent */
	TURN_BLOCKED,       /* by the gate */
	TURN_GATE_UNKNOWN,  /* emotion-engine did not reply */
	TURN_INVALID,       /* invalid arguments; see why */
	TURN_UNKNOWN,       /* no such skill */
	TURN_REJECTED,      /* intent-filter rejected the intent */
	TURN_DEFERRED,      /* the memory search had to come first */
	TURN_NO_MATCH,      /* no memory matches; nothing was forgotten */
	TURN_SKIPPED,  /* an earlier call of the same skill is not confirmed */
	TURN_CANCELED, /* the turn was canceled before it was sent */
	TURN_UNAPPROVED, /* it waits for the user's approval */
	TURN_DENIED,     /* the user did not approve it */
	TURN_OUTCOMES
};

struct turn_provided;

struct turn_call {
	enum turn_call_kind kind;
	enum turn_outcome outcome;
	bool safety;         /* exempt from the gate */
	bool needs_approval; /* not without the user's approval */
	bool speech;         /* its argument is the turn's text */
	size_t round;        /* number of the completion; 0: an intent's */
	size_t intent;       /* of an intent: index in intent-filter's reply */
	struct str skill;    /* the body's name of the skill */
	struct str label;    /* name shown to people */
	struct str tool;     /* the model's name of it; absent: none */
	struct str call_id;  /* of the model's tool call */
	struct str args;     /* JSON object */
	struct str extra;    /* provider-specific JSON; absent: none */
	/* Result, JSON; of TURN_ALARM a sentence, of any outcome; absent: none.
	 */
	struct str output;
	struct str why;        /* failure text; absent: outcome says it all */
	struct str request_id; /* of an invoke that was sent */
	struct str image, image_type;         /* of a result; absent: none */
	const struct turn_provided *provided; /* of TURN_PROVIDED */
};

/* A recognised intent that lacks parameters. */
struct turn_question {
	struct str label;   /* name of the intent shown to people */
	struct str missing; /* labels of the missing parameters, joined */
	struct str text;    /* the question itself; absent: made of these */
};

/* What intent-filter's reply means for the turn. */
struct turn_route {
	enum wire_decision_action action;
	const struct turn_call *calls; /* TURN_DIRECT, TURN_ALARM */
	size_t n_calls;
	const struct turn_question *questions;
	size_t n_questions;
	struct str rest; /* text left for the model; empty: none */
};

/* ---- events ---- */

/* Error of a turn, as reported to its caller; status 0: no error. */
struct turn_error {
	int status; /* HTTP */
	const char *code;
	const char *text;
};

enum turn_event_kind {
	TURN_POSITION, /* ahead: turns before this one in the queue */
	/* error, or: filter, tools, text (turn.earlier), calls: the one that
	 * the user has been asked about, TURN_UNSENT or TURN_DENIED */
	TURN_LOADED,
	TURN_EMOTION_REPLY, /* known, mode, unsaved */
	TURN_EMOTION_SAVED, /* or it could not be; after unsaved */
	TURN_INTENT_REPLY,  /* known, route */
	TURN_MEMORY_REPLY,  /* known: memories can be searched */
	TURN_TOOLS_REPLY,   /* known: some tools are not shown */
	TURN_INTENT_RESULT, /* outcome, why: of all direct calls sent */
	TURN_COMPLETION,    /* error, or: text, calls */
	TURN_CALL_RESULT,   /* call, outcome, output, why */
	TURN_COMMITTED,     /* error, or none */
	TURN_LOST,          /* error, or: evicted from the queue; unsent */
	TURN_CANCEL,        /* the caller cancels the turn */
	TURN_EXPIRED        /* the deadline is near; the second time: passed */
};

struct turn_event {
	enum turn_event_kind kind;
	struct turn_error error;
	int64_t ahead;
	bool filter; /* the body has an intent catalog */
	bool tools;  /* a provider of tools is present */
	/* Of TURN_LOADED: nobody asked for the turn; text: what it is to say;
	 * phrased: by the model; calls: what it is to do. */
	bool unasked, phrased;
	bool known;
	enum wire_exec_mode mode;
	/* The soul was not saved yet: the turn's record says when it is, or a
	 * second reply, if the record has been written before. */
	bool unsaved;
	bool saved;  /* of TURN_COMMITTED: the record says so */
	bool unsent; /* of TURN_LOST: what is TURN_SENT was not */
	const struct turn_route *route;
	struct str text;
	const struct turn_call *calls;
	size_t n_calls;
	size_t call; /* index in turn.calls */
	enum turn_outcome outcome;
	struct str output, why;
	struct str image, image_type; /* as in turn_call */
};

/* ---- actions ---- */

enum turn_action_kind {
	TURN_DO_LOAD,             /* read the records, store the input */
	TURN_DO_OBSERVE_EMOTION,  /* emotion of user and soul, the gate */
	TURN_DO_CHECK_GATE,       /* the gate alone */
	TURN_DO_FILTER_INTENTS,   /* intents of the user's text */
	TURN_DO_CHECK_MEMORY,     /* whether memories can be searched */
	TURN_DO_LIST_TOOLS,       /* tools of the providers */
	TURN_DO_SEND_INTENTS,     /* send the direct calls that are TURN_SENT */
	TURN_DO_CALL_ALARM,       /* call */
	TURN_DO_CALL_MODEL,       /* offer, may_call */
	TURN_DO_INVOKE,           /* call */
	TURN_DO_SPEAK,            /* call: with the turn's text */
	TURN_DO_FORGET,           /* call */
	TURN_DO_CALL_TOOL,        /* call: a provider's tool that acts */
	TURN_DO_READ_TOOL,        /* call: one that only reads */
	TURN_DO_FIND_TOOLS,       /* call: more tools */
	TURN_DO_REPORT_SEARCHING, /* status to the body */
	TURN_DO_RECALL,           /* call */
	TURN_DO_REPORT_FOUND,     /* status to the body */
	TURN_DO_REPORT_FAILED,    /* status to the body: the search failed */
	TURN_DO_COMMIT,           /* store the reply and the results */
	/* Final ones. */
	TURN_DO_REPLY,
	TURN_DO_FAIL, /* error */
	TURN_DO_CANCELED
};
#define TURN_DO_N (TURN_DO_CANCELED + 1)

/* Tools offered to the model; each value includes those before it. */
enum turn_offer {
	TURN_OFFER_NONE,
	TURN_OFFER_SKILLS,
	TURN_OFFER_FORGET, /* forget_memory */
	TURN_OFFER_ALL     /* recall_memory */
};

struct turn_action {
	enum turn_action_kind kind;
	size_t call; /* index in turn.calls */
	enum turn_offer offer;
	bool may_call;
	struct turn_error error;
};

#define TURN_ACTIONS_MAX (TURN_ROUND_CALLS_MAX + 4)

struct turn_actions {
	struct turn_action list[TURN_ACTIONS_MAX];
	size_t n;
};

/* ---- the turn ---- */

enum turn_phase {
	TURN_QUEUED,
	TURN_LOADING,
	TURN_PERCEIVING, /* emotion, intents, memory are requested */
	TURN_ACTING,     /* direct calls are being delivered */
	TURN_COMPLETING, /* the model is being called */
	TURN_INVOKING,
	TURN_SEARCHING,
	TURN_COMMITTING,
	TURN_ENDED
};

struct turn {
	enum turn_phase phase;
	size_t max_rounds;
	unsigned awaited;    /* private: perception replies outstanding */
	bool model_deferred; /* private: until memory has replied */
	bool emotion_known;  /* mode is valid */
	enum wire_exec_mode mode;
	bool unsaved;   /* the reply waits for TURN_EMOTION_SAVED */
	bool committed; /* it is stored: it can only be replied */
	bool memory;    /* memories can be searched */
	bool providers; /* private: some are present */
	bool listed;    /* private: their tools are or were requested */
	bool more;      /* some tools are not shown */
	bool replies;   /* private: to a question about user_reply */
	bool unasked;   /* nobody asked for it; text: what it is to say */
	bool phrased;   /* private: text is to be phrased by the model */
	struct turn_call user_reply;
	bool routed; /* route is valid */
	struct turn_route route;
	size_t round; /* completions with calls so far */
	/* Text beside the calls of each; the first search for memories, and
	 * that for tools, add a round. */
	struct str round_text[TURN_ROUNDS_MAX + 2];
	bool offered;      /* private: the model may call tools */
	bool corrected;    /* private: invalid arguments were returned before */
	bool recalled;     /* memories were searched */
	bool searched;     /* private: more tools were */
	bool overflow;     /* some calls were left out */
	bool has_text;     /* text is the model's final text; may be empty */
	bool model_failed; /* after something was done */
	struct str text;
	struct str earlier;  /* results of earlier turns to report; or empty */
	struct str question; /* about turn_unapproved(), set before the reply */
	size_t n_calls;
	struct turn_call calls[TURN_CALLS_MAX];
};

/*
 * turn_init(t, max_rounds):
 * A queued turn; max_rounds is 1 to TURN_ROUNDS_MAX.
 */
void turn_init(struct turn *t, size_t max_rounds);

/*
 * turn_step(t, e, out):
 * Apply e; *out gets the actions to execute now, in order, possibly none.  An
 * event that the phase does not expect is ignored.
 */
void turn_step(
    struct turn *t, const struct turn_event *e, struct turn_actions *out);

/*
 * turn_unapproved(t): The call that the turn asks an approval for, or NULL.
 */
const struct turn_call *turn_unapproved(const struct turn *t);

/*
 * turn_may_search(t):
 * Whether the model, which is about to be called, may search for more tools: it
 * must be able to call them in this turn.
 */
bool turn_may_search(const struct turn *t);

/* turn_phase_name(t): The phase, as turn_reply.stage has it. */
const char *turn_phase_name(const struct turn *t);

/*
 * turn_call_failed(t, i):
 * Whether call i is a failure to report: neither confirmed nor retried in a
 * later round.
 */
bool turn_call_failed(const struct turn *t, size_t i);

#endif /* !LLM_ORCHESTRATOR_TURN_FSM_H */
