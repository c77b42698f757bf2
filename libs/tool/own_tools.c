/*
 * Digests and schemas are made at the start.
 */
#include "tool/own_tools.h"

#include <stdio.h>
#include <stdlib.h>

#include "core/mem.h"
#include "wire/schema.h"

/* Digits of a revision. */
#define REVISION_DIGITS 16

static void
own_tool_init(struct own_tool *t, const struct own_tool_row *row)
{
	const struct tool_definition d = { row->name, row->description,
		row->schema };

	t->row = row;
	if (tool_definition_digest(&d, t->definition) != RC_OK ||
	    wire_schema_new(d.schema, &t->arguments, NULL) != RC_OK)
		abort();
}

struct own_tools *
own_tools_new(
    const struct own_tools *like, const struct own_tool_row *rows, size_t n)
{
	struct own_tools *t = mem_zalloc(sizeof(*t));
	struct str *parts = mem_calloc(n + 1, sizeof(*parts));
	char digest[TOOL_DIGEST_MAX];

	t->provider = like->provider;
	t->needs_approval = like->needs_approval;
	t->timeout_s = like->timeout_s;
	t->list = mem_calloc(n, sizeof(*t->list));
	t->n = n;
	for (size_t i = 0; i < n; i++) {
		own_tool_init(&t->list[i], &rows[i]);
		parts[i] = str_of(t->list[i].definition);
	}
	parts[n] = t->needs_approval ? STR("ask") : STR("auto");
	tool_digest(parts, n + 1, digest);
	(void)snprintf(
	    t->revision, sizeof(t->revision), "%.*s", REVISION_DIGITS, digest);
	free(parts);
	return t;
}

void
own_tools_free(struct own_tools *t)
{
	if (t == NULL)
		return;
	for (size_t i = 0; i < t->n; i++)
		wire_schema_free(t->list[i].arguments);
	free(t->list);
	free(t);
}

const struct own_tool *
own_tools_find(const struct own_tools *t, struct str name)
{
	for (size_t i = 0; i < t->n; i++)
		if (str_eq(t->list[i].row->name, name))
			return &t->list[i];
	return NULL;
}

enum rc
own_tool_check(
    const struct own_tool *tool, struct str arguments, struct wire_err *err)
{
	return wire_schema_check(tool->arguments, arguments, err);
}

/* ---- what a user has decided ---- */

enum own_tool_policy { OWN_TOOL_AUTO, OWN_TOOL_CONFIRM, OWN_TOOL_NEVER };

static enum own_tool_policy
own_tool_policy(const struct own_tools *t, const struct own_tool *tool,
    const struct own_tool_grant *g)
{
	bool same = g->pin.n == 0 || str_eq(g->pin, str_of(tool->definition));

	if (str_eq(g->policy, STR("never")))
		return OWN_TOOL_NEVER;
	if (str_eq(g->policy, STR("ask")))
		return OWN_TOOL_CONFIRM;
	if (str_eq(g->policy, STR("auto")) && same)
		return OWN_TOOL_AUTO;
	return t->needs_approval ? OWN_TOOL_CONFIRM : OWN_TOOL_AUTO;
}

/* Whether the user has approved exactly this call. */
static bool
own_tool_is_sealed(const struct own_tools *t, const struct own_tool *tool,
    const struct wire_tool_call_request *q)
{
	const struct tool_sealed_call call = { t->provider, t->provider,
		tool->row->name, str_of(tool->definition), q->arguments };
	char seal[TOOL_DIGEST_MAX];

	return q->has_approval && tool_seal(&call, seal) == RC_OK &&
	    str_eq(q->approval.seal, str_of(seal));
}

enum own_tool_verdict
own_tool_admit(const struct own_tools *t, const struct own_tool *tool,
    const struct own_tool_grant *g, const struct wire_tool_call_request *q)
{
	enum own_tool_policy policy = own_tool_policy(t, tool, g);

	if (policy == OWN_TOOL_NEVER)
		return OWN_TOOL_FORBIDDEN;
	if (!str_eq(q->definition, str_of(tool->definition)))
		return OWN_TOOL_DEFINITION_CHANGED;
	if (policy == OWN_TOOL_AUTO || own_tool_is_sealed(t, tool, q))
		return OWN_TOOL_ALLOWED;
	return OWN_TOOL_APPROVAL_REQUIRED;
}

