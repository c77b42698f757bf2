/*
 * One pass over the code points.
 */
#include "tokens.h"

#include <utf8proc.h>

#include "core/mem.h"

#define KEY_WORD (UINT64_C(1) << 63)
#define KEY_PAIR (UINT64_C(1) << 62)
/* Different tokens of a text that tokens_common() counts. */
#define COMMON_MAX 512
/* Shorter words are not plurals. */
#define PLURAL_MIN 4

/* Scripts whose words no blank borders, or whose blanks border phrases. */
static const struct {
	uint32_t first, last;
} wide[] = {
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
is_wide(uint32_t c)
{
	size_t lo = 0, hi = NELEM(wide);

	while (lo < hi) {
		size_t mid = (lo + hi) / 2;

		if (wide[mid].last < c)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < NELEM(wide) && wide[lo].first <= c;
}

static bool
is_letter(uint32_t c)
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

/* What *c is, and folded. */
static enum rune_class
fold(uint32_t *c)
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
	if (!is_letter(*c))
		return RUNE_NONE;
	return is_wide(*c) ? RUNE_WIDE : RUNE_LETTER;
}

/* The code point at the position, which stays; false at the end. */
static bool
peek(struct tokens *t, uint32_t *c, size_t *after)
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
is_apostrophe(uint32_t c)
{
	return c == '\'' || c == 0x2019;
}

/* The word that begins at the position. */
static struct token
word(struct tokens *t)
{
	/* FNV-1a over code points; of the word, and without its last one. */
	uint64_t h = UINT64_C(14695981039346656037), shorter = h;
	uint32_t c, last = 0, second = 0;
	size_t n = 0, after;

	while (peek(t, &c, &after)) {
		if (!is_apostrophe(c)) {
			if (fold(&c) != RUNE_LETTER)
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

struct tokens
tokens_of(struct str text)
{
	return (struct tokens){ .text = text };
}

bool
tokens_next(struct tokens *t, struct token *out)
{
	uint32_t c;
	size_t after;

	if (t->has_next) {
		*out = t->next;
		t->has_next = false;
		return true;
	}
	while (peek(t, &c, &after)) {
		enum rune_class is = fold(&c);

		if (is == RUNE_LETTER) {
			t->before = 0;
			*out = word(t);
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
tokens_rune(struct str text, size_t *pos, uint32_t *rune, enum rune_class *is)
{
	struct tokens t = { .text = text, .pos = *pos };

	if (!peek(&t, rune, pos))
		return false;
	*is = fold(rune);
	return true;
}

size_t
tokens_distinct(struct str text, struct token *dst, size_t max)
{
	struct tokens walk = tokens_of(text);
	struct token t;
	size_t i, n = 0;

	while (n < max && tokens_next(&walk, &t)) {
		for (i = 0; i < n && dst[i].key != t.key; i++)
			continue;
		if (i == n)
			dst[n++] = t;
	}
	return n;
}

/* Words that any two English texts have in common. */
static const struct str function_words =
    STR_INIT("a an the this that these those and or but not no of to in on at "
	     "for from with by about as is are was were be been am do does did "
	     "have has had will would can could should i me my you your he him "
	     "his she her it its we us our they them their user so very");

static size_t
without_function_words(struct token *tokens, size_t n)
{
	struct tokens walk = tokens_of(function_words);
	struct token t;
	size_t i;

	while (tokens_next(&walk, &t)) {
		for (i = 0; i < n && tokens[i].key != t.key; i++)
			continue;
		if (i < n)
			tokens[i] = tokens[--n];
	}
	return n;
}

size_t
tokens_common(struct str a, struct str b)
{
	struct token tokens[COMMON_MAX], t;
	size_t i, n = tokens_distinct(a, tokens, COMMON_MAX), common = 0;
	struct tokens walk = tokens_of(b);

	n = without_function_words(tokens, n);

	while (tokens_next(&walk, &t)) {
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

/* The finaliser of splitmix64. */
uint64_t
tokens_mix(uint64_t x)
{
	x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
	return x ^ (x >> 31);
}
