/*
 * mem0: memories in a Mem0 server of one's own (mem0ai/mem0, REST).
 *
 * user_id is the user's token, agent_id the soul's, and the job's id lies in
 * the metadata.  Mem0 has no idempotent put: before a job that may have been
 * done is done again it is looked for, so that a memory is there once unless a
 * worker dies while Mem0 is still storing it.
 */
#ifndef MEMORY_WORKER_MEM0_H
#define MEMORY_WORKER_MEM0_H

#include <stdint.h>

#include "core/rc.h"
#include "rest.h"
#include "store.h"

struct mem0_opts {
	struct rest_opts rest;
	int64_t search_ms; /* longest wait for a search */
	struct state *state;
};

/* mem0_new(o, out): The store; RC_INVALID as rest_new(). */
enum rc mem0_new(const struct mem0_opts *o, struct store **out) RC_CHECK;

#endif /* !MEMORY_WORKER_MEM0_H */
