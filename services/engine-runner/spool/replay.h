/*
 * replay: the events of a whole spool.  Pure.
 */
#ifndef SPOOL_REPLAY_H
#define SPOOL_REPLAY_H

#include <stdbool.h>
#include <stddef.h>

#include "attempt.h"
#include "core/str.h"
#include "procsup/spool_format.h"

struct replay {
	struct str out, err;
	struct str journal; /* absent: each line is a record, at time 0 */
	struct str files;
	struct spool_exit exit;
	bool pty;    /* out is a recorded terminal, which is reported */
	size_t feed; /* bytes that are given at a time; 0: all of a record's */
};

/*
 * replay_run(r, a): All of *r to an attempt that has not begun.
 * replay_begin(r, a): The same, of an engine that has not ended: what the
 * journal has, without the exit.
 */
void replay_run(const struct replay *r, struct attempt *a);
void replay_begin(const struct replay *r, struct attempt *a);

/*
 * replay_chooses_pty(r, pty, o):
 * Whether a recorded terminal has what is missing on stdout: old captures lost
 * the last lines of stdout.  True if with it, and not without, the engine gave
 * its end signal, or there is no stdout.  o as of the attempt.
 */
bool replay_chooses_pty(
    const struct replay *r, struct str pty, const struct attempt_opts *o);

#endif /* !SPOOL_REPLAY_H */
