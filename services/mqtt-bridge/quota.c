/*
 * Counts of one span; the next begins with none.
 */
#include "quota.h"

#include <stdint.h>
#include <stdlib.h>

#include "core/map.h"
#include "core/mem.h"

struct quota {
	struct map *counts; /* the count itself stands for a pointer */
	struct mono ends;
};

struct quota *
quota_new(void)
{
	struct quota *q = mem_zalloc(sizeof(*q));

	q->counts = map_new();
	return q;
}

void
quota_free(struct quota *q)
{
	if (q == NULL)
		return;
	map_free(q->counts);
	free(q);
}

bool
quota_take(struct quota *q, struct str id, struct mono now)
{
	uintptr_t n;

	if (mono_diff_ns(now, q->ends) >= 0) {
		map_free(q->counts);
		q->counts = map_new();
		q->ends = mono_add_ms(now, QUOTA_SPAN_MS);
	}
	n = (uintptr_t)map_get(q->counts, id);
	if (n >= QUOTA_EVENTS)
		return false;
	if (n > 0 || map_len(q->counts) < QUOTA_TERMINALS)
		(void)map_put(q->counts, id, (void *)(n + 1));
	return true;
}
