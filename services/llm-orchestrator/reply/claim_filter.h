/*
 * claim_filter: how much of a streamed completion may be published before it is
 * complete.
 *
 * Pure.  While tool calls may still follow, text that may claim something as
 * done is held back, with everything after it.  Also held back: the beginning
 * of a no-reply mark, white space that the reply may lose, an incomplete word.
 */
#ifndef LLM_ORCHESTRATOR_CLAIM_FILTER_H
#define LLM_ORCHESTRATOR_CLAIM_FILTER_H

#include <stdbool.h>
#include <stddef.h>

#include "core/str.h"

/* Zero-initialised but for calls_possible. */
struct claim_filter {
	bool calls_possible; /* hold back claims */
	size_t passed;       /* private: bytes that were checked */
	bool blocked;        /* private: nothing more may pass */
};

/*
 * claim_filter_released(f, text):
 * How many bytes of text may be published; text is all that has arrived so far,
 * without leading white space, and only grows from call to call.
 */
size_t claim_filter_released(struct claim_filter *f, struct str text);

#endif /* !LLM_ORCHESTRATOR_CLAIM_FILTER_H */
