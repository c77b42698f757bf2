/*
 * hanzi: traditional characters as their simplified forms, so that one spelling
 * in a lexicon or a catalog serves both.  The characters of spoken commands and
 * of expressions of time, not all.
 */
#ifndef ZH_HANZI_H
#define ZH_HANZI_H

#include <stdbool.h>
#include <stddef.h>

/*
 * hanzi_simplify(p, n):
 * Replace in n bytes of UTF-8; each form takes three bytes as the other.
 * Returns whether there was a traditional one.  Any thread.
 */
bool hanzi_simplify(char *p, size_t n);

#endif /* !ZH_HANZI_H */
