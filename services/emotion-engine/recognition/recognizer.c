/*
 * The model's probabilities as an emotion, its intensity and its evidence.
 */
#include "recognition/recognizer.h"

#include <math.h>
#include <stdlib.h>

#include "core/arena.h"
#include "core/mem.h"
#include "persona/emotion.h"
#include "persona/persona.h"
#include "recognition/codepoints.h"
#include "recognition/feature.h"
#include "recognition/model.h"

/* The share of anger in the rest of a text from which on praise mocks. */
#define MOCKERY_MIN .7
/* Fewer keys of the rest say too little. */
#define MOCKERY_KEYS_MIN 6
/* Strength of another cue that names a feeling. */
#define MOCKERY_NAMED .5

struct recognizer {
	struct model model;
	struct features *features;
	enum wire_emotion emotion; /* of the text last read */
};

enum rc
recognizer_new(
    const char *weights, struct recognizer **out, char *why, size_t size)
{
	struct recognizer *f = mem_zalloc(sizeof(*f));
	enum rc rc = model_open(weights, &f->model, why, size);

	*out = NULL;
	if (rc != RC_OK) {
		free(f);
		return rc;
	}
	f->features = features_new();
	*out = f;
	return RC_OK;
}

void
recognizer_free(struct recognizer *f)
{
	if (f == NULL)
		return;
	model_close(&f->model);
	features_free(f->features);
	free(f);
}

/* ---- intensity ---- */

static double
intensity_raise(double s, double by)
{
	return s + (1 - s) * by;
}

static double
intensity_of_sign(const struct features_sign *s)
{
	double x = s->row->strength;

	if (s->more)
		x = intensity_raise(x, .35);
	if (s->most)
		x = intensity_raise(x, .5);
	return s->less ? x * .6 : x;
}

/* From the strongest cue of the emotion; without one, from the probability. */
static double
intensity_of(const struct features *f, enum wire_emotion e, double p)
{
	double best = 0, rest = 0, x;
	size_t i;

	if (e == WIRE_EMOTION_NEUTRAL)
		return 0;
	for (i = 0; i < f->n_signs; i++) {
		const struct features_sign *s = &f->signs[i];

		if (s->row->kind != LEXICON_CUE || s->row->emotion != e ||
		    s->state != FEATURES_PLAIN || s->row->strength < .35)
			continue;
		x = intensity_of_sign(s);
		rest += fmin(best, x);
		best = fmax(best, x);
	}
	if (best > 0) {
		x = intensity_raise(best, fmin(.3 * rest, 1));
	} else {
		x = .25 + .45 * p;
		if (f->more)
			x = intensity_raise(x, .2);
		if (f->less)
			x *= .7;
	}
	return clamp01(intensity_raise(x, .12 * fmin(f->exclaims, 3)));
}

/* ---- emotion ---- */

static void
recognizer_blend(const double p[EMOTION_N], struct wire_user_emotion *out)
{
	size_t i;

	out->p = out->a = out->d = 0;
	for (i = 0; i < EMOTION_N; i++) {
		const struct wire_pad *x =
		    emotion_prototype((enum wire_emotion)i);

		out->p += p[i] * x->p;
		out->a += p[i] * x->a;
		out->d += p[i] * x->d;
	}
}

static size_t
recognizer_top(const double p[EMOTION_N], size_t but)
{
	size_t i, top = but == 0 ? 1 : 0;

	for (i = 0; i < EMOTION_N; i++) {
		if (i != but && p[i] > p[top])
			top = i;
	}
	return top;
}

/*
 * "Lovely, they lost my suitcase": praise is mockery if what is said beside it
 * makes people angry.  all: the weights of the whole text.
 */
static bool
recognizer_is_mockery(const struct recognizer *r, const struct model_sum *all)
{
	const struct features *f = r->features;
	const struct features_sign *praises[FEATURES_SIGNS_MAX];
	struct model_sum praise = { 0 }, rest;
	double z[EMOTION_N], p[EMOTION_N];
	size_t i, k, n_praise = 0;

	for (i = 0; i < f->n_signs; i++) {
		const struct features_sign *x = &f->signs[i];

		/* A feeling that is named is meant. */
		if (features_is_praise(x))
			praises[n_praise++] = x;
		else if (x->row->kind == LEXICON_CUE &&
		    x->row->strength >= MOCKERY_NAMED)
			return false;
	}
	if (n_praise == 0)
		return false;
	for (k = 0; k < n_praise; k++)
		model_sum_add(&r->model,
		    features_sign_key(f, (size_t)(praises[k] - f->signs)), true,
		    &praise);
	for (i = 0; i < f->n_keys; i++) {
		const struct features_key *key = &f->keys[i];

		for (k = 0; k < n_praise &&
		     (key->at >= praises[k]->end || key->end <= praises[k]->at);
		     k++)
			;
		if (k < n_praise)
			model_sum_add(&r->model, key->key, false, &praise);
	}
	model_sum_subtract(all, &praise, &rest);
	if (rest.n_keys < MOCKERY_KEYS_MIN)
		return false;
	model_sum_logits(&r->model, &rest, z);
	switch (recognizer_top(z, EMOTION_N)) {
	case WIRE_EMOTION_ANGER:
	case WIRE_EMOTION_FRUSTRATION:
	case WIRE_EMOTION_DISGUST:
		break;
	default:
		return false;
	}
	model_softmax(z, p);
	return p[WIRE_EMOTION_ANGER] + p[WIRE_EMOTION_FRUSTRATION] +
	    p[WIRE_EMOTION_DISGUST] >=
	    MOCKERY_MIN;
}

