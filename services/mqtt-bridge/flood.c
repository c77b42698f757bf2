/*
 * One table of buckets for each kind.
 */
#include "flood.h"

#include <stdlib.h>

#include "core/mem.h"
#include "core/rate.h"
#include "once.h"
#include "wire/iface.h"
#include "wire/subjects.h"

enum kind { REPORTS, HEARTBEATS, RESULTS, KINDS };

struct flood {
	struct rate *rates[KINDS];
	struct once *told;
};

struct flood *
flood_new(int64_t per_s, int64_t burst)
{
	struct flood *f = mem_zalloc(sizeof(*f));
	int i;

	for (i = 0; i < KINDS; i++)
		f->rates[i] = rate_new(per_s, burst, FLOOD_BODIES);
	f->told = once_new();
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
	once_free(f->told);
	free(f);
}

static struct rate *
rate_of(const struct flood *f, size_t row)
{
	return f->rates[row == WIRE_TOPIC_RESULT ? RESULTS
		: row == WIRE_TOPIC_HEARTBEAT    ? HEARTBEATS
						 : REPORTS];
}

static int64_t
cost_of(size_t bytes)
{
	return 1 + (int64_t)(bytes / FLOOD_BYTES);
}

enum flood_answer
flood_take(
    struct flood *f, size_t row, struct str id, size_t bytes, struct mono now)
{
	if (rate_take_n(rate_of(f, row), id, cost_of(bytes), now) == 0)
		return FLOOD_OK;
	return once_first(f->told, id, now) ? FLOOD_OVER_FIRST : FLOOD_OVER;
}

bool
flood_room(
    struct flood *f, size_t row, struct str id, size_t bytes, struct mono now)
{
	if (rate_take_n(rate_of(f, row), id, cost_of(bytes), now) != 0)
		return false;
	flood_give(f, row, id, bytes);
	return true;
}

void
flood_give(struct flood *f, size_t row, struct str id, size_t bytes)
{
	rate_refund(rate_of(f, row), id, cost_of(bytes));
}
