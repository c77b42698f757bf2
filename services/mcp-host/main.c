/*
 * mcp-host: tools of MCP servers for souls.
 *
 *	nats	soul.tool.mcp-host.list, .call, .cancel
 */
#include "host.h"
#include "svc/svc.h"

static const struct svc_def main_def = {
	.name = "mcp-host",
	.summary = "tools of MCP servers for souls",
	.http_addr = "",
	.admin_addr = "127.0.0.1:9119",
	.opts = host_opts,
	.nopts = HOST_OPTS_N,
	.conf_size = sizeof(struct host_conf),
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
