#include "zone_cache.h"

#include <stdlib.h>

#include "core/map.h"
#include "core/mem.h"

#define NAME_MAX_BYTES 64
#define ZONES_MAX      64 /* then all are dropped */

struct zone_cache {
	struct map *by_name;
	const struct zone *last; /* the next request's, mostly */
};

struct zone_cache *
zone_cache_new(void)
{
	struct zone_cache *z = mem_zalloc(sizeof(*z));

	z->by_name = map_new();
	return z;
}

static void
zone_cache_clear(struct zone_cache *z)
{
	struct zone *zone;
	size_t pos = 0;

	while ((zone = map_next(z->by_name, &pos, NULL)) != NULL)
		zone_free(zone);
	map_free(z->by_name);
	z->last = NULL;
}

void
zone_cache_free(struct zone_cache *z)
{
	if (z == NULL)
		return;
	zone_cache_clear(z);
	free(z);
}

enum rc
zone_cache_get(struct zone_cache *z, struct str name, const struct zone **out)
{
	char text[NAME_MAX_BYTES + 1];
	struct zone *zone;
	enum rc rc;

	if (z->last != NULL && str_eq(name, str_of(zone_name(z->last)))) {
		*out = z->last;
		return RC_OK;
	}
	zone = map_get(z->by_name, name);
	if (zone == NULL) {
		if (name.n > NAME_MAX_BYTES)
			return RC_INVALID;
		str_copy(name, text, sizeof(text));
		rc = zone_load(text, &zone);
		if (rc != RC_OK)
			return rc;
		if (map_len(z->by_name) == ZONES_MAX) {
			zone_cache_clear(z);
			z->by_name = map_new();
		}
		(void)map_put(z->by_name, name, zone);
	}
	*out = z->last = zone;
	return RC_OK;
}
