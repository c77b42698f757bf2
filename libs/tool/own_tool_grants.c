#include "tool/own_tool_grants.h"

#include "state/mcp.h"

static struct own_tool_grant
grants_find(const struct own_tools *t, const struct own_tool *tool,
    struct str soul, const struct mcp_grant *list, size_t n)
{
	const struct mcp_grant *g =
	    mcp_grant_find(list, n, soul, t->provider, tool->row->name);

	return g != NULL ? (struct own_tool_grant){ g->policy, g->pin }
			 : (struct own_tool_grant){ 0 };
}

/* Before the call, so that none is made that was not granted. */
static enum rc
grants_put_always(struct state *s, const struct own_tools *t,
    const struct own_tool *tool, const struct wire_tool_call_request *q)
{
	const struct mcp_grant g = { .soul_id = q->soul_id,
		.server = t->provider,
		.tool = tool->row->name,
		.policy = STR("auto"),
		.pin = str_of(tool->definition) };

	if (!q->has_approval ||
	    q->approval.scope != WIRE_TOOL_CALL_REQUEST_APPROVAL_SCOPE_ALWAYS)
		return RC_OK;
	return mcp_grant_put(s, q->user_id, &g);
}

bool
own_tools_allow(struct state *s, const struct own_tools *t,
    const struct own_tool *tool, const struct wire_tool_call_request *q,
    struct arena *a, struct wire_tool_call_reply *rep)
{
	struct mcp_grant *list;
	size_t n;
	enum rc rc = mcp_grants_read(s, q->user_id, a, &list, &n);

	if (rc == RC_OK) {
		const struct own_tool_grant g =
		    grants_find(t, tool, q->soul_id, list, n);
		enum own_tool_verdict v = own_tool_admit(t, tool, &g, q);

		if (v != OWN_TOOL_ALLOWED) {
			*rep = own_tool_denial(q, v);
			return false;
		}
		rc = grants_put_always(s, t, tool, q);
	}
	if (rc == RC_RETRY)
		*rep = own_tool_error(
		    q, "BUSY", STR("the user has too many grants"));
	else if (rc != RC_OK)
		*rep = own_tool_error(q, "SERVER_UNAVAILABLE",
		    STR("Redis is unavailable: try again later"));
	return rc == RC_OK;
}

enum rc
own_tools_offer(struct state *s, const struct own_tools *t,
    const struct wire_tool_list_request *q, struct arena *a,
    struct wire_tool_list_reply *out)
{
	struct own_tool_grant *grants = arena_alloc(a, t->n * sizeof(*grants));
	struct mcp_grant *list;
	size_t i, n;
	enum rc rc = mcp_grants_read(s, q->user_id, a, &list, &n);

	if (rc != RC_OK || grants == NULL)
		return rc != RC_OK ? rc : RC_TOOBIG;
	for (i = 0; i < t->n; i++)
		grants[i] = grants_find(t, &t->list[i], q->soul_id, list, n);
	return own_tools_list(t, q->max, grants, a, out);
}
