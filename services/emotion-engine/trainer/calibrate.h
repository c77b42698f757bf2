/*
 * calibrate: probabilities that mean what they say.
 */
#ifndef EMOTION_ENGINE_TRAIN_CALIBRATE_H
#define EMOTION_ENGINE_TRAIN_CALIBRATE_H

#include "model.h"
#include "rows.h"

/*
 * calibrate(m, r):
 * The factor, 1 to 4, by which m's logits should be multiplied to make its
 * probabilities fit the own dev rows best (least Brier score); 1 without any.
 */
double calibrate(const struct model *m, const struct rows *r);

#endif /* !EMOTION_ENGINE_TRAIN_CALIBRATE_H */
