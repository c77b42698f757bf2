/*
 * tally: how many there are of each key.
 *
 * A struct tally belongs to one thread at a time.
 */
#ifndef CORE_TALLY_H
#define CORE_TALLY_H

#include <stddef.h>

#include "core/str.h"

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

#endif /* !CORE_TALLY_H */
