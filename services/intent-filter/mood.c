/*
 * One look at each known word of the segment.
 */
#include "mood.h"

#include "catalog.h"
#include "core/mem.h"
#include "timing.h"

static bool
is_covered(
    const struct reading_span *spans, size_t n, const struct speech_hit *w)
{
	size_t i;

	for (i = 0; i < n; i++) {
		if (spans[i].start <= w->start && spans[i].end >= w->end)
			return true;
	}
	return false;
}

/* "提醒我几点开会" asks nothing; "你叫我什么" does. */
static bool
is_to_be_said(const struct clause *p, const struct speech_hit *w)
{
	if (w->kind == SPEECH_DONE || w->kind == SPEECH_TALK ||
	    w->kind == SPEECH_STATE)
		return clause_is_name(p, w->start) ||
		    clause_is_memo(p, w->start);
	return w->kind != SPEECH_NOT && w->kind != SPEECH_META &&
	    clause_is_memo(p, w->start) &&
	    !(w->kind == SPEECH_WH && !clause_is_memo(p, w->start - 1));
}

/* Whether what sounds like a question is a polite request. */
static bool
is_request(const struct clause *p, const struct claim *c)
{
	struct segment g = clause_here(p);
	size_t i;

	if (p->r->cmd.polite)
		return true;
	for (i = 0; i < p->r->n_words; i++) {
		const struct speech_hit *w = &p->r->words[i];

		if (!clause_has(&g, w))
			continue;
		/* "灯能变色吗" asks what the lamp can do. */
		if (w->kind == SPEECH_PLEASE ||
		    (w->kind == SPEECH_MAY && w->start < claim_start(c)))
			return true;
	}
	return false;
}

/* "太吵了静音", "声音太小了大一点": what is said of a thing leads to the wish.
 */
static bool
leads_to_wish(
    const struct clause *p, const struct claim *c, const struct speech_hit *w)
{
	ptrdiff_t n = str_find(clause_rest(p, w->end), STR("了"));
	struct str rest;

	if (n < 0)
		return false;
	rest = clause_rest(p, w->end + (size_t)n + STR("了").n);
	return (rest.n > 0 && w->end + (size_t)n < claim_start(c) &&
		   w->start < claim_start(c)) ||
	    str_find(rest, STR("点")) >= 0 || str_find(rest, STR("些")) >= 0 ||
	    str_find(rest, STR("调")) >= 0;
}

/* "走不动了", "关不掉" */
static bool
is_impossible(const struct clause *p, const struct speech_hit *w)
{
	static const struct str ends[] = { STR_INIT("动"), STR_INIT("了"),
		STR_INIT("掉"), STR_INIT("上"), STR_INIT("下"), STR_INIT("着"),
		STR_INIT("到"), STR_INIT("出"), STR_INIT("起"), STR_INIT("住"),
		STR_INIT("完"), STR_INIT("见"), STR_INIT("清") };
	size_t i;

	for (i = 0; i < NELEM(ends); i++) {
		if (str_starts(clause_rest(p, w->end), ends[i]))
			return w->start > clause_here(p).start;
	}
	return false;
}

/* 不 and 没 forbid only the verb behind them. */
static enum mood
of_not_do(
    const struct clause *p, const struct claim *c, const struct speech_hit *w)
{
	if (is_impossible(p, w) && !is_request(p, c))
		return MOOD_TOLD;
	if (clause_does_at(p->r, w->end) || claim_begins_at(c, w->end))
		return MOOD_FORBIDDEN;
	return c->acts || leads_to_wish(p, c, w) ? MOOD_WANTED : MOOD_DESCRIBED;
}

bool
mood_names_only(
    const struct clause *p, const struct reading_span *spans, size_t n)
{
	size_t i, j;
	bool thing;

	for (i = 0; i < n; i++) {
		thing = false;
		for (j = 0; j < p->r->n_words && !thing; j++) {
			const struct speech_hit *w = &p->r->words[j];

			thing = (w->kind == SPEECH_DEVICE ||
				    w->kind == SPEECH_ROOM) &&
			    w->start == spans[i].start &&
			    w->end == spans[i].end;
		}
		if (!thing)
			return false;
	}
	return true;
}

/* "打开" said to what can only be closed, "关掉" to what can only be made. */
static enum mood
of_action(
    const struct clause *p, const struct claim *c, const struct speech_hit *w)
{
	bool closes = strcmp(w->value, "close") == 0;
	bool opens = strcmp(w->value, "open") == 0;

	if (is_covered(c->others, c->n_others, w) ||
	    clause_is_memo(p, w->start))
		return MOOD_WANTED;
	if ((closes || strcmp(w->value, "stop") == 0) &&
	    (c->says & CATALOG_CLOSES) == 0)
		return MOOD_OTHER;
	if (opens && (c->says & CATALOG_OPENS) == 0 &&
	    (c->says & CATALOG_CLOSES) != 0 &&
	    mood_names_only(p, c->spans, c->n))
		return MOOD_OTHER;
	return MOOD_WANTED;
}

