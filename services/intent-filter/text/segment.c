/*
 * Segmentation: where one request ends and the next begins.
 */
#include "core/mem.h"
#include "text/utterance.h"

/* Phrases of the catalog that are examined. */
#define NAMES_MAX 64
/* Most bytes of a complaint: "太不方便了". */
#define COMPLAINT_MAX 12

struct segmenter {
	const struct utterance *u;
	struct segment *dst;
	size_t n;
	size_t start;    /* of the current segment */
	size_t sentence; /* its number */
};

static bool
segment_is_digit(struct str s, size_t i)
{
	return i < s.n && s.p[i] >= '0' && s.p[i] <= '9';
}

static bool
segment_is_inside(const struct utterance *u, const struct word_hit *w)
{
	struct str s = u->cmd.folded;

	/* 1,000 and 2.5 are single numbers. */
	if (strchr(",.", s.p[w->start]) != NULL && w->start > 0 &&
	    segment_is_digit(s, w->start - 1) && segment_is_digit(s, w->end))
		return true;
	/* In Latin text a blank follows a full stop. */
	if (s.p[w->start] == '.' && w->end < s.n && s.p[w->end] != ' ' &&
	    s.p[w->end] != '.')
		return true;
	return utterance_time_at(u, w->start, w->end) != NULL ||
	    utterance_is_quoted(u, w->start) ||
	    utterance_is_part_of_name(u, w->start, w->end);
}

/* "再过20分钟": a request begins with the time. */
static bool
segment_begins_time(const struct utterance *u, const struct word_hit *w)
{
	const struct datetime *t = utterance_time_at(u, w->start, w->end);

	return w->kind == WORD_CONJUNCTION && t != NULL && t->start == w->start;
}

static bool
segment_is_verb(enum word_kind k)
{
	return k == WORD_ACTION || k == WORD_VERB || k == WORD_OBJECT_MARKER;
}

static bool
segment_is_border(enum word_kind k)
{
	return k == WORD_CONJUNCTION || k == WORD_LINK || k == WORD_FULL_STOP ||
	    k == WORD_QUESTION_MARK;
}

/* Whether the link joins two requests, not two objects. */
static bool
segment_links_requests(const struct segmenter *c, size_t word)
{
	const struct word_hit *w = c->u->words;
	bool before = false, after = false;
	size_t i;

	/* In 把厨房和餐厅的灯关了 it joins two rooms. */
	for (i = word; i-- > 0 && w[i].start >= c->start && !before;)
		before = w[i].kind == WORD_ACTION || w[i].kind == WORD_VERB;
	for (i = word + 1;
	     i < c->u->n_words && !segment_is_border(w[i].kind) && !after; i++)
		after = w[i].start >= w[word].end &&
		    (segment_is_verb(w[i].kind) || w[i].kind == WORD_OPINION);
	return before && after;
}

/* "把灯关了把窗帘拉上": no punctuation between two requests. */
static bool
segment_begins_object(const struct segmenter *c, size_t word)
{
	const struct word_hit *w = c->u->words;
	bool has_verb = false;
	size_t i;

	if (w[word].kind != WORD_OBJECT_MARKER)
		return false;
	for (i = word; i-- > 0 && w[i].start >= c->start;) {
		if (w[i].kind == WORD_REMINDER)
			return false;
		if (w[i].kind == WORD_OBJECT_MARKER || w[i].kind == WORD_ACTION)
			has_verb = true;
	}
	return has_verb;
}

/* Where "太慢了" ends, if a request follows it; 0 if not. */
static size_t
segment_complaint_end(const struct segmenter *c, const struct word_hit *w)
{
	const struct utterance *u = c->u;
	struct str rest = { u->cmd.folded.p + w->end,
		u->cmd.folded.n - w->end };
	ptrdiff_t n = str_find(rest, STR("了"));
	size_t i, end;

	if (w->kind != WORD_STATE || w->start < c->start || n < 0 ||
	    n > COMPLAINT_MAX || segment_is_inside(u, w))
		return 0;
	end = w->end + (size_t)n + STR("了").n;
	/* "卧室太暗了把灯打开": the complaint says which lamp. */
	for (i = 0; i < u->n_words && u->words[i].start < end; i++) {
		if (u->words[i].kind == WORD_ROOM &&
		    u->words[i].start >= c->start)
			return 0;
	}
	for (i = 0; i < u->n_names && i < NAMES_MAX; i++) {
		if (u->names[i].start >= end)
			return end;
	}
	return 0;
}

