#include "search/tokenizer.h"

#include <utf8proc.h>

#include "core/mem.h"

#define KEY_WORD (UINT64_C(1) << 63)
#define KEY_PAIR (UINT64_C(1) << 62)
/* Different tokens that tokenizer_common() considers. */
#define COMMON_MAX 512
/* Shorter words are not treated as plurals. */
#define PLURAL_MIN 4

/* Scripts written without blanks, or with blanks between phrases only. */
static const struct {
	uint32_t first, last;
} tokenizer_wide_ranges[] = {
	{ 0x0e00, 0x0eff },   /* Thai, Lao */
	{ 0x1000, 0x109f },   /* Myanmar */
	{ 0x1100, 0x11ff },   /* Hangul */
	{ 0x1780, 0x17ff },   /* Khmer */
	{ 0x2e80, 0x2fdf },   /* radicals */
	{ 0x3005, 0x3007 },   /* 々 〆 〇 */
	{ 0x3041, 0x312f },   /* kana, Bopomofo */
	{ 0x3130, 0x318f },   /* Hangul */
	{ 0x31a0, 0x31ff },   /* Bopomofo, strokes, kana */
	{ 0x3400, 0x4dbf },   /* ideographs */
	{ 0x4e00, 0x9fff },   /* ideographs */
	{ 0xa960, 0xa97f },   /* Hangul */
	{ 0xac00, 0xd7ff },   /* Hangul */
	{ 0xf900, 0xfaff },   /* ideographs */
	{ 0xff66, 0xffdc },   /* half-width forms */
	{ 0x1b000, 0x1b16f }, /* kana */
	{ 0x20000, 0x3ffff }, /* ideographs */
};

