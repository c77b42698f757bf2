/*
 * One pass over the units of a text.
 */
#include "recognition/feature.h"

#include <stdlib.h>

#include "core/mem.h"
#include "persona/emotion.h"
#include "recognition/codepoints.h"
#include "recognition/emoticon.h"
#include "recognition/lexicon.h"

#define LINKS_MAX 3 /* words between a negator and its cue */

/* A weaker cue does not name an emotion; it is the user's in any clause. */
#define HINT .35

/* Kinds of keys; the values are part of the weights file. */
enum key_kind {
	KEY_ONE = 1,
	KEY_TWO = 2,
	KEY_STEM = 3,
	KEY_SIGN = 4,
	KEY_SHAPE = 5
};

/* State of the scan. */
struct scan {
	struct features *f;
	size_t at, word_end;
	uint64_t last; /* previous unit; 0: none */
	size_t last_at;
	/* Modifiers waiting for their cue. */
	bool negated, more, less;
	int links;
	/* The current clause. */
	size_t clause; /* its first sign */
	size_t before; /* that of the clause before */
	bool you, me, they, question;
	bool far;     /* all of its cues are negated */
	bool distant; /* it has had a negator */
	/* The current quotation. */
	uint32_t quote; /* closing mark; 0: none is open */
	size_t quoted;  /* its first sign */
	bool meta;
	bool any_you, any_me, any_they, any_question;
};

