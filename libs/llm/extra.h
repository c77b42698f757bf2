/*
 * extra: what a provider wants to see again with the calls it made (signatures,
 * thoughts), as one JSON text that travels with a call and counts only for the
 * provider and model that gave it.  Private, pure.
 */
#ifndef LLM_EXTRA_H
#define LLM_EXTRA_H

#include "core/arena.h"
#include "core/str.h"
#include "wire/tree.h"

/* A longer one is not kept. */
#define EXTRA_TEXT_MAX ((size_t)64 * 1024)

struct extra {
	struct str by;      /* who gave it; absent: nobody wants it back */
	struct str members; /* of the call, JSON without its braces */
	struct str name; /* the member of the message that had the thoughts */
	struct str reasoning;
	struct str blocks; /* signed thoughts, JSON without its brackets */
};

/*
 * extra_write(x, a):
 * {"by", "call": {members}, "name", "reasoning", "blocks": []}, from a; without
 * the thoughts if they are too long; absent if there is nothing to keep, or the
 * members are too long.
 */
struct str extra_write(const struct extra *x, struct arena *a);

/*
 * extra_open(json, by):
 * The same as a tree, freed with wire_tree_free(); NULL if it is another's.
 */
struct wire_tree *extra_open(struct str json, struct str by);

#endif /* !LLM_EXTRA_H */
