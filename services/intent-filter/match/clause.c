/*
 * A segment in its context: lookups, and the sentence type of a claim.
 */
#include "match/clause.h"

#include "catalog/catalog.h"
#include "core/mem.h"

/* Known words before a claim that are examined. */
#define SUBJECT_SPANS 32

struct segment
clause_segment(const struct clause *p)
{
	return p->segments[p->at];
}

static struct str
clause_text(const struct clause *p, const struct word_hit *w)
{
	return (struct str){ p->u->cmd.folded.p + w->start, w->end - w->start };
}

/* What of the segment follows byte at. */
static struct str
clause_text_after(const struct clause *p, size_t at)
{
	return (
	    struct str){ p->u->cmd.folded.p + at, clause_segment(p).end - at };
}

/*
 * Whether the claim's own phrases contain w.  A pattern with unmatched spans or
 * a similar example may cover a word that it does not contain.
 */
static bool
clause_is_covered(
    const struct clause *p, const struct claim *c, const struct word_hit *w)
{
	size_t i;

	for (i = 0; i < c->n; i++) {
		if (c->spans[i].start > w->start || c->spans[i].end < w->end)
			continue;
		if (str_starts(c->evidence[i].type, STR("keyword")) ||
		    str_find(c->evidence[i].value, clause_text(p, w)) >= 0)
			return true;
	}
	return false;
}

/* Whether a word of that kind precedes at in the segment. */
static bool
clause_kind_before(const struct clause *p, enum word_kind kind, size_t at)
{
	struct segment g = clause_segment(p);
	size_t i;

	for (i = 0; i < p->u->n_words; i++) {
		const struct word_hit *w = &p->u->words[i];

		if (w->kind == kind && segment_contains(&g, w) && w->end <= at)
			return true;
	}
	return false;
}

bool
clause_is_in_reminder(const struct clause *p, size_t at)
{
	return clause_kind_before(p, WORD_REMINDER, at);
}

/* Whether byte at is in a title or name: play Yesterday, 播放你喜欢的歌. */
static bool
clause_is_in_title(const struct clause *p, size_t at)
{
	return clause_kind_before(p, WORD_TITLE, at);
}

size_t
claim_start(const struct claim *c)
{
	size_t i, first = (size_t)-1;

	for (i = 0; i < c->n; i++) {
		if (c->spans[i].start < first)
			first = c->spans[i].start;
	}
	return first;
}

size_t
claim_end(const struct claim *c)
{
	size_t i, last = 0;

	for (i = 0; i < c->n; i++) {
		if (c->spans[i].end > last)
			last = c->spans[i].end;
	}
	return last;
}

/* Whether a piece of its evidence begins at byte at. */
static bool
claim_begins_at(const struct claim *c, size_t at)
{
	size_t i;

	for (i = 0; i < c->n; i++) {
		if (c->spans[i].start == at)
			return true;
	}
	return false;
}

/* Whether [from, to) has content outside of the spans. */
static bool
clause_has_content(const struct clause *p, size_t from, size_t to,
    const struct text_span *spans, size_t n)
{
	return utterance_has_content(p->u, from, to) &&
	    utterance_share(p->u, from, to, spans, n) < 1;
}

/* Whether a subject other than the user and the terminal precedes the claim. */
static bool
clause_has_subject(const struct clause *p, const struct claim *c)
{
	struct text_span spans[SUBJECT_SPANS];
	struct segment g = clause_segment(p);
	size_t i, n = 0;

	for (i = 0; i < p->u->n_words && n < SUBJECT_SPANS; i++) {
		const struct word_hit *w = &p->u->words[i];

		if (!segment_contains(&g, w))
			continue;
		switch (w->kind) {
		case WORD_POLITE:
			/* "他给我打电话了" */
			if (str_eq(clause_text(p, w), STR("给我")))
				break;
			return false;
		case WORD_OBJECT_MARKER:
		case WORD_MODAL:
		case WORD_REMINDER:
			return false;
		case WORD_ACTION:
		case WORD_VERB:
		case WORD_DEVICE:
		case WORD_ROOM:
		case WORD_COLOR:
			spans[n++] = (struct text_span){ w->start, w->end };
			break;
		default:
			break;
		}
	}
	return !p->u->cmd.polite &&
	    clause_has_content(p, g.start, claim_start(c), spans, n);
}

