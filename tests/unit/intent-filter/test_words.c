/*
 * Finding words: the automaton, everyday speech, examples.
 */
#include <stdio.h>

#include "automaton.h"
#include "core/arena.h"
#include "core/mem.h"
#include "examples.h"
#include "speech.h"
#include "testkit/testkit.h"

static const char *const set[] = { "he", "she", "his", "hers", "灯", "开灯",
	"关灯", "灯", "" };

/* Each hit as "start-end:word". */
static const struct {
	const char *text, *hits;
} scans[] = {
	{ "ushers", "1-4:1 2-4:0 2-6:3 " },
	{ "开灯", "0-6:5 3-6:7 3-6:4 " },
	{ "不开", "" },
	{ "", "" },
	{ "hehe", "0-2:0 2-4:0 " },
};

TEST(all_words_are_found_in_one_pass)
{
	struct automaton *m = automaton_new();
	struct automaton_hit hits[16];
	size_t i, j, n, len;
	char got[256];

	for (i = 0; i < NELEM(set); i++)
		automaton_add(m, str_of(set[i]), (uint32_t)i);
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
	/* No more than is asked for. */
	ck_assert_uint_eq(automaton_scan(m, STR("hehehe"), hits, 2), 2);
	automaton_free(m);
}

/* Against the plain way, over all words of two letters in random texts. */
TEST(nothing_is_missed)
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
	enum speech_kind kind;
	const char *found; /* the first of that kind; NULL: none */
} words[] = {
	{ "别开灯", SPEECH_NOT, "别" },
	{ "特别亮", SPEECH_NOT, NULL },
	{ "别忘了关灯", SPEECH_NOT, NULL },
	{ "再见", SPEECH_JOINT, NULL },
	{ "然后再开灯", SPEECH_JOINT, "然后" },
	{ "我很开心", SPEECH_ACTION, NULL },
	{ "打开电视", SPEECH_ACTION, "打开" },
	{ "the front door", SPEECH_ACTION, NULL },
	{ "don't stop", SPEECH_NOT, "don't" },
	{ "客厅的台灯", SPEECH_DEVICE, "台灯" },
	{ "能不能开灯", SPEECH_NOT_DO, NULL },
	{ "不开灯", SPEECH_NOT_DO, "不" },
	{ "", SPEECH_NOT, NULL },
};

TEST(everyday_words_are_known)
{
	struct speech *s = speech_new();
	struct speech_hit hits[64];
	size_t i, j, n;

	for (i = 0; i < NELEM(words); i++) {
		struct str text = str_of(words[i].text), found = { 0 };

		n = speech_find(s, text, hits, NELEM(hits));
		for (j = n; j-- > 0;) {
			if (hits[j].kind == words[i].kind)
				found = (struct str){ text.p + hits[j].start,
					hits[j].end - hits[j].start };
		}
		ck_assert_msg((found.p == NULL) == (words[i].found == NULL) &&
			str_eq(found, str_of(words[i].found)),
		    "%s: %.*s", words[i].text, STR_ARG(found));
	}
	speech_free(s);
}

TEST(the_nearest_example_counts)
{
	struct examples *e = examples_new();
	struct arena *a = arena_new(1 << 20);
	struct example_likeness *l;
	size_t n;

	examples_add(e, 1, 0, STR("关灯"));
	examples_add(e, 1, 1, STR("把灯关掉"));
	examples_add(e, 2, 0, STR("打扫客厅"));
	examples_build(e);
	l = examples_like(e, STR("把灯关掉"), .6, a, &n);
	ck_assert_uint_eq(n, 1);
	ck_assert_uint_eq(l[0].intent, 1);
	ck_assert_uint_eq(l[0].index, 1);
	ck_assert_double_eq(l[0].share, 1);
	l = examples_like(e, STR("打扫一下客厅"), .6, a, &n);
	ck_assert_uint_eq(n, 1);
	ck_assert_uint_eq(l[0].intent, 2);
	ck_assert_double_lt(l[0].share, 1);
	(void)examples_like(e, STR("今天天气"), .6, a, &n);
	ck_assert_uint_eq(n, 0);
	(void)examples_like(e, STR(""), .6, a, &n);
	ck_assert_uint_eq(n, 0);
	examples_free(e);
	arena_free(a);
}
