/*
 * topic_filter: which topics a terminal may subscribe to and publish, beyond
 * what mosquitto enforces itself.  Pure; not thread-safe.
 *
 * A rule is a line "pattern read <topic>" of mosquitto's acl_file whose topic
 * contains the level %u, the terminal's user; other lines are left to the
 * broker.  A filter is allowed if it is a rule's topic with the user in place
 * of %u, or the same with wildcards in place of levels after the user: it then
 * matches only the terminal's own topics, and a terminal can have only few.
 */
#ifndef BROKER_PLUGIN_TOPIC_FILTER_H
#define BROKER_PLUGIN_TOPIC_FILTER_H

#include <stdbool.h>

#include "core/rc.h"
#include "core/str.h"

/* Most rules in one file. */
#define TOPIC_FILTER_RULES_MAX 64

struct topic_filters;

/*
 * topic_filters_new(text, f):
 * Parse an acl_file.  RC_NOENT without a rule, RC_TOOBIG over
 * TOPIC_FILTER_RULES_MAX, RC_INVALID for a rule without %u or with '#'; *f is
 * then NULL.
 */
enum rc topic_filters_new(struct str text, struct topic_filters **f) RC_CHECK;

/* topic_filters_free(f): NULL is allowed. */
void topic_filters_free(struct topic_filters *f);

/*
 * topic_filters_allow(f, user, filter):
 * Whether user may subscribe to filter.  Never unless id_terminal_valid(user):
 * another name could contain wildcards or levels itself.
 */
bool topic_filters_allow(
    const struct topic_filters *f, struct str user, struct str filter);

/*
 * topic_name_error(user, topic, retain):
 * What is wrong with a message of user, a constant, or NULL: a level longer
 * than ID_MAX, or a retained result, .../<user>/result/<id>, which every bridge
 * would receive again at each start.
 */
const char *topic_name_error(struct str user, struct str topic, bool retain);

#endif /* !BROKER_PLUGIN_TOPIC_FILTER_H */