/* Whether no content precedes the word. */
static bool
clause_is_first(const struct clause *p, const struct word_hit *w)
{
	return !clause_has_content(
	    p, clause_segment(p).start, w->start, NULL, 0);
}

/* ---- the sentence type ---- */

static bool
sentence_is_covered(
    const struct text_span *spans, size_t n, const struct word_hit *w)
{
	size_t i;

	for (i = 0; i < n; i++) {
		if (spans[i].start <= w->start && spans[i].end >= w->end)
			return true;
	}
	return false;
}

/* In "提醒我几点开会" the question is content; "你叫我什么" is a question. */
static bool
sentence_word_is_content(const struct clause *p, const struct word_hit *w)
{
	if (w->kind == WORD_COMPLETED || w->kind == WORD_OPINION ||
	    w->kind == WORD_STATE)
		return clause_is_in_title(p, w->start) ||
		    clause_is_in_reminder(p, w->start);
	return w->kind != WORD_PROHIBITION && w->kind != WORD_META &&
	    clause_is_in_reminder(p, w->start) &&
	    !(w->kind == WORD_WH && !clause_is_in_reminder(p, w->start - 1));
}

/* Whether a question is a polite request. */
static bool
sentence_is_polite(const struct clause *p, const struct claim *c)
{
	struct segment g = clause_segment(p);
	size_t i;

	if (p->u->cmd.polite)
		return true;
	for (i = 0; i < p->u->n_words; i++) {
		const struct word_hit *w = &p->u->words[i];

		if (!segment_contains(&g, w))
			continue;
		/* "灯能变色吗" asks about the lamp. */
		if (w->kind == WORD_POLITE ||
		    (w->kind == WORD_MODAL && w->start < claim_start(c)))
			return true;
	}
	return false;
}

/* "太吵了静音", "声音太小了大一点": a complaint before the request. */
static bool
sentence_complaint_precedes_request(
    const struct clause *p, const struct claim *c, const struct word_hit *w)
{
	ptrdiff_t n = str_find(clause_text_after(p, w->end), STR("了"));
	struct str rest;

	if (n < 0)
		return false;
	rest = clause_text_after(p, w->end + (size_t)n + STR("了").n);
	return (rest.n > 0 && w->end + (size_t)n < claim_start(c) &&
		   w->start < claim_start(c)) ||
	    str_find(rest, STR("点")) >= 0 || str_find(rest, STR("些")) >= 0 ||
	    str_find(rest, STR("调")) >= 0;
}

/* "走不动了", "关不掉" */
static bool
sentence_is_impossible(const struct clause *p, const struct word_hit *w)
{
	static const struct str ends[] = { STR_INIT("动"), STR_INIT("了"),
		STR_INIT("掉"), STR_INIT("上"), STR_INIT("下"), STR_INIT("着"),
		STR_INIT("到"), STR_INIT("出"), STR_INIT("起"), STR_INIT("住"),
		STR_INIT("完"), STR_INIT("见"), STR_INIT("清") };
	size_t i;

	for (i = 0; i < NELEM(ends); i++) {
		if (str_starts(clause_text_after(p, w->end), ends[i]))
			return w->start > clause_segment(p).start;
	}
	return false;
}

/* 不 and 没 negate only the verb after them. */
static enum sentence_type
sentence_of_negation(
    const struct clause *p, const struct claim *c, const struct word_hit *w)
{
	if (sentence_is_impossible(p, w) && !sentence_is_polite(p, c))
		return SENTENCE_REPORT;
	if (utterance_verb_at(p->u, w->end) || claim_begins_at(c, w->end))
		return SENTENCE_PROHIBITION;
	return c->has_verb || sentence_complaint_precedes_request(p, c, w)
	    ? SENTENCE_REQUEST
	    : SENTENCE_DESCRIPTION;
}

