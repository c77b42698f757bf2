/*
 * engine-runner: coding engines as conversations.
 */
#include "core/mem.h"
#include "handlers.h"
#include "proxy/proxy_command.h"
#include "svc/svc.h"

static const struct svc_command runner_commands[] = {
	{ .name = "replay",
	    .usage = replay_usage,
	    .summary = "print the events of a spool",
	    .help = replay_help,
	    .alone = true,
	    .fn = replay_command },
	{ .name = "proxy",
	    .usage = "[--help | healthcheck]",
	    .summary = "pass the engines' requests to their models",
	    .help = "",
	    .alone = true,
	    .fn = proxy_command },
};
static const struct svc_def runner_def = {
	.name = "engine-runner",
	.summary = "runs coding engines",
	.admin_addr = "127.0.0.1:9118",
	.commands = runner_commands,
	.ncommands = NELEM(runner_commands),
};

int
main(int argc, char *argv[])
{
	return svc_main(&runner_def, argc, argv);
}
