/*
 * codepoints: text as normalized code points, and the units that the recogniser
 * reads.  Pure.
 *
 * ASCII letters become lower case, full-width forms ASCII, common traditional
 * characters simplified; white space becomes one blank between Latin words and
 * is dropped elsewhere; a line break becomes a comma.
 *
 * The character table is separate from zh/hanzi: the weights were trained with
 * it, so a change requires training.
 */
#ifndef EMOTION_ENGINE_RECOGNITION_CODEPOINTS_H
#define EMOTION_ENGINE_RECOGNITION_CODEPOINTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/str.h"

/*
 * codepoints_fold(s, dst, max):
 * The normalized code points of s, at most max; the rest of s is ignored, and
 * so are bytes that are not UTF-8.  Returns how many.
 */
size_t codepoints_fold(struct str s, uint32_t *dst, size_t max);

/* codepoint_is_latin(r): Whether r is part of a word delimited by blanks. */
bool codepoint_is_latin(uint32_t r);

/* codepoint_encode(r, p): r as UTF-8, 1 to 4 bytes.  Returns how many. */
size_t codepoint_encode(uint32_t r, char p[4]);

/* A CJK character, a Latin word, a run of one punctuation mark, an emoji. */
struct unit {
	uint64_t id;   /* 0: invisible */
	uint64_t stem; /* start of a longer Latin word; 0: none */
	size_t end;
	bool chinese;
};

/*
 * unit_at(text, n, at):
 * The unit that starts at text[at].  Spellings with the same meaning ("soooo",
 * "so"; "!!!!", "!!!"; all numbers) have the same id.
 */
struct unit unit_at(const uint32_t *text, size_t n, size_t at);

#endif /* !EMOTION_ENGINE_RECOGNITION_CODEPOINTS_H */
