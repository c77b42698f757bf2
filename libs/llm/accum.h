/*
 * accum: an answer put together from its pieces, whatever their sender's
 * habits.  Private, pure.
 */
#ifndef LLM_ACCUM_H
#define LLM_ACCUM_H

#include <stdbool.h>
#include <stdint.h>

#include "core/arena.h"
#include "core/buf.h"
#include "core/rc.h"
#include "llm/llm.h"
#include "wire/msgs.h"

struct accum_slot {
	int64_t index; /* -1: its sender gave none */
	struct buf id, name, arguments, extra;
};

struct accum {
	bool cumulative;
	struct buf text, reasoning;
	struct accum_slot *slots;
	size_t nslots;
	bool done; /* the end marker came */
	char finish[32];
	int64_t prompt_tokens, completion_tokens;
};

/* accum_init(m, cumulative), accum_free(m). */
void accum_init(struct accum *m, bool cumulative);
void accum_free(struct accum *m);

/*
 * accum_chunk(m, c, a, delta):
 * Add one piece of a stream; *delta is the text that is new (may be empty,
 * valid until m changes).  a is used for passing values.  RC_TOOBIG over a
 * ceiling, RC_INVALID for arguments that are neither text nor object.
 */
enum rc accum_chunk(struct accum *m, const struct wire_llm_chat_chunk *c,
    struct arena *a, struct str *delta) RC_CHECK;

/* accum_answer(m, r, a): Add an answer that came in one piece. */
enum rc accum_answer(struct accum *m, const struct wire_llm_chat_response *r,
    struct arena *a) RC_CHECK;

/*
 * accum_end(m, turn, a, out):
 * There will be no more: fill in the parts of *out that tell the answer.  Texts
 * point into m, the array of calls is from a.  RC_TOOBIG if a is too small.
 */
enum rc accum_end(struct accum *m, struct str turn, struct arena *a,
    struct llm_result *out) RC_CHECK;

#endif /* !LLM_ACCUM_H */