void
recognizer_read(
    struct recognizer *f, struct str text, struct wire_user_emotion *out)
{
	double z[EMOTION_N], p[EMOTION_N] = { 0 };
	struct model_sum sum;
	size_t top, second;

	features_read(f->features, text);
	if (f->features->n_units > 0) {
		model_sum_of(&f->model, f->features, &sum);
		if (recognizer_is_mockery(f, &sum)) {
			features_mock(f->features);
			model_sum_of(&f->model, f->features, &sum);
		}
		model_sum_logits(&f->model, &sum, z);
		model_softmax(z, p);
	} else {
		p[WIRE_EMOTION_NEUTRAL] = 1;
	}
	top = recognizer_top(p, EMOTION_N);
	second = recognizer_top(p, top);
	f->emotion = (enum wire_emotion)top;
	recognizer_blend(p, out);
	out->emotion = f->emotion;
	out->has_second = p[second] > 0;
	out->second = (enum wire_emotion)second;
	out->has_second_confidence = out->has_second;
	out->second_confidence = p[second];
	out->has_confidence = true;
	out->confidence = p[top];
	out->intensity = intensity_of(f->features, f->emotion, p[top]);
}

/* ---- evidence ---- */

/* A row's weight for an emotion relative to its mean. */
static double
evidence_lean(const int8_t *row, enum wire_emotion e)
{
	double mean = 0;
	size_t i;

	for (i = 0; i < EMOTION_N; i++)
		mean += row[i];
	return row[e] - mean / EMOTION_N;
}

static enum wire_emotion
evidence_emotion(const int8_t *row)
{
	size_t i, top = 0;

	for (i = 1; i < EMOTION_N; i++)
		top = row[i] > row[top] ? i : top;
	return (enum wire_emotion)top;
}

static struct str
evidence_text(const struct features *f, struct arena *a, size_t at, size_t end)
{
	char *p = arena_alloc(a, 4 * (end - at) + 1);
	size_t n = 0;

	for (; at < end; at++)
		n += codepoint_encode(f->text[at], p + n);
	return (struct str){ p, n };
}

static struct str
evidence_rule(const struct features_sign *s)
{
	static const struct str cues[FEATURES_STATE_N] = {
		[FEATURES_PLAIN] = STR_INIT("cue"),
		[FEATURES_DENIED] = STR_INIT("denied"),
		[FEATURES_MUTED] = STR_INIT("muted"),
		[FEATURES_CONCEDED] = STR_INIT("past"),
		[FEATURES_THEIRS] = STR_INIT("theirs"),
		[FEATURES_MOCKED] = STR_INIT("mocked"),
		[FEATURES_DISTANT] = STR_INIT("distant"),
	};

	switch (s->row->kind) {
	case LEXICON_CUE:
		return cues[s->state];
	case LEXICON_ORDER:
		return STR("command");
	case LEXICON_META:
		return STR("meta");
	case LEXICON_FACT:
		return STR("question");
	case LEXICON_ACK:
		return STR("acknowledgement");
	case LEXICON_MOCK:
		return STR("sarcasm");
	default:
		return STR("mishap");
	}
}

struct evidence {
	struct str rule;
	const int8_t *row;
	double weight;
	size_t at, end;
};

/* Insert in order of weight; drops the smallest if v is full. */
static size_t
evidence_insert(struct evidence *v, size_t n, const struct evidence *x)
{
	size_t i = n;

	while (i > 0 && fabs(x->weight) > fabs(v[i - 1].weight)) {
		if (i < EVIDENCE_MAX)
			v[i] = v[i - 1];
		i--;
	}
	if (i < EVIDENCE_MAX)
		v[i] = *x;
	return n < EVIDENCE_MAX ? n + 1 : n;
}

static size_t
evidence_find(const struct recognizer *f, struct evidence *v)
{
	const struct features *x = f->features;
	double scale = (double)f->model.head->scale;
	double share = model_share(&f->model, x) * scale;
	size_t i, n = 0;

	for (i = 0; i < x->n_keys; i++) {
		struct evidence c = { .rule = STR("words"),
			.row = model_row(&f->model, x->keys[i].key),
			.at = x->keys[i].at,
			.end = x->keys[i].end };

		if (c.row == NULL || c.end == c.at)
			continue;
		c.weight = evidence_lean(c.row, f->emotion) * share;
		n = evidence_insert(v, n, &c);
	}
	for (i = 0; i < x->n_signs; i++) {
		struct evidence c = { .rule = evidence_rule(&x->signs[i]),
			.row = model_row(&f->model, features_sign_key(x, i)),
			.at = x->signs[i].at,
			.end = x->signs[i].end };

		if (c.row == NULL)
			continue;
		c.weight = evidence_lean(c.row, f->emotion) * scale;
		n = evidence_insert(v, n, &c);
	}
	return n;
}

size_t
recognizer_evidence(const struct recognizer *f, struct arena *a,
    struct wire_emotion_analyze_response_evidence out[EVIDENCE_MAX])
{
	struct evidence v[EVIDENCE_MAX];
	size_t i, n = evidence_find(f, v);

	for (i = 0; i < n; i++) {
		size_t end = v[i].end - v[i].at > 64 ? v[i].at + 64 : v[i].end;

		out[i] = (struct wire_emotion_analyze_response_evidence){
			.text = evidence_text(f->features, a, v[i].at, end),
			.rule = v[i].rule,
			.emotion = evidence_emotion(v[i].row),
			.weight = round(v[i].weight * 1e3) / 1e3
		};
	}
	return n;
}
