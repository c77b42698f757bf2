/*
 * shim_internal: what the runner and a shim agree on.
 */
#ifndef PROCSUP_SHIM_INTERNAL_H
#define PROCSUP_SHIM_INTERNAL_H

/*
 * A shim is started with the spec as descriptor 0, and as this one the file
 * "shim" of its spool, with an exclusive flock(): who gets that lock knows that
 * the shim has ended.  The shim writes its pid into the file.
 */
#define SHIM_LOCK_FD 3
#define SHIM_FILE    "shim"

/* "shim --enter SPEC REPORT": see shim_engine_enter(). */
#define SHIM_ENTER "--enter"

/* A spec with its keys, in bytes. */
#define SHIM_SPEC_FILE_MAX (512L * 1024)

#endif /* !PROCSUP_SHIM_INTERNAL_H */
