/*
 * One pass over the clauses of a text.
 */
#include "feeling.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "core/mem.h"
#include "emotion.h"
#include "persona/clamp.h"
#include "runes.h"
#include "words.h"

/* Cues of one text that count; further ones do not. */
#define CUES_MAX  64
#define LINKS_MAX 3 /* words between a negator and its cue */

#define MUTED .15 /* what is left of a cue that is not about the user */
#define FAINT .2  /* below it is neutral */

struct feeling {
	struct words *words;
	uint32_t text[FEELING_TEXT_MAX];
};

struct cue {
	enum wire_emotion emotion;
	double strength;
	size_t end;
};

/* What has been read so far. */
struct scan {
	const struct words *words;
	const uint32_t *text;
	size_t n, at;
	struct cue cues[CUES_MAX];
	size_t n_cues;
	/* Words that wait for the cue they act on. */
	bool negated, more, less;
	int links;
	/* The clause. */
	size_t clause; /* its first cue */
	bool you, me, ask;
	int exclaims;
	bool doubt; /* "?!" */
	/* The quotation. */
	uint32_t quote; /* what ends it; 0: none is open */
	size_t quoted;  /* its first cue */
};

/* What is left of a cue when it is denied. */
static const struct {
	enum wire_emotion emotion;
	double factor;
} denied[EMOTION_N] = {
	[WIRE_EMOTION_NEUTRAL] = { WIRE_EMOTION_NEUTRAL, 0 },
	[WIRE_EMOTION_JOY] = { WIRE_EMOTION_SADNESS, .7 },
	[WIRE_EMOTION_SURPRISE] = { WIRE_EMOTION_NEUTRAL, 0 },
	[WIRE_EMOTION_SADNESS] = { WIRE_EMOTION_CALM, .5 },
	[WIRE_EMOTION_FEAR] = { WIRE_EMOTION_CALM, .5 },
	[WIRE_EMOTION_ANGER] = { WIRE_EMOTION_CALM, .5 },
	[WIRE_EMOTION_DISGUST] = { WIRE_EMOTION_NEUTRAL, 0 },
	[WIRE_EMOTION_CALM] = { WIRE_EMOTION_ANXIETY, .7 },
	[WIRE_EMOTION_RELIEF] = { WIRE_EMOTION_ANXIETY, .7 },
	[WIRE_EMOTION_GRATITUDE] = { WIRE_EMOTION_NEUTRAL, 0 },
	[WIRE_EMOTION_EXCITEMENT] = { WIRE_EMOTION_CALM, .4 },
	[WIRE_EMOTION_ANXIETY] = { WIRE_EMOTION_CALM, .6 },
	[WIRE_EMOTION_FRUSTRATION] = { WIRE_EMOTION_CALM, .5 },
	[WIRE_EMOTION_DISAPPOINTMENT] = { WIRE_EMOTION_RELIEF, .5 },
	[WIRE_EMOTION_BOREDOM] = { WIRE_EMOTION_JOY, .4 },
};

static double
stronger(double s, double by)
{
	return s + (1 - s) * by;
}

static void
scan_forget(struct scan *s)
{
	s->negated = s->more = s->less = false;
	s->links = 0;
}

static void
scan_cue(struct scan *s, const struct lexicon_row *row, size_t len)
{
	struct cue c = { row->emotion, row->strength, s->at + len };

	if (s->more)
		c.strength = stronger(c.strength, .35);
	if (s->less)
		c.strength *= .6;
	if (s->negated) {
		c.strength *= denied[c.emotion].factor;
		c.emotion = denied[c.emotion].emotion;
	}
	if (s->n_cues < CUES_MAX)
		s->cues[s->n_cues++] = c;
	scan_forget(s);
}

static void
scan_mute(struct scan *s, size_t from)
{
	for (; from < s->n_cues; from++)
		s->cues[from].strength *= MUTED;
}

/* Whether the last cue ends where the scan is, but for a joining particle. */
static bool
scan_behind_cue(const struct scan *s)
{
	size_t end = s->n_cues > 0 ? s->cues[s->n_cues - 1].end : SIZE_MAX;

	if (end > s->at)
		return false;
	if (end < s->at && s->text[end] == U' ')
		end++;
	if (end < s->at && (s->text[end] == U'的' || s->text[end] == U'得'))
		end++;
	return end == s->at;
}

static void
scan_link(struct scan *s)
{
	if (++s->links > LINKS_MAX)
		scan_forget(s);
}

static void
scan_but(struct scan *s)
{
	size_t i;

	for (i = 0; i < s->n_cues; i++)
		s->cues[i].strength *= .5;
	scan_forget(s);
}

static void
scan_word(struct scan *s, const struct lexicon_row *row, size_t len)
{
	switch (row->kind) {
	case LEXICON_CUE:
		scan_cue(s, row, len);
		return;
	case LEXICON_NOT:
		s->negated = !s->negated;
		return;
	case LEXICON_MORE:
		s->more = true;
		return;
	case LEXICON_LESS:
		s->less = true;
		return;
	case LEXICON_LINK:
		scan_link(s);
		return;
	case LEXICON_MOST:
		if (scan_behind_cue(s))
			s->cues[s->n_cues - 1].strength =
			    stronger(s->cues[s->n_cues - 1].strength, .5);
		break;
	case LEXICON_THING:
		if (scan_behind_cue(s))
			scan_mute(s, s->n_cues - 1);
		break;
	case LEXICON_BUT:
		scan_but(s);
		break;
	case LEXICON_YOU:
		s->you = true;
		break;
	case LEXICON_ME:
		s->me = true;
		break;
	case LEXICON_ASK:
		s->ask = true;
		break;
	case LEXICON_PLAIN:
		break;
	}
	scan_forget(s);
}

