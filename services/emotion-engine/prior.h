/*
 * prior: what a sign of the overlay says by itself, before training.
 */
#ifndef EMOTION_ENGINE_PRIOR_H
#define EMOTION_ENGINE_PRIOR_H

#include "emotion.h"
#include "feature.h"

/*
 * prior_of(sign, w):
 * Its weights, as log-odds, for each emotion.  Training begins with them.
 */
void prior_of(const struct features_sign *sign, double w[EMOTION_N]);

#endif /* !EMOTION_ENGINE_PRIOR_H */
