/*
 * Looking things up in the text.
 */
#include "reading.h"

#include "core/mem.h"

/* Words of a text whose core is taken. */
#define CORE_WORDS_MAX 256

static const struct {
	struct str open, close;
} marks[] = {
	{ STR_INIT("“"), STR_INIT("”") },
	{ STR_INIT("「"), STR_INIT("」") },
	{ STR_INIT("『"), STR_INIT("』") },
	{ STR_INIT("《"), STR_INIT("》") },
	{ STR_INIT("\""), STR_INIT("\"") },
};

static struct str
rest(struct str s, size_t at)
{
	return (struct str){ s.p + at, s.n - at };
}

/* A quotation that is not closed is none. */
static void
find_quotes(struct reading *r)
{
	struct str s = r->cmd.folded;
	size_t i = 0, j;
	ptrdiff_t n;

	while (i < s.n && r->n_quotes < READING_QUOTES_MAX) {
		for (j = 0; j < NELEM(marks); j++) {
			if (str_starts(rest(s, i), marks[j].open))
				break;
		}
		n = -1;
		if (j < NELEM(marks))
			n = str_find(
			    rest(s, i + marks[j].open.n), marks[j].close);
		if (n < 0) {
			i++;
			continue;
		}
		r->quotes[r->n_quotes].start = i;
		i += marks[j].open.n + (size_t)n + marks[j].close.n;
		r->quotes[r->n_quotes++].end = i;
	}
}

enum rc
reading_make(struct reading *r, struct when_now now, struct arena *a)
{
	struct speech_hit words[READING_WORDS_MAX];
	struct when times[READING_TIMES_MAX];
	bool japanese = strncmp(r->cmd.locale, "ja", 2) == 0;
	size_t i, n;

	r->now = now.now;
	r->offset_min = zone_offset_min(now.zone, now.now);
	r->names = NULL;
	r->n_names = 0;
	r->n_words = speech_find(r->cmd.folded, words, NELEM(words));
	r->words = arena_alloc(a, r->n_words * sizeof(*words) + 1);
	/* Japanese characters are not simplified ones. */
	n = when_find(
	    now, japanese ? r->cmd.text : r->cmd.folded, times, NELEM(times));
	r->times = arena_alloc(a, n * sizeof(*times) + 1);
	if (r->words == NULL || r->times == NULL)
		return RC_TOOBIG;
	memcpy(r->words, words, r->n_words * sizeof(*words));
	r->n_times = 0;
	for (i = 0; i < n; i++) {
		if (times[i].confidence >= .5)
			r->times[r->n_times++] = times[i];
	}
	r->n_quotes = 0;
	find_quotes(r);
	plain_make(r->cmd.folded, a, &r->plain);
	return RC_OK;
}

const struct when *
reading_time_at(const struct reading *r, size_t start, size_t end)
{
	size_t i;

	for (i = 0; i < r->n_times; i++) {
		if (r->times[i].start < end && r->times[i].end > start)
			return &r->times[i];
	}
	return NULL;
}

bool
reading_is_quoted(const struct reading *r, size_t at)
{
	size_t i;

	for (i = 0; i < r->n_quotes; i++) {
		if (at >= r->quotes[i].start && at < r->quotes[i].end)
			return true;
	}
	return false;
}

bool
reading_is_named(const struct reading *r, size_t start, size_t end)
{
	size_t i;

	for (i = 0; i < r->n_names; i++) {
		if (r->names[i].start <= start && r->names[i].end >= end &&
		    r->names[i].end - r->names[i].start > end - start)
			return true;
	}
	return false;
}

/* The length of the filler or time at i, or 0. */
static size_t
unsaid_at(const struct reading *r, size_t i, size_t *word)
{
	const struct when *t = reading_time_at(r, i, i + 1);

	if (t != NULL)
		return t->end - i;
	while (*word < r->n_words && r->words[*word].start < i)
		(*word)++;
	for (size_t w = *word; w < r->n_words && r->words[w].start == i; w++) {
		switch (r->words[w].kind) {
		case SPEECH_FILLER:
		case SPEECH_JOINT:
		case SPEECH_STOP:
		case SPEECH_ASK:
			return r->words[w].end - i;
		default:
			break;
		}
	}
	return 0;
}

static bool
is_taken(size_t i, const struct reading_span *spans, size_t n)
{
	size_t j;

	for (j = 0; j < n; j++) {
		if (i >= spans[j].start && i < spans[j].end)
			return true;
	}
	return false;
}

double
reading_share(const struct reading *r, size_t start, size_t end,
    const struct reading_span *spans, size_t n)
{
	struct str s = { r->cmd.folded.p, end };
	size_t i = start, word = 0, skip, taken = 0, all = 0, next;

	while (i < end) {
		next = i;
		if (str_utf8_next(s, &next) < 0)
			break;
		if (is_taken(i, spans, n)) {
			taken += next - i;
			all += next - i;
		} else if ((skip = unsaid_at(r, i, &word)) > 0) {
			next = i + skip;
		} else if (s.p[i] != ' ') {
			all += next - i;
		}
		i = next;
	}
	return all > 0 ? (double)taken / (double)all : 0;
}

bool
reading_says(const struct reading *r, size_t start, size_t end)
{
	size_t i = start, word = 0, skip;

	while (i < end) {
		skip = unsaid_at(r, i, &word);
		if (skip == 0 && r->cmd.folded.p[i] != ' ')
			return true;
		i += skip > 0 ? skip : 1;
	}
	return false;
}

enum rc
reading_core(struct str folded, struct arena *a, struct str *out)
{
	struct speech_hit words[CORE_WORDS_MAX];
	size_t i, j, n, at = 0, len = 0;
	char *p = arena_alloc(a, folded.n + 1);

	if (p == NULL)
		return RC_TOOBIG;
	n = speech_find(folded, words, NELEM(words));
	for (i = 0; i <= n; i++) {
		size_t until = i < n ? words[i].start : folded.n;

		if (until < at ||
		    (i < n && words[i].kind != SPEECH_FILLER &&
			words[i].kind != SPEECH_DAY))
			continue;
		for (j = at; j < until; j++)
			p[len++] = folded.p[j];
		if (i < n)
			at = words[i].end;
	}
	*out = len > 0 ? (struct str){ p, len } : folded;
	return RC_OK;
}
