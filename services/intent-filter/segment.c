/*
 * Where one wish ends and the next begins.
 */
#include "segment.h"

/* Words of the catalog that are looked at for things. */
#define NAMES_MAX 64
/* Most bytes of what is too much: "太不方便了". */
#define COMPLAINT_MAX 12

struct cut {
	const struct reading *r;
	struct segment *dst;
	size_t n;
	size_t start;    /* of the segment in hand */
	size_t sentence; /* its number */
};

static bool
is_digit(struct str s, size_t i)
{
	return i < s.n && s.p[i] >= '0' && s.p[i] <= '9';
}

static bool
is_inside(const struct reading *r, const struct speech_hit *w)
{
	struct str s = r->cmd.folded;

	/* 1,000 and 2.5 are one number each. */
	if (strchr(",.", s.p[w->start]) != NULL && w->start > 0 &&
	    is_digit(s, w->start - 1) && is_digit(s, w->end))
		return true;
	/* A full stop of a Latin sentence has a blank behind it. */
	if (s.p[w->start] == '.' && w->end < s.n && s.p[w->end] != ' ' &&
	    s.p[w->end] != '.')
		return true;
	return reading_time_at(r, w->start, w->end) != NULL ||
	    reading_is_quoted(r, w->start) ||
	    reading_is_named(r, w->start, w->end);
}

/* "再过20分钟": a wish of its own begins with the time. */
static bool
begins_time(const struct reading *r, const struct speech_hit *w)
{
	const struct datetime *t = reading_time_at(r, w->start, w->end);

	return w->kind == SPEECH_JOINT && t != NULL && t->start == w->start;
}

static bool
is_doing(enum speech_kind k)
{
	return k == SPEECH_ACTION || k == SPEECH_VERB || k == SPEECH_OBJECT;
}

static bool
is_border(enum speech_kind k)
{
	return k == SPEECH_JOINT || k == SPEECH_LINK || k == SPEECH_STOP ||
	    k == SPEECH_ASK;
}

/* Whether something is to be done on both sides of what may join two things. */
static bool
links_wishes(const struct cut *c, size_t word)
{
	const struct speech_hit *w = c->r->words;
	bool before = false, after = false;
	size_t i;

	for (i = word; i-- > 0 && w[i].start >= c->start && !before;)
		before = is_doing(w[i].kind);
	for (i = word + 1; i < c->r->n_words && !is_border(w[i].kind) && !after;
	     i++)
		after = w[i].start >= w[word].end &&
		    (is_doing(w[i].kind) || w[i].kind == SPEECH_TALK);
	return before && after;
}

/* "把灯关了把窗帘拉上": spoken without a pause. */
static bool
begins_object(const struct cut *c, size_t word)
{
	const struct speech_hit *w = c->r->words;
	bool done = false;
	size_t i;

	if (w[word].kind != SPEECH_OBJECT)
		return false;
	for (i = word; i-- > 0 && w[i].start >= c->start;) {
		if (w[i].kind == SPEECH_MEMO)
			return false;
		if (w[i].kind == SPEECH_OBJECT || w[i].kind == SPEECH_ACTION)
			done = true;
	}
	return done;
}

/* Where "太慢了" ends, if a wish follows it; 0 if not. */
static size_t
ends_complaint(const struct cut *c, const struct speech_hit *w)
{
	const struct reading *r = c->r;
	struct str rest = { r->cmd.folded.p + w->end,
		r->cmd.folded.n - w->end };
	ptrdiff_t n = str_find(rest, STR("了"));
	size_t i, end;

	if (w->kind != SPEECH_STATE || w->start < c->start || n < 0 ||
	    n > COMPLAINT_MAX || is_inside(r, w))
		return 0;
	end = w->end + (size_t)n + STR("了").n;
	/* "卧室太暗了把灯打开": which lamp. */
	for (i = 0; i < r->n_words && r->words[i].start < end; i++) {
		if (r->words[i].kind == SPEECH_ROOM &&
		    r->words[i].start >= c->start)
			return 0;
	}
	for (i = 0; i < r->n_names && i < NAMES_MAX; i++) {
		if (r->names[i].start >= end)
			return end;
	}
	return 0;
}

