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
#include "llm/think.h"
#include "wire/tree.h"

struct accum_slot {
	int64_t index; /* -1: its sender gave none */
	struct buf id, name, arguments;
	struct buf members; /* the provider's own, JSON without its braces */
};

struct accum {
	bool cumulative, strip_think; /* as in struct llm_provider */
	bool forget; /* the provider does not want its thoughts back */
	struct think think;
	struct buf raw; /* cumulative text with its thoughts */
	struct buf text, reasoning;
	const char *reasoning_name; /* the member it came in; NULL: in none */
	struct buf blocks; /* thoughts that are signed, JSON, separated */
	/* The block of thoughts that is open: where it began, its signature. */
	bool thinking;
	size_t thought_from;
	struct buf signature;
	struct accum_slot *slots;
	size_t nslots;
	bool done; /* the end marker came */
	char finish[32];
	int64_t prompt_tokens, completion_tokens;
};

/* A piece of a call; what its sender left out is absent, or -1. */
struct accum_piece {
	int64_t index;
	struct str id, name;
	const struct wire_tree
	    *arguments;                  /* a part of the text, or an object */
	const struct wire_tree *members; /* an object with the unknown ones */
};

/* accum_init(m, p), accum_free(m): p's habits; NULL: none. */
void accum_init(struct accum *m, const struct llm_provider *p);
void accum_free(struct accum *m);

/*
 * accum_text(m, s, delta):
 * More text; *delta is what of it is to be shown (may be empty, valid until m
 * changes).  RC_TOOBIG over a ceiling, as all below.
 */
enum rc accum_text(struct accum *m, struct str s, struct str *delta) RC_CHECK;

/* accum_reasoning(m, name, s): More thoughts, from the member name. */
enum rc accum_reasoning(
    struct accum *m, const char *name, struct str s) RC_CHECK;

/*
 * accum_call(m, p):
 * A piece of a call.  RC_INVALID for arguments that are neither text nor
 * object.
 */
enum rc accum_call(struct accum *m, const struct accum_piece *p) RC_CHECK;

/* accum_finish(m, s): Why it ended, in OpenAI's words; empty: not said. */
void accum_finish(struct accum *m, struct str s);

/* accum_flush(m, delta): There will be no more text; *delta was held back. */
void accum_flush(struct accum *m, struct str *delta);

/*
 * accum_end(m, turn, by, a, out):
 * There will be no more: fill in the parts of *out that tell the answer.  Texts
 * point into m, the calls and their extra are from a.  by names who answered.
 * RC_TOOBIG if a is too small.
 */
enum rc accum_end(struct accum *m, struct str turn, struct str by,
    struct arena *a, struct llm_result *out) RC_CHECK;

#endif /* !LLM_ACCUM_H */
