/*
 * export_mcp: a user's MCP servers, grants of tools, and evolutions, as lines
 * of an export.
 */
#ifndef CHAT_GATEWAY_MEMORIES_EXPORT_MCP_H
#define CHAT_GATEWAY_MEMORIES_EXPORT_MCP_H

#include "core/arena.h"
#include "core/rc.h"
#include "core/str.h"

struct export_to;
struct state;

/*
 * export_mcp_servers(s, user, a, to): Put the servers.  Headers are named; what
 *     they say is a secret, which is not exported.
 * export_mcp_grants(s, user, soul, a, to): Put the grants; of that soul, or, if
 *     it is absent, all.
 * export_mcp_evolutions(s, user, soul, a, to): Put the evolutions; likewise.
 *
 * Calls (state.h); the error of the state, or of put.
 */
enum rc export_mcp_servers(struct state *s, struct str user, struct arena *a,
    const struct export_to *to) RC_CHECK;
enum rc export_mcp_grants(struct state *s, struct str user, struct str soul,
    struct arena *a, const struct export_to *to) RC_CHECK;
enum rc export_mcp_evolutions(struct state *s, struct str user, struct str soul,
    struct arena *a, const struct export_to *to) RC_CHECK;

#endif /* !CHAT_GATEWAY_MEMORIES_EXPORT_MCP_H */
