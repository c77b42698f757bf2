/*
 * English number words.
 */
#include "zh/numeral.h"

#include "core/mem.h"

/* At most: nine hundred and ninety-nine thousand and ninety-nine. */
#define WORDS_MAX 12

struct word {
	struct str text;
	int value;
};

static const struct word words[] = {
	{ STR_INIT("zero"), 0 },
	{ STR_INIT("one"), 1 },
	{ STR_INIT("two"), 2 },
	{ STR_INIT("three"), 3 },
	{ STR_INIT("four"), 4 },
	{ STR_INIT("five"), 5 },
	{ STR_INIT("six"), 6 },
	{ STR_INIT("seven"), 7 },
	{ STR_INIT("eight"), 8 },
	{ STR_INIT("nine"), 9 },
	{ STR_INIT("ten"), 10 },
	{ STR_INIT("eleven"), 11 },
	{ STR_INIT("twelve"), 12 },
	{ STR_INIT("thirteen"), 13 },
	{ STR_INIT("fourteen"), 14 },
	{ STR_INIT("fifteen"), 15 },
	{ STR_INIT("sixteen"), 16 },
	{ STR_INIT("seventeen"), 17 },
	{ STR_INIT("eighteen"), 18 },
	{ STR_INIT("nineteen"), 19 },
	{ STR_INIT("twenty"), 20 },
	{ STR_INIT("thirty"), 30 },
	{ STR_INIT("forty"), 40 },
	{ STR_INIT("fifty"), 50 },
	{ STR_INIT("sixty"), 60 },
	{ STR_INIT("seventy"), 70 },
	{ STR_INIT("eighty"), 80 },
	{ STR_INIT("ninety"), 90 },
	{ STR_INIT("hundred"), 100 },
	{ STR_INIT("thousand"), 1000 },
	{ STR_INIT("million"), 1000000 },
};

/* The value of the word at at, which ends at *end; -1 if it is none. */
static int
word_at(struct str s, size_t at, size_t *end)
{
	size_t n = 0, i;

	while (n < 16 && numeral_is_letter(s, at + n))
		n++;
	if (n < 3)
		return -1;
	for (i = 0; i < NELEM(words); i++) {
		if (str_eq_nocase((struct str){ s.p + at, n }, words[i].text)) {
			*end = at + n;
			return words[i].value;
		}
	}
	return -1;
}

/* Where the next word may begin: after a blank or a hyphen, and "and ". */
static size_t
gap(struct str s, size_t at, bool with_and)
{
	struct str rest;

	if (at >= s.n || (s.p[at] != ' ' && s.p[at] != '-'))
		return s.n;
	at++;
	rest = (struct str){ s.p + at, s.n - at };
	if (with_and && str_starts(rest, STR("and ")))
		at += 4;
	return at;
}

bool
numeral_word(struct str s, size_t at, struct numeral *out)
{
	double total = 0, part = 0;
	size_t pos = at, end = at;
	int last = 0, i;

	if (at > 0 && numeral_is_letter(s, at - 1))
		return false;
	for (i = 0; i < WORDS_MAX; i++) {
		int v = word_at(s, pos, &end);

		/* After twenty one of one to nine; no number after a number. */
		if (v < 0 || (i == 0 && v >= 100) ||
		    (i > 0 && v < 100 && last < 100 &&
			(last < 20 || v == 0 || v > 9)))
			break;
		if (v >= 1000) {
			total += part * v;
			part = 0;
		} else {
			part = v == 100 ? part * 100 : part + v;
		}
		*out = (struct numeral){ .value = total + part, .end = end };
		last = v;
		pos = gap(s, end, v >= 100);
	}
	return i > 0;
}
