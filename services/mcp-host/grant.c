#include "grant.h"

#include "catalogue.h"

static bool
grant_is_auto_tool(const struct mcp_server *s, struct str name)
{
	size_t i;

	for (i = 0; i < s->n_auto_tools; i++)
		if (str_eq(name, str_of(s->auto_tools[i])))
			return true;
	return false;
}

static enum mcp_policy
grant_configured(const struct mcp_server *s, const struct catalogue_tool *t)
{
	if (s->policy == MCP_POLICY_NEVER)
		return MCP_POLICY_NEVER;
	if (grant_is_auto_tool(s, t->name))
		return MCP_POLICY_AUTO;
	if (s->policy != MCP_POLICY_UNSET)
		return s->policy;
	return s->trust_hints && t->read_only ? MCP_POLICY_AUTO
					      : MCP_POLICY_CONFIRM;
}

struct grant_decision
grant_decide(const struct mcp_server *s, const struct catalogue_tool *t,
    struct str definition, const struct grant *g)
{
	struct grant_decision d = { .policy = grant_configured(s, t),
		.read_only = s->trust_hints && t->read_only,
		.idempotent = s->trust_hints && t->idempotent };

	if (d.policy == MCP_POLICY_NEVER || g->policy == MCP_POLICY_UNSET)
		return d;
	d.policy = g->policy;
	d.changed = g->policy == MCP_POLICY_AUTO && g->pin.n > 0 &&
	    !str_eq(g->pin, definition);
	if (d.changed)
		d.policy = MCP_POLICY_CONFIRM;
	return d;
}

enum grant_verdict
grant_check(const struct grant_decision *d, const struct grant_call *c)
{
	if (d->policy == MCP_POLICY_NEVER)
		return GRANT_FORBIDDEN;
	/* Its arguments were made for another definition. */
	if (!str_eq(c->requested, c->definition))
		return GRANT_DEFINITION_CHANGED;
	if (d->policy == MCP_POLICY_AUTO)
		return GRANT_ALLOWED;
	return c->approved.n > 0 && str_eq(c->approved, c->seal)
	    ? GRANT_ALLOWED
	    : GRANT_APPROVAL_REQUIRED;
}
