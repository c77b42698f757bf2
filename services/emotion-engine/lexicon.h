/*
 * lexicon: the words the recogniser knows, and what each does in a clause.
 */
#ifndef EMOTION_ENGINE_LEXICON_H
#define EMOTION_ENGINE_LEXICON_H

#include <stddef.h>

#include "wire/msgs.h"

enum lexicon_kind {
	LEXICON_CUE,   /* names or shows an emotion */
	LEXICON_NOT,   /* turns the cue behind it */
	LEXICON_MORE,  /* strengthens the cue behind it */
	LEXICON_LESS,  /* weakens the cue behind it */
	LEXICON_LINK,  /* may stand between one of these and its cue */
	LEXICON_MOST,  /* strengthens the cue before it */
	LEXICON_THING, /* the cue before it describes a thing, not the user */
	LEXICON_BUT,   /* what was said before counts less */
	LEXICON_YOU,   /* the listener */
	LEXICON_ME,    /* the user */
	LEXICON_ASK,   /* the clause is a question */
	LEXICON_PLAIN  /* looks like one of the above and is not */
};

/* Several words of one kind; a bar separates them, '*' is any ending. */
struct lexicon_row {
	enum lexicon_kind kind;
	enum wire_emotion emotion; /* of a cue */
	double strength;           /* of a cue: how strong and how sure */
	const char *words;
};

extern const struct lexicon_row lexicon[];
extern const size_t lexicon_n;

#endif /* !EMOTION_ENGINE_LEXICON_H */
