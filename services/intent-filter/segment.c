/*
 * Where one wish ends and the next begins.
 */
#include "segment.h"

#include <stdbool.h>

#include "core/mem.h"

/* Longest first among those that begin alike. */
static const struct str zh_words[] = {
	STR_INIT("并且"),
	STR_INIT("然后"),
	STR_INIT("同时"),
	STR_INIT("而且"),
	STR_INIT("接着"),
	STR_INIT("顺便"),
	STR_INIT("並且"),
	STR_INIT("然後"),
	STR_INIT("同時"),
	STR_INIT("接著"),
	STR_INIT("順便"),
	STR_INIT("并"),
	STR_INIT("再"),
	STR_INIT("。"),
	STR_INIT("、"),
	STR_INIT(","),
	STR_INIT("!"),
	STR_INIT("?"),
	STR_INIT(";"),
	STR_INIT("…"),
};
static const struct str en_words[] = {
	STR_INIT(" and then "),
	STR_INIT(" then "),
	STR_INIT(" and "),
	STR_INIT(" also "),
	STR_INIT(" plus "),
	STR_INIT(", "),
	STR_INIT(". "),
	STR_INIT("; "),
	STR_INIT(","),
	STR_INIT("!"),
	STR_INIT("?"),
	STR_INIT(";"),
};
/* What follows 再 where it is part of a word: 再见, 再次, 再说, 再来. */
static const struct str zai_words[] = {
	STR_INIT("再见"),
	STR_INIT("再见"),
	STR_INIT("再次"),
	STR_INIT("再说"),
	STR_INIT("再来"),
	STR_INIT("再也"),
	STR_INIT("再会"),
};

static bool
is_digit(struct str s, size_t i)
{
	return i < s.n && s.p[i] >= '0' && s.p[i] <= '9';
}

static struct str
rest(struct str s, size_t i)
{
	return (struct str){ s.p + i, s.n - i };
}

/* The length of the connector at i, or 0. */
static size_t
connector_at(struct str s, size_t i, bool latin)
{
	const struct str *words = latin ? en_words : zh_words;
	size_t j, n = latin ? NELEM(en_words) : NELEM(zh_words);

	/* 1,000 is one number. */
	if (s.p[i] == ',' && i > 0 && is_digit(s, i - 1) && is_digit(s, i + 1))
		return 0;
	for (j = 0; j < NELEM(zai_words); j++) {
		if (str_starts(rest(s, i), zai_words[j]))
			return 0;
	}
	for (j = 0; j < n; j++) {
		if (str_starts(rest(s, i), words[j]))
			return words[j].n;
	}
	return 0;
}

size_t
segment_split(const struct command *c, struct segment dst[SEGMENT_MAX])
{
	bool latin = strncmp(c->locale, "en", 2) == 0;
	struct str s = c->folded;
	size_t i = 0, start = 0, n = 0, cut;

	while (i < s.n) {
		cut = n < SEGMENT_MAX - 1 ? connector_at(s, i, latin) : 0;
		if (cut == 0) {
			i++;
			continue;
		}
		if (i > start)
			dst[n++] = (struct segment){ start, i };
		i += cut;
		start = i;
	}
	if (s.n > start)
		dst[n++] = (struct segment){ start, s.n };
	return n;
}
