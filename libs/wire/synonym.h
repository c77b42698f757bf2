/*
 * synonym: words that mean the same where a machine offers a choice: "开" and
 * "on", "红色" and "red".
 */
#ifndef WIRE_SYNONYM_H
#define WIRE_SYNONYM_H

#include <stdbool.h>

#include "core/str.h"

/* Longest word that is looked at, in bytes, NUL included. */
#define WIRE_WORD_MAX 64

/*
 * wire_word_half(s, dst):
 * s without white space around it, full-width forms as ASCII; s itself if it is
 * longer than dst.
 */
struct str wire_word_half(struct str s, char dst[WIRE_WORD_MAX]);

/*
 * wire_word_equal(a, b):
 * Whether the words are equal but for case, width, and blanks, hyphens and
 * underscores, which are alike.
 */
bool wire_word_equal(struct str a, struct str b);

/* wire_word_same(a, b): Whether a table says that the words mean the same. */
bool wire_word_same(struct str a, struct str b);

/* wire_word_truth(s): 1 if s means yes, 0 if it means no, -1 if neither. */
int wire_word_truth(struct str s);

#endif /* !WIRE_SYNONYM_H */
