/*
 * star-hub: the hub of the Star Protocol 1.0.
 *
 *	ws	/env/{env_id}, /env/{env_id}/agent/{agent_id},
 *		/human/{human_id}
 *	get	/, /star.js and what they load
 *	nats	soul.star.hub.<hub>, soul.star.directory,
 *		soul.star.takeover.<hub>, soul.star.query: hubs among
 *themselves; soul.rpc.star.enter, leave; soul.body.star.<terminal>.*
 */
#include "core/conf.h"
#include "handlers.h"
#include "svc/svc.h"
#include "svc/svc_ws.h"
#include "web_files.h"
#include "wire/iface.h"

static const struct svc_ws hub_ws = {
	.name = "star",
	.roles = 1U << WIRE_ROLE_OWNER | 1U << WIRE_ROLE_TERMINAL |
	    1U << WIRE_ROLE_OPERATOR,
	.token_later = true,
	.limits = hub_limits,
	.on_request = on_connect,
	.on_message = on_message,
	.on_room = on_room,
	.on_end = on_end,
	.on_reject = on_reject,
	.drain_reason = "restart, resume at once",
	.files = web_files,
	.nfiles = WEB_FILES_N,
};
static const struct svc_def hub_def = {
	.name = "star-hub",
	.summary = "connects agents, environments and humans",
	.http_addr = "127.0.0.1:9014",
	.admin_addr = "127.0.0.1:9122",
	.opts = hub_opts,
	.nopts = HUB_OPTS_N,
	.conf_size = sizeof(struct hub_conf),
	.routes = home_routes,
	.nroutes = HOME_ROUTES_N,
	.ws = &hub_ws,
	.check = hub_check,
	.start = hub_start,
	.drain = hub_drain,
	.stop = hub_stop,
};

int
main(int argc, char *argv[])
{
	return svc_main(&hub_def, argc, argv);
}