/* "别摇头了点个头": what is wished begins after what is not. */
static bool
begins_after_not(const struct cut *c, size_t word)
{
	const struct speech_hit *w = c->r->words;
	struct str before = { c->r->cmd.folded.p + c->start,
		w[word].start - c->start };
	bool done = false;
	size_t i;

	struct str after = { c->r->cmd.folded.p + w[word].start,
		c->r->cmd.folded.n - w[word].start };

	if (!is_doing(w[word].kind) || w[word].start <= c->start ||
	    !(str_ends(before, STR("了")) || str_starts(after, STR("继续"))))
		return false;
	for (i = word; i-- > 0 && w[i].start >= c->start;) {
		if (w[i].kind == SPEECH_NOT)
			return done;
		done = done || is_doing(w[i].kind);
	}
	return false;
}

/* "空调开了吗帮我看看": a question, and more behind it. */
static bool
ends_question(const struct cut *c, const struct speech_hit *w)
{
	return w->kind == SPEECH_YES_NO && w->start >= c->start &&
	    !is_inside(c->r, w) &&
	    str_ends((struct str){ c->r->cmd.folded.p, w->end }, STR("吗")) &&
	    reading_says(c->r, w->end, c->r->cmd.folded.n);
}

/* "声音再大点": more of the same, no second wish. */
static bool
is_adverb(const struct cut *c, size_t word)
{
	const struct reading *r = c->r;
	const struct speech_hit *w = &r->words[word];
	bool before = false, after = false;
	size_t i;

	if (w->kind != SPEECH_JOINT || w->end - w->start != STR("再").n ||
	    memcmp(r->cmd.folded.p + w->start, "再", STR("再").n) != 0 ||
	    w->start <= c->start)
		return false;
	for (i = word; i-- > 0 && r->words[i].start >= c->start;) {
		if (is_doing(r->words[i].kind))
			return false;
	}
	for (i = 0; i < r->n_names && i < NAMES_MAX; i++) {
		before |= r->names[i].start >= c->start &&
		    r->names[i].end <= w->start;
		after |= r->names[i].start >= w->end;
	}
	return !(before && after);
}

/* "起飞后往左飞": a wish of the catalog's, and what comes after it. */
static bool
ends_first(const struct cut *c, const struct speech_hit *w)
{
	const struct reading *r = c->r;
	size_t i;

	if (w->kind != SPEECH_AFTER || w->start <= c->start || is_inside(r, w))
		return false;
	for (i = 0; i < r->n_names && i < NAMES_MAX; i++) {
		if (r->names[i].end == w->start &&
		    r->names[i].start >= c->start)
			return true;
	}
	return false;
}

/* "趴下别动": whether a verb ends where the word begins. */
static bool
stands_beside(const struct cut *c, size_t word)
{
	const struct speech_hit *w = c->r->words;
	size_t i;

	for (i = word; i-- > 0 && w[i].start >= c->start;) {
		if (w[i].kind == SPEECH_VERB && w[i].end == w[word].start)
			return true;
	}
	return false;
}

/* "把灯关了别点头": spoken without a pause. */
static bool
begins_not(const struct cut *c, size_t word)
{
	const struct speech_hit *w = c->r->words;
	bool done = false, does = false;
	size_t i;

	if (w[word].kind != SPEECH_NOT)
		return false;
	for (i = word; i-- > 0 && w[i].start >= c->start;) {
		if (w[i].kind == SPEECH_MEMO || w[i].kind == SPEECH_IF ||
		    w[i].kind == SPEECH_SAID)
			return false;
		done = done || w[i].kind == SPEECH_ACTION ||
		    w[i].kind == SPEECH_VERB;
	}
	for (i = word + 1; i < c->r->n_words && w[i].start <= w[word].end; i++)
		does =
		    does || (w[i].start == w[word].end && is_doing(w[i].kind));
	return done &&
	    (does ||
		(stands_beside(c, word) &&
		    reading_says(c->r, w[word].end, c->r->cmd.folded.n)));
}

