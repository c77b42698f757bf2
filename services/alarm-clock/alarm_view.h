/*
 * alarm_view: records as other services see them, and the events of their
 * changes.  Texts are in the caller's arena; RC_TOOBIG if it is full.
 */
#ifndef ALARM_CLOCK_ALARM_VIEW_H
#define ALARM_CLOCK_ALARM_VIEW_H

#include "core/arena.h"
#include "core/clock.h"
#include "core/rc.h"
#include "wire/msgs.h"

struct alarm_clock;
struct trace;
struct zone;

/* alarm_view(r, zone, now, a, out): zone is that of r. */
enum rc alarm_view(const struct wire_alarm_record *r, const struct zone *zone,
    struct wall now, struct arena *a, struct wire_alarm *out) RC_CHECK;

/* alarm_view_push(r, a, out), alarm_view_push_state(r): Of a push. */
enum rc alarm_view_push(const struct wire_alarm_record *r, struct arena *a,
    struct wire_push *out) RC_CHECK;
enum wire_push_state alarm_view_push_state(const struct wire_alarm_record *r);

/*
 * alarm_view_publish(c, r, state, trace):
 * Publish the event that the occurrence of r, or r itself, now has this state.
 */
void alarm_view_publish(struct alarm_clock *c,
    const struct wire_alarm_record *r, enum wire_alarm_record_state state,
    const struct trace *trace);

#endif /* !ALARM_CLOCK_ALARM_VIEW_H */
