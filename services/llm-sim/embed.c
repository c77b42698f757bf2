/*
 * Hashed character pairs.
 */
#include "embed.h"

#include <math.h>
#include <stdint.h>

void
embed_text(struct str s, double v[EMBED_DIM])
{
	uint32_t before = 0;
	double square = 0;
	size_t i, pos = 0;
	int32_t c;

	for (i = 0; i < EMBED_DIM; i++)
		v[i] = 0;
	while ((c = str_utf8_next(s, &pos)) >= 0) {
		/* Knuth's multiplicative hash of the pair. */
		uint32_t h = (before * 31 + (uint32_t)c) * 2654435761u;

		if (before != 0)
			v[h >> 26] += 1;
		before = (uint32_t)c;
	}
	for (i = 0; i < EMBED_DIM; i++)
		square += v[i] * v[i];
	for (i = 0; square > 0 && i < EMBED_DIM; i++)
		v[i] /= sqrt(square);
}
