/*
 * trainer: what the program does, and says of it.
 */
#ifndef EMOTION_ENGINE_TRAIN_TRAINER_H
#define EMOTION_ENGINE_TRAIN_TRAINER_H

#include "rows.h"

/*
 * trainer_load(r, external):
 * The own lines, in the repository's root, and those of the external set in
 * that folder, if it is not NULL; each text once.  Nonzero if one cannot be
 * read.
 */
int trainer_load(struct rows *r, const char *external);

/*
 * trainer_train(r, path):
 * Learn from the rows and write the weights to a file.  Nonzero if it cannot
 * be written.
 */
int trainer_train(const struct rows *r, const char *path);

#endif /* !EMOTION_ENGINE_TRAIN_TRAINER_H */
