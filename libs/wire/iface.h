/*
 * iface: the channels between the programs, as proto-schemas/interfaces.json
 * lists them: constant tables, generated.
 *
 * The generated wire/subjects.h has the same as macros, where a literal is
 * wanted: WIRE_SUBJECT_x (a subject), WIRE_SUBJECT_FMT_x (a printf format with
 * one %s for each placeholder, whose arguments are tokens already),
 * WIRE_SUBJECT_ALL_x (* for each), WIRE_TOPIC_FMT_x, WIRE_HTTP_x, WIRE_EVENT_x,
 * WIRE_DEADLINE_MS_x, and the indexes WIRE_TOPIC_x into wire_topics.
 */
#ifndef WIRE_IFACE_H
#define WIRE_IFACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/str.h"
#include "wire/wire.h"

/* What the holder of an access token may do; wire_routes has the permissions.
 */
enum wire_role {
	WIRE_ROLE_OWNER,       /* owns souls and terminals */
	WIRE_ROLE_TERMINAL,    /* a body that chats as itself */
	WIRE_ROLE_PROVISIONER, /* gives bodies their identities */
	WIRE_ROLE_NOTIFIER,    /* speaks to named users */
	WIRE_ROLE_OPERATOR     /* runs the installation; acts for any user */
};

/* An HTTP route; path may have "{…}" for one segment. */
struct wire_route {
	const char *name;
	const char *method;
	const char *path;
	const char *owner; /* the service that responds */
	const char *also;  /* another one that does, too; NULL: none */
	unsigned roles; /* callers with permission: bit 1U << enum wire_role */
	const struct wire_desc *request; /* NULL: no body */
	const struct wire_desc *response;
};
extern const struct wire_route wire_routes[];
extern const size_t wire_routes_n;

enum wire_subject_kind {
	WIRE_SUBJECT_KIND_REQUEST, /* answered with reply within deadline_ms */
	WIRE_SUBJECT_KIND_PUBLISH,
	WIRE_SUBJECT_KIND_EVENT, /* JetStream */
	WIRE_SUBJECT_KIND_JOB,   /* JetStream */
	WIRE_SUBJECT_KIND_STREAM /* core NATS, lost without a subscriber */
};

/* A NATS subject; a "*" replaces each placeholder. */
struct wire_subject {
	const char *name;
	const char *subject;
	const char *owner; /* the service that replies or consumes; "any" */
	const char *queue; /* NULL: no queue group */
	const struct wire_desc *request;
	const struct wire_desc *reply; /* NULL but for requests */
	int64_t deadline_ms;           /* 0 but for requests */
	enum wire_subject_kind kind;
};
extern const struct wire_subject wire_subjects[];
extern const size_t wire_subjects_n;

/* An MQTT topic: "<prefix>/terminal/<terminal>/" and then leaf. */
struct wire_topic {
	const char *name;
	const char *leaf; /* "skills"; "invoke/+" where a request id follows */
	const struct wire_desc *message;
	int qos;
	bool retain;
	bool from_body; /* else the server publishes it */
};
extern const struct wire_topic wire_topics[];
extern const size_t wire_topics_n;

/* A type of event, and what its envelope's payload is. */
struct wire_event {
	const char *type;
	const struct wire_desc *payload;
};
extern const struct wire_event wire_events[];
extern const size_t wire_events_n;

/* wire_event_find(type): Its row, or NULL. */
const struct wire_event *wire_event_find(struct str type);

#endif /* !WIRE_IFACE_H */