bool
sentence_names_only(
    const struct clause *p, const struct text_span *spans, size_t n)
{
	size_t i, j;
	bool thing;

	for (i = 0; i < n; i++) {
		thing = false;
		for (j = 0; j < p->u->n_words && !thing; j++) {
			const struct word_hit *w = &p->u->words[j];

			thing =
			    (w->kind == WORD_DEVICE || w->kind == WORD_ROOM) &&
			    w->start == spans[i].start &&
			    w->end == spans[i].end;
		}
		if (!thing)
			return false;
	}
	return true;
}

/* "打开" of what can only be closed, "关掉" of what can only be opened. */
static enum sentence_type
sentence_of_action(
    const struct clause *p, const struct claim *c, const struct word_hit *w)
{
	bool closes = strcmp(w->value, "close") == 0;
	bool opens = strcmp(w->value, "open") == 0;

	if (sentence_is_covered(c->others, c->n_others, w) ||
	    clause_is_in_reminder(p, w->start))
		return SENTENCE_REQUEST;
	if ((closes || strcmp(w->value, "stop") == 0) &&
	    (c->topics & PHRASE_CLOSES) == 0)
		return SENTENCE_OPPOSITE;
	if (opens && (c->topics & PHRASE_OPENS) == 0 &&
	    (c->topics & PHRASE_CLOSES) != 0 &&
	    sentence_names_only(p, c->spans, c->n))
		return SENTENCE_OPPOSITE;
	return SENTENCE_REQUEST;
}

/* Whether only fillers follow in the segment. */
static bool
sentence_is_last(const struct clause *p, const struct word_hit *w)
{
	return !utterance_has_content(p->u, w->end, clause_segment(p).end);
}

/* "扫地是好习惯": a statement about the action. */
static bool
sentence_is_statement(
    const struct clause *p, const struct claim *c, const struct word_hit *w)
{
	size_t i;

	if (claim_end(c) > w->start || sentence_is_last(p, w))
		return false;
	if (str_eq(clause_text(p, w), STR("是")))
		return true;
	for (i = 0; i < p->u->n_words; i++) {
		const struct word_hit *v = &p->u->words[i];

		if (v->kind == WORD_ACTION || v->kind == WORD_OBJECT_MARKER ||
		    (v->kind == WORD_VERB && v->start >= w->end))
			return false;
	}
	return true;
}

/* "同意就点头": a consequence. */
static bool
sentence_is_consequence(
    const struct clause *p, const struct claim *c, const struct word_hit *w)
{
	return str_eq(clause_text(p, w), STR("就")) &&
	    claim_start(c) >= w->end && clause_has_subject(p, c) &&
	    !clause_is_first(p, w);
}

/* "什么都行" is not a question. */
static bool
sentence_is_indifferent(const struct clause *p, const struct word_hit *w)
{
	struct str after = clause_text_after(p, w->end);

	return str_starts(after, STR("都")) || str_starts(after, STR("也"));
}

