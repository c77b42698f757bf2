/*
 * llm-orchestrator: runs chat turns, from the user's text to the reply.
 *
 *	nats	soul.rpc.turn.start, soul.rpc.turn.cancel.<turn>, .show.
 *		soul.turn.wake.<instance>, soul.result.<terminal>.<request>
 *	out	soul.rpc.emotion.observe, soul.rpc.intent.filter,
 *		soul.rpc.memory.ready, soul.rpc.memory.recall,
 *		soul.rpc.memory.forget
 *		soul.body.<broker>.<terminal>.intent_action, .invoke, .status
 *	http	POST <OPENAI_BASE_URL>/chat/completions, or another provider's
 */
#include "context.h"
#include "core/mem.h"
#include "handlers.h"
#include "svc/svc.h"
#include "wire/msgs.h"
#include "wire/subjects.h"

static const struct svc_route service_routes[] = {
	{ .name = "turn-start",
	    .subject = WIRE_SUBJECT_TURN_START,
	    .request = &wire_turn_start_request_desc,
	    .reply = &wire_turn_reply_desc,
	    .fn = turn_start,
	    .deadline_ms = WIRE_DEADLINE_MS_TURN_START },
};

static const struct svc_def service_def = {
	.name = "llm-orchestrator",
	.summary = "runs chat turns: routing, language model, skills, reply",
	.admin_addr = "127.0.0.1:9114",
	.drain_ms = "70000",
	.opts = orch_opts,
	.nopts = ORCH_OPTS_N,
	.conf_size = sizeof(struct orch_conf),
	.routes = service_routes,
	.nroutes = NELEM(service_routes),
	.commands = &check_llm_command,
	.ncommands = 1,
	.check = orch_check,
	.start = orch_start,
	.stop = orch_stop,
};

int
main(int argc, char *argv[])
{
	return svc_main(&service_def, argc, argv);
}