static bool
has_action(const struct reading *r, size_t from, size_t to)
{
	size_t i;

	for (i = 0; i < r->n_words && r->words[i].start < to; i++) {
		if (r->words[i].start >= from &&
		    r->words[i].kind == SPEECH_ACTION)
			return true;
	}
	return false;
}

/* Where in [from, to) a thing is named first; to if none is. */
static size_t
thing_in(const struct reading *r, size_t from, size_t to)
{
	size_t i, first = to;

	for (i = 0; i < r->n_words && r->words[i].start < first; i++) {
		if (r->words[i].kind == SPEECH_DEVICE &&
		    r->words[i].start >= from && r->words[i].end <= to)
			first = r->words[i].start;
	}
	for (i = 0; i < r->n_names && i < NAMES_MAX; i++) {
		const struct reading_span *s = &r->names[i];

		if (s->start >= from && s->end <= to && s->start < first &&
		    !has_action(r, s->start, s->end))
			first = s->start;
	}
	return first;
}

static bool
switches(const struct speech_hit *w)
{
	return strcmp(w->value, "open") == 0 || strcmp(w->value, "close") == 0;
}

/* "开灯快开灯" is one wish. */
static bool
is_same_thing(const struct reading *r, size_t a, size_t b)
{
	struct str s = r->cmd.folded;
	size_t n = STR("灯").n;

	return a + n <= s.n && b + n <= s.n && memcmp(s.p + a, s.p + b, n) == 0;
}

/*
 * "打开空调关灯", "空调打开灯关了": where a second wish begins whose verb is
 * word; 0 if none does.
 */
static size_t
begins_wish(const struct cut *c, size_t word)
{
	const struct reading *r = c->r;
	const struct speech_hit *w = r->words, *one = NULL;
	size_t i, at = w[word].start, thing, next = r->cmd.folded.n;

	if (w[word].kind != SPEECH_ACTION || !switches(&w[word]))
		return 0;
	for (i = word; i-- > 0 && w[i].start >= c->start;) {
		switch (w[i].kind) {
		case SPEECH_ACTION:
			if (w[i].end <= at)
				one = &w[i];
			break;
		case SPEECH_MEMO:
		case SPEECH_IF:
		case SPEECH_SAID:
		case SPEECH_DONE:
		case SPEECH_TALK:
		case SPEECH_NOT:
		case SPEECH_WH:
			return 0;
		default:
			break;
		}
	}
	if (one == NULL)
		return 0;
	for (i = word + 1; i < r->n_words && next == r->cmd.folded.n; i++) {
		if (is_border(w[i].kind) && w[i].start >= w[word].end)
			next = w[i].start;
	}
	thing = thing_in(r, one->end, at);
	if (thing == at && thing_in(r, c->start, one->start) < one->start)
		return thing_in(r, w[word].end, next) < next ? at : 0;
	if (thing == at)
		return reading_says(r, one->end, at) &&
			!reading_says(r, c->start, one->start) &&
			thing_in(r, w[word].end, next) < next
		    ? at
		    : 0;
	if (thing_in(r, c->start, one->start) < one->start)
		return thing;
	i = thing_in(r, w[word].end, next);
	return i < next && !is_same_thing(r, thing, i) ? at : 0;
}

