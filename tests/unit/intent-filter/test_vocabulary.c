/*
 * The automaton, the vocabulary, the example index.
 */
#include <stdio.h>

#include "catalog/catalog_internal.h"
#include "core/arena.h"
#include "core/mem.h"
#include "testkit/testkit.h"
#include "text/automaton.h"
#include "text/vocabulary.h"

static const char *const automaton_words[] = { "ab", "cab", "bis", "abrs", "灯",
	"开灯", "关灯", "灯", "" };

/* Each hit as "start-end:word". */
static const struct {
	const char *text, *hits;
} scans[] = {
	{ "ucabrs", "1-4:1 2-4:0 2-6:3 " },
	{ "开灯", "0-6:5 3-6:7 3-6:4 " },
	{ "不开", "" },
	{ "", "" },
	{ "abab", "0-2:0 2-4:0 " },
};

TEST(automaton_finds_all_words_in_one_pass)
{
	struct automaton *m = automaton_new();
	struct automaton_hit hits[16];
	size_t i, j, n, len;
	char got[256];

	for (i = 0; i < NELEM(automaton_words); i++)
		automaton_add(m, str_of(automaton_words[i]), (uint32_t)i);
	automaton_build(m);
	for (i = 0; i < NELEM(scans); i++) {
		n = automaton_scan(m, str_of(scans[i].text), hits, NELEM(hits));
		got[len = 0] = '\0';
		for (j = 0; j < n; j++)
			len += (size_t)snprintf(got + len, sizeof(got) - len,
			    "%u-%u:%u ", hits[j].start, hits[j].end,
			    hits[j].word);
		ck_assert_msg(strcmp(got, scans[i].hits) == 0, "%s: %s",
		    scans[i].text, got);
	}
	/* At most max. */
	ck_assert_uint_eq(automaton_scan(m, STR("ababab"), hits, 2), 2);
	automaton_free(m);
}

/* All words of two and three of three letters, in random texts. */
TEST(automaton_agrees_with_a_naive_search)
{
	struct automaton *m = automaton_new();
	struct automaton_hit hits[512];
	char words[27][4], text[65];
	size_t i, j, n, want;
	unsigned seed = 7;

	for (i = 0; i < 27; i++) {
		words[i][0] = (char)('a' + i / 9);
		words[i][1] = (char)('a' + i / 3 % 3);
		words[i][2] = (char)('a' + i % 3);
		words[i][3] = '\0';
		automaton_add(m, str_of(words[i] + i % 2), (uint32_t)i);
	}
	automaton_build(m);
	for (j = 0; j < 200; j++) {
		for (i = 0; i < 64; i++) {
			seed = seed * 1103515245 + 12345;
			text[i] = (char)('a' + (seed >> 16) % 3);
		}
		text[64] = '\0';
		want = 0;
		for (i = 0; i < 27; i++) {
			const char *at = text;

			while ((at = strstr(at, words[i] + i % 2)) != NULL) {
				want++;
				at++;
			}
		}
		n = automaton_scan(m, str_of(text), hits, NELEM(hits));
		ck_assert_uint_eq(n, want);
	}
	automaton_free(m);
}

static const struct {
	const char *text;
	enum word_kind kind;
	const char *found; /* the first of that kind; NULL: none */
} words[] = {
	{ "别开灯", WORD_PROHIBITION, "别" },
	{ "特别亮", WORD_PROHIBITION, NULL },
	{ "别忘了关灯", WORD_PROHIBITION, NULL },
	{ "再见", WORD_CONJUNCTION, NULL },
	{ "然后再开灯", WORD_CONJUNCTION, "然后" },
	{ "我很开心", WORD_ACTION, NULL },
	{ "打开电视", WORD_ACTION, "打开" },
	{ "the front door", WORD_ACTION, NULL },
	{ "don't stop", WORD_PROHIBITION, "don't" },
	{ "客厅的台灯", WORD_DEVICE, "台灯" },
	{ "能不能开灯", WORD_NEGATION, NULL },
	{ "不开灯", WORD_NEGATION, "不" },
	{ "", WORD_PROHIBITION, NULL },
};

TEST(vocabulary_finds_everyday_words)
{
	struct vocabulary *s = vocabulary_new();
	struct word_hit hits[64];
	size_t i, j, n;

	for (i = 0; i < NELEM(words); i++) {
		struct str text = str_of(words[i].text), found = { 0 };

		n = vocabulary_find(s, text, hits, NELEM(hits));
		for (j = n; j-- > 0;) {
			if (hits[j].kind == words[i].kind)
				found = (struct str){ text.p + hits[j].start,
					hits[j].end - hits[j].start };
		}
		ck_assert_msg((found.p == NULL) == (words[i].found == NULL) &&
			str_eq(found, str_of(words[i].found)),
		    "%s: %.*s", words[i].text, STR_ARG(found));
	}
	vocabulary_free(s);
}

TEST(example_index_finds_the_nearest_example)
{
	struct example_index *e = example_index_new();
	struct arena *a = arena_new(1 << 20);
	struct example_similarity *l;
	size_t n;

	example_index_add(e, 1, 0, STR("关灯"));
	example_index_add(e, 1, 1, STR("把灯关掉"));
	example_index_add(e, 2, 0, STR("打扫客厅"));
	example_index_build(e);
	l = example_index_search(e, STR("把灯关掉"), .6, a, &n);
	ck_assert_uint_eq(n, 1);
	ck_assert_uint_eq(l[0].intent, 1);
	ck_assert_uint_eq(l[0].index, 1);
	ck_assert_double_eq(l[0].share, 1);
	l = example_index_search(e, STR("打扫一下客厅"), .6, a, &n);
	ck_assert_uint_eq(n, 1);
	ck_assert_uint_eq(l[0].intent, 2);
	ck_assert_double_lt(l[0].share, 1);
	(void)example_index_search(e, STR("今天天气"), .6, a, &n);
	ck_assert_uint_eq(n, 0);
	(void)example_index_search(e, STR(""), .6, a, &n);
	ck_assert_uint_eq(n, 0);
	example_index_free(e);
	arena_free(a);
}
