/*
 * map: hash maps from strings to pointers, and counters per key.
 *
 * Keys are copied, values belong to the caller.  Hashing is keyed by a random
 * seed per map, so that chosen keys cannot cause collisions.  Not thread-safe.
 */
#ifndef CORE_MAP_H
#define CORE_MAP_H

#include <stddef.h>

#include "core/str.h"

struct map;

/* map_new(), map_free(m): Values are not freed; NULL is allowed. */
struct map *map_new(void);
void map_free(struct map *m);

/*
 * map_put(m, key, value):
 * Set key's value (not NULL); returns the old one or NULL.
 */
void *map_put(struct map *m, struct str key, void *value);

/* map_get(m, key): Its value, or NULL. */
void *map_get(const struct map *m, struct str key);

/* map_del(m, key): Remove key; its value or NULL. */
void *map_del(struct map *m, struct str key);

/* map_len(m): Number of keys. */
size_t map_len(const struct map *m);

/*
 * map_next(m, pos, key):
 * Iterate: *pos starts at 0; each call returns a value and, if key is not NULL,
 * its key, and NULL at the end.  The order is arbitrary.  Only map_del() is
 * allowed meanwhile; it invalidates the key.
 */
void *map_next(const struct map *m, size_t *pos, struct str *key);

/*
 * tally: a counter per key; one that is 0 takes no memory.
 */
struct tally;

/* tally_new(), tally_free(t): NULL is allowed. */
struct tally *tally_new(void);
void tally_free(struct tally *t);

/* tally_count(t, key): The counter of key. */
size_t tally_count(const struct tally *t, struct str key);

/* tally_increment(t, key), tally_decrement(t, key): By 1; not below 0. */
void tally_increment(struct tally *t, struct str key);
void tally_decrement(struct tally *t, struct str key);

#endif /* !CORE_MAP_H */
