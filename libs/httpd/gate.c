#include "httpd/gate.h"

#include <pthread.h>
#include <stdlib.h>

#include "core/map.h"
#include "core/mem.h"
#include "core/rate.h"

struct gate {
	pthread_mutex_t lock; /* guards all of it */
	struct rate *rate;    /* NULL: no limit */
	struct map *open;     /* key to the number of its requests */
	size_t at_once;
};

struct gate *
gate_new(int64_t rate_per_s, int64_t rate_burst, size_t at_once)
{
	struct gate *g = mem_zalloc(sizeof(*g));

	pthread_mutex_init(&g->lock, NULL);
	if (rate_per_s > 0)
		g->rate = rate_new(rate_per_s, rate_burst, GATE_CLIENTS_MAX);
	g->open = map_new();
	g->at_once = at_once;
	return g;
}

void
gate_free(struct gate *g)
{
	if (g == NULL)
		return;
	rate_free(g->rate);
	map_free(g->open);
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

/* The number is the pointer itself: it is never NULL while a key is there. */
static size_t
count_of(const struct gate *g, const struct peer *p)
{
	return (size_t)(uintptr_t)map_get(g->open, key_of(p));
}

static void
set_count(struct gate *g, const struct peer *p, size_t n)
{
	if (n == 0)
		map_del(g->open, key_of(p));
	else
		map_put(g->open, key_of(p), (void *)(uintptr_t)n);
}

bool
gate_enter(struct gate *g, const struct peer *p)
{
	if (g->at_once == 0)
		return true;
	pthread_mutex_lock(&g->lock);
	size_t n = count_of(g, p);
	bool ok = n < g->at_once;
	if (ok)
		set_count(g, p, n + 1);
	pthread_mutex_unlock(&g->lock);
	return ok;
}

void
gate_leave(struct gate *g, const struct peer *p)
{
	if (g->at_once == 0)
		return;
	pthread_mutex_lock(&g->lock);
	set_count(g, p, count_of(g, p) - 1);
	pthread_mutex_unlock(&g->lock);
}
