/*
 * terminal_event: events about terminals, published to the event stream.
 *
 * Events that a terminal causes by itself count against its quota
 * (terminal_limits.h); those over it are counted and dropped.
 */
#ifndef MQTT_BRIDGE_TERMINAL_EVENT_H
#define MQTT_BRIDGE_TERMINAL_EVENT_H

#include <stdbool.h>

#include "core/str.h"
#include "reports/pending_result.h"
#include "terminal/snapshot_parse.h"
#include "wire/msgs.h"

struct bridge;
struct terminal_events;

/* terminal_events_new(b), terminal_events_free(t): NULL is allowed. */
struct terminal_events *terminal_events_new(struct bridge *b);
void terminal_events_free(struct terminal_events *t);

/*
 * terminal_event_presence(t, terminal, online, cause):
 * The terminal came online or went offline; cause may be NULL: not known.
 */
void terminal_event_presence(struct terminal_events *t, struct str terminal,
    bool online, const enum wire_terminal_online_cause *cause);

/*
 * terminal_event_skills(t, terminal, s), terminal_event_intents(...):
 * The snapshot changed.
 */
void terminal_event_skills(
    struct terminal_events *t, struct str terminal, const struct snapshot *s);
void terminal_event_intents(
    struct terminal_events *t, struct str terminal, const struct snapshot *s);

/*
 * terminal_event_report_error(t, terminal, e):
 * A report was rejected, ignored or counted only in part.
 */
void terminal_event_report_error(struct terminal_events *t, struct str terminal,
    const struct wire_refusal *e);

/*
 * terminal_event_result(t, terminal, r, context):
 * The first result of an invoke arrived; context may be NULL: not known.
 */
void terminal_event_result(struct terminal_events *t, struct str terminal,
    const struct wire_result *r, const struct invoke_context *context);

/*
 * terminal_event_denied(t, terminal, topic, reason):
 * A message on that topic (its name in wire_topics) was denied: an audit event
 * and a log line, at most one per NOTICE_WINDOW_MS and terminal and ten a
 * second in all.  The event's count includes those suppressed before it.
 */
void terminal_event_denied(struct terminal_events *t, struct str terminal,
    const char *topic, const char *reason);

#endif /* !MQTT_BRIDGE_TERMINAL_EVENT_H */
