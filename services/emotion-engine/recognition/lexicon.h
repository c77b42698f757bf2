/*
 * lexicon: the words with a rule of their own in the recogniser, and what each
 * does in a clause.
 */
#ifndef EMOTION_ENGINE_RECOGNITION_LEXICON_H
#define EMOTION_ENGINE_RECOGNITION_LEXICON_H

#include <stddef.h>
#include <stdint.h>

#include "wire/msgs.h"

enum lexicon_kind {
	LEXICON_CUE,   /* names or shows an emotion */
	LEXICON_NOT,   /* negates the following cue */
	LEXICON_MORE,  /* strengthens the following cue */
	LEXICON_LESS,  /* weakens the following cue */
	LEXICON_LINK,  /* may stand between one of these and its cue */
	LEXICON_MOST,  /* strengthens the preceding cue */
	LEXICON_THING, /* the preceding cue describes a thing, not the user */
	LEXICON_BUT,   /* what precedes it counts less */
	LEXICON_YOU,   /* the listener */
	LEXICON_ME,    /* the user */
	LEXICON_QUESTION, /* the clause is a question */
	LEXICON_THEY,     /* a third person */
	LEXICON_ORDER,    /* at the start of a text: a command or a request */
	LEXICON_META,     /* the text is about words, not about emotions */
	LEXICON_FACT,     /* a question for a fact */
	LEXICON_ACK,      /* as the whole text: yes, no, hello */
	LEXICON_MOCK,     /* sarcastic praise */
	LEXICON_BAD,      /* a mishap: praise beside it is sarcastic */
	LEXICON_PLAIN,    /* looks like one of the above and is not */
	/*
	 * Negates the cues of its clause, at any distance; without one, those
	 * of the clause before it.
	 */
	LEXICON_FAR,
	LEXICON_UNDO /* negates the cue right before it: 高兴不起来 */
};

/*
 * Words of one kind, separated by '|'; '*' matches any ending.  The examples,
 * separated by '|', are tests: the row is found and counts in each of yes and
 * in none of no.
 */
struct lexicon_row {
	enum lexicon_kind kind;
	enum wire_emotion emotion; /* of a cue */
	double strength;           /* of a cue: intensity of the emotion */
	const char *words, *yes, *no;
};

struct lexicon_part {
	const struct lexicon_row *rows;
	size_t n;
};

extern const struct lexicon_part lexicon_rule, lexicon_zh, lexicon_en,
    lexicon_hint_zh, lexicon_hint_en_bad, lexicon_hint_en_good;

#define LEXICON_PARTS_N 6
extern const struct lexicon_part *const lexicon_parts[LEXICON_PARTS_N];

struct lexicon;

/*
 * lexicon_new():   An index of all parts by the first two code points.
 * lexicon_free(w): NULL is allowed.
 */
struct lexicon *lexicon_new(void);
void lexicon_free(struct lexicon *w);

/*
 * lexicon_find(w, text, n, at, len):
 * The row of the longest word at text[at], or NULL; *len is its length.  A
 * Latin word must not be part of a longer one.
 */
const struct lexicon_row *lexicon_find(const struct lexicon *w,
    const uint32_t *text, size_t n, size_t at, size_t *len);

#endif /* !EMOTION_ENGINE_RECOGNITION_LEXICON_H */
