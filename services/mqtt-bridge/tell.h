/*
 * tell: events about bodies, for the stream.
 *
 * One terminal may cause only so many (quota.h); those beyond are counted.
 */
#ifndef MQTT_BRIDGE_TELL_H
#define MQTT_BRIDGE_TELL_H

#include <stdbool.h>
#include <stdint.h>

#include "asked.h"
#include "core/str.h"
#include "intake.h"
#include "refusal.h"
#include "wire/msgs.h"

struct bridge;
struct telling;

/* telling_new(b): For events in the name of b's service. */
struct telling *telling_new(struct bridge *b);

/* telling_free(t): NULL is allowed. */
void telling_free(struct telling *t);

/*
 * tell_presence(t, terminal, online, cause):
 * It came or went; cause may be NULL: not known.
 */
void tell_presence(struct telling *t, struct str terminal, bool online,
    const enum wire_terminal_online_cause *cause);

/* tell_skills(t, terminal, s), tell_intents(…): They are other than before. */
void tell_skills(
    struct telling *t, struct str terminal, const struct snapshot *s);
void tell_intents(
    struct telling *t, struct str terminal, const struct snapshot *s);

/* tell_refused(t, terminal, r): A report did not count in full. */
void tell_refused(
    struct telling *t, struct str terminal, const struct wire_refusal *r);

/*
 * tell_result(t, terminal, r, asked):
 * The first result of what was asked (NULL: not known) has come now.
 */
void tell_result(struct telling *t, struct str terminal,
    const struct wire_result *r, const struct asked *asked);

/*
 * tell_denied(t, terminal, topic, reason):
 * What it said under that topic (its name in wire_topics) was refused for who
 * it is: an audit event and a line of the log, once in ONCE_SPAN_MS for each
 * body and ten times a second for all; its count has those in between.
 */
void tell_denied(struct telling *t, struct str terminal, const char *topic,
    const char *reason);

#endif /* !MQTT_BRIDGE_TELL_H */
