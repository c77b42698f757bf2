/*
 * A hash of chains, the longest word first in each.
 */
#include "words.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "runes.h"

#define HEADS_N  8192 /* a power of two */
#define WORD_MAX 32   /* code points */

struct word {
	const struct lexicon_row *row;
	uint32_t *runes;
	uint16_t n;
	bool open;         /* may go on: it was written with a '*' */
	struct word *next; /* of its chain */
};

struct words {
	struct word *all;
	size_t n;
	struct word *heads[HEADS_N];
};

static size_t
head_of(uint32_t first, uint32_t second)
{
	uint32_t h = first * UINT32_C(2654435761) ^ second * UINT32_C(40503);

	return (h ^ h >> 15) & (HEADS_N - 1);
}

static bool
letter(uint32_t r)
{
	return rune_latin(r) && r != '\'';
}

static void
word_set(struct word *w, const struct lexicon_row *row, struct str s)
{
	uint32_t runes[WORD_MAX];

	w->row = row;
	w->open = s.n > 0 && s.p[s.n - 1] == '*';
	if (w->open)
		s.n--;
	w->n = (uint16_t)runes_read(s, runes, WORD_MAX);
	w->runes = mem_calloc(w->n, sizeof(runes[0]));
	memcpy(w->runes, runes, w->n * sizeof(runes[0]));
}

static int
by_length(const void *a, const void *b)
{
	const struct word *x = a, *y = b;

	return (x->n > y->n) - (x->n < y->n);
}

static size_t
count(void)
{
	size_t i, k, n = 0;

	for (k = 0; k < LEXICON_PARTS_N; k++) {
		for (i = 0; i < lexicon_parts[k]->n; i++) {
			struct str rest =
			    str_of(lexicon_parts[k]->rows[i].words);

			for (; rest.p != NULL; n++)
				(void)str_split(&rest, '|');
		}
	}
	return n;
}

static void
add_row(struct words *w, const struct lexicon_row *row)
{
	struct str rest = str_of(row->words);

	while (rest.p != NULL)
		word_set(&w->all[w->n++], row, str_split(&rest, '|'));
}

struct words *
words_new(void)
{
	struct words *w = mem_zalloc(sizeof(*w));
	size_t i, k;

	w->all = mem_calloc(count(), sizeof(w->all[0]));
	for (k = 0; k < LEXICON_PARTS_N; k++) {
		for (i = 0; i < lexicon_parts[k]->n; i++)
			add_row(w, &lexicon_parts[k]->rows[i]);
	}
	/* Each chain grows at its head, so the longest come last. */
	qsort(w->all, w->n, sizeof(w->all[0]), by_length);
	for (i = 0; i < w->n; i++) {
		struct word *x = &w->all[i];
		size_t h = head_of(x->runes[0], x->n > 1 ? x->runes[1] : 0);

		x->next = w->heads[h];
		w->heads[h] = x;
	}
	return w;
}

void
words_free(struct words *w)
{
	size_t i;

	if (w == NULL)
		return;
	for (i = 0; i < w->n; i++)
		free(w->all[i].runes);
	free(w->all);
	free(w);
}

/* Whether a Latin word goes on at text[at]: "i won" is not in "i won't". */
static bool
goes_on(const uint32_t *text, size_t n, size_t at)
{
	if (at < n && text[at] == '\'')
		at++;
	return at < n && letter(text[at]);
}

/* How much of the text x takes at text[at]; 0: it does not stand there. */
static size_t
match(const struct word *x, const uint32_t *text, size_t n, size_t at)
{
	size_t end = at + x->n;

	if (end > n || memcmp(text + at, x->runes, x->n * sizeof(text[0])) != 0)
		return 0;
	if (!letter(text[end - 1]) || !goes_on(text, n, end))
		return end - at;
	if (!x->open)
		return 0;
	while (end < n && letter(text[end]))
		end++;
	return end - at;
}

const struct lexicon_row *
words_find(const struct words *w, const uint32_t *text, size_t n, size_t at,
    size_t *len)
{
	uint32_t second = at + 1 < n ? text[at + 1] : 0;
	const struct word *x;
	size_t i;

	if (letter(text[at]) && at > 0 && letter(text[at - 1]))
		return NULL;
	for (i = 0; i < 2; i++) {
		x = w->heads[head_of(text[at], i == 0 ? second : 0)];
		for (; x != NULL; x = x->next) {
			*len = match(x, text, n, at);
			if (*len > 0)
				return x->row;
		}
	}
	return NULL;
}
