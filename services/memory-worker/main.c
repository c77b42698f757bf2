/*
 * memory-worker: what souls remember of their users.
 *
 *	nats	soul.rpc.memory.recall, .ready, .forget, .list, .profile
 *	jobs	soul.job.memory_store (stream SOUL_JOBS), in and out
 *	events	session_idle, memory_stored, audit
 *	http	out: chat completions of the language model
 *	cli	dead: jobs that were put aside
 */
#include "core/mem.h"
#include "dead.h"
#include "keeper.h"
#include "on_forget.h"
#include "on_list.h"
#include "on_memory.h"
#include "on_profile.h"
#include "svc/svc.h"
#include "wire/msgs.h"
#include "wire/subjects.h"

#define RPC(x, X)                                                             \
	WIRE_SUBJECT_MEMORY_##X, NULL, NULL, &wire_memory_##x##_request_desc, \
	    &wire_memory_##x##_reply_desc, on_##x,                            \
	    WIRE_DEADLINE_MS_MEMORY_##X, NULL, 0
static const struct svc_route routes[] = {
	{ "recall", RPC(recall, RECALL) },
	{ "ready", RPC(ready, READY) },
	{ "forget", RPC(forget, FORGET) },
	{ "list", RPC(list, LIST) },
	{ "profile", RPC(profile, PROFILE) },
};

static const struct svc_def def = {
	.name = "memory-worker",
	.summary = "summarises what was said, remembers it, finds it again",
	.http_addr = "",
	.admin_addr = "127.0.0.1:9115",
	.opts = keeper_opts,
	.nopts = KEEPER_OPTS_N,
	.conf_size = sizeof(struct keeper_conf),
	.routes = routes,
	.nroutes = NELEM(routes),
	.commands = &dead_command,
	.ncommands = 1,
	.check = keeper_check,
	.start = keeper_start,
	.stop = keeper_stop,
};

int
main(int argc, char *argv[])
{
	return svc_main(&def, argc, argv);
}
