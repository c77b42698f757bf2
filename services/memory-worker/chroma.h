/*
 * chroma: memories in a Chroma server (HTTP v2), in one collection.
 *
 * Its vectors are made here: by the embedding model, or by spelling where there
 * is none.  The collection says of which model they are; one that is of another
 * takes no memories, and is searched by words only, which the answer calls
 * degraded; so is a search while the model is away.  A collection that is gone
 * is made anew.
 */
#ifndef MEMORY_WORKER_CHROMA_H
#define MEMORY_WORKER_CHROMA_H

#include <stdbool.h>
#include <stdint.h>

#include "core/rc.h"
#include "rest.h"
#include "store.h"

struct embed;

struct chroma_opts {
	struct rest_opts rest;
	const char *tenant, *database, *collection;
	int64_t search_ms;   /* longest wait for a search */
	struct embed *embed; /* NULL: there is no embedding model */
	int64_t embed_ms;    /* longest wait for it */
	struct state *state;
};

/*
 * chroma_names_ok(tenant, database, collection):
 * Whether they can stand in an address.
 */
bool chroma_names_ok(
    const char *tenant, const char *database, const char *collection);

/*
 * chroma_new(o, out):
 * The store; freed by store_free(), after o->embed.  RC_INVALID as rest_new(),
 * and for names that cannot stand in an address.
 */
enum rc chroma_new(const struct chroma_opts *o, struct store **out) RC_CHECK;

#endif /* !MEMORY_WORKER_CHROMA_H */
