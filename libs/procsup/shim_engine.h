/*
 * shim_engine: starting the engine, as the shim's child.
 */
#ifndef PROCSUP_SHIM_ENGINE_H
#define PROCSUP_SHIM_ENGINE_H

#include <sys/types.h>

#include "core/rc.h"
#include "procsup/procsup_spec.h"
#include "procsup/spool_format.h"

/* A started engine: the group's leader, and the read ends of its pipes. */
struct shim_engine {
	pid_t pid;
	int pipes[SPOOL_STREAMS_N]; /* non-blocking */
};

/* Why one could not be started. */
struct shim_engine_error {
	char step[48]; /* what failed */
	int err;       /* errno */
};

/*
 * shim_engine_start(s, out, e):
 * Start it in a session and sandbox of its own.  RC_DOWN: *e has the reason;
 * no process and no descriptor is left.
 */
enum rc shim_engine_start(const struct procsup_spec *s, struct shim_engine *out,
    struct shim_engine_error *e) RC_CHECK;

#endif /* !PROCSUP_SHIM_ENGINE_H */
