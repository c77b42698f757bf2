/*
 * run_state: the states of a run and what changes them.  Pure.
 *
 * The scripts of libs/state that change a run's record follow this table.
 */
#ifndef RUN_STATE_H
#define RUN_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/rc.h"
#include "core/str.h"

enum run_state {
	RUN_QUEUED,
	RUN_RUNNING,
	RUN_WAITING, /* waiting_user */
	RUN_SUCCEEDED,
	RUN_FAILED,
	RUN_CANCELED,
	RUN_STATES_N
};

enum run_event {
	RUN_EV_CLAIM,      /* a runner starts the next attempt */
	RUN_EV_WAIT,       /* the attempt ended with a question */
	RUN_EV_REPLY,      /* the user replied */
	RUN_EV_AUTO_REPLY, /* the deadline of a reply has passed; auto_reply */
	RUN_EV_TIMEOUT,    /* the same, without */
	RUN_EV_SUCCEED,
	RUN_EV_FAIL,   /* the attempt failed, or its disk is lost */
	RUN_EV_CANCEL, /* the user does not want it any more */
	RUN_EV_ADOPT,  /* the runner is back, and takes its runs over */
	RUN_EV_LOST,   /* the runner is not back in time */
	RUN_EVENTS_N
};

/* run_state_name(s): As records and events have it: queued, waiting_user, … */
const char *run_state_name(enum run_state s);
/* run_state_parse(name, s): RC_NOENT: no such state. */
enum rc run_state_parse(struct str name, enum run_state *s) RC_CHECK;

/* run_state_is_final(s): No event changes it. */
bool run_state_is_final(enum run_state s);

/*
 * run_state_next(s, ev, next): The state behind ev; RC_CONFLICT: ev does not
 * happen in s, and changes nothing.
 */
enum rc run_state_next(
    enum run_state s, enum run_event ev, enum run_state *next) RC_CHECK;

#endif /* !RUN_STATE_H */
