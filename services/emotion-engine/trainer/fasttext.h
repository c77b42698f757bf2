/*
 * fasttext: Debian's fastText program as a yardstick.
 */
#ifndef EMOTION_ENGINE_TRAIN_FASTTEXT_H
#define EMOTION_ENGINE_TRAIN_FASTTEXT_H

#include "rows.h"

/*
 * fasttext_guess(r, out, why, size):
 * Train it on the rows that are not dev, own rows as often as they weigh; out
 * gets its label for each dev row.  Works in a temporary folder.  RC_NOENT:
 * the program is not installed.
 */
enum rc fasttext_guess(
    const struct rows *r, uint8_t *out, char *why, size_t size) RC_CHECK;

#endif /* !EMOTION_ENGINE_TRAIN_FASTTEXT_H */
