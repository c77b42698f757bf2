/*
 * Finding words.
 */
#include "core/mem.h"
#include "zh/token.h"

static bool
is_letter(char c)
{
	return c >= 'a' && c <= 'z';
}

/* A Latin word ends where its letters end. */
static bool
ends_well(struct str s, size_t at, const char *text, size_t n)
{
	return !is_letter(text[n - 1]) || at + n >= s.n ||
	    !is_letter(s.p[at + n]);
}

/* The first character as a number that sorts as its bytes do. */
static unsigned
head_of(const char *p)
{
	const unsigned char *b = (const unsigned char *)p;

	return b[0] < 0x80 ? (unsigned)b[0] << 16
			   : (unsigned)b[0] << 16 | (unsigned)b[1] << 8 | b[2];
}

/* The first word whose head does not sort before. */
static size_t
lower_bound(const struct lexicon *l, unsigned head)
{
	size_t lo = 0, hi = l->n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (head_of(l->words[mid].text) < head)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/* The longest word of one part of the lexicon. */
static const struct word *
find_in(const struct lexicon *l, struct str s, size_t at)
{
	const struct word *best = NULL;
	unsigned head = head_of(s.p + at);
	size_t i = lower_bound(l, head);

	/* What begins with a word sorts behind it. */
	for (; i < l->n && head_of(l->words[i].text) == head; i++) {
		const char *text = l->words[i].text;
		size_t n = strlen(text);

		if (at + n <= s.n && memcmp(text, s.p + at, n) == 0 &&
		    ends_well(s, at, text, n))
			best = &l->words[i];
	}
	return best;
}

const struct word *
lexicon_find(struct str s, size_t at)
{
	static const struct lexicon *const parts[] = { &lexicon_zh,
		&lexicon_calendar, &lexicon_feast, &lexicon_foreign,
		&lexicon_idiom };
	const struct word *best = NULL, *w;
	size_t head = (unsigned char)s.p[at] < 0x80 ? 1 : 3, i;

	if (at + head > s.n)
		return NULL;
	for (i = 0; i < NELEM(parts); i++) {
		w = find_in(parts[i], s, at);
		if (w != NULL &&
		    (best == NULL || strlen(w->text) > strlen(best->text)))
			best = w;
	}
	return best;
}
