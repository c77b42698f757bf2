/*
 * observation: the newest events of an environment, as a soul notices them: at
 * most one a second, the newest of a second, with the number of those that were
 * omitted.  Pure: the time is an argument.
 */
#ifndef STAR_HUB_OBSERVATION_H
#define STAR_HUB_OBSERVATION_H

#include <stddef.h>
#include <stdint.h>

#include "core/clock.h"
#include "core/str.h"

/* Observations that are remembered, and bytes of one. */
#define OBSERVATION_MAX   8
#define OBSERVATION_BYTES 1024

struct observation {
	uint64_t seq; /* rises by one; 0: none */
	struct mono at;
	size_t omitted; /* events before it that are not remembered */
	char text[OBSERVATION_BYTES + 1];
};

/* Zero: none. */
struct observations {
	struct observation list[OBSERVATION_MAX];
	uint64_t seq; /* of the newest */
};

/* observation_add(o, text, now): Text is truncated between code points. */
void observation_add(struct observations *o, struct str text, struct mono now);

/*
 * observation_newest(o, after, i):
 * The i-th of those above the seq after, the newest first; NULL: there is none.
 */
const struct observation *observation_newest(
    const struct observations *o, uint64_t after, size_t i);

/* observation_omitted(o, after): Events above it that are not remembered. */
size_t observation_omitted(const struct observations *o, uint64_t after);

#endif /* !STAR_HUB_OBSERVATION_H */
