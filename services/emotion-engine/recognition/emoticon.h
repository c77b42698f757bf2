/*
 * emoticon: faces made of punctuation, by their shape: :-) T_T (≧▽≦) <3.
 * Pure.
 */
#ifndef EMOTION_ENGINE_RECOGNITION_EMOTICON_H
#define EMOTION_ENGINE_RECOGNITION_EMOTICON_H

#include <stddef.h>
#include <stdint.h>

#include "recognition/lexicon.h"

/*
 * emoticon_at(text, n, at, len):
 * The cue of the face at text[at], or NULL; *len is its length.  text is as
 * codepoints_fold() returns it.
 */
const struct lexicon_row *emoticon_at(
    const uint32_t *text, size_t n, size_t at, size_t *len);

#endif /* !EMOTION_ENGINE_RECOGNITION_EMOTICON_H */
