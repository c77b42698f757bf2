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
 * shim_engine_start(s, cgroup, out, e):
 * Start it in a session, sandbox and control group (may be "") of its own.  A
 * piped one gets the descriptors from SHIM_PIPES_FD on, which are closed here;
 * out has none then.
 * RC_DOWN: *e has the reason; no process and no descriptor is left.
 */
enum rc shim_engine_start(const struct procsup_spec *s, const char *cgroup,
    struct shim_engine *out, struct shim_engine_error *e) RC_CHECK;

/*
 * shim_engine_enter(spec, report):
 * What runs in bubblewrap: enter the rest of the sandbox, and execute the
 * engine.  Both are descriptors, of the spec's file, and of the pipe for what
 * fails.  Does not return.
 */
int shim_engine_enter(int spec, int report) __attribute__((noreturn));

#endif /* !PROCSUP_SHIM_ENGINE_H */
