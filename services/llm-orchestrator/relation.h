/*
 * relation: how a soul gets along with whom its user's sentence is about, or
 * with the user as he shows himself in it.
 *
 * Pure.
 */
#ifndef LLM_ORCHESTRATOR_RELATION_H
#define LLM_ORCHESTRATOR_RELATION_H

#include <stdbool.h>
#include <stddef.h>

#include "core/str.h"
#include "persona/persona.h"

/* Hints are looked for in so many bytes from the start. */
#define RELATION_TEXT_MAX ((size_t)2048)

struct relation {
	bool known;            /* something in the sentence tells */
	struct persona target; /* if known, as the two below */
	double resonance;      /* 1 - mean distance of the traits, 0 to 1 */
	const char *word;      /* for it */
	const char *strategy;  /* one line */
};

/*
 * relation_guess(said, soul, out):
 * Guess the other's traits: of an MBTI type that is named, else of words that
 * hint at them.  What comes after RELATION_TEXT_MAX bytes does not count.
 */
void relation_guess(
    struct str said, const struct persona *soul, struct relation *out);

#endif /* !LLM_ORCHESTRATOR_RELATION_H */
