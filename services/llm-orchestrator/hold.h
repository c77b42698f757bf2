/*
 * hold: how much of a growing answer may be said before it has ended.
 *
 * Pure.  While calls may still follow, nobody knows what of the text will turn
 * out true: what could claim something as done is held back, with all behind
 * it.  Besides the beginning of a mark for saying nothing, white space that the
 * reply may lose, and a word that is not whole.
 */
#ifndef LLM_ORCHESTRATOR_HOLD_H
#define LLM_ORCHESTRATOR_HOLD_H

#include <stdbool.h>
#include <stddef.h>

#include "core/str.h"

/* Zero-initialised, but for calls. */
struct hold {
	bool calls; /* may follow: mind what is claimed */
	size_t at;  /* private: before that nothing is held */
	bool shut;  /* private: nothing more may be said */
};

/*
 * hold_free(h, text):
 * How many bytes of text may be said; text is all that has come so far, without
 * white space before it, and only grows from call to call.
 */
size_t hold_free(struct hold *h, struct str text);

#endif /* !LLM_ORCHESTRATOR_HOLD_H */
