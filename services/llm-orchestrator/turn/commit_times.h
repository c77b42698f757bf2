/*
 * commit_times: how long the commits of turns took, for their records.
 *
 * A turn's end is stored with its timeline, so that this cannot be part of it.
 * It is written later, for many turns at once.  Loop thread.
 */
#ifndef LLM_ORCHESTRATOR_COMMIT_TIMES_H
#define LLM_ORCHESTRATOR_COMMIT_TIMES_H

#include <stdint.h>

#include "core/str.h"

struct commit_times;
struct state;
struct turn_slot;

/* Turns between two flushes; the times of others are not recorded. */
#define COMMIT_TIMES_MAX 4096

/*
 * commit_times_new(s), commit_times_free(c): Freed after state_stop(), before
 * state_free().  NULL is allowed.
 */
struct commit_times *commit_times_new(struct state *s);
void commit_times_free(struct commit_times *c);

/* commit_times_add(c, p, us): To be written with the next flush. */
void commit_times_add(
    struct commit_times *c, const struct turn_slot *p, int64_t us);

/* commit_times_flush(c): Write them, in this fiber. */
void commit_times_flush(struct commit_times *c);

#endif /* !LLM_ORCHESTRATOR_COMMIT_TIMES_H */
