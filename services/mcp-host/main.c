/*
 * mcp-host: tools of MCP servers for souls.
 *
 *	nats	soul.tool.mcp-host.list, .call, .cancel
 *		soul.rpc.mcp.*: servers, tools and grants of users
 *		soul.rpc.evolution.*: what souls ask for
 *		soul.mcp.call.<instance>: passed on by another replica
 *		out: soul.tool.present.mcp-host
 *	events	system_notification, audit
 *	jobs	memory_store
 *	cli	shim: started by the service
 */
#include "context.h"
#include "core/mem.h"
#include "handlers.h"
#include "svc/svc.h"

static const struct svc_command main_commands[] = {
	{ "shim", "MARK", "own a server's process; started by the service", "",
	    true, shim_command, NULL },
};
static const struct svc_def main_def = {
	.name = "mcp-host",
	.summary = "tools of MCP servers for souls",
	.http_addr = "",
	.admin_addr = "127.0.0.1:9119",
	.opts = host_opts,
	.nopts = HOST_OPTS_N,
	.conf_size = sizeof(struct host_conf),
	.routes = host_routes,
	.nroutes = HOST_ROUTES_N,
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
