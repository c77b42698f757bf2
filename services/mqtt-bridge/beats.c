/*
 * A set of terminals, and since when it is not empty.
 */
#include "beats.h"

#include <stdlib.h>

#include "core/map.h"
#include "core/mem.h"

struct beats {
	struct map *ids;
	struct mono since;
};

struct beats *
beats_new(void)
{
	struct beats *b = mem_zalloc(sizeof(*b));

	b->ids = map_new();
	return b;
}

void
beats_free(struct beats *b)
{
	if (b == NULL)
		return;
	map_free(b->ids);
	free(b);
}

bool
beats_add(struct beats *b, struct str id, struct mono now)
{
	if (map_len(b->ids) >= BEATS_MAX && map_get(b->ids, id) == NULL)
		return false;
	if (map_len(b->ids) == 0)
		b->since = now;
	(void)map_put(b->ids, id, b);
	return true;
}

void
beats_drop(struct beats *b, struct str id)
{
	(void)map_del(b->ids, id);
}

struct mono
beats_due(const struct beats *b)
{
	size_t n = map_len(b->ids);

	if (n == 0)
		return (struct mono){ 0 };
	return n >= BEATS_DUE ? b->since : mono_add_ms(b->since, BEATS_WAIT_MS);
}

size_t
beats_len(const struct beats *b)
{
	return map_len(b->ids);
}

size_t
beats_list(const struct beats *b, struct str *ids, size_t max)
{
	size_t n = 0, pos = 0;

	while (n < max && map_next(b->ids, &pos, &ids[n]) != NULL)
		n++;
	return n;
}

void
beats_clear(struct beats *b)
{
	map_free(b->ids);
	b->ids = map_new();
}