/* At the end of the segment but for fillers. */
static bool
is_last(const struct clause *p, const struct speech_hit *w)
{
	return !reading_says(p->r, w->end, clause_here(p).end);
}

/* "扫地是好习惯": the deed itself is spoken of. */
static bool
is_said_of(
    const struct clause *p, const struct claim *c, const struct speech_hit *w)
{
	size_t i;

	if (claim_end(c) > w->start || is_last(p, w))
		return false;
	if (str_eq(clause_text(p, w), STR("是")))
		return true;
	for (i = 0; i < p->r->n_words; i++) {
		const struct speech_hit *v = &p->r->words[i];

		if (v->kind == SPEECH_ACTION || v->kind == SPEECH_OBJECT ||
		    (v->kind == SPEECH_VERB && v->start >= w->end))
			return false;
	}
	return true;
}

/* "同意就点头" */
static bool
is_then(
    const struct clause *p, const struct claim *c, const struct speech_hit *w)
{
	return str_eq(clause_text(p, w), STR("就")) &&
	    claim_start(c) >= w->end && clause_has_subject(p, c) &&
	    !clause_is_first(p, w);
}

/* "什么都行" asks for nothing. */
static bool
is_whatever(const struct clause *p, const struct speech_hit *w)
{
	struct str after = clause_rest(p, w->end);

	return str_starts(after, STR("都")) || str_starts(after, STR("也"));
}

static enum mood
of_word(
    const struct clause *p, const struct claim *c, const struct speech_hit *w)
{
	switch (w->kind) {
	case SPEECH_NOT:
		return MOOD_FORBIDDEN;
	case SPEECH_NOT_DO:
		return of_not_do(p, c, w);
	case SPEECH_CANCEL:
		return (c->says & CATALOG_CANCELS) != 0 ||
			is_covered(c->others, c->n_others, w)
		    ? MOOD_WANTED
		    : MOOD_OTHER;
	case SPEECH_ACTION:
		return of_action(p, c, w);
	case SPEECH_WH:
		return is_whatever(p, w) ? MOOD_WANTED : MOOD_ASKED;
	case SPEECH_YES_NO:
		return is_last(p, w) && !is_request(p, c) ? MOOD_ASKED
							  : MOOD_WANTED;
	case SPEECH_IF:
		return MOOD_SUPPOSED;
	case SPEECH_DONE:
	case SPEECH_SAID:
	case SPEECH_TALK:
		return MOOD_TOLD;
	case SPEECH_STATE:
		return (c->acts && !is_said_of(p, c, w)) ||
			leads_to_wish(p, c, w)
		    ? MOOD_WANTED
		    : MOOD_DESCRIBED;
	case SPEECH_META:
		return MOOD_ASKED;
	case SPEECH_THIRD:
		return clause_is_first(p, w) &&
			!str_starts(clause_rest(p, w->end), STR("的"))
		    ? MOOD_TOLD
		    : MOOD_WANTED;
	case SPEECH_FILLER:
		return is_then(p, c, w) ? MOOD_SUPPOSED : MOOD_WANTED;
	default:
		return MOOD_WANTED;
	}
}

/* A condition holds for the rest of its sentence, and so does "他说". */
static enum mood
of_sentence(const struct clause *p)
{
	size_t i, j;

	for (i = 0; i < p->at; i++) {
		const struct segment *g = &p->segments[i];

		if (g->sentence != clause_here(p).sentence || g->retracted)
			continue;
		for (j = 0; j < p->r->n_words; j++) {
			const struct speech_hit *w = &p->r->words[j];

			if (!clause_has(g, w) ||
			    reading_is_quoted(p->r, w->start))
				continue;
			if (w->kind == SPEECH_IF)
				return MOOD_SUPPOSED;
			if (w->kind == SPEECH_SAID && w->end == g->end)
				return MOOD_TOLD;
		}
	}
	return MOOD_WANTED;
}

static bool
follows_text(const struct clause *p, size_t at, struct str text)
{
	struct str before = { p->r->cmd.folded.p + clause_here(p).start,
		at - clause_here(p).start };

	return str_ends(before, text);
}

/* 了, 过: something was done. */
static bool
is_done(const struct clause *p)
{
	struct segment g = clause_here(p);
	struct str s = { p->r->cmd.folded.p + g.start, g.end - g.start };

	return str_find(s, STR("了")) >= 0 || str_find(s, STR("过")) >= 0;
}

