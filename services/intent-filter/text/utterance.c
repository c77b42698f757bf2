/*
 * Words, times, quotations and entities of a command.
 */
#include "text/utterance.h"

#include "core/mem.h"
#include "wire/out.h"

#define DAY_MS INT64_C(86400000)

static const struct {
	struct str open, close;
} utterance_marks[] = {
	{ STR_INIT("“"), STR_INIT("”") },
	{ STR_INIT("「"), STR_INIT("」") },
	{ STR_INIT("『"), STR_INIT("』") },
	{ STR_INIT("《"), STR_INIT("》") },
	{ STR_INIT("\""), STR_INIT("\"") },
};

static struct str
utterance_text_from(struct str s, size_t at)
{
	return (struct str){ s.p + at, s.n - at };
}

/* The length of the quotation that begins s; 0 if it is not closed. */
static size_t
utterance_quote_len(struct str s)
{
	ptrdiff_t n;
	size_t i;

	for (i = 0; i < NELEM(utterance_marks); i++) {
		if (!str_starts(s, utterance_marks[i].open))
			continue;
		n = str_find(utterance_text_from(s, utterance_marks[i].open.n),
		    utterance_marks[i].close);
		return n < 0 ? 0
			     : utterance_marks[i].open.n + (size_t)n +
			utterance_marks[i].close.n;
	}
	return 0;
}

static void
utterance_find_quotes(struct utterance *u)
{
	struct str s = u->cmd.folded;
	size_t i = 0, n;

	while (i < s.n && u->n_quotes < UTTERANCE_QUOTES_MAX) {
		/* The first bytes of all marks. */
		if (s.p[i] != '"' && s.p[i] != '\xe2' && s.p[i] != '\xe3') {
			i++;
			continue;
		}
		n = utterance_quote_len(utterance_text_from(s, i));
		if (n > 0)
			u->quotes[u->n_quotes++] =
			    (struct text_span){ i, i + n };
		i += n > 0 ? n : 1;
	}
}

/*
 * Both arrays are large, and the stacks of HTTP workers small: they are never
 * there at the same time.
 */
static __attribute__((noinline)) bool
utterance_find_words(
    struct utterance *u, const struct vocabulary *v, struct arena *a)
{
	struct word_hit words[UTTERANCE_WORDS_MAX];

	u->n_words = vocabulary_find(v, u->cmd.folded, words, NELEM(words));
	u->words = arena_bytes(a, u->n_words * sizeof(*words) + 1);
	if (u->words == NULL)
		return false;
	memcpy(u->words, words, u->n_words * sizeof(*words));
	return true;
}

static __attribute__((noinline)) bool
utterance_find_times(
    struct utterance *u, struct datetime_now now, struct arena *a)
{
	struct datetime times[UTTERANCE_TIMES_MAX];
	bool japanese = strncmp(u->cmd.locale, "ja", 2) == 0;
	size_t i, n;

	/* Simplification would corrupt Japanese. */
	n = datetime_find(
	    now, japanese ? u->cmd.text : u->cmd.folded, times, NELEM(times));
	u->times = arena_bytes(a, n * sizeof(*times) + 1);
	if (u->times == NULL)
		return false;
	u->n_times = 0;
	for (i = 0; i < n; i++) {
		if (times[i].confidence >= UTTERANCE_TIME_CONFIDENCE)
			u->times[u->n_times++] = times[i];
	}
	return true;
}

enum rc
utterance_parse(struct utterance *u, struct datetime_now now,
    const struct vocabulary *v, struct arena *a)
{
	u->now = now.now;
	u->zone = now.zone;
	u->offset_min = zone_offset_min(now.zone, now.now);
	u->names = u->things = NULL;
	u->n_names = u->n_things = 0;
	if (!utterance_find_words(u, v, a) || !utterance_find_times(u, now, a))
		return RC_TOOBIG;
	u->n_quotes = 0;
	utterance_find_quotes(u);
	normalized_text_make(u->cmd.folded, a, &u->normalized);
	return RC_OK;
}

const struct datetime *
utterance_time_at(const struct utterance *u, size_t start, size_t end)
{
	size_t i;

	for (i = 0; i < u->n_times; i++) {
		if (u->times[i].start < end && u->times[i].end > start)
			return &u->times[i];
	}
	return NULL;
}

