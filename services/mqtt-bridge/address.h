/*
 * address: parsing and formatting of MQTT topics and NATS subjects.
 *
 * A topic is <prefix>/terminal/<terminal>/<leaf>; the prefix may contain
 * slashes, and wire_topics lists the leaves.  The subject of a command is
 * soul.body.<broker>.<terminal>.<name>, where <terminal> is a token.
 */
#ifndef MQTT_BRIDGE_ADDRESS_H
#define MQTT_BRIDGE_ADDRESS_H

#include <stdbool.h>
#include <stddef.h>

#include "core/id.h"
#include "core/rc.h"
#include "core/str.h"
#include "wire/iface.h"
#include "wire/subjects.h"

/* Longest prefix in bytes. */
#define ADDRESS_PREFIX_MAX 256
/* Room for any topic or filter, including the NUL. */
#define ADDRESS_TOPIC_MAX (ADDRESS_PREFIX_MAX + 2 * ID_MAX + 64)

/*
 * address_prefix_valid(s):
 * Whether s may be the prefix: UTF-8 without control characters and wildcards,
 * no empty level, not starting with '$'.
 */
bool address_prefix_valid(struct str s);

/* A parsed topic; the texts point into it. */
struct address {
	size_t row; /* of wire_topics */
	struct str terminal;
	struct str request_id; /* absent unless the leaf has one */
};

/*
 * address_parse(prefix, topic, out):
 * Parse the topic of a message from a terminal.  RC_NOENT if terminals publish
 * no such topic, RC_INVALID if the terminal or the request is not an id.
 */
enum rc address_parse(
    struct str prefix, struct str topic, struct address *out) RC_CHECK;

/*
 * address_filter(prefix, row, dst):
 * The filter that matches the topic of all terminals.
 */
struct str address_filter(
    struct str prefix, size_t row, char dst[ADDRESS_TOPIC_MAX]);

/*
 * address_topic(prefix, a, dst, out):
 * Format the topic of a.  RC_INVALID if the terminal or the request cannot be
 * a level of a topic.
 */
enum rc address_topic(struct str prefix, const struct address *a,
    char dst[ADDRESS_TOPIC_MAX], struct str *out) RC_CHECK;

/*
 * address_command_terminal(subject, terminal):
 * The terminal in the subject of a command.  RC_INVALID if it is not a
 * terminal's id.
 */
enum rc address_command_terminal(
    struct str subject, char terminal[ID_MAX + 1]) RC_CHECK;

#endif /* !MQTT_BRIDGE_ADDRESS_H */
