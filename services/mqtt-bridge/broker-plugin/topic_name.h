/*
 * topic_name: which topics a body may publish under, beside what acl_file says.
 * Pure.
 */
#ifndef GATE_TOPIC_NAME_H
#define GATE_TOPIC_NAME_H

#include <stdbool.h>

#include "core/str.h"

/*
 * topic_name_refused(user, topic, retain):
 * What is wrong with a message of that user, or NULL: a level longer than an id
 * may be (ID_MAX), or a result, …/<user>/result/<id>, that the broker would
 * keep.  The text is constant.
 */
const char *topic_name_refused(struct str user, struct str topic, bool retain);

#endif /* !GATE_TOPIC_NAME_H */
