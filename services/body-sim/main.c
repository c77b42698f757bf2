/*
 * body-sim: simulated bodies, one or ten thousand, and a check of a real one.
 *
 *	mqtt	the body's side of protocol section 3
 *	http	GET /state
 *	out	proto-schemas/body_state.schema.json
 */
#include <string.h>

#include "checkup.h"
#include "core/mem.h"
#include "on_state.h"
#include "sim.h"
#include "svc/svc.h"
#include "wire/msgs.h"
#include "wire/subjects.h"

static const struct svc_route routes[] = {
	{ .name = "state",
	    .method = "GET",
	    .path = WIRE_HTTP_BODY_STATE,
	    .reply = &wire_body_state_desc,
	    .fn = on_state,
	    .deadline_ms = 5000 },
};

static const struct svc_command commands[] = {
	{ .name = "check",
	    .usage = "[option]...",
	    .summary = "watch a real body: does it keep the protocol?",
	    .alone = true,
	    .fn = checkup },
};

static const struct svc_def def = {
	.name = "body-sim",
	.summary = "simulates bodies, one or ten thousand",
	.http_addr = "127.0.0.1:9011",
	.admin_addr = "127.0.0.1:9111",
	.no_bus = true,
	.opts = sim_opts,
	.nopts = SIM_OPTS_N,
	.conf_size = sizeof(struct sim_conf),
	.routes = routes,
	.nroutes = NELEM(routes),
	.commands = commands,
	.ncommands = NELEM(commands),
	.check = sim_check,
	.start = sim_start,
	.stop = sim_stop,
};

int
main(int argc, char *argv[])
{
	if ((argc < 2 || strcmp(argv[1], commands[0].name) != 0) &&
	    flags_apply(sim_flags, SIM_FLAGS_N, &argc, argv) != RC_OK)
		return 64;
	return svc_main(&def, argc, argv);
}