struct wire_tool_call_reply
own_tool_denial(const struct wire_tool_call_request *q, enum own_tool_verdict v)
{
	switch (v) {
	case OWN_TOOL_ALLOWED: /* a bug of the caller */
		abort();
	case OWN_TOOL_FORBIDDEN:
		return own_tool_error(
		    q, "FORBIDDEN", STR("the user forbids this tool"));
	case OWN_TOOL_DEFINITION_CHANGED:
		return own_tool_error(q, "DEFINITION_CHANGED",
		    STR("the tool's definition has changed"));
	case OWN_TOOL_APPROVAL_REQUIRED:
		break;
	}
	return own_tool_error(
	    q, "APPROVAL_REQUIRED", STR("the user has not approved this call"));
}

/* ---- lists and replies ---- */

static struct wire_tool_definition
own_tool_define(const struct own_tools *t, const struct own_tool *tool,
    enum own_tool_policy policy)
{
	return (struct wire_tool_definition){ .name = tool->row->name,
		.server = t->provider,
		.tool = tool->row->name,
		.description = tool->row->description,
		.schema = tool->row->schema,
		.policy = policy == OWN_TOOL_CONFIRM
		    ? WIRE_TOOL_DEFINITION_POLICY_ASK
		    : WIRE_TOOL_DEFINITION_POLICY_AUTO,
		.timeout_s = t->timeout_s,
		.definition = str_of(tool->definition) };
}

enum rc
own_tools_list(const struct own_tools *t, int64_t max,
    const struct own_tool_grant *grants, struct arena *a,
    struct wire_tool_list_reply *out)
{
	enum own_tool_policy policy;
	struct wire_tool_list_reply_left_out *left =
	    arena_alloc(a, sizeof(*left));

	*out = (struct wire_tool_list_reply){ .revision = str_of(t->revision),
		.tools = arena_alloc(a, t->n * sizeof(*out->tools)),
		.left_out = left };
	if (left == NULL || out->tools == NULL)
		return RC_TOOBIG;
	*left = (struct wire_tool_list_reply_left_out){ .server = t->provider,
		.names = arena_alloc(a, t->n * sizeof(*left->names)) };
	if (left->names == NULL)
		return RC_TOOBIG;
	for (size_t i = 0; i < t->n; i++) {
		policy = own_tool_policy(t, &t->list[i], &grants[i]);
		if (policy == OWN_TOOL_NEVER)
			continue;
		if ((int64_t)out->n_tools < max)
			out->tools[out->n_tools++] =
			    own_tool_define(t, &t->list[i], policy);
		else
			left->names[left->n_names++] = t->list[i].row->name;
	}
	out->n_left_out = left->n_names > 0;
	return RC_OK;
}

enum rc
own_tools_put_present(
    const struct own_tools *t, struct str instance, struct buf *out)
{
	const struct wire_tool_present m = { .provider = t->provider,
		.instance = instance,
		.revision = str_of(t->revision) };

	return wire_encode(&wire_tool_present_desc, &m, out, NULL);
}

struct wire_tool_call_reply
own_tool_error(const struct wire_tool_call_request *q, const char *code,
    struct str message)
{
	return (struct wire_tool_call_reply){ .call_id = q->call_id,
		.state = WIRE_TOOL_CALL_REPLY_STATE_ENDED,
		.has_ok = true,
		.has_error = true,
		.error = { str_of(code), message } };
}

struct wire_tool_call_reply
own_tool_text(const struct wire_tool_call_request *q, bool ok, struct str text)
{
	struct wire_tool_call_reply rep = { .call_id = q->call_id,
		.state = WIRE_TOOL_CALL_REPLY_STATE_ENDED,
		.has_ok = true,
		.ok = ok,
		.text = text };

	if (!ok) {
		rep.has_error = true;
		rep.error.code = STR("TOOL_ERROR");
		rep.error.message = STR("the tool reports an error");
	}
	return rep;
}
