/*
 * task_tool: the tools by which a soul gives engines tasks.  Pure.
 *
 * Definitions are constants, so that a grant of a user is for one as long as
 * this version of it is installed, whichever engines there are.
 */
#ifndef ENGINE_RUNNER_TASK_TOOL_H
#define ENGINE_RUNNER_TASK_TOOL_H

#include <stdbool.h>

#include "core/str.h"
#include "tool/own_tools.h"
#include "wire/msgs.h"
#include "wire/wire.h"

#define TASK_PROVIDER "engine-runner"

/* The tools, in their order. */
enum task_kind { TASK_RUN, TASK_REPLY, TASK_TOOLS_N };

/* task_tools_new(needs_approval): As own_tools_new(). */
struct own_tools *task_tools_new(bool needs_approval);

/* task_tool_key(call, dst): What makes a call that is repeated one call. */
#define TASK_KEY_MAX (TOOL_DIGEST_MAX + 8)
void task_tool_key(struct str call, char dst[TASK_KEY_MAX]);

#endif /* !ENGINE_RUNNER_TASK_TOOL_H */
