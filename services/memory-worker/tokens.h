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

#endif /* !MEMORY_WORKER_TOKENS_H */