/* "别摇头了点个头": a request begins after a prohibition. */
static bool
segment_begins_after_prohibition(const struct segmenter *c, size_t word)
{
	const struct word_hit *w = c->u->words;
	struct str before = { c->u->cmd.folded.p + c->start,
		w[word].start - c->start };
	bool has_verb = false;
	size_t i;

	struct str after = { c->u->cmd.folded.p + w[word].start,
		c->u->cmd.folded.n - w[word].start };

	if (!segment_is_verb(w[word].kind) || w[word].start <= c->start ||
	    !(str_ends(before, STR("了")) || str_starts(after, STR("继续"))))
		return false;
	for (i = word; i-- > 0 && w[i].start >= c->start;) {
		if (w[i].kind == WORD_PROHIBITION)
			return has_verb;
		has_verb = has_verb || segment_is_verb(w[i].kind);
	}
	return false;
}

/* "空调开了吗帮我看看": a question with more after it. */
static bool
segment_ends_question(const struct segmenter *c, const struct word_hit *w)
{
	return w->kind == WORD_YES_NO && w->start >= c->start &&
	    !segment_is_inside(c->u, w) &&
	    str_ends((struct str){ c->u->cmd.folded.p, w->end }, STR("吗")) &&
	    utterance_has_content(c->u, w->end, c->u->cmd.folded.n);
}

/* "turn off the tv, the fan and the heater": a comma in a list. */
static bool
segment_is_list(const struct segmenter *c, size_t word)
{
	const struct word_hit *w = c->u->words;
	struct str after = { c->u->cmd.folded.p + w[word].end,
		c->u->cmd.folded.n - w[word].end };
	size_t i;

	if (w[word].kind != WORD_CONJUNCTION ||
	    c->u->cmd.folded.p[w[word].start] != ',' ||
	    !(str_starts(after, STR(" the ")) ||
		str_starts(after, STR(" my "))))
		return false;
	for (i = word + 1; i < c->u->n_words; i++) {
		if (w[i].kind == WORD_FULL_STOP ||
		    w[i].kind == WORD_CONJUNCTION)
			break;
		if (segment_is_verb(w[i].kind) || w[i].kind == WORD_STATE)
			return false;
	}
	for (i = word; i-- > 0 && w[i].start >= c->start;) {
		if (segment_is_verb(w[i].kind))
			return true;
	}
	return false;
}

/* "关灯以后我会害怕": what follows is no request. */
static bool
segment_is_statement_after(const struct segmenter *c, const struct word_hit *w)
{
	const struct utterance *u = c->u;
	size_t i;

	for (i = 0; i < u->n_words; i++) {
		if (u->words[i].start < w->end)
			continue;
		if (segment_is_border(u->words[i].kind) ||
		    segment_is_verb(u->words[i].kind))
			return false;
		if (u->words[i].kind == WORD_OPINION ||
		    u->words[i].kind == WORD_STATE)
			return true;
	}
	/* "窗帘拉上以后屋里特别暗" */
	return w->end - w->start > STR("后").n &&
	    utterance_has_content(u, w->end, u->cmd.folded.n);
}

/* "声音再大点": 再 as an adverb, no second request. */
static bool
segment_is_adverb(const struct segmenter *c, size_t word)
{
	const struct utterance *u = c->u;
	const struct word_hit *w = &u->words[word];
	bool before = false, after = false;
	size_t i;

	if (w->kind != WORD_CONJUNCTION || w->end - w->start != STR("再").n ||
	    memcmp(u->cmd.folded.p + w->start, "再", STR("再").n) != 0 ||
	    w->start <= c->start)
		return false;
	for (i = word; i-- > 0 && u->words[i].start >= c->start;) {
		if (segment_is_verb(u->words[i].kind))
			return false;
	}
	for (i = 0; i < u->n_names && i < NAMES_MAX; i++) {
		before |= u->names[i].start >= c->start &&
		    u->names[i].end <= w->start;
		after |= u->names[i].start >= w->end;
	}
	return !(before && after);
}

