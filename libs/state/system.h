/*
 * system: what is known of this deployment, for all its processes.
 *
 * Everything here is a call (state.h).
 */
#ifndef STATE_SYSTEM_H
#define STATE_SYSTEM_H

#include <stdint.h>

#include "core/arena.h"
#include "core/rc.h"
#include "core/str.h"

struct state;

/* Bytes of a version. */
#define SYSTEM_VERSION_MAX 256

struct system_state {
	int64_t boot_count;
	struct str version; /* of the start that was counted last */
};

/*
 * system_boot(s, epoch, version):
 * Count the start of the process that holds a lease with this epoch
 * (lease_acquire(), always the same one).  Idempotent.
 */
enum rc system_boot(
    struct state *s, int64_t epoch, struct str version) RC_CHECK;

/*
 * system_read(s, a, out):
 * RC_NOENT: no start was counted; RC_TOOBIG: a is full.
 */
enum rc system_read(
    struct state *s, struct arena *a, struct system_state *out) RC_CHECK;

#endif /* !STATE_SYSTEM_H */
