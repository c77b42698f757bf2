/*
 * body-sim: simulated bodies, one or ten thousand, and a check of a real one.
 *
 * 	mqtt	the body's side of section 3 of the protocol
 * 	http	GET /state
 * 	out	proto-schemas/body_state.schema.json
 */
#include <string.h>

#include "check_command.h"
#include "core/mem.h"
#include "options.h"
#include "sim.h"
#include "svc/svc.h"
#include "wire/msgs.h"
#include "wire/subjects.h"

static const struct svc_route sim_routes[] = {
	{ .name = "state",
	    .method = "GET",
	    .path = WIRE_HTTP_BODY_STATE,
	    .reply = &wire_body_state_desc,
	    .fn = sim_state,
	    .deadline_ms = 5000 },
};

static const struct svc_command sim_commands[] = {
	{ .name = "check",
	    .usage = "[option]...",
	    .summary = "check whether a real body follows the protocol",
	    .alone = true,
	    .fn = check_run },
};

static const struct svc_def sim_def = {
	.name = "body-sim",
	.summary = "simulates bodies, one or ten thousand",
	.http_addr = "127.0.0.1:9011",
	.admin_addr = "127.0.0.1:9111",
	.no_bus = true,
	.opts = sim_opts,
	.nopts = SIM_OPTS_N,
	.conf_size = sizeof(struct sim_conf),
	.routes = sim_routes,
	.nroutes = NELEM(sim_routes),
	.commands = sim_commands,
	.ncommands = NELEM(sim_commands),
	.check = sim_check,
	.start = sim_start,
	.stop = sim_stop,
};

int
main(int argc, char *argv[])
{
	if ((argc < 2 || strcmp(argv[1], sim_commands[0].name) != 0) &&
	    flags_apply(sim_flags, SIM_FLAGS_N, &argc, argv) != RC_OK)
		return 64;
	return svc_main(&sim_def, argc, argv);
}
