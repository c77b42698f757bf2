/*
 * http_param: arguments of a call that a tool's schema wants as headers
 * ("x-mcp-header", MCP 2026-07-28).
 *
 * Pure; any thread.
 */
#ifndef HTTP_PARAM_H
#define HTTP_PARAM_H

#include "core/buf.h"
#include "core/str.h"

/* Headers of one call, and bytes of a value; what is beyond is left out. */
#define HTTP_PARAMS_MAX      32
#define HTTP_PARAM_VALUE_MAX 4096

/*
 * http_param_put(schema, arguments, out):
 * Append a line "Mcp-Param-<Name>: <value>" with a NUL for each property of
 * schema that is so marked and is a text, a number or a boolean of arguments.
 * A value that is no plain ASCII is "=?base64?…?=".
 */
void http_param_put(struct str schema, struct str arguments, struct buf *out);

/* http_param_value_put(text, out): Append a value, encoded as above. */
void http_param_value_put(struct str text, struct buf *out);

#endif /* !HTTP_PARAM_H */
