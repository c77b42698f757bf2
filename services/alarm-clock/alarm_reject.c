#include "alarm_reject.h"

#include "state/state.h"

enum rc
alarm_reject(struct alarm_rejection *why, enum rc rc, struct str text)
{
	*why = (struct alarm_rejection){
		.trace = why->trace, .rc = rc, .text = text
	};
	return rc;
}

enum rc
alarm_reject_state(struct alarm_rejection *why, enum rc rc)
{
	*why = (struct alarm_rejection){
		.trace = why->trace,
		.rc = rc,
		.text = STR("Redis is unavailable: try again later"),
		.may_be_done = state_may_be_done(rc),
	};
	return rc;
}
