/*
 * Features of texts: the lexicon with its examples, and the keys.
 */
#include <stdlib.h>

#include "core/mem.h"
#include "recognition/codepoints.h"
#include "recognition/feature.h"
#include "recognition/lexicon.h"
#include "testkit/testkit.h"

/* Each word finds its own row: none is shadowed or misspelt. */
static void
check_row_words(const struct lexicon *w, const struct lexicon_row *want)
{
	struct str rest = str_of(want->words);
	uint32_t codepoints[64];

	while (rest.p != NULL) {
		struct str s = str_split(&rest, '|');
		const struct lexicon_row *row;
		size_t n, len;

		if (s.n > 0 && s.p[s.n - 1] == '*')
			s.n--;
		n = codepoints_fold(s, codepoints, NELEM(codepoints));
		ck_assert_msg(n > 0, "an empty word in %s", want->words);
		row = lexicon_find(w, codepoints, n, 0, &len);
		ck_assert_msg(
		    row != NULL && len == n, "%.*s is not found", STR_ARG(s));
		ck_assert_msg(row == want, "%.*s is there twice", STR_ARG(s));
	}
}

TEST(every_lexicon_word_finds_its_own_row)
{
	struct lexicon *w = lexicon_new();
	size_t i, k;

	for (k = 0; k < LEXICON_PARTS_N; k++) {
		for (i = 0; i < lexicon_parts[k]->n; i++)
			check_row_words(w, &lexicon_parts[k]->rows[i]);
	}
	lexicon_free(w);
	lexicon_free(NULL);
}

static bool
any_cue(const struct features *f, enum features_state state)
{
	size_t i;

	for (i = 0; i < f->n_signs; i++) {
		if (f->signs[i].row->kind == LEXICON_CUE &&
		    f->signs[i].state == state)
			return true;
	}
	return false;
}

static bool
any_degree(const struct features *f, enum lexicon_kind kind)
{
	size_t i;

	for (i = 0; i < f->n_signs; i++) {
		const struct features_sign *s = &f->signs[i];

		if (kind == LEXICON_MORE       ? s->more
			: kind == LEXICON_LESS ? s->less
					       : s->most)
			return true;
	}
	return false;
}

static bool
has_row(const struct features *f, const struct lexicon_row *row)
{
	size_t i;

	for (i = 0; i < f->n_signs; i++) {
		if (f->signs[i].row == row &&
		    f->signs[i].state == FEATURES_PLAIN)
			return true;
	}
	return false;
}

/* Whether a row has its effect in a text. */
static bool
row_has_effect(const struct features *f, const struct lexicon_row *row)
{
	switch (row->kind) {
	case LEXICON_NOT:
	case LEXICON_FAR:
		return any_cue(f, FEATURES_DENIED);
	case LEXICON_MORE:
	case LEXICON_LESS:
	case LEXICON_MOST:
		return any_degree(f, row->kind);
	case LEXICON_BUT:
		return any_cue(f, FEATURES_CONCEDED);
	case LEXICON_THEY:
		return any_cue(f, FEATURES_THEIRS);
	case LEXICON_THING:
	case LEXICON_YOU:
	case LEXICON_QUESTION:
	case LEXICON_ME: /* with a "no" example */
		return any_cue(f, FEATURES_MUTED);
	case LEXICON_PLAIN:
	case LEXICON_LINK:
		return any_cue(f, FEATURES_PLAIN);
	default:
		return has_row(f, row);
	}
}

static void
check_examples(struct features *f, const struct lexicon_row *row,
    const char *examples, bool want)
{
	struct str rest = str_of(examples);

	while (rest.p != NULL && rest.n > 0) {
		struct str s = str_split(&rest, '|');

		features_read(f, s);
		ck_assert_msg(row_has_effect(f, row) == want,
		    "%.*s: %s (%.20s...)", STR_ARG(s),
		    want ? "should" : "should not", row->words);
	}
}

TEST(lexicon_examples_hold)
{
	struct features *f = features_new();
	size_t i, k;

	for (k = 0; k < LEXICON_PARTS_N; k++) {
		for (i = 0; i < lexicon_parts[k]->n; i++) {
			const struct lexicon_row *r =
			    &lexicon_parts[k]->rows[i];

			ck_assert_msg(r->kind != LEXICON_CUE || r->yes != NULL,
			    "%s has no example", r->words);
			check_examples(f, r, r->yes, true);
			check_examples(f, r, r->no, false);
		}
	}
	features_free(f);
	features_free(NULL);
}

static size_t
keys_in_common(struct features *f, const char *a, const char *b)
{
	uint64_t *first = mem_calloc(FEATURES_KEYS_MAX, sizeof(first[0]));
	size_t i, k, n, common = 0;

	features_read(f, str_of(a));
	n = f->n_keys;
	for (i = 0; i < n; i++)
		first[i] = f->keys[i].key;
	features_read(f, str_of(b));
	for (i = 0; i < f->n_keys; i++) {
		for (k = 0; k < n && first[k] != f->keys[i].key;)
			k++;
		common += k < n;
	}
	free(first);
	return common == f->n_keys && n == f->n_keys ? SIZE_MAX : common;
}

TEST(equivalent_spellings_have_the_same_keys)
{
	struct features *f = features_new();

	ck_assert_uint_eq(keys_in_common(f, "謝謝你", "谢谢你"), SIZE_MAX);
	ck_assert_uint_eq(
	    keys_in_common(f, "It's SOOOO good", "it's soooooo good"),
	    SIZE_MAX);
	ck_assert_uint_eq(keys_in_common(f, "天!!!", "天！！！！！"), SIZE_MAX);
	ck_assert_uint_eq(keys_in_common(f, "9 apples", "12 apples"), SIZE_MAX);
	ck_assert_uint_eq(
	    keys_in_common(f, "哈哈哈", "哈哈哈哈哈哈哈"), SIZE_MAX);
	/* Language, length, persons, and the stem of the word. */
	ck_assert_uint_eq(
	    keys_in_common(f, "disappointed", "disappointing"), 4);
	ck_assert_uint_lt(keys_in_common(f, "猫", "狗"), 4);
	features_free(f);
}

TEST(negated_words_are_not_keys)
{
	struct features *f = features_new();
	size_t i;

	features_read(f, STR("我不难过"));
	ck_assert_uint_eq(f->n_signs, 1);
	for (i = 0; i < f->n_keys; i++)
		ck_assert(f->keys[i].at < f->signs[0].at ||
		    f->keys[i].end > f->signs[0].end);
	features_free(f);
}