static uint64_t
key_mix(uint64_t h)
{
	h = (h ^ h >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	h = (h ^ h >> 27) * UINT64_C(0x94d049bb133111eb);
	return h ^ h >> 31;
}

static uint64_t
key_of(enum key_kind kind, uint64_t a, uint64_t b)
{
	return key_mix(
	    key_mix(a * 8 + (uint64_t)kind) + b * UINT64_C(0x9e3779b97f4a7c15));
}

static void
features_put_key(struct features *f, uint64_t key, size_t at, size_t end)
{
	if (f->n_keys < FEATURES_KEYS_MAX)
		f->keys[f->n_keys++] =
		    (struct features_key){ key, (uint32_t)at, (uint32_t)end };
}

/* ---- signs ---- */

static void
scan_reset_modifiers(struct scan *s)
{
	s->negated = s->more = s->less = false;
	s->links = 0;
}

static void
scan_sign(struct scan *s, const struct lexicon_row *row, size_t len)
{
	struct features *f = s->f;
	enum features_state state = s->negated != s->far ? FEATURES_DENIED
	    : s->distant && !s->negated && row->kind == LEXICON_CUE
	    ? FEATURES_DISTANT
	    : FEATURES_PLAIN;
	size_t i;

	for (i = s->at; i < s->at + len; i++) {
		s->me = s->me || f->text[i] == U'我';
		s->you = s->you || f->text[i] == U'你';
	}

	if (f->n_signs < FEATURES_SIGNS_MAX)
		f->signs[f->n_signs++] = (struct features_sign){ .row = row,
			.state = state,
			.more = s->more,
			.less = s->less,
			.at = (uint32_t)s->at,
			.end = (uint32_t)(s->at + len) };
	scan_reset_modifiers(s);
}

static void
scan_mark(struct scan *s, size_t from, enum features_state state)
{
	for (; from < s->f->n_signs; from++) {
		if (s->f->signs[from].row->kind == LEXICON_CUE)
			s->f->signs[from].state = state;
	}
}

/*
 * The cue that ends at the scan position, optionally followed by a particle; or
 * NULL.
 */
static struct features_sign *
scan_behind_cue(const struct scan *s)
{
	struct features *f = s->f;
	size_t end;

	if (f->n_signs == 0)
		return NULL;
	end = f->signs[f->n_signs - 1].end;
	if (end > s->at || f->signs[f->n_signs - 1].row->kind != LEXICON_CUE)
		return NULL;
	if (end < s->at && f->text[end] == U' ')
		end++;
	if (end < s->at && (f->text[end] == U'的' || f->text[end] == U'得'))
		end++;
	return end == s->at ? &f->signs[f->n_signs - 1] : NULL;
}

/*
 * "Are you happy?" is not the user's emotion; "thank you, all right?" and
 * "idiot?" are.
 */
static bool
sign_muted_by_question(const struct lexicon_row *row)
{
	return row->strength >= HINT &&
	    row->emotion != WIRE_EMOTION_GRATITUDE &&
	    row->emotion != WIRE_EMOTION_DISGUST &&
	    row->emotion != WIRE_EMOTION_FRUSTRATION &&
	    (row->emotion != WIRE_EMOTION_ANGER || row->strength < .75);
}

/* "Happy? I can't say that": the cues of the clause before. */
static void
scan_deny_before(struct scan *s)
{
	size_t i;

	for (i = s->clause; i < s->f->n_signs; i++) {
		if (s->f->signs[i].row->kind == LEXICON_CUE)
			return;
	}
	for (i = s->before; i < s->clause; i++) {
		struct features_sign *x = &s->f->signs[i];

		if (x->row->kind == LEXICON_CUE && x->state == FEATURES_PLAIN)
			x->state = FEATURES_DENIED;
	}
}

static void
scan_clause_end(struct scan *s)
{
	size_t i;

	if (s->far)
		scan_deny_before(s);

	s->any_you = s->any_you || s->you;
	s->any_me = s->any_me || s->me;
	s->any_they = s->any_they || s->they;
	s->any_question = s->any_question || s->question;

	for (i = s->clause; i < s->f->n_signs; i++) {
		struct features_sign *x = &s->f->signs[i];

		if (x->row->kind != LEXICON_CUE)
			continue;
		if (s->question && s->you && !s->me &&
		    sign_muted_by_question(x->row))
			x->state = FEATURES_MUTED;
		else if (s->they && !s->me && x->row->strength >= HINT &&
		    x->state == FEATURES_PLAIN)
			x->state = FEATURES_THEIRS;
	}
	s->before = s->clause;
	s->clause = s->f->n_signs;
	s->far = s->distant = false;
	s->you = s->me = s->they = s->question = false;
	scan_reset_modifiers(s);
}

static void
scan_role(struct scan *s, enum lexicon_kind kind)
{
	switch (kind) {
	case LEXICON_BUT:
		scan_mark(s, 0, FEATURES_CONCEDED);
		break;
	case LEXICON_YOU:
		s->you = true;
		break;
	case LEXICON_ME:
		s->me = true;
		break;
	case LEXICON_QUESTION:
		s->question = true;
		break;
	case LEXICON_THEY:
		s->they = true;
		break;
	default:
		break;
	}
	scan_reset_modifiers(s);
}

static void
scan_word(struct scan *s, const struct lexicon_row *row, size_t len)
{
	struct features_sign *cue;

	switch (row->kind) {
	case LEXICON_META:
		s->meta = true;
		scan_sign(s, row, len);
		return;
	case LEXICON_CUE:
	case LEXICON_FACT:
	case LEXICON_MOCK:
	case LEXICON_BAD:
		scan_sign(s, row, len);
		return;
	case LEXICON_ORDER:
		if (s->f->n_units == 0)
			scan_sign(s, row, len);
		return;
	case LEXICON_ACK:
		if (s->f->n_units == 0 && s->at + len == s->f->n_text)
			scan_sign(s, row, len);
		return;
	case LEXICON_NOT:
		s->distant = true;
		s->negated = !s->negated;
		return;
	case LEXICON_FAR:
		s->far = true;
		scan_reset_modifiers(s);
		return;
	case LEXICON_MORE:
		s->more = s->f->more = true;
		return;
	case LEXICON_LESS:
		s->less = s->f->less = true;
		return;
	case LEXICON_LINK:
		if (++s->links > LINKS_MAX)
			scan_reset_modifiers(s);
		return;
	case LEXICON_MOST:
		cue = scan_behind_cue(s);
		if (cue != NULL)
			cue->most = true;
		scan_reset_modifiers(s);
		return;
	case LEXICON_UNDO:
		cue = scan_behind_cue(s);
		if (cue != NULL)
			cue->state = FEATURES_DENIED;
		scan_reset_modifiers(s);
		return;
	case LEXICON_THING:
		if (scan_behind_cue(s) != NULL)
			scan_mark(s, s->f->n_signs - 1, FEATURES_MUTED);
		scan_reset_modifiers(s);
		return;
	default:
		scan_role(s, row->kind);
	}
}

/* Quoted cues are not the user's emotion. */
static bool
scan_quote(struct scan *s, uint32_t r)
{
	static const uint32_t marks[][2] = { { U'“', U'”' }, { U'「', U'」' },
		{ U'『', U'』' }, { U'《', U'》' }, { U'"', U'"' } };
	size_t i;

	if (s->quote != 0 && r == s->quote) {
		scan_mark(s, s->quoted, FEATURES_MUTED);
		s->quote = 0;
		return true;
	}
	for (i = 0; i < NELEM(marks); i++) {
		if (r != marks[i][0])
			continue;
		s->quote = marks[i][1];
		s->quoted = s->f->n_signs;
		return true;
	}
	return false;
}

static void
scan_codepoint(struct scan *s, size_t at)
{
	static const uint32_t breaks[] = { ',', '.', ';', ':', '~', U'。',
		U'、', U'…' };
	struct features *f = s->f;
	uint32_t r = f->text[at];
	size_t i;

	if (r == '!') {
		f->exclaims++;
		scan_clause_end(s);
		return;
	}
	if (r == '?') {
		f->doubt = f->doubt || f->exclaims > 0 ||
		    (at + 1 < f->n_text && f->text[at + 1] == '!');
		s->question = true;
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
		scan_reset_modifiers(s);
}

/* ---- keys ---- */

static void
scan_unit(struct scan *s, const struct unit *u)
{
	struct features *f = s->f;

	f->chinese = f->chinese || u->chinese;
	if (u->id == 0)
		return;
	/* Relates "disappointing" to "disappointed". */
	if (u->stem != 0)
		features_put_key(
		    f, key_of(KEY_STEM, u->stem, 0), s->at, u->end);
	features_put_key(f, key_of(KEY_ONE, u->id, 0), s->at, u->end);
	features_put_key(
	    f, key_of(KEY_TWO, s->last, u->id), s->last_at, u->end);
	s->last = u->id;
	s->last_at = s->at;
	f->n_units++;
}

/* Language, length, persons and punctuation, for every text. */
static void
scan_shape(struct scan *s)
{
	size_t n = s->f->n_units, bucket = 0;

	while (n > 1) {
		n /= 2;
		bucket++;
	}
	features_put_key(s->f, key_of(KEY_SHAPE, 1, s->f->chinese), 0, 0);
	features_put_key(
	    s->f, key_of(KEY_SHAPE, 2 + s->f->chinese, bucket), 0, 0);
	features_put_key(s->f,
	    key_of(KEY_SHAPE, 4,
		(uint64_t)s->any_you | (uint64_t)s->any_me << 1 |
		    (uint64_t)s->any_they << 2 |
		    (uint64_t)s->any_question << 3 |
		    (uint64_t)(s->f->exclaims > 0) << 4),
	    0, 0);
}

/* What went wrong: praise before it is sarcasm. */
static bool
sign_is_mishap(const struct features_sign *x)
{
	if (x->state != FEATURES_PLAIN)
		return false;
	if (x->row->kind == LEXICON_BAD)
		return true;
	return x->row->kind == LEXICON_CUE &&
	    (x->row->emotion == WIRE_EMOTION_FRUSTRATION ||
		(x->row->strength < HINT &&
		    x->row->emotion != WIRE_EMOTION_FEAR &&
		    emotion_valence(x->row->emotion) == EMOTION_NEGATIVE));
}

/* A mishap that was averted: "thanks for fixing the flat tyre". */
static bool
features_has_help(const struct features *f)
{
	size_t i;

	for (i = 0; i < f->n_signs; i++) {
		const struct features_sign *x = &f->signs[i];

		if (x->row->kind == LEXICON_CUE && x->state == FEATURES_PLAIN &&
		    (x->row->emotion == WIRE_EMOTION_RELIEF ||
			(x->row->emotion == WIRE_EMOTION_GRATITUDE &&
			    x->row->strength < HINT)))
			return true;
	}
	return false;
}

/* Praise beside a mishap is sarcasm: "Great, it broke again". */
static void
scan_sarcasm(struct scan *s)
{
	struct features *f = s->f;
	size_t i;
	bool bad = false;

	if (features_has_help(f))
		return;
	for (i = f->n_signs; i-- > 0;) {
		struct features_sign *x = &f->signs[i];

		if (sign_is_mishap(x))
			bad = true;
		else if (bad && x->row->kind == LEXICON_CUE &&
		    x->state == FEATURES_PLAIN &&
		    (x->row->emotion == WIRE_EMOTION_JOY ||
			x->row->emotion == WIRE_EMOTION_GRATITUDE))
			x->state = FEATURES_MOCKED;
	}
}

/* :( is one sign, not a colon and a bracket. */
static bool
sign_is_emoticon(const struct features *f, const struct features_sign *x)
{
	uint32_t i;

	for (i = x->at; i < x->end; i++) {
		if (f->text[i] >= 0x3400 || codepoint_is_latin(f->text[i]))
			return false;
	}
	return x->row->kind == LEXICON_CUE;
}

/*
 * The words of a negated or muted cue are not features of their own, nor is the
 * punctuation of an emoticon.
 */
static void
features_drop_keys(struct features *f)
{
	size_t i, k, n;

	for (i = 0; i < f->n_signs; i++) {
		const struct features_sign *x = &f->signs[i];

		if ((x->state == FEATURES_PLAIN ||
			x->state == FEATURES_DISTANT ||
			x->state == FEATURES_CONCEDED) &&
		    !sign_is_emoticon(f, x))
			continue;
		for (n = k = 0; k < f->n_keys; k++) {
			if (f->keys[k].at < x->at || f->keys[k].end > x->end)
				f->keys[n++] = f->keys[k];
		}
		f->n_keys = n;
	}
}

static void
scan_run(struct scan *s)
{
	struct features *f = s->f;
	struct unit u;
	size_t i, len;

	for (; s->at < f->n_text; s->at = u.end) {
		const struct lexicon_row *row = NULL;

		if (s->at >= s->word_end)
			row = lexicon_find(
			    f->words, f->text, f->n_text, s->at, &len);
		if (row == NULL && s->at >= s->word_end)
			row = emoticon_at(f->text, f->n_text, s->at, &len);
		if (row != NULL) {
			scan_word(s, row, len);
			s->word_end = s->at + len;
		}
		u = unit_at(f->text, f->n_text, s->at);
		for (i = s->at; i < u.end && s->at >= s->word_end; i++) {
			scan_codepoint(s, i);
			if (codepoint_is_latin(f->text[i]))
				break;
		}
		scan_unit(s, &u);
	}
	scan_clause_end(s);
	if (s->meta)
		scan_mark(s, 0, FEATURES_MUTED);
	if (f->n_units > 0)
		features_put_key(
		    f, key_of(KEY_TWO, s->last, 0), s->last_at, f->n_text);
	scan_sarcasm(s);
	features_drop_keys(s->f);
	/* A face alone has no shape of a text. */
	if (f->n_keys > 0 || f->n_signs == 0)
		scan_shape(s);
}

struct features *
features_new(void)
{
	struct features *f = mem_alloc(sizeof(*f));

	f->words = lexicon_new();
	return f;
}

void
features_free(struct features *f)
{
	if (f == NULL)
		return;
	lexicon_free((struct lexicon *)(uintptr_t)f->words);
	free(f);
}

void
features_read(struct features *f, struct str text)
{
	struct scan s = { .f = f };

	f->n_text = codepoints_fold(text, f->text, FEATURES_TEXT_MAX);
	f->n_keys = f->n_signs = f->n_units = 0;
	f->exclaims = 0;
	f->more = f->less = f->doubt = f->chinese = false;
	scan_run(&s);
}

bool
features_is_praise(const struct features_sign *x)
{
	return x->row->kind == LEXICON_CUE && x->state == FEATURES_PLAIN &&
	    x->row->strength >= HINT &&
	    (x->row->emotion == WIRE_EMOTION_JOY ||
		x->row->emotion == WIRE_EMOTION_EXCITEMENT ||
		x->row->emotion == WIRE_EMOTION_GRATITUDE);
}

void
features_mock(struct features *f)
{
	size_t i;

	for (i = 0; i < f->n_signs; i++) {
		if (features_is_praise(&f->signs[i]))
			f->signs[i].state = FEATURES_MOCKED;
	}
	features_drop_keys(f);
}

uint64_t
features_sign_key(const struct features *f, size_t i)
{
	const struct features_sign *x = &f->signs[i];
	uint64_t tier = x->row->strength < HINT ? 0
	    : x->row->strength < .6             ? 1
						: 2;

	return key_of(KEY_SIGN,
	    (uint64_t)x->row->kind * 16 + (uint64_t)x->row->emotion,
	    (tier * FEATURES_STATE_N + (uint64_t)x->state) * 2 +
		(f->chinese ? 1 : 0));
}
