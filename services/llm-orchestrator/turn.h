/*
 * turn: one chat turn, from its place in the session's queue to its reply, as a
 * state machine: what happened goes in, what is to be done comes out.
 *
 * Pure: no clock, no bus, no Redis, no memory of its own.  A struct turn may be
 * copied; the texts it points to live as long as the turn.
 *
 * The promises:
 *  - exactly one of TURN_DO_REPLY, TURN_DO_FAIL, TURN_DO_CANCELED comes out,
 *    and nothing after it;
 *  - decision.action alone routes;
 *  - while the gate is not known to be open nothing is sent to the body but
 * what keeps it safe;
 *  - a deed is sent once, and is TURN_OK only if that was confirmed;
 *  - calls of one answer go out together, those of one skill in their order;
 *  - the model sees what was forgotten before it has the last word.
 */
#ifndef LLM_ORCHESTRATOR_TURN_H
#define LLM_ORCHESTRATOR_TURN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/str.h"
#include "wire/msgs.h"

/* Deeds of one turn, calls of one answer, answers with calls. */
#define TURN_DEEDS_MAX  64
#define TURN_CALLS_MAX  16
#define TURN_ROUNDS_MAX 8

/* ---- what is to be carried out ----------------------------------------- */

enum turn_kind {
	TURN_DIRECT, /* a recognised intent, by intent_action */
	TURN_INVOKE, /* a skill the model called */
	TURN_RECALL, /* a search in the memories */
	TURN_FORGET  /* a memory to be forgotten for ever */
};

enum turn_outcome {
	TURN_OPEN, /* not sent yet */
	TURN_SENT, /* nothing known yet */
	TURN_OK,   /* confirmed */
	/* All others are failures. */
	TURN_ERROR,         /* who carried it out says so; why tells */
	TURN_NOT_CONFIRMED, /* it was sent, and nobody answered */
	TURN_OFFLINE,       /* the body is not there */
	TURN_UNHEARD,       /* the body does not listen */
	TURN_LATE,          /* there was no time left to send it */
	TURN_BLOCKED,       /* by the gate */
	TURN_UNGATED,       /* nobody could say what the gate says */
	TURN_INVALID,       /* its arguments are wrong; why tells */
	TURN_UNKNOWN,       /* there is no such skill */
	TURN_REJECTED,      /* the intent is not to be executed */
	TURN_DEFERRED,      /* memories had to be searched first */
	TURN_NOTHING,       /* no memory fits: nothing was forgotten */
	TURN_SKIPPED, /* one of the same skill before it is not confirmed */
	TURN_STOPPED, /* the turn was canceled before it was sent */
	TURN_OUTCOMES
};

struct turn_deed {
	enum turn_kind kind;
	enum turn_outcome outcome;
	bool safety;   /* the gate does not hold it back */
	size_t round;  /* number of the answer that called it; 0: direct */
	size_t intent; /* of a direct one: its place in the filter's answer */
	struct str skill;   /* the body's name of the skill */
	struct str label;   /* a word for people */
	struct str tool;    /* the model's name of it; absent: it has none */
	struct str call_id; /* of the model's call */
	struct str args;    /* JSON object */
	struct str extra;   /* the provider's own, JSON; absent: none */
	struct str output;  /* what came of it, JSON; absent: nothing */
	struct str why; /* a failure in words; absent: the outcome says all */
	struct str request_id; /* of an invoke that was sent */
};

/* Something recognised that lacks parameters. */
struct turn_question {
	struct str label;   /* a word for the intent */
	struct str missing; /* words for the parameters, joined */
};

/* What the filter's answer means for the turn. */
struct turn_route {
	enum wire_decision_action action;
	const struct turn_deed *deeds; /* TURN_DIRECT */
	size_t n_deeds;
	const struct turn_question *questions;
	size_t n_questions;
	struct str rest; /* what is left for the model; empty: nothing */
};

/* ---- what happened ----------------------------------------------------- */

/* Why a turn failed, as its caller is told; status 0: it did not. */
struct turn_fault {
	int status; /* HTTP */
	const char *code;
	const char *text;
};

enum turn_event_kind {
	TURN_PLACED,    /* ahead */
	TURN_LOADED,    /* fault, or: filter, text: late */
	TURN_FELT,      /* known, mode */
	TURN_FILTERED,  /* known, route */
	TURN_REMEMBERS, /* known: memories can be searched */
	TURN_ACTED,     /* outcome, why: of all direct deeds that were sent */
	TURN_ANSWERED,  /* fault, or: text, deeds (kind, skill, …) */
	TURN_RESULT,    /* deed, outcome, output, why */
	TURN_STORED,    /* fault, or none */
	TURN_LOST,      /* the place is lost: another has evicted the turn */
	TURN_CANCEL,    /* somebody wants it stopped */
	TURN_EXPIRED    /* the time is up; once more: it really is */
};

