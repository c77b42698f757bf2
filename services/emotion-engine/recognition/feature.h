/*
 * feature: the features of a text, for training and recognition alike.
 *
 * Units one by one and in pairs, as 64-bit keys; and signs: the words of the
 * lexicon, with what negates, mutes and strengthens them.  Pure.
 */
#ifndef EMOTION_ENGINE_RECOGNITION_FEATURE_H
#define EMOTION_ENGINE_RECOGNITION_FEATURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/str.h"
#include "recognition/lexicon.h"

/* Code points of a text that are read; the rest is ignored. */
#define FEATURES_TEXT_MAX 16384
#define FEATURES_KEYS_MAX (4 * FEATURES_TEXT_MAX + 16)
/* Signs of one text that count. */
#define FEATURES_SIGNS_MAX 64

/* The state of a cue in its clause; other signs are always plain. */
enum features_state {
	FEATURES_PLAIN,
	FEATURES_DENIED,   /* negated */
	FEATURES_MUTED,    /* quoted, asked of the listener, or of a thing */
	FEATURES_CONCEDED, /* before a "but" */
	FEATURES_THEIRS,   /* of a third person, without the user */
	FEATURES_MOCKED,   /* praise or thanks beside a mishap */
	FEATURES_DISTANT,  /* a negator stands before it in its clause */
	FEATURES_STATE_N
};

struct features_key {
	uint64_t key;
	uint32_t at, end; /* code points of the text */
};

struct features_sign {
	const struct lexicon_row *row;
	enum features_state state;
	bool more, less, most;
	uint32_t at, end;
};

struct features {
	const struct lexicon *words;
	uint32_t text[FEATURES_TEXT_MAX];
	size_t n_text;
	struct features_key keys[FEATURES_KEYS_MAX];
	size_t n_keys;
	struct features_sign signs[FEATURES_SIGNS_MAX];
	size_t n_signs;
	size_t n_units;
	int exclaims;
	bool more, less; /* any word of degree */
	bool doubt;      /* "?!" */
	bool chinese;
};

/*
 * features_new():   Memory for a text, and the lexicon.
 * features_free(f): NULL is allowed.
 */
struct features *features_new(void);
void features_free(struct features *f);

/* features_read(f, text): Fill f from any bytes.  Allocates nothing. */
void features_read(struct features *f, struct str text);

/*
 * features_is_praise(x): Whether it is a plain cue of joy, excitement or
 * gratitude, not a mere hint.
 */
bool features_is_praise(const struct features_sign *x);

/*
 * features_mock(f): Praise and thanks in f are mockery: their words do not
 * count as keys, and their signs count as mocked.
 */
void features_mock(struct features *f);

/*
 * features_sign_key(f, i):
 * The key of sign i, by kind, emotion, strength, state and language.
 */
uint64_t features_sign_key(const struct features *f, size_t i);

#endif /* !EMOTION_ENGINE_RECOGNITION_FEATURE_H */
