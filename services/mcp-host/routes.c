/*
 * The routes of this service.
 */
#include "handlers.h"
#include "svc/svc.h"
#include "wire/msgs.h"
#include "wire/subjects.h"

#define RPC(x, X, req, rep, f)                                           \
	{                                                                \
#x, WIRE_SUBJECT_##X, NULL, NULL, &wire_##req##_desc,    \
		    &wire_##rep##_desc, f, WIRE_DEADLINE_MS_##X, NULL, 0 \
	}
const struct svc_route host_routes[HOST_ROUTES_N] = {
	{ "tool_list", "soul.tool.mcp-host.list", NULL, NULL,
	    &wire_tool_list_request_desc, &wire_tool_list_reply_desc,
	    on_tool_list, WIRE_DEADLINE_MS_TOOL_LIST, NULL, 0 },
	{ "tool_call", "soul.tool.mcp-host.call", NULL, NULL,
	    &wire_tool_call_request_desc, &wire_tool_call_reply_desc,
	    on_tool_call, WIRE_DEADLINE_MS_TOOL_CALL, NULL, 0 },
	RPC(mcp_servers, MCP_SERVERS, mcp_server_request, mcp_server_list,
	    on_mcp_servers),
	RPC(mcp_server_put, MCP_SERVER_PUT, mcp_server_put_request, mcp_server,
	    on_mcp_server_put),
	RPC(mcp_server_delete, MCP_SERVER_DELETE, mcp_server_request,
	    ok_response, on_mcp_server_delete),
	RPC(mcp_server_restart, MCP_SERVER_RESTART, mcp_server_request,
	    ok_response, on_mcp_server_restart),
	RPC(mcp_tools, MCP_TOOLS, mcp_tools_request, mcp_tool_list,
	    on_mcp_tools),
	RPC(mcp_grant, MCP_GRANT, mcp_grant_request, mcp_grant, on_mcp_grant),
	RPC(evolution_request, EVOLUTION_REQUEST, evolution_request, evolution,
	    on_evolution_request),
	RPC(evolution_list, EVOLUTION_LIST, evolution_list_request,
	    evolution_list, on_evolution_list),
	RPC(evolution_act, EVOLUTION_ACT, evolution_act_request, evolution,
	    on_evolution_act),
};
