/*
 * mcp_view: what clients of the Model Context Protocol are sent.  Pure.
 */
#ifndef CHAT_GATEWAY_SOUL_MCP_MCP_VIEW_H
#define CHAT_GATEWAY_SOUL_MCP_MCP_VIEW_H

#include "core/rc.h"
#include "core/str.h"

struct buf;

/* Codes of JSON-RPC. */
#define MCP_INVALID_REQUEST (-32600)
#define MCP_UNKNOWN_METHOD  (-32601)
#define MCP_INVALID_PARAMS  (-32602)
#define MCP_INTERNAL        (-32603)

/* The tools: a result of tools/list, JSON. */
extern const char mcp_tools[];

/*
 * mcp_write_result(id, result, out):       A response; result is an object.
 * mcp_write_error(id, code, text, out):    Likewise.  id is JSON, or absent.
 * mcp_put_hello(params, soul, version, out): A result of initialize.
 * mcp_put_outcome(status, json, out):      A result of tools/call, of what a
 *                                          route has ended with.
 *
 * Append to out.  RC_INVALID, RC_TOOBIG.
 */
enum rc mcp_write_result(
    struct str id, struct str result, struct buf *out) RC_CHECK;
enum rc mcp_write_error(
    struct str id, int code, struct str text, struct buf *out) RC_CHECK;
enum rc mcp_put_hello(struct str params, struct str soul, const char *version,
    struct buf *out) RC_CHECK;
enum rc mcp_put_outcome(int status, struct str json, struct buf *out) RC_CHECK;

#endif /* !CHAT_GATEWAY_SOUL_MCP_MCP_VIEW_H */
