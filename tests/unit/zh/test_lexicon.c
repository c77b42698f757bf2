/*
 * The lexicon keeps the order it is searched in, and every word is found.
 */
#include <stdio.h>

#include "core/mem.h"
#include "testkit/testkit.h"
#include "zh/hanzi.h"
#include "zh/token.h"

static const struct lexicon *const parts[] = { &lexicon_zh, &lexicon_calendar,
	&lexicon_feast, &lexicon_foreign, &lexicon_idiom };

TEST(sorted_and_folded)
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
			    "%s is not what a text is folded to", text);
		}
	}
}

TEST(found)
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

TEST(only_whole_words)
{
	ck_assert_ptr_null(lexicon_find(STR("mayor"), 0));
	ck_assert_ptr_nonnull(lexicon_find(STR("may or"), 0));
}
