/*
 * settle: a job's memory takes its place among those that are there.
 *
 * What says the same as one that is there, and is not newer, is not stored; if
 * it is newer it takes the older one's place, as it takes the place of those
 * that the job names.  All of it can be done again, from any point, and comes
 * to the same.
 */
#ifndef MEMORY_WORKER_SETTLE_H
#define MEMORY_WORKER_SETTLE_H

#include "store.h"

/*
 * settle(s, ask, put):
 * As store_put(); RC_OK too if it was not stored because it is known.
 */
void settle(
    struct store *s, const struct store_ask *ask, const struct store_put *put);

#endif /* !MEMORY_WORKER_SETTLE_H */
