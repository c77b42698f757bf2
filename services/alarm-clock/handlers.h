/*
 * handlers: entry points of this service, for its tables.
 */
#ifndef HANDLERS_H
#define HANDLERS_H

#include <stddef.h>

#include "core/rc.h"
#include "core/str.h"

struct alarm_clock;
struct svc_call;

/* ---- on_alarm.c ---- */

/*
 * on_alarm_put(c, call), on_alarm_list(), on_alarm_change(), on_alarm_cancel(),
 * on_alarm_snooze(): svc_route.fn.
 */
void on_alarm_put(void *app, struct svc_call *c);
void on_alarm_list(void *app, struct svc_call *c);
void on_alarm_change(void *app, struct svc_call *c);
void on_alarm_cancel(void *app, struct svc_call *c);
void on_alarm_snooze(void *app, struct svc_call *c);

/* ---- on_speak.c ---- */

/* on_speak(c, call), on_push_get(c, call): svc_route.fn. */
void on_speak(void *app, struct svc_call *c);
void on_push_get(void *app, struct svc_call *c);

/* ---- on_tool.c ---- */

/* on_tool_list(c, call), on_tool_call(c, call): svc_route.fn. */
void on_tool_list(void *app, struct svc_call *c);
void on_tool_call(void *app, struct svc_call *c);

/*
 * tool_begin(c): Announce the tools, every 5 s.
 * tool_end(c): Announce nothing more.
 */
void tool_begin(struct alarm_clock *c);
void tool_end(struct alarm_clock *c);

/* ---- on_due.c ---- */

/*
 * due_begin(c): Poll what is due, and extend the claims of deliveries. RC_DOWN:
 *     it cannot.
 * due_end(c): Begin nothing more.
 * due_leave(c): Leave the timers to the other replicas; a call.
 * due_free(c): After state_stop().
 * due_hint(c, user): A timer of the user's bucket may be sooner than it was.
 */
enum rc due_begin(struct alarm_clock *c) RC_CHECK;
void due_end(struct alarm_clock *c);
void due_leave(struct alarm_clock *c);
void due_free(struct alarm_clock *c);
void due_hint(struct alarm_clock *c, struct str user);

#endif /* !HANDLERS_H */
