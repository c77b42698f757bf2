/*
 * map: text to pointer.
 *
 * Keys are copied; values are the caller's.  Hashing is keyed with a random
 * seed per map, so chosen keys cannot make it slow.  Not thread-safe.
 */
#ifndef CORE_MAP_H
#define CORE_MAP_H

#include <stddef.h>

#include "core/str.h"

struct map;

/* map_new(), map_free(m): An empty map; free it (NULL allowed), not values. */
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
 * Walk the map: *pos starts at 0; each call gives a value and, if key is not
 * NULL, its key, and NULL at the end.  Order is arbitrary.  Only map_del() is
 * allowed meanwhile; the key of a removed entry is gone with it.
 */
void *map_next(const struct map *m, size_t *pos, struct str *key);

/*
 * tally: how many there are of each key.
 *
 * A struct tally belongs to one thread at a time.
 */
struct tally;

/* tally_new(), tally_free(t): An empty one; free it (NULL allowed). */
struct tally *tally_new(void);
void tally_free(struct tally *t);

/* tally_count(t, key): How many there are of key. */
size_t tally_count(const struct tally *t, struct str key);

/*
 * tally_increment(t, key): One more of key, which is copied.
 * tally_decrement(t, key): One less; there must be one.  Keys of which there
 * are none take no memory.
 */
void tally_increment(struct tally *t, struct str key);
void tally_decrement(struct tally *t, struct str key);

#endif /* !CORE_MAP_H */
