/*
 * tool_approval: the options of the question whether a tool may be used.
 *
 * Constant; any thread.
 */
#ifndef TOOL_TOOL_APPROVAL_H
#define TOOL_TOOL_APPROVAL_H

#include <stdbool.h>

#include "wire/msgs.h"

/* Values of the options. */
#define TOOL_APPROVAL_THIS_TIME "once"
#define TOOL_APPROVAL_ALWAYS    "always"
#define TOOL_APPROVAL_NO        "no"

#define TOOL_APPROVAL_OPTIONS_N 3

/* tool_approval_options(chinese): Their labels in Chinese, or in English. */
const struct wire_question_option *tool_approval_options(bool chinese);

#endif /* !TOOL_TOOL_APPROVAL_H */
