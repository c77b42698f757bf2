#include "task_tool.h"

#include <stdio.h>

#define TIMEOUT_S 10

/* Words of a language model's context: each says what it needs to know. */
static const struct own_tool_row task_rows[TASK_TOOLS_N] = {
	[TASK_RUN] = { STR_INIT("run_task"),
	    STR_INIT(
		"Give a coding engine a task that takes minutes: it reads, "
		"writes and runs files in a workspace of its own, and knows "
		"nothing of this conversation. It is started at once; the "
		"reply has the id of its run, and no result. When it ends, or "
		"asks the user something, the next turn of this conversation "
		"reports that. Until then it is not done: never say that it "
		"is."),
	    STR_INIT(
		"{\"type\":\"object\",\"properties\":{\"task\":{\"type\":"
		"\"string\",\"minLength\":1,\"maxLength\":65536,"
		"\"description\":\"What it is to do, in full, with all that "
		"it needs to know.\"},\"engine\":{\"type\":\"string\","
		"\"enum\":[\"codex\",\"gemini\",\"opencode\",\"iflow\"],"
		"\"description\":\"Only if the user has named one.\"},"
		"\"mode\":{\"type\":\"string\",\"enum\":[\"interactive\","
		"\"auto\",\"file-write\"],\"description\":\"interactive, "
		"the default: it may ask the user; auto, file-write: it is "
		"not to ask.\"}},\"required\":[\"task\"],"
		"\"additionalProperties\":false}") },
	[TASK_REPLY] = { STR_INIT("answer_task"),
	    STR_INIT("Give the user's answer to a task that run_task has "
		     "started, and that has asked something. Only what the "
		     "user has said: never an answer of your own. The task "
		     "goes on; the next turn reports how it ends."),
	    STR_INIT("{\"type\":\"object\",\"properties\":{\"answer\":{"
		     "\"type\":\"string\",\"minLength\":1,\"maxLength\":65536,"
		     "\"description\":\"The user's answer.\"},\"run_id\":{"
		     "\"type\":\"string\",\"minLength\":1,\"maxLength\":80,"
		     "\"description\":\"The run, if more than one waits for "
		     "an answer.\"}},\"required\":[\"answer\"],"
		     "\"additionalProperties\":false}") },
};

struct own_tools *
task_tools_new(bool needs_approval)
{
	return own_tools_new(
	    &(struct own_tools){ .provider = STR(TASK_PROVIDER),
		.needs_approval = needs_approval,
		.timeout_s = TIMEOUT_S },
	    task_rows, TASK_TOOLS_N);
}

void
task_tool_key(struct str call, char dst[TASK_KEY_MAX])
{
	char digest[TOOL_DIGEST_MAX];

	tool_digest(&call, 1, digest);
	(void)snprintf(dst, TASK_KEY_MAX, "call-%s", digest);
}
