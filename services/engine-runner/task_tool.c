#include "task_tool.h"

#include <stdio.h>
#include <stdlib.h>

#include "core/mem.h"
#include "wire/schema.h"

/* Digits of a revision. */
#define REVISION_DIGITS 16
#define TIMEOUT_S       10

/* Words of a language model's context: each says what it needs to know. */
static const struct {
	struct str name, description, schema;
} task_rows[TASK_TOOLS_N] = {
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

static void
task_tool_init(struct task_tool *t, enum task_kind kind)
{
	const struct tool_definition d = { task_rows[kind].name,
		task_rows[kind].description, task_rows[kind].schema };

	*t = (struct task_tool){ .kind = kind,
		.name = d.name,
		.description = d.description,
		.schema = d.schema };
	/* The rows are constants. */
	if (tool_definition_digest(&d, t->definition) != RC_OK ||
	    wire_schema_new(d.schema, &t->arguments, NULL) != RC_OK)
		abort();
}

struct task_tools *
task_tools_new(bool needs_approval)
{
	struct task_tools *t = mem_zalloc(sizeof(*t));
	struct str parts[TASK_TOOLS_N + 1];
	char digest[TOOL_DIGEST_MAX];
	int i;

	t->needs_approval = needs_approval;
	for (i = 0; i < TASK_TOOLS_N; i++) {
		task_tool_init(&t->list[i], (enum task_kind)i);
		parts[i] = str_of(t->list[i].definition);
	}
	parts[TASK_TOOLS_N] = needs_approval ? STR("ask") : STR("auto");
	tool_digest(parts, NELEM(parts), digest);
	(void)snprintf(
	    t->revision, sizeof(t->revision), "%.*s", REVISION_DIGITS, digest);
	return t;
}

void
task_tools_free(struct task_tools *t)
{
	if (t == NULL)
		return;
	for (int i = 0; i < TASK_TOOLS_N; i++)
		wire_schema_free(t->list[i].arguments);
	free(t);
}

const struct task_tool *
task_tools_find(const struct task_tools *t, struct str name)
{
	for (int i = 0; i < TASK_TOOLS_N; i++)
		if (str_eq(t->list[i].name, name))
			return &t->list[i];
	return NULL;
}

void
task_tools_define(
    const struct task_tools *t, struct wire_tool_definition list[TASK_TOOLS_N])
{
	for (int i = 0; i < TASK_TOOLS_N; i++) {
		const struct task_tool *tool = &t->list[i];

		list[i] = (struct wire_tool_definition){ .name = tool->name,
			.server = STR(TASK_PROVIDER),
			.tool = tool->name,
			.description = tool->description,
			.schema = tool->schema,
			.policy = t->needs_approval
			    ? WIRE_TOOL_DEFINITION_POLICY_ASK
			    : WIRE_TOOL_DEFINITION_POLICY_AUTO,
			.timeout_s = TIMEOUT_S,
			.definition = str_of(tool->definition) };
	}
}

/* ---- calls ---- */

/* Whether the user has approved exactly this call. */
static bool
task_is_sealed(
    const struct task_tool *tool, const struct wire_tool_call_request *q)
{
	const struct tool_sealed_call call = { STR(TASK_PROVIDER),
		STR(TASK_PROVIDER), tool->name, str_of(tool->definition),
		q->arguments };
	char seal[TOOL_DIGEST_MAX];

	return q->has_approval && tool_seal(&call, seal) == RC_OK &&
	    str_eq(q->approval.seal, str_of(seal));
}

enum task_verdict
task_tools_admit(const struct task_tools *t, const struct task_tool *tool,
    const struct wire_tool_call_request *q, enum task_grant grant)
{
	if (grant == TASK_GRANT_NEVER)
		return TASK_FORBIDDEN;
	if (!str_eq(q->definition, str_of(tool->definition)))
		return TASK_DEFINITION_CHANGED;
	if (!t->needs_approval || grant == TASK_GRANT_AUTO ||
	    task_is_sealed(tool, q))
		return TASK_ALLOWED;
	return TASK_APPROVAL_REQUIRED;
}

enum rc
task_tool_check(
    const struct task_tool *tool, struct str arguments, struct wire_err *err)
{
	return wire_schema_check(tool->arguments, arguments, err);
}

void
task_tool_key(struct str call, char dst[TASK_KEY_MAX])
{
	char digest[TOOL_DIGEST_MAX];

	tool_digest(&call, 1, digest);
	(void)snprintf(dst, TASK_KEY_MAX, "call-%s", digest);
}
