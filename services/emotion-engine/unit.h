/*
 * unit: the pieces of a folded text: a CJK character, a Latin word, a run of
 * one punctuation mark, an emoji.  Pure.
 */
#ifndef EMOTION_ENGINE_UNIT_H
#define EMOTION_ENGINE_UNIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct unit {
	uint64_t id;   /* 0: there is nothing to be seen */
	uint64_t stem; /* of a longer Latin word, its beginning; else 0 */
	size_t end;
	bool chinese;
};

/*
 * unit_at(text, n, at):
 * The unit that begins at text[at].  Units that are written differently and
 * say the same ("soooo", "so"; "!!!!", "!!!"; numbers) have one id.
 */
struct unit unit_at(const uint32_t *text, size_t n, size_t at);

#endif /* !EMOTION_ENGINE_UNIT_H */
