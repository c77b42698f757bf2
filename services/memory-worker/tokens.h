/*
 * tokens: what a text is compared by: English words, and of scripts that are
 * written without blanks the characters and their pairs.  Pure.
 *
 * Words are folded: full-width forms, case, apostrophes, a plural's s.  A pair
 * stands within one run of such characters; punctuation and blanks end it.
 */
#ifndef MEMORY_WORKER_TOKENS_H
#define MEMORY_WORKER_TOKENS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/str.h"

enum token_kind { TOKEN_WORD, TOKEN_PAIR, TOKEN_CHAR };

struct token {
	uint64_t key; /* equal tokens have equal ones */
	enum token_kind kind;
};

/* A walk through a text; members are private. */
struct tokens {
	struct str text;
	size_t pos;
	uint32_t before; /* the character of the run that was last; 0: none */
	struct token next;
	bool has_next;
};

/* tokens_of(text): A walk from its beginning; text must outlive it. */
struct tokens tokens_of(struct str text);

/*
 * tokens_next(t, out):
 * The next token; false at the end.  Bytes that are not UTF-8 are left out.
 */
bool tokens_next(struct tokens *t, struct token *out);

/*
 * tokens_distinct(text, dst, max): Its different tokens, the first max; how
 * many.
 * tokens_common(a, b): How many of the different words and pairs of a are in b
 * too; of English ones only those that say something by themselves.
 */
size_t tokens_distinct(struct str text, struct token *dst, size_t max);
size_t tokens_common(struct str a, struct str b);

enum rune_class { RUNE_NONE, RUNE_LETTER, RUNE_WIDE };

/*
 * tokens_rune(text, pos, rune, is):
 * The next code point, folded, and whether it is a letter or digit, of a script
 * without blanks (RUNE_WIDE), or neither; false at the end.  *pos begins at 0.
 */
bool tokens_rune(
    struct str text, size_t *pos, uint32_t *rune, enum rune_class *is);

/* tokens_mix(x): A hash of x. */
uint64_t tokens_mix(uint64_t x);

#endif /* !MEMORY_WORKER_TOKENS_H */
