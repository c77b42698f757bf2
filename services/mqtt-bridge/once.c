/*
 * A set that is emptied when its span is over.
 */
#include "once.h"

#include <stdlib.h>

#include "core/map.h"
#include "core/mem.h"

struct once {
	struct map *told;
	struct mono ends;
};

struct once *
once_new(void)
{
	struct once *o = mem_zalloc(sizeof(*o));

	o->told = map_new();
	return o;
}

void
once_free(struct once *o)
{
	if (o == NULL)
		return;
	map_free(o->told);
	free(o);
}

bool
once_first(struct once *o, struct str id, struct mono now)
{
	if (mono_diff_ns(now, o->ends) >= 0) {
		map_free(o->told);
		o->told = map_new();
		o->ends = mono_add_ms(now, ONCE_SPAN_MS);
	}
	if (map_len(o->told) >= ONCE_BODIES || map_get(o->told, id) != NULL)
		return false;
	(void)map_put(o->told, id, o);
	return true;
}
