/*
 * lease: one owner at a time, and a number that rises with each.
 *
 * Whoever holds a lease has an epoch; writes that carry an older epoch than a
 * record has seen are refused, so an owner that was stopped for a while and
 * does not know that it lost the lease changes nothing.
 */
#ifndef STATE_LEASE_H
#define STATE_LEASE_H

#include <stdint.h>

#include "state/state.h"

/*
 * lease_acquire(s, name, me, ttl_ms, epoch):
 * Take or keep the lease name for ttl_ms by Redis' clock; call it again every
 * third of that.  *epoch is mine (> 0), or 0 while another holds it.  me (1 to
 * 256 bytes) is new at every start of a process: it tells owners apart.
 */
enum rc lease_acquire(struct state *s, struct str name, struct str me,
    int64_t ttl_ms, int64_t *epoch) RC_CHECK;

/* lease_release(s, name, me): Give it up at once, if it is mine. */
enum rc lease_release(struct state *s, struct str name, struct str me) RC_CHECK;

#endif /* !STATE_LEASE_H */
