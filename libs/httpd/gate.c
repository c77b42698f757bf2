#include "httpd/gate.h"

#include <pthread.h>
#include <stdlib.h>

#include "core/map.h"
#include "core/mem.h"
#include "core/rate.h"

struct gate {
	pthread_mutex_t lock; /* guards all of it */
	struct rate *rate;    /* NULL: no limit */
	struct tally *open;   /* requests of each key */
	size_t at_once;
};

struct gate *
gate_new(int64_t rate_per_s, int64_t rate_burst, size_t at_once)
{
	struct gate *g = mem_zalloc(sizeof(*g));

	pthread_mutex_init(&g->lock, NULL);
	if (rate_per_s > 0)
		g->rate = rate_new(rate_per_s, rate_burst, GATE_CLIENTS_MAX);
	g->open = tally_new();
	g->at_once = at_once;
	return g;
}

void
gate_free(struct gate *g)
{
	if (g == NULL)
		return;
	rate_free(g->rate);
	tally_free(g->open);
	pthread_mutex_destroy(&g->lock);
	free(g);
}

static struct str
key_of(const struct peer *p)
{
	return (struct str){ (const char *)p->key, p->nkey };
}

int64_t
gate_rate(struct gate *g, const struct peer *p, struct mono now)
{
	if (g->rate == NULL)
		return 0;
	pthread_mutex_lock(&g->lock);
	int64_t ms = rate_take(g->rate, key_of(p), now);
	pthread_mutex_unlock(&g->lock);
	return ms;
}

bool
gate_enter(struct gate *g, const struct peer *p)
{
	if (g->at_once == 0)
		return true;
	pthread_mutex_lock(&g->lock);
	bool ok = tally_count(g->open, key_of(p)) < g->at_once;
	if (ok)
		tally_increment(g->open, key_of(p));
	pthread_mutex_unlock(&g->lock);
	return ok;
}

void
gate_leave(struct gate *g, const struct peer *p)
{
	if (g->at_once == 0)
		return;
	pthread_mutex_lock(&g->lock);
	tally_decrement(g->open, key_of(p));
	pthread_mutex_unlock(&g->lock);
}
