/*
 * cycle: the steps of one thought, as a state machine.  Pure: an event in, an
 * action out, which the caller carries out and answers with the next event.
 *
 * load → think → (repair, a single time) → decide: store the output → effects,
 * one after the other → end.  A cycle that another process began and had
 * decided begins with the effects.
 */
#ifndef NAVIGATOR_CYCLE_H
#define NAVIGATOR_CYCLE_H

#include <stdbool.h>
#include <stdint.h>

#include "state/nav.h"

struct wire_navigator_output;

/* Claims of a cycle after which effects that fail are left out. */
#define CYCLE_TRIES_MAX 5

/* What a cycle does, in this order. */
enum cycle_effect {
	EFFECT_LINK,
	EFFECT_SUGGESTION,
	EFFECT_PSYCHE,
	EFFECT_MEMORIES,
	EFFECT_ARCHIVAL,
	EFFECT_SPEECH,
	EFFECT_EVOLUTION,
	EFFECT_N
};

enum cycle_state {
	CYCLE_NEW,
	CYCLE_LOADING,
	CYCLE_COMPLETING,
	CYCLE_REPAIRING,
	CYCLE_DECIDING,
	CYCLE_ACTING,
	CYCLE_ENDING,
	CYCLE_STATE_N
};

enum cycle_event {
	CYCLE_BEGIN,    /* it was claimed */
	CYCLE_RESUME,   /* it was claimed, and has decided before */
	CYCLE_LOADED,   /* there is something to think about */
	CYCLE_RESTED,   /* an idle soul does not think now */
	CYCLE_READ,     /* the model's output is read */
	CYCLE_UNREAD,   /* it is not readable */
	CYCLE_NO_MODEL, /* the model has failed */
	CYCLE_DECIDED,  /* the output is stored */
	CYCLE_EFFECTED, /* the effect is there, or was refused for good */
	CYCLE_FAILED,   /* what was needed is unavailable */
	CYCLE_LOST,     /* the claim is another's, or the soul was deleted */
	CYCLE_EVENT_N
};

enum cycle_action {
	CYCLE_LOAD,
	CYCLE_COMPLETE,
	CYCLE_REPAIR, /* think once more, with what was wrong */
	CYCLE_DECIDE,
	CYCLE_EFFECT,  /* c->effect */
	CYCLE_END,     /* as c->end says */
	CYCLE_ABANDON, /* leave it to the next claim */
	CYCLE_STOP     /* nothing more: it is over */
};

enum cycle_end {
	CYCLE_END_DONE,
	CYCLE_END_RESTED,
	CYCLE_END_UNREADABLE,
	CYCLE_END_MODEL,
	CYCLE_END_GAVE_UP, /* some effects are missing */
	CYCLE_END_ABANDONED,
	CYCLE_END_LOST,
	CYCLE_END_N
};

/* cycle_end_name(e): For metrics. */
const char *cycle_end_name(enum cycle_end e);

struct cycle {
	enum cycle_state state;
	int64_t tries;    /* claims so far */
	unsigned effects; /* bits by enum cycle_effect: still to be done */
	enum cycle_effect effect;
	bool gave_up; /* an effect was left out */
	enum cycle_end end;
};

/*
 * cycle_step(c, e):
 * The next action.  An event that its state does not expect is CYCLE_STOP and
 * changes nothing.
 */
enum cycle_action cycle_step(struct cycle *c, enum cycle_event e);

/* cycle_effects(o): The effects of an output, for c->effects. */
unsigned cycle_effects(const struct wire_navigator_output *o);

#endif /* !NAVIGATOR_CYCLE_H */