bool
utterance_is_quoted(const struct utterance *u, size_t at)
{
	size_t i;

	for (i = 0; i < u->n_quotes; i++) {
		if (at >= u->quotes[i].start && at < u->quotes[i].end)
			return true;
	}
	return false;
}

bool
utterance_is_part_of_name(const struct utterance *u, size_t start, size_t end)
{
	size_t i;

	for (i = 0; i < u->n_names; i++) {
		if (u->names[i].start <= start && u->names[i].end >= end &&
		    u->names[i].end - u->names[i].start > end - start)
			return true;
	}
	return false;
}

/* The length of the filler or time at i; 0: content. */
static size_t
utterance_skip_len(const struct utterance *u, size_t i, size_t *word)
{
	const struct datetime *t = utterance_time_at(u, i, i + 1);

	if (t != NULL)
		return t->end - i;
	while (*word < u->n_words && u->words[*word].start < i)
		(*word)++;
	for (size_t w = *word; w < u->n_words && u->words[w].start == i; w++) {
		switch (u->words[w].kind) {
		case WORD_FILLER:
		case WORD_CONJUNCTION:
		case WORD_FULL_STOP:
		case WORD_QUESTION_MARK:
			return u->words[w].end - i;
		default:
			break;
		}
	}
	return 0;
}

static bool
utterance_is_in_spans(size_t i, const struct text_span *spans, size_t n)
{
	size_t j;

	for (j = 0; j < n; j++) {
		if (i >= spans[j].start && i < spans[j].end)
			return true;
	}
	return false;
}

/* The bytes of the content of [start, end), and how many the spans take. */
static size_t
utterance_measure(const struct utterance *u, struct text_span part,
    const struct text_span *spans, size_t n, size_t *out)
{
	struct str s = { u->cmd.folded.p, part.end };
	size_t i = part.start, word = 0, skip, taken = 0, all = 0, next;
	size_t end = part.end;

	while (i < end) {
		next = i;
		if (str_utf8_next(s, &next) < 0)
			break;
		if (utterance_is_in_spans(i, spans, n)) {
			taken += next - i;
			all += next - i;
		} else if ((skip = utterance_skip_len(u, i, &word)) > 0) {
			next = i + skip;
		} else if (s.p[i] != ' ') {
			all += next - i;
		}
		i = next;
	}
	*out = taken;
	return all;
}

double
utterance_share(const struct utterance *u, size_t start, size_t end,
    const struct text_span *spans, size_t n)
{
	size_t taken,
	    all = utterance_measure(
		u, (struct text_span){ start, end }, spans, n, &taken);

	return all > 0 ? (double)taken / (double)all : 0;
}

size_t
utterance_rest(const struct utterance *u, size_t start, size_t end,
    const struct text_span *spans, size_t n)
{
	size_t taken,
	    all = utterance_measure(
		u, (struct text_span){ start, end }, spans, n, &taken);

	return all - taken;
}

bool
utterance_has_content(const struct utterance *u, size_t start, size_t end)
{
	size_t i = start, word = 0, skip;

	while (i < end) {
		skip = utterance_skip_len(u, i, &word);
		if (skip == 0 && u->cmd.folded.p[i] != ' ')
			return true;
		i += skip > 0 ? skip : 1;
	}
	return false;
}

