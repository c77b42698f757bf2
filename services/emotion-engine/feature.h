/*
 * feature: what the recogniser sees in a text.
 *
 * Units (a CJK character, a Latin word, a run of one punctuation mark, an
 * emoji) one by one and in pairs, as 64-bit keys; and the signs of the overlay,
 * the words of the lexicon with what denies, mutes and strengthens them.  The
 * trainer and the service read texts with this and nothing else.  Pure.
 */
#ifndef EMOTION_ENGINE_FEATURE_H
#define EMOTION_ENGINE_FEATURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/str.h"
#include "lexicon.h"

/* Code points that are looked at; what follows does not count. */
#define FEATURES_TEXT_MAX 16384
#define FEATURES_KEYS_MAX (4 * FEATURES_TEXT_MAX + 16)
/* Signs of one text that count; further ones do not. */
#define FEATURES_SIGNS_MAX 64

/* How a cue stands in its clause; the rules beside it are always plain. */
enum features_state {
	FEATURES_PLAIN,
	FEATURES_DENIED, /* a negator before it */
	FEATURES_MUTED,  /* quoted, asked of the listener, said of a thing */
	FEATURES_PAST,   /* before a "but" */
	FEATURES_THEIRS, /* of somebody else, the user is not in the clause */
	FEATURES_MOCKED, /* praise or thanks before what goes wrong */
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

struct words;

struct features {
	const struct words *words;
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
 * features_new():    Room for a text, and the lexicon to read it with.
 * features_free(f):  NULL is allowed.
 */
struct features *features_new(void);
void features_free(struct features *f);

/* features_read(f, text): Fill f from any bytes.  Allocates nothing. */
void features_read(struct features *f, struct str text);

/*
 * features_sign_key(f, i):
 * The key of sign i: its kind, emotion, strength and state, and the language.
 */
uint64_t features_sign_key(const struct features *f, size_t i);

#endif /* !EMOTION_ENGINE_FEATURE_H */
