/*
 * engine-runner: coding engines as conversations.
 *
 *	nats	soul.rpc.run.start, .reply, .cancel: of any run
 *		soul.rpc.run.logs, .files, .file.<runner>: of this disk
 *		soul.run.wake.<runner>; out: soul.run.stream.<run>
 *	events	run_started, run_asks, run_ended
 *	cli	replay: events of a spool; proxy: the engines' way to models;
 *		shim: started by the runner
 */
#include "context.h"
#include "core/mem.h"
#include "handlers.h"
#include "proxy/proxy_command.h"
#include "svc/svc.h"
#include "wire/msgs.h"
#include "wire/subjects.h"

#define RPC(x, X, rep)                                                       \
	WIRE_SUBJECT_RUN_##X, NULL, NULL, &wire_run_##x##_request_desc, rep, \
	    on_run_##x, WIRE_DEADLINE_MS_RUN_##X, NULL, 0
static const struct svc_route main_routes[] = {
	{ "run_start", RPC(start, START, &wire_run_desc) },
	{ "run_reply", RPC(reply, REPLY, &wire_run_desc) },
	{ "run_cancel", RPC(cancel, CANCEL, &wire_run_cancel_reply_desc) },
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