struct str
utterance_core(
    const struct utterance *u, size_t start, size_t end, struct arena *a)
{
	struct str s = u->cmd.folded;
	char *p = arena_alloc(a, end - start + 1);
	size_t i, at = start, n = 0;

	if (p == NULL)
		return (struct str){ s.p + start, end - start };
	for (i = 0; i < u->n_words && u->words[i].start < end; i++) {
		const struct word_hit *w = &u->words[i];

		if (w->start < at || w->end > end ||
		    (w->kind != WORD_FILLER && w->kind != WORD_DAY))
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

bool
utterance_time_includes_now(const struct utterance *u, const struct datetime *t)
{
	return t->kind != DATETIME_REPEAT && t->kind != DATETIME_DURATION &&
	    !t->is_bounded && t->from.ms != 0 && t->from.ms <= u->now.ms &&
	    t->to.ms > u->now.ms;
}

bool
utterance_time_is_today(const struct utterance *u, const struct datetime *t)
{
	int64_t here = u->now.ms + (int64_t)u->offset_min * 60000;
	int64_t since_midnight = (here % DAY_MS + DAY_MS) % DAY_MS;

	return t->to.ms != 0 && t->to.ms > u->now.ms - since_midnight;
}

bool
utterance_verb_at(const struct utterance *u, size_t at)
{
	size_t i;

	for (i = 0; i < u->n_words && u->words[i].start <= at; i++) {
		if (u->words[i].start == at &&
		    (u->words[i].kind == WORD_ACTION ||
			u->words[i].kind == WORD_VERB))
			return true;
	}
	return false;
}

/* ---- entities ---- */

bool
entity_is_duration(const struct datetime *t)
{
	return t->kind == DATETIME_DURATION ||
	    (t->kind == DATETIME_INSTANT && t->is_relative && t->seconds > 0);
}

static const char *
entity_time_type(const struct datetime *t)
{
	return entity_is_duration(t) ? "time_duration" : "time_time_point";
}

static bool
entity_is_type(struct str wanted, const char *type)
{
	return type != NULL &&
	    (wanted.p == NULL || str_eq(wanted, str_of(type)));
}

static bool
entity_next_word(const struct utterance *u, size_t from, size_t end,
    struct str type, struct entity *out)
{
	size_t i;

	for (i = 0; i < u->n_words && u->words[i].start < end; i++) {
		const struct word_hit *w = &u->words[i];

		if (w->start < from ||
		    !entity_is_type(type, vocabulary_entity_type(w->kind)) ||
		    utterance_time_at(u, w->start, w->end) != NULL)
			continue;
		*out = (struct entity){ vocabulary_entity_type(w->kind),
			w->start, w->end, w->value, NULL };
		return true;
	}
	return false;
}

static bool
entity_next_time(const struct utterance *u, size_t from, size_t end,
    struct str type, struct entity *out)
{
	size_t i;

	for (i = 0; i < u->n_times && u->times[i].start < end; i++) {
		const struct datetime *t = &u->times[i];

		if (t->start < from ||
		    !entity_is_type(type, entity_time_type(t)))
			continue;
		*out = (struct entity){ entity_time_type(t), t->start, t->end,
			NULL, t };
		return true;
	}
	return false;
}

bool
entity_next(const struct utterance *u, size_t from, size_t end, struct str type,
    struct entity *out)
{
	struct entity time;
	bool word = entity_next_word(u, from, end, type, out);

	if (u->uses_times && entity_next_time(u, from, end, type, &time) &&
	    (!word || time.start < out->start)) {
		*out = time;
		return true;
	}
	return word;
}

int64_t
utterance_points(struct str s, size_t n)
{
	const uint64_t ones = UINT64_C(0x0101010101010101);
	int64_t points = 0;
	size_t i = 0;

	/* It is valid UTF-8: all but continuation bytes. */
	for (; i + 8 <= n; i += 8) {
		uint64_t w;

		memcpy(&w, s.p + i, sizeof(w));
		w = (~w >> 7 | w >> 6) & ones;
		points += (int64_t)(w * ones >> 56);
	}
	for (; i < n; i++)
		points += ((unsigned char)s.p[i] & 0xc0U) != 0x80;
	return points;
}

void
entity_list(const struct utterance *u, struct buf *b)
{
	struct str s = u->cmd.text, any = { 0 };
	struct wire_out o = { .b = b };
	struct entity e;
	size_t from = 0;

	wire_out_array(&o);
	while (entity_next(u, from, s.n, any, &e)) {
		wire_out_object(&o);
		wire_out_key(&o, STR("type"));
		wire_out_str(&o, str_of(e.type));
		wire_out_key(&o, STR("text"));
		wire_out_str(
		    &o, (struct str){ s.p + e.start, e.end - e.start });
		wire_out_key(&o, STR("start"));
		wire_out_i64(&o, utterance_points(s, e.start));
		wire_out_key(&o, STR("end"));
		wire_out_i64(&o, utterance_points(s, e.end));
		if (e.value != NULL) {
			wire_out_key(&o, STR("value"));
			wire_out_str(&o, str_of(e.value));
		} else if (e.time->kind == DATETIME_DURATION) {
			wire_out_key(&o, STR("value"));
			wire_out_f64(&o, e.time->seconds);
		} else {
			char at[WALL_FORMAT_MAX];

			wall_format(e.time->from, e.time->offset_min, at);
			wire_out_key(&o, STR("value"));
			wire_out_str(&o, str_of(at));
		}
		wire_out_object_end(&o);
		from = e.start + 1;
	}
	wire_out_array_end(&o);
}