/* "昨天我把灯关了", "煮了十分钟"; but 今天早上八点叫我 is a slip. */
static bool
is_past(const struct clause *p)
{
	struct segment g = clause_here(p);
	bool done = is_done(p);
	size_t i;

	for (i = 0; i < p->r->n_times; i++) {
		const struct datetime *t = &p->r->times[i];

		if (t->start >= g.start && t->end <= g.end &&
		    !t->is_approximate && !clause_is_memo(p, t->start) &&
		    !clause_is_name(p, t->start) &&
		    !reading_is_quoted(p->r, t->start) &&
		    t->kind != DATETIME_REPEAT &&
		    (t->kind == DATETIME_DURATION
			    ? follows_text(p, t->start, STR("了"))
			    : t->to.ms > 0 && t->to.ms <= p->r->now.ms &&
				(done || !timing_is_today(p->r, t))))
			return true;
	}
	return false;
}

/* "讲个开灯的故事": the deed only says which story. */
static bool
is_modifier(const struct clause *p, const struct claim *c)
{
	struct segment g = clause_here(p);
	size_t i, end = claim_end(c);

	if (!c->acts || !str_starts(clause_rest(p, end), STR("的")) ||
	    !reading_says(p->r, end, g.end))
		return false;
	if (follows_text(p, claim_start(c), STR("个")) ||
	    follows_text(p, claim_start(c), STR("种")))
		return true;
	for (i = 0; i < p->r->n_words; i++) {
		const struct speech_hit *w = &p->r->words[i];

		if (clause_has(&g, w) && w->end <= claim_start(c) &&
		    (w->kind == SPEECH_VERB || w->kind == SPEECH_TALK))
			return true;
	}
	return false;
}

/* "雨停了", "妈妈在扫地" tell; "把它停了", "快停了吧" do not. */
static bool
is_told(const struct clause *p, const struct claim *c)
{
	return c->acts &&
	    (follows_text(p, clause_here(p).end, STR("了")) ||
		follows_text(p, claim_start(c), STR("在"))) &&
	    clause_has_subject(p, c);
}

/* "我把灯关了" tells what the speaker did. */
static bool
is_done_by_me(const struct clause *p, const struct claim *c)
{
	struct segment g = clause_here(p);
	size_t i, verb;

	if (!follows_text(p, g.end, STR("了")))
		return false;
	for (i = 0; i < p->r->n_words; i++) {
		const struct speech_hit *w = &p->r->words[i];

		if (!clause_has(&g, w) || w->kind != SPEECH_FILLER ||
		    !str_eq(clause_text(p, w), STR("我")) ||
		    !clause_is_first(p, w) || clause_is_own(p, c, w))
			continue;
		verb = w->end;
		if (str_starts(clause_rest(p, verb), STR("把")) ||
		    claim_begins_at(c, verb))
			return true;
	}
	return false;
}

/* "叫我小王" gives a name. */
static bool
gives_name(const struct clause *p, const struct claim *c)
{
	struct segment g = clause_here(p);
	size_t i;

	for (i = 0; i < p->r->n_words; i++) {
		const struct speech_hit *w = &p->r->words[i];

		if (clause_has(&g, w) &&
		    str_eq(clause_text(p, w), STR("叫我")) &&
		    claim_begins_at(c, w->start) &&
		    !clause_does_at(p->r, w->end) &&
		    reading_time_at(p->r, g.start, g.end) == NULL)
			return clause_says(p, w->end, g.end, NULL, 0);
	}
	return false;
}

enum mood
mood_of(const struct clause *p, const struct claim *c)
{
	struct segment g = clause_here(p);
	enum mood m = of_sentence(p);
	size_t i;

	if (m == MOOD_WANTED &&
	    (is_past(p) || is_told(p, c) || is_modifier(p, c) ||
		is_done_by_me(p, c) || gives_name(p, c)))
		m = MOOD_TOLD;
	for (i = 0; i < p->r->n_words && m == MOOD_WANTED; i++) {
		const struct speech_hit *w = &p->r->words[i];

		if (!clause_has(&g, w) || clause_is_own(p, c, w) ||
		    reading_is_quoted(p->r, w->start) ||
		    (w->kind != SPEECH_DONE &&
			reading_time_at(p->r, w->start, w->end) != NULL) ||
		    is_to_be_said(p, w))
			continue;
		m = of_word(p, c, w);
	}
	if (m == MOOD_WANTED && g.asks && !is_request(p, c))
		m = MOOD_ASKED;
	return m;
}
