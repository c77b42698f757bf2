/*
 * verdict: whether the tables of channels and the schemas allow a message.
 *
 * A message is checked by its channel alone, without knowledge of the services.
 */
#ifndef TESTKIT_STACK_VERDICT_H
#define TESTKIT_STACK_VERDICT_H

#include <stdbool.h>
#include <stddef.h>

#include "core/arena.h"
#include "core/str.h"
#include "wire/iface.h"

/* The errors found in a message. */
struct verdict {
	bool wrong;
	char why[640];
};

/* verdict_subject_row(subject): The row of a NATS subject, or NULL. */
const struct wire_subject *verdict_subject_row(struct str subject);

/*
 * verdict_request(a, row, subject, data, v):
 * A message sent to a subject.  a is scratch memory, reset by each call.
 */
void verdict_request(struct arena *a, const struct wire_subject *row,
    struct str subject, struct str data, struct verdict *v);

/* verdict_reply(a, row, data, error, v): A reply to such a request. */
void verdict_reply(struct arena *a, const struct wire_subject *row,
    struct str data, bool error, struct verdict *v);

/* An MQTT message, as a subscriber with retain-as-published sees it. */
struct verdict_mqtt {
	struct str topic;
	struct str payload;
	int qos;
	bool retain;
};

/*
 * verdict_mqtt(a, m, row, v): Also checks QoS, retain, and that the ids of the
 * payload are those of the topic. *row is its row in wire_topics, NULL when
 * there is none.
 */
void verdict_mqtt(struct arena *a, const struct verdict_mqtt *m,
    const struct wire_topic **row, struct verdict *v);

/* verdict_topic_terminal(topic): The terminal of a topic; absent if none. */
struct str verdict_topic_terminal(struct str topic);

/* An HTTP exchange. */
struct verdict_http {
	const char *method;
	const char *path; /* without its query */
	int status;
	struct str body;
};

/* verdict_http(a, h, v): The response, by its route and status. */
void verdict_http(
    struct arena *a, const struct verdict_http *h, struct verdict *v);

#endif /* !TESTKIT_STACK_VERDICT_H */
