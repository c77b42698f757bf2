/*
 * GET /v1/tool-content/{id}: what a tool has returned beside its text.
 */
#include "caller.h"
#include "gateway.h"
#include "handlers.h"
#include "state/mcp.h"
#include "svc/svc.h"
#include "wire/msgs.h"

void
on_tool_content_get(void *app, struct svc_call *c)
{
	struct mcp_content content = { .id = svc_call_param(c, 0) };
	struct wire_tool_content rep;
	struct gateway *g = app;
	struct str user;
	enum rc rc;

	if (!caller_query_user(g, c, &user))
		return;
	rc = mcp_content_read(g->state, user, &content, svc_call_arena(c));
	if (rc != RC_OK) {
		gateway_fail_missing(c, rc == RC_INVALID ? RC_NOENT : rc,
		    "content not found, or expired");
		return;
	}
	rep = (struct wire_tool_content){ content.id, content.mime_type,
		content.data };
	svc_reply(c, &rep);
}
