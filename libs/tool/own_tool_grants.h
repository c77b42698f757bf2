/*
 * own_tool_grants: the tools that a provider itself has, by what their user has
 * decided of them.
 *
 * Everything here is a call (state.h).
 */
#ifndef TOOL_OWN_TOOL_GRANTS_H
#define TOOL_OWN_TOOL_GRANTS_H

#include <stdbool.h>

#include "core/arena.h"
#include "core/rc.h"
#include "tool/own_tools.h"
#include "wire/msgs.h"

struct state;

/*
 * own_tools_allow(s, t, tool, q, a, rep):
 * Whether the call q of tool may be made; an approval for always is stored
 * before that.  False: *rep is its reply.
 */
bool own_tools_allow(struct state *s, const struct own_tools *t,
    const struct own_tool *tool, const struct wire_tool_call_request *q,
    struct arena *a, struct wire_tool_call_reply *rep);

/*
 * own_tools_offer(s, t, q, a, out):
 * The reply to q, without what the user forbids.  Otherwise as
 * mcp_grants_read(), or RC_TOOBIG.
 */
enum rc own_tools_offer(struct state *s, const struct own_tools *t,
    const struct wire_tool_list_request *q, struct arena *a,
    struct wire_tool_list_reply *out) RC_CHECK;

#endif /* !TOOL_OWN_TOOL_GRANTS_H */
