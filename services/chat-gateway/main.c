/*
 * chat-gateway: the HTTP edge for owners, operators, provisioners and bodies.
 *
 * 	requests	soul.rpc.{turn,run,emotion,memory,mcp,alarm,push}.*,
 * 			.speak; soul.body.<broker>.<terminal>.invoke
 * 	publishes	soul.run.wake.<runner>, soul.webhook.hint
 * 	events		all: in (stream SOUL_EVENTS)
 * 	sends		events to users' webhooks
 * 	subscribes	soul.stream.*, soul.run.stream.*, soul.result.*
 */
#include "core/mem.h"
#include "gateway.h"
#include "handlers.h"

static const struct svc_def gateway_def = {
	.name = "chat-gateway",
	.summary = "serves owners and operators over HTTP",
	.http_addr = "127.0.0.1:9010",
	.admin_addr = "127.0.0.1:9110",
	.http_workers = "256",
	.opts = gateway_opts,
	.nopts = GATEWAY_OPTS_N,
	.conf_size = sizeof(struct gateway_conf),
	.routes = routes,
	.nroutes = ROUTES_N,
	.files = gateway_files,
	.tunnel = gateway_tunnel,
	.commands = &migrate_command,
	.ncommands = 1,
	.check = gateway_check,
	.start = gateway_start,
	.put_error = routes_put_error,
	.drain = on_drain,
	.stop = gateway_stop,
};
int
main(int argc, char *argv[])
{
	return svc_main(&gateway_def, argc, argv);
}
