/*
 * extraction: reads a model's completion: a line for the session's summary,
 * memories, and a profile patch.  Pure.
 *
 * The model is asked for a JSON object (summary_prompt.h), and nothing in it is
 * trusted: what memory_policy rejects is left out, as is everything beyond a
 * limit.  A completion that is plain text becomes the line and one memory.
 */
#ifndef MEMORY_WORKER_EXTRACTION_H
#define MEMORY_WORKER_EXTRACTION_H

#include <stddef.h>

#include "core/arena.h"
#include "core/rc.h"
#include "core/str.h"
#include "search/memory_policy.h"
#include "wire/msgs.h"

/* Memories of one completion; memories that one supersedes; its tags. */
#define EXTRACTION_MAX          8
#define EXTRACTION_REPLACES_MAX 3
#define EXTRACTION_TAGS_MAX     8
/* A tag, in code points. */
#define EXTRACTION_TAG_MAX 32
/* Largest profile patch, in bytes. */
#define EXTRACTION_PROFILE_MAX 8192

struct extraction_memory {
	struct str text;
	enum wire_memory_type type;
	size_t replaces[EXTRACTION_REPLACES_MAX]; /* indexes of known ones */
	size_t n_replaces;
	struct str tags[EXTRACTION_TAGS_MAX];
	size_t n_tags;
};

struct extraction {
	struct str line; /* empty: nothing is worth a summary */
	struct extraction_memory memory[EXTRACTION_MAX];
	size_t n;
	struct str profile; /* merge patch (RFC 7396), JSON; absent: none */
	size_t dropped;     /* memories that the policy rejected */
};

/*
 * extraction_read(answer, p, n_known, a, out):
 * Read a completion whose prompt showed n_known memories, numbered from 1.
 * RC_NOENT if it is empty, RC_INVALID if it is malformed JSON, RC_TOOBIG if a
 * is full.  Texts live in a.
 */
enum rc extraction_read(struct str answer, const struct memory_policy *p,
    size_t n_known, struct arena *a, struct extraction *out) RC_CHECK;

#endif /* !MEMORY_WORKER_EXTRACTION_H */