/* "开灯不对关灯" */
static bool
takes_back(const struct cut *c, const struct speech_hit *w)
{
	struct str rest = { c->r->cmd.folded.p + w->end,
		c->r->cmd.folded.n - w->end };

	return w->kind == SPEECH_FIX && w->start >= c->start &&
	    (w->start > c->start || c->n > 0) && rest.n > 0 &&
	    !reading_is_named(c->r, w->start, w->end) &&
	    !reading_is_quoted(c->r, w->start) &&
	    (reading_says(c->r, w->end, c->r->cmd.folded.n) ||
		reading_time_at(c->r, w->end, c->r->cmd.folded.n) != NULL);
}

static void
put(struct cut *c, size_t end, bool asks)
{
	struct str s = c->r->cmd.text;

	while (c->start < end && s.p[c->start] == ' ')
		c->start++;
	while (end > c->start && s.p[end - 1] == ' ')
		end--;
	if (c->start < end && c->n == SEGMENT_MAX)
		c->dst[c->n - 1].end = end;
	else if (c->start < end)
		c->dst[c->n++] =
		    (struct segment){ c->start, end, c->sentence, asks, false };
	else if (asks && c->n > 0)
		c->dst[c->n - 1].asks = true;
}

bool
segment_says(const struct reading *r, const struct segment *g)
{
	return reading_says(r, g->start, g->end);
}

static bool
says_only_when(const struct reading *r, const struct segment *g)
{
	return reading_time_at(r, g->start, g->end) != NULL &&
	    !segment_says(r, g);
}

/* Times on their own join the next part of their sentence, else the last. */
static size_t
join_times(const struct reading *r, struct segment *g, size_t n)
{
	size_t i, kept = 0;
	bool only;

	for (i = 0; i < n; i++) {
		only = says_only_when(r, &g[i]);
		if (g[i].retracted || (kept > 0 && g[kept - 1].retracted)) {
			g[kept++] = g[i];
		} else if (only && i + 1 < n &&
		    g[i + 1].sentence == g[i].sentence &&
		    segment_says(r, &g[i + 1]) &&
		    !says_only_when(r, &g[i + 1])) {
			g[i + 1].start = g[i].start;
		} else if (only && kept > 0 &&
		    g[kept - 1].sentence == g[i].sentence) {
			g[kept - 1].end = g[i].end;
			g[kept - 1].asks |= g[i].asks;
		} else {
			g[kept++] = g[i];
		}
	}
	return kept;
}

size_t
segment_split(const struct reading *r, struct segment dst[SEGMENT_MAX])
{
	struct cut c = { .r = r, .dst = dst };
	size_t i, wish;

	for (i = 0; i < r->n_words && c.n < SEGMENT_MAX - 1; i++) {
		const struct speech_hit *w = &r->words[i];

		wish = begins_wish(&c, i);
		if (wish == 0)
			wish = ends_complaint(&c, w);
		if (wish > c.start) {
			put(&c, wish, false);
			c.start = wish;
		}
		if (takes_back(&c, w)) {
			put(&c, w->start, false);
			c.start = w->end;
			if (c.n > 0)
				dst[c.n - 1].retracted = true;
			continue;
		}
		if (w->start > c.start &&
		    (begins_time(r, w) || begins_object(&c, i) ||
			begins_not(&c, i) || begins_after_not(&c, i))) {
			put(&c, w->start, false);
			c.start = w->start;
			continue;
		}
		if (ends_question(&c, w)) {
			put(&c, w->end, true);
			c.start = w->end;
			continue;
		}
		if (ends_first(&c, w)) {
			put(&c, w->start, false);
			c.start = w->end;
			continue;
		}
		if (!is_border(w->kind) || w->start < c.start ||
		    is_inside(r, w) || is_adverb(&c, i) ||
		    (w->kind == SPEECH_LINK && !links_wishes(&c, i)))
			continue;
		put(&c, w->start, w->kind == SPEECH_ASK);
		c.start = w->end;
		if (w->kind == SPEECH_STOP || w->kind == SPEECH_ASK)
			c.sentence++;
	}
	put(&c, r->cmd.text.n, false);
	return join_times(r, dst, c.n);
}
