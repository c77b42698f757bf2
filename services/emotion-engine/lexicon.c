/*
 * The parts of the lexicon.
 */
#include "lexicon.h"

const struct lexicon_part *const lexicon_parts[LEXICON_PARTS_N] = {
	&lexicon_rule,
	&lexicon_zh,
	&lexicon_en,
	&lexicon_hint_zh,
	&lexicon_hint_en_bad,
	&lexicon_hint_en_good,
};
