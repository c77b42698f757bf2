/*
 * scratch_pool: memory that one request at a time uses, and the next one
 * reuses.  Any thread.
 */
#ifndef INTENT_FILTER_SCRATCH_POOL_H
#define INTENT_FILTER_SCRATCH_POOL_H

#include "core/buf.h"
#include "core/id.h"
#include "rx/rx.h"
#include "zone_cache.h"

struct filter_scratch {
	struct rx_scratch *rx;
	struct zone_cache *zones;
	struct id_stock ids;
	struct buf reply; /* empty */
};

struct scratch_pool;

/*
 * scratch_pool_new(): Empty; scratch_pool_take() allocates.
 * scratch_pool_free(p): All have been returned.  NULL is allowed.
 */
struct scratch_pool *scratch_pool_new(void);
void scratch_pool_free(struct scratch_pool *p);

/* scratch_pool_take(p): For one thread, until scratch_pool_return(). */
struct filter_scratch *scratch_pool_take(struct scratch_pool *p);
void scratch_pool_return(struct scratch_pool *p, struct filter_scratch *x);

#endif /* !INTENT_FILTER_SCRATCH_POOL_H */
