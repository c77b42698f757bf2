/*
 * piped: supervised processes whose pipes are the supervisor's: servers that
 * are spoken to over stdin and stdout, and end with their supervisor.
 *
 * A shim, as procsup's, starts the process, waits for its end, and kills all
 * that it leaves.  When the supervisor stops it, or dies, however that happens,
 * stdin ends; after stdin_grace_ms the process gets TERM, after stop_grace_ms
 * KILL, with all of its descendants.  If the shim is killed, they are found by
 * their mark.
 *
 * All on the loop, which is never blocked; SIGPIPE is ignored.
 */
#ifndef PROCSUP_PIPED_H
#define PROCSUP_PIPED_H

#include <stddef.h>
#include <stdint.h>

#include "core/rc.h"
#include "core/str.h"
#include "procsup/procsup.h"
#include "procsup/procsup_spec.h"
#include "procsup/spool_format.h"

/* Bytes that wait for stdin. */
#define PIPED_INPUT_MAX (1024UL * 1024)
/* Bytes that are read at a time. */
#define PIPED_READ_MAX (64UL * 1024)

struct piped;

struct piped_handler {
	/* bytes are valid until it returns; it may call all but
	 * piped_free(). */
	void (*on_output)(
	    void *arg, enum spool_stream stream, struct str bytes);
	/*
	 * All output was given to on_output, and no process is left.  why is
	 * not "" if e->not_started.  The handle is freed on return.
	 */
	void (*on_end)(void *arg, const struct spool_exit *e, const char *why);
	void *arg;
};

/*
 * piped_start(o, spec, h, out):
 * Start spec->argv, whose dir and stdin_path are NULL; limits do not apply but
 * for those of the sandbox.  h is called from a later iteration on; a program
 * that cannot be started is an end.  o is copied.  RC_INVALID, RC_TOOBIG: spec
 * breaks a rule; RC_DOWN, logged: the machine has no resources left.
 */
enum rc piped_start(const struct procsup_opts *o,
    const struct procsup_spec *spec, const struct piped_handler *h,
    struct piped **out) RC_CHECK;

/*
 * piped_write(p, bytes):
 * Queue bytes for its stdin, all or none.  RC_RETRY: over PIPED_INPUT_MAX with
 * those before; RC_DOWN: it reads no more, or is being stopped.
 */
enum rc piped_write(struct piped *p, struct str bytes) RC_CHECK;

/* piped_stop(p): See above; on_end comes.  No-op if it is stopped already. */
void piped_stop(struct piped *p);

/*
 * piped_free(p):
 * Forget it, without a callback; the shim stops the process.  For the end of
 * the supervisor, which does not wait for it.  NULL is allowed.
 */
void piped_free(struct piped *p);

#endif /* !PROCSUP_PIPED_H */
