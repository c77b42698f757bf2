#include "directory.h"

#include <stdlib.h>

#include "core/map.h"
#include "core/mem.h"

struct directory {
	struct map *by_class[CLASS_N];
	struct tally *by_tenant[CLASS_N];
};

struct directory *
directory_new(void)
{
	struct directory *d = mem_zalloc(sizeof(*d));
	int c;

	for (c = 0; c < CLASS_N; c++) {
		d->by_class[c] = map_new();
		d->by_tenant[c] = tally_new();
	}
	return d;
}

void
directory_free(struct directory *d)
{
	int c;

	if (d == NULL)
		return;
	for (c = 0; c < CLASS_N; c++) {
		map_free(d->by_class[c]);
		tally_free(d->by_tenant[c]);
	}
	free(d);
}

/* A key's class is the letter after the tenant. */
static enum client_class
directory_class_of(struct str key)
{
	int c;

	(void)str_split(&key, '/');
	for (c = 0; c < CLASS_HUB; c++)
		if (key.n > 0 && key.p[0] == client_class_names[c].p[0])
			break;
	return (enum client_class)c;
}

void *
directory_find(const struct directory *d, struct str key)
{
	return map_get(d->by_class[directory_class_of(key)], key);
}

void *
directory_put(struct directory *d, const struct identity *i, void *client)
{
	char text[IDENTITY_KEY_MAX];
	void *old =
	    map_put(d->by_class[i->class], identity_key(i, text), client);

	if (old == NULL)
		tally_increment(d->by_tenant[i->class], i->tenant);
	return old;
}

void
directory_remove(
    struct directory *d, const struct identity *i, const void *client)
{
	char text[IDENTITY_KEY_MAX];
	struct str key = identity_key(i, text);

	if (map_get(d->by_class[i->class], key) != client)
		return;
	map_del(d->by_class[i->class], key);
	tally_decrement(d->by_tenant[i->class], i->tenant);
}

size_t
directory_count(
    const struct directory *d, enum client_class class, struct str tenant)
{
	return tally_count(d->by_tenant[class], tenant);
}

void *
directory_next(const struct directory *d, enum client_class class, size_t *pos)
{
	return map_next(d->by_class[class], pos, NULL);
}
