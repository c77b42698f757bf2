/*
 * mcp-host: tools of MCP servers for souls.
 *
 *	nats	soul.tool.mcp-host.list, .call, .cancel
 *		soul.rpc.mcp.*: servers, tools and grants of users
 *		soul.mcp.call.<instance>: passed on by another replica
 *		out: soul.tool.present.mcp-host
 *	events	system_notification
 *	cli	shim: started by the service
 */
#include "core/mem.h"
#include "handlers.h"
#include "host.h"
#include "svc/svc.h"
#include "wire/msgs.h"
#include "wire/subjects.h"

#define RPC(x, X, req, rep, f)                                           \
	{                                                                \
#x, WIRE_SUBJECT_##X, NULL, NULL, &wire_##req##_desc,    \
		    &wire_##rep##_desc, f, WIRE_DEADLINE_MS_##X, NULL, 0 \
	}
static const struct svc_route main_routes[] = {
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
};
static const struct svc_command main_commands[] = {
	{ "shim", "MARK", "own a server's process; started by the service", "",
	    true, shim_command },
};
static const struct svc_def main_def = {
	.name = "mcp-host",
	.summary = "tools of MCP servers for souls",
	.http_addr = "",
	.admin_addr = "127.0.0.1:9119",
	.opts = host_opts,
	.nopts = HOST_OPTS_N,
	.conf_size = sizeof(struct host_conf),
	.routes = main_routes,
	.nroutes = NELEM(main_routes),
	.commands = main_commands,
	.ncommands = NELEM(main_commands),
	.check = host_check,
	.start = host_start,
	.drain = host_drain,
	.stop = host_stop,
};

int
main(int argc, char *argv[])
{
	return svc_main(&main_def, argc, argv);
}
