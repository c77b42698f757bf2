/*
 * The constant maps of first characters have a bit for each word, and for no
 * other.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/mem.h"
#include "testkit/testkit.h"
#include "zh/first_char.h"
#include "zh/lexer.h"

static void
maps_check(const char *name, const struct lexicon *l,
    const uint64_t maps[FIRST_CHAR_MAPS])
{
	uint64_t expected[FIRST_CHAR_MAPS] = { 0 };

	for (size_t i = 0; i < l->n; i++) {
		uint32_t h = first_char_hash(
		    first_char_key(str_of(l->words[i].text), 0));

		expected[h >> 6] |= UINT64_C(1) << (h & 63U);
	}
	if (memcmp(maps, expected, sizeof(expected)) == 0)
		return;
	printf("%s should be:\n", name);
	for (size_t i = 0; i < FIRST_CHAR_MAPS; i++)
		printf("0x%016" PRIx64 ",%s", expected[i],
		    i % 3 == 2 ? "\n" : " ");
	ck_abort_msg("libs/zh/first_char.c: %s has other bits", name);
}

TEST(the_maps_are_those_of_the_lexicon)
{
	maps_check("first_char_of_words", &lexicon_words, first_char_of_words);
	maps_check("first_char_of_holidays", &lexicon_holidays,
	    first_char_of_holidays);
	maps_check(
	    "first_char_of_idioms", &lexicon_idioms, first_char_of_idioms);
}

TEST(most_characters_begin_nothing)
{
	size_t n = 0;

	for (uint32_t c = 0x4e00; c < 0xa000; c++) {
		char text[] = { (char)(0xe0 | c >> 12),
			(char)(0x80 | (c >> 6 & 0x3f)),
			(char)(0x80 | (c & 0x3f)) };
		uint32_t key =
		    first_char_key((struct str){ text, sizeof(text) }, 0);

		n += first_char_may_begin(first_char_of_words, key) ||
		    first_char_may_begin(first_char_of_holidays, key);
	}
	ck_assert_uint_lt(n, (0xa000 - 0x4e00) / 5);
	/* Incomplete characters, and the end. */
	ck_assert_uint_eq(first_char_key(STR("\xe4\xbd"), 0), 0);
	ck_assert_uint_eq(first_char_key(STR("a"), 1), 0);
	ck_assert_uint_eq(first_char_key(STR("a"), 0), 0x610000);
}
