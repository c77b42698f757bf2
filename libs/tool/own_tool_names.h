/*
 * own_tool_names: the names of all tools that providers themselves have, for
 * services that decide on them without having them.
 *
 * Pure; any thread.
 */
#ifndef TOOL_OWN_TOOL_NAMES_H
#define TOOL_OWN_TOOL_NAMES_H

#include <stdbool.h>

#include "core/str.h"

/* For the message of an error: what may be named. */
#define OWN_TOOL_NAMES_TEXT                                             \
	"set_alarm, list_alarms, change_alarm, cancel_alarm, run_task " \
	"or answer_task"

struct own_tool_name {
	struct str provider, tool;
};

/*
 * own_tool_named(name):
 * The tool of that name, as language models have it, or "<provider>__<name>";
 * NULL: there is none.  Constant.
 *
 * own_tool_provider_is(name): Whether a provider of one has that name.
 */
const struct own_tool_name *own_tool_named(struct str name);
bool own_tool_provider_is(struct str name);

#endif /* !TOOL_OWN_TOOL_NAMES_H */
