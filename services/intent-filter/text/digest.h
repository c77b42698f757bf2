/*
 * digest: what stands for a text in a map: equal for equal texts, and only by a
 * rare chance, which cannot be chosen, for others.  Who finds an entry by it
 * compares the texts.  Any thread.
 */
#ifndef INTENT_FILTER_TEXT_DIGEST_H
#define INTENT_FILTER_TEXT_DIGEST_H

#include <stdint.h>

#include "core/str.h"

/* Digests are comparable only with those of the same seed. */
struct digest_seed {
	uint64_t word[4];
};

struct digest {
	uint64_t hash;
	uint64_t n; /* of the text, and the kind */
};

/* digest_seed_init(s): Unpredictable. */
void digest_seed_init(struct digest_seed *s);

/* digest_of(s, text, kind): kind (0 or 1) separates texts of two kinds. */
struct digest digest_of(
    const struct digest_seed *s, struct str text, unsigned kind);

/* digest_str(d): The key of d in a map. */
struct str digest_str(const struct digest *d);

#endif /* !INTENT_FILTER_TEXT_DIGEST_H */
