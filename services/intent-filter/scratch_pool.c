#include "scratch_pool.h"

#include <pthread.h>
#include <stdlib.h>

#include "core/mem.h"

/*
 * More are in use only while as many requests are matched at the same time;
 * those are freed afterwards.
 */
#define SCRATCH_SPARE_MAX 8

struct scratch_pool {
	pthread_mutex_t lock;
	SLIST_HEAD(, filter_scratch) spare;
	size_t n_spare;
};

static void
filter_scratch_free(struct filter_scratch *x)
{
	rx_scratch_free(x->rx);
	zone_cache_free(x->zones);
	free(x);
}

struct filter_scratch *
scratch_pool_take(struct scratch_pool *p)
{
	struct filter_scratch *x;

	(void)pthread_mutex_lock(&p->lock);
	x = SLIST_FIRST(&p->spare);
	if (x != NULL) {
		SLIST_REMOVE_HEAD(&p->spare, link);
		p->n_spare--;
	}
	(void)pthread_mutex_unlock(&p->lock);
	if (x == NULL) {
		x = mem_zalloc(sizeof(*x));
		x->rx = rx_scratch_new();
		x->zones = zone_cache_new();
	}
	return x;
}

void
scratch_pool_return(struct scratch_pool *p, struct filter_scratch *x)
{
	bool spare;

	(void)pthread_mutex_lock(&p->lock);
	spare = p->n_spare < SCRATCH_SPARE_MAX;
	if (spare) {
		SLIST_INSERT_HEAD(&p->spare, x, link);
		p->n_spare++;
	}
	(void)pthread_mutex_unlock(&p->lock);
	if (!spare)
		filter_scratch_free(x);
}

struct scratch_pool *
scratch_pool_new(void)
{
	struct scratch_pool *p = mem_zalloc(sizeof(*p));

	(void)pthread_mutex_init(&p->lock, NULL);
	SLIST_INIT(&p->spare);
	return p;
}

void
scratch_pool_free(struct scratch_pool *p)
{
	struct filter_scratch *x;

	if (p == NULL)
		return;
	while ((x = SLIST_FIRST(&p->spare)) != NULL) {
		SLIST_REMOVE_HEAD(&p->spare, link);
		filter_scratch_free(x);
	}
	(void)pthread_mutex_destroy(&p->lock);
	free(p);
}
