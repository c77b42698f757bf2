/*
 * runes: text as code points that compare.
 *
 * ASCII letters become lower case, full-width forms ASCII, common traditional
 * characters simplified; runs of white space one blank between Latin words and
 * nothing elsewhere; a line break a comma.  Pure.
 *
 * The table of characters is not zh/hanzi's: the weights were learnt with it,
 * so whoever changes it trains anew.
 */
#ifndef EMOTION_ENGINE_RUNES_H
#define EMOTION_ENGINE_RUNES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/str.h"

/*
 * runes_read(s, dst, max):
 * The code points of s into dst, at most max of them (the rest is cut); bytes
 * that are not UTF-8 are left out.  Returns how many.
 */
size_t runes_read(struct str s, uint32_t *dst, size_t max);

/* rune_latin(r): Whether r is part of a word that blanks border. */
bool rune_latin(uint32_t r);

/* rune_write(r, p): r as UTF-8, 1 to 4 bytes.  Returns how many. */
size_t rune_write(uint32_t r, char p[4]);

#endif /* !EMOTION_ENGINE_RUNES_H */
