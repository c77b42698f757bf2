/*
 * topic_filter: which subscriptions a body may have, from the rules that say
 * what it may read.  Pure.  Not thread-safe.
 *
 * A rule is a line "pattern read <topic>" of mosquitto's acl_file whose topic
 * has the level %u, the body's user; other lines are left to the broker.  A
 * filter is allowed if it is a rule's topic with the user in place of %u, or
 * the same with wildcards in place of levels behind the user: so it reaches
 * nothing but what is the body's, and a body can have only few of them.
 */
#ifndef GATE_TOPIC_FILTER_H
#define GATE_TOPIC_FILTER_H

#include <stdbool.h>

#include "core/rc.h"
#include "core/str.h"

/* Rules of one file, at most. */
#define TOPIC_FILTER_RULES_MAX 64

struct topic_filters;

/*
 * topic_filters_new(text, f):
 * Read an acl_file.  RC_NOENT without a rule, RC_TOOBIG over
 * TOPIC_FILTER_RULES_MAX, RC_INVALID for one without %u or with a '#'; *f is
 * then NULL.
 */
enum rc topic_filters_new(struct str text, struct topic_filters **f) RC_CHECK;

/* topic_filters_free(f): NULL is allowed. */
void topic_filters_free(struct topic_filters *f);

/*
 * topic_filters_allow(f, user, filter):
 * Whether that user may subscribe to it.  Never, unless
 * id_terminal_valid(user): another name could itself stand for other users or
 * levels.
 */
bool topic_filters_allow(
    const struct topic_filters *f, struct str user, struct str filter);

#endif /* !GATE_TOPIC_FILTER_H */
