/*
 * hanzi: traditional characters as their simplified forms, so that one spelling
 * in a catalog serves both.  The characters of spoken commands, not all.
 */
#ifndef INTENT_FILTER_HANZI_H
#define INTENT_FILTER_HANZI_H

#include <stdbool.h>
#include <stddef.h>

/*
 * hanzi_simplify(p, n):
 * Replace in n bytes of UTF-8; each form takes three bytes as the other.
 * Returns whether there was a traditional one.
 */
bool hanzi_simplify(char *p, size_t n);

#endif /* !INTENT_FILTER_HANZI_H */
