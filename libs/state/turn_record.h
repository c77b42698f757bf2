/*
 * turn_record: what is known of a turn, whoever runs it, while it runs and for
 * an hour after its end.  Written by turn.h.
 */
#ifndef STATE_TURN_RECORD_H
#define STATE_TURN_RECORD_H

#include <stdbool.h>

#include "core/arena.h"
#include "core/clock.h"
#include "core/rc.h"
#include "core/str.h"
#include "state/state.h"

enum turn_state {
	TURN_STATE_OPEN,  /* it waits or runs */
	TURN_STATE_ENDED, /* reply says how */
	TURN_STATE_LOST   /* its process died: nobody will end it */
};

struct turn_record {
	bool known; /* otherwise nothing below is there */
	enum turn_state state;
	struct str user_id, session_id;
	struct str instance; /* of the process that has or had it */
	struct str trace_id; /* 32 hex digits; absent: not said */
	struct wall started;
	struct str reply;    /* of an ended one: its last turn_reply, JSON */
	struct str timeline; /* of an ended one: JSON; absent: none */
};

/* turn_record_read(s, turn_id, a, out): known false if there is none. */
enum rc turn_record_read(struct state *s, struct str turn_id, struct arena *a,
    struct turn_record *out) RC_CHECK;

#endif /* !STATE_TURN_RECORD_H */
