#include "core/map.h"

#include <stdint.h>
#include <stdlib.h>

#include "core/map.h"
#include "core/mem.h"

/* The number is the pointer itself: it is never NULL while a key is there. */
struct tally {
	struct map *n;
};

struct tally *
tally_new(void)
{
	struct tally *t = mem_zalloc(sizeof(*t));

	t->n = map_new();
	return t;
}

void
tally_free(struct tally *t)
{
	if (t == NULL)
		return;
	map_free(t->n);
	free(t);
}

size_t
tally_count(const struct tally *t, struct str key)
{
	return (size_t)(uintptr_t)map_get(t->n, key);
}

void
tally_increment(struct tally *t, struct str key)
{
	size_t n = tally_count(t, key) + 1;

	map_put(t->n, key, (void *)(uintptr_t)n);
}

void
tally_decrement(struct tally *t, struct str key)
{
	size_t n = tally_count(t, key) - 1;

	if (n == 0)
		map_del(t->n, key);
	else
		map_put(t->n, key, (void *)(uintptr_t)n);
}
