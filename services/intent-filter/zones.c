/*
 * There are some 600 zones; requests of one service name a few.
 */
#include "zones.h"

#include <stdlib.h>

#include "core/map.h"
#include "core/mem.h"
#include "core/zone.h"

#define NAME_MAX_BYTES 64
#define ZONES_MAX      64 /* then it begins anew */

struct zones {
	struct map *by_name;
};

struct zones *
zones_new(void)
{
	struct zones *z = mem_zalloc(sizeof(*z));

	z->by_name = map_new();
	return z;
}

static void
forget(struct zones *z)
{
	struct zone *zone;
	size_t pos = 0;

	while ((zone = map_next(z->by_name, &pos, NULL)) != NULL)
		zone_free(zone);
	map_free(z->by_name);
}

void
zones_free(struct zones *z)
{
	if (z == NULL)
		return;
	forget(z);
	free(z);
}

enum rc
zones_get(struct zones *z, struct str name, const struct zone **out)
{
	struct zone *zone = map_get(z->by_name, name);
	char text[NAME_MAX_BYTES + 1];
	enum rc rc;

	if (zone == NULL) {
		if (name.n > NAME_MAX_BYTES)
			return RC_INVALID;
		str_copy(name, text, sizeof(text));
		rc = zone_load(text, &zone);
		if (rc != RC_OK)
			return rc;
		if (map_len(z->by_name) == ZONES_MAX) {
			forget(z);
			z->by_name = map_new();
		}
		(void)map_put(z->by_name, name, zone);
	}
	*out = zone;
	return RC_OK;
}
