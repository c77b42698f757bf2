/*
 * procsup: supervised processes that outlive their supervisor.
 *
 * A shim, a process of its own, owns the engine's pipes, writes them to the
 * spool, enforces limits and waits for its end; it is started with posix_spawn
 * as "/proc/self/exe shim", so the program needs procsup_shim_main() as its
 * command "shim".  The runner only reads the spool: killed and started again it
 * takes its shims over, and reads each spool from the first byte.
 *
 * Nothing of an attempt survives its end, by three means: the engine's process
 * group; the shim is a subreaper, so whatever daemonizes becomes its child; and
 * SOUL_RUN=<mark> in the environment, by which the runner finds the processes
 * of a shim that died.
 *
 * Where ours is delegated, a control group of its own is a fourth.  A shim
 * outlives a systemd unit only with KillMode=process, and a container never.
 *
 * All on the loop, which is never blocked.
 */
#ifndef PROCSUP_PROCSUP_H
#define PROCSUP_PROCSUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/rc.h"
#include "core/str.h"
#include "procsup/procsup_spec.h"
#include "procsup/spool.h"

struct loop;

struct procsup; /* of a process */
struct shim;    /* the runner's handle of an attempt */

struct procsup_opts {
	struct loop *loop;
	const char
	    *program; /* of the shims; NULL: /proc/self/exe; not copied */
	const char *const *env; /* of the shims, which engines do not get; NULL:
				   empty */
	int64_t stop_grace_ms;  /* between TERM and KILL; 0: KILL at once */
};

struct procsup_handler {
	/* As of spool_tail_handler. */
	void (*on_chunk)(void *arg, const struct spool_chunk *c);
	/*
	 * All bytes were given to on_chunk, no process of the attempt is left
	 * and the spool is complete; e is NULL if it is damaged.  If the shim
	 * was killed, it is as if the engine had been.  The handle is freed on
	 * return.
	 */
	void (*on_end)(void *arg, const struct spool_exit *e);
	void *arg;
};

/* procsup_new(o, out): RC_DOWN: no inotify instance is left. */
enum rc procsup_new(
    const struct procsup_opts *o, struct procsup **out) RC_CHECK;

/*
 * procsup_free(p): Forget all handles, without a callback; shims and engines
 * run on.  NULL is allowed.
 */
void procsup_free(struct procsup *p);

/* procsup_count(p): Handles. */
size_t procsup_count(const struct procsup *p);

/*
 * procsup_start(p, spec, h, out):
 * Start a shim, which starts the engine; an engine that cannot be started is an
 * end (spool_exit).  h is called from a later iteration on.  RC_INVALID: spec
 * breaks a rule above; RC_TOOBIG: over its limits; RC_CONFLICT: dir has a spool
 * already; RC_DOWN, logged: the machine has no resources left.
 */
enum rc procsup_start(struct procsup *p, const struct procsup_spec *spec,
    const struct procsup_handler *h, struct shim **out) RC_CHECK;

/*
 * procsup_take_over(p, dir, mark, h, out):
 * The handle of an attempt that another process started: alive, ended, or
 * killed; h gets all of it from the first byte.  If its shim died without an
 * end, the processes with its mark are killed and the spool is completed.
 * RC_NOENT: dir has no "shim", so no engine was started; RC_DOWN: no
 * descriptor is left.
 */
enum rc procsup_take_over(struct procsup *p, const char *dir, const char *mark,
    const struct procsup_handler *h, struct shim **out) RC_CHECK;

/*
 * procsup_stop(s, why):
 * Stop the engine: TERM to its group, after stop_grace_ms KILL, then whatever
 * it left; on_end comes after that, with why as the reason.  A shim that does
 * not do it within 5 s more is killed itself.  No-op if it is stopped already.
 */
void procsup_stop(struct shim *s, enum spool_stop why);

/* procsup_pause(s, paused): As spool_tail_pause(): on_end is held, too. */
void procsup_pause(struct shim *s, bool paused);

/*
 * procsup_sweep(p, is_doomed, arg, done):
 * Kill all processes of this user with a SOUL_RUN for whose value is_doomed()
 * is true, until there are none or 10 s have passed, then done(arg, killed).
 * Reads /proc in steps.  RC_RETRY: 64 sweeps run.
 */
enum rc procsup_sweep(struct procsup *p,
    bool (*is_doomed)(void *arg, struct str mark), void *arg,
    void (*done)(void *arg, size_t killed)) RC_CHECK;

/*
 * procsup_find_shim(dst, size):
 * The path of the program that is a shim and nothing else, if there is one
 * behind this program's folder: "../lib/soul/engine-shim".  Without it this
 * program, with its many libraries, is the shim.
 */
bool procsup_find_shim(char *dst, size_t size);

/* procsup_shim_main(argc, argv): All of the command "shim"; its exit code. */
int procsup_shim_main(int argc, char *argv[]);

#endif /* !PROCSUP_PROCSUP_H */