/* "起飞后往左飞": a phrase of the catalog, then another request. */
static bool
segment_ends_first(const struct segmenter *c, const struct word_hit *w)
{
	const struct utterance *u = c->u;
	size_t i;

	/* 后门, 后院 */
	static const struct str places[] = { STR_INIT("门"), STR_INIT("院"),
		STR_INIT("备箱"), STR_INIT("排") };
	struct str after = { u->cmd.folded.p + w->end,
		u->cmd.folded.n - w->end };

	for (i = 0; i < NELEM(places); i++) {
		if (w->end - w->start == STR("后").n &&
		    str_starts(after, places[i]))
			return false;
	}
	if (w->kind != WORD_AFTER || w->start <= c->start ||
	    segment_is_inside(u, w) || segment_is_statement_after(c, w))
		return false;
	for (i = 0; i < u->n_names && i < NAMES_MAX; i++) {
		if (u->names[i].end == w->start &&
		    u->names[i].start >= c->start)
			return true;
	}
	return false;
}

/* "趴下别动": whether a verb ends where the word begins. */
static bool
segment_follows_verb(const struct segmenter *c, size_t word)
{
	const struct word_hit *w = c->u->words;
	size_t i;

	for (i = word; i-- > 0 && w[i].start >= c->start;) {
		if (w[i].kind == WORD_VERB && w[i].end == w[word].start)
			return true;
	}
	return false;
}

/* "把灯关了别点头": no punctuation before the prohibition. */
static bool
segment_begins_prohibition(const struct segmenter *c, size_t word)
{
	const struct word_hit *w = c->u->words;
	bool has_verb = false, verb_follows = false;
	size_t i;

	if (w[word].kind != WORD_PROHIBITION)
		return false;
	for (i = word; i-- > 0 && w[i].start >= c->start;) {
		if (w[i].kind == WORD_REMINDER || w[i].kind == WORD_CONDITION ||
		    w[i].kind == WORD_REPORTED)
			return false;
		has_verb = has_verb || w[i].kind == WORD_ACTION ||
		    w[i].kind == WORD_VERB;
	}
	for (i = word + 1; i < c->u->n_words && w[i].start <= w[word].end; i++)
		verb_follows = verb_follows ||
		    (w[i].start == w[word].end && segment_is_verb(w[i].kind));
	return has_verb &&
	    (verb_follows ||
		(segment_follows_verb(c, word) &&
		    utterance_has_content(
			c->u, w[word].end, c->u->cmd.folded.n)));
}

static bool
segment_has_action(const struct utterance *u, size_t from, size_t to)
{
	size_t i;

	for (i = 0; i < u->n_words && u->words[i].start < to; i++) {
		if (u->words[i].start >= from &&
		    u->words[i].kind == WORD_ACTION)
			return true;
	}
	return false;
}

/* The first name of a thing in [from, to); to if there is none. */
static size_t
segment_thing_in(const struct utterance *u, size_t from, size_t to)
{
	size_t i, first = to;

	for (i = 0; i < u->n_words && u->words[i].start < first; i++) {
		if (u->words[i].kind == WORD_DEVICE &&
		    u->words[i].start >= from && u->words[i].end <= to)
			first = u->words[i].start;
	}
	for (i = 0; i < u->n_names && i < NAMES_MAX; i++) {
		const struct text_span *s = &u->names[i];

		if (s->start >= from && s->end <= to && s->start < first &&
		    !segment_has_action(u, s->start, s->end))
			first = s->start;
	}
	return first;
}

static bool
segment_is_switch(const struct word_hit *w)
{
	return strcmp(w->value, "open") == 0 || strcmp(w->value, "close") == 0;
}

/* "开灯快开灯" is one request. */
static bool
segment_is_same_thing(const struct utterance *u, size_t a, size_t b)
{
	struct str s = u->cmd.folded;
	size_t n = STR("灯").n;

	return a + n <= s.n && b + n <= s.n && memcmp(s.p + a, s.p + b, n) == 0;
}

