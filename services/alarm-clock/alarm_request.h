/*
 * alarm_request: what users request of their alarms, by whichever way.  All
 * are calls (state.h), for fibers; texts are in the caller's arena.
 */
#ifndef ALARM_CLOCK_ALARM_REQUEST_H
#define ALARM_CLOCK_ALARM_REQUEST_H

#include <stddef.h>

#include "alarm_reject.h"
#include "core/arena.h"
#include "core/rc.h"
#include "wire/msgs.h"

struct alarm_clock;

/* Alarms of one reply. */
#define ALARMS_SHOWN_MAX 256

/*
 * alarm_request_put(c, q, a, out, why), …: RC_INVALID: a time or member is
 * wrong; RC_NOENT; RC_CONFLICT: several alarms are selected, the user has too
 * many, or the soul may not speak; any other: Redis.
 */
enum rc alarm_request_put(struct alarm_clock *c,
    const struct wire_alarm_put_request *q, struct arena *a,
    struct wire_alarm_reply *out, struct alarm_rejection *why) RC_CHECK;
enum rc alarm_request_list(struct alarm_clock *c,
    const struct wire_alarm_list_request *q, struct arena *a,
    struct wire_alarm_list *out, struct alarm_rejection *why) RC_CHECK;
enum rc alarm_request_change(struct alarm_clock *c,
    const struct wire_alarm_change_request *q, struct arena *a,
    struct wire_alarm_reply *out, struct alarm_rejection *why) RC_CHECK;
enum rc alarm_request_cancel(struct alarm_clock *c,
    const struct wire_alarm_cancel_request *q, struct arena *a,
    struct wire_alarm_list *out, struct alarm_rejection *why) RC_CHECK;
enum rc alarm_request_snooze(struct alarm_clock *c,
    const struct wire_alarm_snooze_request *q, struct arena *a,
    struct wire_alarm_reply *out, struct alarm_rejection *why) RC_CHECK;

#endif /* !ALARM_CLOCK_ALARM_REQUEST_H */
