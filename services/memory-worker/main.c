/*
 * memory-worker: long-term memory of souls.
 *
 *         nats    soul.rpc.memory.recall, .ready, .forget, .list, .profile
 *         jobs    soul.job.memory_store (stream SOUL_JOBS), in and out
 *         events  session_idle, memory_stored, audit
 *         http    out: language model, embedding model, Mem0, Chroma
 *         cli     dead: dead-lettered jobs
 */
#include "core/mem.h"
#include "handlers.h"
#include "memory_worker.h"
#include "svc/svc.h"
#include "wire/msgs.h"
#include "wire/subjects.h"
#include "work/work.h"

#define RPC(x, X)                                                             \
	WIRE_SUBJECT_MEMORY_##X, NULL, NULL, &wire_memory_##x##_request_desc, \
	    &wire_memory_##x##_reply_desc, on_##x,                            \
	    WIRE_DEADLINE_MS_MEMORY_##X, NULL, 0
static const struct svc_route main_routes[] = {
	{ "recall", RPC(recall, RECALL) },
	{ "ready", RPC(ready, READY) },
	{ "forget", RPC(forget, FORGET) },
	{ "list", RPC(list, LIST) },
	{ "profile", RPC(profile, PROFILE) },
};

static const struct svc_command main_commands[] = {
	WORK_DEAD_COMMAND(memory_job_kinds),
};

static const struct svc_def main_def = {
	.name = "memory-worker",
	.summary = "summarises conversations, stores memories, finds them",
	.http_addr = "",
	.admin_addr = "127.0.0.1:9115",
	.opts = memory_worker_opts,
	.nopts = MEMORY_WORKER_OPTS_N,
	.conf_size = sizeof(struct memory_worker_conf),
	.routes = main_routes,
	.nroutes = NELEM(main_routes),
	.commands = main_commands,
	.ncommands = NELEM(main_commands),
	.check = memory_worker_check,
	.start = memory_worker_start,
	.drain = memory_worker_drain,
	.stop = memory_worker_stop,
};

int
main(int argc, char *argv[])
{
	return svc_main(&main_def, argc, argv);
}
