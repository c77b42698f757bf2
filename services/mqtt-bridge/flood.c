/*
 * One table of buckets for each kind.
 */
#include "flood.h"

#include <stdlib.h>

#include "core/map.h"
#include "core/mem.h"
#include "core/rate.h"
#include "wire/iface.h"
#include "wire/subjects.h"

enum kind { REPORTS, HEARTBEATS, RESULTS, KINDS };

struct flood {
	struct rate *rates[KINDS];
	struct map *told; /* in this span */
	struct mono ends;
};

struct flood *
flood_new(int64_t per_s, int64_t burst)
{
	struct flood *f = mem_zalloc(sizeof(*f));
	int i;

	for (i = 0; i < KINDS; i++)
		f->rates[i] = rate_new(per_s, burst, FLOOD_BODIES);
	f->told = map_new();
	return f;
}

void
flood_free(struct flood *f)
{
	int i;

	if (f == NULL)
		return;
	for (i = 0; i < KINDS; i++)
		rate_free(f->rates[i]);
	map_free(f->told);
	free(f);
}

static enum flood_answer
over(struct flood *f, struct str id, struct mono now)
{
	if (mono_diff_ns(now, f->ends) >= 0) {
		map_free(f->told);
		f->told = map_new();
		f->ends = mono_add_ms(now, FLOOD_SPAN_MS);
	}
	if (map_len(f->told) >= FLOOD_BODIES || map_get(f->told, id) != NULL)
		return FLOOD_OVER;
	(void)map_put(f->told, id, f);
	return FLOOD_OVER_FIRST;
}

enum flood_answer
flood_take(
    struct flood *f, size_t row, struct str id, size_t bytes, struct mono now)
{
	enum kind kind = row == WIRE_TOPIC_RESULT ? RESULTS
	    : row == WIRE_TOPIC_HEARTBEAT         ? HEARTBEATS
						  : REPORTS;
	size_t i;

	for (i = 0; i <= bytes / FLOOD_BYTES; i++)
		if (rate_take(f->rates[kind], id, now) != 0)
			return over(f, id, now);
	return FLOOD_OK;
}
