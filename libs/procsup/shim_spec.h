/*
 * shim_spec: what a shim is started with, as bytes.  The runner writes it to a
 * memfd, which is the shim's descriptor 0: argv and environment of a process
 * can be read by others.
 */
#ifndef PROCSUP_SHIM_SPEC_H
#define PROCSUP_SHIM_SPEC_H

#include "core/rc.h"
#include "core/str.h"
#include "procsup/procsup_spec.h"

struct buf;

/* shim_spec_write(s, grace_ms, out): Append it; out's limit is its own. */
void shim_spec_write(
    const struct procsup_spec *s, int64_t grace_ms, struct buf *out);

/* A spec that was read, with its memory. */
struct shim_spec {
	struct procsup_spec spec;
	int64_t grace_ms;
	const char **argv, **env;
	size_t argc, envc;
	char *bytes;
};

/*
 * shim_spec_read(s, bytes):
 * The inverse; the strings are copied.  RC_INVALID; shim_spec_free() anyway.
 */
enum rc shim_spec_read(struct shim_spec *s, struct str bytes) RC_CHECK;

/* shim_spec_read_file(s, fd): The same of a whole file. */
enum rc shim_spec_read_file(struct shim_spec *s, int fd) RC_CHECK;

/* shim_spec_free(s): Its memory. */
void shim_spec_free(struct shim_spec *s);

#endif /* !PROCSUP_SHIM_SPEC_H */
