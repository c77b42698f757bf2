/*
 * catalogue: the tools of one server, as it lists them.
 *
 * Pure.  Immutable once built, and shared by reference: a list that a turn uses
 * stays what it is while a newer one replaces it.
 */
#ifndef CATALOGUE_H
#define CATALOGUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/rc.h"
#include "core/str.h"

struct buf;

/* Tools of a server, and their bytes together. */
#define CATALOGUE_TOOLS_MAX 4096
#define CATALOGUE_MAX       (4UL * 1024 * 1024)
/* Longest name of a tool; schema of one; both are left out beyond. */
#define CATALOGUE_NAME_MAX   128
#define CATALOGUE_SCHEMA_MAX (64UL * 1024)

struct catalogue_tool {
	struct str name;        /* as the server knows it */
	struct str title;       /* absent: none */
	struct str description; /* as the server wrote it; absent: none */
	struct str schema;      /* of the arguments: a JSON object */
	/* Hints of the server, not to be trusted unless the operator does. */
	bool read_only, destructive, idempotent, open_world;
};

struct catalogue;

/*
 * catalogue_new(): An empty one, with one reference.
 * catalogue_add(c, result, left_out):
 * Add the tools of a result of tools/list; those without a name or a schema,
 * over a limit, or named as one before are counted in *left_out.  RC_INVALID:
 * it is no such result.  Before c is shared.
 * catalogue_seal(c): Sort the tools by name; compute the digest.
 */
struct catalogue *catalogue_new(void);
enum rc catalogue_add(
    struct catalogue *c, struct str result, size_t *left_out) RC_CHECK;
void catalogue_seal(struct catalogue *c);

/* catalogue_ref(c), catalogue_unref(c): NULL is allowed. */
struct catalogue *catalogue_ref(struct catalogue *c);
void catalogue_unref(struct catalogue *c);

/* catalogue_n(c), catalogue_at(c, i), catalogue_find(c, name): The tools. */
size_t catalogue_n(const struct catalogue *c);
const struct catalogue_tool *catalogue_at(const struct catalogue *c, size_t i);
const struct catalogue_tool *catalogue_find(
    const struct catalogue *c, struct str name);

/* catalogue_digest(c): Of all of it, in hexadecimal; after the seal. */
const char *catalogue_digest(const struct catalogue *c);

/*
 * catalogue_write(c, out): As a result of tools/list, for catalogue_add().
 */
void catalogue_write(const struct catalogue *c, struct buf *out);

#endif /* !CATALOGUE_H */
