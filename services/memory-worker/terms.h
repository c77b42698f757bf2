/*
 * terms: which memories have a token, and how often: an inverted index.  Part
 * of rank, pure.  Zeroed but for seed it is empty.
 */
#ifndef MEMORY_WORKER_TERMS_H
#define MEMORY_WORKER_TERMS_H

#include <stddef.h>
#include <stdint.h>

struct posting {
	uint32_t doc;
	uint32_t tf;
};

struct term {
	uint64_t key;
	struct posting *p; /* by doc, ascending */
	uint32_t n, cap;
};

struct terms {
	uint64_t seed; /* what nobody else can know */
	struct term *term;
	size_t n, cap;
	uint32_t *slots; /* hash table: place in term, + 1 */
	size_t nslots;   /* a power of two */
	size_t bytes;
};

/* terms_reset(t): Empty it, and free what it has. */
void terms_reset(struct terms *t);

/* terms_find(t, key): The term, valid until the next count; or NULL. */
const struct term *terms_find(const struct terms *t, uint64_t key);

/* terms_count(t, key, doc): Once more in doc, which is the newest. */
void terms_count(struct terms *t, uint64_t key, uint32_t doc);

/* terms_drop(t, key, doc): Not in doc any more; no-op if it was not. */
void terms_drop(struct terms *t, uint64_t key, uint32_t doc);

#endif /* !MEMORY_WORKER_TERMS_H */
