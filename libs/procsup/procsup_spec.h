/*
 * procsup_spec: what is to be started, and its limits.
 */
#ifndef PROCSUP_PROCSUP_SPEC_H
#define PROCSUP_PROCSUP_SPEC_H

#include <stdint.h>

#include "core/rc.h"
#include "procsup/sandbox.h"

/* Longest mark: [A-Za-z0-9._-]. */
#define PROCSUP_MARK_MAX 127
/* Arguments and variables of an engine; their bytes together. */
#define PROCSUP_STRINGS_MAX 1024
#define PROCSUP_SPEC_MAX    (256UL * 1024)

struct procsup_limits {
	int64_t run_ms;          /* from start to end; 0: none */
	int64_t idle_ms;         /* without a byte of output; 0: none */
	int64_t output_bytes;    /* streams and journal; 0: none */
	const char *workspace;   /* whose size is limited; NULL: none */
	int64_t workspace_bytes; /* checked every few seconds; 0: none */
	int64_t workspace_files;
};

/* What to start; everything is copied. */
struct procsup_spec {
	/* The spool: an existing folder, mode 0700; NULL: piped. */
	const char *dir;
	const char *mark;        /* <run>.<epoch>; unique on this machine */
	const char *const *argv; /* argv[0] is a path; NULL-terminated */
	const char *const *env;  /* all of the environment but SOUL_RUN */
	const char *cwd;
	const char *stdin_path; /* NULL: /dev/null, or a pipe, if piped */
	int64_t stdin_grace_ms; /* piped: from the end of stdin to TERM */
	struct sandbox_spec sandbox;
	struct procsup_limits limits;
};

/*
 * procsup_spec_check(s): Whether s keeps the rules above.
 * RC_INVALID, RC_TOOBIG.
 */
enum rc procsup_spec_check(const struct procsup_spec *s) RC_CHECK;

#endif /* !PROCSUP_PROCSUP_SPEC_H */
