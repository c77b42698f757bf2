/*
 * shim_internal: what the runner and a shim agree on.
 */
#ifndef PROCSUP_SHIM_INTERNAL_H
#define PROCSUP_SHIM_INTERNAL_H

#include "procsup/spool_format.h"

/*
 * A shim is started with the spec as descriptor 0, and as this one the file
 * "shim" of its spool, with an exclusive flock(): who gets that lock knows that
 * the shim has ended.  The shim writes its pid into the file.
 */
#define SHIM_LOCK_FD 3
#define SHIM_FILE    "shim"

/*
 * A piped one has as this descriptor its end of a socket pair instead, and the
 * engine's ends of its pipes from the next one on.  When the other end is
 * closed or shut down, the shim stops the engine, whether its supervisor wants
 * that or is dead; it writes a struct shim_report before it ends itself.
 */
#define SHIM_CONTROL_FD 3
#define SHIM_PIPES_FD   4

struct shim_report {
	struct spool_exit exit;
	char why[160]; /* it could not be started; else "" */
};

/* "shim --enter SPEC REPORT": see shim_engine_enter(). */
#define SHIM_ENTER "--enter"

/* A spec with its keys, in bytes. */
#define SHIM_SPEC_FILE_MAX (512L * 1024)

#endif /* !PROCSUP_SHIM_INTERNAL_H */
