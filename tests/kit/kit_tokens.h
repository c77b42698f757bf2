/*
 * kit_tokens: access tokens for services that know their callers.
 */
#ifndef KIT_KIT_TOKENS_H
#define KIT_KIT_TOKENS_H

#include <stddef.h>

/* A token, and the other members of its row as JSON: "\"role\":\"owner\"". */
struct kit_token {
	const char *token;
	const char *rest;
};

/* kit_tokens_write(path, list, n): Make the file AUTH_TOKENS of these. */
void kit_tokens_write(const char *path, const struct kit_token *list, size_t n);

#endif /* !KIT_KIT_TOKENS_H */