static enum sentence_type
sentence_of_word(
    const struct clause *p, const struct claim *c, const struct word_hit *w)
{
	switch (w->kind) {
	case WORD_PROHIBITION:
		return SENTENCE_PROHIBITION;
	case WORD_NEGATION:
		return sentence_of_negation(p, c, w);
	case WORD_CANCEL:
		return (c->topics & PHRASE_CANCELS) != 0 ||
			sentence_is_covered(c->others, c->n_others, w)
		    ? SENTENCE_REQUEST
		    : SENTENCE_OPPOSITE;
	case WORD_ACTION:
		return sentence_of_action(p, c, w);
	case WORD_WH:
		return sentence_is_indifferent(p, w) ? SENTENCE_REQUEST
						     : SENTENCE_QUESTION;
	case WORD_YES_NO:
		return sentence_is_last(p, w) && !sentence_is_polite(p, c)
		    ? SENTENCE_QUESTION
		    : SENTENCE_REQUEST;
	case WORD_CONDITION:
		return SENTENCE_CONDITION;
	case WORD_COMPLETED:
	case WORD_REPORTED:
	case WORD_OPINION:
		return SENTENCE_REPORT;
	case WORD_STATE:
		return (c->has_verb && !sentence_is_statement(p, c, w)) ||
			sentence_complaint_precedes_request(p, c, w)
		    ? SENTENCE_REQUEST
		    : SENTENCE_DESCRIPTION;
	case WORD_META:
		return SENTENCE_QUESTION;
	case WORD_THIRD_PERSON:
		return clause_is_first(p, w) &&
			!str_starts(clause_text_after(p, w->end), STR("的"))
		    ? SENTENCE_REPORT
		    : SENTENCE_REQUEST;
	case WORD_FILLER:
		return sentence_is_consequence(p, c, w) ? SENTENCE_CONDITION
							: SENTENCE_REQUEST;
	default:
		return SENTENCE_REQUEST;
	}
}

/* "等天黑了再开灯" */
static bool
sentence_is_waiting(const struct clause *p, const struct segment *g)
{
	static const struct str pauses[] = { STR_INIT("等等"), STR_INIT("等一"),
		STR_INIT("等会"), STR_INIT("等下") };
	struct str text = { p->u->cmd.folded.p + g->start, g->end - g->start };
	size_t i;

	for (i = 0; i < NELEM(pauses); i++) {
		if (str_starts(text, pauses[i]))
			return false;
	}
	return str_starts(text, STR("等"));
}

/*
 * "水开了再关热水器": what is awaited, if no comma separates it and it is no
 * request itself.
 */
static bool
sentence_is_awaited(const struct clause *p, size_t at)
{
	const struct segment *g = &p->segments[at];
	const struct utterance *u = p->u;
	size_t gap = g[1].start - g->end, i;
	struct str text = { u->cmd.folded.p + g->start, g->end - g->start };

	if (gap != STR("再").n ||
	    !str_eq((struct str){ u->cmd.folded.p + g->end, gap }, STR("再")) ||
	    !(str_ends(text, STR("了")) || str_ends(text, STR("完")) ||
		str_ends(text, STR("好"))))
		return false;
	for (i = 0; i < u->n_names; i++) {
		if (u->names[i].start >= g->start && u->names[i].end <= g->end)
			return false;
	}
	for (i = 0; i < u->n_things; i++) {
		if (u->things[i].start >= g->start &&
		    u->things[i].end <= g->end)
			return false;
	}
	return true;
}

/* "关窗之前记得收衣服": the claim only says when. */
static bool
sentence_is_before(const struct clause *p, const struct claim *c)
{
	struct str after = clause_text_after(p, claim_end(c));

	return str_starts(after, STR("之前")) || str_starts(after, STR("以前"));
}

/* "同学们都点头": others do it. */
static bool
sentence_is_of_others(const struct clause *p, const struct claim *c)
{
	static const struct str us[] = { STR_INIT("我"), STR_INIT("咱"),
		STR_INIT("你") };
	size_t start = clause_segment(p).start, at = claim_start(c), i;
	struct str before = { p->u->cmd.folded.p + start,
		at > start ? at - start : 0 };
	ptrdiff_t n = str_find(before, STR("们"));

	if (n <= 0 || sentence_is_polite(p, c) ||
	    clause_kind_before(p, WORD_OBJECT_MARKER, at) ||
	    str_find(before, STR("让")) >= 0)
		return false;
	before.n = (size_t)n;
	for (i = 0; i < NELEM(us); i++) {
		if (str_ends(before, us[i]))
			return false;
	}
	return true;
}

