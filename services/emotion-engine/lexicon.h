/*
 * lexicon: the words the overlay of the recogniser knows, and what each does in
 * a clause.
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
	LEXICON_THEY,  /* somebody else */
	LEXICON_ORDER, /* at the start of a text: a command or a request */
	LEXICON_META,  /* the text is about words, not about feelings */
	LEXICON_FACT,  /* asks for a fact */
	LEXICON_ACK,   /* a whole text: yes, no, hello */
	LEXICON_MOCK,  /* praise that is meant as its opposite */
	LEXICON_BAD, /* goes wrong: praise beside it is meant as its opposite */
	LEXICON_PLAIN /* looks like one of the above and is not */
};

/*
 * Several words of one kind; a bar separates them, '*' is any ending.  The
 * examples, separated by bars, are its tests: in each of yes the row is found
 * and counts, in none of no.
 */
struct lexicon_row {
	enum lexicon_kind kind;
	enum wire_emotion emotion; /* of a cue */
	double strength;           /* of a cue: how strong the feeling is */
	const char *words, *yes, *no;
};

struct lexicon_part {
	const struct lexicon_row *rows;
	size_t n;
};

extern const struct lexicon_part lexicon_rule, lexicon_zh, lexicon_en,
    lexicon_hint_zh, lexicon_hint_en_bad, lexicon_hint_en_good;

/* All of it. */
#define LEXICON_PARTS_N 6
extern const struct lexicon_part *const lexicon_parts[LEXICON_PARTS_N];

#endif /* !EMOTION_ENGINE_LEXICON_H */
