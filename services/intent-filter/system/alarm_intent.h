/*
 * alarm_intent: the system intents of the server's alarms, ready for
 * alarm-clock: sys.set_alarm, sys.list_alarms, sys.change_alarm,
 * sys.cancel_alarm.
 *
 * normalized has the members of alarm_put_request, alarm_list_request,
 * alarm_change_request and alarm_cancel_request.  A time that cannot be used
 * is not guessed: question then is what to ask the user, and when is missing.
 */
#ifndef INTENT_FILTER_SYSTEM_ALARM_INTENT_H
#define INTENT_FILTER_SYSTEM_ALARM_INTENT_H

#include <stdbool.h>

#include "core/arena.h"
#include "core/rc.h"
#include "system/alarm_phrase.h"
#include "wire/msgs.h"

/*
 * alarm_intent_write(p, u, a, out):
 * The members of out that depend on the phrase: intent_id, intent_name,
 * parameters, normalized, missing_parameters.  RC_TOOBIG if a is full.
 */
enum rc alarm_intent_write(const struct alarm_phrase *p,
    const struct utterance *u, struct arena *a,
    struct wire_intent_filter_response_intents *out) RC_CHECK;

/*
 * alarm_schedule_write(u, when, text, a, io):
 * Turn *io, a recognised intent of the catalog, into sys.set_alarm of kind
 * action, which executes it at a time: when are the words of the time, text is
 * the user's.  RC_NOENT: these words are no time of an action (a duration, a
 * time of the past), *io is unchanged.  RC_TOOBIG if a is full.
 */
enum rc alarm_schedule_write(const struct utterance *u, struct str when,
    struct str text, struct arena *a,
    struct wire_intent_filter_response_intents *io) RC_CHECK;

#endif /* !INTENT_FILTER_SYSTEM_ALARM_INTENT_H */
