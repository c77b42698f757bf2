#include "user_grants.h"

#include "catalogue.h"
#include "context.h"
#include "core/mem.h"
#include "state/mcp.h"
#include "tool_server.h"
#include "toolbox.h"

static const char *const grants_policies[] = {
	[MCP_POLICY_UNSET] = "",
	[MCP_POLICY_AUTO] = "auto",
	[MCP_POLICY_CONFIRM] = "ask",
	[MCP_POLICY_NEVER] = "never",
};

enum rc
user_grants_read(
    struct host *h, struct str user, struct arena *a, struct user_grants *out)
{
	return mcp_grants_read(h->state, user, a, &out->list, &out->n);
}

enum rc
user_grants_allow(struct host *h, struct str user, struct str soul,
    const struct toolbox_tool *t)
{
	const struct mcp_grant g = { .soul_id = soul,
		.server = str_of(t->server->conf->name),
		.tool = t->tool->name,
		.policy = str_of(grants_policies[MCP_POLICY_AUTO]),
		.pin = str_of(t->definition) };

	return mcp_grant_put(h->state, user, &g);
}

struct grant_decision
user_grants_decide(
    const struct user_grants *g, const struct toolbox_tool *t, struct str soul)
{
	const struct mcp_grant *found = mcp_grant_find(
	    g->list, g->n, soul, str_of(t->server->conf->name), t->tool->name);
	struct grant grant = { .policy = MCP_POLICY_UNSET };

	for (size_t i = 0; found != NULL && i < NELEM(grants_policies); i++)
		if (str_eq(found->policy, str_of(grants_policies[i])))
			grant =
			    (struct grant){ (enum mcp_policy)i, found->pin };
	return grant_decide(
	    t->server->conf, t->tool, str_of(t->definition), &grant);
}
