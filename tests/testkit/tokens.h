/* tk_tokens: access tokens for services with authentication. */
#ifndef TESTKIT_TOKENS_H
#define TESTKIT_TOKENS_H

#include <stddef.h>

/* A token, and the other members of its row as JSON: "\"role\":\"owner\"". */
struct tk_token {
	const char *token;
	const char *rest;
};

/* tk_tokens_write(path, list, n): Write an AUTH_TOKENS file with these. */
void tk_tokens_write(const char *path, const struct tk_token *list, size_t n);

#endif /* !TESTKIT_TOKENS_H */
