/*
 * engine-runner: coding engines as conversations.
 *	nats	soul.rpc.run.start, .reply, .cancel: of any run
 *		soul.rpc.run.logs, .files, .file.<runner>: of this disk
 *		soul.run.wake.<runner>; out: soul.run.stream.<run>
 *		soul.tool.engine-runner.list, .call, .cancel
 */
#include "context.h"
#include "core/mem.h"
#include "handlers.h"
#include "proxy/proxy_command.h"
#include "svc/svc.h"
#include "wire/msgs.h"
#include "wire/subjects.h"

#define RPC(s, x, X, rep)                                                    \
	s, NULL, NULL, &wire_##x##_request_desc, &wire_##rep##_desc, on_##x, \
	    WIRE_DEADLINE_MS_##X, NULL, 0
#define RUN(x, X, rep) RPC(WIRE_SUBJECT_##X, x, X, rep)
#define TOOL(x)        "soul.tool.engine-runner." #x
static const struct svc_route main_routes[] = {
	{ "run_start", RUN(run_start, RUN_START, run) },
	{ "run_reply", RUN(run_reply, RUN_REPLY, run) },
	{ "run_cancel", RUN(run_cancel, RUN_CANCEL, run_cancel_reply) },
	{ "tool_list", RPC(TOOL(list), tool_list, TOOL_LIST, tool_list_reply) },
	{ "tool_call", RPC(TOOL(call), tool_call, TOOL_CALL, tool_call_reply) },
};
static const struct svc_command main_commands[] = {
	{ "replay", replay_usage, "print the events of a spool", replay_help,
	    true, replay_command, NULL },
	{ "proxy", "[--help | healthcheck]",
	    "pass the engines' requests to their models", "", true,
	    proxy_command, NULL },
	{ "shim", "MARK", "own an engine; started by the runner alone", "",
	    true, shim_command, NULL },
};
static const struct svc_def main_def = {
	.name = "engine-runner",
	.summary = "runs coding engines",
	.http_addr = "",
	.admin_addr = "127.0.0.1:9118",
	.drain_ms = "600000",
	.opts = runner_opts,
	.nopts = RUNNER_OPTS_N,
	.conf_size = sizeof(struct runner_conf),
	.routes = main_routes,
	.nroutes = NELEM(main_routes),
	.commands = main_commands,
	.ncommands = NELEM(main_commands),
	.check = runner_check,
	.start = runner_start,
	.drain = runner_drain,
	.stop = runner_stop,
};

int
main(int argc, char *argv[])
{
	return svc_main(&main_def, argc, argv);
}