struct turn_event {
	enum turn_event_kind kind;
	struct turn_fault fault;
	int64_t ahead;
	bool filter; /* the body has intents */
	bool known;
	enum wire_exec_mode mode;
	const struct turn_route *route;
	struct str text;
	const struct turn_deed *deeds;
	size_t n_deeds;
	size_t deed;
	enum turn_outcome outcome;
	struct str output, why;
};

/* ---- what is to be done ------------------------------------------------ */

enum turn_action_kind {
	TURN_DO_LOAD,       /* read the records, store the input */
	TURN_DO_FEEL,       /* what does the user feel, how is the gate */
	TURN_DO_FILTER,     /* which intents */
	TURN_DO_ASK_MEMORY, /* can memories be searched */
	TURN_DO_ACT,        /* send the direct deeds that are TURN_SENT */
	TURN_DO_THINK,      /* ask the model: offer, may_call */
	TURN_DO_INVOKE,     /* send deed */
	TURN_DO_FORGET,     /* have what deed says forgotten */
	TURN_DO_SEARCHING,  /* tell the body */
	TURN_DO_RECALL,     /* search for deed */
	TURN_DO_SEARCHED,   /* tell the body */
	TURN_DO_NOT_FOUND,  /* tell the body that the search failed */
	TURN_DO_STORE,      /* store what was said and done */
	/* The last one. */
	TURN_DO_REPLY,
	TURN_DO_FAIL, /* fault */
	TURN_DO_CANCELED
};

/* The tools a model is shown; each has those before it too. */
enum turn_offer {
	TURN_OFFER_NONE,
	TURN_OFFER_SKILLS,
	TURN_OFFER_FORGET, /* forgetting */
	TURN_OFFER_ALL     /* searching */
};

struct turn_action {
	enum turn_action_kind kind;
	size_t deed;
	enum turn_offer offer;
	bool may_call;
	struct turn_fault fault;
};

#define TURN_ACTIONS_MAX (TURN_CALLS_MAX + 4)

struct turn_actions {
	struct turn_action list[TURN_ACTIONS_MAX];
	size_t n;
};

/* ---- the turn ---------------------------------------------------------- */

enum turn_phase {
	TURN_WAITING, /* for its place */
	TURN_LOADING,
	TURN_SENSING,
	TURN_ACTING,
	TURN_THINKING,
	TURN_INVOKING,
	TURN_SEARCHING,
	TURN_REPLYING,
	TURN_ENDED
};

struct turn {
	enum turn_phase phase;
	size_t max_rounds;
	unsigned awaited; /* private: senses that have not answered yet */
	bool held;        /* private: to think when memory has answered */
	bool felt;        /* mode is known */
	enum wire_exec_mode mode;
	bool memory; /* memories can be searched */
	bool routed; /* route is known */
	struct turn_route route;
	size_t round; /* answers with calls so far */
	/* Text beside the calls of each; a search has a round of its own. */
	struct str said[TURN_ROUNDS_MAX + 1];
	bool offered;   /* private: the model may call tools */
	bool corrected; /* private: wrong arguments were sent back once */
	bool recalled;
	bool overflow;   /* calls were left out */
	bool answered;   /* text is the model's last word; may be empty */
	bool speechless; /* the model failed after something was done */
	struct str text;
	struct str late; /* what came of earlier turns, to be told; or empty */
	size_t n_deeds;
	struct turn_deed deeds[TURN_DEEDS_MAX];
};

/*
 * turn_init(t, max_rounds):
 * A turn that waits for its place; max_rounds is 1 to TURN_ROUNDS_MAX.
 */
void turn_init(struct turn *t, size_t max_rounds);

/*
 * turn_step(t, e, out):
 * Take note of e; *out is what is to be done now, in that order, maybe nothing.
 * What does not belong to the phase changes nothing.
 */
void turn_step(
    struct turn *t, const struct turn_event *e, struct turn_actions *out);

/* turn_stage(t): The name of the phase, as turn_reply.stage has it. */
const char *turn_stage(const struct turn *t);

/*
 * turn_failed(t, i):
 * Whether deed i is a failure to be told: neither confirmed, nor tried again by
 * a later answer.
 */
bool turn_failed(const struct turn *t, size_t i);

#endif /* !LLM_ORCHESTRATOR_TURN_H */
