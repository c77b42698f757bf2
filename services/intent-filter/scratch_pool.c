#include "scratch_pool.h"

#include <stdlib.h>

#include "core/mem.h"
#include "core/spare.h"
#include "result/result_cache.h"

/* Of a reply with a long request_id, and all else that is filled in. */
#define REPLY_MAX (2 * (size_t)RESULT_MAX)

struct scratch_pool {
	struct spare spare;
};

static void
filter_scratch_free(struct filter_scratch *x)
{
	rx_scratch_free(x->rx);
	zone_cache_free(x->zones);
	buf_free(&x->reply);
	free(x);
}

struct filter_scratch *
scratch_pool_take(struct scratch_pool *p)
{
	struct filter_scratch *x = spare_take(&p->spare);

	if (x == NULL) {
		x = mem_zalloc(sizeof(*x));
		x->rx = rx_scratch_new();
		x->zones = zone_cache_new();
		buf_init(&x->reply, REPLY_MAX);
	}
	return x;
}

void
scratch_pool_return(struct scratch_pool *p, struct filter_scratch *x)
{
	buf_reset(&x->reply);
	if (!spare_put(&p->spare, x))
		filter_scratch_free(x);
}

struct scratch_pool *
scratch_pool_new(void)
{
	return mem_zalloc(sizeof(struct scratch_pool));
}

void
scratch_pool_free(struct scratch_pool *p)
{
	struct filter_scratch *x;

	if (p == NULL)
		return;
	while ((x = spare_take(&p->spare)) != NULL)
		filter_scratch_free(x);
	free(p);
}