/* "Are you happy?" is no feeling; "thank you, all right?" is. */
static bool
asked(enum wire_emotion e)
{
	return e != WIRE_EMOTION_GRATITUDE && e != WIRE_EMOTION_ANGER &&
	    e != WIRE_EMOTION_DISGUST && e != WIRE_EMOTION_FRUSTRATION;
}

static void
scan_clause_end(struct scan *s)
{
	size_t i;

	for (i = s->clause; i < s->n_cues; i++) {
		if (s->ask && s->you && !s->me && asked(s->cues[i].emotion))
			s->cues[i].strength *= MUTED;
	}
	s->clause = s->n_cues;
	s->you = s->me = s->ask = false;
	scan_forget(s);
}

/* Quotation marks: what stands between them is not the user's own feeling. */
static bool
scan_quote(struct scan *s, uint32_t r)
{
	static const uint32_t marks[][2] = { { U'“', U'”' }, { U'「', U'」' },
		{ U'『', U'』' }, { U'《', U'》' }, { U'"', U'"' } };
	size_t i;

	if (s->quote != 0 && r == s->quote) {
		scan_mute(s, s->quoted);
		s->quote = 0;
		return true;
	}
	for (i = 0; i < NELEM(marks); i++) {
		if (r != marks[i][0])
			continue;
		s->quote = marks[i][1];
		s->quoted = s->n_cues;
		return true;
	}
	return false;
}

static void
scan_rune(struct scan *s, uint32_t r)
{
	static const uint32_t breaks[] = { ',', '.', ';', ':', '~', U'。',
		U'、', U'…' };
	size_t i;

	if (r == '!') {
		s->exclaims++;
		scan_clause_end(s);
		return;
	}
	if (r == '?') {
		s->doubt = s->doubt || s->exclaims > 0 ||
		    (s->at + 1 < s->n && s->text[s->at + 1] == '!');
		s->ask = true;
		scan_clause_end(s);
		return;
	}
	for (i = 0; i < NELEM(breaks); i++) {
		if (r == breaks[i]) {
			scan_clause_end(s);
			return;
		}
	}
	if (r != ' ' && !scan_quote(s, r))
		scan_forget(s);
}

static void
scan_run(struct scan *s)
{
	while (s->at < s->n) {
		uint32_t r = s->text[s->at];
		const struct lexicon_row *row;
		size_t len;

		row = words_find(s->words, s->text, s->n, s->at, &len);
		if (row != NULL) {
			scan_word(s, row, len);
			s->at += len;
			continue;
		}
		scan_rune(s, r);
		s->at++;
		/* The rest of a Latin word; an apostrophe may be a quote. */
		while (r != '\'' && rune_latin(r) && s->at < s->n &&
		    rune_latin(s->text[s->at]))
			s->at++;
	}
	scan_clause_end(s);
	if (s->doubt && s->n_cues == 0)
		s->cues[s->n_cues++] =
		    (struct cue){ WIRE_EMOTION_SURPRISE, .35, s->n };
}

/* The strongest cue of an emotion carries it, the others support it. */
static void
scan_sum(const struct scan *s, double sum[EMOTION_N])
{
	double best[EMOTION_N] = { 0 }, all[EMOTION_N] = { 0 };
	size_t i;

	for (i = 0; i < s->n_cues; i++) {
		const struct cue *c = &s->cues[i];

		best[c->emotion] = fmax(best[c->emotion], c->strength);
		all[c->emotion] += c->strength;
	}
	for (i = 0; i < EMOTION_N; i++)
		sum[i] = stronger(best[i], clamp01(.3 * (all[i] - best[i])));
}

static void
scan_judge(const struct scan *s, struct wire_user_emotion *out)
{
	double sum[EMOTION_N], all = 0;
	size_t i, top = WIRE_EMOTION_NEUTRAL;
	const struct wire_pad *pad;

	scan_sum(s, sum);
	sum[WIRE_EMOTION_NEUTRAL] = 0;
	for (i = 0; i < EMOTION_N; i++) {
		all += sum[i];
		if (sum[i] > sum[top])
			top = i;
	}
	out->has_confidence = true;
	if (sum[top] < FAINT) {
		top = WIRE_EMOTION_NEUTRAL;
		out->intensity = 0;
		out->confidence = .65 - all;
	} else {
		out->intensity = stronger(sum[top], .12 * fmin(s->exclaims, 3));
		out->confidence = .45 + .5 * sum[top] * sum[top] / all;
	}
	out->confidence = clamp01(out->confidence);
	out->intensity = clamp01(out->intensity);
	out->emotion = (enum wire_emotion)top;
	pad = emotion_prototype(out->emotion);
	out->p = pad->p;
	out->a = pad->a;
	out->d = pad->d;
}

struct feeling *
feeling_new(void)
{
	struct feeling *f = mem_alloc(sizeof(*f));

	f->words = words_new();
	return f;
}

void
feeling_free(struct feeling *f)
{
	if (f == NULL)
		return;
	words_free(f->words);
	free(f);
}

void
feeling_read(struct feeling *f, struct str text, struct wire_user_emotion *out)
{
	struct scan s = { .words = f->words, .text = f->text };

	s.n = runes_read(text, f->text, FEELING_TEXT_MAX);
	scan_run(&s);
	scan_judge(&s, out);
}
