/*
 * drive_words: a soul's drives in words, for a model.  Pure.
 */
#ifndef PERSONA_DRIVE_WORDS_H
#define PERSONA_DRIVE_WORDS_H

struct buf;

/* Each in [0, 1]. */
struct drive_levels {
	double fear, survival, curiosity, laziness, intimacy;
};

/*
 * drive_words_put(l, b):
 * Append what is unusual, as "很害怕，有些懒散"; nothing if nothing is.
 */
void drive_words_put(const struct drive_levels *l, struct buf *b);

#endif /* !PERSONA_DRIVE_WORDS_H */
