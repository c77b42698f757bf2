/*
 * star-hub: the hub of the Star Protocol 1.0.
 *
 *	ws	/env/{env_id}, /env/{env_id}/agent/{agent_id},
 *		/human/{human_id}
 *	get	/, /star.js and what they load
 *	nats	soul.star.*: hubs among themselves
 *		soul.rpc.star.list, members, history, kick, enter, leave
 *		soul.body.star.<terminal>.*: commands to souls' agents
 */
#include "core/conf.h"
#include "core/mem.h"
#include "handlers.h"
#include "svc/svc.h"
#include "svc/svc_ws.h"
#include "web_files.h"
#include "wire/iface.h"
#include "wire/msgs.h"
#include "wire/subjects.h"

#define RPC(x, X, rep)                                                         \
	WIRE_SUBJECT_STAR_##X, NULL, NULL, &wire_star_##x##_request_desc, rep, \
	    on_star_##x, WIRE_DEADLINE_MS_STAR_##X, NULL, 0
static const struct svc_route hub_routes[] = {
	{ "list", RPC(list, LIST, &wire_star_environment_list_desc) },
	{ "members", RPC(members, MEMBERS, &wire_star_member_list_desc) },
	{ "history", RPC(history, HISTORY, &wire_star_history_reply_desc) },
	{ "kick", RPC(kick, KICK, &wire_star_kick_reply_desc) },
	{ "enter", RPC(enter, ENTER, &wire_star_soul_place_desc) },
	{ "leave", RPC(leave, LEAVE, &wire_ok_response_desc) },
};
static const struct svc_def hub_def = {
	.name = "star-hub",
	.summary = "connects agents, environments and humans",
	.http_addr = "127.0.0.1:9014",
	.admin_addr = "127.0.0.1:9122",
	.opts = hub_opts,
	.nopts = HUB_OPTS_N,
	.conf_size = sizeof(struct hub_conf),
	.routes = hub_routes,
	.nroutes = NELEM(hub_routes),
	.commands = hub_commands,
	.ncommands = HUB_COMMANDS_N,
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
