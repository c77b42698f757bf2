/*
 * embed: vectors of texts that share characters lie near each other.
 */
#ifndef LLM_SIM_EMBED_H
#define LLM_SIM_EMBED_H

#include "core/str.h"

#define EMBED_DIM 64

/*
 * embed_text(s, v):
 * Counts of hashed pairs of code points, as a vector of length 1 (all 0 for
 * less than two code points).  The same text has the same vector everywhere.
 */
void embed_text(struct str s, double v[EMBED_DIM]);

#endif /* !LLM_SIM_EMBED_H */