/* "when it gets dark, turn on the lights" */
static bool
sentence_is_when(
    const struct clause *p, const struct segment *g, const struct word_hit *w)
{
	return w->start == g->start && !g->is_question &&
	    str_eq(clause_text(p, w), STR("when"));
}

/* "停电了，灯都灭了", "窗户还开着": states, if nobody is asked. */
static bool
sentence_is_state(const struct clause *p, const struct claim *c)
{
	struct segment g = clause_segment(p);
	size_t i;

	for (i = 0; i < p->u->n_words; i++) {
		const struct word_hit *w = &p->u->words[i];
		struct str text = clause_text(p, w);

		if (segment_contains(&g, w) && w->kind == WORD_ACTION &&
		    (str_starts(clause_text_after(p, w->end), STR("着")) ||
			str_eq(text, STR("灭了")) ||
			str_eq(text, STR("熄了"))) &&
		    !sentence_is_polite(p, c) &&
		    !clause_kind_before(p, WORD_MODAL, w->start) &&
		    !clause_kind_before(p, WORD_OBJECT_MARKER, w->start))
			return true;
	}
	return false;
}

/* A condition and "他说" apply to the rest of their sentence. */
static enum sentence_type
sentence_of_context(const struct clause *p)
{
	size_t i, j;

	for (i = 0; i < p->at; i++) {
		const struct segment *g = &p->segments[i];

		if (g->sentence != clause_segment(p).sentence ||
		    g->is_retracted)
			continue;
		if (sentence_is_waiting(p, g) ||
		    (i + 1 == p->at && sentence_is_awaited(p, i)))
			return SENTENCE_CONDITION;
		for (j = 0; j < p->u->n_words; j++) {
			const struct word_hit *w = &p->u->words[j];

			if (!segment_contains(g, w) ||
			    utterance_is_quoted(p->u, w->start))
				continue;
			if (w->kind == WORD_CONDITION ||
			    sentence_is_when(p, g, w))
				return SENTENCE_CONDITION;
			if (w->kind == WORD_REPORTED && w->end == g->end)
				return SENTENCE_REPORT;
		}
	}
	return SENTENCE_REQUEST;
}

static bool
sentence_is_preceded_by(const struct clause *p, size_t at, struct str text)
{
	size_t start = clause_segment(p).start;

	/* A thing that is carried stands before the segment. */
	return at >= start &&
	    str_ends(
		(struct str){ p->u->cmd.folded.p + start, at - start }, text);
}

/* 了, 过: a completed action. */
static bool
sentence_is_completed(const struct clause *p)
{
	struct segment g = clause_segment(p);
	struct str s = { p->u->cmd.folded.p + g.start, g.end - g.start };

	return str_find(s, STR("了")) >= 0 || str_find(s, STR("过")) >= 0;
}

/* "开了一晚上": 晚上 is how long. */
static bool
sentence_time_is_over(
    const struct clause *p, const struct datetime *t, bool done)
{
	if (t->kind == DATETIME_DURATION)
		return sentence_is_preceded_by(p, t->start, STR("了"));
	return sentence_is_preceded_by(p, t->start, STR("了一")) ||
	    (t->to.ms > 0 && t->to.ms <= p->u->now.ms &&
		(done || !utterance_time_is_today(p->u, t)));
}

/* "昨天我把灯关了", "煮了十分钟"; but not 今天早上八点叫我. */
static bool
sentence_is_over(const struct clause *p)
{
	struct segment g = clause_segment(p);
	bool done = sentence_is_completed(p);
	size_t i;

	for (i = 0; i < p->u->n_times; i++) {
		const struct datetime *t = &p->u->times[i];

		if (t->start >= g.start && t->end <= g.end &&
		    !t->is_approximate && !clause_is_in_reminder(p, t->start) &&
		    !clause_is_in_title(p, t->start) &&
		    !utterance_is_quoted(p->u, t->start) &&
		    t->kind != DATETIME_REPEAT &&
		    sentence_time_is_over(p, t, done))
			return true;
	}
	return false;
}

