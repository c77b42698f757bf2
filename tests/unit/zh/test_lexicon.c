/*
 * The lexicon is in the order that the search requires.
 */
#include <stdio.h>

#include "core/mem.h"
#include "testkit/testkit.h"
#include "zh/hanzi.h"
#include "zh/lexer.h"

static const struct lexicon *const parts[] = { &lexicon_words,
	&lexicon_holidays };

TEST(lexicon_is_sorted_and_folded)
{
	size_t i, k;

	for (i = 0; i < NELEM(parts); i++) {
		for (k = 0; k < parts[i]->n; k++) {
			const char *text = parts[i]->words[k].text;
			char folded[64];

			ck_assert_msg(k == 0 ||
				strcmp(parts[i]->words[k - 1].text, text) < 0,
			    "%s", text);
			snprintf(folded, sizeof(folded), "%s", text);
			(void)hanzi_simplify(folded, strlen(folded));
			ck_assert_msg(strcmp(folded, text) == 0,
			    "%s is not folded", text);
		}
	}
}

TEST(every_word_is_found)
{
	size_t i, k;

	for (i = 0; i < NELEM(parts); i++) {
		for (k = 0; k < parts[i]->n; k++) {
			struct str s = str_of(parts[i]->words[k].text);
			const struct word *w = lexicon_find(s, 0);

			ck_assert_ptr_nonnull(w);
			ck_assert_str_eq(w->text, s.p);
		}
	}
}

TEST(latin_words_match_whole)
{
	ck_assert_ptr_null(lexicon_find(STR("mayor"), 0));
	ck_assert_ptr_nonnull(lexicon_find(STR("may or"), 0));
}
