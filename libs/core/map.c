/*
 * map: entries in the order of their coming, found through an open-addressed
 * index of their numbers (SipHash-1-3).  A removed entry leaves a hole until
 * the next growth, so a walk is not disturbed by removals.
 */
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>

#include "core/id.h"
#include "core/map.h"
#include "core/mem.h"

#define CAP_MIN    8
#define SLOT_EMPTY 0U
#define SLOT_GONE  UINT32_MAX

struct entry {
	uint64_t hash;
	char *key;
	size_t n;
	void *value; /* NULL: a hole */
};

struct map {
	uint64_t seed[2];
	struct entry *entries;
	uint32_t *index; /* 2 · cap slots: number of the entry + 1 */
	size_t cap;      /* a power of two */
	size_t taken;    /* entries, holes included */
	size_t len;
};

static uint64_t
rotate(uint64_t v, unsigned bits)
{
	return v << bits | v >> (64 - bits);
}

static void
sip_round(uint64_t v[4])
{
	v[0] += v[1];
	v[1] = rotate(v[1], 13) ^ v[0];
	v[0] = rotate(v[0], 32);
	v[2] += v[3];
	v[3] = rotate(v[3], 16) ^ v[2];
	v[0] += v[3];
	v[3] = rotate(v[3], 21) ^ v[0];
	v[2] += v[1];
	v[1] = rotate(v[1], 17) ^ v[2];
	v[2] = rotate(v[2], 32);
}

static uint64_t
hash_of(const struct map *m, struct str key)
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
		sip_round(v);
		v[0] ^= word;
	}
	word = (uint64_t)key.n << 56;
	for (unsigned shift = 0; i < key.n; i++, shift += 8)
		word |= (uint64_t)(unsigned char)key.p[i] << shift;
	v[3] ^= word;
	sip_round(v);
	v[0] ^= word;
	v[2] ^= 0xff;
	sip_round(v);
	sip_round(v);
	sip_round(v);
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
find(const struct map *m, struct str key, uint64_t hash)
{
	size_t mask = 2 * m->cap - 1;

	if (m->cap == 0)
		return SIZE_MAX;
	/* At least half of the slots are empty, so this ends. */
	for (size_t i = hash & mask; m->index[i] != SLOT_EMPTY;
	     i = (i + 1) & mask) {
		const struct entry *e;

		if (m->index[i] == SLOT_GONE)
			continue;
		e = &m->entries[m->index[i] - 1];
		if (e->hash == hash &&
		    str_eq((struct str){ e->key, e->n }, key))
			return i;
	}
	return SIZE_MAX;
}

static void
index_put(struct map *m, size_t number)
{
	size_t mask = 2 * m->cap - 1;
	size_t i = m->entries[number].hash & mask;

	while (m->index[i] != SLOT_EMPTY)
		i = (i + 1) & mask;
	m->index[i] = (uint32_t)(number + 1);
}

/* Close the holes and give room for as many entries again. */
static void
rebuild(struct map *m)
{
	struct entry *old = m->entries;
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
			index_put(m, n++);
		}
	m->taken = n;
	free(old);
}

void *
map_put(struct map *m, struct str key, void *value)
{
	uint64_t hash = hash_of(m, key);
	size_t slot = find(m, key, hash);
	struct entry *e;

	assert(value != NULL);
	if (slot != SIZE_MAX) {
		void *old;

		e = &m->entries[m->index[slot] - 1];
		old = e->value;
		e->value = value;
		return old;
	}
	if (m->taken == m->cap)
		rebuild(m);
	e = &m->entries[m->taken];
	e->hash = hash;
	e->key = mem_alloc(key.n);
	if (key.n != 0)
		memcpy(e->key, key.p, key.n);
	e->n = key.n;
	e->value = value;
	index_put(m, m->taken++);
	m->len++;
	return NULL;
}

void *
map_get(const struct map *m, struct str key)
{
	size_t slot = find(m, key, hash_of(m, key));

	return slot != SIZE_MAX ? m->entries[m->index[slot] - 1].value : NULL;
}

void *
map_del(struct map *m, struct str key)
{
	size_t slot = find(m, key, hash_of(m, key));
	struct entry *e;
	void *value;

	if (slot == SIZE_MAX)
		return NULL;
	e = &m->entries[m->index[slot] - 1];
	m->index[slot] = SLOT_GONE;
	value = e->value;
	free(e->key);
	*e = (struct entry){ 0 };
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
		const struct entry *e = &m->entries[(*pos)++];

		if (e->value == NULL)
			continue;
		if (key != NULL)
			*key = (struct str){ e->key, e->n };
		return e->value;
	}
	return NULL;
}

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