/* "讲个开灯的故事": the action only describes the story. */
static bool
sentence_is_modifier(const struct clause *p, const struct claim *c)
{
	struct segment g = clause_segment(p);
	size_t i, end = claim_end(c);

	if (!c->has_verb || !str_starts(clause_text_after(p, end), STR("的")) ||
	    !utterance_has_content(p->u, end, g.end))
		return false;
	if (sentence_is_preceded_by(p, claim_start(c), STR("个")) ||
	    sentence_is_preceded_by(p, claim_start(c), STR("种")))
		return true;
	for (i = 0; i < p->u->n_words; i++) {
		const struct word_hit *w = &p->u->words[i];

		if (segment_contains(&g, w) && w->end <= claim_start(c) &&
		    (w->kind == WORD_VERB || w->kind == WORD_OPINION))
			return true;
	}
	return false;
}

/* "雨停了", "妈妈在扫地" are reports; "把它停了", "快停了吧" are not. */
static bool
sentence_is_report(const struct clause *p, const struct claim *c)
{
	return c->has_verb &&
	    (sentence_is_preceded_by(p, clause_segment(p).end, STR("了")) ||
		sentence_is_preceded_by(p, claim_start(c), STR("在"))) &&
	    clause_has_subject(p, c);
}

/* "我把灯关了" reports what the user did. */
static bool
sentence_is_own_report(const struct clause *p, const struct claim *c)
{
	struct segment g = clause_segment(p);
	size_t i, verb;

	if (!sentence_is_preceded_by(p, g.end, STR("了")))
		return false;
	for (i = 0; i < p->u->n_words; i++) {
		const struct word_hit *w = &p->u->words[i];

		if (!segment_contains(&g, w) || w->kind != WORD_FILLER ||
		    !str_eq(clause_text(p, w), STR("我")) ||
		    !clause_is_first(p, w) || clause_is_covered(p, c, w))
			continue;
		verb = w->end;
		if (str_starts(clause_text_after(p, verb), STR("把")) ||
		    claim_begins_at(c, verb))
			return true;
	}
	return false;
}

/* "老板叫我去开会": a subject before the verb. */
static bool
sentence_is_called(const struct clause *p, const struct claim *c)
{
	struct text_span spans[SUBJECT_SPANS];
	struct segment g = clause_segment(p);
	size_t i, at = claim_start(c), n = 0;

	if (!str_starts(clause_text_after(p, at), STR("叫我")))
		return false;
	for (i = 0; i < p->u->n_words && n < SUBJECT_SPANS; i++) {
		const struct word_hit *w = &p->u->words[i];

		if (segment_contains(&g, w) &&
		    (w->kind == WORD_ACTION || w->kind == WORD_VERB ||
			w->kind == WORD_DEVICE || w->kind == WORD_POLITE ||
			w->kind == WORD_MODAL))
			spans[n++] = (struct text_span){ w->start, w->end };
	}
	return clause_has_content(p, g.start, at, spans, n);
}

/* "红色的裙子好看": the evidence describes something unknown. */
static bool
sentence_is_attribute(const struct clause *p, const struct claim *c)
{
	struct segment g = clause_segment(p);
	size_t i, end = claim_end(c);

	if (c->has_verb || !str_starts(clause_text_after(p, end), STR("的")) ||
	    !utterance_has_content(p->u, end, g.end))
		return false;
	for (i = 0; i < p->u->n_words; i++) {
		const struct word_hit *w = &p->u->words[i];

		if (segment_contains(&g, w) &&
		    (w->kind == WORD_DEVICE || w->kind == WORD_OBJECT_MARKER ||
			w->kind == WORD_POLITE ||
			(w->start < end &&
			    (w->kind == WORD_ACTION || w->kind == WORD_VERB))))
			return false;
	}
	return true;
}

