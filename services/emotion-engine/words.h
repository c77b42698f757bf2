/*
 * words: the lexicon, indexed by the first code points of its words.
 */
#ifndef EMOTION_ENGINE_WORDS_H
#define EMOTION_ENGINE_WORDS_H

#include <stddef.h>
#include <stdint.h>

#include "lexicon.h"

struct words;

/* words_new(), words_free(w): NULL is allowed. */
struct words *words_new(void);
void words_free(struct words *w);

/*
 * words_find(w, text, n, at, len):
 * The row of the longest word that stands at text[at], or NULL.  A Latin word
 * must stand alone.  *len is how much of the text it takes.
 */
const struct lexicon_row *words_find(const struct words *w,
    const uint32_t *text, size_t n, size_t at, size_t *len);

#endif /* !EMOTION_ENGINE_WORDS_H */