/*
 * "打开空调关灯", "空调打开灯关了": where a second request with the verb word
 * begins; 0 if none does.
 */
static size_t
segment_begins_request(const struct segmenter *c, size_t word)
{
	const struct utterance *u = c->u;
	const struct word_hit *w = u->words, *one = NULL;
	size_t i, at = w[word].start, thing, next = u->cmd.folded.n;

	if (w[word].kind != WORD_ACTION || !segment_is_switch(&w[word]))
		return 0;
	for (i = word; i-- > 0 && w[i].start >= c->start;) {
		switch (w[i].kind) {
		case WORD_ACTION:
			if (w[i].end <= at)
				one = &w[i];
			break;
		case WORD_REMINDER:
		case WORD_CONDITION:
		case WORD_REPORTED:
		case WORD_COMPLETED:
		case WORD_OPINION:
		case WORD_PROHIBITION:
		case WORD_WH:
			return 0;
		default:
			break;
		}
	}
	if (one == NULL)
		return 0;
	for (i = word + 1; i < u->n_words && next == u->cmd.folded.n; i++) {
		if (segment_is_border(w[i].kind) && w[i].start >= w[word].end)
			next = w[i].start;
	}
	thing = segment_thing_in(u, one->end, at);
	if (thing == at &&
	    segment_thing_in(u, c->start, one->start) < one->start)
		return segment_thing_in(u, w[word].end, next) < next ? at : 0;
	if (thing == at)
		return utterance_has_content(u, one->end, at) &&
			!utterance_has_content(u, c->start, one->start) &&
			segment_thing_in(u, w[word].end, next) < next
		    ? at
		    : 0;
	if (segment_thing_in(u, c->start, one->start) < one->start)
		return thing;
	i = segment_thing_in(u, w[word].end, next);
	return i < next && !segment_is_same_thing(u, thing, i) ? at : 0;
}

/* "开灯不对关灯": a correction with content after it. */
static bool
segment_is_correction(const struct segmenter *c, const struct word_hit *w)
{
	struct str rest = { c->u->cmd.folded.p + w->end,
		c->u->cmd.folded.n - w->end };

	return w->kind == WORD_CORRECTION && w->start >= c->start &&
	    (w->start > c->start || c->n > 0) &&
	    !utterance_is_part_of_name(c->u, w->start, w->end) &&
	    !utterance_is_quoted(c->u, w->start) &&
	    (!utterance_has_content(c->u, c->start, w->start) ||
		(rest.n > 0 &&
		    (utterance_has_content(c->u, w->end, c->u->cmd.folded.n) ||
			utterance_time_at(c->u, w->end, c->u->cmd.folded.n) !=
			    NULL)));
}

/* "关灯，不，打开": a clause that is only a denial. */
static bool
segment_is_denial(const struct segmenter *c, size_t word)
{
	const struct utterance *u = c->u;
	const struct word_hit *w = &u->words[word];
	size_t i;

	if (w->kind != WORD_DENIAL || w->start < c->start || c->n == 0 ||
	    utterance_has_content(u, c->start, w->start))
		return false;
	for (i = word + 1; i < u->n_words && u->words[i].start <= w->end; i++) {
		if (u->words[i].start == w->end &&
		    segment_is_border(u->words[i].kind))
			return true;
	}
	return false;
}

/* "打开空调，哦算了", "打开电视还是算了". */
static bool
segment_is_retraction(const struct segmenter *c, const struct word_hit *w)
{
	struct str before = { c->u->cmd.folded.p + c->start,
		w->start - c->start };

	return w->kind == WORD_RETRACTION && w->start >= c->start &&
	    !utterance_is_part_of_name(c->u, w->start, w->end) &&
	    !utterance_is_quoted(c->u, w->start) &&
	    (!utterance_has_content(c->u, c->start, w->start) ||
		str_ends(before, STR("还是")));
}

static void
segment_add(struct segmenter *c, size_t end, bool is_question)
{
	struct str s = c->u->cmd.text;

	while (c->start < end && s.p[c->start] == ' ')
		c->start++;
	while (end > c->start && s.p[end - 1] == ' ')
		end--;
	if (c->start < end && c->n == SEGMENT_MAX)
		c->dst[c->n - 1].end = end;
	else if (c->start < end)
		c->dst[c->n++] = (struct segment){ c->start, end, c->sentence,
			is_question, false, { 0 }, false };
	else if (is_question && c->n > 0)
		c->dst[c->n - 1].is_question = true;
}

