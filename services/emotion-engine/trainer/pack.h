/*
 * pack: weights as the file that model.h describes.
 */
#ifndef EMOTION_ENGINE_TRAIN_PACK_H
#define EMOTION_ENGINE_TRAIN_PACK_H

#include <stddef.h>
#include <stdint.h>

#include "core/buf.h"

struct pack_weights {
	const uint64_t *keys; /* ascending, different */
	const double *w;      /* MODEL_ROW of each */
	size_t n;
	double gain;
};

/*
 * pack_model(p, out):
 * Quantise and write.  Of two keys with one mark another salt makes two; if
 * MODEL_KEYS_MAX is exceeded the lightest keys go.
 */
void pack_model(const struct pack_weights *p, struct buf *out);

#endif /* !EMOTION_ENGINE_TRAIN_PACK_H */