/* "the kids play", "a play": an English verb that commands nobody. */
static bool
sentence_is_english_statement(const struct clause *p, const struct claim *c)
{
	struct segment g = clause_segment(p);
	size_t i, at = claim_start(c), verb = 0;
	struct str whole = { p->u->cmd.folded.p + g.start, g.end - g.start };

	if (!c->has_verb || at <= g.start || !utterance_verb_at(p->u, at) ||
	    p->u->cmd.folded.p[at] < 'a' || p->u->cmd.folded.p[at] > 'z')
		return false;
	for (i = 0; i < c->n; i++)
		verb += c->spans[i].start >= at && c->spans[i].end > at;
	if (verb == 1 &&
	    memchr(p->u->cmd.folded.p + at, ' ', claim_end(c) - at) == NULL &&
	    (sentence_is_preceded_by(p, at, STR(" a ")) ||
		sentence_is_preceded_by(p, at, STR("the ")) ||
		sentence_is_preceded_by(p, at, STR(" my ")) ||
		sentence_is_preceded_by(p, at, STR("this ")) ||
		sentence_is_preceded_by(p, at, STR("that "))))
		return true;
	if (str_starts(whole, STR("a bit ")) ||
	    str_starts(whole, STR("a little ")) ||
	    !vocabulary_begins_with_subject(whole))
		return false;
	/* "my room is dark turn on the light" */
	for (i = 0; i < p->u->n_words; i++) {
		const struct word_hit *w = &p->u->words[i];

		if (segment_contains(&g, w) && w->end <= at &&
		    (w->kind == WORD_STATE || w->kind == WORD_POLITE ||
			w->kind == WORD_MODAL))
			return false;
	}
	return true;
}

/* "叫我小王" gives the user a name. */
static bool
sentence_gives_name(const struct clause *p, const struct claim *c)
{
	struct segment g = clause_segment(p);
	size_t i;

	for (i = 0; i < p->u->n_words; i++) {
		const struct word_hit *w = &p->u->words[i];

		if (segment_contains(&g, w) &&
		    str_eq(clause_text(p, w), STR("叫我")) &&
		    claim_begins_at(c, w->start) &&
		    !utterance_verb_at(p->u, w->end) &&
		    utterance_time_at(p->u, g.start, g.end) == NULL)
			return clause_has_content(p, w->end, g.end, NULL, 0);
	}
	return false;
}

enum sentence_type
sentence_type_of(const struct clause *p, const struct claim *c)
{
	struct segment g = clause_segment(p);
	enum sentence_type m = sentence_of_context(p);
	size_t i;

	if (m == SENTENCE_REQUEST &&
	    (sentence_is_over(p) || sentence_is_report(p, c) ||
		sentence_is_modifier(p, c) || sentence_is_own_report(p, c) ||
		sentence_gives_name(p, c) || sentence_is_called(p, c) ||
		sentence_is_english_statement(p, c)))
		m = SENTENCE_REPORT;
	if (m == SENTENCE_REQUEST &&
	    ((claim_start(c) > g.start && sentence_is_waiting(p, &g)) ||
		sentence_is_before(p, c)))
		m = SENTENCE_CONDITION;
	if (m == SENTENCE_REQUEST && sentence_is_of_others(p, c))
		m = SENTENCE_REPORT;
	if (m == SENTENCE_REQUEST &&
	    (sentence_is_attribute(p, c) || sentence_is_state(p, c)))
		m = SENTENCE_DESCRIPTION;
	for (i = 0; i < p->u->n_words && m == SENTENCE_REQUEST; i++) {
		const struct word_hit *w = &p->u->words[i];

		if (!segment_contains(&g, w) || clause_is_covered(p, c, w) ||
		    utterance_is_quoted(p->u, w->start) ||
		    (w->kind != WORD_COMPLETED &&
			utterance_time_at(p->u, w->start, w->end) != NULL) ||
		    sentence_word_is_content(p, w))
			continue;
		m = sentence_of_word(p, c, w);
	}
	if (m == SENTENCE_REQUEST && g.is_question && !sentence_is_polite(p, c))
		m = SENTENCE_QUESTION;
	return m;
}
