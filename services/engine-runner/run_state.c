/*
 * The table of states.
 */
#include "run_state.h"

#include "core/mem.h"

static const char *const run_state_names[RUN_STATES_N] = {
	[RUN_QUEUED] = "queued",
	[RUN_RUNNING] = "running",
	[RUN_WAITING] = "waiting_user",
	[RUN_SUCCEEDED] = "succeeded",
	[RUN_FAILED] = "failed",
	[RUN_CANCELED] = "canceled",
};

static const struct {
	enum run_state from;
	enum run_event ev;
	enum run_state to;
} run_transitions[] = {
	{ RUN_QUEUED, RUN_EV_CLAIM, RUN_RUNNING },
	{ RUN_QUEUED, RUN_EV_CANCEL, RUN_CANCELED },
	/* The disk of its workspace is lost, or no runner may take it. */
	{ RUN_QUEUED, RUN_EV_FAIL, RUN_FAILED },
	{ RUN_RUNNING, RUN_EV_WAIT, RUN_WAITING },
	{ RUN_RUNNING, RUN_EV_SUCCEED, RUN_SUCCEEDED },
	{ RUN_RUNNING, RUN_EV_FAIL, RUN_FAILED },
	{ RUN_RUNNING, RUN_EV_CANCEL, RUN_CANCELED },
	{ RUN_RUNNING, RUN_EV_ADOPT, RUN_RUNNING },
	{ RUN_RUNNING, RUN_EV_LOST, RUN_FAILED },
	{ RUN_WAITING, RUN_EV_REPLY, RUN_QUEUED },
	{ RUN_WAITING, RUN_EV_AUTO_REPLY, RUN_QUEUED },
	{ RUN_WAITING, RUN_EV_TIMEOUT, RUN_FAILED },
	{ RUN_WAITING, RUN_EV_CANCEL, RUN_CANCELED },
	{ RUN_WAITING, RUN_EV_FAIL, RUN_FAILED },
};

const char *
run_state_name(enum run_state s)
{
	return run_state_names[s];
}

enum rc
run_state_parse(struct str name, enum run_state *s)
{
	for (unsigned i = 0; i < RUN_STATES_N; i++) {
		if (str_eq(name, str_of(run_state_names[i]))) {
			*s = (enum run_state)i;
			return RC_OK;
		}
	}
	return RC_NOENT;
}

bool
run_state_is_final(enum run_state s)
{
	return s >= RUN_SUCCEEDED;
}

enum rc
run_state_next(enum run_state s, enum run_event ev, enum run_state *next)
{
	for (size_t i = 0; i < NELEM(run_transitions); i++) {
		if (run_transitions[i].from == s &&
		    run_transitions[i].ev == ev) {
			*next = run_transitions[i].to;
			return RC_OK;
		}
	}
	return RC_CONFLICT;
}
