/*
 * Entries in order of insertion, with an open-addressed index of their numbers
 * (SipHash-1-3).  A removed entry leaves a hole until the next growth, so that
 * entries may be removed during an iteration.
 */
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>

#include "core/id.h"
#include "core/map.h"
#include "core/mem.h"

#define CAP_MIN      8
#define SLOT_EMPTY   0U
#define SLOT_REMOVED UINT32_MAX

struct map_entry {
	uint64_t hash;
	char *key;
	size_t n;
	void *value; /* NULL: a hole */
};

struct map {
	uint64_t seed[2];
	struct map_entry *entries;
	uint32_t *index; /* 2 · cap slots: number of the entry + 1 */
	size_t cap;      /* a power of two */
	size_t taken;    /* entries, holes included */
	size_t len;
};

static uint64_t
map_rotate(uint64_t v, unsigned bits)
{
	return v << bits | v >> (64 - bits);
}

static void
map_sip_round(uint64_t v[4])
{
	v[0] += v[1];
	v[1] = map_rotate(v[1], 13) ^ v[0];
	v[0] = map_rotate(v[0], 32);
	v[2] += v[3];
	v[3] = map_rotate(v[3], 16) ^ v[2];
	v[0] += v[3];
	v[3] = map_rotate(v[3], 21) ^ v[0];
	v[2] += v[1];
	v[1] = map_rotate(v[1], 17) ^ v[2];
	v[2] = map_rotate(v[2], 32);
}

static uint64_t
map_hash(const struct map *m, struct str key)
{
	uint64_t v[4] = {
		m->seed[0] ^ UINT64_C(0x736f6d6570736575),
		m->seed[1] ^ UINT64_C(0x646f72616e646f6d),
		m->seed[0] ^ UINT64_C(0x6c7967656e657261),
		m->seed[1] ^ UINT64_C(0x7465646279746573),
	};
	uint64_t word;
	size_t i;

	for (i = 0; i + 8 <= key.n; i += 8) {
		memcpy(&word, key.p + i, 8);
		v[3] ^= word;
		map_sip_round(v);
		v[0] ^= word;
	}
	word = (uint64_t)key.n << 56;
	for (unsigned shift = 0; i < key.n; i++, shift += 8)
		word |= (uint64_t)(unsigned char)key.p[i] << shift;
	v[3] ^= word;
	map_sip_round(v);
	v[0] ^= word;
	v[2] ^= 0xff;
	map_sip_round(v);
	map_sip_round(v);
	map_sip_round(v);
	return v[0] ^ v[1] ^ v[2] ^ v[3];
}

struct map *
map_new(void)
{
	struct map *m = mem_zalloc(sizeof(*m));

	id_random(m->seed, sizeof(m->seed));
	return m;
}

void
map_free(struct map *m)
{
	if (m == NULL)
		return;
	for (size_t i = 0; i < m->taken; i++)
		free(m->entries[i].key);
	free(m->entries);
	free(m->index);
	free(m);
}

/* The slot of key, or SIZE_MAX. */
static size_t
map_find(const struct map *m, struct str key, uint64_t hash)
{
	size_t mask = 2 * m->cap - 1;

	if (m->cap == 0)
		return SIZE_MAX;
	/* At least half of the slots are empty, so this terminates. */
	for (size_t i = hash & mask; m->index[i] != SLOT_EMPTY;
	     i = (i + 1) & mask) {
		const struct map_entry *e;

		if (m->index[i] == SLOT_REMOVED)
			continue;
		e = &m->entries[m->index[i] - 1];
		if (e->hash == hash &&
		    str_eq((struct str){ e->key, e->n }, key))
			return i;
	}
	return SIZE_MAX;
}

static void
map_index_put(struct map *m, size_t number)
{
	size_t mask = 2 * m->cap - 1;
	size_t i = m->entries[number].hash & mask;

	while (m->index[i] != SLOT_EMPTY)
		i = (i + 1) & mask;
	m->index[i] = (uint32_t)(number + 1);
}

/* Close the holes and double the room. */
static void
map_rebuild(struct map *m)
{
	struct map_entry *old = m->entries;
	size_t n = 0;

	m->cap = CAP_MIN;
	while (m->cap < 2 * m->len)
		m->cap *= 2;
	assert(m->cap < UINT32_MAX / 4);
	m->entries = mem_calloc(m->cap, sizeof(*m->entries));
	free(m->index);
	m->index = mem_calloc(2 * m->cap, sizeof(*m->index));
	for (size_t i = 0; i < m->taken; i++)
		if (old[i].value != NULL) {
			m->entries[n] = old[i];
			map_index_put(m, n++);
		}
	m->taken = n;
	free(old);
}

void *
map_put(struct map *m, struct str key, void *value)
{
	uint64_t hash = map_hash(m, key);
	size_t slot = map_find(m, key, hash);
	struct map_entry *e;

	assert(value != NULL);
	if (slot != SIZE_MAX) {
		void *old;

		e = &m->entries[m->index[slot] - 1];
		old = e->value;
		e->value = value;
		return old;
	}
	if (m->taken == m->cap)
		map_rebuild(m);
	e = &m->entries[m->taken];
	e->hash = hash;
	e->key = mem_alloc(key.n);
	if (key.n != 0)
		memcpy(e->key, key.p, key.n);
	e->n = key.n;
	e->value = value;
	map_index_put(m, m->taken++);
	m->len++;
	return NULL;
}

void *
map_get(const struct map *m, struct str key)
{
	size_t slot = map_find(m, key, map_hash(m, key));

	return slot != SIZE_MAX ? m->entries[m->index[slot] - 1].value : NULL;
}

void *
map_del(struct map *m, struct str key)
{
	size_t slot = map_find(m, key, map_hash(m, key));
	struct map_entry *e;
	void *value;

	if (slot == SIZE_MAX)
		return NULL;
	e = &m->entries[m->index[slot] - 1];
	m->index[slot] = SLOT_REMOVED;
	value = e->value;
	free(e->key);
	*e = (struct map_entry){ 0 };
	m->len--;
	return value;
}

size_t
map_len(const struct map *m)
{
	return m->len;
}

void *
map_next(const struct map *m, size_t *pos, struct str *key)
{
	while (*pos < m->taken) {
		const struct map_entry *e = &m->entries[(*pos)++];

		if (e->value == NULL)
			continue;
		if (key != NULL)
			*key = (struct str){ e->key, e->n };
		return e->value;
	}
	return NULL;
}

/* The value in the map is the count itself, which is never 0. */
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
