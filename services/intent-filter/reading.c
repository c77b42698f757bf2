/*
 * Looking things up in the text.
 */
#include "reading.h"

#include "core/mem.h"

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

/* The length of the quotation that begins s; 0 if it is not closed. */
static size_t
quote_len(struct str s)
{
	ptrdiff_t n;
	size_t i;

	for (i = 0; i < NELEM(marks); i++) {
		if (!str_starts(s, marks[i].open))
			continue;
		n = str_find(rest(s, marks[i].open.n), marks[i].close);
		return n < 0 ? 0
			     : marks[i].open.n + (size_t)n + marks[i].close.n;
	}
	return 0;
}

static void
find_quotes(struct reading *r)
{
	struct str s = r->cmd.folded;
	size_t i = 0, n;

	while (i < s.n && r->n_quotes < READING_QUOTES_MAX) {
		n = quote_len(rest(s, i));
		if (n > 0)
			r->quotes[r->n_quotes++] = (struct quote){ i, i + n };
		i += n > 0 ? n : 1;
	}
}

enum rc
reading_make(struct reading *r, struct datetime_now now,
    const struct speech *speech, struct arena *a)
{
	struct speech_hit words[READING_WORDS_MAX];
	struct datetime times[READING_TIMES_MAX];
	bool japanese = strncmp(r->cmd.locale, "ja", 2) == 0;
	size_t i, n;

	r->now = now.now;
	r->zone = now.zone;
	r->offset_min = zone_offset_min(now.zone, now.now);
	r->names = NULL;
	r->n_names = 0;
	r->n_words = speech_find(speech, r->cmd.folded, words, NELEM(words));
	r->words = arena_alloc(a, r->n_words * sizeof(*words) + 1);
	/* Japanese characters are not simplified ones. */
	n = datetime_find(
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

const struct datetime *
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
	const struct datetime *t = reading_time_at(r, i, i + 1);

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

struct str
reading_core(const struct reading *r, size_t start, size_t end, struct arena *a)
{
	struct str s = r->cmd.folded;
	char *p = arena_alloc(a, end - start + 1);
	size_t i, at = start, n = 0;

	if (p == NULL)
		return (struct str){ s.p + start, end - start };
	for (i = 0; i < r->n_words && r->words[i].start < end; i++) {
		const struct speech_hit *w = &r->words[i];

		if (w->start < at || w->end > end ||
		    (w->kind != SPEECH_FILLER && w->kind != SPEECH_DAY))
			continue;
		memcpy(p + n, s.p + at, w->start - at);
		n += w->start - at;
		at = w->end;
	}
	memcpy(p + n, s.p + at, end - at);
	n += end - at;
	return n > 0 ? (struct str){ p, n }
		     : (struct str){ s.p + start, end - start };
}
