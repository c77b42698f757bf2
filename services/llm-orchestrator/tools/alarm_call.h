/*
 * alarm_call: the system intents of alarms are sent to alarm-clock.
 */
#ifndef LLM_ORCHESTRATOR_ALARM_CALL_H
#define LLM_ORCHESTRATOR_ALARM_CALL_H

#include <stdbool.h>

#include "core/arena.h"
#include "core/buf.h"
#include "core/str.h"
#include "turn/turn_fsm.h"

struct turn_run;

/* alarm_call_is_intent(id): Whether it is one of them. */
bool alarm_call_is_intent(struct str intent_id);

/*
 * alarm_call_question(normalized, a):
 * What the user is to be asked first; absent: nothing.
 */
struct str alarm_call_question(struct str normalized, struct arena *a);

/* A system intent as intent-filter found it. */
struct alarm_call_intent {
	struct str id, normalized, parameters;
	struct str now; /* the time that its words refer to */
};

/* Of whom and where an alarm is; members may be absent. */
struct alarm_call_owner {
	struct str request_id, user_id, soul_id, terminal_id, session_id;
};

/*
 * alarm_call_request(intent, owner, out):
 * Append the request for alarm-clock: the members of normalized but skill, and
 * the owner's that the request has.  Words of a time stand in for its rule:
 * alarm-clock knows the user's zone.
 */
void alarm_call_request(const struct alarm_call_intent *intent,
    const struct alarm_call_owner *owner, struct buf *out);

/*
 * alarm_call_copy(r, call, outcome):
 * A call of the body ends so.  If it was its own create_alarm, alarm-clock gets
 * a copy: the body rings itself, or, if that is not confirmed, alarm-clock
 * does.  Best effort.  The label of a direct call gets the moment.
 */
void alarm_call_copy(
    struct turn_run *r, size_t call, enum turn_outcome outcome);

#endif /* !LLM_ORCHESTRATOR_ALARM_CALL_H */
