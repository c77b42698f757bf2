/*
 * harvest: what a language model's summary of a conversation yields: a line for
 * the session, memories, and what goes into the user's profile.  Pure.
 *
 * The model is asked for a JSON object (summary.h), and everything in its
 * answer is doubted: what the gate does not admit is left out, as is all beyond
 * a ceiling.  An answer that is no such object is a line, and the line is the
 * one memory.
 */
#ifndef MEMORY_WORKER_HARVEST_H
#define MEMORY_WORKER_HARVEST_H

#include <stddef.h>

#include "core/arena.h"
#include "core/rc.h"
#include "core/str.h"
#include "gate.h"
#include "rank.h"
#include "wire/msgs.h"

/* Memories of one summary; what one of them takes the place of; its tags. */
#define HARVEST_MAX          8
#define HARVEST_REPLACES_MAX 3
#define HARVEST_TAGS_MAX     8
/* A tag, in code points. */
#define HARVEST_TAG_MAX 32
/* Largest patch of a profile, in bytes. */
#define HARVEST_PROFILE_MAX 8192

struct harvest_memory {
	struct str text;
	enum wire_memory_type type;
	/* Places in the list of known memories. */
	size_t replaces[HARVEST_REPLACES_MAX];
	size_t n_replaces;
	struct str tags[HARVEST_TAGS_MAX];
	size_t n_tags;
};

struct harvest {
	struct str line; /* empty: nothing is worth a summary */
	struct harvest_memory memory[HARVEST_MAX];
	size_t n;
	/* A merge patch (RFC 7396) of the profile, JSON; absent: none. */
	struct str profile;
	size_t dropped; /* memories that the gate did not admit */
};

/*
 * harvest_read(answer, g, n_known, a, out):
 * Read an answer; n_known memories were shown, numbered from 1.  RC_NOENT if it
 * is empty, RC_INVALID if it is an object that cannot be read, RC_TOOBIG if a
 * is full.  Texts live in a.
 */
enum rc harvest_read(struct str answer, const struct gate *g, size_t n_known,
    struct arena *a, struct harvest *out) RC_CHECK;

#endif /* !MEMORY_WORKER_HARVEST_H */
