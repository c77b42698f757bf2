/*
 * tokenizer: splits texts into comparable tokens: words, and in scripts written
 * without blanks characters and pairs of them.  Pure.
 *
 * Words are folded: full-width forms, case, apostrophes, a plural's s.  A pair
 * lies within one run of such characters; punctuation and blanks end a run.
 */
#ifndef SEARCH_TOKENIZER_H
#define SEARCH_TOKENIZER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/str.h"

enum token_kind { TOKEN_WORD, TOKEN_PAIR, TOKEN_CHAR };

struct token {
	uint64_t key; /* the same for equal tokens */
	enum token_kind kind;
};

/* An iterator over a text's tokens; its members are private. */
struct tokenizer {
	struct str text;
	size_t pos;
	uint32_t before; /* last character of the run; 0: none */
	struct token next;
	bool has_next;
};

/* tokenizer_start(text): An iterator; text must outlive it. */
struct tokenizer tokenizer_start(struct str text);

/*
 * tokenizer_next(t, out):
 * The next token; false at the end.  Invalid UTF-8 is skipped.
 */
bool tokenizer_next(struct tokenizer *t, struct token *out);

/*
 * tokenizer_distinct(text, dst, max): The first max different tokens; how many.
 * tokenizer_common(a, b): How many different words and pairs of a occur in b;
 * English function words do not count.
 */
size_t tokenizer_distinct(struct str text, struct token *dst, size_t max);
size_t tokenizer_common(struct str a, struct str b);

/*
 * similarity_equal(a, b):
 * Whether two memories state the same, ignoring who they are about ("用户",
 * "the user"), case, width, punctuation, plurals, particles and articles.  Any
 * other word counts, and so does word order, because one of two equal memories
 * is discarded.  Texts without a significant word equal nothing.
 */
bool similarity_equal(struct str a, struct str b);

enum rune_class { RUNE_NONE, RUNE_LETTER, RUNE_WIDE };

/*
 * tokenizer_rune(text, pos, rune, is):
 * The next code point, folded, and its class: letter or digit, character of a
 * script without blanks (RUNE_WIDE), or neither; false at the end.  *pos starts
 * at 0.
 */
bool tokenizer_rune(
    struct str text, size_t *pos, uint32_t *rune, enum rune_class *is);

/* tokenizer_hash(x): A hash of x. */
uint64_t tokenizer_hash(uint64_t x);

#endif /* !SEARCH_TOKENIZER_H */
