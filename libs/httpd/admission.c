/*
 * Admission: the rate and the concurrent requests of one client.
 */
#include <pthread.h>
#include <stdlib.h>

#include "core/map.h"
#include "core/mem.h"
#include "core/rate.h"
#include "httpd/httpd_internal.h"

struct admission {
	pthread_mutex_t lock; /* guards all of it */
	struct rate *rate;    /* NULL: no limit */
	struct tally *open;   /* requests of each key */
	size_t concurrent_max;
};

struct admission *
admission_new(int64_t rate_per_s, int64_t rate_burst, size_t concurrent_max)
{
	struct admission *g = mem_zalloc(sizeof(*g));

	pthread_mutex_init(&g->lock, NULL);
	if (rate_per_s > 0)
		g->rate =
		    rate_new(rate_per_s, rate_burst, ADMISSION_CLIENTS_MAX);
	g->open = tally_new();
	g->concurrent_max = concurrent_max;
	return g;
}

void
admission_free(struct admission *g)
{
	if (g == NULL)
		return;
	rate_free(g->rate);
	tally_free(g->open);
	pthread_mutex_destroy(&g->lock);
	free(g);
}

static struct str
admission_key(const struct client_addr *p)
{
	return (struct str){ (const char *)p->key, p->nkey };
}

int64_t
admission_check_rate(
    struct admission *g, const struct client_addr *p, struct mono now)
{
	if (g->rate == NULL)
		return 0;
	pthread_mutex_lock(&g->lock);
	int64_t ms = rate_take(g->rate, admission_key(p), now);
	pthread_mutex_unlock(&g->lock);
	return ms;
}

bool
admission_enter(struct admission *g, const struct client_addr *p)
{
	if (g->concurrent_max == 0)
		return true;
	pthread_mutex_lock(&g->lock);
	bool ok = tally_count(g->open, admission_key(p)) < g->concurrent_max;
	if (ok)
		tally_increment(g->open, admission_key(p));
	pthread_mutex_unlock(&g->lock);
	return ok;
}

void
admission_leave(struct admission *g, const struct client_addr *p)
{
	if (g->concurrent_max == 0)
		return;
	pthread_mutex_lock(&g->lock);
	tally_decrement(g->open, admission_key(p));
	pthread_mutex_unlock(&g->lock);
}
