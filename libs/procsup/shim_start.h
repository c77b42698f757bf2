/*
 * shim_start: starting the process of a shim.
 */
#ifndef PROCSUP_SHIM_START_H
#define PROCSUP_SHIM_START_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct procsup_spec;

/* Descriptors that a shim is given, besides 0. */
#define SHIM_FDS_MAX 4

/* As procsup_opts has them. */
struct shim_program {
	const char *path;
	const char *const *env;
	int64_t grace_ms;
};

/* shim_spec_file(spec, grace_ms): A memfd with it; -1 with errno. */
int shim_spec_file(const struct procsup_spec *spec, int64_t grace_ms);

/*
 * shim_spawn(o, spec, fds, n, pid):
 * Start one for *spec, with the n descriptors fds as 3, 4 and so on; they stay
 * open here.  Returns a pidfd, or -1 with errno.
 */
int shim_spawn(const struct shim_program *o, const struct procsup_spec *spec,
    const int *fds, size_t n);

#endif /* !PROCSUP_SHIM_START_H */