bool
segment_has_content(const struct utterance *u, const struct segment *g)
{
	return utterance_has_content(u, g->start, g->end);
}

static bool
segment_is_only_time(const struct utterance *u, const struct segment *g)
{
	return utterance_time_at(u, g->start, g->end) != NULL &&
	    !segment_has_content(u, g);
}

/* Join times to the next segment of their sentence, else to the previous. */
static size_t
segment_join_times(const struct utterance *u, struct segment *g, size_t n)
{
	size_t i, n_joined = 0;
	bool only;

	for (i = 0; i < n; i++) {
		only = segment_is_only_time(u, &g[i]);
		if (g[i].is_retracted ||
		    (n_joined > 0 && g[n_joined - 1].is_retracted)) {
			g[n_joined++] = g[i];
		} else if (only && i + 1 < n &&
		    g[i + 1].sentence == g[i].sentence &&
		    segment_has_content(u, &g[i + 1]) &&
		    !segment_is_only_time(u, &g[i + 1])) {
			g[i + 1].start = g[i].start;
		} else if (only && n_joined > 0 &&
		    g[n_joined - 1].sentence == g[i].sentence) {
			g[n_joined - 1].end = g[i].end;
			g[n_joined - 1].is_question |= g[i].is_question;
		} else {
			g[n_joined++] = g[i];
		}
	}
	return n_joined;
}

size_t
segment_split(const struct utterance *u, struct segment dst[SEGMENT_MAX])
{
	struct segmenter c = { .u = u, .dst = dst };
	size_t i, request;

	for (i = 0; i < u->n_words && c.n < SEGMENT_MAX - 1; i++) {
		const struct word_hit *w = &u->words[i];

		request = segment_begins_request(&c, i);
		if (request == 0)
			request = segment_complaint_end(&c, w);
		if (request > c.start) {
			segment_add(&c, request, false);
			c.start = request;
		}
		if (segment_is_retraction(&c, w)) {
			segment_add(&c, w->start, false);
			c.start = w->end;
			for (size_t k = 0; k < c.n; k++)
				dst[k].is_retracted = true;
			continue;
		}
		if (segment_is_correction(&c, w) || segment_is_denial(&c, i)) {
			/* An interjection before it is not what it corrects. */
			if (c.n == 0 ||
			    utterance_has_content(u, c.start, w->start))
				segment_add(&c, w->start, false);
			c.start = w->end;
			if (c.n > 0)
				dst[c.n - 1].is_retracted = true;
			continue;
		}
		if (w->start > c.start &&
		    (segment_begins_time(u, w) ||
			segment_begins_object(&c, i) ||
			segment_begins_prohibition(&c, i) ||
			segment_begins_after_prohibition(&c, i))) {
			segment_add(&c, w->start, false);
			c.start = w->start;
			continue;
		}
		if (segment_ends_question(&c, w)) {
			segment_add(&c, w->end, true);
			c.start = w->end;
			continue;
		}
		if (segment_ends_first(&c, w)) {
			segment_add(&c, w->start, false);
			c.start = w->end;
			continue;
		}
		if (!segment_is_border(w->kind) || w->start < c.start ||
		    segment_is_inside(u, w) || segment_is_adverb(&c, i) ||
		    segment_is_list(&c, i) ||
		    (w->kind == WORD_LINK && !segment_links_requests(&c, i)))
			continue;
		segment_add(&c, w->start, w->kind == WORD_QUESTION_MARK);
		c.start = w->end;
		if (w->kind == WORD_FULL_STOP || w->kind == WORD_QUESTION_MARK)
			c.sentence++;
	}
	segment_add(&c, u->cmd.text.n, false);
	i = segment_join_times(u, dst, c.n);
	segment_refer(u, dst, i);
	return i;
}

bool
segment_contains(const struct segment *g, const struct word_hit *w)
{
	return w->start >= g->start && w->end <= g->end;
}
