/*
 * token_count: the tokens of a model's response, counted while it passes, from
 * the usage that the provider writes into it.
 *
 * Known are OpenAI's chat completions and Responses, Gemini's generateContent,
 * and Anthropic's messages; whole, as events, or as an array.  Takes constant
 * memory.  A usage that is repeated or grows counts by its largest numbers.
 * Pure.
 */
#ifndef ENGINE_RUNNER_TOKEN_COUNT_H
#define ENGINE_RUNNER_TOKEN_COUNT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/str.h"

/* No response counts as more than that many tokens of a kind. */
#define TOKEN_COUNT_MAX INT64_C(1000000000)

/* The numbers of a usage as they are written. */
enum token_field {
	TOKEN_INPUT,
	TOKEN_OUTPUT,
	TOKEN_CACHED,          /* part of the input */
	TOKEN_REASONING,       /* part of the output */
	TOKEN_CACHED_BESIDE,   /* not in the input (Anthropic) */
	TOKEN_WRITTEN_BESIDE,  /* to the cache, not in the input (Anthropic) */
	TOKEN_TOOLS_BESIDE,    /* not in the input (Gemini) */
	TOKEN_THOUGHTS_BESIDE, /* not in the output (Gemini) */
	TOKEN_FIELDS
};

struct tokens {
	int64_t input, output;
	int64_t cached;    /* of the input */
	int64_t reasoning; /* of the output */
	bool estimated;    /* the response has no usage */
};

/* Private but for its allocation. */
struct token_count {
	int64_t field[TOKEN_FIELDS];
	bool has_usage;
	bool sse;
	int64_t bytes, events;
	/* the line of an event stream */
	unsigned line; /* bytes of "data:" that matched; see token_count.c */
	/* the JSON value */
	unsigned char node[8]; /* containers that lead to a usage */
	size_t depth;          /* used of node */
	size_t skipped;        /* open containers that do not */
	bool in_string, escaped, wants_key, in_number, number_ended;
	int64_t number;
	char key[32];
	size_t nkey; /* over sizeof(key): too long */
};

/* token_count_init(t, sse): Before a response; sse: it is an event stream. */
void token_count_init(struct token_count *t, bool sse);

/* token_count_feed(t, s): The next bytes of it. */
void token_count_feed(struct token_count *t, struct str s);

/*
 * token_count_end(t, request_n, out):
 * What the response to a request of request_n bytes has taken.  Without usage,
 * because it broke off or the provider sends none, it is estimated: a token for
 * every four bytes of the request, and for each event, or for every four bytes
 * of a response that is none.
 */
void token_count_end(
    const struct token_count *t, size_t request_n, struct tokens *out);

#endif /* !ENGINE_RUNNER_TOKEN_COUNT_H */
