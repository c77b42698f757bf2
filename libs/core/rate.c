/*
 * The state of a bucket is the time at which it will be full.
 */
#include <stdlib.h>
#include <sys/queue.h>

#include "core/id.h"
#include "core/map.h"
#include "core/mem.h"
#include "core/rate.h"

#define SECOND_NS 1000000000LL

struct bucket {
	TAILQ_ENTRY(bucket) link;
	int64_t full_ns;
	size_t n;
	char key[]; /* n bytes */
};

struct rate {
	int64_t each_ns, burst_ns;
	size_t max;
	struct map *buckets;
	TAILQ_HEAD(, bucket) used; /* the most recent last */
};

struct rate *
rate_new(int64_t per_s, int64_t burst, size_t keys)
{
	struct rate *r = mem_zalloc(sizeof(*r));

	r->each_ns = SECOND_NS / per_s;
	r->burst_ns = r->each_ns * burst;
	r->max = keys;
	r->buckets = map_new();
	TAILQ_INIT(&r->used);
	return r;
}

static void
rate_evict(struct rate *r, struct bucket *b)
{
	map_del(r->buckets, (struct str){ b->key, b->n });
	TAILQ_REMOVE(&r->used, b, link);
	free(b);
}

void
rate_free(struct rate *r)
{
	struct bucket *b;

	if (r == NULL)
		return;
	while ((b = TAILQ_FIRST(&r->used)) != NULL)
		rate_evict(r, b);
	map_free(r->buckets);
	free(r);
}

static struct bucket *
rate_bucket(struct rate *r, struct str key)
{
	struct bucket *b = map_get(r->buckets, key);

	if (b != NULL) {
		TAILQ_REMOVE(&r->used, b, link);
	} else {
		if (map_len(r->buckets) >= r->max)
			rate_evict(r, TAILQ_FIRST(&r->used));
		b = mem_zalloc(sizeof(*b) + key.n);
		b->n = key.n;
		if (key.n > 0)
			memcpy(b->key, key.p, key.n);
		map_put(r->buckets, key, b);
	}
	TAILQ_INSERT_TAIL(&r->used, b, link);
	return b;
}

int64_t
rate_take_n(struct rate *r, struct str key, int64_t n, struct mono now)
{
	struct bucket *b = rate_bucket(r, key);
	int64_t full = b->full_ns > now.ns ? b->full_ns : now.ns;
	int64_t over = full + n * r->each_ns - now.ns - r->burst_ns;

	if (over > 0)
		return (over + 999999) / 1000000;
	b->full_ns = full + n * r->each_ns;
	return 0;
}

int64_t
rate_take(struct rate *r, struct str key, struct mono now)
{
	return rate_take_n(r, key, 1, now);
}

void
rate_refund(struct rate *r, struct str key, int64_t n)
{
	struct bucket *b = map_get(r->buckets, key);

	/* An evicted bucket is full. */
	if (b != NULL)
		b->full_ns -= n * r->each_ns;
}

void
rate_charge(struct rate *r, struct str key, int64_t n, struct mono now)
{
	struct bucket *b = rate_bucket(r, key);
	int64_t full = b->full_ns > now.ns ? b->full_ns : now.ns;
	int64_t most = now.ns + 2 * r->burst_ns;

	/* Limit the debt, which also avoids overflow. */
	if (n > 2 * r->burst_ns / r->each_ns)
		n = 2 * r->burst_ns / r->each_ns;
	full += n * r->each_ns;
	b->full_ns = full < most ? full : most;
}

/* ---- back-off ---- */

int64_t
backoff_next_ms(struct backoff *b)
{
	int64_t wait = b->min_ms > 0 ? b->min_ms : 1;

	for (unsigned i = 0; i < b->tries && wait < b->max_ms; i++)
		wait = wait <= INT64_MAX / 2 ? wait * 2 : INT64_MAX;
	if (wait > b->max_ms)
		wait = b->max_ms > 0 ? b->max_ms : 1;
	if (b->tries < 64)
		b->tries++;
	return wait - (int64_t)id_random_below((uint64_t)wait / 2 + 1);
}

void
backoff_reset(struct backoff *b)
{
	b->tries = 0;
}