static bool
tokenizer_is_wide(uint32_t c)
{
	size_t lo = 0, hi = NELEM(tokenizer_wide_ranges);

	while (lo < hi) {
		size_t mid = (lo + hi) / 2;

		if (tokenizer_wide_ranges[mid].last < c)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < NELEM(tokenizer_wide_ranges) &&
	    tokenizer_wide_ranges[lo].first <= c;
}

static bool
tokenizer_is_letter(uint32_t c)
{
	switch (utf8proc_category((utf8proc_int32_t)c)) {
	case UTF8PROC_CATEGORY_LU:
	case UTF8PROC_CATEGORY_LL:
	case UTF8PROC_CATEGORY_LT:
	case UTF8PROC_CATEGORY_LM:
	case UTF8PROC_CATEGORY_LO:
	case UTF8PROC_CATEGORY_MN:
	case UTF8PROC_CATEGORY_MC:
	case UTF8PROC_CATEGORY_ND:
	case UTF8PROC_CATEGORY_NL:
		return true;
	default:
		return false;
	}
}

/* Fold *c; its class. */
static enum rune_class
tokenizer_fold(uint32_t *c)
{
	if (*c >= 0xff01 && *c <= 0xff5e)
		*c -= 0xff01 - '!';
	if (*c < 0x80) {
		if (*c >= 'A' && *c <= 'Z')
			*c += 'a' - 'A';
		return (*c >= 'a' && *c <= 'z') || (*c >= '0' && *c <= '9')
		    ? RUNE_LETTER
		    : RUNE_NONE;
	}
	if (*c >= 0x4e00 && *c <= 0x9fff)
		return RUNE_WIDE;
	*c = (uint32_t)utf8proc_tolower((utf8proc_int32_t)*c);
	if (!tokenizer_is_letter(*c))
		return RUNE_NONE;
	return tokenizer_is_wide(*c) ? RUNE_WIDE : RUNE_LETTER;
}

/* The code point at the position, without advancing; false at the end. */
static bool
tokenizer_peek(struct tokenizer *t, uint32_t *c, size_t *after)
{
	int32_t r;

	for (; t->pos < t->text.n; t->pos++) {
		*after = t->pos;
		r = str_utf8_next(t->text, after);
		if (r >= 0) {
			*c = (uint32_t)r;
			return true;
		}
	}
	return false;
}

static bool
tokenizer_is_apostrophe(uint32_t c)
{
	return c == '\'' || c == 0x2019;
}

/* The word at the position. */
static struct token
tokenizer_read_word(struct tokenizer *t)
{
	/*
	 * FNV-1a over code points; of the word, and of all but its last letter.
	 */
	uint64_t h = UINT64_C(14695981039346656037), shorter = h;
	uint32_t c, last = 0, second = 0;
	size_t n = 0, after;

	while (tokenizer_peek(t, &c, &after)) {
		if (!tokenizer_is_apostrophe(c)) {
			if (tokenizer_fold(&c) != RUNE_LETTER)
				break;
			shorter = h;
			h = (h ^ c) * UINT64_C(1099511628211);
			second = last;
			last = c;
			n++;
		}
		t->pos = after;
	}
	if (n >= PLURAL_MIN && last == 's' && second != 's' && second != 'u' &&
	    second != 'i')
		h = shorter;
	return (struct token){ h | KEY_WORD, TOKEN_WORD };
}

struct tokenizer
tokenizer_start(struct str text)
{
	return (struct tokenizer){ .text = text };
}

bool
tokenizer_next(struct tokenizer *t, struct token *out)
{
	uint32_t c;
	size_t after;

	if (t->has_next) {
		*out = t->next;
		t->has_next = false;
		return true;
	}
	while (tokenizer_peek(t, &c, &after)) {
		enum rune_class is = tokenizer_fold(&c);

		if (is == RUNE_LETTER) {
			t->before = 0;
			*out = tokenizer_read_word(t);
			return true;
		}
		t->pos = after;
		if (is == RUNE_WIDE) {
			*out = (struct token){ c, TOKEN_CHAR };
			t->has_next = t->before != 0;
			t->next.key = KEY_PAIR | (uint64_t)t->before << 21 | c;
			t->next.kind = TOKEN_PAIR;
			t->before = c;
			return true;
		}
		t->before = 0;
	}
	return false;
}

bool
tokenizer_rune(
    struct str text, size_t *pos, uint32_t *rune, enum rune_class *is)
{
	struct tokenizer t = { .text = text, .pos = *pos };

	if (!tokenizer_peek(&t, rune, pos))
		return false;
	*is = tokenizer_fold(rune);
	return true;
}

size_t
tokenizer_distinct(struct str text, struct token *dst, size_t max)
{
	struct tokenizer it = tokenizer_start(text);
	struct token t;
	size_t i, n = 0;

	while (n < max && tokenizer_next(&it, &t)) {
		for (i = 0; i < n && dst[i].key != t.key; i++)
			continue;
		if (i == n)
			dst[n++] = t;
	}
	return n;
}

/* English function words. */
static const struct str tokenizer_function_words =
    STR_INIT("a an the this that these those and or but not no of to in on at "
	     "for from with by about as is are was were be been am do does did "
	     "have has had will would can could should i me my you your he him "
	     "his she her it its we us our they them their user so very");

static size_t
tokenizer_drop_function_words(struct token *tokens, size_t n)
{
	struct tokenizer it = tokenizer_start(tokenizer_function_words);
	struct token t;
	size_t i;

	while (tokenizer_next(&it, &t)) {
		for (i = 0; i < n && tokens[i].key != t.key; i++)
			continue;
		if (i < n)
			tokens[i] = tokens[--n];
	}
	return n;
}

size_t
tokenizer_common(struct str a, struct str b)
{
	struct token tokens[COMMON_MAX], t;
	size_t i, n = tokenizer_distinct(a, tokens, COMMON_MAX), common = 0;
	struct tokenizer it = tokenizer_start(b);

	n = tokenizer_drop_function_words(tokens, n);

	while (tokenizer_next(&it, &t)) {
		if (t.kind == TOKEN_CHAR)
			continue;
		for (i = 0; i < n && tokens[i].key != t.key; i++)
			continue;
		if (i == n)
			continue;
		common++;
		tokens[i] = tokens[--n];
	}
	return common;
}

/* The finalizer of splitmix64. */
uint64_t
tokenizer_hash(uint64_t x)
{
	x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
	return x ^ (x >> 31);
}

static const struct str similarity_subjects[] = { STR_INIT("该用户"),
	STR_INIT("用户"), STR_INIT("主人"), STR_INIT("The user"),
	STR_INIT("the user"), STR_INIT("User"), STR_INIT("user") };

static const struct str similarity_fillers[] = { STR_INIT("的"), STR_INIT("了"),
	STR_INIT("是"), STR_INIT("也"), STR_INIT("很"), STR_INIT("啊"),
	STR_INIT("呢"), STR_INIT("吧"), STR_INIT("呀"), STR_INIT("a"),
	STR_INIT("an"), STR_INIT("the"), STR_INIT("is"), STR_INIT("are"),
	STR_INIT("very"), STR_INIT("really"), STR_INIT("also") };

static bool
similarity_is_filler(const struct token *t)
{
	size_t i;

	for (i = 0; i < NELEM(similarity_fillers); i++) {
		struct tokenizer it = tokenizer_start(similarity_fillers[i]);
		struct token e;

		if (tokenizer_next(&it, &e) && e.key == t->key)
			return true;
	}
	return false;
}

static struct tokenizer
similarity_start(struct str s)
{
	size_t i;

	s = str_trim(s);
	for (i = 0; i < NELEM(similarity_subjects); i++) {
		if (str_starts(s, similarity_subjects[i])) {
			s.p += similarity_subjects[i].n;
			s.n -= similarity_subjects[i].n;
			break;
		}
	}
	return tokenizer_start(s);
}

static bool
similarity_next(struct tokenizer *it, struct token *t)
{
	while (tokenizer_next(it, t))
		if (t->kind != TOKEN_PAIR && !similarity_is_filler(t))
			return true;
	return false;
}

bool
similarity_equal(struct str a, struct str b)
{
	struct tokenizer x = similarity_start(a), y = similarity_start(b);
	struct token s, t;
	bool more = similarity_next(&x, &s);

	if (!more)
		return false;
	while (more && similarity_next(&y, &t)) {
		if (s.key != t.key)
			return false;
		more = similarity_next(&x, &s);
	}
	return !more && !similarity_next(&y, &t);
}
