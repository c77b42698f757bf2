/*
 * alarm_text: alarm-clock's replies as sentences for the user, in Chinese or
 * English: the moment in full, and which body rings.
 *
 * Pure.  Memory from the arena; absent if it is full.
 */
#ifndef LLM_ORCHESTRATOR_ALARM_TEXT_H
#define LLM_ORCHESTRATOR_ALARM_TEXT_H

#include <stdbool.h>

#include "core/arena.h"
#include "core/clock.h"
#include "core/rc.h"
#include "core/str.h"
#include "wire/msgs.h"

struct alarm_text_input {
	struct str intent_id; /* sys.set_alarm, … */
	struct wall now;
	struct str terminal_id; /* of the turn */
	bool chinese;
	struct arena *a;
};

/* alarm_text_reply(in, rep):  Of sys.set_alarm and sys.change_alarm. */
struct str alarm_text_reply(
    const struct alarm_text_input *in, const struct wire_alarm_reply *rep);

/* alarm_text_list(in, list):  Of sys.list_alarms and sys.cancel_alarm. */
struct str alarm_text_list(
    const struct alarm_text_input *in, const struct wire_alarm_list *list);

/*
 * alarm_text_error(in, rc, error):
 * Of a request that failed with rc; error is alarm-clock's text, absent if it
 * did not reply: then nothing is claimed to be set.
 */
struct str alarm_text_error(
    const struct alarm_text_input *in, enum rc rc, struct str error);

#endif /* !LLM_ORCHESTRATOR_ALARM_TEXT_H */
